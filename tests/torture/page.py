"""The page of all faults that were tried, added up from what each run of `make torture` wrote."""

import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadzone import __version__
from deadzone.report.document.execution import machine_folders, without_paths
from deadzone.store.provenance import cpu_model, git_facts, operating_system, usable_cores

BY_HAND = "## Found and mended"
"""From this heading on the page is typed, and kept as it is."""

WANTED = {"program": 1_000, "service": 300, "cluster": 200}
"""Faults that were asked for, by what is swept."""

CALLED = {
    "program": "a program on the local target", "service": "a service, asked or under load",
    "cluster": "pods of a cluster", "report": "a run with its report on a disk", "input": "input",
}  # fmt: skip


@dataclass
class Result:
    """What one run of `make torture` tried. faults: of each kind of sweep, how often each fault."""

    seed: int
    took_s: float = 0.0
    scenes: dict[str, int] = field(default_factory=dict)
    faults: dict[str, Counter[str]] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    circumstances: dict[str, Any] = field(default_factory=dict)

    def add(self, kind: str, faults: Mapping[str, int] | Iterable[str]) -> None:
        """A scene more of a kind, with the faults it had."""
        self.scenes[kind] = self.scenes.get(kind, 0) + 1
        self.faults.setdefault(kind, Counter()).update(faults)

    @property
    def total(self) -> int:
        return sum(one.total() for one in self.faults.values())


def write_down(result: Result, folder: Path) -> None:
    """Keep a result beside those of other runs."""
    now = datetime.now(UTC)
    result.circumstances = {
        "ended_at": f"{now:%Y-%m-%d %H:%M}",
        "deadzone": __version__,
        "python": platform.python_version(),
        "commit": git_facts(Path(__file__).parent).get("git_commit", "")[:8],
        "machine": f"{usable_cores()} cores of {cpu_model()}, Linux {platform.release()}, "
        f"{operating_system()}",
        "load_average": round(os.getloadavg()[0], 2),
    }
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{now:%Y%m%dT%H%M%S}-{result.seed}-{os.getpid()}.json"
    told = without_paths(vars(result), machine_folders())
    (folder / name).write_text(json.dumps(told, indent=1) + "\n")


def written_down(folder: Path) -> list[Result]:
    """The results of all runs, oldest first."""
    told = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    made = [Result(**one) for one in told]
    for one in made:
        one.faults = {kind: Counter(faults) for kind, faults in one.faults.items()}
    return made


def page(results: list[Result], by_hand: str) -> str:
    """What was tried and what was found. by_hand: what the page ends with."""
    kinds = [kind for kind in CALLED if any(kind in one.faults for one in results)]
    counted = {
        kind: sum((one.faults.get(kind, Counter()) for one in results), Counter()) for kind in kinds
    }
    scenes = {kind: sum(one.scenes.get(kind, 0) for one in results) for kind in kinds}
    swept = [kind for kind in kinds if kind != "input"]
    total = sum(counted[kind].total() for kind in swept)
    lines = [
        "# A thousand faults, and nothing lost",
        "",
        "Written by `make torture PAGE=docs/benchmarks/faults.md` from the results of all runs of "
        "it in `docs/benchmarks/faults`, but for what stands under "
        f"*{BY_HAND.removeprefix('## ')}* and below.",
        "",
        f"{total:,} faults in {sum(scenes[kind] for kind in swept):,} sweeps. Each sweep goes "
        "through one to five faults, drawn with their instants from the seed, and then to its "
        "end. After each fault: an exit code that is documented and one sentence, never a "
        "traceback; the trials that were recorded as they were; nothing left of a command that "
        "was not killed. In the end: every trial of the plan once, in the plan's order, with the "
        "table of an undisturbed run but for what was measured; no control group, folder, process "
        "or mount left.",
        "",
        "| swept | sweeps | faults | asked for |",
        "| --- | --- | --- | --- |",
        *(
            f"| {CALLED[kind]} | {scenes[kind]:,} | {counted[kind].total():,} | "
            f"{f'{WANTED[kind]:,}' if kind in WANTED else ''} |"
            for kind in swept
        ),
        "",
        f"| fault | {' | '.join(CALLED[kind] for kind in swept)} |",
        f"| --- |{' --- |' * len(swept)}",
        *(
            f"| {name} | "
            f"{' | '.join(f'{counted[kind][name]:,}' if counted[kind][name] else '' for kind in swept)} |"  # noqa: E501
            for name in sorted({name for kind in swept for name in counted[kind]})
        ),
    ]
    if "input" in kinds:
        lines += [
            "",
            f"{counted['input'].total():,} inputs, each a real one after one to three damages "
            "(types, sizes, encodings, huge and tiny numbers, nesting, aliases, links, line ends, "
            "byte order marks, bytes): an answer or one sentence with a documented exit code, in "
            "2 s of CPU time and 500 MB (what a notebook makes of parameters may take longer).",
            "",
            "| input | cases |",
            "| --- | --- |",
            *(f"| {name} | {number:,} |" for name, number in sorted(counted["input"].items())),
        ]
    lines += [
        "",
        "## Runs",
        "",
        "| ended (UTC) | commit | seed | took | faults and inputs | found | on |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {one.circumstances['ended_at']} | {one.circumstances['commit']} | {one.seed} | "
            f"{one.took_s:,.0f} s | {one.total:,} | {len(one.found) or 'nothing'} | "
            f"{one.circumstances['machine']}; Python {one.circumstances['python']}; load "
            f"{one.circumstances['load_average']} |"
            for one in results
        ),
        "",
        *(f"- seed {one.seed}: {text.splitlines()[0]}" for one in results for text in one.found),
    ]
    return "\n".join(lines).rstrip() + f"\n\n{by_hand}"


def rewrite(path: Path) -> None:
    """Write the page from the results beside it; what was typed stays."""
    before = path.read_text() if path.exists() else ""
    by_hand = before[before.index(BY_HAND) :] if BY_HAND in before else f"{BY_HAND}\n"
    path.write_text(page(written_down(path.with_suffix("")), by_hand))
