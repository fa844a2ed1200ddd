"""How far two samples stand apart, whatever their unit: Cliff's delta (1993, Psychological Bulletin
114, 494-509).

delta = P(second > first) - P(second < first), from -1 to 1; 0 is no difference. Vargha and
Delaney's A (2000) is (delta + 1) / 2. The verbal thresholds are those of Romano, Kromrey, Coraggio
and Skowronek (2006, annual meeting of the Florida Association of Institutional Research), which
match Cohen's small, medium and large.
"""

from collections.abc import Sequence

import numpy as np

NEGLIGIBLE, SMALL, MEDIUM = 0.147, 0.33, 0.474
"""Romano et al. 2006: an absolute delta below each of these is negligible, small or medium; above,
large."""


def cliffs_delta(a: np.ndarray, b: np.ndarray) -> float:
    """Cliff's delta of b against a: 1 where every b is larger than every a; nan if either is empty.

    a, b: shapes (n,) and (m,), in one unit.
    """
    if not len(a) or not len(b):
        return float("nan")
    ordered = np.sort(a)
    below = np.searchsorted(ordered, b, side="left").sum()
    above = (len(a) - np.searchsorted(ordered, b, side="right")).sum()
    return float(below - above) / (len(a) * len(b))


def overall_delta(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Cliff's delta within treatments, each weighed by its pairs of trials; nan without any."""
    weights = np.array([len(a) * len(b) for a, b in pairs], dtype=float)
    if not weights.sum():
        return float("nan")
    deltas = np.array([cliffs_delta(a, b) for a, b in pairs])
    kept = weights > 0
    return float(np.average(deltas[kept], weights=weights[kept]))


def magnitude(delta: float) -> str:
    """A delta in words: negligible, small, medium or large; unknown where it is nan."""
    size = abs(delta)
    if np.isnan(size):
        return "unknown"
    limits = {"negligible": NEGLIGIBLE, "small": SMALL, "medium": MEDIUM}
    return next((word for word, limit in limits.items() if size < limit), "large")
