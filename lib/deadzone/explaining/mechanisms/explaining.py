"""Why each phase is what it is: how much of what it loses against proportional scaling each mechanism explains.

The trials at the start of a phase are set against those at its stop. A mechanism is confirmed where its part is shown to be
beyond a margin, excluded where it is shown to stay below it (one-sided tests of the difference of two means with unequal
variances: Welch 1947, Biometrika 34, 28-35; with a margin as Schuirmann 1987, Journal of Pharmacokinetics and
Biopharmaceutics 15, 657-680), both after Holm's correction over all mechanisms of all phases; else it is undecided. Not by ranks, as
attribution does it between two environments: five trials a level cannot show anything in so many tests at once.

What each trial lost against proportional scaling, cut into parts that add up on the log scale.

A trial on x offered cores or threads took x * wall core-seconds of them: its CPU work, what a limit or neighbours slowed that by,
waits for others, and what nobody was there to use. So ln(x * wall) = ln(active) + ln(1 + unused / active), active = CPU work * (1 +
slowed / CPU work) + waits; the change of sums between two levels is shared out by the logarithmic mean of their ends, which leaves no
remainder (the logarithmic mean Divisia index; Ang 2004, Energy Policy 32, 1131-1139). What is a hundredth of the time explains no more
than that. A knob that offers no cores is held against the most that were busy at once, or against one, as far as no limit and no
neighbour kept the program from it.

A request under load took the time in which threads ran or were held up for it, and a rest in which it lay in a thread that
slept, or in no thread: by Little's law (1961, Operations Research 9, 383-387) threads hold so many requests as there are
threads, and no more. What lay in no thread waited for one, because of what kept the threads: for want of a core, a quota,
a disk or memory, else for want of threads. These add up to its mean latency; another statistic of it is cut in the same proportion.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.capacity.estimates import Estimate
from deadzone.explaining.capacity.littles_law import ANSWERED
from deadzone.explaining.hypothesis_tests.holm import judged
from deadzone.explaining.marks import marked
from deadzone.explaining.phases.candidates import places
from deadzone.explaining.phases.prepare import usable
from deadzone.explaining.phases.result import PhaseResult
from deadzone.study.scales import level_name

WORK, OUTSIDE, FEW, THROTTLED = "work", "outside", "too_few_threads", "throttled"
COORDINATORS = 1.0
"""Of several threads one may sleep throughout without being missed: it waits for those that work. In a service it is the one that
waits for requests, as far as others have work meanwhile."""

WAITS = {
    "asleep_s": "waiting_for_each_other",
    "throttled_wait_s": THROTTLED,
    "ready_s": "cpu_full",
    "disk_wait_s": "waiting_for_disk",
    "memory_wait_s": "memory_short",
    "network_wait_s": OUTSIDE,
}
"""What threads wait for, by column of the account, in the order in which threads beyond the offer are allowed to."""

CPU = ("user_s", "sys_s", "wall_s")
NEEDED = (*CPU, "threads_s", *WAITS)

SLEEPS = ("asleep_s", "network_wait_s")
HELD = {column: reason for column, reason in WAITS.items() if column not in SLEEPS}
"""Of these, what keeps a thread from going on with the request that it has."""

MOST = "threads_most"

HELD_BY_CPU = ("throttled_wait_s", "ready_s")
SLOWED = tuple(WAITS[column] for column in HELD_BY_CPU)
"""Of these, what a thread waits for that could run: twice the work under a limit waits twice as long, because it is more work."""

SERVED = "client_cpu_s"
"""A column of trials in which a client asked a service: the account is the service's."""

LIMIT = "cpu_limit"
OFFERS = (LIMIT, "threads", "jobs", "workers")
FOLLOWS = 0.5
"""Any other knob offers threads where as many live as it says: their elasticity over it is more than half of one."""

CONFIRMED, EXCLUDED, UNDECIDED = "confirmed", "excluded", "undecided"

MARGIN = 0.1
"""A part of less than a tenth of what is to be explained explains next to nothing."""

FLOOR = 0.05
"""Added to it: two levels that differ by 5 % do not call for an explanation."""

TINY = 1e-9
"""Threads that never sleep divide nothing by zero [s]."""

RESOLUTION = 0.005
"""Trials that agree to better than half a percent do so by chance; the standard deviation is taken for no less."""

CONFIDENCE = 0.95
INTERVAL = 0.90

