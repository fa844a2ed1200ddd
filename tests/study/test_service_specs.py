import pytest

from deadzone.errors import StudyError
from deadzone.study.design import resolve
from deadzone.study.loading import dump_study, parse_study
from deadzone.study.plan import plan_of
from deadzone.study.service_specs import service_in

START = """
study: s
service: {argv: [serve, "{port}"], env: {A: "1", B: "1"}, hook: [set, "{environment}"]}
workload: {kind: http}
"""


def study(more):
    return resolve(parse_study(START + more, "s.yaml"), 4)


def test_environments_are_a_factor_whose_levels_come_in_every_block():
    one = study("environments: {a: {}, b: {target: {cpu_limit: 0.5}}, c: {url: 'http://c'}}\n")
    assert one.factors["environment"].levels == ("a", "b", "c")
    blocks = {}
    for trial in plan_of(one).trials:
        names = blocks.setdefault((trial.warmup, trial.block), [])
        names.append(trial.treatment.levels["environment"])
    assert all(sorted(names) == ["a", "b", "c"] for names in blocks.values())
    assert len({tuple(names) for names in blocks.values()}) > 1
    assert one.knob_name == "environment"


def test_some_of_them_can_be_chosen_and_crossed_with_another_factor():
    one = study(
        "environments: {a: {}, b: {}, c: {}}\nfactors: {cpu_limit: [1, 2], environment: [a, c]}\n"
    )
    assert one.knob_name == "cpu_limit"
    assert len(plan_of(one).trials) == 4 * (one.design.replicates + one.design.warmup)


def test_what_is_different_in_an_environment_is_laid_over_the_service():
    one = study(
        "environments:\n"
        "  plain: {}\n"
        "  other: {service: {argv: [other, '{port}'], env: {B: '2'}}}\n"
        "  up: {url: 'http://elsewhere:8000'}\n"
    )
    plain, other, up = (
        service_in(one.service, one.environments[name]) for name in ("plain", "other", "up")
    )
    assert plain == one.service
    assert other.argv == ("other", "{port}")
    assert other.env == {"A": "1", "B": "2"}
    assert other.hook == one.service.hook
    assert up.url == "http://elsewhere:8000"
    again = parse_study(dump_study(one), "again")
    assert service_in(again.service, again.environments["other"]) == other


def test_a_pod_that_lives_for_one_trial_serves_nobody():
    target = "{kind: kubernetes, mode: job, namespace: n, job: {image: 'shop:1'}}"
    with pytest.raises(StudyError, match=r"has a service with target\.mode: job"):
        study(f"environments: {{c: {{url: 'http://c', target: {target}}}}}\n")


def test_a_container_needs_an_image_and_may_start_by_itself():
    container = "{kind: container, image: 'shop:1', cpu_limit: 0.5, memory_limit: 100e6, port: 80}"
    one = parse_study(
        f"study: s\nworkload: {{kind: http}}\nenvironments: {{c: {{target: {container}}}}}\n", "s"
    )
    assert one.environments["c"].target.image == "shop:1"
    with pytest.raises(StudyError, match="image is missing"):
        study("environments: {c: {target: {kind: container}}}\n")


@pytest.mark.parametrize(
    ("more", "words"),
    [("environments: {a: {url: 'host:80'}}\n", "must match"),
     ("environments: {a: {url: 'http://a', service: {url: 'http://b'}}}\n", "two URLs"),
     ("environments: {'A b': {}}\n", "must match"),
     ("environments: {a: {target: {cpu_limit: 0}}}\n", "positive number of cores"),
     ("environments: {a: {target: {memory_limit: -1}}}\n", "a size such as 64MiB"),
     ("environments: {a: {}}\nfactors: {environment: [b]}\n", "of its environments. They are `a`"),
     ("environments: {a: {}}\nanalysis: guess\n", "allowed: phases")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(more, words):
    with pytest.raises(StudyError, match=words):
        study(more)


@pytest.mark.parametrize(
    ("workload", "more", "notebook"),
    [("{kind: http}", "", "attribution"), ("{kind: load, rate: 1}", "", "load_test"),
     ("{kind: ffmpeg}", "factors: {threads: [1]}", "phases"),
     ("{kind: command, argv: ['true', '{n}']}", "factors: {n: [1]}", "phases"),
     ("{kind: http}", "analysis: phases", "phases"),
     ("{kind: load, mode: spike}", "factors: {connection_rate: [10, 20]}", "connections"),
     ("{kind: http}", "analysis: limit_attribution", "attribution"),
     ("{kind: load, rate: 1}", "analysis: thread_pool", "load_test"),
     ("{kind: load, mode: ramp, connection_rate: 5}", "analysis: thread_pool", "connections"),
     ("{kind: load, rate: 1}", "analysis: profile_diff", "profiles"),
     ("{kind: load, rate: 1}", "analysis: disk_block_size", "disk")],
)  # fmt: skip
def test_the_workload_says_which_notebook_analyses_a_run_unless_the_study_does(
    workload, more, notebook
):
    is_service = "http" in workload or "load" in workload
    where = "environments: {a: {url: 'http://a'}}\n" if is_service else ""
    one = parse_study(f"study: s\nworkload: {workload}\n{where}{more}\n", "s.yaml")
    assert one.analysis_notebook == notebook
