"""The engines, each a program of its own, seen from the harness: what is asked of them, and their
results read back.

fio is the reference among disk benchmarks, where it is installed (fio 3 and later). The built-in
one is Python with os.preadv and os.pwritev.
"""

import json
import platform
import re
import shutil
import sys
from typing import Any

from deadzone.plugins import Command, Measurement, WorkloadError, program_version
from deadzone_disk import builtin_engine
from deadzone_disk.engine import DiskTrial, EngineAccount, EngineFailure, in_words
from deadzone_disk.plan import writes

PATTERNS = {"sequential": "", "random": "rand"}

SERIES = "series"
SERIES_STEP_MS = 100
FIRST_LOG = f"{SERIES}_bw.log"


KIBIBYTE = 1024
NANOSECONDS_A_MS = 1e6

ALWAYS: dict[str, Any] = {
    "name": "trial",
    "fallocate": "none",
    "clat_percentiles": 0,
    "lat_percentiles": 1,
    "group_reporting": 1,
    "per_job_logs": 0,
    "output-format": "json",
}
"""Options of fio that are the same in every trial."""


class FioEngine:
    """One fio process a trial; its jobs are processes of its own."""

    name = called = "fio"
    says_why = 0
    """Which line it prints says why it failed."""

    def version(self) -> str:
        """fio's own word. Raises WorkloadError where it is missing."""
        if not shutil.which("fio"):
            raise WorkloadError(
                "workload.engine is fio, which is not installed here: apt install fio, or use "
                "builtin."
            )
        return program_version(("fio", "--version")) or self.name

    def command(self, trial: DiskTrial) -> Command:
        """fio with every setting on its command line."""
        settings = trial.settings
        blocks = trial.file_size // settings.block_size
        kind = {"read": "read", "mixed": "rw"}.get(settings.operation, "write")
        options: dict[str, Any] = {
            **ALWAYS,
            "directory": str(trial.files[0].parent).replace(":", r"\:"),
            "filename_format": f"{trial.files[0].name.rpartition('-')[0]}-$jobnum",
            "rw": f"{PATTERNS[settings.pattern]}{kind}",
            "bs": settings.block_size,
            "offset": trial.first_block * settings.block_size,
            "size": (blocks - trial.first_block) * settings.block_size,
            "numjobs": settings.jobs,
            "iodepth": settings.queue_depth,
            "ioengine": "libaio" if settings.direct and settings.queue_depth > 1 else "psync",
            "direct": int(settings.direct),
            "runtime": f"{round(trial.duration_s * 1000)}ms",
            "randseed": trial.seed,
            "write_bw_log": trial.scratch / SERIES,
            "log_avg_msec": SERIES_STEP_MS,
        }
        # A trial ends by time, and where bytes are bounded by what comes first.
        most = trial.most_blocks
        options |= {"time_based": 1} if most is None else {"io_size": most * settings.block_size}
        if writes(settings):
            options |= (
                {"zero_buffers": 1} if trial.data == "zeros" else {"buffer_compress_percentage": 0}
            )
            options |= {"each": {"fdatasync": 1}, "end": {"end_fsync": 1}, "none": {}}[
                settings.fsync
            ]
        if settings.operation == "mixed":
            options |= {
                "rwmixread": round(100 * settings.read_share),
                "unified_rw_reporting": "both",
            }
        return Command(
            ("fio", *(f"--{name}={value}" for name, value in options.items())), cwd=trial.scratch
        )

    def account(self, trial: DiskTrial, measurement: Measurement) -> EngineAccount:
        """From fio's JSON; its warnings before the document are passed over."""
        printed = (measurement.stderr or measurement.stdout).strip().splitlines()
        start = re.search(r"^\{", measurement.stdout, re.MULTILINE)
        try:
            document = json.loads(measurement.stdout[start.start() :] if start else "")
            job = document["jobs"][0]
        except (ValueError, LookupError) as error:
            why = printed[self.says_why] if printed else f"exit code {measurement.exit_code}"
            raise EngineFailure(f"{self.called} ended without a result: {why}") from error
        if job["error"]:
            said = [line for line in measurement.stderr.splitlines() if line.startswith("fio: ")]
            raise EngineFailure(in_words(job["error"], [job.get("reason", ""), *said][-1]))
        read, write = job["read"], job["write"]
        together = job.get("mixed") if trial.settings.operation == "mixed" else None
        flushes = job.get("sync", {}).get("lat_ns", {})
        main = together or (write if write["total_ios"] else read)
        calls = read["total_ios"] + write["total_ios"]
        try:
            return EngineAccount(
                elapsed_s=max(read["runtime"], write["runtime"]) / 1000,
                read_bytes=read["io_bytes"],
                written_bytes=write["io_bytes"],
                calls=calls,
                latencies_ms={
                    **_latencies_ms("latency", main["lat_ns"], calls),
                    **_latencies_ms("flush", flushes, flushes.get("N", 0)),
                },
                series=_series(trial),
            )
        except KeyError as error:
            raise EngineFailure(
                f"fio's result has no {error}; fio 3 and later can be read"
            ) from error


def _latencies_ms(kind: str, summary: dict[str, Any], number: int) -> dict[str, float]:
    """Columns of one kind of call: from submission to completion, as a program that waits for its
    call feels it. summary: in nanoseconds, as fio does. number: of calls."""
    if not number:
        return {}
    figures = {"mean": summary["mean"], "max": summary["max"]}
    figures |= {f"p{float(percent):g}": ns for percent, ns in summary.get("percentile", {}).items()}
    return {
        f"{kind}_{name}_ms".replace(".", "_"): ns / NANOSECONDS_A_MS for name, ns in figures.items()
    }


def _series(trial: DiskTrial) -> list[tuple[float, float]]:
    """The throughput over time, from fio's own log: lines of milliseconds, KiB/s, direction, ...;
    jobs add up."""
    try:
        lines = (trial.scratch / FIRST_LOG).read_text().splitlines()
    except OSError:
        return []
    sums: dict[int, float] = {}
    for line in lines:
        moment, rate = (float(field) for field in line.split(",")[:2])
        step = round(moment / SERIES_STEP_MS)
        sums[step] = sums.get(step, 0.0) + rate * KIBIBYTE
    # fio has no line for a step in which nothing was moved
    steps = range(min(sums, default=0), max(sums, default=-1) + 1)
    return [(step * SERIES_STEP_MS / 1000, sums.get(step, 0.0)) for step in steps]


PLAN = "plan.json"


class BuiltinEngine(FioEngine):
    """Python with os.preadv and os.pwritev, which needs nothing installed and tells of a trial as
    fio does."""

    name, called, says_why = "builtin", "the built-in engine", -1

    def version(self) -> str:
        """The engine of this pack, on this Python."""
        return f"built-in engine, Python {platform.python_version()}"

    def command(self, trial: DiskTrial) -> Command:
        """The script with the plan of the trial."""
        plan = {**vars(trial), **trial.settings.model_dump()}
        del plan["settings"]
        path = trial.scratch / PLAN
        path.write_text(json.dumps(plan, default=str), encoding="utf-8")
        return Command((sys.executable, "-I", "-S", builtin_engine.__file__, str(path)))
