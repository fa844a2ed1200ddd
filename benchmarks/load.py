"""How fast and how true the load generator is: the highest rate one core sustains for HTTP and
WebSocket, beside k6, oha and wrk on the same servers, and whether k6, Locust and Deadzone agree on
one server.

Run: .venv/bin/python benchmarks/load.py [--duration 10] [--rounds 5] Writes
docs/benchmarks/load.md. k6 is built from its Go module where Go is installed, once, into the cache;
tools that are missing are left out and named. On two cores the server needs one and the generator
the other: neighbours spoil this one, so what others used meanwhile stands in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import yaml

from deadzone import __version__
from deadzone.errors import WorkloadError
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep
from deadzone.run.targets.interference import between, read_machine
from deadzone.store.programs import program_version
from deadzone.store.provenance import cpu_model, operating_system, usable_cores
from deadzone_load.generator.plan import LoadPlan
from deadzone_load.specs import LoadWorkloadSpec
from deadzone_load.workload import LoadWorkload, find_program

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "benchmarks" / "load.md"
SCRIPTS = ROOT / "tests" / "data" / "load"
SERVER = ROOT / "tests" / "packs" / "load" / "generator" / "server.py"

RATES = (
    1_000,
    2_000,
    4_000,
    6_000,
    8_000,
    10_000,
    12_000,
    16_000,
    20_000,
    30_000,
    40_000,
    50_000,
    60_000,
)
"""Rates tried, one after the other, until the generator says that it is saturated or the server
cannot follow [1/s]."""

K6_MODULE = "go.k6.io/k6@v1.8.1"

KEPT_UP = 0.98
"""A generator sustains a rate if this share of it was sent and answered in time."""

COMPARED_RATE = 200
"""Rate at which the tools are compared: low enough for all of them on one core [1/s]."""

NO_DOUBTS = {"max_foreign_cpu": 999, "max_steal": 999, "max_pressure": 1, "max_clock_drift": 999}

ECHO = """
import asyncio, contextlib
from websockets.exceptions import ConnectionClosed
from websockets.asyncio.server import serve
async def say(peer):
    with contextlib.suppress(ConnectionClosed):
        async for message in peer:
            await peer.send(message)
async def main():
    async with serve(say, "127.0.0.1", 0, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()
asyncio.run(main())
"""

GO_SERVER = r"""
package main

import ("crypto/sha1"; "encoding/base64"; "fmt"; "io"; "net"; "net/http")

const answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n"

func echo(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, buffer, _ := w.(http.Hijacker).Hijack()
	defer conn.Close()
	fmt.Fprintf(conn, answer, base64.StdEncoding.EncodeToString(sum[:]))
	head := make([]byte, 6)
	for {
		if _, err := io.ReadFull(buffer, head); err != nil { return }
		length := int(head[1] & 0x7f) // messages of the benchmark are short
		frame := make([]byte, 2+length)
		frame[0], frame[1] = head[0], byte(length)
		if _, err := io.ReadFull(buffer, frame[2:]); err != nil { return }
		for i := range frame[2:] { frame[2+i] ^= head[2+i%4] }
		conn.Write(frame)
	}
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" { echo(w, r) } else { fmt.Fprint(w, "hello") }
	})
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, nil)
}
"""  # noqa: E501
"""A server that is faster than any of the generators, where Go is there to build it."""


@dataclass(frozen=True)
class Sent:
    """What a tool reached at a rate. rate: answered each second. cpu: its own use [cores]. others:
    neighbours' [cores]."""

    asked: float
    rate: float
    cpu: float
    lag_p99_ms: float | None
    p99_ms: float | None
    others: float
    held: bool


