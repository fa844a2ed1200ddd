from dataclasses import replace

import pandas as pd
import pytest

import deadzone as dz
from analysis.claims.planted import planted
from analysis.mechanisms.test_explaining import table
from deadzone.analysis.claims.judging import judge
from deadzone.analysis.claims.measured import Measured
from deadzone.errors import StudyError
from deadzone.study.claim_sentences import parse_claim


def capped(level):
    """Scales in proportion up to 4 threads, and no further."""
    return 8.0 / min(level, 4)


def verdict(claim, measured=None):
    (judged,) = judge([parse_claim(claim)], measured or planted(capped))
    return judged.verdict


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("threads 4 at least 3.5x faster than threads 1", "supported"),
        ("threads 4 at least 4.5x faster than threads 1", "contradicted"),
        ("threads 6 faster than threads 4", "undecided"),
        ("threads 6 within 5 % of threads 4", "supported"),
        ("threads 3 within 5 % of threads 4", "contradicted"),
        ("threads 2 is best", "contradicted"),
        ("threads 6 is best", "partly"),
        ("threads 1 to 4 scales by at least 0.9", "supported"),
        ("threads 1 to 8 scales by at least 0.9", "contradicted"),
        ("threads 4 to 8 is plateau", "supported"),
        ("threads 1 to 4 is plateau", "contradicted"),
        ("threads 3 to 6 is plateau", "partly"),
        ("nothing to gain beyond threads 4", "supported"),
        ("nothing to gain beyond threads 2", "contradicted"),
        ("wall_s at most 2.1 s at threads 4", "supported"),
        ("wall_s at most 2.1 s at threads 2", "contradicted"),
        ({"not_worse": {"by_at_most": 0.05}, "from": 4, "to": 8}, "supported"),
        ({"not_worse": {"by_at_most": 0.05}, "from": 4, "to": 2}, "contradicted"),
        ({"cannot_be_judged": "nothing measures it"}, "not_measured"),
        ("latency_ms at most 2 ms at threads 2", "not_measured"),
        ({"why": {"from": 1, "to": 4, "is": "throttled"}}, "not_measured"),  # without an account
    ],
)
def test_a_claim_is_judged_as_the_truth_was_planted(claim, expected):
    assert verdict(claim) == expected


def test_the_one_best_setting_is_shown():
    valley = planted(lambda level: abs(level - 4) + 2)
    assert verdict({"best": {"threads": 4}}, valley) == "supported"


@pytest.mark.parametrize(
    ("bound", "expected"), [(2.1, "supported"), (1.9, "contradicted"), (1.98, "undecided")]
)
def test_without_a_setting_one_that_holds_is_enough(bound, expected):
    assert verdict({"holds": {"wall_s": {"at_most": bound}}}) == expected


@pytest.mark.parametrize(
    ("column", "most", "expected"),
    [("latency_max_ms", 12, "supported"), ("latency_max_ms", 10, "contradicted"),
     ("error_share", 0.01, "supported"), ("error_share", 0.0002, "undecided")],
)  # fmt: skip
def test_largest_values_and_shares_of_errors_are_judged_as_objectives_are(column, most, expected):
    """10 ms at most were exceeded by a trial; none of 5,000 requests failed, which does not rule
    out one of 5,000."""
    counted = {
        "latency_max_ms": lambda level: 10.0,
        "errors": lambda level: 0.0,
        "requests": lambda level: 1e3,
    }
    claim = {"holds": {column: {"at_most": most}}, "at": {"threads": 4}}
    assert verdict(claim, planted(capped, columns=counted)) == expected


@pytest.mark.parametrize(
    ("cause", "expected"), [("less_work", "supported"), ("more_cores", "contradicted")]
)
def test_less_cpu_time_is_less_work(cause, expected):
    halved = {"user_s": lambda level: 8.0 if level < 4 else 4.0, "sys_s": lambda level: 0.1}
    measured = planted(lambda level: 4.0 if level < 4 else 2.0, columns=halved)
    assert verdict({"why": {"from": 3, "to": 4, "is": cause}}, measured) == expected


def test_where_time_rises_at_the_same_cpu_time_no_less_work_is_done():
    cpu = {"user_s": lambda level: 1.0, "sys_s": lambda level: 0.1}
    waiting = planted(float, columns=cpu)
    claim = {"why": {"from": 1, "to": 4, "is": "less_work"}}
    assert verdict(claim, waiting) != "supported"
    assert verdict({"why": {"from": 1, "to": 4, "is": "more_cores"}}, waiting) == "contradicted"


@pytest.mark.parametrize(
    ("cause", "expected"),
    [("more_cpu_work", "supported"), ("less_work", "contradicted"), ("throttled", "contradicted"),
     ("waiting_for_each_other", "contradicted")],
)  # fmt: skip
def test_why_is_told_by_the_account_of_time(cause, expected):
    """Eight cores busy at 8 threads, with 2.2 times the CPU work for the same job."""
    frame = table(cpu=(8, 8, 8 * 1.5, 8 * 2.2), busy=(1, 2, 4, 8))
    measured = Measured(frame, "wall_s", "min", "threads", {"threads": (1, 2, 4, 8)})
    assert verdict({"why": {"from": 2, "to": 8, "is": cause}}, measured) == expected


