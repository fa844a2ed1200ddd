"""What the figures of a disk run are figures of: the device, the page cache, the host's memory, the warm-up, the limits."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from deadzone.explaining.marks import numbers
from deadzone.explaining.phases.quantities import level_number, number
from deadzone.language.catalogue import Message, say
from deadzone.reports.disk_block_size.curves import Curve, Fitted
from deadzone.reports.sweep.source import Source
from deadzone.study.disk_specs import DiskWorkload
from deadzone.study.levels import NONE
from deadzone.study.sizes import size_text

FLASH_READ_MS = 0.03
"""Reading a page of flash takes some 50 µs at the least (3D NAND data sheets); a median of small direct reads below
this comes from a memory."""

ONE_LINK_BYTES_S = 3.5e9
"""A PCIe 3.0 x4 link carries this much; a virtual disk above it is served from the host's memory, unless the host has
faster devices."""

SMALL_BLOCK = 65536
"""Blocks up to this are judged by the latency of flash; larger ones take long to transfer anyway [bytes]."""

CACHED = 0.05
"""A file of which the page cache holds more than this when a trial begins is read partly from memory [share]."""

FULL_TIME = 0.95
"""A trial that moved data for less than this share of its time was ended by its bound on bytes."""


def doubts(source: Source, curves: Sequence[Curve]) -> tuple[Message, ...]:
    """What a reader must know before any figure."""
    facts, trials = source.provenance, source.analysed
    found: list[Message] = []
    if facts.get("disk_in_memory"):
        found.append(say("disk_run.doubt_memory", kind=str(facts["disk_in_memory"])))
    if facts.get("disk_direct") is False:
        found.append(say("disk_run.doubt_no_direct", kind=str(facts.get("file_system", "?"))))
    # Reads that the page cache may have answered.
    through = (numbers(trials, "direct_io") == 0) & (numbers(trials, "bytes_read") > 0)
    if held := int((numbers(trials, "cached_share") > CACHED).sum()):
        found.append(say("disk_run.doubt_cached", n=held, all=len(trials)))
    elif through.any():
        found.append(say("disk_run.doubt_through", n=int(through.sum())))
    if facts.get("disk_kind") == "virtual":
        evidence = host_memory(trials)
        key = "disk_run.doubt_host_memory" if evidence else "disk_run.doubt_virtual"
        found.append(say(key, device=str(facts.get("disk_device", "?")), evidence=evidence))
    if facts.get("disk_kind") == "shared":
        found.append(say("disk_run.doubt_shared", kind=str(facts.get("file_system", "?"))))
    if problem := next((curve.problem for curve in curves if curve.problem), ""):
        found.append(say("disk_run.doubt_no_fit", problem=problem))
    return tuple(found)


def host_memory(trials: pd.DataFrame) -> Message | None:
    """The evidence that a virtual disk answers from its host's memory; None where there is none."""
    direct = trials[numbers(trials, "direct_io") == 1]
    rate = numbers(direct, "throughput_bytes_s")
    if rate.max() > ONE_LINK_BYTES_S:
        most = f"{ONE_LINK_BYTES_S / 1e9:.1f}"
        return say("disk_run.evidence_rate", rate=f"{rate.max() / 1e9:.1f}", most=most)
    reads = direct[(numbers(direct, "bytes_written") == 0) & (_block_sizes(direct) <= SMALL_BLOCK)]
    median = numbers(reads, "latency_p50_ms").median()
    if median < FLASH_READ_MS:
        least = f"{1000 * FLASH_READ_MS:.0f}"
        return say("disk_run.evidence_latency", latency=f"{1000 * median:.0f}", least=least)
    return None


def _block_sizes(trials: pd.DataFrame) -> pd.Series:
    if "block_size" in trials:
        return pd.to_numeric(trials["block_size"])
    moved = numbers(trials, "bytes_read") + numbers(trials, "bytes_written")
    return moved / numbers(trials, "calls")


