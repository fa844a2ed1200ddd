"""The derived figures of the published study `media-server`, computed again from its profiles."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd

from deadzone.reports.published.reference import load_reference
from deadzone.reports.published.reference_checks import Check, change_percent, claim_checks, column_checks, figure

STUDY = "media-server"
OVERLAP = "flat times of different functions cannot overlap; the author adds them all the same and calls the excess overlap"
RELATIVE = "100 * (optimised / baseline - 1)"
REPORTS = "100 * (1 s / 3 s - 1), the intervals of the reports"


def media_server() -> list[Check]:
    """Checks of the study `media-server`."""
    totals = load_reference(STUDY, "totals")
    return [
        *_totals(totals),
        *_components(totals),
        *_derived(totals.set_index("profile")),
        *_savings(totals),
        *_techniques(),
        *_summary(totals),
        *_claims(totals),
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
        share = 100 * frame[column] / frame["profile"].map(totals.set_index("profile")[column])
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
    share = 100 * functions["cpu_s"] / figure(totals, "cpu_s", profile="baseline")
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
        total = figure(totals, column, profile="baseline") - figure(totals, column, profile="optimised")
        parts_saved = -_against_baseline(listed, column).groupby(listed["component"]).sum()
        saved = {**parts_saved, "total": total, "other": total - parts_saved.sum()}
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
    cpu, heap = load_reference(STUDY, "cpu-by-component"), load_reference(STUDY, "heap-by-component")
    seconds, megabytes = _changes(cpu, "cpu_s"), _changes(heap, "heap_mb")
    baseline = cpu[cpu["profile"] == "baseline"]
    credited = {
        "claimed_cpu_change_s": seconds,
        "claimed_cpu_change_percent": {
            **dict(zip(baseline["component"], -baseline["share_percent"], strict=True)),
            "mallocgc": _relative(cpu, "cpu_s", "mallocgc"),
        },
        "claimed_heap_change_mb": {
            **megabytes,
            "nack": megabytes["nack_buffer"] + megabytes["nack_auxiliary_buffer"],
        },
        "claimed_heap_change_percent": {"interleaved_frame": _relative(heap, "heap_mb", "interleaved_frame")},
        "claimed_traffic_change_percent": {"rtcp": rtcp_change_percent()},
    }
    formulas = {
        "claimed_cpu_change_s": "cpu_s - cpu_s of baseline",
        "claimed_cpu_change_percent": "minus share_percent of baseline; mallocgc: relative change",
        "claimed_heap_change_mb": "heap_mb - heap_mb of baseline",
        "claimed_heap_change_percent": RELATIVE,
        "claimed_traffic_change_percent": REPORTS,
    }
    decimals: dict[str, int | list[int]] = {
        "claimed_cpu_change_s": 2,
        "claimed_heap_change_mb": 2,
        "claimed_cpu_change_percent": [2, 2, 0, 0, 1],
        "claimed_heap_change_percent": 1,
        "claimed_traffic_change_percent": 0,
    }
    return [
        check
        for column, formula in formulas.items()
        for check in column_checks(
            frame,
            column,
            frame["component"].map(credited[column]),
            formula,
            keys=["technique", "component"],
            decimals=decimals[column],
        )
    ]


def rtcp_change_percent() -> float:
    """Relative change of the number of control reports, in percent, when their interval grows."""
    profiles = load_reference(STUDY, "profiles")
    before, after = (figure(profiles, "rtcp_interval_s", profile=name) for name in ("baseline", "optimised"))
    return 100 * (before / after - 1)


def _summary(totals: pd.DataFrame) -> list[Check]:
    frame = load_reference(STUDY, "summary")
    change = {
        "cpu": _relative(totals, "cpu_s"),
        "heap": _relative(totals, "heap_mb"),
        "goroutines": _relative(totals, "goroutines"),
    }
    again = frame["quantity"].str.removesuffix("_per_stream").map(change)
    formula = f"{RELATIVE}, from the totals"
    decimals = frame["claimed_decimals"].to_numpy()
    return column_checks(
        frame, "claimed_change_percent", again, formula, keys=["quantity"], decimals=decimals
    )


def _claims(totals: pd.DataFrame) -> list[Check]:
    cpu, heap = load_reference(STUDY, "cpu-by-component"), load_reference(STUDY, "heap-by-component")
    functions = load_reference(STUDY, "cpu-by-function")
    clock = load_reference(STUDY, "profiles").set_index("profile")["measured_at_kst"]
    freed = [figure(cpu, "share_percent", component=name, profile="baseline") for name in ("nack", "mdns")]
    megabytes = _changes(heap, "heap_mb")
    frames = _relative(heap, "heap_mb", "interleaved_frame")
    totals_change = "optimised - baseline, from the totals"
    return claim_checks(
        STUDY,
        {
            "share-freed-by-nack-and-mdns": (sum(freed), "share_percent of nack + of mdns at baseline"),
            "syscall-change": (_relative(cpu, "cpu_s", "syscall"), RELATIVE),
            "rtcp-traffic-change": (rtcp_change_percent(), REPORTS),
            "interleaved-frame-change": (frames, RELATIVE),
            "interleaved-frame-change-rounded": (frames, RELATIVE),
            "mallocgc-change": (_relative(cpu, "cpu_s", "mallocgc"), RELATIVE),
            "nack-heap-change": (
                megabytes["nack_buffer"] + megabytes["nack_auxiliary_buffer"],
                "optimised - baseline of both buffers",
            ),
            "cpu-share-change": (_difference(totals, "cpu_percent"), totals_change),
            "goroutines-change": (_difference(totals, "goroutines"), totals_change),
            "heap-change": (_difference(totals, "heap_mb"), totals_change),
            "cpu-change-rounded": (_relative(totals, "cpu_s"), RELATIVE),
            "heap-change-rounded": (_relative(totals, "heap_mb"), RELATIVE),
            "measurement-gap": (
                _minutes(clock["optimised"], clock["baseline"]),
                "measured_at_kst of baseline - of optimised",
            ),
            "nack-cpu": (
                figure(functions, "cpu_s", function="NACK.resendPackets"),
                "cpu_s of NACK.resendPackets in cpu-by-function",
            ),
        },
    )


def _difference(frame: pd.DataFrame, column: str, **row: str) -> float:
    return figure(frame, column, profile="optimised", **row) - figure(
        frame, column, profile="baseline", **row
    )


def _relative(frame: pd.DataFrame, column: str, component: str | None = None) -> float:
    row = {} if component is None else {"component": component}
    return 100 * _difference(frame, column, **row) / figure(frame, column, profile="baseline", **row)


def _changes(frame: pd.DataFrame, column: str) -> dict[str, float]:
    return {name: _difference(frame, column, component=name) for name in frame["component"].unique()}


def _against_baseline(frame: pd.DataFrame, column: str) -> pd.Series:
    baseline = frame[frame["profile"] == "baseline"].set_index("component")[column]
    return (frame[column] - frame["component"].map(baseline)).where(frame["profile"] == "optimised", np.nan)


def _minutes(start: str, stop: str) -> float:
    return (datetime.strptime(stop, "%H:%M:%S") - datetime.strptime(start, "%H:%M:%S")).total_seconds() / 60
