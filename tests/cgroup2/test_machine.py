"""CPU limits under cgroup v2 and systemd, on an emulated machine that has both (`make
test-cgroup2`).

`guest/stories.py` runs in the machine and tells what happened; here it is judged, one story a test.
Times are never judged: the emulated processors are tens of times slower than real ones.
"""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.cgroup2

Story = dict[str, Any]

MECHANISMS = {
    "root-cgroup-v2": "cgroup-v2",
    "root-systemd": "systemd",
    "user": "systemd",
    "user-delegated": "cgroup-v2",
}
"""Who sweeps, and by which mechanism the limits are then in force; trials of each are also stopped
in every way there is."""

CORE_CASE = "root-cgroup-v2"
"""The one that each change is asked."""

TREE = ["86401", "86402", "spinner"]
"""The processes of a program that never ends by itself."""

SLACK, SLACK_S = 1.3, 0.1
"""The machine takes the time in which its processor waited for a real one for the program's."""

MOMENTS = ("after_sweep", "after_timeout", "after_interrupt", "after_restore")


CASES = [
    pytest.param(name, marks=pytest.mark.core if name == CORE_CASE else ()) for name in MECHANISMS
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def story(case: str, stories: dict[str, Story]) -> Story:
    return told(stories, case)


def told(stories: dict[str, Story], case: str) -> Story:
    """A case that was lived through to its end."""
    assert case in stories, (
        f"the machine did not get that far:\n{stories['console']['text'][-3000:]}"
    )
    story = stories[case]
    assert "broken" not in story, story.get("broken")
    return story


def trials(sweep: Story) -> dict[Any, Story]:
    """The trials of a sweep by their CPU limit."""
    assert sweep["exit_code"] == 0, sweep["stderr"]
    return {trial["levels"]["cpu_limit"]: trial for trial in sweep["trials"]}


def traces(moment: Story) -> Story:
    """All there is of Deadzone's on the machine."""
    return {what: there for what, there in moment.items() if what != "controllers" and there}


def test_the_best_mechanism_that_works_is_in_force_and_recorded(case: str, story: Story) -> None:
    assert story["sweep"]["exit_code"] == 0, story["sweep"]["stderr"]
    assert story["sweep"]["facts"]["limits_mechanism"] == MECHANISMS[case]
    assert story["sweep"]["rows"] == 3


def test_a_program_finds_each_limit_in_force_at_its_first_instruction(story: Story) -> None:
    seen = {limit: trial["responses"] for limit, trial in trials(story["sweep"]).items()}
    assert seen == {
        0.3: {"quota_us": 30_000, "period_us": 100_000},
        0.6: {"quota_us": 60_000, "period_us": 100_000},
        "none": {"quota_us": -1, "period_us": 100_000},
    }


def test_a_busy_program_is_throttled_under_a_limit_and_never_without(story: Story) -> None:
    measured = trials(story["sweep"])
    # all but the first and last where nothing else runs
    for limit, share in ((0.3, 0.7), (0.6, 0.4)):
        trial = measured[limit]
        assert trial["nr_periods"] >= 3
        assert trial["nr_throttled"] >= share * (trial["nr_periods"] - 2)
        assert trial["throttled_s"] > 0
    assert (measured["none"]["nr_throttled"], measured["none"]["throttled_s"]) == (0, 0)


def test_no_more_cpu_is_used_than_the_limit_grants(story: Story) -> None:
    for limit, trial in trials(story["sweep"]).items():
        granted_s = trial["wall_s"] * (1.0 if limit == "none" else limit)
        used_s = trial["user_s"] + trial["sys_s"]
        assert 0.3 * granted_s < used_s < granted_s * SLACK + SLACK_S


def test_counters_are_those_of_a_small_shell_program(story: Story) -> None:
    for trial in trials(story["sweep"]).values():
        assert (trial["status"], trial["exit_code"], trial["error"]) == ("ok", 0, None)
        assert trial["user_s"] > 0 and trial["sys_s"] >= 0
        assert 500e3 < trial["max_rss_bytes"] < 50e6


def test_a_time_out_kills_the_whole_tree(story: Story) -> None:
    (trial,) = trials(story["timeout"]).values()
    assert trial["status"] == "timeout"
    assert trial["nr_throttled"] > 0
    assert story["after_timeout"]["processes"] == []


def test_ctrl_c_in_a_trial_ends_the_sweep_as_a_person_expects(story: Story) -> None:
    assert story["interrupt"]["under_way"]["processes"] == TREE
    assert story["interrupt"]["exit_code"] == 130
    assert "Traceback" not in story["interrupt"]["stderr"]


@pytest.mark.kept
def test_what_a_killed_sweep_leaves_running_is_found_and_removed(story: Story) -> None:
    assert story["kill"]["exit_code"] == -9
    left = story["after_kill"]
    assert left["processes"] == TREE
    assert left["groups"] and left["scratch"]
    removed = json.loads(story["restore"]["stdout"])["removed"]
    assert sorted(removed) == sorted([*left["groups"], *left["scratch"]])


@pytest.mark.kept
@pytest.mark.parametrize("moment", MOMENTS)
def test_nothing_is_left_behind(moment: str, story: Story) -> None:
    assert traces(story["before"]) == {}
    assert traces(story[moment]) == {}


@pytest.mark.kept
@pytest.mark.parametrize("moment", MOMENTS)
def test_controllers_are_handed_down_as_they_were_before(moment: str, story: Story) -> None:
    assert story[moment]["controllers"] == story["before"]["controllers"]


def test_a_delegated_group_lends_the_cpu_controller_only_while_it_is_needed(
    stories: dict[str, Story],
) -> None:
    story = told(stories, "user-delegated")
    (group,) = story["kill"]["under_way"]["groups"]
    parent = group.rpartition("/")[0]
    assert parent.endswith("/handed-over.scope")
    assert parent not in story["before"]["controllers"]
    assert story["kill"]["under_way"]["controllers"][parent] == ["cpu"]
    assert parent not in story["after_restore"]["controllers"]


def test_io_limits_of_a_disk_are_in_force_by_io_max(stories: dict[str, Story]) -> None:
    story = told(stories, "root-cgroup-v2")
    sweep = story["blocks"]
    assert sweep["exit_code"] == 0, sweep["stderr"]
    assert sweep["facts"]["io_limits_mechanism"] == "io.max"
    assert (sweep["facts"]["disk_kind"], sweep["facts"]["disk_device"]) == ("virtual", "vda")
    calls, bandwidth, free = (trial["responses"] for trial in sweep["trials"])
    assert 10 < calls["iops"] < 26
    assert 200_000 < bandwidth["throughput_bytes_s"] < 520_000
    assert free["throughput_bytes_s"] > 2 * bandwidth["throughput_bytes_s"]
    assert traces(story["after_blocks"]) == {}


def test_who_may_limit_nothing_is_told_why_and_what_to_ask_for(stories: dict[str, Story]) -> None:
    story = told(stories, "user-without-cpu")
    assert story["sweep"]["exit_code"] == 4
    assert "Traceback" not in story["sweep"]["stderr"]
    assert "Delegate=cpu" in story["sweep"]["stderr"]
    assert traces(story["after_sweep"]) == {}


def test_who_has_no_right_to_limits_is_given_emulated_ones(stories: dict[str, Story]) -> None:
    story = told(stories, "user-emulated")
    assert story["timeout"]["exit_code"] == 0, story["timeout"]["stderr"]
    assert story["timeout"]["facts"]["limits_mechanism"] == "emulated"
    assert traces(story["after_timeout"]) == {}
