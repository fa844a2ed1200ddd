"""Trials with a planted truth, as claims are judged by."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from deadzone.analysis.claims.measured import Measured

NOISE = 0.01


def planted(
    truth: Callable[[float], float],
    levels: Sequence[float] = (1, 2, 3, 4, 6, 8),
    replicates: int = 5,
    *,
    noise: float = NOISE,
    seed: int = 3,
    columns: Mapping[str, Callable[[float], float]] | None = None,
) -> Measured:
    """Trials over threads whose time is `truth`, scattered by `noise`, as other columns are."""
    rng = np.random.default_rng(seed)
    means = {"wall_s": truth, **(columns or {})}
    trials = pd.DataFrame({"threads": [*levels] * replicates})
    drawn = np.exp(noise * rng.standard_normal((len(trials), len(means))))
    for (name, of), scatter in zip(means.items(), drawn.T, strict=True):
        trials[name] = trials["threads"].map(of) * scatter
    trials["trial"] = range(1, len(trials) + 1)
    return Measured(trials, "wall_s", "min", "threads", {"threads": tuple(levels)})
