from pathlib import Path

import pytest

from deadzone.study.design import Limits, resolve
from deadzone.study.loading import parse_study
from deadzone.study.plan import NOWHERE, plan_of

CLUSTER = "{kind: kubernetes, workload: deployment/d, cpu_limit: %s}"
SERVICE = (
    "study: s\nworkload: {kind: http, url: '{service_url}/x'}\nservice: {argv: [serve, '{port}']}\n"
)


def plan(text: str, folder: Path = Path("/studies")):
    return plan_of(resolve(parse_study(text, "s.yaml"), 4), folder)


def test_a_program_has_one_target_with_every_limit_that_will_be_asked_of_it():
    found = plan(
        "study: s\nworkload: {kind: command, argv: [sleep, 0]}\ntarget: {memory_limit: 64MB}\n"
        "factors: {cpu_limit: [0.5, 1, none], n: {equals: cpu_limit}}\n"
        "design: {replicates: 2, warmup: 1}\nresponse: {name: user_s}\n"
        "profiles: {profiler: py-spy}\n"
    )
    target = found.targets[NOWHERE]
    assert not found.services and target.io_folder is None
    assert target.limits == tuple(Limits(level, 64000000) for level in (0.5, 1, "none"))
    assert target.levels("cpu_limit") == (0.5, 1, "none")
    assert target.levels("memory_limit") == (64000000,)
    assert [one.levels["n"] for one in found.treatments] == [0.5, 1, "none"]
    assert len(found.trials) == 9 and found.limits_of(found.treatments[0]).cpu_limit == 0.5
    assert (found.study.response.name, found.study.workload.waits_on_io) == ("user_s", False)
    assert found.warning == ""


def test_io_limits_are_for_the_disk_of_the_workload_or_the_one_named():
    disk = "study: s\nworkload: {kind: disk, folder: area}\nfactors: {iops_limit: [100, none]}\n"
    found = plan(disk)
    assert found.targets[NOWHERE].io_folder == Path("/studies/area")
    assert found.targets[NOWHERE].levels("iops_limit") == (100, "none")
    assert found.study.workload.waits_on_io and found.warning.startswith("s writes at most")
    elsewhere = plan(disk + "target: {io_folder: ../b}\n").targets[NOWHERE]
    assert elsewhere.io_folder == Path("/studies/../b")


def test_environments_of_a_cluster_that_differ_in_their_limit_alone_share_its_target():
    found = plan(
        SERVICE.replace("{argv: [serve, '{port}']}", "{url: 'http://s'}")
        + f"environments: {{small: {{target: {CLUSTER % 0.5}}}, large: {{target: {CLUSTER % 2}}},"
        " here: {}, there: {url: 'http://t'}}\n"
    )
    assert [one.target for one in found.services.values()][2:] == [None, None]
    (target,) = found.targets.values()
    assert target.levels("cpu_limit") == (0.5, 2)
    assert found.services["large"].limits.cpu_limit == 2
    assert found.services["there"].spec.url == "http://t"
    environments = [found.environment_of(one) for one in found.treatments]
    assert environments == ["small", "large", "here", "there"]


@pytest.mark.parametrize("factor", ["cpu_limit: [1, 2]", "n: [1]"])
def test_a_service_without_environments_is_on_the_target_of_the_study(factor):
    found = plan(SERVICE + f"target: {{cpu_limit: 3}}\nfactors: {{{factor}}}\n")
    assert found.services[NOWHERE].target == NOWHERE
    assert found.services[NOWHERE].limits.cpu_limit == 3
    limits = (1, 2) if factor.startswith("cpu") else (3,)
    assert found.targets[NOWHERE].levels("cpu_limit") == limits
