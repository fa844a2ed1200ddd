"""Which way a response is better, and in which unit it is, from its name, its unit or its cells.

The rule is one of dimensions. A time, or anything per thing (`ns/op`, `B/op`), is better smaller;
things per time (`tok_s`, `req/s`, `GB/s`) are better larger; what goes wrong (errors, misses,
drops) is better smaller, per time too. Of any other quantity nothing is known.
"""

import re
from itertools import pairwise
from typing import Literal, NamedTuple, cast

from deadzone.study.quantity import SECONDS

Goal = Literal["min", "max"]
GoalFrom = Literal["asked", "name", "unit", "cells", "assumed"]
Kind = Literal["time", "rate", "gain", "cost", "wrong", "per thing", ""]

GOALS = ("min", "max")

GOAL_OF: dict[str, Goal] = {
    "time": "min", "cost": "min", "wrong": "min", "per thing": "min", "rate": "max", "gain": "max",
}  # fmt: skip

AMOUNTS_OF_BYTES = {"bytes", "kb", "mb", "gb", "kib", "mib", "gib"}
"""Words of a name that are units of a size."""

THINGS = {
    "rows", "records", "entries", "messages", "items", "files", "iterations", "reps", "repetitions",
    "matrices", "elements", "events", "tuples", "documents", "docs", "keys", "particles",
    "vertices", "edges", "pixels", "tokens", "supervoxels", "requests", "inserts", "lines",
    "points", "bodies", "atoms", "reads", "sequences", "images", "packets", "orders", "triangles",
    "operations", "ops", "objects", "rounds", "steps", "cells", "genes", "variables", "posts",
    "products", "urls", "words", "characters", "columns", "values", "samples", "transactions",
    "queries", "elems", "features", "prompts", "variants", "polygons", "timesteps", "warehouses",
    "txs", "txns", "msgs", "reqs",
}  # fmt: skip
"""Words for things to work on."""

COUNTED = THINGS | AMOUNTS_OF_BYTES | {
    "tok", "toks", "req", "msg", "op", "txn", "tx", "rx", "writes", "frames", "calls", "hits",
    "commits", "updates", "searches", "lookups", "jobs", "tasks", "transfers", "b", "tb", "tib",
    "mbit", "gbit", "mbits", "gbits", "kbit", "kbits", "bits", "pages", "hashes", "sentences",
    "seqs", "its", "iters", "connections", "conns", "instructions",
}  # fmt: skip
"""What stands before `_s` where that means per second: `tok_s`, `req_s`, `MiB_s`."""

SECOND = {"s", "sec", "secs", "second", "seconds"}

TIME_UNITS = {unit.lower() for unit in SECONDS} - {"min", "mins", "h"} | {"millisecond"}

SPANS = TIME_UNITS | {"min", "mins", "h", "day", "초", "분", "시간", "秒", "分钟", "小时"}
"""Units of a time that something is done in: per one of them is a rate."""

TIMES = {
    "time", "latency", "latencies", "lat", "duration", "elapsed", "wall", "walltime", "runtime",
    "delay", "wait", "rtt", "ttft", "tpot", "itl", "lag", "jitter", "makespan", "stall", "pause",
    "real", "cycles", "startup", "zeit", "dauer", "latenz", "laufzeit", "시간", "지연", "지연시간",
    "时间", "耗时", "用时", "延迟", "时延", "時間",
}  # fmt: skip
"""Words for a time; a cycle is one of a clock."""

RATES = {
    "throughput", "throughputs", "bandwidth", "goodput", "rate", "bw", "mips", "iops", "ts", "nopm",
    "durchsatz", "처리량", "대역폭", "吞吐", "吞吐量", "带宽", "速率",
}  # fmt: skip

RATE_UNIT = re.compile(
    r"([kmgtp]?i?(b|bit)|[kmg]?(p|r|q|t|f|io|c|w|i|s|m|h|msg|req|tok)|[kmgtp]o)ps"
    r"|[kmgtpe]?flops?s?|[kmgt]teps|[kmg]hz|[rqt]pm|tpmc"
)
"""A rate in one word: `qps`, `fps`, `mbps`, `Mops`, `GFLOPS`."""

PRINTED = re.compile(r"[kmg]?(r|q|t|f|io|msg|req|tok)ps|[kmg]ops|[kmgtpe]flops")
"""Of these, what is no other word: it is printed behind a number."""

PERCENTILE = re.compile(r"p[1-9]\d{1,3}")
"""`p99` alone is one of a time."""

GAINS = {"speed", "speedup", "improvement", "accuracy", "ipc", "속도", "加速比", "速度"}

SCALING = {"scaling", "weak", "strong", "parallel", "percent", "x"}
"""Words of a name that is one of a gain where it has no others."""

