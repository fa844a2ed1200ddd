"""Runs with profiles recorded of a small Go server, as a sweep would have written them."""

from pathlib import Path

from report.made_runs import record

from deadzone.measurement import ProfileFile
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study

RECORDED = Path(__file__).resolve().parents[1] / "data" / "profiles"

STUDY = """
study: relay
title: A media server before and after
question: What do two optimisations save?
workload: {kind: command, argv: [server, "{build}", "{streams}"], responses: {latency_p99_ms: {regex: x}, packets: {regex: x}}}
design:
  kind: list
  treatments: [{build: before, streams: 64}, {build: after, streams: 64}]
  replicates: 3
profiles:
  profiler: pprof
  url: http://127.0.0.1:1
  kinds: [cpu, heap, goroutine]
  duration_s: 10
  change: {factor: build, before: before, after: after}
  load: {column: streams, unit: stream}
claims:
  - {name: latency, not_worse: {response: latency_p99_ms, by_at_most: 0.1}, from: before, to: after}
  - {name: frames, not_worse: {response: frames_lost, by_at_most: 1, absolute: true}, from: before, to: after}
"""  # noqa: E501

PARAMETERS = {
    "causes": {"NACK": "nack", "mDNS": "mdns", "system calls": "syscall6"},
    "alone": ["without-nack", "without-mdns"],
    "project_to": 100.0,
}
"""Of the notebook, for this study."""

TRIALS = [
    ("before", 64, ("before-1", "before-2", "before-3")),
    ("after", 64, ("after-1", "after-2", "after-3")), ("without-nack", 64, ("without-nack",)),
    ("without-mdns", 64, ("without-mdns",)), ("after", 16, ("16-streams",)),
    ("after", 32, ("32-streams",)), ("after", 48, ("48-streams",)),
]  # fmt: skip


def profiled_run(runs: Path, study: str = STUDY, trials: list = TRIALS) -> RunFolder:
    run = RunFolder.create(runs, parse_study(study, "relay.yaml"), "20261122T010000Z-abcd")
    number = 0
    for build, streams, labels in trials:
        for block, label in enumerate(labels, start=1):
            number += 1
            files = [
                ProfileFile(kind, "pb.gz", path.read_bytes())
                for kind in ("cpu", "heap", "goroutine")
                if (path := RECORDED / f"{kind}-{label}.pb.gz").exists()
            ]
            told = {"latency_p99_ms": 10.0 + 0.01 * number, "packets": 1000.0 + number}
            levels = {"build": build, "streams": streams}
            line = record(number, None, 12.0, block, levels=levels, responses=told)
            run.append(line, profiles=files)
    facts = {"host": "a-machine", "recorded_at": "2026-11-22T01:00:00+00:00", "kernel": "6.1"}
    run.write_provenance(facts)
    run.write_tables()
    return run
