"""Latencies kept whole: HdrHistograms in slices of a trial, to be merged, cut and drawn without
loss.

Values are whole microseconds from 1 us to an hour, to three digits; a histogram is kept as its
base64 text (the format HdrHistogram V2, which other languages read too).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deadzone.errors import StoreError

if TYPE_CHECKING:
    import pandas as pd
    from hdrh.histogram import HdrHistogram

LOWEST_US = 1
HIGHEST_US = 3_600_000_000
"""An hour: longer than any trial."""

DIGITS = 3
"""Values differ by 0.1 % at most from what was measured."""

SERIES_PERCENTILES = (50.0, 90.0, 99.0)


def encoded(microseconds: np.ndarray) -> str:
    """The histogram of latencies [us], shape (n,), n > 0; values outside 1 us .. 1 h are taken to
    its ends."""
    histogram = empty()
    kept = np.clip(np.rint(microseconds), LOWEST_US, HIGHEST_US).astype(np.int64)
    for value, count in zip(*np.unique(kept, return_counts=True), strict=True):
        histogram.record_value(int(value), int(count))
    text = histogram.encode()
    return text.decode() if isinstance(text, bytes) else str(text)


def decode(text: str) -> HdrHistogram:
    """The histogram that a text holds."""
    from hdrh.histogram import HdrHistogram

    try:
        return HdrHistogram.decode(text)
    except Exception as error:  # of base64, zlib and the package, which has a kind for each
        raise StoreError(
            f"A histogram of the run is damaged, the one that begins with {text[:20]!r}: {error}. "
            "Put histograms.jsonl back from a copy."
        ) from error


def empty() -> HdrHistogram:
    """A histogram without values."""
    from hdrh.histogram import HdrHistogram

    return HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)


def merged(texts: Iterable[str]) -> HdrHistogram:
    """One histogram of all values in several, of one trial or of many."""
    whole = empty()
    for text in texts:
        whole.add(decode(text))
    return whole


def percentiles_ms(histogram: HdrHistogram, percents: Sequence[float]) -> dict[float, float]:
    """Percentiles in ms by percent (0 to 100); NaN each where the histogram is empty."""
    if not histogram.get_total_count():
        return dict.fromkeys(percents, float("nan"))
    _, highest, counts = _recorded(histogram)
    below = np.cumsum(counts)
    wanted = [max(int(percent * float(below[-1]) / 100 + 0.5), 1) for percent in percents]
    values_ms = highest[np.minimum(np.searchsorted(below, wanted), len(below) - 1)] / 1e3
    return {percent: float(value) for percent, value in zip(percents, values_ms, strict=True)}


def counts_ms(histogram: HdrHistogram) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values [ms] in rising order, and how often each was recorded; both of shape
    (k,).

    A value is the largest that its step stands for, as percentiles are told.
    """
    _, highest, counts = _recorded(histogram)
    return highest / 1e3, counts


def mean_ms(histogram: HdrHistogram) -> float:
    """The mean [ms], each value taken in the middle of its step; NaN where the histogram is
    empty."""
    lowest, highest, counts = _recorded(histogram)
    return (
        float(np.average((lowest + highest) / 2e3, weights=counts)) if len(counts) else float("nan")
    )


def _recorded(histogram: HdrHistogram) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps that hold values: the lowest and the highest value of each [us], and how many;
    shape (k,) each.

    Read off the array of counts at once: the package's own iterators take 80 ms a histogram, this
    0.1 ms.
    """
    counts = np.ctypeslib.as_array(histogram.counts).astype(np.int64)
    at = np.flatnonzero(counts)
    half = int(histogram.sub_bucket_half_count)
    doublings = np.maximum(at // half - 1, 0)
    lowest = np.where(at < 2 * half, at, (at % half + half) << doublings)
    return lowest.astype(float), (lowest + (1 << doublings) - 1).astype(float), counts[at]


def series(histograms: pd.DataFrame, metric: str = "latency_us") -> pd.DataFrame:
    """A trial's latencies over time, one row a slice.

    histograms: as `RunFolder.histograms` gives. Returns run_id, trial, attempt, t_s, duration_s,
    count, mean_ms, p50_ms, p90_ms, p99_ms, max_ms, in the order of trials and of time.
    """

    of_metric = histograms[histograms["metric"] == metric]
    taken = of_metric.drop(columns=["metric", "histogram"])
    names = ["mean_ms", *(f"p{percent:g}_ms" for percent in SERIES_PERCENTILES), "max_ms"]
    figures = [
        (
            mean_ms(histogram),
            *percentiles_ms(histogram, SERIES_PERCENTILES).values(),
            histogram.get_max_value() / 1e3,
        )
        for histogram in map(decode, of_metric["histogram"])
    ]
    taken[names] = np.reshape(figures, (-1, len(names)))
    return taken.sort_values(["trial", "attempt", "t_s"], ignore_index=True)
