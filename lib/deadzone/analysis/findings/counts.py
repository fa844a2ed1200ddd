"""How much work trials did, by what they count and what their program prints: less at some levels,
or as much as a set time allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Severity, Suspicion
from deadzone.analysis.findings.experiment import LEAST_A_LEVEL, Experiment, cpu_s, numbers, typical
from deadzone.analysis.findings.permutation import association, centred
from deadzone.analysis.findings.process import START_S
from deadzone.store.table import COLUMNS, PRINTED_WORK
from deadzone.study.levels import is_number

COUNTS_OF_WORK = {
    "items", "frames", "rows", "records", "files", "lines", "requests", "messages", "bytes",
    "count", "processed", "done", "transactions", "queries", "jobs", "tasks",
}  # fmt: skip
"""Words in the name of a column that counts what a trial did; rates, which hold a time in their
name, do not."""

RATE_WORDS = ("_s", "_per_", "rate", "throughput", "latency")

LESS = 0.99
"""Work that falls below this share of what another level did is less work."""

SMALL_FALL, EXPLAINED = 0.1, 0.25
"""A fall of work by less than a tenth [ln] that explains less than a quarter of what is gained
there decides nothing: a file that is written in larger pages is a little smaller, too."""

IN_PROPORTION = 0.02
"""Counts that go with the knob, or against it, to this are how it divides the work or makes it up
[ln]."""

LESS_CPU = 0.6
"""A level that needs less than this share of the CPU time of every level before it does not do the
same job faster."""

NOTHING = 0.1
"""Below this share of it, where the time falls to half or less too, hardly anything was done."""

STARTED_S = 0.5
"""What starts and does nothing is over by then, a virtual machine too; what takes longer did
something [s]."""

LEAST_APART = 0.3
"""Where all trials of these levels lie below this share of all others, nothing is left to
chance."""

READ_BYTES = 65_536
"""A trial that reads or writes more has done something, whatever CPU time it took."""

SAME_TIME = ((1.03, 0.001), (1.1, 0.02), (1.25, 0.05))
"""Trials that last as long as they were told to differ by their start and end; work that was told
to be done is the same to the last item. The largest typical wall time over the smallest, and the
least scatter of what a rate makes of a count [ln]; on a busy machine both are larger."""

GOES_WITH = 0.5
"""A count that goes with the time of a trial, by this correlation, is work that takes longer where
there is more of it."""

GROWS, SCATTERS, LEAST_S = 1.5, 1.2, 0.4
"""How much CPU time grows beside it, or a count differs between trials; shorter trials start up
[s]."""

IN_STEP = 0.75
"""CPU time that grows with the knob by this elasticity is of threads that work all the time; of
work that is divided among them, and of what dividing it costs, it grows by less than half."""

TYPED_S = np.array([0.5, 1, 2, 3, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300, 600, 900, 1800, 3600])
"""Durations that people type [s]."""

START_UP = (0.04, 0.005)
"""A program that runs for a set time takes so much longer to start and to end [s, share]."""

CLOCK_DOUBT = 3.75
"""Three standard errors of a median are this many standard deviations over the root of the
trials."""

EXACT = 0.001
"""Trials whose times scatter by less end by a clock; those that end with their work scatter by more
[ln]."""


TRAFFIC = ("_read_bytes", "_written_bytes")
BACKGROUND_BYTES = 1024 * 1024
"""A server flushes and reads this much while it is asked for nothing (a PostgreSQL one or two
blocks, or a file of its statistics); less says nothing of the work of a trial."""


def counts_of_work(seen: Experiment, rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """What each trial did, by what counts it: columns, shape (n,), and what the program printed
    (`rows processed`)."""
    named = {name: numbers(rows, name) for name in map(str, rows) if _counts_work(name, seen)}
    for name in named:
        if _is_server_traffic(name, rows):
            named[name] = np.maximum(named[name], BACKGROUND_BYTES)
    return named | printed_work(rows)


def _is_server_traffic(name: str, rows: pd.DataFrame) -> bool:
    """Whether a column holds what a server read or wrote on a disk."""
    server = next((name.removesuffix(ending) for ending in TRAFFIC if name.endswith(ending)), "")
    return bool(server) and f"{server}_rss_bytes" in rows


def _counts_work(name: str, seen: Experiment) -> bool:
    if name in (seen.response, seen.knob, *seen.by, *COLUMNS):
        return False
    is_rate = any(rate in f"{name}_" for rate in RATE_WORDS)
    return not is_rate and bool(COUNTS_OF_WORK & set(name.lower().split("_")))


def printed_work(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """What the program says it did in each trial, shape (n,), by its words; nan where a trial does
    not say so."""
    if PRINTED_WORK not in rows:
        return {}
    texts = rows[PRINTED_WORK].astype("string").fillna("")
    statements = [dict(part.partition("=")[::2] for part in text.split()) for text in texts]
    names = dict.fromkeys(name for counts in statements for name in counts)
    return {
        name.replace("_", " "): pd.to_numeric(
            pd.Series([counts.get(name) for counts in statements]), "coerce"
        ).to_numpy(float)
        for name in names
    }


def less_work(seen: Experiment) -> Iterator[Suspicion]:
    """The program does less work at some levels. A count of work falls from one level to a later
    one, or the program prints it, or CPU time falls below what any level needed before.

    A count is tested by `association`; one that is printed and the same in all trials of a level
    leaves nothing to chance. One that goes with the knob in proportion says what the knob is; one
    that goes against it may be how the work is divided, and is a doubt. Less CPU time is only a
    note, for better settings may truly need less of it. It is more where it falls to NOTHING with
    the time, and nothing shows that work was done. A program that works for a set time does as much
    as it can: what it counts is a rate.
    """
    rows = seen.sound
    for name, values in counts_of_work(seen, rows).items():
        if not _works_for_a_time(seen, rows, values):
            check = _prints_less if name in printed_work(rows) else _falls
            yield from check(seen, rows, name, values)
    yield from _less_cpu(seen, rows)


def printed_less(seen: Experiment) -> Iterator[Suspicion]:
    """The program prints that it did less at some levels, from one trial of each. Where all of
    them last as long, it may work for a set time, and one trial of a level does not tell which."""
    walls = typical(seen, seen.sound, numbers(seen.sound, "wall_s"))
    if _same_time(walls) and np.nanmin(walls) >= LEAST_S:
        return
    for name, values in printed_work(seen.sound).items():
        yield from _prints_less(seen, seen.sound, name, values, least=1)


def _prints_less(
    seen: Experiment,
    rows: pd.DataFrame,
    name: str,
    values: np.ndarray,
    least: int = LEAST_A_LEVEL - 1,
) -> Iterator[Suspicion]:
    medians = typical(seen, rows, values)
    known = np.isfinite(medians)
    few = known & (medians < LESS * np.nanmax(medians, initial=0))
    if not few.any():
        yield seen.suspicion("less_work", 1.0, weight=False, say={})
        return
    way = _proportion(seen, medians)
    here, use = rows[few[rows["place"].to_numpy()]], np.isfinite(values)
    at = pd.Series(values[use]).groupby(rows["place"].to_numpy()[use])
    exact = bool((at.nunique() == 1).all() and at.size().min() >= least)
    p = 0.0 if exact else association(values[use], pd.factorize(rows["place"][use])[0])
    severity: Severity | None = "doubts" if way < 0 else None
    figures = {
        "how": "printed",
        "what": name,
        "few": float(medians[few].min()),
        "most": float(np.nanmax(medians)),
    }
    figures |= {"levels": seen.named(seen.at(here))}
    yield seen.suspicion("less_work", p, here, weight=way <= 0, severity=severity, say=figures)


def _proportion(seen: Experiment, medians: np.ndarray) -> int:
    """Whether counts go with the knob in proportion (1), against it (-1), or neither (0); two
    levels tell nothing of it."""
    numeric = [
        i
        for i, level in enumerate(seen.levels)
        if is_number(level) and level > 0 and medians[i] > 0
    ]
    if len(numeric) < max(3, int(np.isfinite(medians).sum())):
        return 0
    level, count = (
        np.log(np.array([seen.levels[i] for i in numeric], dtype=float)),
        np.log(medians[numeric]),
    )
    allowed = IN_PROPORTION + 1 / medians[numeric].min()
    return next((way for way in (1, -1) if np.ptp(count - way * level) <= allowed), 0)


def _falls(
    seen: Experiment, rows: pd.DataFrame, name: str, values: np.ndarray
) -> Iterator[Suspicion]:
    medians, known = _by_number(seen, rows, name, values)
    if len(known) < 2 or medians[known[0]] <= 0:
        return
    most = np.maximum.accumulate(medians[known])
    fallen = np.flatnonzero(medians[known][1:] < LESS * most[:-1]) + 1
    beside = _proportion(seen, medians) < 0 or _explains_little(seen, rows, medians, known, fallen)
    severity: Severity | None = "doubts" if beside else None
    yield _fall(seen, rows, name, values, known, fallen, most, severity)


def _explains_little(
    seen: Experiment, rows: pd.DataFrame, medians: np.ndarray, known: list[int], fallen: np.ndarray
) -> bool:
    """Whether the gain of each level with less work is another one, by far, than so much less work
    would make."""
    response = typical(seen, rows, numbers(rows, seen.response))[known]
    done = medians[known]
    if (
        seen.goal != "min"
        or not len(fallen)
        or not (response > 0).all()
        or not (done[fallen] > 0).all()
    ):
        return False
    for at in fallen:
        before = int(np.argmax(done[:at]))
        fall, gain = np.log(done[before] / done[at]), np.log(response[before] / response[at])
        if fall >= SMALL_FALL or fall >= EXPLAINED * gain:
            return False
    return True


def _less_cpu(seen: Experiment, rows: pd.DataFrame) -> Iterator[Suspicion]:
    values = cpu_s(rows)
    medians, known = _by_number(seen, rows, "cpu_s", values)
    if len(known) < 2 or medians[known[0]] <= 0:
        return
    at = medians[known]
    least = np.minimum.accumulate(at)
    fallen = np.flatnonzero(at[1:] < LESS_CPU * least[:-1]) + 1
    low = (int(i) for i in fallen if at[i] < NOTHING * least[i - 1])
    first = next((i for i in low if _nothing_done(seen, rows, known, i, float(least[i - 1]))), None)
    if first is None:
        yield _fall(seen, rows, "cpu_s", values, known, fallen, least, "notes")
        return
    hardly = np.flatnonzero((at < NOTHING * least[first - 1]) & (np.arange(len(at)) >= first))
    idle = rows["place"].isin([known[i] for i in hardly]).to_numpy()
    sure = idle.sum() >= 2 and np.nanmax(values[idle]) < LEAST_APART * np.nanmin(values[~idle])
    suspicion = _fall(seen, rows, "cpu_s", values, known, hardly, least, "stops")
    yield replace(suspicion, p=0.0) if sure else suspicion


def _nothing_done(
    seen: Experiment, rows: pd.DataFrame, known: list[int], at: int, before_s: float
) -> bool:
    """Whether hardly any CPU time at a level was less work: the time falls too, and no count and no
    byte says that as much was done."""
    walls = typical(seen, rows, numbers(rows, "wall_s"))[known]
    if before_s < 2 * START_S or not walls[at] < min(np.nanmin(walls[:at]) / 2, STARTED_S):
        return False
    traces = [numbers(rows, name) for name in ("io_read_bytes", "io_written_bytes")]
    done = [
        typical(seen, rows, values)[known]
        for values in (*counts_of_work(seen, rows).values(), *traces)
    ]
    counted, (read, written) = done[:-2], done[-2:]
    same = [
        amounts
        for amounts in counted
        if amounts[at] > 0 and amounts[at] >= LESS * np.nanmax(amounts)
    ]
    moved = [
        amounts
        for amounts in (read, written)
        if amounts[at] >= max(READ_BYTES, np.nanmax(amounts) / 2)
    ]
    return not same and not moved


def _by_number(
    seen: Experiment, rows: pd.DataFrame, name: str, values: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """What is typical at each level, and the places of those that are numbers; none where too
    little is known."""
    if np.isfinite(values).sum() < 2 * LEAST_A_LEVEL or "service" in name or "client" in name:
        return np.array([]), []
    medians = typical(seen, rows, values)
    return medians, [
        i for i, level in enumerate(seen.levels) if is_number(level) and np.isfinite(medians[i])
    ]


def _fall(
    seen: Experiment, rows: pd.DataFrame, name: str, values: np.ndarray, known: list[int],
    fallen: np.ndarray, before: np.ndarray, severity: Any,
) -> Suspicion:  # fmt: skip
    there = rows[rows["place"].isin([known[i] for i in fallen])]
    first, use = int(fallen[0]) if len(fallen) else 1, np.isfinite(values)
    p = association(values[use], pd.factorize(rows["place"][use])[0]) if len(fallen) else 1.0
    after = float(np.nanmedian(values[(rows["place"] == known[first]).to_numpy()]))
    figures = {
        "column": name,
        "before": float(before[first - 1]),
        "after": after,
        "levels": seen.named(seen.at(there)),
    }
    return seen.suspicion(
        "less_work", p, there, weight=len(fallen) > 0, severity=severity, say=figures
    )


def _works_for_a_time(seen: Experiment, rows: pd.DataFrame, count: np.ndarray) -> bool:
    """Whether the trials of all levels take the same time, and the count scatters within a level as
    a rate does: it takes many values, and does not go with the time."""
    times = numbers(rows, "wall_s")
    walls = typical(seen, rows, times)
    known = np.isfinite(count) & (count > 0) & (times > 0)
    if not known.any() or not np.isfinite(walls).any():
        return False
    places = pd.factorize(rows["level"][known])[0]
    log, time = centred(np.log(count[known]), places), centred(np.log(times[known]), places)
    together = float((log * time).sum()) / max(
        float(np.sqrt((log**2).sum() * (time**2).sum())), 1e-12
    )
    is_rate = together < GOES_WITH and len(np.unique(count[known])) > known.sum() / 2
    apart = float(np.nanmax(walls) / np.nanmin(walls))
    return is_rate and any(apart <= most and log.std() >= least for most, least in SAME_TIME)


def _same_time(walls: np.ndarray, most: float = SAME_TIME[0][0]) -> bool:
    """Whether the typical times of all levels are one, up to a ratio."""
    return bool(np.isfinite(walls).any() and np.nanmax(walls) <= most * np.nanmin(walls))


def fixed_duration(seen: Experiment) -> Iterator[Suspicion]:
    """The program runs for a set time: the wall time is the same at every level. What the program
    counts or prints of its work scatters as a rate does, by SCATTERS between trials. Where nothing
    is counted, the time is a duration that people type (TYPED_S, up to START_UP longer) or equal in
    all trials (EXACT). CPU time or what is printed then grows in step with the knob, by GROWS or
    more."""
    rows = seen.sound
    times = numbers(rows, "wall_s")
    walls = typical(seen, rows, times)
    if seen.response != "wall_s" or len(walls) < 2 or not np.fmin.reduce(walls) >= LEAST_S:
        return
    counts = {
        name: count
        for name, count in counts_of_work(seen, rows).items()
        if np.isfinite(count).any()
    }
    for name, values in counts.items():
        positive = values[values > 0]
        if _works_for_a_time(seen, rows, values) and positive.max() >= SCATTERS * positive.min():
            yield _runs_for(seen, rows, walls, name, float(positive.max() / positive.min()))
            return
    if counts or not _same_time(walls, SAME_TIME[1][0]) or not _ends_by_a_clock(times):
        return
    for name, values in (
        ("cpu_s", cpu_s(rows)),
        *((column, numbers(rows, column)) for column in ("stdout_bytes", "stdout_lines")),
    ):
        growth = _growth_in_step(seen, typical(seen, rows, values))
        if growth >= GROWS:
            yield _runs_for(seen, rows, walls, name, growth)
            return


def _ends_by_a_clock(times: np.ndarray) -> bool:
    """Whether times of trials [s], shape (n,), are equal, or a duration that people type; as far as
    the scatter tells."""
    known = times[times > 0]
    scatter = float(np.log(known).std())
    if scatter <= EXACT:
        return True
    middle = float(np.median(known))
    doubt = CLOCK_DOUBT * scatter / np.sqrt(len(known)) * middle
    after = middle - TYPED_S
    return bool(((after >= -doubt) & (after <= START_UP[0] + START_UP[1] * TYPED_S + doubt)).any())


def _growth_in_step(seen: Experiment, values: np.ndarray) -> float:
    """How many times as large what is typical of the levels becomes, where it grows in step with
    the knob from the first level on; 1 where it does not. values: shape (levels,)."""
    if not all(is_number(level) and level > 0 for level in seen.levels):
        return 1.0
    known = np.isfinite(values)
    at, knob = values[known], np.log(np.array(seen.levels, dtype=float))[known]
    if len(at) < 2 or not at.min() > 0:
        return 1.0
    growth = np.log(at[1:] / at[0])
    in_step = (growth >= IN_STEP * (knob[1:] - knob[0])) & (growth >= np.log(GROWS))
    return float(at.max() / at[0]) if in_step.any() else 1.0


def _runs_for(
    seen: Experiment, rows: pd.DataFrame, walls: np.ndarray, name: str, times: float
) -> Suspicion:
    figures = {"wall_s": float(np.nanmin(walls)), "column": name, "times": times, "knob": seen.knob}
    return seen.suspicion("fixed_duration", True, rows, say=figures)
