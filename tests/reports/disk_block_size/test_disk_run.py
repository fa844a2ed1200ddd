"""What the report of a disk run decides, and what it admits, on runs whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deadzone.errors import StoreError, TableError
from deadzone.language.catalogue import speaking
from deadzone.reports.disk_block_size import disk_run as disk_block_size
from deadzone.reports.disk_block_size.circumstances import doubts, host_memory, statements
from deadzone.reports.disk_block_size.disk_run import duration, load_run
from deadzone.reports.sweep.source import load_source
from deadzone.store.run import Run
from deadzone.study.loading import parse_study
from reports.made_runs import record

KIB, MIB = 2**10, 2**20

SIZES = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB]

STUDY = """
study: blocks
title: Blocks
question: Which block size?
workload: {{kind: disk, folder: area, trial_bytes: 64MiB, duration_s: 1, {workload}}}
target: {{kind: local, {target}}}
factors: {{block_size: {sizes}, operation: [first_write, overwrite]}}
design: {{replicates: 5, warmup: 0}}
response: {{name: throughput_bytes_s, unit: bytes/s, goal: max}}
"""

FACTS = {
    "recorded_at": "2026-03-05T10:20:30+00:00",
    "host": "measuring-host",
    "disk_device": "vda",
    "disk_kind": "virtual",
    "disk_direct": True,
    "file_system": "ext4",
    "mount_options": "rw,relatime",
    "disk_free_bytes": 10**11,
}


def saturating(size, per_call_s=1e-4, bandwidth=400e6):
    """A call takes a fixed time and its bytes at a fixed rate."""
    return size / (per_call_s + size / bandwidth)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A run of a disk with a known curve; overwriting is 1.5 times as fast as the first write."""

    def make(
        curve=saturating,
        noise=0.01,
        workload="required: 20 MB in 1 s",
        target="",
        facts=None,
        load=load_run,
        **responses,
    ):
        monkeypatch.setenv("DEADZONE_HOME", str(tmp_path))
        (tmp_path / "notebooks" / "studies").mkdir(parents=True, exist_ok=True)
        text = STUDY.format(workload=workload, target=target, sizes=SIZES)
        run = Run.create(tmp_path / "data" / "runs", parse_study(text, "study.yaml"))
        rng, number = np.random.default_rng(7), 0
        for block in range(1, 6):
            for size in SIZES:
                for operation, times in (("first_write", 1.0), ("overwrite", 1.5)):
                    number += 1
                    rate = times * curve(size) * math.exp(noise * rng.standard_normal())
                    values = {
                        "throughput_bytes_s": rate,
                        "iops": rate / size,
                        "direct_io": 1,
                        "cached_share": 0,
                    }
                    values |= {"bytes_written": 64 * MIB, "bytes_read": 0, "measured_s": 64 * MIB / rate}
                    values |= {"calls": 64 * MIB / size, "latency_p50_ms": 1000 * size / rate, **responses}
                    levels = {"block_size": size, "operation": operation}
                    values = {name: value for name, value in values.items() if value == value}
                    run.append(record(number, None, 1.0, block, levels=levels, responses=values))
        run.write_provenance({**FACTS, **(facts or {})})
        run.write_tables()
        return load(str(run.folder))

    return make


def words(blocks):
    return "\n".join(repr(block) for block in blocks)


def test_the_smallest_block_near_the_best_and_the_smallest_that_sustains_the_rate_are_found(made):
    run = made()
    first, again = run.curves
    truth = {size: saturating(size) for size in SIZES}
    near = next(size for size in SIZES if truth[size] >= 0.95 * max(truth.values()))
    decided = first.near_best(0.05)
    assert decided.level == near == MIB and decided.confidence > 0.95
    enough = run.curves[0].sustains(run.required)
    assert enough.level == 4 * KIB
    assert again.rate(MIB)[0] == pytest.approx(1.5 * saturating(MIB) / 1e6, rel=0.02)


def test_a_rate_that_only_larger_blocks_sustain_names_the_smallest_of_them(made):
    run = made(workload="required: 300 MB in 1 s")
    assert [curve.sustains(run.required).level for curve in run.curves] == [256 * KIB, 64 * KIB]
    said = words(run.title())
    assert "300 MB in 1 s is sustained from 256 KiB on (confidence over 99.9 %)" in said


def test_a_rate_that_nothing_sustains_is_said(made):
    run = made(workload="required: 1 GB in 1 s")
    assert run.curves[0].sustains(run.required).level is None
    assert "No setting is shown to sustain 1 GB in 1 s; 4 MiB comes nearest" in words(run.title())
    rules = run.guideline()[1].rows
    assert [row[1] for row in rows_of(rules, "First write")] == [
        "as little memory as possible",
        "nearly all the disk gives",
    ]


def rows_of(rows, name):
    return [row for row in rows if row[0] == name]


def test_noise_that_hides_the_best_is_admitted(made):
    run = made(curve=lambda size: 100e6, noise=0.3)
    decided = run.curves[0].near_best(0.05)
    assert decided.level is None and decided.confidence < 0.95
    assert "no setting is shown to be within 5 % of the best" in words(run.title())


