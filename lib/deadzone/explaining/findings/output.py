"""What the trials printed, and what they left running."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.explaining.findings.experiment import LEAST_A_LEVEL, Experiment, cpu_s, numbers
from deadzone.explaining.findings.finding import Suspicion
from deadzone.explaining.findings.permutation import association, centred, p_value
from deadzone.explaining.marks import well

MOST_LEFT = 0.2
"""Processes left behind by a smaller share of the trials are accidents, which the table of exceptions shows."""

NO_SIGN = 0.006
"""A measure shows a sign of the knob below this p-value: of unused knobs, one in twenty shows one in any of eight."""

FEWEST_TRIALS = 12
"""With fewer trials a knob that is used may show as little."""

TWICE = 2
"""What one trial of a level prints may be an accident."""

SEEN = np.log(1.3)
"""A knob that changes the response by this would have been seen, or nothing can be said of one that was not [ln]."""

MEASURES = (
    "max_rss_bytes", "voluntary_switches", "minor_faults", "io_read_bytes", "io_written_bytes", "stdout_bytes",
)  # fmt: skip
"""In what a knob that is used shows besides the response and CPU time: threads, buffers, files, lines."""


def left_running(seen: Experiment) -> Iterator[Suspicion]:
    """Processes that still ran when the program had returned; counted, so that no chance is involved."""
    rows = seen.ended
    left = np.nan_to_num(numbers(rows, "left_running"))
    here = rows[left > 0]
    said = {"trials": len(here), "all": len(rows), "most": int(left.max(initial=0))}
    weight = len(here) > MOST_LEFT * len(rows)
    yield seen.suspicion("left_running", len(here) > 0, here, weight=weight, say=said)


def error_printed(seen: Experiment, least: int = TWICE) -> Iterator[Suspicion]:
    """Trials that ended well and printed words of failure at some levels and not at others, or nothing where others
    printed something: `association` of the marks with the level. Where all trials of a level do and none of another, twice
    each or more (`least`), warm-up counted, nothing is left to chance."""
    rows = well(seen.attempts)
    if not len(rows) or "error_lines" not in rows:
        return
    codes = pd.factorize(rows["level"])[0]
    errors, printed = numbers(rows, "error_lines") > 0, numbers(rows, "stdout_bytes") > 0
    silent = ~printed & printed.any()
    for how, marks in (("errors", errors), ("silent", silent)):
        here = rows[marks]
        some = 0 < marks.sum() < len(rows)
        share = np.bincount(codes, marks) / np.bincount(codes)
        clear = some and np.isin(share, (0, 1)).all() and np.bincount(codes).min() >= least
        p = float(not clear) if clear or not some else association(marks.astype(float), codes)
        said = {"how": how, "trials": len(here), "all": len(rows), "levels": seen.named(seen.at(here))}
        yield seen.suspicion("error_printed", p, here, say=said)


def knob_not_used(seen: Experiment) -> Iterator[Suspicion]:
    """Nothing that was measured of the program differs from level to level.

    An absence is no test: it is found where neither the response nor CPU time nor any of MEASURES is associated with the
    level at NO_SIGN, though a difference of SEEN between two levels would be twice its standard error, and no level of the
    response stands out (Tukey's range, permuted: among many alike, `association` loses it). The counters
    among these, such as page faults and switches, hardly scatter: one more thread shows.
    """
    rows = seen.sound
    nothing_counted = not set(MEASURES) & set(rows) or "service" in " ".join(map(str, rows))
    if rows["level"].nunique() < 2 or nothing_counted:
        return
    codes = pd.factorize(rows["place"])[0]
    if np.bincount(codes).min() < LEAST_A_LEVEL or len(rows) < FEWEST_TRIALS:
        return
    measures = [numbers(rows, seen.response), cpu_s(rows), *(numbers(rows, name) for name in MEASURES)]
    known = [values for values in measures if np.isfinite(values).all()]
    log = np.log(np.where(measures[0] > 0, measures[0], np.nan))
    good = np.isfinite(log)
    scatter = float(np.nanstd(centred(log, codes), ddof=len(np.unique(codes))))
    sees = scatter * np.sqrt(2 / np.bincount(codes).min()) < SEEN / 2
    unused = sees and all(association(values, codes) > NO_SIGN for values in known)
    unused = unused and not _one_stands_out(log[good], pd.factorize(codes[good])[0])
    yield seen.suspicion("knob_not_used", unused, say={"knob": seen.knob, "measures": len(known)})


def _one_stands_out(log: np.ndarray, codes: np.ndarray) -> bool:
    """Whether the range of the levels' means is significant at NO_SIGN, by permutation."""
    member = np.eye(codes.max() + 1)[codes] / np.bincount(codes)
    return p_value(lambda rows: np.ptp(rows @ member, axis=1), log) <= NO_SIGN
