"""What each trial lost against proportional scaling, cut into parts that add up on the log scale.

A trial on x offered cores or threads took x * wall core-seconds of them: its CPU work, what a limit
or neighbours slowed that by, waits for others, and what no thread was there to use. So ln(x * wall)
= ln(active) + ln(1 + unused / active), active = CPU work * (1 + slowed / CPU work) + waits; the
change of sums between two levels is shared out by the logarithmic mean of their ends, which leaves
no remainder (the logarithmic mean Divisia index; Ang 2004, Energy Policy 32, 1131-1139). What is a
hundredth of the time explains no more than that. A knob that offers no cores is held against the
most that were busy at once, or against one, as far as no limit and no neighbour kept the program
from it.

A request under load took the time in which threads ran or were held up for it, and a rest in which
it lay in a thread that slept, or in no thread: by Little's law (1961, Operations Research 9,
383-387) threads hold so many requests as there are threads, and no more. What lay in no thread
waited for one, because of what kept the threads: for want of a core, a quota, a disk or memory,
else for want of threads. These add up to its mean latency; another statistic of it is cut in the
same proportion.
"""

import numpy as np
import pandas as pd

from deadzone.analysis.trial_columns import numbers
from deadzone.language.messages import N_
from deadzone.study.direction import is_time, kind_of

CAUSES = {
    "more_cpu_work": N_("more CPU work for the same job"),
    "less_work": N_("less work done"),
    "cpu_full": N_("CPU full"),
    "throttled": N_("throttled"),
    "waiting_for_disk": N_("waiting for the disk"),
    "memory_short": N_("memory short"),
    "waiting_for_each_other": N_("waiting for each other"),
    "sleeping": N_("sleeping by the clock"),
    "too_few_threads": N_("too few threads"),
    "outside": N_("not in the program"),
    "running": N_("running"),
}
"""Mechanisms by name, and what else an account of time shows."""


WORK, OUTSIDE, FEW, THROTTLED = "work", "outside", "too_few_threads", "throttled"
COORDINATORS = 1.0
"""Of several threads one may sleep throughout without being missed: it waits for those that work.
In a service it is the one that waits for requests, as far as others have work meanwhile."""

TIMER = "timer_wait_s"
"""A column of the account that runs of earlier versions do not have; `asleep_s` holds it there."""

WAITS = {
    "asleep_s": "waiting_for_each_other",
    TIMER: "sleeping",
    "throttled_wait_s": THROTTLED,
    "ready_s": "cpu_full",
    "disk_wait_s": "waiting_for_disk",
    "memory_wait_s": "memory_short",
    "network_wait_s": OUTSIDE,
}
"""What threads wait for, by column of the account, in the order in which threads beyond the offer
are allowed to."""

NEEDED = ("user_s", "sys_s", "wall_s", "threads_s", *(name for name in WAITS if name != TIMER))

SLEEPS = ("asleep_s", TIMER, "network_wait_s")
HELD = {column: reason for column, reason in WAITS.items() if column not in SLEEPS}
"""Of these, what keeps a thread from going on with the request that it has."""

MOST = "threads_most"

HELD_BY_CPU = ("throttled_wait_s", "ready_s")
SLOWED = tuple(WAITS[column] for column in HELD_BY_CPU)
"""Of these, what a thread waits for that could run: twice the work under a limit waits twice as
long, because it is more work."""

ALONE = 1.5
"""Where threads were not looked at, as in a trial of less than 0.1 s, fewer on average are one."""

ANSWERED = "achieved_rate"
"""A column of trials under load: answers [1/s]."""

SERVED = "client_cpu_s"
"""A column of trials in which a client asked a service: the account is the service's."""

LIMIT = "cpu_limit"
OFFERS = (LIMIT, "threads", "jobs", "workers")
FOLLOWS = 0.5
"""Any other knob offers threads where as many live as it says: their elasticity over it is more
than half of one."""

TINY = 1e-9
"""Threads that never sleep divide nothing by zero [s]."""

REASONS = (WORK, *dict.fromkeys(WAITS.values()), FEW)
"""What the parts are of."""


