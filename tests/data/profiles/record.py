"""Record the profiles of this folder anew: `python tests/data/profiles/record.py` (needs Go; two
minutes).

Builds the media server under `server/`, runs it with its parts on and off, fetches its
net/http/pprof pages, and writes each profile with what `go tool pprof -top` says of it. Replicates
are interleaved.
"""

import os
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
STREAMS = 64
CPU_SECONDS = 10
REPLICATES = 3
WARM_UP_S = 2
OFF = ("-nack=false", "-mdns=false")
SNAPSHOTS = ("heap", "allocs", "goroutine", "mutex", "block")
PPROF = ("go", "tool", "pprof")
TOP = ("-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0")


def build(folder: Path, source: str = ".") -> Path:
    """Compile a program, by default the server, into a folder; source paths are trimmed from the
    binary.

    All programs are built with the same options, and without C, so that Go compiles what they have
    in common once.
    """
    binary = folder / ("mediaserver" if source == "." else Path(source).name)
    subprocess.run(
        ("go", "build", "-trimpath", "-o", binary, source),
        cwd=HERE / "server",
        env={**os.environ, "CGO_ENABLED": "0"},
        check=True,
    )
    return binary


@contextmanager
def running(binary: Path, *options: str, warm_up_s: float = WARM_UP_S) -> Iterator[str]:
    """The address of the pages of a server that runs meanwhile."""
    with subprocess.Popen((binary, *options), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            time.sleep(warm_up_s)
            yield address
        finally:
            server.send_signal(signal.SIGKILL)


def fetch(address: str, page: str) -> bytes:
    with urllib.request.urlopen(address + page, timeout=120) as answer:
        content: bytes = answer.read()
    return content


def top(profile: Path, value: str, pprof: Sequence[str | Path] = PPROF) -> str:
    """What `go tool pprof -top` says of one value of a profile, to the last digit."""
    unit = "-unit=B" if value.endswith("space") else "-unit=ns"
    command = (*pprof, *TOP, unit, f"-sample_index={value}", profile)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def values_of(name: str) -> tuple[str, ...]:
    """The values that a page of net/http/pprof holds."""
    return {
        "cpu": ("cpu",),
        "heap": ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space"),
        "allocs": ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space"),
        "goroutine": ("goroutine",),
        "mutex": ("contentions", "delay"),
        "block": ("contentions", "delay"),
    }[name]


def keep(kind: str, label: str, content: bytes) -> None:
    """Write a profile, and beside it what pprof says of each of its values."""
    path = HERE / f"{kind}-{label}.pb.gz"
    path.write_bytes(content)
    for value in values_of(kind):
        (HERE / f"{kind}-{label}.{value}.top.txt").write_text(top(path, value))


def record(binary: Path, label: str, *options: str, snapshots: bool = False) -> None:
    """Run the server once and keep its CPU profile, and the other kinds where asked."""
    with running(binary, *options) as address:
        keep("cpu", label, fetch(address, f"profile?seconds={CPU_SECONDS}"))
        for kind in SNAPSHOTS if snapshots else ():
            keep(kind, label, fetch(address, kind))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        binary = build(Path(folder))
        at_load = f"-streams={STREAMS}"
        for replicate in range(1, REPLICATES + 1):
            record(binary, f"before-{replicate}", at_load, snapshots=replicate == 1)
            record(binary, f"after-{replicate}", at_load, *OFF, snapshots=replicate == 1)
        record(binary, "without-nack", at_load, OFF[0])
        record(binary, "without-mdns", at_load, OFF[1])
        for streams in (16, 32, 48):
            record(binary, f"{streams}-streams", f"-streams={streams}", *OFF)


if __name__ == "__main__":
    main()