SHARES = {
    "success", "successes", "hit", "efficiency", "availability", "recall", "precision", "bleu",
    "psnr", "ssim", "vmaf", "mfu", "성공", "적중", "成功", "命中",
}  # fmt: skip
"""Words for what is better larger, but for the time that it takes: `hit_latency_ms`."""

WRONG = {
    "error", "errors", "err", "errs", "miss", "misses", "missed", "drop", "drops", "dropped",
    "retry", "retries", "retrans", "retransmits", "retransmissions", "fault", "faults", "timeout",
    "timeouts", "failure", "failures", "failed", "fail", "fails", "loss", "lost", "rejected",
    "aborts", "aborted", "conflicts", "deadlocks", "stalls", "collisions", "switches", "migrations",
    "evictions", "throttled", "overhead", "rejects", "refused", "interrupts", "crashes", "resets",
    "reconnects", "restarts", "skipped", "downtime", "flaps", "elections", "false", "실패", "오류",
    "rejections", "에러", "재시도", "손실", "失败", "错误", "丢包", "丢失", "重试", "超时",
}  # fmt: skip

COSTS = {
    "cost", "costs", "price", "usd", "dollars", "joules", "joule", "energy", "watts", "watt",
    "memory", "rss", "allocs", "allocations", "allocated", "mem", "footprint",
}  # fmt: skip

SPENT = {"cost", "usd", "dollars", "joules", "energy", "allocs", "allocations", "allocated"}
"""Costs that are no better where there are more of them per second."""

RESOURCES = {
    "core", "cores", "cpu", "cpus", "gpu", "gpus", "thread", "worker", "node", "watt", "joule",
    "dollar", "usd", "j", "w", "wh", "kwh", "cycle", "clock", "server", "socket", "machine",
    "host", "client",
}  # fmt: skip
"""Per one of these is not per thing that was done."""

PER = re.compile(r"(?i)(?<![a-z])per(?![a-z])|/")

HEADS = {word for word in TIMES | RATES | GAINS | SHARES | WRONG if not word.isascii()}
AFTER = "율|률|率|수|건수|횟수|数|次数|평균|최대|최소|합계|초|건|개|회|平均|最大|最小|秒|毫秒|个|次"
"""What may stand behind one of them, and leaves it as it is."""

TOGETHER = re.compile(rf"({'|'.join(HEADS)})(?=({AFTER})?(?![^\W\d_a-zA-Z]))")
"""What languages that write words together have at the end: `평균응답시간` is a time, and
`단위시간요청` none."""

TURNED = re.compile(
    "[未不无非]_|[미비불무]_(성공|적중)|실_시간|[무无](고장|장애|중단|故障|中断)"
    "|(가동|유지|사용|잔여|남은|유휴|正常运行|续航|存活|在线|使用|剩余|空闲)_(시간|时间)"
)
"""What makes another thing of the word behind it: `未命中率` is of misses, `실시간` is no time."""

CHANGED = re.compile(
    r"감소|저하|개선|향상|절감|절약|단축|缩短|降低|减少|改善|提升|下降|节省|节约|\bidle time\b"
    r"|\b(no|without|between|free) (errors?|failures?|faults?|memory)\b|\b(error|memory) free\b"
    r"|\b(reduction|decrease|degradation|saved|savings?|left|budget|life)( (\w?s|[hx]|p\w*))?$"
)
"""How much a quantity changes, how much of it is left, or not there: of that nothing is known."""

IS_BETTER = re.compile(
    r"(?i)(?<![a-z])(higher|more|larger|bigger|(lower|less|fewer|smaller))[ _-]is[ _-]better"
)
"""What people write behind a name."""

RESPONSE_SPEED = re.compile(r"(?i)(response|응답|반응|响应)[ _]*(speed|속도|速度)(?![^\W\d_])")
"""How fast a response comes is a time."""

MOVED = {"sent", "received", "transferred", "read", "written", "processed", "total", "transfer"}
"""Beside bytes: how much was done, which is no cost."""


class Direction(NamedTuple):
    """Which way is better, and how that is known."""

    goal: Goal
    goal_from: GoalFrom


def direction_of(
    response: str, asked: str | None = None, unit: str | None = None, unit_in_cells: str = ""
) -> Direction:
    """Which way a response is better; less is assumed where nothing tells. asked: the goal, where
    it is said. unit: of the response. unit_in_cells: that its cells are written with."""
    if asked:
        return Direction(cast(Goal, asked), "asked")
    told: dict[GoalFrom, str] = {"name": response, "unit": unit or "", "cells": unit_in_cells}
    known = (Direction(goal, by) for by, text in told.items() if (goal := known_goal(text)))
    return next(known, Direction("min", "assumed"))