@contextmanager
def server(*argv: object) -> Iterator[int]:
    """A server that prints its port; killed at the end."""
    process = subprocess.Popen([str(one) for one in argv], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(re.findall(r"(\d+)", process.stdout.readline())[-1])
    finally:
        process.kill()
        process.communicate()


@contextmanager
def fast_server(folder: Path, otherwise: tuple[object, ...]) -> Iterator[int]:
    """The server in Go where Go is there, else one in Python by its arguments."""
    if not shutil.which("go"):
        with server(sys.executable, *otherwise) as port:
            yield port
        return
    source = folder / "server.go"
    source.write_text(GO_SERVER)
    subprocess.run(("go", "build", "-o", folder / "server", source), check=True)
    with server(folder / "server") as port:
        yield port


def children_cpu_s() -> float:
    """CPU time of the children that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own(plan: LoadPlan, folder: Path) -> Sent:
    """Deadzone's generator at a rate."""
    plan.write(folder / "plan.json")
    before = read_machine()
    argv = (
        sys.executable,
        "-m",
        "deadzone_load.generator.client",
        folder / "plan.json",
        folder / "result.json",
    )
    subprocess.run([str(one) for one in argv], check=True)
    others = between(before, read_machine(), 0.0).foreign_cpu
    told = json.loads((folder / "result.json").read_text())
    answers = told["responses"]
    held = told["failure"] is None and answers["achieved_rate"] >= KEPT_UP * plan.rate
    return Sent(
        plan.rate,
        answers["achieved_rate"],
        answers["client_cpu"],
        answers["lag_p99_ms"],
        answers.get("latency_p99_ms"),
        others,
        held,
    )


def climb(port: int, protocol: str, duration_s: float, folder: Path) -> list[Sent]:
    """Ever higher rates of Deadzone's generator until one is not held twice."""
    found = []
    for rate in RATES:
        spec = LoadWorkloadSpec(
            url=f"http://127.0.0.1:{port}/", protocol=protocol, rate=rate, duration_s=duration_s,
            warmup_s=0.5, connections=50, body="{id}" if protocol == "websocket" else "",
            drain_s=1.0,
        )  # fmt: skip
        plan = LoadWorkload(spec).plan({})
        tries = [own(plan, folder)]
        if not tries[0].held:
            tries.append(own(plan, folder))
        found.append(max(tries, key=lambda one: (one.held, one.rate)))
        print(f"  {protocol} {rate}/s: {found[-1]}", flush=True)
        if not found[-1].held:
            break
    return found


def timed(argv: list[Any], env: dict[str, str] | None = None) -> tuple[str, float]:
    """What a tool printed, and the cores it used."""
    began, used = time.monotonic(), children_cpu_s()
    said = subprocess.run(
        [str(one) for one in argv],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
    )
    return said.stdout + said.stderr, (children_cpu_s() - used) / (time.monotonic() - began)


def peers(port: int, duration_s: float, folder: Path) -> list[tuple[str, str, float, float]]:
    """Highest rates of other tools on one core: tool, how it was asked, requests/s, cores."""
    url, core = f"http://127.0.0.1:{port}/", ("taskset", "-c", str(max(os.sched_getaffinity(0))))
    found = []
    if shutil.which("wrk"):
        said, cpu = timed([*core, "wrk", "-t1", "-c50", f"-d{duration_s:g}s", "--latency", url])
        found.append(
            (
                "wrk",
                "closed loop, 50 connections",
                float(re.findall(r"Requests/sec:\s+([\d.]+)", said)[0]),
                cpu,
            )
        )
    oha = shutil.which("oha") or shutil.which(str(Path.home() / ".cargo" / "bin" / "oha"))
    if oha:
        said, cpu = timed(
            [
                *core,
                oha,
                "--no-tui",
                "--output-format",
                "json",
                "-z",
                f"{duration_s:g}s",
                "-c",
                50,
                url,
            ]
        )
        found.append(
            (
                "oha",
                "closed loop, 50 connections",
                json.loads(said)["summary"]["requestsPerSec"],
                cpu,
            )
        )
    if k6 := built_k6():
        best = (0.0, 0.0)
        for rate in RATES:
            summary = folder / "k6.json"
            env = {"RATE": str(rate), "DURATION_S": f"{duration_s:g}", "USERS": "50", "URL": url}
            _, cpu = timed(
                [
                    *core,
                    k6,
                    "run",
                    "--quiet",
                    "--no-usage-report",
                    "--summary-export",
                    summary,
                    SCRIPTS / "requests.js",
                ],
                env,
            )
            metrics = json.loads(summary.read_text())["metrics"]
            dropped = metrics.get("dropped_iterations", {}).get("count", 0)
            print(
                f"  k6 {rate}/s: {metrics['http_reqs']['rate']:.0f}/s, {dropped} dropped, "
                f"{cpu:.2f} cores",
                flush=True,
            )
            if dropped > (1 - KEPT_UP) * rate * duration_s:
                break
            best = (metrics["http_reqs"]["rate"], cpu)
        found.append(("k6", "constant arrival rate, 50 users", *best))
    return found


def built_k6() -> str | None:
    """k6: the installed one, or built now from its Go module into the cache (minutes) and put on
    the PATH."""
    try:
        return find_program("k6")
    except WorkloadError:
        print("building k6 from go.k6.io/k6; this takes minutes, once", flush=True)
    build = ("sh", str(ROOT / "scripts" / "go-tool"), "k6", K6_MODULE)
    said = subprocess.run(build, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not said:
        return None
    os.environ["PATH"] = f"{Path(said).parent}{os.pathsep}{os.environ['PATH']}"
    return said


def agreement(rounds: int, duration_s: float, folder: Path) -> dict[str, dict[str, list[float]]]:
    """Latencies [ms] of one stalling server as each tool tells them, by tool and column, one value
    a round."""
    scripts = {"k6": "requests.js", "locust": "requests_locust.py"}
    drivers = ["deadzone"]
    for name in scripts:
        try:
            find_program(name)
            drivers.append(name)
        except WorkloadError as error:
            print(error)
    found: dict[str, dict[str, list[float]]] = {}
    for driver in drivers:
        script = {"script": scripts[driver]} if driver in scripts else {}
        if script:
            shutil.copy(SCRIPTS / scripts[driver], folder)
        for behaviour in ("slow", "stall"):
            document = {
                "study": f"{behaviour}-{driver}",
                "service": {"argv": ["{python}", str(SERVER), behaviour, "{port}"]},
                "workload": {
                    "kind": "load",
                    "driver": driver,
                    "duration_s": duration_s,
                    "users": 300,
                    **script,
                },
                "factors": {"rate": [COMPARED_RATE]},
                "design": {"replicates": rounds, "warmup": 0},
                "trust": NO_DOUBTS,
            }
            path = folder / f"{behaviour}-{driver}.yaml"
            path.write_text(yaml.safe_dump(document))
            opened = open_run(str(path), runs=folder / "runs")
            trials = run_sweep(opened.plan, opened.run).trials()
            columns = ("latency_mean_ms", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms")
            good = trials[trials["status"] == "ok"]
            if good.empty:
                print(
                    f"{behaviour} {driver}: no trial succeeded: {trials['error'].iloc[-1]}",
                    flush=True,
                )
                continue
            found[f"{behaviour} {driver}"] = {
                name: [float(one) for one in good[name]] for name in columns
            }
    return found


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--duration", type=float, default=10.0, help="of each load [s]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=REPORT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with fast_server(folder, (SERVER, "well")) as port:
            http = climb(port, "http", arguments.duration, folder)
            others = peers(port, arguments.duration, folder)
        with fast_server(folder, ("-c", ECHO)) as port:
            messages = climb(port, "websocket", arguments.duration, folder)
        agreed = agreement(arguments.rounds, arguments.duration, folder)
    arguments.out.write_text(report(http, messages, others, agreed, arguments), encoding="utf-8")
    print(f"written to {arguments.out}")
    return 0


def report(
    http: list[Sent],
    messages: list[Sent],
    others: list[tuple[str, str, float, float]],
    agreed: dict[str, dict[str, list[float]]],
    arguments: argparse.Namespace,
) -> str:
    """The table as Markdown."""
    lines = [
        "# The load generator",
        "",
        f"Measured {datetime.now(UTC):%Y-%m-%d} with Deadzone {__version__} on {usable_cores()} "
        f"cores of {cpu_model()}, {operating_system()}, by `benchmarks/load.py --duration "
        f"{arguments.duration:g} --rounds {arguments.rounds}`. Server and generator share these "
        f"cores. k6: {program_version((built_k6() or 'k6', 'version')) or 'not here'}. A server in "
        "Go answers where Go is installed, else one in Python.",
        "",
        "## Highest rate on one core",
        "",
        "A rate is sustained where 98 % of it was answered in the time of the load and the "
        "generator's lag stayed under 5 ms at the 99th percentile.",
        "",
        "| generator | protocol | asked | highest rate [1/s] | cores of the generator | lag p99 "
        "[ms] | cores of server and others |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for protocol, found in (("HTTP", http), ("WebSocket, echo", messages)):
        held = [one for one in found if one.held]
        if held:
            best = held[-1]
            or_more = " or more" if best.asked == RATES[-1] else ""
            lines.append(
                f"| deadzone | {protocol} | constant arrival rate, 50 connections | "
                f"{best.rate:,.0f}{or_more} | {best.cpu:.2f} | {best.lag_p99_ms:.2f} | "
                f"{max(best.others - best.cpu, 0):.2f} |"
            )
    lines += [
        f"| {tool} | HTTP | {how} | {rate:,.0f} | {cpu:.2f} | | |"
        for tool, how, rate, cpu in others
    ]
    lines += [
        "",
        "## Every rate tried",
        "",
        "| protocol | asked [1/s] | answered [1/s] | cores | lag p99 [ms] | latency p99 [ms] | "
        "sustained |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for protocol, found in (("HTTP", http), ("WebSocket", messages)):
        lines += [
            f"| {protocol} | {one.asked:,.0f} | {one.rate:,.0f} | {one.cpu:.2f} | "
            f"{one.lag_p99_ms or 0:.2f} | {one.p99_ms or 0:.1f} | {'yes' if one.held else 'no'} |"
            for one in found
        ]
    lines += [
        "",
        "## Do the tools agree?",
        "",
        f"One server at {COMPARED_RATE} requests/s: `slow` answers after 300 ms, `stall` answers "
        "nothing for 1 s in every 5 s (true: mean 100, p90 500, p99 950 ms). Mean of "
        f"{arguments.rounds} trials ± their standard deviation [ms]. Locust's users wait for their "
        "answers, which a stall hides: coordinated omission.",
        "",
        "| server and tool | mean | p50 | p90 | p99 |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, columns in agreed.items():
        cells = [
            f"{mean(one):.1f} ± {stdev(one) if len(one) > 1 else 0:.1f}" for one in columns.values()
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