def test_shares_that_may_be_zero_are_judged_in_their_unit():
    measured = planted(capped)
    measured.trials["error_share"] = [0.0, 0.0002, 0.0001] * 10
    claim = {"not_worse": {"response": "error_share", "by_at_most": 0.001}, "from": 4, "to": 8}
    assert verdict(claim, measured) == "supported"


def test_without_repeats_the_scatter_is_read_off_the_curve():
    alone = planted(capped, replicates=1)
    claim = {"better": {"at": {"threads": 4}, "than": {"threads": 1}, "by_at_least": 2}}
    assert verdict(claim, alone) == "supported"


def test_settings_are_compared_where_the_other_factors_agree():
    """Six threads were measured on two cores alone, where they are as fast as four."""
    few = planted(lambda level: 8.0 / min(level, 2), seed=1).trials.assign(cores=2)
    many = planted(capped, levels=(1, 2, 3, 4, 8), seed=2).trials.assign(cores=4)
    trials = pd.concat([few, many])
    factors = {"threads": (1, 2, 3, 4, 6, 8), "cores": (2, 4)}
    measured = Measured(trials, "wall_s", "min", "threads", factors)
    claim = {"same": {"at": {"threads": 6}, "as": {"threads": 4}, "within": 0.05}}
    assert verdict(claim, measured) == "supported"


def test_a_phase_may_reach_to_no_limit():
    limited = planted(capped)
    limited.trials["threads"] = limited.trials["threads"].astype(object).replace(8, "none")
    measured = Measured(limited.trials, "wall_s", "min", "threads", {"threads": (1, "none")})
    claim = {"phase": {"from": 4, "to": "none", "is": "plateau"}}
    assert verdict(claim, measured) == "supported"


def test_what_was_found_says_what_was_claimed():
    claim = {"scaling": {"from": 1, "to": 4, "at_least": 0.5}}
    (judged,) = judge([parse_claim(claim)], planted(capped))
    assert judged.claim == "with 4 threads it is at least 2 times as good as with 1 thread"
    assert "claimed: at least 2 times" in judged.found


def judged(claim, rows, columns, **of):
    frame = pd.DataFrame(rows, columns=columns)
    (verdict,) = dz.judge(claim, frame, columns[0], columns[1], **of)
    return verdict.verdict


NEAR = (0.99, 1.0, 1.01)


def test_a_phase_is_judged_on_the_whole_range_that_is_claimed():
    measured = replace(planted(capped), factors={"threads": (1, 2, 3, 4, 6, 8, 16)})
    assert verdict("4 to 8 is plateau", measured) == "supported"
    assert verdict("4 to 16 is plateau", measured) == "not_measured"


def test_sizes_are_levels_in_order():
    walls = {"16KiB": 8.0, "32KiB": 4.0, "64KiB": 2.0, "128KiB": 2.0, "256KiB": 2.0}
    rows = [(size, wall * k) for size, wall in walls.items() for k in NEAR]
    columns = ["block", "wall_s"]
    assert judged("64KiB to 256KiB is plateau", rows, columns) == "supported"
    assert judged("nothing to gain beyond 16KiB", rows, columns) == "contradicted"


def test_the_scatter_of_one_column_says_nothing_of_another():
    rows = [(n, 1000.0 * min(n, 4), 19.0 + n / 10) for n in (1, 2, 3, 4, 6, 8)]
    columns = ["workers", "throughput_rps", "latency_p99_ms"]
    claim = "latency_p99_ms at most 20 ms at workers 8"
    assert judged(claim, rows, columns) == "not_measured"


def test_what_is_given_is_not_what_is_compared():
    rows = [
        (cores, 8.0 / cores / (1 if cores == 2 else threads) * k, threads)
        for cores in (1, 2, 4) for threads in (1, 2, 4) for k in NEAR
    ]  # fmt: skip
    columns = ["cores", "wall_s", "threads"]
    claim = "wall_s no worse by 5 % from 1 to 4 given cores 2"
    assert judged(claim, rows, columns, by="threads") == "supported"


def test_a_side_that_nothing_was_measured_of_is_not_measured():
    rows = [
        (build, 1.0, p99, block)
        for build, p99 in (("old", None), ("new", 5.0))
        for block in range(6)
    ]
    claim = "p99_ms no worse by 5 % from old to new"
    assert judged(claim, rows, ["build", "wall_s", "p99_ms", "block"]) == "not_measured"


def test_no_program_scales_a_thousandfold_per_doubling():
    with pytest.raises(StudyError, match="less than or equal to 10"):
        parse_claim("threads 1 to 8 scales by at least 1000")


@pytest.mark.parametrize(
    ("levels", "claim"),
    [(("64K", "1M", "4M"), "size 4M is best"), (("0.50", "1.0", "2.0", "auto"), "size 2.0 is best"),
     (("1,024", "2,048", "4,096"), "size 4096 is best")],
)  # fmt: skip
def test_a_claim_names_a_level_as_it_is_written(levels, claim):
    rows = [
        (level, wall * k) for level, wall in zip(levels, (8, 4, 2, 9), strict=False) for k in NEAR
    ]
    assert judged(claim, rows, ["size", "wall_s"]) == "supported"
