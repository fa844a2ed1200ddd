"""The response time of each trial, cut into parts: what the client, the network and the service did
with it.

What is read, all of it optional (data/README.md has the meaning of each column): the client's
phases as libcurl counts them, the CPU time, throttling, waits for disk and memory of the service's
control group, and the time that the service itself had the request, where it says so in the header
`Server-Timing` (W3C).

Throttled time is counted by the kernel once for each CPU on which a stopped group wanted to run.
With p threads running at once on a quota of q cores a period of P seconds lasts q P / p until the
quota is spent, and the p CPUs are stopped for the rest, so that n throttled periods count n P (p -
q) seconds. Hence p = q + counted / (n P), and the time that passed is the counted time over p.
"""

import pandas as pd

from deadzone.analysis.trial_columns import numbers

CONNECTION, UPLOAD = "connection_s", "upload_s"
NETWORK, NETWORK_LEAST = "network_s", "network_least_s"
DNS, CONNECT = "dns_s", "connect_s"
THROTTLED, FAULTS, DISK_BYTES = "throttled_s", "faults_s", "disk_bytes_s"
MEMORY, MEMORY_LEAST, DISK, DISK_LEAST = "memory_s", "memory_least_s", "disk_s", "disk_least_s"
CLIENT, WORK, TOTAL = "client_cpu_s", "work_s", "total_s"
REST = "rest_s"

ADDING_UP = (NETWORK, THROTTLED, MEMORY, DISK, CLIENT, WORK, REST)
"""Parts that add up to the response; what was not measured is in the last one."""

PERIOD_S = 0.1
"""The kernel's usual enforcement period of a CPU limit, which Deadzone, Docker and Kubernetes all
leave as it is."""

SLOW_FAULT_S = 0.01
"""A major fault reads a page from disk; 10 ms is a slow disk's time for one, so that faults are
counted at their worst."""

SLOW_DISK_BYTES_S = 100e6
"""Bytes moved are counted at 100 MB/s, a slow disk's rate, for the same reason."""


def parts_of(
    trials: pd.DataFrame, response: str, by: pd.Series, unlimited: pd.Series
) -> pd.DataFrame:
    """Cut the response of each trial into its parts [s]: one row a trial, columns as named in this
    module, nan where not measured.

    Of network, memory and disk there are two: the most and the least time. Of the network, that may
    have been spent outside the service; of the others, the whole machine's waits where the
    service's own were not counted, and nothing.

    trials: one row a trial. response: column of the elapsed time [s]. by: shape (trials,), name of
    the environment. unlimited: shape (trials,), whether the trial's environment is known to have no
    CPU limit; such a trial was not throttled, even if nothing counted it.
    """
    total = numbers(trials, response)
    counted = numbers(trials, THROTTLED)
    counted = counted.where(counted.notna() | ~unlimited.to_numpy(), 0.0)
    cpu = numbers(trials, "user_s") + numbers(trials, "sys_s")
    parallel = _parallel(trials, total, cpu, by)
    throttled = (counted / parallel).clip(upper=total)
    wall = numbers(trials, "wall_s").fillna(total)
    memory = numbers(trials, "service_memory_stall_s")
    waits = [numbers(trials, name) for name in ("service_io_stall_s", "service_disk_wait_s")]
    # A pressure counter does not see waits for a file system's journal.
    disk = pd.concat(waits, axis=1).max(axis=1)
    moved = [numbers(trials, name) for name in ("service_read_bytes", "service_written_bytes")]
    sent = numbers(trials, "posttransfer_s") - numbers(trials, "pretransfer_s")
    times = pd.DataFrame(
        {
            TOTAL: total,
            DNS: numbers(trials, DNS),
            CONNECT: numbers(trials, CONNECT) - numbers(trials, DNS).fillna(0.0),
            CONNECTION: numbers(trials, "pretransfer_s").fillna(numbers(trials, CONNECT)),
            UPLOAD: numbers(trials, UPLOAD).fillna(sent),
            THROTTLED: throttled,
            MEMORY: memory.fillna(numbers(trials, "memory_pressure") * wall),
            MEMORY_LEAST: memory,
            FAULTS: numbers(trials, "service_major_faults") * SLOW_FAULT_S,
            DISK: disk.fillna(numbers(trials, "io_pressure") * wall),
            DISK_LEAST: disk,
            DISK_BYTES: pd.concat(moved, axis=1).sum(axis=1, min_count=1) / SLOW_DISK_BYTES_S,
            CLIENT: numbers(trials, CLIENT),
            WORK: (cpu / parallel).clip(upper=(total - throttled.fillna(0.0)).clip(lower=0.0)),
        }
    )
    times[NETWORK], times[NETWORK_LEAST] = _outside(trials, times)
    times[REST] = times[TOTAL] - times[[*ADDING_UP[:-1]]].sum(axis=1)
    return times


def _outside(trials: pd.DataFrame, times: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The most and the least time of each trial that was spent outside the service.

    Two bounds from above, and the smaller of them holds: what is left when the service ran or stood
    still and when the client computed; and what is left beside the time for which the service says
    that it had the request, its wait for the rest of the request apart. Where the service says
    nothing, time that nothing accounts for may be the network's or a wait within the service: then
    only connection and upload are the network's for certain.
    """
    inside = times[[THROTTLED, MEMORY, DISK, WORK, CLIENT]].sum(axis=1)
    counted = times[[WORK, THROTTLED]].notna().all(axis=1)
    by_accounts = (times[TOTAL] - inside).clip(lower=0.0).where(counted)
    waited = numbers(trials, "service_receive_s").fillna(times[UPLOAD])
    by_service = times[TOTAL] - numbers(trials, "service_s") + waited - times[CLIENT].fillna(0.0)
    by_service = by_service.clip(lower=0.0, upper=times[TOTAL])
    most = pd.concat([by_accounts, by_service], axis=1).min(axis=1)
    direct = times[[CONNECTION, UPLOAD]].sum(axis=1).where(times[CONNECTION].notna())
    least = pd.concat([direct.clip(upper=times[TOTAL]), by_accounts], axis=1).min(axis=1)
    return most, most.where(by_service.notna(), least)


def _parallel(trials: pd.DataFrame, total: pd.Series, cpu: pd.Series, by: pd.Series) -> float:
    """CPUs kept busy at once: as the throttled periods tell, else as the environment that keeps
    most of them busy does.

    Where nothing was throttled, CPU time over the time that the service had the request is the
    least it can have been.
    """
    counted, periods = numbers(trials, THROTTLED), numbers(trials, "nr_throttled") * PERIOD_S
    seen = (counted > 0) & (periods > 0)
    if seen.any():
        used = cpu / (numbers(trials, "nr_periods") * PERIOD_S)
        quota = numbers(trials, "cpu_limit").fillna(used).fillna(0.0)
        return max(1.0, float((quota + counted / periods)[seen].median()))
    had = numbers(trials, "service_s") - numbers(trials, "service_receive_s").fillna(0.0)
    busy = (cpu / had.where(had > 0).fillna(total)).groupby(by.to_numpy()).median().dropna()
    return max(1.0, float(busy.max())) if len(busy) else 1.0
