"""Trials that did not end well, level by level: those that are left are survivors, and a time-out
is only a bound.

Likewise of trust: whether what was kept and what was thrown out differ, and whether the noise
leaves anything to decide.

What failed inside trials that ended well: columns that count errors, or hold their share, beside
the response.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.finding import NOTHING_TRUSTED, Finding, finding
from deadzone.analysis.findings.experiment import (
    PERMUTATIONS,
    SEED,
    Experiment,
    association,
    contrast,
    levels_in,
    numbers,
    typical,
)
from deadzone.analysis.phases.best_set import replicates_to_tell
from deadzone.analysis.trial_columns import (
    WORDS,
    counted,
    is_untrusted,
    is_well,
    last_attempts,
    marked,
)
from deadzone.store.table import FOREIGN_PROCESSES, OTHER_WORKLOAD
from deadzone.study.direction import words_of
from deadzone.study.response_cells import unit_in, with_numbers

ALLOWED = 0.05
"""A setting at which one trial in twenty fails is not a setting to recommend."""


@finding(
    seen={
        "": "{failed} of {trials} trials at {levels} failed; the response there is known from the "
        "survivors only.",
        "all": "No trial at {levels} ended well ({failed} failed).",
        "rehearsed": "The trial at {levels} failed: {error}.",
    },
    mend="Find out why (see the failed trials); these levels are not recommended.",
)
def failures_by_level(seen: Experiment) -> Iterator[Finding]:
    """More trials fail at some levels than allowed: one in twenty. Those that end well there may be
    the lucky or the light ones, so that these levels are not recommended. Where none ends well they
    are left out, and the setting is no less sure.

    Binomial tests of more than ALLOWED for each level and for all levels from one on, up and down.
    Their smallest p is a scan statistic (Naus 1965, Journal of the American Statistical Association
    60, 532-538). It is compared with simulated trials that fail one time in twenty wherever they
    are. Warm-up trials take part.
    """
    yield from _beyond(seen, "failures_by_level", ("failed", "oom_killed"))


@finding(
    seen={
        "": "{failed} of {trials} trials at {levels} were stopped by the time-out; their response "
        "is longer than that, and trials that ended there are the fast ones.",
        "all": "No trial at {levels} ended in time ({failed} stopped by the time-out).",
        "rehearsed": "The trial at {levels} was stopped by the time-out: {error}.",
    },
    mend="Raise design.timeout_s, or leave these levels out; they are not recommended.",
)
def timeouts_by_level(seen: Experiment) -> Iterator[Finding]:
    """More trials are killed for taking too long than allowed, at some levels. Tested as
    `failures_by_level` is. Such a level stands in the curve by what is to be expected beyond the
    time-out, and is not recommended."""
    yield from _beyond(seen, "timeouts_by_level", ("timeout",))


def _beyond(seen: Experiment, key: str, kinds: tuple[str, ...]) -> Iterator[Finding]:
    table = last_attempts(seen.attempts, "level")
    if "status" not in table or not len(table):
        return
    bad = table["status"].isin(kinds).to_numpy()
    place = table["place"].to_numpy()
    sizes = np.bincount(place, minlength=len(seen.levels))
    failed = np.bincount(place, bad, minlength=len(seen.levels)).astype(int)
    worst = failed > ALLOWED * sizes
    rows = table[worst[place]]
    p = scan(failed, sizes) if bad.any() else 1.0
    # levels at which nothing ends well have no survivors who would flatter them: the setting stands
    none_ended = bool(worst.any()) and not is_well(rows).any()
    yield seen.found(
        key, p, table[bad], weight=bool(bad.any()), levels=seen.at(rows),
        severity="stops" if worst.all() else "notes" if none_ended else None,
        how="all" if none_ended else "",
        failed=int(failed[worst].sum()), trials=len(rows),
    )  # fmt: skip


def scan(failed: np.ndarray, sizes: np.ndarray) -> float:
    """p-value of the most unlikely window. failed, sizes: shape (levels,)."""
    from scipy.special import bdtrc

    count = len(sizes)
    windows = np.concatenate([np.tri(count), np.tri(count).T[1:], np.eye(count)[1:-1]])
    rng = np.random.default_rng(SEED)
    drawn = np.concatenate([failed[None, :], rng.binomial(sizes, ALLOWED, (PERMUTATIONS, count))])
    least = bdtrc(drawn @ windows.T - 1, (sizes @ windows.T).astype(int), ALLOWED).min(axis=1)
    return float(np.mean(least <= least[0] * (1 + 1e-9)))


SELECTED = np.log(1.5)
"""Disturbed trials are slower by a third where threads share a core; beyond that, and beyond what
the CPU that others used can do (`_beside`), what was thrown out was other work."""

OTHER_WORK = np.log(2.5)

SHARED, MOST_TAKEN = 0.5, 0.9
"""A process that is always busy takes half of the core of a thread [cores]; of all cores others
take so much at most [share]."""

LARGE_NOISE = 0.3
"""With less noise (standard deviation of the logarithm) levels that cannot be told apart are a
plateau."""

ALIKE = 0.05
RELEVANT = np.log(1.2)
"""Who asks for a setting wants to know of a difference as large as this [ln of the response]."""

AFFORDABLE = 50
"""The most trials of each level that an answer asks for."""


MOST_DISTURBERS = 3
"""So many programs are named that disturbed a run; the table of the disturbed trials names more."""


@finding(
    "stops",
    seen={
        "": "Other work disturbed this run: {kept} of {all} levels have a trial that can be "
        "trusted.",
        "named": "Other work disturbed this run: {kept} of {all} levels have a trial that can be "
        "trusted. The programs that used most, in cores: {who}.",
    },
    mend={
        "": "Measure again on a quiet machine, or trust trials next to other work: "
        "`--foreign-cpu 1`.",
        "named": "Measure again without them. If they always run, trust trials next to them: "
        "{foreign}, or trust.max_foreign_cpu in the study. If one works for the trials, such as a "
        "server, name it: `--belongs process=NAME`, or belongs in the study.",
    },
)
def nothing_trusted(seen: Experiment) -> Iterator[Finding]:
    """Fewer than two levels keep a trial whose `trusted` is true, of those that were measured and
    ended well. This is counted: a curve needs two levels."""
    if not is_untrusted(seen.table, seen.knob):
        return
    rows = seen.ended[~marked(seen.ended, "trusted", missing=True)]
    kept = counted(seen.ended)["place"].nunique()
    used, foreign = _disturbers(rows), numbers(rows, "foreign_cpu")
    yield seen.found(
        NOTHING_TRUSTED, True, rows, how="named" if used else "", kept=kept,
        all=seen.ended["place"].nunique(),
        who=", ".join(f"{name} {cores:.2f}" for name, cores in used),
        foreign=f"`--foreign-cpu {np.ceil(10 * np.nanmax([0.1, *foreign])) / 10:.1f}`",
    )  # fmt: skip


def _disturbers(rows: pd.DataFrame) -> list[tuple[str, float]]:
    """Who used the CPU in some attempts, with the cores, largest first; empty where that is not
    known."""
    texts = list(rows[FOREIGN_PROCESSES].dropna()) if FOREIGN_PROCESSES in rows else []
    used: dict[str, float] = defaultdict(float)
    for name, cores in (text.rpartition(" ")[::2] for row in texts for text in row.split(", ")):
        used[name] += float(cores) / len(texts)
    return sorted(used.items(), key=lambda item: -item[1])[:MOST_DISTURBERS]


@finding(
    seen="{trials} attempts at {levels} are left out, because the workload had changed: {changes}.",
    mend="Start a new run, which measures one workload at all levels.",
)
def other_workload(seen: Experiment) -> Iterator[Finding]:
    """Attempts are counted that the sweep marked so, because a program's checksum, an image or
    another part of the workload was not what the run began with."""
    if seen.others is None or seen.others.empty:
        return
    rows = seen.others.assign(number=seen.others["trial"])
    yield seen.found(
        "other_workload", True, rows, levels=levels_in(rows[seen.knob]),
        changes="; ".join(rows[OTHER_WORKLOAD].unique()),
    )  # fmt: skip


@finding(
    "stops",
    seen="The {trials} attempts that were not trusted differ from the trusted ones of the same "
    "level by a factor of {times:number}. What was thrown out was not the same work disturbed.",
    mend="Check what the distrusted trials did; measure again on a quieter machine, or with the "
    "same work in each trial.",
)
def selected_by_trust(seen: Experiment) -> Iterator[Finding]:
    """Trusted and distrusted attempts at the same level differ in the response, exchanged within
    levels, by more than the CPU that others used beside the distrusted ones can explain."""
    rows = seen.ended
    if "trusted" not in rows:
        return
    kept = marked(rows, "trusted", missing=True).to_numpy()
    value = numbers(rows, seen.response)
    good = np.isfinite(value) & (value > 0)
    effect, p = contrast(np.log(value[good]), kept[good], pd.factorize(rows["level"][good])[0])
    apart, is_slower = abs(effect), effect < 0 if seen.goal == "min" else effect > 0
    beyond = apart - (_beside(seen, rows[good & ~kept]) if is_slower else 0.0)
    yield seen.found(
        "selected_by_trust", p, rows[good & ~kept], weight=beyond >= SELECTED,
        severity="stops" if beyond >= OTHER_WORK else "doubts", times=float(np.exp(apart)),
    )  # fmt: skip


def _beside(seen: Experiment, rows: pd.DataFrame) -> float:
    """How much slower attempts can be beside others, by the CPU that these used [ln]: they share
    the core of a thread, or leave the program fewer cores."""
    used = float(np.nan_to_num(numbers(rows, "foreign_cpu")).mean()) if len(rows) else 0.0
    taken = max(min(used, SHARED), min(used / (seen.cores or np.inf), MOST_TAKEN))
    return -float(np.log1p(-taken))


@finding(
    seen="Trials of the same level differ by {noise:percent} (standard deviation): to tell even "
    "the best level from the worst takes more than {most} trials of each.",
    mend="Make the trials longer, the machine quieter, or pin the program to its cores.",
)
def noise_too_large(seen: Experiment) -> Iterator[Finding]:
    """Replicates scatter so much that no affordable number of them tells even the best level of the
    fit from the worst. The power is that of a t test (see `analysis.phases.best_set`), the noise is
    the estimate of the fit. If levels differ by no more than chance (`association`), the fit
    bends to the noise, so a difference of 20 % between them is assumed. Where distant levels
    differ by more, the verdict counts the noise itself."""
    model = seen.model
    if model is None or not model.noise.estimable or model.noise.replicate <= LARGE_NOISE:
        return
    noise, fitted = model.noise.replicate, np.log(model.levels["fitted"].to_numpy(float))
    values, levels = numbers(seen.sound, seen.response), pd.factorize(seen.sound["level"])[0]
    most = RELEVANT if association(values, levels) > ALIKE else np.inf
    needed = replicates_to_tell(min(max(np.ptp(fitted), 1e-3), most), noise, len(fitted))
    noisy = needed is None or needed > AFFORDABLE
    yield seen.found("noise_too_large", noisy, noise=float(np.expm1(noise)), most=AFFORDABLE)


FAILED = (
    "error", "errors", "failed", "failure", "failures", "fails", "timeouts", "rejected", "refused",
    "dropped", "aborted", "unsuccessful", "non2xx", "5xx", "실패", "失败",
)  # fmt: skip
"""Words in the name of a column that counts what failed."""

ATTEMPTED = (
    "requests", "attempts", "attempted", "total", "sent", "calls", "operations", "ops",
    "transactions", "queries", "messages", "iterations", "samples", "connections", "jobs",
    "complete", "completed", "responses", "tests", "요청", "请求",
)  # fmt: skip
"""Words in the name of a column that counts what was attempted, or what of it succeeded; the first
one found counts."""

SUCCEEDED = ("passed", "ok", "success", "successes", "successful", "succeeded")
"""Words in the name of a column that counts what succeeded alone; it counts where nothing says how
much was attempted."""

CONNECTING = {"connect", "connection", "connections", "connecting", "sockets"}
"""Words of failures to connect: connections were attempted, those of the knob too."""

SHARES = dict.fromkeys(("share", "fraction", "ratio", "rate"), 1.0) | dict.fromkeys(
    ("percent", "pct", "percentage"), 100.0
)
"""Words of a column that holds a share, and what all of it is."""

NOT_FAILURES = (
    "std", "stderr", "standard", "mean", "relative", "bar", "margin", "lines", "log", "max",
    "limit", "allowed", "s", "ms", "us", "ns", "seconds", "bytes", "training", "test", "validation",
    "rms", "absolute", "squared", "estimate", "score",
)  # fmt: skip
"""Words beside `error` of columns that hold how exact a figure is, how long something took, or what
is allowed."""


@finding(
    seen={
        "count": "{column} counts {failed:count} failures next to {counted:count} in {other} at "
        "{levels}: more than {allowed:exact_percent} of what was attempted failed.",
        "share": "{column} is up to {share:percent} at {levels}: more than "
        "{allowed:exact_percent} of what was attempted failed.",
    },
    mend="These levels are not recommended; find out what failed, and measure what succeeds.",
)
def errors_by_level(seen: Experiment) -> Iterator[Finding]:
    """More of what was attempted failed inside the trials of some levels than allowed, though the
    trials ended well.

    Counts are tested as `failures_by_level` is, with what was attempted in place of trials; a share
    of failures is what was counted. Columns of
    failures are known by their names, or with --failures COLUMN.
    """
    rows = seen.ended
    for name in map(str, rows.columns):
        words = {*words_of(name)}
        whole = max((SHARES[word] for word in words & SHARES.keys()), default=None)
        is_named = words & {*FAILED} or ("timeout" in words and whole)
        counts = name in seen.failures or (is_named and not words & {*NOT_FAILURES})
        if name in (seen.knob, seen.response, *seen.by) or not counts:
            continue
        if not pd.api.types.is_numeric_dtype(rows[name]):
            said = rows[name].map(lambda cell: WORDS.get(str(cell).lower()))
            rows = rows if said.isna().any() else rows.assign(**{name: said.astype(bool)})
        read = with_numbers(rows, name)
        failed = numbers(read, name)
        if not np.nansum(failed):
            continue
        most = np.nanmax(failed)
        whole = 100.0 if unit_in(read, name) == "%" else whole
        is_fraction = most <= 1 and np.any(failed % 1 > 0)
        if pd.api.types.is_bool_dtype(rows[name]) or (whole is None and is_fraction):
            whole = 1.0  # marks are a share of the trials
        if whole is not None:
            yield from _of_share(seen, rows, name, failed / (100.0 if most > 1 else whole))
        elif other := _attempted(seen, rows, failed, name):
            yield from _of_count(seen, rows, name, failed, other)


def _attempted(seen: Experiment, rows: pd.DataFrame, failed: np.ndarray, name: str) -> str:
    """The column that says how much was attempted; empty where none does."""
    if CONNECTING & set(words_of(name)):
        for column in map(str, rows):
            parts = set(words_of(column))
            are_opened = "connections" in parts and not parts & {"max", "pool"}
            if column != name and are_opened and not np.any(failed > numbers(rows, column)):
                return column
    others = [column for column in map(str, rows) if column not in (name, seen.knob, *seen.by)]
    counts = {
        column: words for column in others
        if not {*SHARES, *FAILED, "s", "ms", "per", "sec"} & set(words := words_of(column))
    }  # fmt: skip
    named = (
        column
        for word in (*ATTEMPTED, *SUCCEEDED)
        for column, words in counts.items()
        if word in words and np.nansum(numbers(rows, column)) > 0
    )
    return next(named, "")


def _of_count(
    seen: Experiment, rows: pd.DataFrame, name: str, failed: np.ndarray, other: str
) -> Iterator[Finding]:
    beside = numbers(rows, other)
    known = np.isfinite(failed) & np.isfinite(beside) & (failed >= 0) & (beside >= 0)
    place = rows["place"].to_numpy()[known]
    bad = np.bincount(place, failed[known], len(seen.levels)).astype(int)
    counted = np.bincount(place, beside[known], len(seen.levels)).astype(int)
    # without the failed ones where they are fewer
    is_part = bool(set(SUCCEEDED) & set(words_of(other))) or (counted < bad)
    sizes = np.where(is_part, counted + bad, counted)
    worst = bad > ALLOWED * sizes
    if worst.any():
        yield from _at(
            seen, rows, scan(bad, sizes), worst, sizes > 0, how="count", column=name, other=other,
            failed=int(bad[worst].sum()), counted=int(counted[worst].sum()),
        )  # fmt: skip


def _of_share(
    seen: Experiment, rows: pd.DataFrame, name: str, share: np.ndarray
) -> Iterator[Finding]:
    means = typical(seen, rows, share, "mean")
    most = float(np.nanmax(means))
    if most <= 1 and np.nanmin(means) >= 0:
        yield from _at(
            seen, rows, 0.0, means > ALLOWED, np.isfinite(means), how="share", column=name,
            share=most,
        )  # fmt: skip


def _at(
    seen: Experiment, rows: pd.DataFrame, p: float, worst: np.ndarray, known: np.ndarray,
    **figures: Any,
) -> Iterator[Finding]:  # fmt: skip
    """Of the levels at which more failed than allowed. worst, known: shape (levels,)."""
    if worst.any():
        yield seen.found(
            "errors_by_level", p, rows[worst[rows["place"].to_numpy()]],
            severity="stops" if worst[known].all() else None, allowed=ALLOWED, **figures,
        )  # fmt: skip
