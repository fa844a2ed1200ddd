"""`benchmarks/long_sweep.py` has more of them."""

import time
import tracemalloc
from dataclasses import replace

import pytest

from deadzone.measurement import NO_INTERFERENCE
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.progress import Progress
from deadzone.run.sweep.proposed import trials_of
from deadzone.run.sweep.running import run_sweep

TRIALS, STRETCH = 6_000, 200

BUSY = replace(NO_INTERFERENCE, foreign_cpu=1.0, processes=(("neighbour", 1.0),))
"""Beside a neighbour a sweep also learns whether that does harm."""


class Looks(Progress):
    """CPU time and memory of this process after every stretch of trials."""

    def __init__(self):
        self.cpu_s, self.bytes = [], []

    def show(self, done, total, current, left_s):
        if done % STRETCH == 0:
            self.cpu_s.append(time.process_time())
            self.bytes.append(tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0)


@pytest.fixture
def emulated(write_study, emulate, monkeypatch):
    """A sweep of TRIALS emulated trials; returns its looks."""
    emulate(lambda treatment: (0.01, BUSY))
    monkeypatch.setattr("os.fdatasync", lambda descriptor: None)  # the disk's time is none of ours

    def swept(**design):
        study = write_study(
            factors={"threads": list(range(1, 11))},
            design={"replicates": TRIALS // 10, "rehearsal": False, **design},
            trust={"max_foreign_cpu": 0.5, "max_attempts": 1},
        )
        opened, looks = open_run(str(study)), Looks()
        run_sweep(opened.plan, opened.run, looks, trials_of(opened.plan, None, looks))
        assert len(opened.run.finished()) == TRIALS
        return looks

    return swept


@pytest.mark.alone("it measures the cost of a trial early and late")
@pytest.mark.parametrize(
    "design",
    [pytest.param({}, id="grid"),
     pytest.param({"budget_s": 10_000}, id="budget", marks=pytest.mark.night)],
)  # fmt: skip
def test_the_last_trials_cost_no_more_than_the_first(emulated, design):
    looks = emulated(**design)
    costs = [after - before for before, after in zip(looks.cpu_s, looks.cpu_s[1:], strict=False)]
    third = len(costs) // 3
    assert min(costs[-third:]) < 1.25 * min(costs[:third])  # neighbours only add


@pytest.mark.night
def test_no_trial_stays_in_memory(emulated):
    tracemalloc.start()
    try:
        looks = emulated()
    finally:
        tracemalloc.stop()
    grown = looks.bytes[-1] - looks.bytes[len(looks.bytes) // 3]
    # The number of attempts is kept for each trial, a few dozen bytes, and nothing else.
    assert grown / (TRIALS * 2 / 3) < 100, "bytes a trial; of 100,000 it would be 10 MB"
