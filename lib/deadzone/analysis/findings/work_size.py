"""Whether the knob is how much work there is, or how much load: a curve over it has phases, and no
setting to choose.

A name with a word for work (`rows`, `input_size`, `offered_rate`) says so, unless a word beside it
makes it a setting (`batch_rows`, `max_connections`); where the time grows in proportion even that
is asked. A name that may be either (`size`, `bytes`) is taken for work where the response agrees: a
time that grows in proportion from the first level on, or a rate of arithmetic. Of other names that
is only asked.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deadzone.analysis.finding import Finding, finding
from deadzone.analysis.findings.experiment import Experiment, numbers, typical
from deadzone.study.direction import AMOUNTS_OF_BYTES, PERCENTILE, SECOND, THINGS, words_of
from deadzone.study.levels import is_number
from deadzone.study.scales import level_name, scale_of

DATA = {
    "input", "data", "dataset", "file", "problem", "matrix", "payload", "message", "array",
    "record", "row", "vector", "image", "document", "body", "object", "table", "graph", "corpus",
    "workload", "response", "request", "upload", "download", "transfer", "operation", "word",
    "string", "json", "csv", "xml", "html", "text", "haystack", "genome", "key", "value", "msg",
    "doc", "blob", "archive", "dump", "seq", "sequence", "prompt", "context", "video", "clip",
    "field",
}  # fmt: skip
"""What has a size, where a word of SIZES stands beside it."""

AMOUNTS = AMOUNTS_OF_BYTES | {"size", "length", "count", "number", "num", "scale"}
SIZES = AMOUNTS | {"len", "tb", "n", "m"}

EITHER = AMOUNTS | {"elements", "nr", "total"}
"""Names that are taken for work where the response agrees; with a noun that is not known that is
asked, for it may be a buffer."""

ARITHMETIC = {"flops", "gflops", "mflops", "tflops", "kflops", "pflops", "cycles"}

LATENCIES = {"latency", "lat", "ttft", "tpot", "itl", "rtt", "latenz", "지연", "지연시간"}
OF_REQUESTS = {"mean", "avg", "average", "median"}
"""Words of a time that is one of requests."""

LONGER = 1.5

LOADS = {"rps", "qps", "tps"}
"""Words that are a load by themselves."""

A_TIME = SECOND | {"minute", "min"}
"""What a load is per: `orders_per_second`, `requests_s`."""

NO_LOAD = {
    "max", "limit", "threshold", "budget", "quota", "burst", "throttle", "learning", "sample",
    "sampling", "bit", "frame", "refresh", "dropout", "drop", "error", "hit", "miss", "clock",
    "baud", "mutation", "decay", "growth", "compression", "fill", "poll", "scrape", "failure",
    "loss",
}  # fmt: skip
"""Words that make a setting, or a share, of a rate."""

PARALLEL = {
    "thread", "threads", "threadcount", "workers", "processes", "cores", "cpus", "gomaxprocs",
    "jobs", "procs",
}  # fmt: skip

CALLERS = {
    "clients", "client", "connections", "conns", "users", "vus", "concurrency", "并发数", "并发",
    "동시",
}  # fmt: skip

AT_ONCE = CALLERS | {
    "concurrent", "n", "number", "queue", "depth", "iodepth", "qd", "batch", "size", "thread",
    "threads",
}  # fmt: skip
"""Words of a knob of which each more asks for more at once."""

OF_EACH = PARALLEL | CALLERS | {"thread", "worker", "parallelism", "parallel", "limit"}
"""Words for what may bring its own work, each of them."""

SETTING = OF_EACH | {
    "process", "proc", "job", "core", "cpu", "connection", "user", "concurrent", "pool", "batch",
    "block", "buffer", "buffers", "chunk", "cache", "heap", "page", "queue", "window", "stack",
    "segment", "level", "max", "min", "per", "shard", "shards", "partition", "partitions",
    "prefetch", "fetch", "depth", "interval", "timeout", "interleave", "unroll", "quality",
    "memory", "mem", "sockets", "replicas", "nodes", "stride", "tile", "open", "ring", "flight",
    "inflight", "ahead", "log", "slots", "credits", "flush", "commit", "group", "warp", "units",
    "budget", "ratio", "factor", "priority", "capacity", "keep", "retain", "backlog", "pipeline",
    "pending", "delay", "servers", "lanes", "streams", "hugepages", "swap", "merge", "sample",
    "checkpoint", "tmp", "temp", "base", "trigger", "compaction", "keepalive", "accumulation",
    "wal", "ways", "radix", "leaf", "bucket", "buckets", "slice", "stripe", "reserve", "readahead",
    "read", "write", "frame", "grain", "mtu", "packet", "token", "gogc", "threshold", "xmx",
}  # fmt: skip
"""Words that make a setting of any name they stand in."""

PROPORTIONAL = 0.8
"""A response is in proportion to the work from this elasticity on: what starts up takes a share of
the first level."""

REPEATS = 0.02
"""A rate that is as much as the knob, to this share, is what was asked for."""

GIVEN = {
    "machine", "host", "hostname", "processor", "test", "tests", "testcase", "benchmark", "bench",
    "suite", "workload", "dataset", "scene",
}  # fmt: skip
"""Words of a further factor that is given, and no setting."""

GIVEN_BY = {"named", "grows", "load", "repeated"}
"""What a knob would be told by, that says of a further factor that it is given."""


@finding(
    "notes",
    seen={
        "said": "{knob} is the size of the work, as you stated: no level of it is recommended.",
        "named": "{knob} says how much work there is, by its name: no level of it is recommended.",
        "load": "{knob} is a load, by its name: no level of it is recommended.",
        "grows": "{knob} says how much work there is: {response} grows in proportion to it from "
        "the first level on, and no level of it is recommended.",
        "repeated": "{knob} is a requested load: {response} equals it up to {repeated}, and is "
        "less from {first} on. The capacity is about {capacity:number}, and no level is "
        "recommended.",
        "by": "{column} is work, a load, a machine or a test: each of its values has its own "
        "setting.",
        "asked_grows": "{response} grows in proportion to {knob}, as it does where {knob} is the "
        "size of the work, or each of {knob} brings its own.",
        "asked_calls": "As {knob} grows, more is asked for at once, so {response} is least at the "
        "lowest level: that is no setting. Fit what is done per second.",
        "asked_name": "{knob} may be the size of the work, or of a part of it that is a setting.",
    },
    mend={
        "": "`--role`, in Python `role=`, says which it is: setting, or work_size (in a study, "
        "role: of the factor).",
        "by": "If each of its values is a choice, say `--role setting`, in Python "
        "`role='setting'`.",
        "asked_calls": "If {knob} is a setting of the server, say `--role setting`, in Python "
        "`role='setting'`.",
    },
)
def work_size(seen: Experiment) -> Iterator[Finding]:
    """The knob is the size of the work, as the study says, or by its name or its response. Of a
    time, its elasticity is PROPORTIONAL or more on the first step and over the whole range."""
    how = _how(seen)
    given = [name for name in seen.by if not how and not seen.role and _is_given(seen, name)]
    if how or given:
        figures = _capacity(seen) if how == "repeated" else {"column": "".join(given[:1])}
        yield seen.found(
            "work_size", True, levels=(), severity="doubts" if how.startswith("asked") else None,
            how=how or "by", **figures,
        )  # fmt: skip


def _is_given(seen: Experiment, name: str) -> bool:
    """Whether a further factor is work, a load, a machine or a test, and no choice."""
    alone = replace(seen, knob=name, by=(seen.knob,), role="", option="")
    words = {*words_of(name)}
    is_load = words <= CALLERS and bool(np.isfinite(_amounts(alone)).all())
    return bool(GIVEN & words) or is_load or _how(alone) in GIVEN_BY


def _how(seen: Experiment) -> str:
    """How it is known that the knob is the size of the work; empty where it is not."""
    if seen.role:
        return "said" if seen.role == "work_size" else ""
    if np.isnan(_amounts(seen)).any() or len(seen.levels) < 2:
        return ""
    words = [word for word in words_of(seen.knob) if not word.isdigit()]
    named = set(words)
    if _is_load(words):
        return "load"
    is_factor = named == {"scale", "factor"}
    unit = scale_of(seen.levels).unit
    if (named & SETTING and not is_factor) or any(word.startswith("max") for word in words):
        if {*named, unit} & THINGS and _in_proportion(seen):  # 1,000 rows
            return "asked_grows"
        if named <= AT_ONCE and _waits_longer(seen):
            return "asked_calls"
        is_own = named & OF_EACH and seen.kind == "time" and _in_proportion(seen, 2)
        return "asked_grows" if is_own else ""
    is_data = named & DATA and (named & SIZES or (unit == "bytes" and named <= DATA))
    if named & THINGS or is_data or is_factor:
        return "named"
    if _capacity(seen):
        return "repeated"
    if _in_proportion(seen):  # of a name that is not known a count is one of what is worked on
        return "grows" if "count" in named or named <= EITHER | DATA else "asked_grows"
    if named & EITHER and ARITHMETIC & set(words_of(seen.response)):
        return "named"
    is_setting = bool(SETTING & set(words_of(seen.option)))
    return "asked_name" if named <= EITHER and seen.kind == "rate" and not is_setting else ""


def _is_load(words: list[str]) -> bool:
    """Whether a name says how much is asked for in a time: an amount per second, or a rate that is
    no bound and no share."""
    named = set(words)
    if named & NO_LOAD:
        return False
    per = len(words) > 1 and words[-1] in A_TIME and words[-2] in THINGS | {"per", "req"}
    return bool(per or named & LOADS or words[-1:] == ["rate"] or named == {"offered", "load"})


def _amounts(seen: Experiment) -> np.ndarray:
    """The levels as amounts, shape (levels,); NaN for one that is a word or no limit."""
    scale = scale_of(seen.levels)
    places = {name: at for name, at in scale.positions.items() if name != scale.beyond}
    amounts = ((one, places.get(level_name(one), np.nan)) for one in seen.levels)
    return np.array([one if is_number(one) else at for one, at in amounts], dtype=float)


def _capacity(seen: Experiment) -> dict[str, Any]:
    """Where a rate repeats the knob on its lower levels and then does not, and what it is from
    there on, for the sentence; empty elsewhere."""
    if seen.goal != "max" or seen.kind != "rate":
        return {}
    value, level = typical(seen, seen.sound, numbers(seen.sound, seen.response)), _amounts(seen)
    is_same = np.abs(value / level - 1) <= REPEATS
    first = int(np.argmin(is_same))
    if first < 2 or np.isnan(value).any() or is_same[first:].any() or (value > level)[first:].any():
        return {}
    capacity = (value[first:].min() + value[first:].max()) / 2
    below, above = (seen.named([level]) for level in seen.levels[first - 1 : first + 1])
    return {"repeated": below, "first": above, "capacity": float(f"{capacity:.2g}")}


def _waits_longer(seen: Experiment) -> bool:
    """Whether the response is a latency, least at the first level and LONGER at the last; over
    threads a mean may be one of the whole."""
    words, is_parallel = set(words_of(seen.response)), PARALLEL & set(words_of(seen.knob))
    is_latency = words & LATENCIES or (seen.is_time and words & OF_REQUESTS and not is_parallel)
    if seen.goal != "min" or not (is_latency or any(map(PERCENTILE.fullmatch, words))):
        return False
    value = typical(seen, seen.sound, numbers(seen.sound, seen.response))
    return bool(value[0] <= np.nanmin(value, initial=np.inf) and value[-1] >= LONGER * value[0])


def _in_proportion(seen: Experiment, least: int = 3) -> bool:
    """Whether a time grows in proportion to the knob, at so many levels or more."""
    if seen.goal != "min" or not seen.is_time:
        return False
    value, level = typical(seen, seen.sound, numbers(seen.sound, seen.response)), _amounts(seen)
    use = np.isfinite(value) & (value > 0) & (level > 0)
    if use.sum() < least:
        return False
    order = np.argsort(level[use])
    x, y = np.log(level[use][order]), np.log(value[use][order])
    first, whole = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[0]) / (x[-1] - x[0])
    return bool(min(first, whole) >= PROPORTIONAL and np.all(np.diff(y) > 0))
