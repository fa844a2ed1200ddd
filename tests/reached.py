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


def ranges(numbers: list[int]) -> str:
    """1, 2, 3, 7 as 1-3, 7."""
    runs = [
        [number for _, number in group]
        for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def main(out: str, *names: str) -> None:
    found = [path for path in map(Path, names) if path.is_file() and path.stat().st_size]
    if not found:
        print(
            "Which lines of the library the tests reach was not counted: slipcover is not "
            "installed."
        )
        return
    seen: dict[str, set[int]] = {}
    missed: dict[str, set[int]] = {}
    for path in found:
        for name, file in json.loads(path.read_text())["files"].items():
            seen.setdefault(name, set()).update(file["executed_lines"])
            missed.setdefault(name, set()).update(file["missing_lines"])
    left = {name: sorted(missed[name] - seen[name]) for name in seen}
    total = {name: len(missed[name] | seen[name]) for name in seen}
    worst = sorted(filter(left.get, left), key=lambda name: (-len(left[name]), name))
    never = [
        str(path)
        for path in sorted(LIBRARY.rglob("*.py"))
        if path.read_text().strip() and str(path) not in seen and path.name != "__init__.py"
    ]
    head = (
        f"{sum(map(len, left.values()))} of {sum(total.values())} lines of the library are reached "
        f"by no test of this run; {out} names them"
    )
    rows = [
        f"{len(left[name]):5} of {total[name]:4}  {name}: {ranges(left[name])}" for name in worst
    ]
    rows += [f"  all         {name}: no test imports it" for name in never]
    Path(out).write_text("\n".join([head, *rows]) + "\n")
    print(f"\n{head}:")
    print("\n".join(row if len(row) <= 120 else f"{row[:119]}…" for row in rows[:MOST_MODULES]))


if __name__ == "__main__":
    main(*sys.argv[1:])