def has_account(trials: pd.DataFrame, response: str) -> bool:
    """Whether some trial of the table carries its account of time, and it is one of the response:
    under load it is the server's, of a latency."""
    if ANSWERED in trials and not (SERVED in trials and response.endswith("_ms")):
        return False
    return set(NEEDED) <= set(trials.columns) and bool(
        trials[list(NEEDED)].notna().all(axis=1).any()
    )


def is_of_time(trials: pd.DataFrame, response: str, goal: str) -> bool:
    """Whether a response is a time of its trial, or, where larger is better, a rate of its work, as
    its name says, or that it goes with the wall time. Of another, such as an accuracy, an account
    of time tells no cause."""
    if is_time(response) if goal == "min" else kind_of(response) == "rate":
        return True
    known = trials[is_known(trials, response)]
    log, wall = (np.log(known[name].astype(float)) for name in (response, "wall_s"))
    return bool((log - wall if goal == "min" else log + wall).std() < log.std() / 2)


def parts_of(
    trials: pd.DataFrame, level: np.ndarray, response: str, goal: str, knob: str
) -> pd.DataFrame:
    """The parts of every trial.

    trials: with the columns NEEDED and the response. level: shape (n,), of the knob, > 0. Returns
    one row a trial: log_loss, ln of the time for the job times the offer; offers, whether the knob
    offers cores; active, computing, core-seconds of the job, in use, and of these on the CPU or
    ready for it; and a column for each reason: `work_`, ln of the CPU work; `slow_`, over the CPU
    work; `wait_`, in core-seconds; `ln_`, as it stands, such as of the share of the time that is
    not the program's, which is 0 where the response is wall_s.
    """
    columns = [*NEEDED, response, *trials.columns.intersection([TIMER])]
    at = trials.astype(dict.fromkeys(columns, float)).fillna({TIMER: 0.0})
    told = [column for column in WAITS if column in at]
    if ANSWERED in at:
        return _of_requests(at, response)
    # a thread without others waits for another process, or where that was not told for a timer
    if SERVED not in at:
        others = numbers(at, MOST).fillna(at["threads_s"] / at["wall_s"]) > ALONE
        at["network_wait_s"] += at["asleep_s"].mask(others, 0.0)
        at["asleep_s"] = at["asleep_s"].where(others, 0.0)
    cpu, wall, y = at["user_s"] + at["sys_s"], at["wall_s"], at[response]
    threads = cpu + at[told].sum(axis=1)
    sits, beside = [column for column in ("asleep_s", TIMER) if column in at], threads - wall
    if SERVED in at:
        sits, beside = ["network_wait_s"], cpu + at[[*HELD]].sum(axis=1)
    coordinator = np.minimum(at[sits].sum(axis=1), beside.clip(0.0, COORDINATORS * wall))
    offers = _offers(knob, level, (threads - coordinator) / wall)
    could_run = (threads - coordinator - at[[*HELD_BY_CPU]].sum(axis=1)) / wall
    cores = level if offers else max(float((cpu / wall).max()), min(1.0, float(could_run.max())))
    offer = cores * wall
    # where there were as many threads as were asked for, each is to work
    met = numbers(at, MOST if offers and knob != LIMIT else "")
    coordinator = np.minimum(coordinator, (met - cores).abs().fillna(COORDINATORS) * wall)
    threads = threads - coordinator
    job_s = y if goal == "min" else 1 / y
    lies_outside = np.log(y / wall) if goal == "min" and response != "wall_s" else 0.0 * wall
    spare = (threads - offer).clip(lower=0.0)
    parts = {WORK: cpu}
    for column in told:
        sat = np.minimum(at[column], coordinator) if column in sits else 0.0
        coordinator = coordinator - sat
        waited = at[column] - sat
        # who sleeps by the clock waits for other things in between
        between = at[[*HELD, "network_wait_s"]].sum(axis=1) if column == TIMER else 0.0
        share = waited / (waited + between).clip(lower=TINY)
        allowed = np.minimum(waited, spare * share)
        spare = spare - allowed
        parts[WAITS[column]] = waited - allowed
    parts[FEW] = (offer - threads).clip(lower=0.0)
    if TIMER in at:  # threads that were there and ended are missed while the others sleep
        missed = (parts[FEW] * parts["sleeping"] / threads).where(met >= cores, 0.0)
        parts["sleeping"] += missed
        parts[FEW] -= missed
    # More were busy than were offered: of a limit, within periods that were not over; else there
    # are more threads than asked for.
    parts[THROTTLED if knob == LIMIT else FEW] -= spare
    jobs = 1.0 if goal == "min" else y * wall
    computing = cpu + sum(parts[reason] for reason in SLOWED)
    waits = {
        f"wait_{name}": parts[name] / jobs for name in parts if name not in (WORK, FEW, *SLOWED)
    }
    active = computing / jobs + sum(waits.values())
    return pd.DataFrame(
        {
            **waits,
            **{f"slow_{reason}": parts[reason] / cpu for reason in SLOWED},
            "computing": computing / jobs,
            "active": active,
            "offers": offers,
            "log_loss": np.log(job_s * cores),
            f"work_{WORK}": np.log(cpu / jobs),
            f"ln_{FEW}": np.log1p(parts[FEW] / jobs / active),
            f"ln_{OUTSIDE}": lies_outside,
        }
    )


