"""As the main job, with a shorter clip and fewer levels."""

import os

import pytest
from disturbance import mostly_untrusted, trusted, undisturbed

from deadzone import fit_phases
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep

pytestmark = pytest.mark.alone("it compares times with the truth")

SHARES = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2]
"""Limits as shares of the machine."""


def measured(write_study):
    study = write_study(
        "truth",
        workload={"kind": "ffmpeg", "clip": {"duration_s": 3}},
        factors={"cpu_limit": {"levels": [*SHARES, "none"], "times": "host_cores"}},
        design={"replicates": 3, "warmup": 0, "timeout_s": 300},
        trust={"max_attempts": 2},
    )
    opened = open_run(str(study))
    return run_sweep(opened.plan, opened.run).trials()


@pytest.mark.night
def test_quota_pays_up_to_the_cores_and_is_a_plateau_beyond(quota, write_study):
    trials = undisturbed(lambda: measured(write_study), mostly_untrusted, attempts=2)
    sound = trusted(trials)
    limited = sound[sound["cpu_limit"] != "none"].assign(
        cpu_limit=lambda table: table["cpu_limit"].astype(float)
    )

    cores = len(os.sched_getaffinity(0))
    phases = fit_phases(limited, "cpu_limit", "wall_s").phases
    assert phases["label"].tolist() == ["linear", "plateau"]
    levels = [share * cores for share in SHARES]
    begins = phases.iloc[-1]["start"]
    at_the_cores = levels.index(cores)
    near = levels[at_the_cores - 1 : at_the_cores + 2]
    assert begins in near, f"the plateau begins at {begins} of {cores} cores"

    throttled = sound.assign(share=sound["nr_throttled"] / sound["nr_periods"].replace(0, None))
    tightest = throttled[throttled["cpu_limit"] == str(SHARES[0] * cores).removesuffix(".0")]
    assert tightest["share"].median() > 0.9
    assert throttled.loc[throttled["cpu_limit"] == "none", "nr_throttled"].max() == 0
