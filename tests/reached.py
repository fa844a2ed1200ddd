"""Which lines of the library no test reaches, module by module, the worst first.

`python tests/reached.py OUT FILE...` adds up what slipcover wrote in several runs of pytest, writes
the whole list to OUT and prints its head. What only a process of its own executes (the launcher,
the load generator) is not seen from here.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

LIBRARY = Path("lib")
MOST_MODULES = 10
"""So many are printed; the file names all."""


def unreached(paths: list[Path]) -> dict[str, tuple[list[int], int]]:
    """Lines that no run reached, and how many lines there are to reach, by module."""
    seen: dict[str, set[int]] = {}
    lines: dict[str, set[int]] = {}
    for path in paths:
        for name, file in json.loads(path.read_text())["files"].items():
            seen.setdefault(name, set()).update(file["executed_lines"])
            lines.setdefault(name, set()).update(file["executed_lines"], file["missing_lines"])
    return {name: (sorted(lines[name] - seen[name]), len(lines[name])) for name in lines}


def ranges(numbers: list[int]) -> str:
    """1, 2, 3, 7 as 1-3, 7."""
    runs = [
        [number for _, number in group]
        for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def main(out: str, *names: str) -> None:
    """Write the list, and print its head."""
    found = [path for path in map(Path, names) if path.is_file() and path.stat().st_size]
    if not found:
        print(
            "Which lines of the library the tests reach was not counted: slipcover is not "
            "installed."
        )
        return
    modules = unreached(found)
    never = [
        str(path)
        for path in sorted(LIBRARY.rglob("*.py"))
        if path.read_text().strip() and str(path) not in modules and path.name != "__init__.py"
    ]
    worst = sorted(
        ((name, missed, total) for name, (missed, total) in modules.items() if missed),
        key=lambda row: (-len(row[1]), row[0]),
    )
    missed, total = (
        sum(counts) for counts in zip(*((len(m), t) for m, t in modules.values()), strict=True)
    )
    head = (
        f"{missed} of {total} lines of the library are reached by no test of this run; {out} names "
        "them"
    )
    rows = [f"{len(lines):5} of {total:4}  {name}: {ranges(lines)}" for name, lines, total in worst]
    rows += [f"  all         {name}: no test imports it" for name in never]
    Path(out).write_text("\n".join([head, *rows]) + "\n")
    print(f"\n{head}:")
    print("\n".join(row if len(row) <= 120 else f"{row[:119]}…" for row in rows[:MOST_MODULES]))


if __name__ == "__main__":
    main(*sys.argv[1:])