def statements(source: Source, curves: Sequence[Curve]) -> list[Message]:
    """The traps of disk measurements, and what was done about each in this run."""
    facts, trials = source.provenance, source.analysed
    workload = source.study.workload if source.study else None
    assert isinstance(workload, DiskWorkload)
    said = [
        say(
            "disk_run.where",
            device=str(facts.get("disk_device") or "-"),
            kind=say(f"disk_run.kind_{facts.get('disk_kind', 'unknown')}"),
            file_system=str(facts.get("file_system", "-")),
            options=str(facts.get("mount_options", "-")).replace(",", ", "),
            scheduler=str(facts.get("disk_scheduler") or "-"),
            free=size_text(round(float(facts.get("disk_free_bytes") or 0))),
        ),
        say("disk_run.data_random" if workload.data == "random" else "disk_run.data_zeros"),
    ]
    if (numbers(trials, "direct_io") == 1).any():
        said.append(say("disk_run.cache_bypassed"))
    told = (
        _first_writes(curves),
        _steady(trials),
        _ended_early(trials, workload),
        _flushed(trials, workload),
    )
    said.extend(message for message in told if message)
    if facts.get("io_limits_mechanism"):
        said.append(say("disk_run.limited", mechanism=str(facts["io_limits_mechanism"])))
    return said


def _first_writes(curves: Sequence[Curve]) -> Message | None:
    """How much faster blocks that hold data are overwritten than fresh ones are written."""
    fitted = (curve for curve in curves if isinstance(curve, Fitted))
    by_operation = {str(curve.levels.get("operation")): curve for curve in fitted}
    first, again = by_operation.get("first_write"), by_operation.get("overwrite")
    if not first or not again:
        return None
    levels = [level for level in first.knob_levels if level in set(again.knob_levels)]
    ratios = [again.rate(level)[0] / first.rate(level)[0] for level in levels]
    at = first.text(levels[int(np.argmax(ratios))])
    return say("disk_run.first_write", low=f"{min(ratios):.1f}", high=f"{max(ratios):.1f}", at=at)


def _steady(trials: pd.DataFrame) -> Message | None:
    """Whether the trials reached a steady state."""
    known = numbers(trials, "steady").dropna()
    if known.empty:
        return say("disk_run.steady_unknown", n=len(trials))
    warm = int((numbers(trials, "warmup_s") > 0).sum())
    reached = int((known >= 0.5).sum())
    return say("disk_run.steady", known=len(known), all=len(trials), reached=reached, warm=warm)


def _ended_early(trials: pd.DataFrame, workload: DiskWorkload) -> Message | None:
    """Trials that their bound on bytes ended before their time."""
    written = trials[numbers(trials, "bytes_written") > 0]
    took = numbers(written, "measured_s")
    early = written[took < FULL_TIME * workload.duration_s]
    if early.empty:
        return None
    median = f"{1000 * float(numbers(early, 'measured_s').median()):,.0f}"
    sizes = {"bytes": size_text(workload.trial_bytes or 0), "bound": size_text(workload.max_written_bytes)}
    return say("disk_run.ended_early", n=len(early), all=len(written), median=median, **sizes)


def _flushed(trials: pd.DataFrame, workload: DiskWorkload) -> Message | None:
    if not (numbers(trials, "bytes_written") > 0).any():
        return None
    if "fsync" in trials:
        return say("disk_run.flush_factor")
    return say(f"disk_run.flush_{workload.fsync}")


def limits_check(source: Source, curve: Fitted) -> Message | None:
    """Whether the curve bends where the limit of calls gives way to that of bytes: at bandwidth / calls."""
    study = source.study
    if study is None or source.knob != "block_size":
        return None
    limits = ("io_bandwidth_limit", "iops_limit")
    bandwidth, calls = (curve.levels.get(name, getattr(study.target, name, NONE)) for name in limits)
    if NONE in (bandwidth, calls):
        return None
    expected = float(bandwidth) / float(calls)
    sizes = curve.knob_levels
    if not sizes[0] < expected < sizes[-1]:
        return None
    words = {"expected": level_number(expected, "block_size") if expected % 1024 == 0 else number(expected)}
    last = curve.model.phases.iloc[-1]
    if last["label"] != "plateau":
        return say("disk_run.bend_none", **words)
    at = float(last["start"])
    is_near = abs(np.searchsorted(sizes, at) - np.searchsorted(sizes, expected)) <= 1
    return say("disk_run.bend_agrees" if is_near else "disk_run.bend_elsewhere", at=curve.text(at), **words)
