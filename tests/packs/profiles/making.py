"""Profiles written down by hand, and the recorded ones."""

import re
from dataclasses import replace
from pathlib import Path

from deadzone_profiles.model import Profile, ValueType
from deadzone_profiles.reading import parse_folded, read_profile

RECORDED = Path(__file__).resolve().parents[2] / "data" / "profiles"
MILLISECOND = 1_000_000


def recorded(name: str) -> Profile:
    """A recorded profile by its name without ending."""
    return read_profile(RECORDED / f"{name}.pb.gz")


def counted(stacks: dict[str, int], source: str = "by hand") -> Profile:
    """A profile of samples, from folded stacks (outermost first)."""
    return parse_folded("".join(f"{stack} {count}\n" for stack, count in stacks.items()), source)


def cpu(
    stacks: dict[str, int], period_ms: int = 10, seconds: float = 0.0, source: str = "by hand"
) -> Profile:
    """A CPU profile in nanoseconds, from samples of each stack."""
    samples = counted(stacks, source)
    period = period_ms * MILLISECOND
    return replace(
        samples,
        value_types=(ValueType("samples", "count"), ValueType("cpu", "nanoseconds")),
        values=samples.values @ [[1, period]],
        period=period,
        period_type=ValueType("cpu", "nanoseconds"),
        duration_ns=int(seconds * 1e9),
        default_value="cpu",
    )


ROW = re.compile(
    r"\s*(?P<flat>-?\d+)(?:ns|B)?\s+\S+%\s+\S+%\s+(?P<cum>-?\d+)(?:ns|B)?\s+\S+%\s+"
    r"(?P<name>.*?)(?: \((?:partial-)?inline\))?$"
)


def top_of(text: str) -> tuple[int, dict[str, tuple[int, int]]]:
    """The total, and flat and cumulative value by function, as `go tool pprof -top` printed."""
    head, table = text.split("cum%\n", 1)
    total = re.search(r" of (-?\d+)(?:ns|B)? total", head)
    assert total, text
    rows = [ROW.fullmatch(line) for line in table.splitlines()]
    values = {row["name"]: (int(row["flat"]), int(row["cum"])) for row in rows if row}
    assert len(values) == len(rows)
    return int(total[1]), {name: pair for name, pair in values.items() if any(pair)}


def as_pprof_prints(name: str) -> str:
    """A function's name without parameter lists, which pprof does not print; receivers stay."""
    return re.sub(r"\((?!\*)[^()]*\)", "", name)
