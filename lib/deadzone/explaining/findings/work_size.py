"""Whether the knob is how much work there is, or how much load: a curve over it has phases, and no setting to choose.

A name with a word for work (`rows`, `input_size`, `offered_rate`) says so, unless a word beside it makes it a setting
(`batch_rows`, `max_connections`). A name that may be either (`size`, `bytes`) is taken for work where the response agrees: a
time that grows in proportion from the first level on, or a rate of arithmetic. Of other names that is only asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deadzone.explaining.findings.experiment import Experiment, numbers, typical, words_of
from deadzone.explaining.findings.finding import Severity, Suspicion
from deadzone.study.levels import is_number

WORK = {
    "rows", "records", "entries", "messages", "items", "files", "iterations", "reps", "repetitions", "matrices", "elements",
    "events", "tuples", "documents", "docs", "keys", "particles", "vertices", "edges", "pixels", "tokens", "supervoxels",
    "requests", "inserts", "lines", "points", "bodies", "atoms", "reads", "sequences", "images", "packets", "orders",
    "triangles", "operations", "ops", "objects", "rounds", "steps", "cells", "genes", "variables", "posts", "products",
    "urls", "words", "characters", "columns", "values", "samples", "transactions", "queries",
}  # fmt: skip
"""Words for things to work on; their singulars count beside `count`, `number` and `size`."""

DATA = {
    "input", "data", "dataset", "file", "problem", "matrix", "payload", "message", "array", "record", "row", "vector",
    "image", "document", "body", "object", "table", "graph", "corpus", "workload", "response", "request", "upload", "download", "transfer",
}  # fmt: skip
"""What has a size, where a word of SIZES stands beside it."""

SIZES = {
    "size", "length", "len", "bytes", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "count", "number", "num", "n", "scale", "m",
}  # fmt: skip

EITHER = {"size", "bytes", "length", "elements", "count", "scale", "kb", "mb", "gb", "kib", "mib", "gib"}
"""Names that are taken for work where the response agrees."""

DIMENSIONS = {"n", "m", "k", "dim", "dimension", "order", "nx", "ny", "width", "height"}
"""Names of the size of a problem where the response is a rate of arithmetic; that is asked, not taken."""

ARITHMETIC = {"flops", "gflops", "mflops", "tflops", "kflops", "pflops"}

RATES = (
    {"rate"}, {"rps"}, {"qps"}, {"tps"}, {"offered", "rate"}, {"arrival", "rate"}, {"request", "rate"}, {"target", "rate"},
    {"load", "rate"}, {"send", "rate"}, {"message", "rate"}, {"event", "rate"}, {"query", "rate"}, {"input", "rate"},
    {"requests", "per", "second"}, {"requests", "per", "s"}, {"messages", "per", "second"}, {"messages", "per", "s"},
    {"requests", "rate"}, {"rate", "per", "s"}, {"rate", "rps"}, {"target", "rps"}, {"target", "qps"}, {"offered", "load"},
    {"offered", "rps"}, {"offered", "qps"}, {"req", "per", "s"}, {"requests", "s"}, {"reqs", "s"}, {"req", "s"},
)  # fmt: skip
"""The words of a name that is a load."""

SETTING = {
    "thread", "threads", "threadcount", "worker", "workers", "process", "processes", "procs", "proc", "jobs", "job", "cores",
    "core", "cpu", "cpus", "gomaxprocs", "clients", "client", "connection", "connections", "conns", "users", "user", "vus",
    "concurrency", "concurrent", "parallel", "parallelism", "pool", "batch", "block", "buffer", "buffers", "chunk", "cache",
    "heap", "page", "queue", "window", "stack", "segment", "level", "limit", "max", "min", "per", "shard", "shards",
    "partition", "partitions", "prefetch", "fetch", "depth", "interval", "timeout", "interleave", "unroll", "quality", "memory",
    "mem", "sockets", "replicas", "nodes", "stride", "tile", "open", "ring", "flight", "inflight", "ahead", "log", "slots",
    "credits", "flush", "commit", "group", "warp", "units", "budget", "ratio", "factor", "priority", "capacity", "keep",
    "retain", "backlog", "pipeline", "pending", "delay", "servers", "lanes", "streams", "hugepages", "swap", "merge", "sample",
    "checkpoint", "wal", "ways", "radix", "leaf", "bucket", "buckets", "slice", "stripe", "reserve", "readahead", "read", "write",
    "frame", "grain", "mtu", "packet", "token", "gogc", "threshold", "xmx",
}  # fmt: skip
"""Words that make a setting of any name they stand in."""

TIMES = {
    "s",
    "ms",
    "us",
    "ns",
    "time",
    "seconds",
    "duration",
    "latency",
    "elapsed",
    "wall",
    "cycles",
    "runtime",
    "min",
    "minutes",
}

PROPORTIONAL = 0.8
"""A response is in proportion to the work from this elasticity on: what starts up takes a share of the first level."""

RATE = {"per", "rate", "throughput", "bandwidth", "ops"}

WORK_ROLE = "work_size"
"""The role of a knob that is the size of the work; the other one is a setting."""


def work_size(seen: Experiment) -> Iterator[Suspicion]:
    """The knob is said to be, named as, or behaves as the size of the work: by its name, its response, and, for a time, an
    elasticity of PROPORTIONAL or more on the first step and over the whole range."""
    how = _how(seen)
    if how:
        severity: Severity | None = "doubts" if how.startswith("asked") else None
        said = {"how": how, "knob": seen.knob, "response": seen.response}
        yield seen.suspicion("work_size", True, levels=(), severity=severity, say=said)


def _how(seen: Experiment) -> str:
    """How it is known that the knob is the size of the work; empty where it is not."""
    if seen.role:
        return "said" if seen.role == WORK_ROLE else ""
    if not all(is_number(level) for level in seen.levels) or len(seen.levels) < 2:
        return ""
    words = [word for word in words_of(seen.knob) if not word.isdigit()]
    named = set(words)
    if named in RATES:
        return "load"
    if named & SETTING:
        return ""
    if named & WORK or (named & DATA and named & SIZES):
        return "named"
    grows, arithmetic = _in_proportion(seen), bool(ARITHMETIC & set(words_of(seen.response)))
    if named & EITHER and (grows or arithmetic or "cycles" in words_of(seen.response)):
        return "grows" if grows else "named"
    if grows:
        return "asked_grows"
    if named <= EITHER and RATE & set(words_of(seen.response)):
        return "asked_name"
    return "asked_arithmetic" if arithmetic and named & DIMENSIONS else ""


def _in_proportion(seen: Experiment) -> bool:
    words = set(words_of(seen.response))
    if seen.goal != "min" or not words & TIMES or "per" in words:
        return False
    value: Any = typical(seen, seen.sound, numbers(seen.sound, seen.response))
    level = np.array(seen.levels, dtype=float)
    use = np.isfinite(value) & (value > 0) & (level > 0)
    if use.sum() < 3:
        return False
    x, y = np.log(level[use]), np.log(value[use])
    first, whole = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[0]) / (x[-1] - x[0])
    return bool(min(first, whole) >= PROPORTIONAL and np.all(np.diff(y) > 0))
