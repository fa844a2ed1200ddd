"""Trials that did not end well, level by level: those that are left are survivors, and a time-out is only a bound."""

from collections.abc import Iterator

import numpy as np

from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.finding import Severity, Suspicion
from deadzone.explaining.findings.permutation import PERMUTATIONS, SEED

ALLOWED = 0.05
"""A setting at which one trial in twenty fails is not a setting to recommend."""

BARRING = ("failures_by_level", "timeouts_by_level")
"""Findings whose levels are not recommended. A level with time-outs stands in the curve by what they bound (see
`explaining.phases.censored`), one with failures does not: its survivors may be the light ones."""


def failures_by_level(seen: Experiment) -> Iterator[Suspicion]:
    """More trials fail at some levels than allowed.

    Binomial tests of more than ALLOWED for each level and for all levels from one on, up and down, their smallest p set
    against that of trials which fail one time in twenty wherever they are: a scan statistic (Naus 1965, Journal of the
    American Statistical Association 60, 532-538), simulated. Warm-up trials take part.
    """
    yield from _beyond(seen, "failures_by_level", ("failed", "oom_killed"))


def timeouts_by_level(seen: Experiment) -> Iterator[Suspicion]:
    """More trials are killed for taking too long than allowed, at some levels; tested as `failures_by_level` is."""
    yield from _beyond(seen, "timeouts_by_level", ("timeout",))


def _beyond(seen: Experiment, key: str, kinds: tuple[str, ...]) -> Iterator[Suspicion]:
    table = seen.attempts.groupby("number", sort=False).tail(1)
    if "status" not in table or not len(table):
        return
    bad = table["status"].isin(kinds).to_numpy()
    place = table["place"].to_numpy()
    sizes = np.bincount(place, minlength=len(seen.levels))
    failed = np.bincount(place, bad, minlength=len(seen.levels)).astype(int)
    worst = failed > ALLOWED * sizes
    rows = table[worst[place]]
    levels = seen.at(rows)
    p = _scan(failed, sizes) if bad.any() else 1.0
    gravity: Severity | None = "stops" if worst.all() else None
    said = {"failed": int(failed[worst].sum()), "trials": len(rows), "levels": seen.named(levels)}
    yield seen.suspicion(
        key, p, table[bad], weight=bool(bad.any()), levels=levels, severity=gravity, say=said
    )


def _scan(failed: np.ndarray, sizes: np.ndarray) -> float:
    """p-value of the most unlikely window. failed, sizes: shape (levels,)."""
    from scipy.special import bdtrc

    count = len(sizes)
    windows = np.concatenate([np.tri(count), np.tri(count).T[1:], np.eye(count)[1:-1]])
    rng = np.random.default_rng(SEED)
    drawn = np.concatenate([failed[None, :], rng.binomial(sizes, ALLOWED, (PERMUTATIONS, count))])
    least = bdtrc(drawn @ windows.T - 1, (sizes @ windows.T).astype(int), ALLOWED).min(axis=1)
    return float(np.mean(least <= least[0] * (1 + 1e-9)))