MORE_WORK, LESS_WORK = "more_cpu_work", "less_work"
MECHANISMS = (MORE_WORK, LESS_WORK, "cpu_full", "throttled", "waiting_for_disk", "memory_short", "waiting_for_each_other",
              FEW, OUTSIDE)  # fmt: skip

REASONS = (WORK, *dict.fromkeys(WAITS.values()), FEW)
"""What the parts are of."""

WHERE, CHANGE = ("phase", "start", "stop", "label"), ("change", "low", "high")
TESTS = ("p_excluded", "p_confirmed")

COUNTED = ("instructions", "cycles_an_instruction")
"""Of its CPU work: a change of either, of its logarithm."""


def has_account(trials: pd.DataFrame, response: str) -> bool:
    """Whether some trial of the table carries its account of time, and it is one of the response: under load it is the server's, of
    a latency."""
    if ANSWERED in trials and not (SERVED in trials and response.endswith("_ms")):
        return False
    return set(NEEDED) <= set(trials.columns) and bool(trials[list(NEEDED)].notna().all(axis=1).any())


def parts_of(trials: pd.DataFrame, level: np.ndarray, response: str, goal: str, knob: str) -> pd.DataFrame:
    """The parts of every trial.

    trials: with the columns NEEDED and the response. level: shape (n,), of the knob, > 0. Returns one row a trial: log_loss,
    ln of the time for the job times the offer; COUNTED, ln of them for the job, nan where nobody counted; offers, whether the
    knob offers cores; active, computing, core-seconds of the job, in use, and of these on the CPU or ready for it; and a column
    for each reason: `work_`, ln of the CPU work; `slow_`, over the CPU work; `wait_`, in core-seconds; `ln_`, as it stands, such as
    of the share of the time that is not the program's, which is 0 where the response is wall_s.
    """
    at = trials.astype(dict.fromkeys((*NEEDED, response), float))
    if ANSWERED in at:
        return _of_requests(at, response)
    cpu, wall, y = at["user_s"] + at["sys_s"], at["wall_s"], at[response]
    threads = cpu + at[[*WAITS]].sum(axis=1)
    sits, beside = "asleep_s", threads - wall
    if SERVED in at:
        sits, beside = "network_wait_s", cpu + at[[*HELD]].sum(axis=1)
    coordinator = np.minimum(at[sits], np.minimum(beside.clip(lower=0.0), COORDINATORS * wall))
    offers = _offers(knob, level, (threads - coordinator) / wall)
    could_run = (threads - coordinator - at[[*HELD_BY_CPU]].sum(axis=1)) / wall
    cores = level if offers else max(float((cpu / wall).max()), min(1.0, float(could_run.max())))
    offer = cores * wall
    if (
        offers and knob != LIMIT and MOST in at
    ):  # where there were as many threads as were asked for, each is to work
        apart = (at[MOST].astype(float) - cores).abs().fillna(COORDINATORS)
        coordinator = np.minimum(coordinator, apart * wall)
    threads = threads - coordinator
    job_s = y if goal == "min" else 1 / y
    lies_outside = np.log(y / wall) if goal == "min" and response != "wall_s" else 0.0 * wall
    spare = (threads - offer).clip(lower=0.0)
    parts = {WORK: cpu}
    for column, reason in WAITS.items():
        waiting = at[column] - (coordinator if column == sits else 0.0)
        allowed = np.minimum(waiting, spare)
        spare = spare - allowed
        parts[reason] = waiting - allowed
    parts[FEW] = (offer - threads).clip(lower=0.0)
    # More were busy than were offered: of a limit, within periods that were not over; else there are more threads than asked for.
    parts[THROTTLED if knob == LIMIT else FEW] -= spare
    jobs = 1.0 if goal == "min" else y * wall
    computing = cpu + sum(parts[reason] for reason in SLOWED)
    waits = {f"wait_{name}": parts[name] / jobs for name in parts if name not in (WORK, FEW, *SLOWED)}
    active = computing / jobs + sum(waits.values())
    found = pd.DataFrame(waits | {f"slow_{reason}": parts[reason] / cpu for reason in SLOWED})
    found = found.assign(
        **{f"work_{WORK}": np.log(cpu / jobs), f"ln_{FEW}": np.log1p(parts[FEW] / jobs / active)}
    )
    found = found.assign(computing=computing / jobs, active=active)
    instructions, cycles = (at.get(name, np.nan) * 1.0 for name in ("instructions", "cycles"))
    counted = {COUNTED[0]: np.log(instructions / jobs), COUNTED[1]: np.log(cycles / instructions)}
    return found.assign(
        log_loss=np.log(job_s * cores), **{f"ln_{OUTSIDE}": lies_outside}, **counted, offers=offers
    )


