import json
import os
import signal
from datetime import datetime, timedelta

import pytest
from sweeping import SLEEP, Left, job_target

pytestmark = pytest.mark.cluster


def check_no_job(left: Left) -> None:
    assert left.jobs() == []
    assert left.leases() == []


@pytest.fixture
def job_study(namespace, ffmpeg_image, write_study, left):
    """Write a study of Jobs, with keys of its target; no Job is left in the end."""

    def write(argv, factors, replicates=1, workload=None, image=ffmpeg_image, **of_target):
        keys = {"argv": argv, "workload": workload or {}, "replicates": replicates}
        return write_study(
            target=job_target(namespace, image, **of_target), factors=factors, **keys
        )

    yield write
    check_no_job(left)


@pytest.mark.core
def test_each_trial_has_a_fresh_pod_with_its_limit(job_study, sweep):
    given = {
        "setup": ["sh", "-c", "echo 42 > {inputs}/given"],
        "responses": {"given": {"regex": r"^(\d+)$"}},
    }
    argv = ["sh", "-c", "ls {scratch}; cat {inputs}/given", "{threads}"]
    factors = {"threads": [1], "cpu_limit": [0.2, "none"]}
    run = sweep(job_study(argv, factors, replicates=2, workload=given))
    trials = run.trials()
    assert set(trials["status"]) == {"ok"}
    assert set(trials["given"]) == {42.0}
    # one that neighbours disturbed was repeated, in a pod of its own
    assert trials["pod"].nunique() == len(trials) >= 4
    limited = trials[trials["cpu_limit"] == "0.2"]
    assert set(limited["cpu_max"]) == {"20000 100000"}
    assert trials["node"].notna().all()
    facts = run.provenance()
    assert facts["image_id"].startswith("sha256:")
    assert facts["target_mode"] == "job"


def test_under_a_quota_of_limits_every_job_has_one(job_study, sweep, cluster, namespace):
    inside = ("--namespace", namespace)
    cluster.kubectl("create", "quota", "cpu", *inside, "--hard=limits.cpu=1500m")
    trials = sweep(job_study(["true"], {"cpu_limit": [0.2, 0.4]}, start_timeout_s=45)).trials()
    assert set(trials["status"]) == {"ok"}


def test_a_limit_that_the_namespace_sets_is_no_level(job_study, deadzone, cluster, namespace):
    metadata = {"name": "small", "namespace": namespace}
    spec = {"limits": [{"type": "Container", "default": {"cpu": "300m"}}]}
    cluster.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec})
    said = deadzone("sweep", job_study(["true"], {"cpu_limit": [0.2, "none"]}), code=4)
    assert "come up with limit 300m" in said.err and "where limit none is asked for" in said.err


def test_trials_run_at_once_where_the_study_says_so(job_study, sweep):
    factors = {"seconds": [6], "cpu_limit": [0.2, 0.3]}
    trials = sweep(job_study(SLEEP, factors, job={"parallelism": 2})).trials().sort_values("trial")
    assert trials["status"].tolist() == ["ok", "ok"]
    first, second = (datetime.fromisoformat(text) for text in trials["started_at"])
    assert abs(first - second) < timedelta(seconds=6)


def test_one_pod_a_node_waits_for_the_other(job_study, sweep, cluster):
    if len(cluster.get("nodes")["items"]) != 1:
        pytest.skip("this cluster has several nodes, so nothing has to wait")
    factors, job = {"seconds": [2], "cpu_limit": [0.2, 0.3]}, {"parallelism": 2, "one_a_node": True}
    trials = sweep(job_study(SLEEP, factors, job=job)).trials().sort_values("started_at")
    assert trials["status"].tolist() == ["ok", "ok"]
    first, second = (datetime.fromisoformat(text) for text in trials["started_at"])
    assert second - first >= timedelta(seconds=float(trials["wall_s"].iloc[0]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_no_job_is_left_after_an_interruption(number, namespace, job_study, start, deadzone, left):
    factors = {"seconds": [1], "cpu_limit": [0.2, 0.3]}
    study = job_study(SLEEP, factors, replicates=2, job={"parallelism": 2})
    begun = start("sweep", study)
    begun.wait_for(lambda: begun.trials(), "the first trial")
    os.kill(begun.pid, number)
    code, _, err = begun.end()
    if number == signal.SIGKILL:
        assert left.jobs()
        assert "removed" in deadzone("restore", "--namespace", namespace, code=0).out
    else:
        assert code == 130, err
    check_no_job(left)
    deadzone("sweep", study, "--resume", "latest", code=0)
    lines = next(begun.runs.glob("*/*/trials.jsonl")).read_text().splitlines()
    assert sorted(json.loads(line)["trial"] for line in lines) == [1, 2, 3, 4]


def test_an_image_without_a_shell_is_lent_one(
    bare_image, ffmpeg_image, job_study, deadzone, sweep, left
):
    def study(**of_target):
        argv = ["/usr/bin/ffmpeg", "-version"]
        return job_study(argv, {"cpu_limit": [0.5]}, image=bare_image, **of_target)

    assert "target.launcher_image" in deadzone("sweep", study(), code=4).err
    check_no_job(left)
    lent = sweep(study(launcher_image=ffmpeg_image))
    assert lent.trials()["status"].tolist() == ["ok"]


def test_what_keeps_a_pod_from_running_is_said(cluster, namespace, job_study, deadzone, left):
    def said(limit=0.2, **more):
        study = job_study(["true"], {"cpu_limit": [limit]}, start_timeout_s=12, **more)
        answer = deadzone("sweep", study, code=4)
        check_no_job(left)
        return answer.err

    assert "beyond every node" in said(limit=4096)
    absent = said(image="deadzone.test/no-such-image:1")
    assert "deadzone.test/no-such-image:1" in absent
    assert "pull" in absent.lower()
    nowhere = said(job={"node_selector": {"no-such-label": "x"}})
    assert "no node takes it" in nowhere
    assert "node affinity/selector" in nowhere or "node selector" in nowhere
    cluster.kubectl("create", "quota", "small", "--namespace", namespace, "--hard=limits.cpu=100m")
    assert "limits.cpu" in said(limit=0.2)
