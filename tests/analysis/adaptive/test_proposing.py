from functools import cache
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from benchmarks.synthetic.curves import draw_tier
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadzone import propose
from deadzone.analysis.phases.fit import fit_phases
from deadzone.errors import PhaseError
from deadzone.study.until_specs import UntilSpec

NOTHING = pd.DataFrame({"n": [], "wall_s": []})
LEVELS = list(range(1, 17))


def knee(level, rng, noise=0.02):
    """Pays up to 6, then nothing more."""
    return 60 / min(level, 6) * np.exp(noise * rng.standard_normal())


def sweep(measure, levels=LEVELS, most=60, **asked):
    """Propose and measure until nothing more is proposed; the table and the last proposal."""
    rng, rows = np.random.default_rng(5), []
    while True:
        frame = pd.DataFrame(rows, columns=["n", "wall_s", "status"])
        said = propose(frame, "n", "wall_s", levels, **asked)
        if not said.levels or len(rows) >= most:
            return frame, said
        for level in said.levels:
            wall_s = measure(level, rng)
            rows.append((level, wall_s or 0.1, "ok" if wall_s else "failed"))


@cache
def knee_sweep():
    """A sweep of the knee to its end; its first rows are those of a shorter one."""
    return sweep(knee)


def test_a_sweep_begins_with_few_levels_over_the_whole_range_in_random_order():
    said = propose(NOTHING, "n", "wall_s", LEVELS)
    assert sorted(said.levels) == [1, 3, 5, 7, 9, 11, 13, 15, 16]
    assert list(said.levels) != sorted(said.levels)
    assert not said.done and "9 of these levels" in said.reason
    assert propose(NOTHING, "n", "wall_s", LEVELS, seed=1).levels != said.levels


def test_a_knee_is_found_as_by_the_grid_in_a_part_of_its_time():
    frame, said = knee_sweep()
    assert said.done and not said.open
    phases = fit_phases(frame, "n", "wall_s").phases
    assert phases["label"].tolist() == ["linear", "plateau"]
    assert 5 <= phases["start"].iloc[1] <= 7
    rng = np.random.default_rng(6)
    whole = sum(knee(level, rng) for level in LEVELS for _ in range(5))
    assert frame["wall_s"].sum() < 0.35 * whole
    assert len(frame) < 0.5 * 5 * len(LEVELS)


REAL = draw_tier("real", 6, 3)


@pytest.mark.parametrize("curve", [REAL[0], REAL[4]], ids=lambda curve: curve.name)
def test_a_short_phase_is_believed_once_each_of_its_levels_was_measured_twice(curve):
    trials = {level: cycle(curve.y[curve.x == level]) for level in curve.levels}
    levels = [float(level) for level in curve.levels]
    frame, said = sweep(lambda level, rng: next(trials[level]), levels)
    assert said.done
    phases, short = fit_phases(frame, "n", "wall_s").phases, 0
    for start, end in zip(phases["start"], phases["stop"], strict=True):
        inside = [level for level in levels if start <= level <= end]
        if len(inside) <= 3 and len(phases) > 1:
            short += 1
            assert frame.loc[frame["n"].isin(inside), "n"].value_counts().min() >= 2
    assert short, "a curve without a short phase shows nothing"


def test_the_level_without_a_limit_is_measured_and_stays_behind_levels_that_are_added():
    levels = [1, 2, 3, 4, 6, 8, 12, 16, 24, "none"]
    measure = lambda level, rng: knee(99 if level == "none" else level, rng)  # noqa: E731
    frame, said = sweep(measure, levels, until=UntilSpec(resolution=0.2))
    assert said.done and "none" in set(frame["n"])
    assert not set(frame["n"]) <= set(levels)


def test_a_joint_between_levels_is_found_to_the_resolution_asked_for():
    at, levels = 2.3, (0.5, 1, 1.5, 2, 3, 4, 6, 8)

    def measure(level, rng):
        return 10 / min(level, at) * np.exp(0.02 * rng.standard_normal())

    frame, said = sweep(measure, levels, 80, until=UntilSpec(resolution=0.05))
    assert said.done and not said.open
    joint = fit_phases(frame, "n", "wall_s").phases["start"].iloc[1]
    assert joint == pytest.approx(at, rel=0.05) and joint not in levels
    near = sorted({*frame["n"]} - {*levels})
    assert all(len(f"{level:g}") <= 4 for level in near), near


