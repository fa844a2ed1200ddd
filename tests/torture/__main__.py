"""Faults without end: `python -m torture --for 60s --seed 7`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadzone import __version__
from deadzone.store.provenance import cpu_model, operating_system, usable_cores
from torture.scene import MOST_FAULTS, Scene, play
from torture.serving import ServiceScene

KINDS: dict[str, type[Scene]] = {"program": Scene, "service": ServiceScene}
"""What is swept, in turn."""

CLUSTER = "cluster"
"""Swept only where it is asked for, as it takes a node of Kubernetes."""

MOST_FOUND = 20
"""So many scenes say what is wrong; more would say it again."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> float:
    """60s, 10m, 1h."""
    return float(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else float(text)


def kind_of(name: str) -> type[Scene]:
    """The scene of a name. That of a cluster is found where tests/cluster is on the path."""
    if name != CLUSTER:
        return KINDS[name]
    from torture.cluster import ClusterScene

    return ClusterScene


def page(counted: Counter[str], scenes: int, took_s: float, seed: int, found: list[str]) -> str:
    """What was tried and what was found, for docs/benchmarks/faults.md."""
    rows = "".join(f"| {name} | {times:,} |\n" for name, times in sorted(counted.items()))
    left = "".join(f"- {one.splitlines()[0]}\n" for one in found) or "Nothing.\n"
    return f"""# A thousand faults, and nothing lost

Written by `make torture PAGE=docs/benchmarks/faults.md`; not edited by hand.

deadzone {__version__}, Python {platform.python_version()}; {datetime.now(UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}, Linux {platform.release()}, {operating_system()}; load average when it ended: {os.getloadavg()[0]:.2f}.

{counted.total():,} faults in {scenes:,} sweeps, {took_s:.0f} s, seed {seed}: of a program of a few milliseconds on the local target, and of a small server that is
asked once a trial or put under load, started by the sweep or up already. Each sweep goes through one to {MOST_FAULTS} faults, drawn with their instants from the seed, and then to its end. After each fault: an exit code that is
documented and one sentence, never a traceback; the trials that were recorded as they were; nothing left of a command that
was not killed. In the end: every trial of the plan once, in the plan's order, with the table of an undisturbed run but
for what was measured; no control group, folder, process or mount left.

| fault | times |
| --- | --- |
{rows}
## Found in this run

{left}"""


def keep(folder: Path, of: str, seed: int, took_s: float, tried: dict[str, Any], found: list[str]) -> None:
    """Write what was tried so far: one file for each run."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"of": of, "seed": seed, "seconds": round(took_s), "deadzone": __version__}
    machine = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "cores": usable_cores(), "load": os.getloadavg()[0]}
    text = json.dumps({**facts, **machine, **tried, "found": found}, indent=1)
    (folder / f"{of}-{seed}.json").write_text(text + "\n")


def main() -> int:
    """Play scenes until the time is over; the exit code is 1 where the oracle found something."""
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__)
    parser.add_argument("--for", dest="for_s", type=seconds, default=60.0, help="how long: 60s, 10m, 1h")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--scene", type=int, help="only the scene of this number")
    parser.add_argument("--fault", action="append", help="only faults of this name")
    parser.add_argument(
        "--of",
        choices=[*KINDS, CLUSTER],
        help="only sweeps of this kind; default all in turn but those of a cluster",
    )
    parser.add_argument(
        "--results", type=Path, help="folder for a JSON file of what was tried, kept up to date"
    )
    parser.add_argument("--page", type=Path, help="write what was tried as a page")
    asked = parser.parse_args()
    print(f"torture: seed {asked.seed}", flush=True)
    counted: Counter[str] = Counter()
    found: list[str] = []
    scenes, began = 0, time.monotonic()
    while scenes == 0 or (
        asked.scene is None and time.monotonic() - began < asked.for_s and len(found) < MOST_FOUND
    ):
        number = scenes if asked.scene is None else asked.scene
        kind = kind_of(asked.of or list(KINDS)[number % len(KINDS)])
        faults = {name: one for name, one in kind.faults().items() if not asked.fault or name in asked.fault}
        played = play(kind, asked.seed, number, faults)
        scenes += 1
        counted.update(played.faults)
        if played.found:
            found.append(f"scene {played.number}: {played.found}")
            print(f"FOUND seed {asked.seed} {found[-1]}", flush=True)
        if asked.results:
            tried = {"scenes": scenes, "faults": dict(sorted(counted.items()))}
            keep(asked.results, asked.of or "all", asked.seed, time.monotonic() - began, tried, found)
    for name, times in sorted(counted.items()):
        print(f"{times:6} {name}")
    print(
        f"{sum(counted.values()):6} faults in {scenes} sweeps, {time.monotonic() - began:.0f} s, seed {asked.seed}: "
        f"{len(found) or 'nothing'} found"
    )
    if asked.page:
        asked.page.write_text(page(counted, scenes, time.monotonic() - began, asked.seed, found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
