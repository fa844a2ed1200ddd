"""Trials of a service with planted causes, made from a seed."""

import numpy as np
import pandas as pd

PERIOD_S = 0.1


def trials(environments, *, n=8, seed=1, noise=0.02, drop=()):
    """Trials of environments in randomised blocks.

    environments: by name the seconds planted: throttled, outside, disk, memory, client, connect,
    upload, inside (a wait within the service that nothing counts), and limit (cores or None),
    parallel (CPUs busy at once).
    """
    rng = np.random.default_rng(seed)
    rows = []
    for block in range(n):
        for name, planted in environments.items():
            rows.append({"block": block, "environment": name, **one(planted, rng, noise)})
    return pd.DataFrame(rows).drop(columns=list(drop))


def one(planted, rng, noise):
    def about(seconds):
        return seconds * np.exp(noise * rng.standard_normal())

    get = planted.get
    connect, upload, work = about(get("connect", 0.0004)), about(get("upload", 0.01)), about(0.3)
    throttled, disk, memory = (about(get(part, 0.0)) for part in ("throttled", "disk", "memory"))
    outside, inside = about(get("outside", 0.002)), about(get("inside", 0.0))
    client = about(get("client", 0.004))
    limit, parallel = get("limit"), get("parallel", 1.6)
    service = work + throttled + disk + memory + inside
    total = connect + upload + service + outside + (client if get("client_waits") else 0.0)
    share = 1 - (limit or parallel) / parallel
    periods = throttled / (PERIOD_S * share) if limit else 0
    counted = {"nr_periods": round(periods) + 1, "nr_throttled": periods}
    counted["throttled_s"] = throttled * parallel
    return {
        "dns_s": 0.00002, "connect_s": 0.00002 + connect, "pretransfer_s": 0.00005 + connect,
        "posttransfer_s": 0.00005 + connect + upload, "ttfb_s": total - 0.0005, "total_s": total,
        "wall_s": total + 0.003, "client_cpu_s": client, "service_s": service + 0.5 * upload,
        "service_receive_s": 0.5 * upload, "user_s": 0.8 * work * parallel,
        "sys_s": 0.2 * work * parallel, "cpu_limit": limit or "none",
        **(counted if limit else dict.fromkeys(counted)), "service_disk_wait_s": disk,
        "service_read_bytes": 1e6, "service_written_bytes": about(4e6),
        "service_memory_stall_s": memory, "service_major_faults": 0, "service_oom_kills": 0,
        "service_memory_peak_bytes": 50e6, "service_memory_limit_bytes": 500e6, "status": "ok",
    }  # fmt: skip


FAST = {}
LIMITED = {"throttled": 1.4, "limit": 0.25}
RELAY = {"outside": 0.8}
SLOW_DISK = {"disk": 0.9}
