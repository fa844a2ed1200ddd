"""How much work trials did, by what they count and what their program prints: less at some levels,
or as much as a set time allows."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, Severity, finding
from deadzone.analysis.findings.experiment import (
    LEAST_A_LEVEL,
    Experiment,
    centred,
    cpu_s,
    depends,
    logarithms,
    numbers,
    typical,
)
from deadzone.analysis.findings.process import START_S
from deadzone.store.table import COLUMNS, PRINTED_WORK
from deadzone.study.direction import kind_of
from deadzone.study.levels import is_number

COUNTS_OF_WORK = {
    "items", "frames", "rows", "records", "files", "lines", "requests", "messages", "bytes",
    "count", "processed", "done", "transactions", "queries", "jobs", "tasks",
}  # fmt: skip
"""Words in the name of a column that counts what a trial did; rates, which hold a time in their
name, do not."""

TWICE = 2
"""What one trial of a level counts may be an accident."""

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
    roles = {seen.response, seen.knob, *seen.by, *COLUMNS}
    names = [name for name in map(str, rows) if name not in roles and _counts_work(name)]
    least = {name: BACKGROUND_BYTES if name.endswith(TRAFFIC) else -np.inf for name in names}
    counted = {name: np.maximum(numbers(rows, name), least[name]) for name in names}
    return counted | printed_work(rows)


def _counts_work(name: str) -> bool:
    words = set(name.lower().split("_"))
    is_ratio = "per" in words or kind_of(name) in ("rate", "time", "per thing")
    return not is_ratio and bool(COUNTS_OF_WORK & words)


def printed_work(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """What the program says it did in each trial, shape (n,), by its words; nan where a trial does
    not say so."""
    if PRINTED_WORK not in rows:
        return {}
    texts = rows[PRINTED_WORK].astype("string").fillna("")
    printed = [dict(part.partition("=")[::2] for part in text.split()) for text in texts]
    table = pd.DataFrame(printed).apply(pd.to_numeric, errors="coerce")
    return {name.replace("_", " "): table[name].to_numpy(float) for name in map(str, table)}


@finding(
    "stops",
    seen="{column} is as low as {few:number} at {levels}, and up to {most:number} at others: these "
    "trials may have done less work.",
    mend="Hold the work of a trial the same, or make the response work per second.",
)
def less_work(seen: Experiment) -> Iterator[Finding]:
    """The program does less work at some levels. A count of work falls from one level to a later
    one, or the program prints it, or CPU time falls below what any level needed before.

    A count is tested by `association`; one that is printed and the same in all trials of a level
    leaves nothing to chance. One that goes with the knob in proportion says what the knob is; one
    that goes against it may be how the work is divided, and is a doubt. Less CPU time is only a
    note, for better settings may truly need less of it. It is more where it falls to NOTHING with
    the time, and nothing shows that work was done. A program that works for a set time does as much
    as it can: what it counts is a rate.
    """
    rows, printed = seen.sound, printed_work(seen.sound)
    counts = counts_of_work(seen, rows)
    done = [typical(seen, rows, values) for values in counts.values()]
    is_whole = any((medians >= LESS * np.fmax.reduce(medians, initial=0)).all() for medians in done)
    for name, values in counts.items():
        if not _works_for_a_time(seen, rows, values):
            exact = TWICE if name in printed else None
            yield from _falls(seen, rows, name, values, exact, is_whole)
    yield from _less_cpu(seen, rows)


def printed_less(seen: Experiment) -> Iterator[Finding]:
    """The program prints that it did less at some levels, from one trial of each. Where all of
    them last as long, it may work for a set time, and one trial of a level does not tell which."""
    walls = typical(seen, seen.sound, numbers(seen.sound, "wall_s"))
    if _same_time(walls) and np.nanmin(walls) >= LEAST_S:
        return
    for name, values in printed_work(seen.sound).items():
        yield from _falls(seen, seen.sound, name, values, exact=1)


def _falls(
    seen: Experiment, rows: pd.DataFrame, name: str, values: np.ndarray, exact: int | None,
    is_whole: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """A count is less than before, or, where it was printed, than at any other level. exact: trials
    of each level, of a printed count, that leave nothing to chance where they agree. is_whole:
    whether another count is the same at every level, so that one that goes against the knob is of
    larger pieces of the same work."""
    medians = typical(seen, rows, values)
    if exact is None:
        if np.isfinite(values).sum() < 2 * LEAST_A_LEVEL or "service" in name or "client" in name:
            return
        medians = _of_numbers(seen, medians)
        most = np.fmax.accumulate(medians)
    else:
        most = np.full_like(medians, np.fmax.reduce(medians))
    few = (medians < LESS * most) & (np.fmin.reduce(most) > 0)
    way = _proportion(seen, medians)
    few &= way == 0 or (way < 0 and not is_whole)
    beside = way < 0 or (few.any() and _explains_little(seen, rows, medians, few))
    yield from _less(seen, rows, name, values, few, "doubts" if beside else "stops", exact)


def _less(
    seen: Experiment, rows: pd.DataFrame, name: str, values: np.ndarray, few: np.ndarray,
    severity: Severity, exact: int | None = None, is_sure: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """Of less work at some levels. few: which, shape (levels,)."""
    if few.any():
        medians = typical(seen, rows, values)
        p = 0.0 if is_sure else depends(rows["place"], values, exact)
        yield seen.found(
            "less_work", p, rows[few[rows["place"].to_numpy()]], severity=severity, column=name,
            few=float(medians[few].min()), most=float(np.nanmax(medians)),
        )  # fmt: skip


def _of_numbers(seen: Experiment, medians: np.ndarray) -> np.ndarray:
    """What is typical of the levels that are numbers, shape (levels,); nan at words."""
    return np.where([is_number(level) for level in seen.levels], medians, np.nan)


def _proportion(seen: Experiment, medians: np.ndarray) -> int:
    """Whether counts go with the knob in proportion (1), against it (-1), or neither (0); two
    levels tell nothing of it."""
    levels = [level if is_number(level) else np.nan for level in seen.levels]
    level, count = logarithms(np.array(levels, dtype=float)), logarithms(medians)
    use = np.isfinite(level + count)
    if use.sum() < max(3, int(np.isfinite(medians).sum())):
        return 0
    allowed = IN_PROPORTION + 1 / medians[use].min()
    spread = {way: np.ptp((count - way * level)[use]) for way in (1, -1)}
    return next((way for way in (1, -1) if spread[way] <= allowed), 0)


def _explains_little(
    seen: Experiment, rows: pd.DataFrame, medians: np.ndarray, few: np.ndarray
) -> bool:
    """Whether the gain of each level with less work is another one, by far, than so much less work
    would make."""
    most, response = int(np.nanargmax(medians)), typical(seen, rows, numbers(rows, seen.response))
    logs = logarithms(np.array([medians, response]))
    fall, gain = logs[:, [most]] - logs[:, few]
    return seen.goal == "min" and bool((fall < np.minimum(SMALL_FALL, EXPLAINED * gain)).all())


def _less_cpu(seen: Experiment, rows: pd.DataFrame) -> Iterator[Finding]:
    values = cpu_s(rows)
    if np.isfinite(values).sum() < 2 * LEAST_A_LEVEL:
        return
    medians = _of_numbers(seen, typical(seen, rows, values))
    before = _least_before(medians)
    idle = (medians < NOTHING * before) & (before >= 2 * START_S) & _nothing_done(seen, rows)
    if not idle.any():
        yield from _less(seen, rows, "cpu_s", values, medians < LESS_CPU * before, "notes")
        return
    first = int(np.argmax(idle))
    idle = (medians < NOTHING * before[first]) & (np.arange(len(medians)) >= first)
    here = idle[rows["place"].to_numpy()]
    sure = here.sum() >= 2 and np.nanmax(values[here]) < LEAST_APART * np.nanmin(values[~here])
    yield from _less(seen, rows, "cpu_s", values, idle, "stops", is_sure=bool(sure))


def _least_before(medians: np.ndarray) -> np.ndarray:
    """The least of all levels before each, shape (levels,); nan at the first."""
    return np.append(np.nan, np.fmin.accumulate(medians)[:-1])


def _nothing_done(seen: Experiment, rows: pd.DataFrame) -> np.ndarray:
    """At which levels the time is short too, and no count and no byte says that as much was done as
    at others, shape (levels,)."""
    walls = typical(seen, rows, numbers(rows, "wall_s"))
    idle = walls < np.minimum(_least_before(walls) / 2, STARTED_S)
    traces = [(values, LESS, 1e-9) for values in counts_of_work(seen, rows).values()]
    traces += [(numbers(rows, f"io_{way}_bytes"), 0.5, READ_BYTES) for way in ("read", "written")]
    for values, share, least in traces:
        done = typical(seen, rows, values)
        idle &= ~(done >= np.maximum(least, share * np.fmax.reduce(done)))
    return idle


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


@finding(
    seen="The wall time is about {wall_s:number} s at every level, while {column} differs by a "
    "factor of {times:number}: the program runs for a fixed duration.",
    mend="Judge what it prints of its work (--response REGEX --goal max), not how long it took.",
)
def fixed_duration(seen: Experiment) -> Iterator[Finding]:
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
    counts = counts_of_work(seen, rows)
    counts = {name: count for name, count in counts.items() if np.isfinite(count).any()}
    factors = {}
    for name, values in counts.items():
        if _works_for_a_time(seen, rows, values):
            factors[name] = float(values[values > 0].max() / values[values > 0].min())
    if not counts and _same_time(walls, SAME_TIME[1][0]) and _ends_by_a_clock(times):
        traces = {name: numbers(rows, name) for name in ("stdout_bytes", "stdout_lines")}
        for name, values in {"cpu_s": cpu_s(rows), **traces}.items():
            factors[name] = _growth_in_step(seen, typical(seen, rows, values))
    for name in [name for name, factor in factors.items() if factor >= SCATTERS][:1]:
        yield seen.found(
            "fixed_duration", True, rows, wall_s=float(np.nanmin(walls)), column=name,
            times=factors[name],
        )  # fmt: skip


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
