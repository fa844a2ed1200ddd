"""What the trials printed, whether the numbers of a response are all in one unit, and what was left
running."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, finding
from deadzone.analysis.findings.experiment import (
    LEAST_A_LEVEL,
    Experiment,
    association,
    centred,
    cpu_s,
    depends,
    logarithms,
    numbers,
    p_value,
)
from deadzone.analysis.trial_columns import well
from deadzone.store.table import PREPARED, PRINTED_UNITS
from deadzone.study.quantity import PRINTED_SECONDS

MOST_LEFT = 0.2
"""Processes left behind by a smaller share of the trials are accidents, which the table of
exceptions shows."""

NO_SIGN = 0.006
"""A measure shows a sign of the knob below this p-value: of unused knobs, one in twenty shows one
in any of eight."""

FEWEST_TRIALS = 12
"""With fewer trials a knob that is used may show as little."""

TWICE = 2
"""What one trial of a level prints may be an accident."""

SEEN = np.log(1.3)
"""A knob that changes the response by this would have been seen, or nothing can be said of one that
was not [ln]."""

MEASURES = (
    "max_rss_bytes", "voluntary_switches", "minor_faults", "io_read_bytes", "io_written_bytes",
    "stdout_bytes",
)  # fmt: skip
"""In what a knob that is used shows besides the response and CPU time: threads, buffers, files,
lines."""


@finding(
    "stops",
    seen="In {trials} of {all} trials the program returned while up to {most} of its processes "
    "still ran; what they did is not in the response.",
    mend="Measure a command that waits for its work, such as one in the foreground.",
)
def left_running(seen: Experiment) -> Iterator[Finding]:
    """Processes that still ran when the program had returned; counted, so that no chance is
    involved."""
    rows = seen.ended
    left = np.nan_to_num(numbers(rows, "left_running"))
    here = rows[left > 0]
    if len(here) > MOST_LEFT * len(rows):
        yield seen.found("left_running", True, here, all=len(rows), most=int(left.max()))


@finding(
    "stops",
    seen={
        "errors": "{trials} of {all} trials ended with exit code 0 but printed words of failure, "
        "at {levels} and not elsewhere.",
        "silent": "{trials} of {all} trials ended with exit code 0 and printed nothing, at "
        "{levels}; others printed something.",
    },
    mend="Make the program end with another code where it fails, or leave these levels out.",
)
def error_printed(seen: Experiment, exact: int = TWICE) -> Iterator[Finding]:
    """Trials that ended well and printed words of failure at some levels and not at others, or
    nothing where others printed something: `association` of the marks with the level. Where all
    trials of a level do and none of another, twice each or more, warm-up counted, nothing is left
    to chance."""
    rows = well(seen.attempts)
    if not len(rows) or "error_lines" not in rows:
        return
    errors, printed = numbers(rows, "error_lines") > 0, numbers(rows, "stdout_bytes") > 0
    for how, marks in (("errors", errors), ("silent", ~printed & printed.any())):
        p = depends(rows["level"], marks.astype(float), exact)
        yield seen.found("error_printed", p, rows[marks], how=how, all=len(rows))


def same_process(seen: Experiment) -> Iterator[Finding]:
    """A level stands in the preparation, which left the same processes at every level, by their ids
    and starts: what it started for the first one was not started again. Warm-up trials take
    part."""
    rows = well(seen.attempts)
    if PREPARED not in rows or rows["place"].nunique() < 2:
        return
    left = rows[PREPARED].fillna("").unique()
    names = ", ".join(dict.fromkeys(part.split(" ")[0] for part in left[0].split(", ")))
    if names and len(left) == 1:
        yield seen.found(
            "knob_not_used", True, rows, severity="stops", how="same_process", process=names
        )


@finding(
    seen={
        "": "Nothing that was measured ({measures} quantities: response, CPU time, memory, "
        "switches, bytes, output) differs between the levels of {knob}; the program may not use "
        "it.",
        "rehearsed": "One trial at each end of the range is alike in all that was measured "
        "({measures} quantities). The sweep shows whether the program uses {knob}.",
        "same_process": "One and the same process, {process}, served every level of {knob}: what "
        "was prepared for the first level still runs, and nothing was started for the others.",
    },
    mend={
        "": "Check how the knob reaches the program, and that the program knows it.",
        "same_process": "Stop it in the preparation and start it again, as with `restart`.",
    },
)
def knob_not_used(seen: Experiment) -> Iterator[Finding]:
    """Nothing that was measured of the program differs from level to level.

    An absence is no test. It is found where neither the response nor CPU time nor any of MEASURES
    is associated with the level at NO_SIGN. A difference of SEEN between two levels must be twice
    its standard error. `association` loses one level among many alike, so no level may stand out:
    in the response by Tukey's range, permuted, in each of these by SEEN in all its trials.
    The counters among these, such as page faults and switches, hardly scatter: one more thread
    shows.
    """
    yield from same_process(seen)
    rows = seen.sound
    nothing_counted = not set(MEASURES) & set(rows) or "service" in " ".join(map(str, rows))
    if rows["level"].nunique() < 2 or nothing_counted:
        return
    codes = pd.factorize(rows["place"])[0]
    fewest = np.bincount(codes).min()
    if fewest < LEAST_A_LEVEL or len(rows) < FEWEST_TRIALS:
        return
    measures = [cpu_s(rows), *(numbers(rows, name) for name in (seen.response, *MEASURES))]
    known = [values for values in measures if np.isfinite(values).all()]
    log = logarithms(measures[1])
    good = np.isfinite(log)
    scatter = float(np.nanstd(centred(log, codes), ddof=len(np.unique(codes))))
    unused = (
        scatter * np.sqrt(2 / fewest) < SEEN / 2
        and all(association(values, codes) > NO_SIGN for values in known)
        and not _one_stands_out(log[good], pd.factorize(codes[good])[0])
        and not any(_one_lies_apart(values, codes) for values in known)
    )
    yield seen.found("knob_not_used", unused, measures=len(known))


def _one_stands_out(log: np.ndarray, codes: np.ndarray) -> bool:
    """Whether the range of the levels' means is significant at NO_SIGN, by permutation."""
    member = np.eye(codes.max() + 1)[codes] / np.bincount(codes)
    return p_value(lambda rows: np.ptp(rows @ member, axis=1), log) <= NO_SIGN


