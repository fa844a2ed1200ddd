"""Whether it is the program, and enough of it, that was measured."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, finding
from deadzone.analysis.findings.experiment import Experiment, cpu_s, depends, numbers, typical

ONE_CORE = (0.93, 1.05)
"""Use of a core by a client whose one thread is always busy [cores]; 7 % go into its start and its
end."""

ALL_CORES = 0.93
"""A client and a server that use more than this share of all cores leave each other none."""

FLAT = 0.05
"""Levels of a plateau lie closer than this [share]."""

START_S = 0.010
"""Starting a program takes 1 to 3 ms, an interpreter 10 to 30; a trial must be long beside that
[s]."""

FEWEST_VALUES = 8
"""A response that takes no more values than this over many trials is read off a coarse scale."""

MANY_TRIALS = 15

BURST = 1.1
"""A program that used more of the CPU than its limit allows ran on what the quota lends for a
period."""

FEW_PERIODS = 5
"""Over so many periods of the quota a burst of one weighs a fifth."""

WAITING = 0.7
"""A response of which the program spends more than this asleep is hardly its own [share]."""

LONG_WAIT_S = 0.003
"""A lock, a disk or a server on this machine answers sooner than this on average; who sleeps longer
does it by the clock [s]."""

PAUSES = 0.5
"""A client that sleeps through more than this, and waits for no answer, does it by its own will
[share of the response]."""

SAME_WAIT = 0.15
"""A pause is as long at each level; on a busy machine a few hundredths of a second are added to it
[share]."""

FOLLOWS = 0.1
"""Foreign CPU that differs less between levels matters little [cores]."""

ROOM = 0.8
"""On a machine that is busier than this, neighbours get what the trial leaves them, and follow it
for that [share]."""


@finding(
    seen={
        "": "At {levels} the response stays the same and the program that asks the server keeps "
        "one core busy ({cores:.2f}) and no more: the plateau may be the client's.",
        "shares": "At {levels} the response stays the same while the client ({cores:.2f} cores) "
        "and the server ({server:.2f}) use all {all:count} cores of this machine together. The "
        "client takes from the server what is measured.",
    },
    mend="Give the client more threads or processes, or run it elsewhere.",
)
def client_full(seen: Experiment) -> Iterator[Finding]:
    """At the levels of a plateau the program that asks a server keeps one core busy and no more, or
    as many as it has threads. Or it and the server keep all cores busy together.

    Two one-sided t tests (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15,
    657-680). The cores used or waited for, a thread, are above 0.93, and those used below 1.05.
    Where less is used, those waited for are below it too, for more threads
    than one may wait for a core. One more test shows that client and server use ALL_CORES or more.
    Nothing is said where no server is known: a program of one thread is no client.
    """
    rows = seen.sound
    server = _server_cores(seen, rows)
    if server is None or (seen.cores is not None and seen.cores < 2):
        return
    if seen.serves:
        used, waited = numbers(rows, "client_cpu_s") / numbers(rows, "wall_s"), np.zeros(len(rows))
    # threads that were ready but without a core: a client that others keep from its core is as busy
    else:
        used = numbers(rows, "cpu_efficiency")
        waited = np.nan_to_num(numbers(rows, "ready_s") / numbers(rows, "wall_s"))
    start = _plateau(seen, rows)
    levels = seen.levels[start:]
    here = (rows["place"] >= start).to_numpy()
    if len(seen.levels) < 3 or len(levels) < 2 or here.sum() < 4 or not np.isfinite(used).all():
        return
    at = used[here]
    threads = max(1, round(float(at.mean())))
    wanted = at + waited[here]
    p = max(
        _p_above(wanted / threads, ONE_CORE[0]),
        _p_above(-at / threads, -ONE_CORE[1]),
        min(_p_above(at / threads, ONE_CORE[0]), _p_above(-wanted / threads, -ONE_CORE[1])),
    )
    cores, weight = float(at.mean()), seen.cores is None or threads < seen.cores
    yield seen.found("client_full", p, rows[here], weight=weight, levels=levels, cores=cores)
    if seen.cores is not None:
        p = _p_above(at + server[here], ALL_CORES * seen.cores)
        yield seen.found(
            "client_full", p, rows[here], weight=cores >= FOLLOWS, levels=levels, cores=cores,
            how="shares", server=float(server[here].mean()), all=seen.cores,
        )  # fmt: skip


def _server_cores(seen: Experiment, rows: pd.DataFrame) -> np.ndarray | None:
    """Cores that the server used which the program asks; None where none is known."""
    if seen.serves:
        return numbers(rows, "cpu_efficiency")
    ours = (n for n in map(str, rows) if n.endswith("_cores") and n not in (seen.knob, *seen.by))
    names = [name for name in ours if rows[name].notna().any()]
    return np.nansum([numbers(rows, name) for name in names], axis=0) if names else None


def _p_above(values: np.ndarray, bound: float) -> float:
    """p of a one-sided t test that the mean lies above a bound."""
    from scipy.special import stdtr

    error = max(float(values.std(ddof=1)) / np.sqrt(len(values)), 1e-6)
    return float(stdtr(len(values) - 1, (bound - values.mean()) / error))


def _plateau(seen: Experiment, rows: pd.DataFrame) -> int:
    """Where the levels begin over which the typical response, to the end of the range, differs by
    less than FLAT, or the phase that the fit calls a plateau, for medians of few trials differ by
    more."""
    medians = typical(seen, rows, numbers(rows, seen.response))
    tails = (medians[start:] for start in range(len(medians)))
    start = next(i for i, tail in enumerate(tails) if not np.ptp(tail) > FLAT * np.abs(tail).min())
    last = None if seen.model is None else seen.model.phases.iloc[-1]
    if last is not None and last["label"] == "plateau" and last["start"] in seen.levels:
        start = min(start, seen.levels.index(last["start"]))
    return start


@finding(
    seen="Trials at {levels} take {wall_ms:number} ms, about what it takes to start a program.",
    mend="Give each trial more work, or repeat the work inside it.",
)
def too_short(seen: Experiment) -> Iterator[Finding]:
    """Trials about as long as it takes to start a program; a figure, no chance involved."""
    medians = typical(seen, seen.sound, numbers(seen.sound, "wall_s"))
    short = [level for level, median in zip(seen.levels, medians, strict=True) if median < START_S]
    if short:
        yield seen.found("too_short", True, levels=short, wall_ms=1000 * np.nanmin(medians))


@finding(
    seen={
        "": "The program slept through {share:percent} of each trial or more ({slept_s:number} s, "
        "at every level alike) and worked {cpu_s:number} s: the response is not its own.",
        "backs_off": "At {levels} the program that asks the server slept through {share:percent} "
        "of a trial or more ({slept_s:number} s), while it waited for no answer: it pauses or "
        "backs off.",
    },
    mend="Take out the pause, measure what the program waits for (belongs), or read the time that "
    "it prints of its own work.",
)
def not_the_program(seen: Experiment) -> Iterator[Finding]:
    """At every level the program slept through most of the response, in few long waits that the
    knob leaves alone: a pause, a time-out, the work of another process. A figure: wall time less
    CPU time and less the time in which threads were ready or throttled, where that was counted; it
    differs between levels by less than SAME_WAIT. Where the program asks a server, its
    one thread slept through PAUSES of the response at some level. Waits for the network, of which
    the account of time tells, are no sleep."""
    rows = seen.sound
    if seen.response != "wall_s" or seen.serves:
        return
    if _server_cores(seen, rows) is not None:
        yield from _backs_off(seen, rows)
        return
    wall, used = numbers(rows, "wall_s"), cpu_s(rows)
    ready, throttled = numbers(rows, "ready_s"), numbers(rows, "throttled_wait_s")
    awake = used + np.nan_to_num(ready) + np.nan_to_num(throttled)
    each = (wall - awake, 1 - awake / wall, numbers(rows, "voluntary_switches"))
    slept, share, waits = (typical(seen, rows, values) for values in each)
    if len(seen.levels) < 2 or not np.isfinite(slept * waits).all():
        return
    asleep = share.min() >= WAITING and np.ptp(slept) <= SAME_WAIT * slept.min()
    long = (slept >= LONG_WAIT_S * waits).all()
    yield seen.found(
        "not_the_program", bool(asleep and long), share=float(share.min()),
        slept_s=float(slept.min()), cpu_s=float(np.nanmedian(used)),
    )  # fmt: skip


def _backs_off(seen: Experiment, rows: pd.DataFrame) -> Iterator[Finding]:
    slept = numbers(rows, "asleep_s") + np.nan_to_num(numbers(rows, "timer_wait_s"))
    waits = numbers(rows, "voluntary_switches")
    pauses = (numbers(rows, "threads_most") == 1) & (slept >= PAUSES * numbers(rows, "wall_s"))
    typically = typical(seen, rows, (pauses & (slept >= LONG_WAIT_S * waits)).astype(float))
    is_here = (typically > 0.5)[rows["place"].to_numpy()]
    here, slept = rows[is_here], slept[is_here]
    share = (slept / numbers(here, "wall_s")).min(initial=1.0)
    yield seen.found(
        "not_the_program", len(here) > 1, here, how="backs_off", share=float(share),
        slept_s=float(slept.min(initial=np.inf)),
    )  # fmt: skip


@finding(
    seen="{response} takes {different} values in {trials} trials: it is read off a coarse scale.",
    mend="Print more digits, or make the trials longer.",
)
def few_values(seen: Experiment) -> Iterator[Finding]:
    """A response that takes a handful of values over many trials, as one that is printed with too
    few digits."""
    values = numbers(seen.sound, seen.response)
    values = values[np.isfinite(values)]
    different, trials = len(np.unique(values)), len(values)
    yield seen.found("few_values", is_coarse(values), different=different, trials=trials)


def is_coarse(values: np.ndarray) -> bool:
    """Whether numbers, shape (n,), were read off a scale so coarse that its steps decide; a count
    may be the same each time."""
    different = np.unique(values)
    if len(values) < MANY_TRIALS or len(different) > FEWEST_VALUES:
        return False
    steps = np.diff(different)
    return bool(steps.min() > FLAT * np.median(values) if len(steps) else different[0] % 1)


@finding(
    seen="{trials} trials at {levels} used more CPU than their limit, because they last only "
    "{periods} of its periods: they ran on what it lends at the start.",
    mend="Make the trials at least ten periods long (1 s), with more work each.",
)
def few_periods(seen: Experiment) -> Iterator[Finding]:
    """Under a CPU limit, trials of a few quota periods that used more than the limit. A quota is
    for each period of 100 ms, and a trial that starts with a full one runs on bursts."""
    rows = seen.sound
    if "cpu_limit" not in rows:
        return
    limit, used = numbers(rows, "cpu_limit"), numbers(rows, "cpu_efficiency")
    here = rows[(used > BURST * limit) & (numbers(rows, "nr_periods") <= FEW_PERIODS)]
    periods = int(np.nanmedian(numbers(here, "nr_periods"))) if len(here) else 0
    yield seen.found("few_periods", len(here) >= 2, here, periods=periods)


@finding(
    seen="No CPU limit was ever reached: the program used {cores:number} cores at most.",
    mend="Use smaller limits, or a program that needs more CPU.",
)
def limit_not_felt(seen: Experiment) -> Iterator[Finding]:
    """CPU limits were the knob and none ever throttled the program; counted by the kernel."""
    if seen.knob != "cpu_limit":
        return
    limited = seen.sound[np.isfinite(numbers(seen.sound, "cpu_limit"))]
    throttled = numbers(limited, "nr_throttled")
    cores = pd.Series(numbers(limited, "cpu_efficiency")).max()
    never = bool(np.isfinite([*throttled, cores]).all()) and not throttled.any()
    yield seen.found("limit_not_felt", never, levels=seen.at(limited), cores=cores)


@finding(
    seen="The CPU that other processes used goes with {knob}, from {least:.2f} to {most:.2f} "
    "cores: it belongs to the trials.",
    mend="Name these processes in the study as the trial's, or measure them with the program.",
)
def neighbours_follow(seen: Experiment) -> Iterator[Finding]:
    """The CPU that others use goes with the level: it belongs to the trial. `association`, and a
    difference of FOLLOWS."""
    rows = seen.ended
    foreign = numbers(rows, "foreign_cpu")
    if rows["level"].nunique() < 3 or not np.isfinite(foreign).all() or seen.serves:
        return
    medians = pd.Series(foreign).groupby(rows["place"].to_numpy()).median()
    busy = foreign + numbers(rows, "cpu_efficiency")
    room = seen.cores is not None and bool(np.nanmedian(busy) < ROOM * seen.cores)
    weight = room and np.ptp(medians) >= FOLLOWS and np.median(foreign) >= FOLLOWS
    p, least, most = depends(rows["place"], foreign), float(medians.min()), float(medians.max())
    yield seen.found("neighbours_follow", p, weight=weight, least=least, most=most)