def test_whole_numbers_stay_whole_and_without_a_resolution_nothing_is_between():
    levels = (1, 2, 4, 8, 16, 32)
    frame, _ = sweep(knee, levels, until=UntilSpec(resolution=0.05))
    assert fit_phases(frame, "n", "wall_s").phases["start"].iloc[1] == 6
    assert all(float(level).is_integer() for level in frame["n"])
    assert {*sweep(knee, levels)[0]["n"]} <= {*levels}


def test_what_is_proposed_is_told_with_its_gain_and_its_cost():
    frame = knee_sweep()[0]
    said = propose(frame.head(12), "n", "wall_s", LEVELS, batch=2)
    assert len(said.gain) == len(said.levels) <= 3
    assert all(gain > 0 for gain in said.gain) and said.cost > 0
    assert said.open and all("n" in str(one) for one in said.open)


def test_the_same_arguments_give_the_same_proposal_in_any_order_of_the_rows():
    frame = knee_sweep()[0].head(12)
    once = propose(frame, "n", "wall_s", LEVELS, seed=3)
    assert once == propose(frame.copy(), "n", "wall_s", LEVELS, seed=3)
    shuffled = frame.sample(frac=1, random_state=1)
    assert sorted(propose(shuffled, "n", "wall_s", LEVELS, seed=3).levels) == sorted(once.levels)


@pytest.mark.night
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["typical", "real", "single"]), st.integers(0, 50))
def test_a_rate_to_maximise_is_proposed_for_as_its_time_to_minimise(tier, seed):
    curve = draw_tier(tier, 1, seed)[0]
    levels = [float(level) for level in curve.levels[:: len(curve.levels) // 6]]
    frame = pd.DataFrame({"n": curve.x, "wall_s": curve.y})
    # Of one trial a level the cheapest are repeated, whatever was measured there.
    frame = frame[frame["n"].isin(levels) & (frame.groupby("n").cumcount() < 2)]
    frame = frame.assign(speed=1000 / frame["wall_s"], slow=7 * frame["wall_s"])
    down = propose(frame, "n", "wall_s", levels)
    assert propose(frame, "n", "speed", levels, "max").levels == down.levels
    assert propose(frame, "n", "slow", levels).levels == down.levels
    assert set(down.levels) <= set(levels)


def test_a_region_that_fails_is_bounded_and_not_hammered():
    frame, said = sweep(lambda level, rng: None if level > 10 else knee(level, rng))
    failed = frame[frame["status"] == "failed"]["n"].value_counts()
    assert said.done and failed.index.min() == 11
    assert failed.max() <= 2 and failed.sum() <= 6


@pytest.mark.parametrize(("response", "reason"), [(None, "failed"), (3.0, "never changes")])
def test_where_all_trials_fail_or_are_the_same_no_further_one_is_proposed(response, reason):
    frame, said = sweep(lambda level, rng: response)
    assert said.done and not said.levels and reason in said.reason
    assert len(frame) == 9


def test_levels_that_are_never_trusted_are_left_alone_in_the_end():
    frame = knee_sweep()[0].head(9)
    unsound = pd.DataFrame({"n": [2] * 5, "wall_s": 9.0, "status": "ok", "trusted": False})
    table = pd.concat([frame.assign(trusted=True), unsound], ignore_index=True)
    assert 2 not in propose(table, "n", "wall_s", LEVELS).levels


def test_to_decide_the_setting_alone_takes_no_more_than_to_decide_all():
    alone, said = sweep(knee, until=UntilSpec(decide="setting"))
    assert said.done and len(alone) <= len(knee_sweep()[0])


@pytest.mark.parametrize(
    ("levels", "words"),
    [(["gzip", "xz", "zstd", "lz4"], "n has 0 levels"), ([1, 2, 4], "at least 4")],
)
def test_levels_among_which_nothing_can_be_chosen_are_refused(levels, words):
    with pytest.raises(PhaseError, match=words):
        propose(NOTHING, "n", "wall_s", levels)


def test_a_level_between_others_stays_a_number_beside_a_word():
    walls = {0.25: 8.0, 0.5: 4.0, 0.75: 3.0, 1: 2.0, 2: 1.0, 4: 1.0, "none": 1.0}
    rows = [(str(level), wall * k) for level, wall in walls.items() for k in (0.99, 1.01)]
    frame = pd.DataFrame(rows, columns=["cpu_limit", "wall_s"])
    listed = [0.25, 0.5, 1, 2, 4, "none"]
    for seed in range(5):
        until = UntilSpec(resolution=0.05)
        proposal = propose(frame, "cpu_limit", "wall_s", listed, seed=seed, until=until)
        assert not [one for one in proposal.levels if isinstance(one, str) and one != "none"]