def _one_lies_apart(values: np.ndarray, codes: np.ndarray) -> bool:
    """Whether all trials of one level lie beyond all others by SEEN."""
    least, most = (getattr(pd.Series(values).groupby(codes), way)() for way in ("min", "max"))
    return any(
        low > np.exp(SEEN) * most.drop(level).max() or np.exp(SEEN) * high < least.drop(level).min()
        for level, low, high in zip(least.index, least, most, strict=True)
    )


PREFIXES = ("k", "K", "M", "G", "T", "Ki", "Mi", "Gi", "Ti")
"""What stands alone behind a number of thousands, millions and so on."""


FACTORS = (60.0, 1000.0, 1024.0)
"""What neighbouring units of time and size differ by."""

CLOSE = 0.35
"""How far two groups of numbers may be from a factor and still be taken for it [ln]; responses
differ by themselves."""


@finding(
    "stops",
    seen={
        "read": "The unit printed behind {response} changes between {units}; {trials} of the "
        "numbers are not in the usual one.",
        "factor": "Numbers of {response} at one level are a factor of about {units} apart, as if "
        "they were in two units ({trials} trials).",
    },
    mend="Have the program print one unit, or read it from JSON.",
)
def unit_changes(seen: Experiment) -> Iterator[Finding]:
    """The unit printed behind the number changes, or numbers of a level are a factor of 60, 1,000
    or 1,024 apart.

    The unit, or the suffix that stands for thousands (`951`, `1.3k`), is read, and no chance is
    involved. Without one, a level must hold numbers within CLOSE of the factor from each other and
    nothing between. No scatter of a response does that. Time-outs are left out. A time that the
    sweep took itself has one unit.
    """
    rows = seen.ended
    if seen.response == "wall_s" and "started_at" in rows:
        return
    words = _words(rows, seen.response)
    usual = words.value_counts().index[0] if len(words) else ""
    others = [word for word in words.unique() if _differ(word, usual)]
    if others:
        odd = rows[words.isin(others).to_numpy()]
        units = " and ".join(word or "none" for word in (usual, *others))
    else:
        odd, factor = _far_apart(rows, numbers(rows, seen.response))
        units = f"{factor:,.0f}"
    yield seen.found(
        "unit_changes", len(odd) > 0, odd, severity=None if others else "doubts",
        how="read" if others else "factor", units=units,
    )  # fmt: skip


def _words(rows: pd.DataFrame, response: str) -> pd.Series:
    """The unit printed behind the response in each row, without a `/s`."""
    printed = rows.get(PRINTED_UNITS, pd.Series("", index=rows.index)).astype("string")
    found = printed.str.extract(rf"(?:^| ){re.escape(response)}=(\S*)")[0].fillna("")
    return found.str.replace(r"(?i:/s|/sec|(?<=b)ps)$", "", regex=True)


def _differ(word: str, other: str) -> bool:
    """Whether two words stand for units of one quantity that are not the same size: `mflops` is
    millions of flops, or a word of its own. A bare k stands for thousands of whatever the other one
    counts."""
    if word in PREFIXES or other in PREFIXES:
        return word != other
    small = word.lower(), other.lower()
    if set(small) <= PRINTED_SECONDS.keys():
        return PRINTED_SECONDS[small[0]] != PRINTED_SECONDS[small[1]]
    bases = [{unit, re.sub(r"^([kmgt]i?)(?=.)", "", unit)} for unit in small]
    return small[0] != small[1] and bool(bases[0] & bases[1])


def _far_apart(rows: pd.DataFrame, values: np.ndarray) -> tuple[pd.DataFrame, float]:
    """The fewer of the rows that are a factor from others of their level, and the factor."""
    for level in rows["level"].unique():
        own = (rows["level"] == level).to_numpy() & (values > 0)
        log = np.sort(np.log(values[own]))
        if len(log) < 3:
            continue
        cut = int(np.argmax(np.diff(log)))
        apart = log[cut + 1 :].mean() - log[: cut + 1].mean()
        for factor in FACTORS:
            near = abs(apart - np.log(factor)) < CLOSE
            if near and max(np.ptp(log[: cut + 1]), np.ptp(log[cut + 1 :])) < 1:
                large = own & (values > np.exp((log[cut] + log[cut + 1]) / 2))
                return rows[large if large.sum() * 2 <= own.sum() else own & ~large], factor
    return rows.iloc[:0], 1.0
