"""Curves with what real sweeps have and smooth drawn ones lack, with the truth known.

- effects: every level has an effect of its own with heavy tails, which more trials do not average
  away.
- cliff: the last levels fall off, by up to a hundred times.
- gaps: whole stretches of levels were not measured.
- single: one trial a level, at several noises.
- unequal: the levels scatter differently, the noisiest up to a hundred times as much as the
  quietest.
- drift: the last phase loses or gains slowly; it adds up to more than a tenth.
- teeth: the response is better by a factor at every second, third, fourth or eighth level.
- equal: nothing but settings that are equal and scatter differently. Whoever calls one worse is
  wrong.

Effects and teeth belong to what a setting is worth; the phases are those of the law beneath.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deadzone.analysis.phases.thresholds import (
    BREAKTHROUGH_ELASTICITY,
    LINEAR_ELASTICITY,
    REVERSAL_ELASTICITY,
)
from deadzone.errors import PhaseError, check_known

from .curves import LEVELS, Curve, Tier, draw_pieces

Shape = Callable[[np.random.Generator, "Drawn"], "Drawn"]

EFFECT = 0.015
EFFECT_DF = 2.0
"""Effects of levels: Student's t with two degrees of freedom, of which one in a hundred is ten
times its scale."""

LARGEST_EFFECT = np.log(20.0)

CLIFF = (1.5, 100.0)
CLIFF_LEVELS = (1, 4)
"""A cliff makes the last one to three levels worse by a factor of this range, drawn in
proportion."""

GAP_SHARE = (0.3, 0.6)
"""So much of the inner levels is left out, in one to three stretches."""

DRIFT = (0.05, 0.20)
"""Elasticity of a slow gain or loss: below what the thresholds call paying or harm by itself."""

LEAST_DRIFT = np.log(1.10)

TEETH = (1.1, 1.7)
PERIODS = (2, 3, 4, 8)


@dataclass(frozen=True)
class HardTier:
    """How the curves of one tier are drawn. noise: standard deviation of ln(response) of a trial,
    of unequal levels its geometric mean. ratio: the scatter of the noisiest level over that of the
    quietest. outliers: share of spoiled trials."""

    shape: str
    noise: float
    replicates: int
    ratio: float = 1.0
    outliers: float = 0.0


@dataclass(frozen=True)
class Drawn:
    """A curve before it is measured: levels, ln of the law, labels of the steps, effects of
    levels."""

    levels: np.ndarray
    law: np.ndarray
    labels: tuple[str, ...]
    own: np.ndarray


HARD_TIERS: dict[str, HardTier] = {
    "effects": HardTier("effects", 0.02, 5, outliers=0.02),
    "effects_single": HardTier("effects", 0.02, 1),
    "cliff": HardTier("cliff", 0.02, 5, outliers=0.02),
    "cliff_single": HardTier("cliff", 0.02, 1),
    "gaps": HardTier("gaps", 0.02, 5, outliers=0.02),
    "gaps_single": HardTier("gaps", 0.02, 1),
    "single_2": HardTier("plain", 0.02, 1),
    "single_5": HardTier("plain", 0.05, 1),
    "single_10": HardTier("plain", 0.10, 1),
    "single_20": HardTier("plain", 0.20, 1),
    "unequal_3": HardTier("plain", 0.02, 5, ratio=3.0),
    "unequal_10": HardTier("plain", 0.02, 5, ratio=10.0),
    "unequal_30": HardTier("plain", 0.02, 5, ratio=30.0),
    "unequal_100": HardTier("plain", 0.02, 5, ratio=100.0),
    "drift": HardTier("drift", 0.01, 5, outliers=0.02),
    "drift_single": HardTier("drift", 0.01, 1),
    "teeth": HardTier("teeth", 0.02, 5, outliers=0.02),
    "teeth_single": HardTier("teeth", 0.02, 1),
}

EQUAL_RATIOS = (1, 3, 10, 30, 100)
EQUAL_SETTINGS = (2, 12)
EQUAL_TRIALS = (3, 5, 10, 20)


def draw_hard(name: str, count: int, seed: int) -> list[Curve]:
    """`count` curves of one tier; the same seed always gives the same curves."""
    check_known(PhaseError, f"There is no tier {name!r}", name, HARD_TIERS, "There are:")
    rng = np.random.default_rng([seed, *name.encode()])
    return [_draw(rng, HARD_TIERS[name], f"{name}-{i:04d}") for i in range(count)]


def draw_equal(ratio: int, count: int, seed: int) -> list[Curve]:
    """Two to twelve settings of equal value whose scatters differ by up to `ratio`, three to twenty
    trials each."""
    rng = np.random.default_rng([seed, ratio, *b"equal"])
    curves = []
    for i in range(count):
        settings, trials = (
            int(rng.integers(EQUAL_SETTINGS[0], EQUAL_SETTINGS[1] + 1)),
            int(rng.choice(EQUAL_TRIALS)),
        )
        tier = HardTier("equal", 10 ** rng.uniform(-2.5, -1.0), trials, ratio=ratio)
        flat = Drawn(
            2.0 ** np.arange(settings),
            np.zeros(settings),
            ("plateau",) * (settings - 1),
            np.zeros(settings),
        )
        curves.append(_measured(rng, flat, tier, f"equal_{ratio}-{i:04d}"))
    return curves


def _draw(rng: np.random.Generator, tier: HardTier, name: str) -> Curve:
    levels = LEVELS["mixed"](rng)
    law, labels = draw_pieces(rng, np.log(levels), Tier(tier.noise, tier.replicates, tier.outliers))
    return _measured(
        rng, SHAPES[tier.shape](rng, Drawn(levels, law, labels, np.zeros(len(levels)))), tier, name
    )


def _measured(rng: np.random.Generator, drawn: Drawn, tier: HardTier, name: str) -> Curve:
    """Trials of a curve in a randomised order, some of them spoiled."""
    n = len(drawn.levels)
    place = rng.uniform(-0.5, 0.5, n)
    if tier.ratio > 1:
        place[rng.permutation(n)[:2]] = -0.5, 0.5
    sigma = np.tile(tier.noise * tier.ratio**place, tier.replicates)
    x = np.tile(drawn.levels, tier.replicates)
    log_y = np.tile(drawn.law + drawn.own, tier.replicates) + sigma * rng.standard_normal(x.size)
    spoiled = rng.random(x.size) < tier.outliers
    factor = np.log(rng.uniform(1.5, 4.0, x.size)) * np.where(rng.random(x.size) < 0.75, 1, -1)
    log_y += np.where(spoiled, factor, 0.0)
    order = rng.permutation(x.size)
    return Curve(
        name,
        drawn.levels,
        x[order],
        np.exp(log_y[order]),
        drawn.law,
        drawn.labels,
        spoiled[order],
        log_own=drawn.own,
    )


def _plain(rng: np.random.Generator, drawn: Drawn) -> Drawn:
    return drawn


def _effects(rng: np.random.Generator, drawn: Drawn) -> Drawn:
    own = np.clip(
        EFFECT * rng.standard_t(EFFECT_DF, len(drawn.levels)), -LARGEST_EFFECT, LARGEST_EFFECT
    )
    return Drawn(drawn.levels, drawn.law, drawn.labels, own)


def _cliff(rng: np.random.Generator, drawn: Drawn) -> Drawn:
    """The law is that before the cliff; behind it every level is worse by one factor, and the steps
    are a reversal."""
    fallen, law = int(rng.integers(*CLIFF_LEVELS)), drawn.law.copy()
    law[-fallen:] = (
        law[-fallen - 1] + np.log(CLIFF[0]) + rng.uniform(0, np.log(CLIFF[1] / CLIFF[0]))
    )
    labels = [*drawn.labels[:-fallen], *["reversal"] * fallen]
    return Drawn(drawn.levels, law, _in_place(drawn.levels, law, labels), drawn.own)


def _gaps(rng: np.random.Generator, drawn: Drawn) -> Drawn:
    """A step over a gap that hides a joint has the label of its own elasticity."""
    n = len(drawn.levels)
    keep = np.ones(n, bool)
    missing = round(rng.uniform(*GAP_SHARE) * (n - 2))
    for part in np.array_split(np.arange(missing), rng.integers(1, 4)):
        first = rng.integers(1, max(n - 1 - len(part), 2))
        keep[first : first + len(part)] = False
    keep[[0, -1]] = True
    kept = np.flatnonzero(keep)
    levels, law = drawn.levels[kept], drawn.law[kept]
    labels = []
    for (a, b), e in zip(pairwise(kept), -np.diff(law) / np.diff(np.log(levels)), strict=True):
        hidden = set(drawn.labels[a:b])
        labels.append(hidden.pop() if len(hidden) == 1 else _by_elasticity(e))
    return Drawn(levels, law, _in_place(levels, law, labels), drawn.own[kept])


def _by_elasticity(e: float) -> str:
    if e >= BREAKTHROUGH_ELASTICITY:
        return "breakthrough"
    return (
        "linear" if e >= LINEAR_ELASTICITY else "reversal" if e < REVERSAL_ELASTICITY else "plateau"
    )


def _drift(rng: np.random.Generator, drawn: Drawn) -> Drawn:
    """The second half loses or gains slowly, to the end; a gain behind a phase that pays would be
    no other phase."""
    x, labels = np.log(drawn.levels), list(drawn.labels)
    first = len(x) // 2
    while x[-1] - x[first] < LEAST_DRIFT / DRIFT[0] and first > 2:
        first -= 1
    e = rng.uniform(max(DRIFT[0], LEAST_DRIFT / (x[-1] - x[first])), DRIFT[1])
    gains = labels[first - 1] != "linear" and rng.random() < 0.5
    law = drawn.law.copy()
    law[first:] = law[first] - (e if gains else -e) * (x[first:] - x[first])
    labels[first:] = ["linear" if gains else "reversal"] * (len(labels) - first)
    return Drawn(drawn.levels, law, _in_place(drawn.levels, law, labels), drawn.own)


def _in_place(levels: np.ndarray, law: np.ndarray, labels: list[str]) -> tuple[str, ...]:
    """Labels that fit where they stand: what is no gain is a dead zone where something improves
    later, else a plateau or harm."""
    edges = [
        i for i in range(len(labels) + 1) if i in (0, len(labels)) or labels[i] != labels[i - 1]
    ]
    out, improves = list(labels), False
    for first, stop in reversed(list(pairwise(edges))):
        label = labels[first]
        if label in ("linear", "breakthrough"):
            improves = True
        elif improves:
            label = "dead_zone"
        elif label == "dead_zone":
            e = (law[first] - law[stop]) / np.log(levels[stop] / levels[first])
            label = "reversal" if e < REVERSAL_ELASTICITY else "plateau"
        out[first:stop] = [label] * (stop - first)
    return tuple(out)


def _teeth(rng: np.random.Generator, drawn: Drawn) -> Drawn:
    period, depth = int(rng.choice(PERIODS)), np.log(rng.uniform(*TEETH))
    own = np.where((np.arange(len(drawn.levels)) + rng.integers(period)) % period == 0, -depth, 0.0)
    return Drawn(drawn.levels, drawn.law, drawn.labels, own)


SHAPES: dict[str, Shape] = {
    "plain": _plain,
    "effects": _effects,
    "cliff": _cliff,
    "gaps": _gaps,
    "drift": _drift,
    "teeth": _teeth,
}
