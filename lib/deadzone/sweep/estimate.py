"""How long trials will take, from those that were measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from deadzone.study.design import PlannedTrial, Treatment


def expected_s(
    remaining: Sequence[PlannedTrial], records: Iterable[Mapping[str, Any]], cooldown_s: float
) -> float | None:
    """Time the remaining trials will take [s]; None before anything was measured.

    A treatment that was measured takes its median; one that was not takes the mean of the others.
    """
    measured: dict[str, list[float]] = defaultdict(list)
    for record in records:
        measured[Treatment(record["levels"]).label()].append(float(record["wall_s"]))
    if not measured:
        return None
    typical = {label: median(walls) for label, walls in measured.items()}
    other = fmean(typical.values())
    return sum(typical.get(trial.treatment.label(), other) + cooldown_s for trial in remaining)


def in_words(seconds: float) -> str:
    """A duration as a person says it: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
