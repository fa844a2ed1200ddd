"""Faults without end: `python -m torture --for 60s --seed 7`."""

import argparse
import contextlib
import random
import sys
import tempfile
import time
from pathlib import Path

from torture.page import Result, rewrite, write_down
from torture.publishing import ReportScene
from torture.scene import Scene, play
from torture.serving import ServiceScene

KINDS: dict[str, type[Scene]] = {"program": Scene, "service": ServiceScene, "report": ReportScene}
"""What is swept."""

CLUSTER = "cluster"
"""Swept only where it is asked for, as it takes a node of Kubernetes; found where tests/cluster is
on the path."""

IN_TURN = ("program", "service")
"""What is swept where nobody asks for a kind; a run that is published takes too long."""

MOST_FOUND = 20
"""So many scenes say what is wrong; more would say it again."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> float:
    """60s, 10m, 1h."""
    return float(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else float(text)


def kind_of(name: str) -> type[Scene]:
    if name != CLUSTER:
        return KINDS[name]
    from torture.cluster import ClusterScene

    return ClusterScene


def torture_inputs(result: Result, kinds: list[str], cases: int, only: int | None) -> None:
    """So many cases of each kind of input, in batches."""
    from torture import inputs

    kept = Path(tempfile.mkdtemp(prefix="torture-kept-"))
    for kind in kinds:
        known: dict[str, str] = {}
        numbers = range(-(-cases // inputs.BATCH)) if only is None else [only]
        for number in numbers:
            tried = inputs.play(kind, result.seed, number, min(inputs.BATCH, cases), kept)
            result.add("input", {kind: tried.cases})
            for where, said in tried.found.items():
                if where not in known:
                    print(
                        f"FOUND seed {result.seed} {kind} {number}: {where}: {said}\n  files: "
                        f"{kept}",
                        flush=True,
                    )
            known = tried.found | known
        result.found += [f"{kind}: {where}" for where in known]
        print(f"{result.faults['input'][kind]:6} {kind}", flush=True)


def main() -> int:
    """Play scenes until the time is over, or try input; the exit code is 1 where the oracle found
    something."""
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__)
    parser.add_argument(
        "--for", dest="for_s", type=seconds, default=60.0, help="how long: 60s, 10m, 1h"
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--scene", type=int, help="only the scene of this number")
    parser.add_argument("--fault", action="append", help="only faults of this name")
    parser.add_argument(
        "--of",
        choices=[*KINDS, CLUSTER, "input"],
        help="only sweeps of this kind, or input; default programs and services in turn",
    )
    parser.add_argument("--kind", action="append", help="only input of this kind")
    parser.add_argument("--cases", type=int, default=10_000, help="of each kind of input")
    parser.add_argument("--faults", type=int, help="end after so many faults, whatever the time")
    parser.add_argument(
        "--page", type=Path, help="write what was tried beside this page, and the page anew"
    )
    asked = parser.parse_args()
    print(f"torture: seed {asked.seed}", flush=True)
    result = Result(asked.seed)
    began = time.monotonic()
    if asked.of == "input":
        from torture.inputs import KINDS as INPUTS

        torture_inputs(result, asked.kind or list(INPUTS), asked.cases, asked.scene)
    else:
        with contextlib.suppress(KeyboardInterrupt):  # what was played until then counts
            torture_sweeps(result, asked, began)
    result.took_s = time.monotonic() - began
    for kind, faults in result.faults.items():
        for name, times in sorted(faults.items()):
            print(f"{times:6} {name} ({kind})")
    print(
        f"{result.total:6} faults in {sum(result.scenes.values())} sweeps or batches, "
        f"{result.took_s:.0f} s, seed {asked.seed}: {len(result.found) or 'nothing'} found"
    )
    if asked.page:
        write_down(result, asked.page.with_suffix(""))
        rewrite(asked.page)
    return int(bool(result.found))


def torture_sweeps(result: Result, asked: argparse.Namespace, began: float) -> None:
    """Scenes until the time is over, the faults are enough, or too much was found."""

    def is_enough() -> bool:
        late = (
            result.total >= asked.faults
            if asked.faults
            else time.monotonic() - began >= asked.for_s
        )
        return asked.scene is not None or late or len(result.found) >= MOST_FOUND

    scenes = 0
    while scenes == 0 or not is_enough():
        number = scenes if asked.scene is None else asked.scene
        name = asked.of or IN_TURN[number % len(IN_TURN)]
        kind = kind_of(name)
        faults = {
            what: one
            for what, one in kind.faults().items()
            if not asked.fault or what in asked.fault
        }
        played = play(kind, asked.seed, number, faults)
        scenes += 1
        result.add(name, played.faults)
        if played.found:
            result.found.append(f"{name}, scene {played.number}: {played.found}")
            print(f"FOUND seed {asked.seed} {result.found[-1]}", flush=True)
        if name == CLUSTER:  # a scene of it takes a minute
            took_s = time.monotonic() - began
            print(f"{result.total} faults in {scenes} sweeps, {took_s:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