def test_a_too_small_block_has_a_price_in_time(made):
    run = made(noise=0.0005)
    figure = next(block for block in run.conclusions() if getattr(block, "id", "") == "chunk")
    slow, fast = (20e6 / saturating(size) for size in (SIZES[0], SIZES[-1]))
    assert f"First write: 20 MB take {duration(slow)} in blocks of 4 KiB" in figure.caption
    rule = rows_of(run.guideline()[1].rows, "First write")[0]
    assert f"{slow / (20e6 / saturating(MIB)):.1f} times as long" in rule[-1]
    assert fast < slow


def test_first_writes_and_overwrites_are_set_apart(made):
    assert "Overwriting blocks that hold data is 1.5 to 1.5 times as fast" in words(made().limits())


def test_limits_that_were_in_force_are_checked_where_they_give_way(made):
    limited = "io_bandwidth_limit: 100000000, iops_limit: 400"
    run = made(curve=lambda size: min(100e6, 400 * size), target=limited)
    said = words(run.shape())
    assert "give way to each other at 250,000; the plateau begins at 256 KiB, within one level" in said
    run = made(curve=lambda size: min(4e6, 400 * size), target=limited)
    assert "something else limits the throughput" in words(run.shape())
    run = made(curve=lambda size: size / 4096 * 1e6, target=limited)
    assert "the curve shows no plateau" in words(run.shape())


@pytest.mark.parametrize(
    ("facts", "responses", "said"),
    [
        ({}, {}, "The disk (vda) is a virtual one: behind it lies"),
        ({}, {"throughput_bytes_s": 4.6e9}, "figures of its host's memory: 4.6 GB/s were reached"),
        ({"disk_kind": "memory", "disk_in_memory": "tmpfs"}, {}, "The folder lies in memory (tmpfs)"),
        ({"disk_direct": False}, {}, "does not permit O_DIRECT, so everything went through the page cache"),
        ({}, {"cached_share": 0.5}, "In 60 of 60 trials the page cache still held part of the files"),
        ({}, {"direct_io": 0, "bytes_read": 1}, "60 trials read through the page cache"),
        ({"disk_kind": "shared", "file_system": "nfs4"}, {}, "(nfs4) is served by another machine"),
    ],
)
def test_what_the_figures_are_not_stands_before_any_of_them(facts, responses, said, made):
    source = made(facts=facts, load=load_source, **responses)
    assert said in words(doubts(source, ()))


def test_a_disk_of_its_own_raises_no_doubt(made):
    assert doubts(made(facts={"disk_kind": "ssd"}, load=load_source), ()) == ()


def test_fast_small_direct_reads_are_memory(made):
    source = made(load=load_source, bytes_written=0, bytes_read=64 * MIB, latency_p50_ms=0.012)
    assert "half of the small direct reads took 12 µs or less" in host_memory(source.analysed)


@pytest.mark.parametrize(
    ("workload", "responses", "said"),
    [
        ("data: zeros", {}, "Zeros were written"),
        ("data: random", {}, "filled beforehand with random data"),
        ("fsync: none", {}, "Nothing was flushed"),
        ("fsync: each", {}, "Each write was flushed"),
        ("fsync: end", {}, "flushed once at its end"),
        ("fsync: none", {"measured_s": 0.1}, "60 of 60 trials that write ended after 64 MiB each, in 100 ms"),
        ("fsync: none", {}, "All 60 trials were too short to tell"),
        ("fsync: none", {"steady": 0.9, "warmup_s": 0.3}, "In 60 of the 60 trials long enough to tell"),
    ],
)
def test_each_trap_has_its_sentence(workload, responses, said, made):
    source = made(workload=workload, load=load_source, **responses)
    assert said in words(statements(source, ()))


def test_a_run_that_no_curve_fits_still_has_a_report(made):
    run = made(curve=lambda size: float("nan"))
    assert run.fitted == []
    for section in ("title", "response", "shape", "conclusions", "guideline", "limits", "details", "origin"):
        getattr(run, section)()


def test_the_report_speaks_korean(made):
    with speaking("ko"):
        run = made()
        said = words([*run.title(), *run.conclusions(), *run.guideline(), *run.limits()])
    assert "처리량이 최고의 5% 이내인 가장 작은 설정은 1 MiB이다" in said
    assert "가상 디스크" in said


def test_runs_of_other_workloads_and_unknown_runs_are_refused(made, tmp_path):
    made()
    study = parse_study(
        "study: other\nworkload: {kind: command, argv: ['true']}\nfactors: {cpu_limit: [1]}", "other"
    )
    run = Run.create(tmp_path / "data" / "runs", study)
    run.append(record(1, 1, 1.0, 1))
    with pytest.raises(
        TableError, match="is of the workload command; this notebook reports runs of the workload disk"
    ):
        disk_block_size.load(str(run.folder))
    with pytest.raises(StoreError, match="no run"):
        disk_block_size.load("blocks/20260101T000000Z-0000")


def test_a_run_can_be_named_by_study_and_latest(made):
    run = made()
    assert disk_block_size.load("blocks/latest").source.run_id == run.source.run_id


@pytest.mark.parametrize(("seconds", "text"), [(11.8, "11.8 s"), (0.0554, "55.4 ms"), (3e-4, "300 µs")])
def test_times_are_said_in_the_unit_that_fits(seconds, text):
    assert duration(seconds) == text