def _of_requests(at: pd.DataFrame, response: str) -> pd.DataFrame:
    """As parts_of, where trials answer requests at a rate: for each reason its seconds of the
    response, all in `wait_`."""
    answers = at[ANSWERED].astype(float) * at["wall_s"]
    mean_s = at.get(f"{response.partition('_')[0]}_mean_ms", at[response]).astype(float) / 1000
    held = at[[*HELD]].rename(columns=HELD).div(answers, axis=0)
    held[WORK] = (at["user_s"] + at["sys_s"]) / answers
    asleep = at[[name for name in SLEEPS if name in at]].rename(columns=WAITS).div(answers, axis=0)
    slept = asleep.sum(axis=1).clip(lower=TINY)
    rest = (mean_s - held.sum(axis=1)).clip(lower=0.0)
    inside = np.minimum(rest / slept, 1.0)
    queued = (rest - inside * slept) / (held.sum(axis=1) + slept)
    few = queued * (held[WORK] + slept)
    parts = held.mul(1 + queued, axis=0).join(asleep.mul(inside, axis=0))
    parts[WORK], parts[FEW] = held[WORK], few
    response_s = at[response] / 1000
    parts = parts.mul(response_s / parts.sum(axis=1), axis=0).add_prefix("wait_")
    return parts.assign(
        log_loss=np.log(at[response]), offers=False, computing=0.0, active=response_s
    )


def time_by_level(
    trials: pd.DataFrame, level: np.ndarray, response: str, goal: str
) -> pd.DataFrame:
    """Where the time went at each level, one column a reason beside `running`: mean thread-seconds
    of a trial, where the response is a rate of one unit of it, or, of requests under load, the
    share of their response. level: shape (n,), where each trial stands; nan for none."""
    known_here = is_known(trials, response)
    known = trials[known_here].fillna({TIMER: 0.0})
    parts = known.rename(columns=WAITS).assign(**{WORK: known["user_s"] + known["sys_s"]})
    parts = parts[[WORK, *(reason for column, reason in WAITS.items() if column in known)]]
    if ANSWERED in trials:
        parts = _of_requests(known, response).filter(like="wait_")
        parts = parts.div(parts.sum(axis=1), axis=0)
    elif goal == "max":
        parts = parts.div(known[response] * known["wall_s"], axis=0)
    means = parts.astype(float).groupby(level[known_here]).mean()
    return means.rename(columns=lambda name: name.removeprefix("wait_")).rename(
        columns={WORK: "running"}
    )


def _offers(knob: str, level: np.ndarray, threads: pd.Series) -> bool:
    """Whether the knob offers cores or threads, which perfect scaling would make use of."""
    if knob in OFFERS:
        return True
    x = np.log(level)
    return bool(np.ptp(x) > 0 and np.polyfit(x, np.log(threads.to_numpy(float)), 1)[0] > FOLLOWS)


def is_known(trials: pd.DataFrame, response: str) -> pd.Series:
    """Which trials have a whole account of time, some of it on a CPU, and the response."""
    is_whole = trials[[*NEEDED, response]].notna().all(axis=1)
    return is_whole & (trials["user_s"] + trials["sys_s"] > 0) & (trials[response] > 0)
