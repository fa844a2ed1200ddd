"""The derived figures of the published study `media-server`, computed again from its profiles."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd

from deadzone.reference import load_reference
from deadzone.reference_checks import Check, change_percent, claim_checks, column_checks

STUDY = "media-server"
OVERLAP = "flat times of different functions cannot overlap; the author adds them all the same and calls the excess overlap"


def media_server() -> list[Check]:
    """Checks of the study `media-server`."""
    totals = load_reference(STUDY, "totals")
    return [
        *_totals(totals),
        *_components(totals.set_index("profile")),
        *_derived(totals.set_index("profile")),
        *_savings(totals.set_index("profile")),
        *_techniques(),
        *_summary_and_claims(totals.set_index("profile")),
    ]


def _totals(totals: pd.DataFrame) -> list[Check]:
    length = totals["profile"].map(load_reference(STUDY, "profiles").set_index("profile")["profile_s"])
    share = 100 * totals["cpu_s"] / length
    checks = column_checks(
        totals, "cpu_percent", share, "100 * cpu_s / profile_s", keys=["profile"], decimals=2
    )
    for column in ("cpu_s", "cpu_percent", "heap_mb", "goroutines"):
        claim = f"claimed_{column.removesuffix('_mb')}_change_percent"
        change = change_percent(totals[column], totals[column].iloc[0])
        formula = f"100 * ({column} / {column} of baseline - 1)"
        checks += column_checks(totals, claim, change, formula, keys=["profile"])
    return checks


def _components(totals: pd.DataFrame) -> list[Check]:
    keys, checks = ["component", "profile"], []
    tables = (
        ("cpu-by-component", "cpu_s", "claimed_change_s"),
        ("heap-by-component", "heap_mb", "claimed_change_mb"),
    )
    for table, column, claim in tables:
        frame = load_reference(STUDY, table)
        share = 100 * frame[column] / frame["profile"].map(totals[column])
        checks += column_checks(
            frame, "share_percent", share, f"100 * {column} / {column} of the total", keys=keys, decimals=2
        )
        checks += column_checks(
            frame,
            claim,
            _against_baseline(frame, column),
            f"{column} - {column} of baseline",
            keys=keys,
            decimals=2,
        )
    functions = load_reference(STUDY, "cpu-by-function")
    share = 100 * functions["cpu_s"] / totals.loc["baseline", "cpu_s"]
    checks += column_checks(
        functions, "share_percent", share, "100 * cpu_s / cpu_s of the total", keys=["function"], decimals=2
    )
    cpu, groups = load_reference(STUDY, "cpu-by-component"), load_reference(STUDY, "share-changes")
    for frame, relative in (
        (cpu, ["component=nack, profile=optimised", "component=mdns, profile=optimised"]),
        (groups, []),
    ):
        checks += column_checks(
            frame,
            "claimed_share_change_percent",
            _against_baseline(frame, "share_percent"),
            "share_percent - share_percent of baseline",
            keys=keys,
            decimals=2,
            method=relative,
        )
    merged = cpu.replace(
        {"component": {"sha1": "cryptography", "aes": "cryptography", "gc_scanobject": "gc"}}
    )
    again = merged.groupby(keys)["share_percent"].sum().reindex(pd.MultiIndex.from_frame(groups[keys]))
    formula = "sum of share_percent in cpu-by-component"
    return checks + column_checks(groups, "share_percent", again, formula, keys=keys, decimals=2)


def _derived(totals: pd.DataFrame) -> list[Check]:
    stream, projection = load_reference(STUDY, "per-stream"), load_reference(STUDY, "projection")
    checks = []
    for column, decimals in (("cpu_percent", 2), ("heap_mb", 2), ("goroutines", 0)):
        raw = stream["profile"].map(totals[column])
        formula = f"{column} / claimed_streams"
        checks += column_checks(
            stream,
            f"claimed_{column}",
            raw / stream["claimed_streams"],
            formula,
            keys=["profile"],
            decimals=decimals,
        )
        claim = f"claimed_{column.split('_')[0]}_change_percent"
        formula = f"100 * ({column} / {column} of baseline - 1), from the totals"
        checks += column_checks(
            stream, claim, change_percent(raw, raw.iloc[0]), formula, keys=["profile"], decimals=0
        )
    for column in ("cpu_percent", "heap_mb"):
        scaled = (
            projection["profile"].map(totals[column]) * projection["streams"] / projection["claimed_streams"]
        )
        formula = f"{column} * streams / claimed_streams"
        checks += column_checks(
            projection, f"claimed_{column}", scaled, formula, keys=["profile"], decimals=0
        )
    return checks


def _savings(totals: pd.DataFrame) -> list[Check]:
    checks = []
    for table, claim, column, parts in (
        ("cpu-savings", "claimed_saved_s", "cpu_s", "cpu-by-component"),
        ("heap-savings", "claimed_saved_mb", "heap_mb", "heap-by-component"),
    ):
        frame, listed = load_reference(STUDY, table), load_reference(STUDY, parts)
        saved = -_against_baseline(listed, column).groupby(listed["component"]).sum()
        saved["total"] = total = totals.loc["baseline", column] - totals.loc["optimised", column]
        saved["other"] = total - saved[listed["component"].unique()].sum()
        formula = f"{column} of baseline - {column}"
        checks += column_checks(
            frame, claim, frame["component"].map(saved), formula, keys=["component"], decimals=2
        )
        share = 100 * frame[claim] / total
        checks += column_checks(
            frame, "claimed_share_of_saving_percent", share, f"100 * {claim} / total", keys=["component"]
        )
        added = frame.loc[frame["component"] != "total", claim].sum()
        note = OVERLAP if table == "cpu-savings" else ""
        checks.append(
            Check(
                STUDY,
                table,
                f"sum: {claim}",
                frame.attrs["units"][claim],
                "sum of the parts",
                total,
                added,
                2,
                note=note,
            )
        )
    return checks


def _techniques() -> list[Check]:
    frame = load_reference(STUDY, "techniques")
    cpu = load_reference(STUDY, "cpu-by-component").set_index(["profile", "component"])
    heap = load_reference(STUDY, "heap-by-component").set_index(["profile", "component"])["heap_mb"]
    seconds = cpu["cpu_s"]["optimised"] - cpu["cpu_s"]["baseline"]
    megabytes = heap["optimised"] - heap["baseline"]
    megabytes["nack"] = megabytes["nack_buffer"] + megabytes["nack_auxiliary_buffer"]
    percent = -cpu["share_percent"]["baseline"]
    percent["mallocgc"] = 100 * seconds["mallocgc"] / cpu["cpu_s"]["baseline"]["mallocgc"]
    relative = 100 * megabytes / heap["baseline"].reindex(megabytes.index)
    traffic = {"rtcp": rtcp_change_percent()}
    keys = ["technique", "component"]
    return [
        check
        for column, values, formula, decimals in (
            ("claimed_cpu_change_s", seconds, "cpu_s - cpu_s of baseline", 2),
            (
                "claimed_cpu_change_percent",
                percent,
                "minus share_percent of baseline; mallocgc: relative change",
                [2, 2, 0, 0, 1],
            ),
            ("claimed_heap_change_mb", megabytes, "heap_mb - heap_mb of baseline", 2),
            ("claimed_heap_change_percent", relative, "100 * (heap_mb / heap_mb of baseline - 1)", 1),
            ("claimed_traffic_change_percent", traffic, "100 * (1 s / 3 s - 1)", 0),
        )
        for check in column_checks(
            frame, column, frame["component"].map(values), formula, keys=keys, decimals=decimals
        )
    ]


def rtcp_change_percent() -> float:
    """Relative change of the number of control reports, in percent, when their interval grows."""
    interval = load_reference(STUDY, "profiles").set_index("profile")["rtcp_interval_s"]
    return float(100 * (interval["baseline"] / interval["optimised"] - 1))


def _summary_and_claims(totals: pd.DataFrame) -> list[Check]:
    change = 100 * (totals.loc["optimised"] / totals.loc["baseline"] - 1).astype(float, errors="ignore")
    difference = totals.loc["optimised"] - totals.loc["baseline"]
    summary = load_reference(STUDY, "summary")
    source = {"cpu": "cpu_s", "heap": "heap_mb", "goroutines": "goroutines"}
    again = summary["quantity"].map(lambda name: change[source[name.removesuffix("_per_stream")]])
    cpu = load_reference(STUDY, "cpu-by-component").set_index(["component", "profile"])
    heap = load_reference(STUDY, "heap-by-component").set_index(["component", "profile"])["heap_mb"]
    functions = load_reference(STUDY, "cpu-by-function").set_index("function")["cpu_s"]
    clock = load_reference(STUDY, "profiles").set_index("profile")["measured_at_kst"]
    share, seconds = cpu["share_percent"], cpu["cpu_s"]
    relative = "100 * (optimised / baseline - 1)"
    frames = 100 * (heap["interleaved_frame", "optimised"] / heap["interleaved_frame", "baseline"] - 1)
    buffers = -heap["nack_buffer", "baseline"] - heap["nack_auxiliary_buffer", "baseline"]
    return [
        *column_checks(
            summary,
            "claimed_change_percent",
            again,
            f"{relative}, from the totals",
            keys=["quantity"],
            decimals=summary["claimed_decimals"].to_numpy(),
        ),
        *claim_checks(
            STUDY,
            {
                "share-freed-by-nack-and-mdns": (
                    share["nack", "baseline"] + share["mdns", "baseline"],
                    "share_percent of nack + share_percent of mdns, baseline",
                ),
                "syscall-change": (
                    100 * (seconds["syscall", "optimised"] / seconds["syscall", "baseline"] - 1),
                    relative,
                ),
                "rtcp-traffic-change": (rtcp_change_percent(), "100 * (1 s / 3 s - 1)"),
                "interleaved-frame-change": (frames, relative),
                "interleaved-frame-change-rounded": (frames, relative),
                "mallocgc-change": (
                    100 * (seconds["mallocgc", "optimised"] / seconds["mallocgc", "baseline"] - 1),
                    relative,
                ),
                "nack-heap-change": (buffers, "minus nack_buffer and nack_auxiliary_buffer of baseline"),
                "cpu-share-change": (difference["cpu_percent"], "cpu_percent - cpu_percent of baseline"),
                "goroutines-change": (difference["goroutines"], "goroutines - goroutines of baseline"),
                "heap-change": (difference["heap_mb"], "heap_mb - heap_mb of baseline"),
                "cpu-change-rounded": (change["cpu_s"], relative),
                "heap-change-rounded": (change["heap_mb"], relative),
                "measurement-gap": (
                    _minutes(clock["optimised"], clock["baseline"]),
                    "baseline - optimised, time of day",
                ),
                "nack-cpu": (
                    functions["NACK.resendPackets"],
                    "cpu_s of NACK.resendPackets in cpu-by-function",
                ),
            },
        ),
    ]


def _against_baseline(frame: pd.DataFrame, column: str) -> pd.Series:
    baseline = frame[frame["profile"] == "baseline"].set_index("component")[column]
    return (frame[column] - frame["component"].map(baseline)).where(frame["profile"] == "optimised", np.nan)


def _minutes(start: str, stop: str) -> float:
    return (datetime.strptime(stop, "%H:%M:%S") - datetime.strptime(start, "%H:%M:%S")).total_seconds() / 60
