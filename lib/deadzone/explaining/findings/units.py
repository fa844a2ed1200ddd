"""Whether the numbers of a response are all in one unit."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.explaining.findings.experiment import Experiment, numbers
from deadzone.explaining.findings.finding import Severity, Suspicion
from deadzone.store.table import PRINTED_UNITS

SCALES: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), ("time", 1e-09)),
    **dict.fromkeys(("us", "µs", "μs", "usec", "microseconds"), ("time", 1e-06)),
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("b", "byte", "bytes"), ("bytes", 1.0)),
    **{f"{letter}b": ("bytes", 1000.0**i) for i, letter in enumerate("kmgt", 1)},
    **{f"{letter}bytes": ("bytes", 1000.0**i) for i, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": ("bytes", 1024.0**i) for i, letter in enumerate("kmgt", 1)},
}
"""Units as programs print them, in small letters, with what one is of its quantity's base unit; `/s` may follow."""

FACTORS = (60.0, 1000.0, 1024.0)
"""What neighbouring units of time and size differ by."""

CLOSE = 0.35
"""How far two groups of numbers may be from a factor and still be taken for it [ln]; responses differ by themselves."""


def unit_changes(seen: Experiment) -> Iterator[Suspicion]:
    """The unit printed behind the number changes, or numbers of a level are a factor of 60, 1,000 or 1,024 apart.

    The unit is read, and no chance is involved. Without one, a level must hold numbers within CLOSE of the factor from each
    other and nothing between: no scatter of a response does that, and no time-out, for those are left out. A time that the
    sweep took itself has one unit.
    """
    rows = seen.ended
    if seen.response == "wall_s" and "started_at" in rows:
        return
    words = _words(rows, seen.response)
    known = words[words.isin(SCALES)]
    scales = {SCALES[word] for word in known.unique()}
    mixed = any(one[0] == other[0] and one[1] != other[1] for one in scales for other in scales)
    if mixed:
        usual = known.value_counts().index[0]
        odd = rows.loc[known.index[known != usual]]
        units = " and ".join(dict.fromkeys((usual, *known[known != usual])))
    else:
        odd, factor = _far_apart(rows, numbers(rows, seen.response))
        units = f"{factor:,.0f}"
    severity: Severity | None = None if mixed else "doubts"
    said = {
        "how": "read" if mixed else "factor",
        "units": units,
        "trials": len(odd),
        "response": seen.response,
    }
    yield seen.suspicion("unit_changes", len(odd) > 0, odd, severity=severity, say=said)


def _words(rows: pd.DataFrame, response: str) -> pd.Series:
    """The unit printed behind the response in each row, in small letters, without a `/s`."""
    if PRINTED_UNITS not in rows:
        return pd.Series("", index=rows.index)
    pattern = rf"(?:^| ){response}=(\S*)"
    found = rows[PRINTED_UNITS].astype("string").str.extract(pattern)[0].fillna("")
    return found.str.lower().str.removesuffix("/s").str.removesuffix("ps")


def _far_apart(rows: pd.DataFrame, values: np.ndarray) -> tuple[pd.DataFrame, float]:
    """The fewer of the rows that are a factor from others of their level, and the factor."""
    for level in rows["level"].unique():
        log = np.sort(np.log(values[(rows["level"] == level).to_numpy() & (values > 0)]))
        if len(log) < 3:
            continue
        cut = int(np.argmax(np.diff(log)))
        apart = log[cut + 1 :].mean() - log[: cut + 1].mean()
        for factor in FACTORS:
            near = abs(apart - np.log(factor)) < CLOSE
            if near and max(np.ptp(log[: cut + 1]), np.ptp(log[cut + 1 :])) < 1:
                large = values > np.exp((log[cut] + log[cut + 1]) / 2)
                return rows[large if large.sum() * 2 <= len(rows) else ~large], factor
    return rows.iloc[:0], 1.0
