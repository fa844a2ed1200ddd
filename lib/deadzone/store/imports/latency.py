"""Response times of single requests, summed up in the columns that load tools report themselves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

PERCENTILES = {
    f"latency_p{percent:g}_ms".replace(".", "_"): percent for percent in (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
}

CLOSED_LOOP = (
    "{tool} waits for an answer before it sends the next request, so a server that stalls is asked less often meanwhile "
    "(coordinated omission): the percentiles flatter it."
)
"""Said of tools whose virtual users send one request after the other (Tene 2013, How NOT to Measure Latency)."""


def latency_columns(milliseconds: np.ndarray) -> dict[str, Any]:
    """Mean, extremes and percentiles of single response times, shape (n,), in ms; nothing for n = 0.

    Percentiles interpolate linearly between neighbouring requests, as numpy's and k6's do.
    """
    if not len(milliseconds):
        return {}
    values = np.percentile(milliseconds, list(PERCENTILES.values()))
    return {
        "latency_mean_ms": float(milliseconds.mean()),
        "latency_min_ms": float(milliseconds.min()),
        **{name: float(value) for name, value in zip(PERCENTILES, values, strict=True)},
        "latency_max_ms": float(milliseconds.max()),
    }


def requests_row(milliseconds: np.ndarray, wall_s: float, errors: int) -> dict[str, Any]:
    """The columns of a test of which every request is known: response times, shape (n,), in ms, of a test of so long."""
    return {
        "wall_s": wall_s,
        "requests": len(milliseconds),
        "achieved_rate": len(milliseconds) / wall_s if wall_s > 0 else None,
        **latency_columns(milliseconds),
        "errors": errors,
    }


def counted_percentiles(counts: Mapping[float, int]) -> dict[str, float]:
    """Percentiles of rounded response times by how often each occurred: the smallest that so many requests kept.

    counts: by response time in ms. Returns nothing where nothing was counted.
    """
    total = sum(counts.values())
    if not total:
        return {}
    times = np.array(sorted(counts))
    reached = np.cumsum([counts[time] for time in times]) / total
    return {
        name: float(times[np.searchsorted(reached, percent / 100 - 1e-12)])
        for name, percent in PERCENTILES.items()
    }
