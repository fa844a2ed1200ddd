"""Trials that did not end well, level by level: those that are left are survivors, and a time-out
is only a bound.

Likewise of trust: whether what was kept and what was thrown out differ, and whether the noise
leaves anything to decide.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd

from deadzone.analysis.finding import NOTHING_TRUSTED, Severity, Suspicion
from deadzone.analysis.findings.catalogue import finding
from deadzone.analysis.findings.experiment import Experiment, levels_in, numbers
from deadzone.analysis.findings.permutation import PERMUTATIONS, SEED, association, contrast
from deadzone.analysis.phases.power import replicates_to_tell
from deadzone.analysis.trial_columns import counted, is_untrusted, marked
from deadzone.store.table import FOREIGN_PROCESSES, OTHER_WORKLOAD

ALLOWED = 0.05
"""A setting at which one trial in twenty fails is not a setting to recommend."""


@finding(
    seen={
        "": "{failed} of {trials} trials at {levels} failed; what is known of the response there "
        "is that of the survivors.",
        "rehearsed": "The trial at {levels} failed: {error}.",
    },
    mend="Find out why (see the failed trials); these levels are not recommended.",
)
def failures_by_level(seen: Experiment) -> Iterator[Suspicion]:
    """More trials fail at some levels than allowed: one in twenty. Those that end well there may be
    the lucky or the light ones, so that these levels are not recommended.

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
        "rehearsed": "The trial at {levels} was stopped by the time-out: {error}.",
    },
    mend="Raise design.timeout_s, or leave these levels out; they are not recommended.",
)
def timeouts_by_level(seen: Experiment) -> Iterator[Suspicion]:
    """More trials are killed for taking too long than allowed, at some levels. Tested as
    `failures_by_level` is. Such a level stands in the curve by what is to be expected beyond the
    time-out, and is not recommended."""
    yield from _beyond(seen, "timeouts_by_level", ("timeout",))


def _beyond(seen: Experiment, key: str, kinds: tuple[str, ...]) -> Iterator[Suspicion]:
    table = seen.attempts.groupby("number", sort=False).tail(1)
    if "status" not in table or not len(table):
        return
    bad = table["status"].isin(kinds).to_numpy()
    place = table["place"].to_numpy()
    sizes = np.bincount(place, minlength=len(seen.levels))
    failed = np.bincount(place, bad, minlength=len(seen.levels)).astype(int)
    worst = failed > ALLOWED * sizes
    rows = table[worst[place]]
    levels = seen.at(rows)
    p = scan(failed, sizes) if bad.any() else 1.0
    severity: Severity | None = "stops" if worst.all() else None
    yield seen.suspicion(
        key, p, table[bad], weight=bool(bad.any()), levels=levels, severity=severity,
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
"""Disturbed trials are slower by a third where threads share a core; beyond that what was thrown
out was other work."""

OTHER_WORK = np.log(2.5)

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
        "": "Measure again on a quiet machine.",
        "named": "Measure again without them. Where one works for the trials, such as a server, "
        "add {belongs}, or belongs in the study.",
    },
)
def nothing_trusted(seen: Experiment) -> Iterator[Suspicion]:
    """Fewer than two levels keep a trial whose `trusted` is true, of those that were measured and
    ended well. This is counted: a curve needs two levels."""
    if not is_untrusted(seen.table, seen.knob):
        return
    rows = seen.ended[~marked(seen.ended, "trusted", missing=True)]
    kept = counted(seen.ended)["level"].nunique()
    used = _disturbers(rows)
    yield seen.suspicion(
        NOTHING_TRUSTED,
        True,
        rows,
        kept=kept,
        all=seen.ended["level"].nunique(),
        who=", ".join(f"{name} {cores:.2f}" for name, cores in used),
        belongs=f"--belongs {shlex.quote(f'process={used[0][0]}')}" if used else "",
        how="named" if used else "",
    )


def _disturbers(rows: pd.DataFrame) -> list[tuple[str, float]]:
    """Who used the CPU in some attempts, with the cores, largest first; empty where that is not
    known."""
    texts = list(rows[FOREIGN_PROCESSES].dropna()) if FOREIGN_PROCESSES in rows else []
    used: dict[str, float] = defaultdict(float)
    for name, cores in (text.rpartition(" ")[::2] for row in texts for text in row.split(", ")):
        used[name] += float(cores) / len(texts)
    return sorted(used.items(), key=lambda item: -item[1])[:MOST_DISTURBERS]


@finding(
    seen="{trials} attempts at {levels} are left out, for the workload was another one: {changes}.",
    mend="Start a new run, which measures one workload at all levels.",
)
def other_workload(seen: Experiment) -> Iterator[Suspicion]:
    """Attempts are counted that the sweep marked so, because a program's checksum, an image or
    another part of the workload was not what the run began with."""
    if seen.others is None or seen.others.empty:
        return
    rows = seen.others.assign(number=seen.others["trial"])
    changes = "; ".join(rows[OTHER_WORKLOAD].unique())
    levels = levels_in(rows[seen.knob])
    yield seen.suspicion("other_workload", True, rows, levels=levels, changes=changes)


@finding(
    "stops",
    seen="The {trials} attempts that were not trusted differ from the trusted ones of the same "
    "level by a factor of {times:number}. What was thrown out was not the same work disturbed.",
    mend="Check what the distrusted trials did; measure again on a quieter machine, or with the "
    "same work in each trial.",
)
def selected_by_trust(seen: Experiment) -> Iterator[Suspicion]:
    """Trusted and distrusted attempts at the same level differ in the response, exchanged within
    levels."""
    rows = seen.ended
    if "trusted" not in rows:
        return
    kept = rows["trusted"].fillna(True).to_numpy(bool)
    value = numbers(rows, seen.response)
    good = np.isfinite(value) & (value > 0)
    effect, p = contrast(np.log(value[good]), kept[good], pd.factorize(rows["level"][good])[0])
    here = rows[good & ~kept]
    severity: Severity = "stops" if abs(effect) >= OTHER_WORK else "doubts"
    times, weight = float(np.exp(abs(effect))), abs(effect) >= SELECTED
    yield seen.suspicion(
        "selected_by_trust", p, here, weight=weight, severity=severity, times=times
    )


@finding(
    seen="Trials of the same level differ by {noise:percent} (standard deviation): to tell even "
    "the best level from the worst takes more than {most} trials of each.",
    mend="Make the trials longer, the machine quieter, or pin the program to its cores.",
)
def noise_too_large(seen: Experiment) -> Iterator[Suspicion]:
    """Replicates scatter so much that no affordable number of them tells even the best level of the
    fit from the worst. The power is that of a t test (see `analysis.phases.power`), the noise is
    the estimate of the fit. Of levels that differ by no more than chance has it (`association`) the
    fit bends to the noise, so that a difference of RELEVANT stands for theirs. Where distant levels
    differ by more, the verdict counts the noise itself."""
    if seen.model is None or not seen.model.noise.estimable:
        return
    noise, fitted = seen.model.noise.replicate, np.log(seen.model.levels["fitted"].to_numpy(float))
    least = max(float(np.ptp(fitted)), 1e-3)
    needed: int | None = 0
    if noise > LARGE_NOISE:
        values, levels = numbers(seen.sound, seen.response), pd.factorize(seen.sound["level"])[0]
        least = min(least, RELEVANT) if association(values, levels) > ALIKE else least
        needed = replicates_to_tell(least, noise, len(fitted))
    noisy = needed is None or needed > AFFORDABLE
    yield seen.suspicion("noise_too_large", noisy, noise=float(np.expm1(noise)), most=AFFORDABLE)