def _of_requests(at: pd.DataFrame, response: str) -> pd.DataFrame:
    """As parts_of, where trials answer requests at a rate: for each reason its seconds of the response, all in `wait_`."""
    answers = at[ANSWERED].astype(float) * at["wall_s"]
    mean_s = at.get(f"{response.partition('_')[0]}_mean_ms", at[response]).astype(float) / 1000
    held = at[[*HELD]].rename(columns=HELD).assign(**{WORK: at["user_s"] + at["sys_s"]}).div(answers, axis=0)
    asleep, outside = (at[name] / answers for name in SLEEPS)
    slept = (asleep + outside).clip(lower=TINY)
    rest = (mean_s - held.sum(axis=1)).clip(lower=0.0)
    inside = np.minimum(rest / slept, 1.0)
    queued = (rest - inside * slept) / (held.sum(axis=1) + slept)
    few = queued * (held[WORK] + slept)
    parts = held.mul(1 + queued, axis=0)
    parts = parts.assign(
        **{WORK: held[WORK], FEW: few, WAITS["asleep_s"]: inside * asleep, OUTSIDE: inside * outside}
    )
    response_s = at[response] / 1000
    parts = parts.mul(response_s / parts.sum(axis=1), axis=0).add_prefix("wait_")
    return parts.assign(log_loss=np.log(at[response]), offers=False, computing=0.0, active=response_s)


def time_by_level(trials: pd.DataFrame, level: np.ndarray, response: str, goal: str) -> pd.DataFrame:
    """Where the time went at each level, one column a reason beside `running`: mean thread-seconds of a trial, where the
    response is a rate of one unit of it, or, of requests under load, the share of their response. level: shape (n,), where each
    trial stands; nan for none."""
    is_known = _is_known(trials, response)
    known = trials[is_known]
    running = {WORK: known["user_s"] + known["sys_s"]}
    parts = known.rename(columns=WAITS).assign(**running)[[WORK, *WAITS.values()]]
    if ANSWERED in trials:
        parts = _of_requests(known, response).filter(like="wait_")
        parts = parts.div(parts.sum(axis=1), axis=0)
    elif goal == "max":
        parts = parts.div(known[response] * known["wall_s"], axis=0)
    means = parts.astype(float).groupby(level[is_known]).mean()
    return means.rename(columns=lambda name: name.removeprefix("wait_")).rename(columns={WORK: "running"})


def _offers(knob: str, level: np.ndarray, threads: pd.Series) -> bool:
    """Whether the knob offers cores or threads, which perfect scaling would make use of."""
    if knob in OFFERS:
        return True
    x = np.log(level)
    return bool(np.ptp(x) > 0 and np.polyfit(x, np.log(threads.to_numpy(float)), 1)[0] > FOLLOWS)


Change = tuple[Mapping[Any, Any], pd.DataFrame, pd.DataFrame]
"""Where it is, and the parts of the trials at its two ends."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What explains each phase of a curve, or the change of each treatment between two tables.

    table: one row a phase and mechanism: phase (0 for the first), start, stop, label, mechanism, change (of ln(time for
    the job), beyond or short of proportional scaling, that it explains), low, high (90 % interval), p_confirmed, p_excluded
    (after Holm's correction), verdict. loss: of each phase the whole change that is to be explained, with low and high, and of
    COUNTED, nan where nobody counted.
    is_scaling: whether the knob offers cores or threads, so that the change is held against proportional scaling.
    """

    table: pd.DataFrame
    loss: pd.DataFrame
    is_scaling: bool

    def of(self, phase: int, verdict: str = CONFIRMED) -> pd.DataFrame:
        """The mechanisms of a phase that have a verdict, the largest part first."""
        rows = self.table[(self.table["phase"] == phase) & (self.table["verdict"] == verdict)]
        return rows.reindex(rows["change"].abs().sort_values(ascending=False, kind="stable").index)


@dataclass(frozen=True, eq=False)
class PhasesExplained(Explanation):
    """What explains each phase of a model. changes: of its phases, each `from` a level `to` another, for what changes at joints."""

    model: PhaseResult
    changes: tuple[Change, ...]


