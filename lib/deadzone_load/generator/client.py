"""The generator as a process: `python -m deadzone_load.generator.client PLAN RESULT`.

It reads a plan, sends the load, and writes what it recorded as JSON: {"responses": {...},
"failure": null or a sentence, "wall_s": ..., "slices": [[metric, t_s, duration_s, count,
histogram], ...]}. It ends with 0 also where the load failed; with 4, and a sentence on standard
error, where it could not begin.
"""

import contextlib
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

from deadzone.plugins import DeadzoneError, WorkloadError
from deadzone.run.workloads.addresses import resolve
from deadzone_load.generator import recording
from deadzone_load.generator.connection import Wire, tls_context
from deadzone_load.generator.connection_load import ConnectionLoad
from deadzone_load.generator.http_load import HttpLoad
from deadzone_load.generator.loop import Loop
from deadzone_load.generator.message_load import MessageLoad
from deadzone_load.generator.plan import LoadPlan
from deadzone_load.generator.recording import Recorder
from deadzone_load.generator.window import Load

OWN_DESCRIPTORS = 64
"""Descriptors that the process needs besides its connections."""

REAL_TIME = 1
"""Lowest of the real-time priorities. The generator stands in for clients that have machines of
their own, so where it is permitted it gets a core the moment a request is due: on two cores with
seven busy programs its lag was 0.1 ms at the 99th percentile, and 5 to 30 ms without."""

PRIORITY = -10
"""Asked for where a real-time priority is refused."""


def run_load(plan: LoadPlan) -> dict[str, Any]:
    """Send the load of a plan and return what is written of it.

    Raises WorkloadError if the address may not or cannot be loaded, or there are too few file
    descriptors.
    """
    address = resolve(plan.url, plan.allow_remote)
    allowed = raise_descriptors(plan)
    context = tls_context(plan.verify_tls) if address.tls else None
    recorder, loop = Recorder(), Loop()
    kind = (
        ConnectionLoad
        if plan.mode != "constant"
        else HttpLoad
        if plan.protocol == "http"
        else MessageLoad
    )
    load: Load = kind(Wire(loop, address, context), plan, recorder)
    began, used = time.monotonic(), time.process_time()
    with on_time():
        load.run()
    took, cpu_s = time.monotonic() - began, time.process_time() - used
    loop.close()
    # a ramp may end long before all is opened
    window_s = min(load.end_s, took) if isinstance(load, ConnectionLoad) else plan.duration_s
    responses = recording.columns(recorder, window_s, cpu_s * min(window_s / took, 1.0))
    if plan.mode != "constant":
        responses["server_died"] = float(recorder.server_died)
    return {
        "responses": responses,
        "failure": failure_of(plan, recorder, responses, allowed),
        "wall_s": took,
        "slices": [astuple(part) for part in recording.slices(recorder, window_s)],
    }


def failure_of(
    plan: LoadPlan, recorder: Recorder, responses: dict[str, float], allowed: int
) -> str | None:
    """Why the trial failed, in a sentence, or None. What was measured is kept all the same."""
    both = recorder.errors | recorder.connect_errors  # one that could not connect is in both
    if both["descriptors"]:
        return (
            f"the generator ran out of file descriptors or local ports {both['descriptors']:,} "
            f"times ({allowed:,} files may be open): use fewer connections, or raise ulimit -n"
        )
    lag_matters = plan.mode != "ramp"  # it counts connections, and opens few at a time
    # no lateness of the generator explains that a server is not there
    is_refused = not recorder.answered and both["refused"] == both.total() > 0
    if not is_refused and (saturated := recording.saturation(responses, lag_matters)) is not None:
        return saturated
    if plan.mode != "constant":
        return None if recorder.connections else f"no connection opened: {_most(recorder, plan)}"
    if plan.protocol != "http" and not recorder.connections:
        return f"no user could connect: {_most(recorder, plan)}"
    if recorder.due and not recorder.answered:
        return f"none of {recorder.due:,} requests was answered: {_most(recorder, plan)}"
    lost = 0 if recorder.connections_now else recorder.connections_lost
    if lost and (plan.protocol != "http" or recorder.errors["refused"]):
        return f"the server closed all {lost:,} connections: {_most(recorder, plan)}"
    return None


SENTENCES = {
    "refused": "the connection to {url} was refused",
    "timeout": "{url} gave no answer in time",
    "closed": "{url} closed the connection before it answered",
    "status": "{url} answered with an error",
    "garbage": "{url} does not speak {protocol}",
    "descriptors": "no file descriptor or local port was left",
    "other": "the network failed",
}
"""By the kind of failure."""


def _most(recorder: Recorder, plan: LoadPlan) -> str:
    """The commonest failure in words."""
    both = recorder.errors | recorder.connect_errors  # one that could not connect is in both
    kind, count = both.most_common(1)[0] if both else ("timeout", recorder.dropped)
    words = SENTENCES[kind].format(
        url=plan.url, protocol={"http": "HTTP/1.1"}.get(plan.protocol, plan.protocol)
    )
    if kind == "status" and recorder.statuses:
        words = f"{plan.url} answered with status {recorder.statuses.most_common(1)[0][0]}"
    if kind == "garbage" and plan.verify_tls and plan.url.startswith(("https:", "wss:")):
        words += ", or its certificate is not trusted (verify_tls: false takes any)"
    return f"{words} ({count:,} times)"


@contextlib.contextmanager
def on_time() -> Iterator[None]:
    """Have the core when it is needed, as far as that is permitted; only while the load runs."""
    with contextlib.ExitStack() as stack:
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME))
            stack.callback(os.sched_setscheduler, 0, os.SCHED_OTHER, os.sched_param(0))
        except OSError:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
        yield


def raise_descriptors(plan: LoadPlan) -> int:
    """Take as many file descriptors as are permitted; returns how many.

    Raises WorkloadError if they are fewer than the connections that the plan holds at once.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    holds = plan.connections if plan.protocol != "http" or plan.mode != "constant" else 1
    if plan.mode == "spike":
        holds = min(holds, int(plan.connection_rate * plan.duration_s))
    if soft != resource.RLIM_INFINITY and soft < holds + OWN_DESCRIPTORS:
        raise WorkloadError(
            f"workload.connections: {holds:,} connections need more file descriptors than the "
            f"{soft:,} this process may have; raise the limit (ulimit -n) or ask for fewer."
        )
    return soft


def main() -> int:
    """Read the plan, send the load, write the result."""
    plan_file, result_file = Path(sys.argv[1]), Path(sys.argv[2])
    gc.freeze()
    gc.disable()
    try:
        result = run_load(LoadPlan.read(plan_file))
    except DeadzoneError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    result_file.write_text(json.dumps(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