def known_goal(text: str) -> Goal | None:
    """The goal that a name or a unit says, None where it says none."""
    if said := IS_BETTER.search(text):
        return "min" if said[2] else "max"
    return GOAL_OF.get(kind_of(text))


def _parted(name: str) -> str:
    """A name with a line where a capital begins a word, and without HTML's line breaks."""
    plain = re.sub(r"</?br\s*/?>", " ", name).replace("kWh", "kwh")
    plain = RESPONSE_SPEED.sub("_time_", re.sub("[µμ]s", "us", plain))
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)


def words_of(name: str) -> list[str]:
    """The words of a column's name: `errorRate` and `error_rate` are two, `%` is percent and `$`
    usd."""
    spelled = _parted(name).replace("%", "_percent_").replace("$", "_usd_")
    return re.findall(r"[^\W_]+", TOGETHER.sub(r"_\g<0>_", spelled).lower())


def kind_of(text: str) -> Kind:
    """What a name or a unit measures, by its dimension; empty where that is not known."""
    amount, *rest = PER.split(_parted(text), maxsplit=1)
    said, below = words_of(amount), words_of("".join(rest))
    if CHANGED.search(" ".join(said)):
        return ""
    named = _telling(said)
    words, last = set(named), named[-1] if named else ""
    plurals = {word + end for word in words for end in ("s", "es")} if "rate" in words else set()
    if (words | plurals) & WRONG and "improvement" not in words:
        return "wrong"
    own = _of_words(named or below)
    if not below or (not said and below[0] not in TIME_UNITS):
        return own
    if below[0] in SPANS:
        is_simulated = below[0] == "day" and last in ("us", "ns", "ps")
        if _of_words([last]) == "time" and last != "ping" and not is_simulated:
            return "" if last in TIME_UNITS else "time"  # `Time/ms` is one in ms
        return "cost" if words & SPENT else "rate"
    if below[0] in RESOURCES:
        return "gain" if words & COUNTED and own in ("", "cost") else own
    return "" if last in THINGS or own in ("rate", "gain") else "per thing"


def _telling(named: list[str]) -> list[str]:
    """The words that tell what is measured. Of Korean and Chinese ones that is the last, if it is
    known; what stands before it says which one."""
    others = [word for word in named if not (word.isascii() or re.fullmatch(AFTER, word))]
    is_told = others and others[-1] in HEADS and not TURNED.search("_".join(others[-2:]))
    return [word for word in named if word.isascii() or (is_told and word == others[-1])]


def is_time(text: str) -> bool:
    """Whether a name or a unit is that of a time, or of one per thing."""
    own = _of_words(words_of(PER.split(_parted(text))[0]))
    return own == "time" and kind_of(text) in ("time", "per thing")


def _of_words(named: list[str]) -> Kind:
    """What the words of a quantity measure that is not written as one per another."""
    words, last = set(named), named[-1] if named else ""
    is_ping = last == "ping" or {"ping", "under"} <= words  # `PING_INLINE` is a test of Redis
    is_time = is_ping or words & (TIMES | TIME_UNITS) or any(map(PERCENTILE.fullmatch, named))
    is_size = last in AMOUNTS_OF_BYTES and not words & MOVED
    is_share = words & SHARES and not (is_time or is_size or words & COSTS or "not" in words)
    is_timed = last in TIME_UNITS and {*named[-2:-1]} & GAINS - {"improvement"}  # `speed (ms)`
    is_gain = last == "efficiency" or (words & GAINS and not is_timed)
    if is_gain or is_share or ("scaling" in words and words <= SCALING):
        return "gain"
    per_second = any(first in COUNTED and unit in SECOND for first, unit in pairwise(named))
    if per_second or words & RATES or any(map(RATE_UNIT.fullmatch, named)):
        return "rate"
    if is_time or last == "h":
        return "time"
    return "cost" if words & COSTS or is_size else ""


def rate_unit(name: str) -> str:
    """The unit in the name of a rate, as it is written: `tok/s` of `tok_s` and of `tok/s`, `tps` of
    `mean_tps`; empty where the name has none."""
    kind = kind_of(name)
    if kind == "time" and (unit := name.rpartition("/")[2]) in SECONDS:
        return unit
    find = re.search if kind == "rate" else re.match
    if written := find(r"(?<![^ ])[A-Za-z]+/[A-Za-z]+(?![^ ])", name):
        return written[0]
    if PRINTED.fullmatch((last := re.split(r"[ _]", name)[-1]).lower()):
        return last
    match = re.search(r"(?:^|_)([A-Za-z]+)_s$", name)
    return f"{match[1]}/s" if match and match[1].lower() in COUNTED else ""
