"""One study, four ways to run it: on this machine, by resize, by rollout, and in fresh pods two at
a time."""

import pytest
from disturbance import MOST_UNTRUSTED, clock_wandered, scattered, undisturbed
from sweeping import ALLOWED, BUSY, Left, job_target, target

from deadzone import fit_phases

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.alone("it measures the same curve in a pod and here"),
]

LEVELS = [0.2, 0.4, 0.8, 1.4, 1.8]
"""A shell that counts gains in proportion to one core, and nothing beyond; ffmpeg with one thread
keeps helpers of its own, on some machines half a core's worth of them."""

COUNTS = [*BUSY[:-1], "120000"]
"""Some tenths of a second of one core: several periods of the quota at each level."""

PHASES = ["linear", "plateau"]

FRESH = ("patch", "job")
"""Each trial has a pod of its own, which no earlier one warms; a rollout takes five seconds, so
these have three trials a level, and the others five."""

BESIDE_CORES = 0.5
"""CPU of neighbours, and of the node's programs, that a trial of one thread bears on two cores."""


def fitted(run):
    """The measured trials of a run and the labels of their phases."""
    trials = run.trials()
    measured = trials[~trials["warmup"]].groupby("trial").tail(1)
    return measured, fit_phases(measured, "cpu_limit", "wall_s").phases["label"].tolist()


def misled(found):
    """Whether the phases are not those of the program, and neighbours explain it."""
    measured, phases = found
    beside = measured["foreign_cpu"].astype(float) + measured["steal"].astype(float)
    wandered = clock_wandered(measured, "cpu_limit") or scattered(
        measured["wall_s"], measured["cpu_limit"]
    )
    return phases != PHASES and (wandered or (beside > BESIDE_CORES).mean() > MOST_UNTRUSTED)


@pytest.mark.parametrize("way", ["local", "resize", "patch", "job"])
def test_the_same_study_gives_the_same_phases(
    way, quota, cluster, namespace, deployment, write_study, sweep, ffmpeg_image
):
    ways = {
        "local": {"kind": "local"},
        "resize": target(namespace, change="resize"),
        "patch": target(namespace, change="patch"),
        "job": job_target(namespace, ffmpeg_image, job={"parallelism": 2}),
    }
    if way in ("resize", "patch"):
        deployment(annotations=ALLOWED)
    size = {"replicates": 3 if way in FRESH else 5, "warmup": int(way not in FRESH)}
    study = write_study(
        f"counting-{way}",
        argv=COUNTS,
        target=ways[way],
        factors={"cpu_limit": LEVELS},
        design={**size, "timeout_s": 120},
    )
    measured, phases = undisturbed(lambda: fitted(sweep(study)), misled, attempts=2)
    assert set(measured["status"]) == {"ok"}
    assert phases == PHASES, measured[["cpu_limit", "wall_s", "foreign_cpu"]].to_string()
    if way in ("resize", "patch"):
        Left(cluster, namespace).check_nothing()
