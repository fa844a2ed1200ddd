"""Whether the levels are the right ones: what the fit says of the range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.finding import Suspicion
from deadzone.explaining.phases.doubts import LEVEL_FACTOR, LEVEL_OFF, off_the_curve
from deadzone.explaining.phases.thresholds import LINEAR_ELASTICITY

if TYPE_CHECKING:
    from deadzone.explaining.phases.model import PhaseModel

COARSE = 2.0
"""Neighbouring levels further apart than this factor leave room for a better setting between them."""

GAIN = 1.2
"""A best level that is better than both neighbours by this factor may have better ones beside it."""

FEWEST_AROUND = 4
"""A level that is worse than both neighbours is a curve of its own where there are fewer."""


def edge_of_range(seen: Experiment) -> Iterator[Suspicion]:
    """The response still improves at the end of the range: the last phase is one that pays, and a one-sided t test has its
    elasticity above the least that is called so."""
    model = seen.model
    if model is None:
        return
    levels = model.levels["level"].to_numpy(float)
    last = model.phases.iloc[-1]
    up = str(last["label"]) in ("linear", "breakthrough") and levels[-1] == seen.levels[-1]
    at = model.axis.forward(levels)
    add = model.axis.backward(at[-1] + (at[-1] - at[-2]) * np.array([1, 2]))
    said = {"level": f"{levels[-1]:g}", "knob": seen.knob, "add": _like(levels, add)}
    pays = (float(last["elasticity"]) - LINEAR_ELASTICITY) / max(float(last["std_error"]), 1e-9)
    p = _p_beyond(model, pays) if up else 1.0
    yield seen.suspicion("edge_of_range", p, weight=up, levels=seen.levels[-1:], say=said)


def _like(levels: np.ndarray, add: np.ndarray) -> str:
    """New levels in a sentence; whole numbers where the levels are."""
    whole = np.all(levels % 1 == 0)
    return ", ".join(f"{one:.0f}" if whole else f"{one:.3g}" for one in add)


def range_too_coarse(seen: Experiment) -> Iterator[Suspicion]:
    """The best level stands alone: both neighbours are worse by GAIN, and further away than COARSE; on a ratio scale."""
    if seen.model is None or seen.model.axis.is_interval:
        return
    levels = seen.model.levels["level"].to_numpy(float)
    value = np.log(seen.model.levels["fitted"].to_numpy(float)) * (1 if seen.goal == "min" else -1)
    best = int(np.argmin(value))
    if not 0 < best < len(levels) - 1:
        return
    apart = min(value[best - 1], value[best + 1]) - value[best]
    wide = min(levels[best] / levels[best - 1], levels[best + 1] / levels[best])
    add = np.sqrt(levels[best] * levels[[best - 1, best + 1]])
    said = {"knob": seen.knob, "level": f"{levels[best]:g}", "add": _like(levels, add)}
    alone = bool(apart > np.log(GAIN) and wide > COARSE)
    yield seen.suspicion("range_too_coarse", alone, levels=[levels[best]], say=said)


def one_level_off(seen: Experiment) -> Iterator[Suspicion]:
    """A level whose trials agree with each other and not with the curve: t test of its median against the fit, with the
    misfit of the other levels as its error; or, where a fit of few levels bends to it, of its mean against the worse of its
    two neighbours, both of which are better (Bonferroni over the levels)."""
    if seen.model is None:
        return
    yield from _worse_than_both_neighbours(seen, seen.model)
    table = seen.model.levels
    off, error = off_the_curve(table, seen.model.noise)
    score = off / np.maximum(error, 1e-9)
    worst = int(np.argmax(score))
    enough = score[worst] > LEVEL_OFF and off[worst] > np.log(LEVEL_FACTOR) and table["n"].iloc[worst] >= 2
    p = min(1.0, len(score) * 2 * _p_beyond(seen.model, score[worst]))
    yield _level_off(seen, p, float(table["level"].iloc[worst]), off[worst], enough)


def _worse_than_both_neighbours(seen: Experiment, model: PhaseModel) -> Iterator[Suspicion]:
    table, noise = model.levels, model.noise
    count = len(table)
    if count < FEWEST_AROUND or not noise.estimable:
        return
    worse = np.log(table["mean"].to_numpy(float)) * (1 if seen.goal == "min" else -1)
    variance = noise.replicate**2 / table["n_used"].clip(lower=1).to_numpy(float)
    inner = np.arange(1, count - 1)
    step = np.stack([worse[inner] - worse[inner + side] for side in (-1, 1)])
    error = np.sqrt(np.stack([variance[inner] + variance[inner + side] for side in (-1, 1)]))
    score = (step / np.maximum(error, 1e-9)).min(axis=0)
    at = int(np.nanargmax(score))
    off = float(step[:, at].min())
    p = min(1.0, (count - 2) * _p_beyond(model, score[at]))
    yield _level_off(seen, p, float(table["level"].iloc[at + 1]), off, off > np.log(LEVEL_FACTOR))


def _level_off(seen: Experiment, p: float, level: float, off: float, weight: bool) -> Suspicion:
    said = {"knob": seen.knob, "level": f"{level:g}", "times": float(np.exp(off))}
    return seen.suspicion("one_level_off", p, weight=weight, levels=[level], say=said)


def _p_beyond(model: PhaseModel, score: float) -> float:
    """p of a one-sided t test with the degrees of freedom of the fit's noise."""
    from scipy.special import stdtr

    return float(stdtr(max(model.noise.degrees_of_freedom, 3), -score))
