import pytest

from analysis.findings.made import sound_trials
from deadzone.analysis.findings.rehearsing import judge_of
from deadzone.study.design import resolve
from deadzone.study.loading import parse_study
from deadzone.study.plan import plan_of


def at_both_ends():
    return sound_trials(1).drop_duplicates("n").sort_values("n").iloc[[0, -1]].assign(error=None)


@pytest.fixture
def judged(resolved_study):
    """The keys and severities that a rehearsal tells of two trials, after what is planted is done
    to the second."""

    def judge(**planted):
        table = at_both_ends()
        for name, value in planted.items():
            table.loc[table.index[-1], name] = value
        return {one.key: one for one in judge_of(plan_of(resolved_study))(table)}

    return judge


@pytest.fixture
def resolved_study():
    text = "{study: s, workload: {kind: command, argv: [job, '{n}']}, factors: {n: [1, 2, 8]}}"
    return resolve(parse_study(text, "test"), 8)


def test_a_sound_rehearsal_is_silent(judged):
    assert judged() == {}


@pytest.mark.parametrize(
    ("planted", "key", "severity", "said"),
    [({"status": "failed", "error": "3"}, "failures_by_level", "doubts", "n 8 failed: 3"),
     ({"status": "timeout", "error": "x"}, "timeouts_by_level", "doubts", "n 8 was stopped"),
     ({"error_lines": 1}, "error_printed", "stops", "at n 8 and not elsewhere"),
     ({"stdout_bytes": 0}, "error_printed", "stops", "printed nothing, at n 8"),
     ({"left_running": 2}, "left_running", "stops", "up to 2 of its processes"),
     ({"wall_s": 0.002}, "too_short", "doubts", "2.00 ms")],
)  # fmt: skip
def test_what_one_trial_shows_is_told(judged, planted, key, severity, said):
    one = judged(**planted)[key]
    assert one.severity == severity and said in one.sentence, one.sentence


def test_ends_that_are_alike_in_everything_may_not_use_the_knob(judged):
    first = at_both_ends().iloc[0]
    same = first[["wall_s", "user_s", "sys_s", "max_rss_bytes", "minor_faults"]].to_dict()
    assert "knob_not_used" not in judged(**same), "one more thread shows in the switches"
    alike = judged(**same, voluntary_switches=first["voluntary_switches"] + 1)["knob_not_used"]
    assert alike.severity == "notes", "-1 and 1 may be alike, and 0 not"
    assert "at each end of the range" in alike.seen
    assert "The sweep shows whether the program uses n" in alike.seen


@pytest.mark.parametrize(("wall_s", "is_less"), [(0.2, True), (2.01, False)])
def test_a_program_that_works_for_a_set_time_prints_what_it_can(resolved_study, wall_s, is_less):
    """pgbench -T 2: 48,000 transactions with little memory, 57,000 with more, both in 2 s."""
    table = at_both_ends()
    table["wall_s"] = [2.0, wall_s]
    table["printed_work"] = ["transactions_processed=57012", "transactions_processed=48001"]
    found = judge_of(plan_of(resolved_study))(table)
    assert ("less_work" in {one.key for one in found}) is is_less
