"""What four of the five published documents derive from their own measurements, computed again.

One function a document; each returns the checks of every derived cell and every figure in the text.
The fifth, `media-server`, is longer than the others and lives in `reference_media`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from deadzone.reports.published.reference import load_reference
from deadzone.reports.published.reference_checks import Check, change_percent, claim_checks, column_checks, figure

EFFICIENCY = "(user_s + sys_s) / wall_s"
CHANGE = "100 * (wall_s / wall_s of the baseline - 1)"
CUMULATIVE = "100 * (wall_s / wall_s at 1 core - 1)"
LEVELS = ("cpu_limit", "threads")


def ffmpeg_threads() -> list[Check]:
    """Checks of the study `ffmpeg-threads`."""
    study = "ffmpeg-threads"
    curve = load_reference(study, "limit-equals-threads")
    wall = curve.set_index("cpu_limit")["wall_s"]
    efficiency = _efficiency(curve).set_axis(pd.MultiIndex.from_frame(curve[list(LEVELS)]))
    checks = column_checks(curve, "cpu_efficiency", _efficiency(curve), EFFICIENCY, keys=LEVELS, decimals=2)
    best = {}
    for cores in (4, 5, 6):
        frame = load_reference(study, f"oversubscription-at-{cores}-cores")
        change = change_percent(frame["wall_s"], figure(frame, "wall_s", threads=cores))
        best[cores] = change.min()
        checks += column_checks(frame, "claimed_change_percent", change, CHANGE, keys=LEVELS)
        again = efficiency.reindex(pd.MultiIndex.from_frame(frame[list(LEVELS)]))
        checks += column_checks(
            frame, "cpu_efficiency", again, f"{EFFICIENCY} of the same cell", keys=LEVELS, decimals=2
        )
    for phase in ("dead-zone", "recovery", "breakthrough"):
        frame = load_reference(study, f"phase-{phase}")
        change = change_percent(frame["wall_s"], frame["baseline_cpu_limit"].map(wall))
        checks += column_checks(frame, "claimed_change_percent", change, CHANGE, keys=["cpu_limit"])
    efficient = load_reference(study, "phase-efficient")
    for frame in (efficient, load_reference(study, "phase-breakthrough")):
        cumulative = change_percent(frame["wall_s"], wall[1])
        column = "claimed_cumulative_change_percent"
        checks += column_checks(frame, column, cumulative, CUMULATIVE, keys=["cpu_limit"])
    return checks + _per_core(efficient, wall) + _settings_compared(best) + _ffmpeg_claims(curve, wall)


def _per_core(efficient: pd.DataFrame, wall: pd.Series) -> list[Check]:
    cumulative, column = change_percent(efficient["wall_s"], wall[1]), "claimed_change_per_core_percent"
    rows = [f"cpu_limit={cores:g}" for cores in efficient["cpu_limit"]]
    return [
        *column_checks(
            efficient,
            column,
            cumulative / efficient["cpu_limit"],
            "cumulative change / cpu_limit",
            keys=["cpu_limit"],
        ),
        *column_checks(
            efficient,
            column,
            cumulative / (efficient["cpu_limit"] - 1),
            "cumulative change / (cpu_limit - 1), that is for each core added",
            keys=["cpu_limit"],
            method=rows,
        ),
    ]


def _settings_compared(best: dict[int, float]) -> list[Check]:
    study = "ffmpeg-threads"
    effect, auto = (
        load_reference(study, "oversubscription-effect"),
        load_reference(study, "auto-versus-explicit"),
    )
    strongest = effect["cpu_limit"].map(best)
    baseline = auto["wall_s"].where(auto["thread_setting"] == "auto").ffill()
    return [
        *column_checks(
            effect,
            "claimed_change_percent",
            strongest,
            "largest gain at this limit",
            keys=["cpu_limit"],
            decimals=0,
        ),
        *column_checks(
            auto,
            "claimed_change_percent",
            change_percent(auto["wall_s"], baseline),
            "100 * (wall_s / wall_s of auto - 1)",
            keys=["cpu_limit", "thread_setting"],
        ),
    ]


def _ffmpeg_claims(curve: pd.DataFrame, wall: pd.Series) -> list[Check]:
    study = "ffmpeg-threads"
    at = {cores: load_reference(study, f"threads-at-{cores}-cores") for cores in (4, 8, 11)}
    efficiency = _efficiency(curve).set_axis(curve["cpu_limit"])
    per_core = -change_percent(wall, wall[1]) / wall.index
    over = load_reference(study, "oversubscription-at-5-cores").set_index("threads")["wall_s"]
    first = at[4].iloc[0]
    flat = {
        4: at[4].query("threads > 7")["wall_s"],
        8: at[8].query("threads > 8")["wall_s"],
        11: at[11].query("not flagged_by_author")["wall_s"],
    }
    values: dict[str, tuple[float, str]] = {
        "oversubscription-at-5-cores-best-gain": (100 * (1 - over[25] / over[5]), "gain at 25 threads"),
        "phase-efficient-gain-per-core-low": (per_core.loc[2:4].min(), "cumulative gain / cpu_limit, lowest"),
        "phase-efficient-gain-per-core-high": (
            per_core.loc[2:4].max(),
            "cumulative gain / cpu_limit, highest",
        ),
        "phase-recovery-gain-per-core": (
            per_core.loc[7:10].mean(),
            "cumulative gain / cpu_limit, mean of 7 to 10",
        ),
        "breakthrough-drop": (100 * (1 - wall[11] / wall[10]), "100 * (1 - wall_s at 11 / wall_s at 10)"),
        "plateau-wall-low": (wall.loc[13:].min(), "lowest wall_s"),
        "plateau-wall-high": (wall.loc[13:].max(), "highest wall_s"),
        "efficiency-beyond-11-cores": (efficiency.loc[11:].mean(), f"mean of {EFFICIENCY}"),
        "efficiency-of-limit-low": (
            (100 * efficiency / efficiency.index).loc[:10].min(),
            f"lowest 100 * {EFFICIENCY} / cpu_limit",
        ),
        "outlier-user-over-wall": (first["user_s"] / first["wall_s"], "user_s / wall_s"),
        "efficiency-at-4-cores-low": (_efficiency(at[4]).min(), f"lowest {EFFICIENCY}"),
        "efficiency-at-4-cores-high": (_efficiency(at[4]).max(), f"highest {EFFICIENCY}"),
    }
    for cores, times in flat.items():
        values[f"flat-at-{cores}-cores-low"] = (times.min(), "lowest wall_s")
        values[f"flat-at-{cores}-cores-high"] = (times.max(), "highest wall_s")
    return claim_checks(study, values)


def pod_cpu_limit() -> list[Check]:
    """Checks of the study `pod-cpu-limit`."""
    study = "pod-cpu-limit"
    wall = load_reference(study, "request-time").set_index("environment")["wall_s"]
    phases = load_reference(study, "request-phases").set_index("environment")
    total, ttfb = phases["total_s"], phases["ttfb_s"]
    return claim_checks(
        study,
        {
            "slowdown-wall": (wall["pod"] / wall["docker"], "wall_s of pod / wall_s of docker"),
            "slowdown-total": (total["pod"] / total["docker"], "total_s of pod / total_s of docker"),
            "ttfb-pod": (ttfb["pod"], "ttfb_s"),
            "ttfb-docker": (ttfb["docker"], "ttfb_s"),
            "ttfb-pod-unlimited": (ttfb["pod_unlimited"], "ttfb_s"),
        },
    )


def thread_pools() -> list[Check]:
    """Checks of the study `thread-pools`."""
    study = "thread-pools"
    targets = load_reference(study, "targets")
    load = load_reference(study, "load-per-user")
    users = figure(targets, "claimed_value", quantity="users")
    rates = {
        "inbound_rate": users * figure(load, "rate_per_user", load="peak"),
        "outbound_rate": users * figure(load, "response_rate_per_user", load="peak"),
    }
    spike, settings = load_reference(study, "connection-spike"), load_reference(study, "settings")
    channels = {
        name: load_reference(study, name).set_index(["rate", "pool_size"])["latency_max_ms"]
        for name in ("inbound", "outbound")
    }
    measured = settings.apply(lambda row: _measured(channels, row), axis=1)
    inbound, outbound = channels["inbound"], channels["outbound"]
    vcpus = load_reference(study, "environment")["vcpus"].iloc[0]
    return [
        *column_checks(
            targets,
            "claimed_value",
            targets["quantity"].map(rates),
            "users * peak rate of one user",
            keys=["quantity"],
            decimals=0,
        ),
        *column_checks(
            spike,
            "connections",
            spike["connection_rate"] * spike["duration_s"],
            "connection_rate * duration_s",
            keys=["connection_rate"],
            decimals=0,
        ),
        *column_checks(
            settings,
            "claimed_latency_max_ms",
            measured,
            "latency_max_ms at claimed_rate and pool_size",
            keys=["component"],
            decimals=0,
        ),
        *claim_checks(
            study,
            {
                "inbound-513-slowdown": (inbound[513, 64] / inbound[513, 32], "latency_max_ms at 64 / at 32"),
                "threads-per-vcpu": (64 / vcpus, "64 / vcpus"),
                "inbound-rate-of-113-ms": (
                    inbound[inbound == 113].loc[:, 32].index[0],
                    "rate of the 113 ms cell",
                ),
                "outbound-rate-of-96-ms": (
                    outbound[outbound == 96].loc[:, 16].index[0],
                    "rate of the 96 ms cell",
                ),
            },
            method=["inbound-rate-of-113-ms", "outbound-rate-of-96-ms"],
        ),
    ]


def disk_io() -> list[Check]:
    """Checks of the study `disk-io`."""
    study = "disk-io"
    runs = load_reference(study, "dd")
    chunk = 1e6 * load_reference(study, "environment")["upload_chunk_mb"].iloc[0]
    moved, blocks = runs["transferred_bytes"], runs["block_size"] * runs["blocks"]
    keys = ["operation", "location", "block_size"]
    printed_rate = runs["throughput_bytes_s"]
    written = runs[runs["operation"] == "write"].iloc[-1]
    reads = runs[runs["operation"] == "read"]
    checks = column_checks(
        runs, "transferred_bytes", blocks, "block_size * blocks", keys=keys, decimals=0
    ) + column_checks(
        runs,
        "throughput_bytes_s",
        moved / runs["wall_s"],
        "transferred_bytes / wall_s",
        keys=keys,
        decimals=_printed_decimals(printed_rate / 1e6) - 6,
    )
    for column, size in (("printed_mb", 1e6), ("printed_mib", 2.0**20)):
        checks += column_checks(
            runs,
            column,
            moved / size,
            f"transferred_bytes / {size:.0f}",
            keys=keys,
            decimals=_printed_decimals(runs[column]),
        )
    return checks + claim_checks(
        study,
        {
            "chunk-write-time": (chunk / printed_rate[0], "20 MB / throughput_bytes_s"),
            "chunks-per-second": (written["throughput_bytes_s"] / chunk, "throughput_bytes_s / 20 MB"),
            "blocks-per-second": (
                written["throughput_bytes_s"] / written["block_size"],
                "throughput_bytes_s / block_size",
            ),
            "write-block-equals-chunk": (written["block_size"] / 1e6, "block_size / 1000000"),
            "read-block": (reads["block_size"].iloc[-1] / 1e6, "block_size / 1000000"),
            "read-file-equals-written-file": (
                reads["transferred_bytes"].iloc[0],
                "transferred_bytes of the reads",
            ),
        },
    )


def _efficiency(frame: pd.DataFrame) -> pd.Series:
    return (frame["user_s"] + frame["sys_s"]) / frame["wall_s"]


def _measured(channels: dict[str, pd.Series], setting: pd.Series) -> float:
    if setting["component"] not in channels:
        return np.nan
    return float(channels[setting["component"]][setting["claimed_rate"], setting["pool_size"]])


def _printed_decimals(value: pd.Series) -> np.ndarray:
    """dd prints one decimal below 10 and none from there on."""
    return np.where(value < 10, 1, 0)
