"""What a sweep would do, and how long the trials that are left will take."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from statistics import fmean, median
from typing import Any

from deadzone.language.formats import duration
from deadzone.study.design import PlannedTrial, Treatment
from deadzone.study.plan import Plan

UNKNOWN = "unknown: no earlier run of this study"

REMEMBERED = 15
"""So many latest trials of a treatment say what the next one takes."""


class TrialTimes:
    """How long trials take, learned from those that were measured; the thousandth costs as much as
    the first. A treatment takes the median of its latest, one that was not measured the mean of
    the others."""

    def __init__(self, cooldown_s: float, records: Iterable[Mapping[str, Any]] = ()) -> None:
        """records: those of the trials and attempts that were measured already."""
        self._cooldown_s = cooldown_s
        self._measured = defaultdict[str, deque[float]](partial(deque, maxlen=REMEMBERED))
        self._typical: dict[str, float] = {}
        self.measured_s = 0.0
        """What all attempts took, with the pauses between them [s]."""
        for record in records:
            self.add(record)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take account of a measured trial, or of an attempt at it."""
        walls = self._measured[label := Treatment(record["levels"]).label()]
        walls.append(float(record["wall_s"]))
        self.measured_s += record["wall_s"] + self._cooldown_s
        self._typical[label] = median(walls)

    def typical_s(self, trial: PlannedTrial) -> float:
        """Time that one attempt at a trial takes [s]; 0 before anything was measured."""
        return self._typical.get(trial.treatment.label(), fmean(self._typical.values() or (0.0,)))

    def further_s(self, n_trials: int) -> float | None:
        """Time that so many further trials take [s], each treatment as often as any other; None
        before anything was measured."""
        if not self._typical:
            return None
        return n_trials * (fmean(self._typical.values()) + self._cooldown_s)


def remaining(trials: Iterable[PlannedTrial], finished: Set[int]) -> list[PlannedTrial]:
    """The trials that are not finished."""
    return [trial for trial in trials if trial.trial not in finished]


def ahead(plan: Plan, times: TrialTimes, done: int, total: int) -> tuple[int, float | None]:
    """How many trials there will be, and the time that the further ones take [s]; where they are
    chosen on the way, the most there may be."""
    if not plan.is_adaptive:
        return total, times.further_s(total - done)
    most = max(total, len(plan.trials) + plan.most_trials)
    grid_s = times.further_s(plan.grid_trials)
    return most, None if grid_s is None else max(grid_s - times.measured_s, 0.0)


def preview(
    plan: Plan, earlier: Sequence[Mapping[str, Any]], finished: Set[int] = frozenset()
) -> dict[str, Any]:
    """What a sweep would do: its treatments, trials, and the time it would take; of an adaptive one
    at most.

    earlier: records of an earlier run of the study, or of the one to resume, from which the time is
    estimated; may be empty. finished: numbers of the trials that need not be measured again.
    """
    design, left = plan.study.design, remaining(plan.trials, finished)
    n_trials, longest_n = len(plan.trials), len(left)
    if plan.is_adaptive:
        # the plan holds the warm-up alone
        measured = len(finished - {trial.trial for trial in plan.trials})
        longest_n = max(plan.most_trials - measured, 0)
        n_trials = measured + longest_n
    n_whole = plan.grid_trials if plan.is_adaptive else len(left)
    whole = TrialTimes(design.cooldown_s, earlier).further_s(n_whole)
    estimated_s = None if whole is None else min(whole, design.budget_s or whole)
    return {
        "study": plan.study.study,
        "treatments": [dict(treatment.levels) for treatment in plan.treatments],
        "replicates": design.replicates,
        "warmup": design.warmup,
        "n_trials": n_trials,
        "n_remaining": longest_n,
        "estimated_s": estimated_s,
        "estimated": UNKNOWN if estimated_s is None else duration(estimated_s),
        "longest_s": longest_n * (design.timeout_s + design.cooldown_s),
        **({"warning": plan.warning} if plan.warning else {}),
        "order": [trial.treatment.label() for trial in left],
    }
