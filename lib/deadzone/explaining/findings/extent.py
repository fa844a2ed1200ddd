"""Whether the levels are the right ones: what the fit says of the range."""

from collections.abc import Iterator

import numpy as np

from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.finding import Suspicion

COARSE = 2.0
"""Neighbouring levels further apart than this factor leave room for a better setting between them."""

GAIN = 1.2
"""A best level that is better than both neighbours by this factor may have better ones beside it."""

LEVEL_OFF = 4.0
LEVEL_FACTOR = 1.15
"""A level is off the curve beyond this many standard deviations and this factor."""


def edge_of_range(seen: Experiment) -> Iterator[Suspicion]:
    """The response still improves at an end of the range, by the label of the last phase or the direction of the first step."""
    model = seen.model
    if model is None:
        return
    levels = model.levels["level"].to_numpy(float)
    last = model.phases.iloc[-1]
    up = str(last["label"]) in ("linear", "breakthrough") and levels[-1] == seen.levels[-1]
    at = model.axis.forward(levels)
    add = model.axis.backward(at[-1] + (at[-1] - at[-2]) * np.array([1, 2])).tolist()
    said = {"level": f"{levels[-1]:g}", "knob": seen.knob, "add": ", ".join(f"{one:.3g}" for one in add)}
    p = 1 - float(last["probability"]) if up else 1.0
    yield seen.suspicion("edge_of_range", p, weight=up, levels=seen.levels[-1:], say=said)


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
    add = [float(np.sqrt(levels[best] * levels[i])) for i in (best - 1, best + 1)]
    said = {"knob": seen.knob, "level": f"{levels[best]:g}", "add": ", ".join(f"{one:.3g}" for one in add)}
    alone = bool(apart > np.log(GAIN) and wide > COARSE)
    yield seen.suspicion("range_too_coarse", alone, levels=[levels[best]], say=said)


def one_level_off(seen: Experiment) -> Iterator[Suspicion]:
    """A level whose trials agree with each other and not with the curve: t test of its median against the fit, with the
    misfit of the other levels as its error (Bonferroni over the levels)."""
    from scipy.special import stdtr

    if seen.model is None:
        return
    table, noise = seen.model.levels, seen.model.noise
    off = np.abs(np.log((table["median"] / table["fitted"]).to_numpy(float)))
    error = np.hypot(noise.misfit, table["spread"] / np.sqrt(table["n_used"].clip(lower=1))).to_numpy(float)
    score = off / np.maximum(error, 1e-9)
    worst = int(np.argmax(score))
    enough = score[worst] > LEVEL_OFF and off[worst] > np.log(LEVEL_FACTOR) and table["n"].iloc[worst] >= 2
    p = min(1.0, len(score) * 2 * float(stdtr(max(noise.degrees_of_freedom, 3), -score[worst])))
    level = float(table["level"].iloc[worst])
    said = {"knob": seen.knob, "level": f"{level:g}", "times": float(np.exp(off[worst]))}
    yield seen.suspicion("one_level_off", p, weight=enough, levels=[level], say=said)
