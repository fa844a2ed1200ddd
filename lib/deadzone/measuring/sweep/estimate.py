"""How long trials will take, from those that were measured."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from deadzone.study.design import PlannedTrial, Treatment

REMEMBERED = 15
"""So many latest trials of a treatment say what the next one takes."""


class Estimate:
    """The time the remaining trials will take; costs as much with the thousandth trial as with the first.

    A treatment that was measured takes its median; one that was not takes the mean of the others. Trials that are
    repeated, for they were disturbed, are expected to be so at the rate seen until now.
    """

    def __init__(self, remaining: Sequence[PlannedTrial], cooldown_s: float) -> None:
        self._left = Counter(trial.treatment.label() for trial in remaining)
        self._cooldown_s = cooldown_s
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._attempts: list[int] = []

    def expect(self, trials: Sequence[PlannedTrial]) -> None:
        """Take account of trials that are still to be measured."""
        self._left.update(trial.treatment.label() for trial in trials)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take account of a measured trial, or of an attempt at it."""
        if record["final"]:
            self._attempts.append(record["attempt"])
        walls = self._measured[Treatment(record["levels"]).label()]
        walls.append(float(record["wall_s"]))
        del walls[:-REMEMBERED]

    def finish(self, trial: PlannedTrial) -> None:
        """A trial that needs no further attempt."""
        self._left[trial.treatment.label()] -= 1

    def left_s(self) -> float | None:
        """Time left [s]; None before anything was measured."""
        if not self._measured:
            return None
        typical = {label: median(walls) for label, walls in self._measured.items()}
        other = fmean(typical.values())
        attempts = fmean(self._attempts or [1])
        return sum(
            n * (attempts * typical.get(label, other) + self._cooldown_s) for label, n in self._left.items()
        )


def expected_s(
    remaining: Sequence[PlannedTrial], records: Iterable[Mapping[str, Any]], cooldown_s: float
) -> float | None:
    """Time the remaining trials will take [s]; None before anything was measured."""
    estimate = Estimate(remaining, cooldown_s)
    for record in records:
        estimate.add(record)
    return estimate.left_s()


def in_words(seconds: float) -> str:
    """A duration as a person says it: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
