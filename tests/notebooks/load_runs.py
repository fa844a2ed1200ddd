"""Runs of load tests on disk that nobody has to measure, with a truth that is known."""

from pathlib import Path
from typing import Any

import numpy as np
from report import made_runs
from report.made_runs import PROVENANCE

from deadzone.measurement import HistogramSlice
from deadzone.store.histograms import encoded
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study

STUDY = """
study: made-pools
title: Thread pools of a made-up server
question: How many threads should the pool of this server have?
workload: {{kind: load, url: "http://127.0.0.1:9/{{pool_size}}", warmup_s: 2, duration_s: 10{more}}}
factors: {factors}
design: {{replicates: 4, warmup: 0, timeout_s: 60}}
knob: {knob}
response: {{name: {response}, unit: ms, goal: min}}
{objectives}
"""

OBJECTIVES = """
objectives:
  latency_mean_ms: {at_most: 40}
  latency_p99_ms: {at_most: 100}
  error_share: {at_most: 0.01}
  rate: {at_least: 300}
"""

POOLS, RATES = (2, 4, 8, 16, 32, 64), (160, 320, 480)

TYPICAL_MS = {
    160: (60.0, 16.0, 9.0, 9.0, 9.2, 10.0),
    320: (900.0, 150.0, 21.0, 14.0, 14.5, 30.0),
    480: (2500.0, 900.0, 300.0, 60.0, 55.0, 160.0),
}
"""Median latency by rate and pool: 4 is enough at 160 a second, 8 at 320, none at 480; 64 hurts."""


def record(
    trial: int, levels: dict[str, Any], responses: dict[str, float], block: int = 1
) -> dict[str, Any]:
    return made_runs.record(trial, None, 12.0, block, levels=levels, responses=responses)


def pool_run(
    folder: Path,
    *,
    replicates: int = 4,
    objectives: str = OBJECTIVES,
    cold: float = 1.0,
    per_second: int = 60,
) -> RunFolder:
    """A run over pools and rates. cold: how many times slower a trial's first 4 seconds are."""
    factors = f"{{pool_size: {[*POOLS]}, rate: {[*RATES]}}}"
    text = STUDY.format(
        more="", factors=factors, knob="pool_size", response="latency_p99_ms", objectives=objectives
    )
    run = RunFolder.create(folder, parse_study(text, "study.yaml"), "run-1")
    rng = np.random.default_rng(5)
    number = 0
    for block in range(1, replicates + 1):
        for rate in RATES:
            for pool, typical in zip(POOLS, TYPICAL_MS[rate], strict=True):
                number += 1
                level = typical * float(np.exp(0.05 * rng.standard_normal()))
                run.append(*_trial(rng, number, pool, rate, level, (cold, per_second, block)))
    run.write_provenance(PROVENANCE)
    return run


def _trial(
    rng: np.random.Generator,
    number: int,
    pool: int,
    rate: int,
    level: float,
    how: tuple[float, int, int],
) -> tuple[dict[str, Any], tuple[()], list[HistogramSlice]]:
    cold, per_second, block = how
    slices, kept = [], []
    for t in range(-2, 10):
        values = level * (cold if t < 2 else 1.0) * np.exp(0.4 * rng.standard_normal(per_second))
        slices.append(
            HistogramSlice("latency_us", float(t), 1.0, per_second, encoded(1e3 * values))
        )
        kept += [*values] if t >= 0 else []
    responses = {
        "offered_rate": float(rate), "achieved_rate": rate * (0.7 if level > 800 else 0.999),
        "requests": 10.0 * rate, "errors": 0.0, "latency_mean_ms": float(np.mean(kept)),
        "latency_p99_ms": float(np.quantile(kept, 0.99)), "latency_max_ms": float(max(kept)),
    }  # fmt: skip
    return record(number, {"pool_size": pool, "rate": rate}, responses, block=block), (), slices


def _of_connections(folder: Path, mode: str, factors: str, response: str, name: str) -> RunFolder:
    text = STUDY.replace("/{{pool_size}}", "/").format(
        more=f", mode: {mode}", factors=factors, knob="connection_rate", response=response,
        objectives="",
    )  # fmt: skip
    return RunFolder.create(folder, parse_study(text, "study.yaml"), name)


def spike_run(folder: Path) -> RunFolder:
    """A spike test whose knee is at 200 connections a second and which fails from 400 on."""
    factors = "{connection_rate: [50, 100, 200, 300, 400]}"
    run = _of_connections(folder, "spike", factors, "connect_p99_ms", "run-2")
    rng = np.random.default_rng(6)
    for number in range(1, 21):
        rate = (50, 100, 200, 300, 400)[(number - 1) % 5]
        took = 12 * max(rate / 200, 1.0) ** 4 * float(np.exp(0.05 * rng.standard_normal()))
        failed = 3.0 if rate >= 400 else 0.0
        responses = {"connect_p50_ms": took / 2, "connect_p99_ms": took, "connect_max_ms": 2 * took,
                     "connect_failed_percent": failed, "service_threads": 20.0 + rate / 4,
                     "server_died": 0.0, "connections_held": 2.0 * rate}  # fmt: skip
        run.append(record(number, {"connection_rate": rate}, responses))
    run.write_provenance(PROVENANCE)
    return run


def ramp_run(folder: Path) -> RunFolder:
    """Ramps of held connections that the kernel ended for memory at about 4,800."""
    factors = "{connection_rate: [10, 20]}"
    run = _of_connections(folder, "ramp", factors, "connections_held", "run-3")
    for number, held in enumerate((4812.0, 4790.0, 4805.0), start=1):
        responses = {"connections_held": held, "connect_p99_ms": 3.0, "server_died": 1.0,
                     "service_oom_kills": 1.0, "service_memory_peak_bytes": 512 * 2**20,
                     "service_threads": 12.0}  # fmt: skip
        run.append(record(number, {"connection_rate": 10}, responses))
    run.write_provenance(PROVENANCE)
    return run