def explain_phases(trials: pd.DataFrame, model: PhaseResult) -> PhasesExplained:
    """Explain the phases of a model by where the time of its trials' threads went.

    trials: the tidy table that the model was fitted to, with the columns of the account (data/README.md); what a fit leaves out
    is left out here, untrusted trials unless the fit kept them. Phases are those
    between numbers on a ratio scale; a phase that begins or ends at none is explained up to the last level before.

    Raises PhaseError if the table has no account of time, or the knob is on an interval scale.
    """
    if not has_account(trials, model.response):
        raise PhaseError(
            "The trials carry no account of time, from which a phase is explained: measure them with this version, and without "
            "`account: off`."
        )
    if model.axis.is_interval:
        raise PhaseError(f"{model.knob} is on an interval scale, where nothing scales in proportion.")
    kept, _ = usable(trials, model.response, keep_untrusted=True)
    trusted = kept[marked(kept, "trusted", True)]
    trials = trusted if len(trusted) >= model.n_trials else kept
    named = {level_name(level): place for level, place in places(model).items() if place != model.none_level}
    level = trials[model.knob].map(level_name).map(named).astype(float)
    parts, level = _parts_at(trials, level.where(level > 0), model.response, model.goal, model.knob)
    changes: list[Change] = []
    for number, phase in enumerate(model.phases.to_dict("records")):
        inside = level[(level >= phase["start"]) & (level <= phase["stop"])]
        if inside.nunique() > 1:
            where = {**phase, "phase": number, "from": inside.min(), "to": inside.max()}
            changes.append((where, parts[level == inside.min()], parts[level == inside.max()]))
    return PhasesExplained(*_tables(changes), bool(parts["offers"].all()), model, tuple(changes))


def explain_change(
    before: pd.DataFrame, after: pd.DataFrame, factors: Sequence[str], response: str, goal: str
) -> Explanation | None:
    """Explain what changed from one table to another, treatment by treatment; None where one has no account of time.

    before, after: tidy tables of trials that count. factors: columns whose levels make a treatment. In what is returned `phase`
    counts the treatments that both hold, `label` has their levels, and start and stop are 0 and 1, for before and after.
    """
    if not has_account(before, response) or not has_account(after, response):
        return None
    trials = pd.concat([before, after], ignore_index=True)
    parts, _ = _parts_at(trials, pd.Series(1.0, trials.index), response, goal, "")
    changes: list[Change] = []
    for levels, rows in trials.loc[parts.index].groupby(list(factors) or (lambda _: ())):
        is_before = rows.index < len(before)
        start, stop = parts.loc[rows.index[is_before]], parts.loc[rows.index[~is_before]]
        if len(start) and len(stop):
            changes.append(({"phase": len(changes), "start": 0, "stop": 1, "label": levels}, start, stop))
    return Explanation(*_tables(changes), is_scaling=False)


