"""Holm's correction for several comparisons made at once (1979, Scandinavian Journal of Statistics 6, 65-70)."""

import numpy as np


def holm(p: np.ndarray) -> np.ndarray:
    """p-values adjusted so that comparing each with the level errs anywhere with at most that probability.

    p: shape (n,), nan where no test was made; those stay nan and count for nothing. Returns shape (n,), <= 1.
    """
    adjusted = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted
