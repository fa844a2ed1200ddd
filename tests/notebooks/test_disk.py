import math
import re

import numpy as np
import pytest
from report.made_runs import record

from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study
from notebooks.executed import Executed

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
    "recorded_at": "2026-03-05T10:20:30+00:00", "host": "measuring-host", "disk_device": "vda",
    "disk_kind": "virtual", "disk_direct": True, "file_system": "ext4",
    "mount_options": "rw,relatime", "disk_free_bytes": 10**11,
}  # fmt: skip


def saturating(size, per_call_s=1e-4, bandwidth=400e6):
    """A call takes a fixed time and its bytes at a fixed rate."""
    return size / (per_call_s + size / bandwidth)


def made(folder, curve=saturating, noise=0.01, workload="required: 20 MB in 1 s", target=""):
    """A run of a disk with a known curve; overwriting is 1.5 times as fast as the first write."""
    text = STUDY.format(workload=workload, target=target, sizes=SIZES)
    run = RunFolder.create(folder, parse_study(text, "study.yaml"))
    rng, number = np.random.default_rng(7), 0
    for block in range(1, 6):
        for size in SIZES:
            for operation, times in (("first_write", 1.0), ("overwrite", 1.5)):
                number += 1
                rate = times * curve(size) * math.exp(noise * rng.standard_normal())
                values = {
                    "throughput_bytes_s": rate, "iops": rate / size, "calls": 64 * MIB / size,
                    "bytes_written": 64 * MIB, "bytes_read": 0, "measured_s": 64 * MIB / rate,
                    "direct_io": 1, "cached_share": 0, "latency_p50_ms": 1000 * size / rate,
                }  # fmt: skip
                levels = {"block_size": size, "operation": operation}
                run.append(record(number, None, 1.0, block, levels=levels, responses=values))
    run.write_provenance(FACTS)
    run.write_tables()
    return run.folder


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("runs"), workload="required: 300 MB in 1 s")
    with Executed("disk", source=str(folder)) as executed:
        yield executed


SAID = (
    "First write: 1 MiB is the smallest within 5 % of the best, 256 KiB sustains 300 MB/s",
    "Overwrite: 1 MiB is the smallest within 5 % of the best, 64 KiB sustains 300 MB/s",
    "The disk (vda) is virtual: behind it lies",
)


def test_the_smallest_block_near_the_best_and_the_smallest_that_sustains_the_rate_are_found(opened):
    assert not [words for words in SAID if words not in opened.verdict]
    assert "Overwriting is 1.5 to 1.5 times as fast" in opened.sentences
    slow, best = (20e6 / saturating(size) for size in (SIZES[0], SIZES[-1]))
    pattern = r"First write: 20 MB take ([\d.]+) s .* blocks, ([\d.]+) times as long"
    told = re.search(pattern, opened.sentences).groups()
    assert [float(one) for one in told] == pytest.approx([slow, slow / best], rel=0.03)


def doubts(opened, facts, **columns):
    """What the notebook doubts of a run with other circumstances, or other columns."""
    changed = (
        f"measured = globals().get('measured', trials); trials = measured.assign(**{columns!r}); "
        f"facts = {facts!r}"
    )
    opened.again("size = trials", changed)
    opened.again("traps = {", "")
    opened.again("doubts = [", "")
    return opened.value("doubts")


SSD = {"disk_kind": "ssd", "disk_device": "vda", "file_system": "ext4"}


@pytest.mark.parametrize(
    ("facts", "columns", "said"),
    [({}, {"throughput_mb_s": 4600}, "4.6 GB/s is more than the link of a fast disk carries"),
     ({"disk_in_memory": "tmpfs"}, {}, "The folder lies in memory (tmpfs)"),
     ({"disk_direct": False}, {}, "does not permit O_DIRECT"),
     ({}, {"cached_share": 0.5}, "In 60 of 60 trials the page cache still held part of the file"),
     ({}, {"direct_io": 0, "bytes_read": 1}, "60 trials read through the page cache"),
     ({"disk_kind": "shared", "file_system": "nfs4"}, {},
      "The files lie on another machine (nfs4)"),
     ({}, {"bytes_written": 0, "latency_p50_ms": 0.012},
      "Half of the small direct reads took 12 µs or less")],
)  # fmt: skip
def test_what_the_figures_are_not_stands_beside_the_verdict(opened, facts, columns, said):
    assert said in " ".join(doubts(opened, {**SSD, **facts}, **columns))


def test_a_disk_of_its_own_raises_no_doubt(opened):
    assert doubts(opened, SSD) == []


def test_a_rate_that_nothing_sustains_and_noise_that_hides_the_best_are_said(tmp_path):
    folder = made(tmp_path, curve=lambda size: 100e6, noise=0.3, workload="required: 1 GB in 1 s")
    with Executed("disk", source=str(folder)) as executed:
        assert "none is shown to sustain 1000 MB/s" in executed.verdict


def test_limits_that_were_in_force_are_checked_where_they_give_way(tmp_path):
    limited = "io_bandwidth_limit: 100000000, iops_limit: 400"
    folder = made(tmp_path, curve=lambda size: min(100e6, 400 * size), target=limited)
    with Executed("disk", source=str(folder)) as executed:
        assert "give way to each other at 250,000" in executed.sentences
        assert executed.value("sorted(set(flat.values()))") == [256 * KIB]


def test_it_opens_on_a_run_that_fills_it():
    with Executed("disk") as executed:
        assert executed.value("sorted(models)") == ["first_write", "overwrite", "read"]
        assert "Overwriting is" in executed.sentences
        assert "The disk (vda) is virtual" in executed.verdict