def _tables(changes: Sequence[Change]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table and the loss of an explanation."""
    rows, losses = [], []
    for where, start, stop in changes:
        loss = _change(*(end["log_loss"].to_numpy(float) for end in (start, stop)))
        counted = {name: stop[name].mean() - start[name].mean() for name in COUNTED if name in start}
        losses.append({**where, **dict(zip(CHANGE, loss, strict=True)), **counted})
        rows += [{**where, **row} for row in _mechanisms(start, stop, loss[0])]
    table = decided(pd.DataFrame(rows, columns=[*WHERE, "mechanism", *CHANGE, *TESTS]))
    return table, pd.DataFrame(losses, columns=[*WHERE, *CHANGE, *COUNTED])


def decided(table: pd.DataFrame) -> pd.DataFrame:
    """A table with TESTS, corrected for all its rows, and their verdicts."""
    table[[*TESTS]] = judged(table[[*TESTS]].to_numpy(float))
    verdicts = [table[name] <= 1 - CONFIDENCE for name in TESTS]
    return table.assign(verdict=np.select(verdicts, [EXCLUDED, CONFIRMED], UNDECIDED))


def mechanisms_between(
    trials: pd.DataFrame, response: str, goal: str, knob: str, ends: tuple[float, float]
) -> pd.DataFrame:
    """What explains the change from one level of the knob to another: one row a mechanism, by its name, with change, low,
    high, and p_excluded and p_confirmed before any correction; nan where a level was measured once, empty where nothing was.
    """
    found = pd.DataFrame(columns=[*CHANGE, *TESTS])
    if not has_account(trials, response):
        return found
    level = pd.to_numeric(trials[knob], errors="coerce")
    parts, level = _parts_at(trials, level.where(level.isin(ends)), response, goal, knob)
    if level.nunique() < len(set(ends)):
        return found
    start, stop = (parts[level == end] for end in ends)
    loss = float(stop["log_loss"].mean() - start["log_loss"].mean())
    work, *_ = _mechanisms(start, stop, -loss or -1.0)
    return pd.DataFrame([work, *_mechanisms(start, stop, loss)]).set_index("mechanism")


def _parts_at(
    trials: pd.DataFrame, level: pd.Series, response: str, goal: str, knob: str
) -> tuple[pd.DataFrame, pd.Series]:
    """The parts of the trials that can be explained and are at a level, not nan, and their levels."""
    kept = level.notna() & _is_known(trials, response)
    level = level[kept]
    return parts_of(trials[kept], level.to_numpy(float), response, goal, knob), level


def _is_known(trials: pd.DataFrame, response: str) -> pd.Series:
    """Which trials have a whole account of time, some of it on a CPU, and the response."""
    told = trials[[*NEEDED, response]].notna().all(axis=1)
    return told & (trials["user_s"] + trials["sys_s"] > 0) & (trials[response] > 0)


def explained(trials: pd.DataFrame, model: PhaseResult) -> PhasesExplained | None:
    """As explain_phases, and None where the table has no account of time or the knob no proportion."""
    can_be = has_account(trials, model.response) and not model.axis.is_interval
    return explain_phases(trials, model) if can_be else None


def _mechanisms(start: pd.DataFrame, stop: pd.DataFrame, loss: float) -> list[dict[str, object]]:
    """The parts of the change from start to stop, that of the work first, each tested in the direction of the whole change."""
    scales, shown = scales_between(start, stop), []
    for reason in REASONS:
        a, b = (part_of(end, reason, scales) for end in (start, stop))
        name = reason if reason != WORK else (MORE_WORK if loss >= 0 else LESS_WORK)
        beyond = [part - MARGIN * end["log_loss"].to_numpy(float) for part, end in ((a, start), (b, stop))]
        slower = _difference(*(beyond if loss >= 0 else reversed(beyond)))
        tests = (slower.p_below(FLOOR), slower.p_above(FLOOR)) if slower else (math.nan, math.nan)
        shown.append(dict(zip(("mechanism", *CHANGE, *TESTS), (name, *_change(a, b), *tests), strict=True)))
    return shown


def scales_between(start: pd.DataFrame, stop: pd.DataFrame) -> dict[str, float]:
    """What a unit of each kind of column of `parts_of` adds to the logarithm of the time, between two ends."""
    slowed = [1 + end.filter(like="slow_").sum(axis=1) for end in (start, stop)]
    active = _logarithmic_mean(*(float(end["active"].mean()) for end in (start, stop)))
    share = _logarithmic_mean(*(float(end["computing"].mean()) for end in (start, stop))) / active
    slow = share / _logarithmic_mean(*(float(each.mean()) for each in slowed))
    return {"ln_": 1.0, "work_": share, "slow_": slow, "wait_": 1 / active}


def part_of(end: pd.DataFrame, reason: str, scales: Mapping[str, float]) -> np.ndarray:
    """What a reason adds to the logarithm of each trial's time."""
    columns = [scale * end[f"{kind}{reason}"] for kind, scale in scales.items() if f"{kind}{reason}" in end]
    return sum(columns, pd.Series(0.0, end.index)).to_numpy(float)


def _logarithmic_mean(a: float, b: float) -> float:
    return a if a == b or min(a, b) <= 0 else (b - a) / math.log(b / a)


def _difference(a: np.ndarray, b: np.ndarray) -> Estimate | None:
    """From the mean of a to that of b; None with a single trial."""
    return mean_of(b) - mean_of(a) if min(len(a), len(b)) > 1 else None


def mean_of(side: np.ndarray) -> Estimate:
    error = max(float(side.std(ddof=1)), RESOLUTION) / len(side) ** 0.5
    return Estimate(float(side.mean()), error, len(side) - 1, len(side))


def _change(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """From a to b, with its interval."""
    found = _difference(a, b)
    low, high = found.interval(INTERVAL) if found else (math.nan, math.nan)
    return float(b.mean() - a.mean()), low, high
