"""What a sweep would do, and how long the trials that are left will take."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from statistics import fmean, median
from typing import Any

from deadzone.language.formats import duration
from deadzone.study.design import PlannedTrial, Treatment, coming_answer
from deadzone.study.plan import Plan

OPENING = 0.5
"""The least that an adaptive sweep measures: about half of the treatments, once."""

REMEMBERED = 15
"""So many latest trials of a treatment say what the next one takes."""


class RemainingTime:
    """The time the remaining trials will take; costs as much with the thousandth trial as with the
    first.

    A treatment that was measured takes its median; one that was not takes the mean of the others.
    Trials that are repeated, for they were disturbed, are expected to be so at the rate seen until
    now.
    """

    def __init__(
        self,
        remaining: Sequence[PlannedTrial],
        cooldown_s: float,
        records: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """records: those of the trials and attempts that were measured already."""
        self._left = Counter(trial.treatment.label() for trial in remaining)
        self._cooldown_s = cooldown_s
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._typical: dict[str, float] = {}
        self._finals = self._attempts = 0
        self.measured_s = 0.0
        """What all attempts took, with the pauses between them [s]."""
        for record in records:
            self.add(record)

    def expect(self, trials: Sequence[PlannedTrial]) -> None:
        """Take account of trials that are still to be measured."""
        self._left.update(trial.treatment.label() for trial in trials)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take account of a measured trial, or of an attempt at it."""
        if record["final"]:
            self._finals += 1
            self._attempts += record["attempt"]
        walls = self._measured[label := Treatment(record["levels"]).label()]
        walls.append(float(record["wall_s"]))
        self.measured_s += record["wall_s"] + self._cooldown_s
        del walls[:-REMEMBERED]
        self._typical[label] = median(walls)

    def finish(self, trial: PlannedTrial) -> None:
        """A trial that needs no further attempt."""
        self._left[trial.treatment.label()] -= 1

    def typical_s(self, trial: PlannedTrial) -> float:
        """Time that one attempt at a trial takes [s]; 0 before anything was measured."""
        other = fmean(self._typical.values()) if self._typical else 0.0
        return self._typical.get(trial.treatment.label(), other)

    def left_s(self) -> float | None:
        """Time left [s]; None before anything was measured."""
        if not self._typical:
            return None
        other, attempts = fmean(self._typical.values()), self._attempts_each
        return sum(
            n * (attempts * self._typical.get(label, other) + self._cooldown_s)
            for label, n in self._left.items()
        )

    def most_s(self, n_trials: int) -> float | None:
        """Time that so many further trials take [s], as those measured took on average; None before
        anything was measured."""
        if not self._typical:
            return None
        return n_trials * (self._attempts_each * fmean(self._typical.values()) + self._cooldown_s)

    @property
    def longest_s(self) -> float | None:
        """The longest of the latest trials of each treatment [s]; None before anything was
        measured."""
        return max((max(walls) for walls in self._measured.values()), default=None)

    @property
    def _attempts_each(self) -> float:
        """Attempts that a trial took until now, on average."""
        return self._attempts / self._finals if self._finals else 1.0


def remaining(trials: Iterable[PlannedTrial], finished: Set[int]) -> list[PlannedTrial]:
    """The trials that are not finished."""
    return [trial for trial in trials if trial.trial not in finished]


def ahead(plan: Plan, estimate: RemainingTime, done: int, total: int) -> tuple[int, float | None]:
    """How many trials there will be, and the time left [s]; where they are chosen on the way, the
    most there may be."""
    if not plan.is_adaptive:
        return total, estimate.left_s()
    most = max(total, len(plan.trials) + plan.most_trials)
    longest_s, left_s = estimate.most_s(plan.grid_trials), estimate.most_s(most - done)
    if longest_s is None or left_s is None:
        return most, None
    return most, max(min(longest_s, plan.design.budget_s or math.inf) - estimate.measured_s, 0.0)


def grid_s(plan: Plan, records: Sequence[Mapping[str, Any]]) -> float | None:
    """Time that every trial of the grid would take [s]; None before anything was measured."""
    every = [PlannedTrial(0, 1, 1, False, treatment) for treatment in plan.treatments]
    once = RemainingTime(every, plan.design.cooldown_s, records).left_s()
    return once * plan.grid_trials / len(every) if once else None


def preview(
    plan: Plan, earlier: Sequence[Mapping[str, Any]], finished: Set[int] = frozenset()
) -> dict[str, Any]:
    """What a sweep would do: its treatments, trials, and the time it would take; of an adaptive one
    at most.

    earlier: records of an earlier run of the study, or of the one to resume, from which the time is
    estimated; may be empty. finished: numbers of the trials that need not be measured again.
    """
    design, left = plan.design, remaining(plan.trials, finished)
    shares, n_trials, longest_n = [1.0], len(plan.trials), len(left)
    if plan.is_adaptive:
        shares = [OPENING * len(plan.treatments) / plan.grid_trials, 1.0]
        # the plan holds the warm-up alone
        measured = len(finished - {trial.trial for trial in plan.trials})
        longest_n = max(plan.most_trials - measured, 0)
        n_trials = measured + longest_n
    whole = (
        grid_s(plan, earlier)
        if plan.is_adaptive
        else RemainingTime(left, design.cooldown_s, earlier).left_s()
    )
    times = (
        [min(share * whole, design.budget_s or whole) for share in shares]
        if whole is not None
        else []
    )
    return {
        "study": plan.study.study,
        "answer": coming_answer(plan.study, plan.treatments),
        "treatments": [dict(treatment.levels) for treatment in plan.treatments],
        "replicates": design.replicates,
        "warmup": design.warmup,
        "n_trials": n_trials,
        "n_remaining": longest_n,
        "estimated_s": times[-1] if times else None,
        "estimated": " to ".join(map(duration, times)) or "unknown: no earlier run of this study",
        "longest_s": longest_n * (design.timeout_s + design.cooldown_s),
        **({"warning": plan.warning} if plan.warning else {}),
        "order": [trial.treatment.label() for trial in left],
    }
