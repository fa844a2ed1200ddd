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
    """Trials over threads whose time is `truth`, scattered by `noise`; other columns scatter
    alike."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "threads": level,
            **{
                name: of(level) * np.exp(noise * rng.standard_normal())
                for name, of in {"wall_s": truth, **(columns or {})}.items()
            },
        }
        for _ in range(replicates)
        for level in levels
    ]
    trials = pd.DataFrame(rows).assign(trial=range(1, len(rows) + 1))
    return Measured(trials, "wall_s", "min", "threads", {"threads": tuple(levels)})
