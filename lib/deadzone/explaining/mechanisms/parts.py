"""What each trial lost against proportional scaling, cut into parts that add up on the log scale.

A trial took wall = CPU work / cores busy, so ln(wall) = ln(CPU work) - ln(cores busy). Where the knob offers x cores or
threads and B of them were busy, x / B = 1 + what of the offer lay idle for each reason, over B. The change of ln(x / B)
between two levels is shared out among the reasons by the logarithmic mean of its ends, which leaves no remainder (the
logarithmic mean Divisia index; Ang 2004, Energy Policy 32, 1131-1139). A knob that offers no cores is held against the
most that were busy at once.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

WORK, OUTSIDE, FEW = "work", "outside", "too_few_threads"
COORDINATORS = 1.0
"""Of several threads one may sleep throughout without being missed: it waits for those that work."""

WAITS = {
    "asleep_s": "waiting_for_each_other",
    "throttled_wait_s": "throttled",
    "ready_s": "cpu_full",
    "disk_wait_s": "waiting_for_disk",
    "memory_wait_s": "memory_short",
    "network_wait_s": OUTSIDE,
}
"""What threads wait for, by column of the account, in the order in which threads beyond the offer are allowed to."""

CPU = ("user_s", "sys_s", "wall_s")
NEEDED = (*CPU, "threads_s", *WAITS)

OFFERS = ("cpu_limit", "threads", "jobs", "workers")
FOLLOWS = 0.5
"""Any other knob offers threads where as many live as it says: their elasticity over it is more than half of one."""


def has_account(trials: pd.DataFrame) -> bool:
    """Whether some trial of the table carries its account of time."""
    return set(NEEDED) <= set(trials.columns) and bool(trials[list(NEEDED)].notna().all(axis=1).any())


def parts_of(trials: pd.DataFrame, level: np.ndarray, response: str, goal: str, knob: str) -> pd.DataFrame:
    """The parts of every trial.

    trials: with the columns NEEDED and the response. level: shape (n,), of the knob, > 0. Returns one row a trial: log_loss,
    ln of the time for the job times the offer; work, ln(CPU work for it); outside, ln of the share of its time that is not
    the program's, which is 0 where the response is wall_s; offers, whether the knob offers cores; and for each reason of idle cores their number over the busy ones.
    """
    at = trials.astype(dict.fromkeys((*NEEDED, response), float))
    cpu, wall, y = at["user_s"] + at["sys_s"], at["wall_s"], at[response]
    busy = cpu / wall
    threads = busy + sum(at[name] / wall for name in WAITS)
    coordinator = np.minimum(at["asleep_s"] / wall, (threads - 1).clip(0.0, COORDINATORS))
    threads = threads - coordinator
    offers = _offers(knob, level, threads)
    offer = pd.Series(level if offers else float(busy.max()), at.index)
    job_s = y if goal == "min" else 1 / y
    lies_outside = np.log(y / wall) if goal == "min" and response != "wall_s" else 0.0 * wall
    per_job = cpu if goal == "min" else cpu / (y * wall)
    found = pd.DataFrame(
        {"log_loss": np.log(job_s * offer), WORK: np.log(per_job), OUTSIDE: lies_outside, "offers": offers}
    )
    spare = (threads - offer).clip(lower=0.0)
    for column, reason in WAITS.items():
        waiting = at[column] / wall - (coordinator if column == "asleep_s" else 0.0)
        allowed = np.minimum(waiting, spare)
        spare = spare - allowed
        found[f"idle_{reason}"] = (waiting - allowed) / busy
    found[f"idle_{FEW}"] = ((offer - threads).clip(lower=0.0) - spare) / busy
    return found


def _offers(knob: str, level: np.ndarray, threads: pd.Series) -> bool:
    """Whether the knob offers cores or threads, which perfect scaling would make use of."""
    if knob in OFFERS:
        return True
    x = np.log(level)
    return bool(np.ptp(x) > 0 and np.polyfit(x, np.log(threads.to_numpy(float)), 1)[0] > FOLLOWS)
