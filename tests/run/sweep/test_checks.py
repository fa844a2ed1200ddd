import pytest

from deadzone.errors import StudyError
from deadzone.run.sweep.opening import planned_file
from deadzone.store.table import SHARED

TAKEN = "has the name of something else"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"factors": {"thread": [1]}},
            "the factor 'thread' changes nothing: the local target puts cpu_limit, memory_limit, "
            "io_bandwidth_limit, iops_limit in force, and the command workload does not use it. "
            "Did you mean `threads`?",
        ),
        *(
            ({"factors": {"threads": [1], name: [1]}}, f"the factor '{name}' {TAKEN}")
            for name in ("block", "wall_s", "scratch")
        ),
        ({"responses": {"user_s": {"regex": "x"}}}, f"the response 'user_s' {TAKEN}"),
        ({"responses": {"threads": {"regex": "x"}}}, f"the factor 'threads' {TAKEN}"),
        (
            {"response": {"name": "spede"}, "responses": {"speed": {"regex": "x"}}},
            "Did you mean `speed`?",
        ),
        ({"response": {"name": "status"}}, "response.name is 'status', which no trial measures"),
    ],
)
def test_names_that_lead_nowhere_or_collide_are_refused(write_study, keys, words):
    factors = keys.get("factors", {})
    used = [name for name in ("threads", "block", "wall_s") if name in (factors or {"threads": 0})]
    argv = ["true", *(f"{{{name}}}" for name in used)]
    responses = {"responses": keys.pop("responses", {})}
    study = write_study(argv=argv, workload=responses, **keys)
    with pytest.raises(StudyError) as refused:
        planned_file(study)
    assert words in str(refused.value)
    assert str(study) in str(refused.value)


def test_a_factor_of_the_target_need_not_reach_the_program(write_study):
    study = write_study(argv=["true"], factors={"cpu_limit": [0.5, "none"]})
    assert planned_file(study).study.factor_names() == ("cpu_limit",)


@pytest.mark.parametrize("name", ["wall_s", "cpu_efficiency", "max_rss_bytes", "speed"])
def test_every_measured_column_can_be_the_response(write_study, name):
    assert name in (*SHARED, "speed")
    printed = {"responses": {"speed": {"regex": "x"}}}
    study = write_study(argv=["true", "{threads}"], workload=printed, response={"name": name})
    assert planned_file(study).study.response.name == name
