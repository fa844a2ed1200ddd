"""Which setting to choose, out of those that noise cannot tell apart, and why.

The smallest mean is a poor guide: among twenty equal settings one is always the luckiest. The set
of settings that may be the best comes from multiple comparisons with the best (see `best_set`), and
of the set the one that is most probably a good one is recommended: hardly worse and hardly larger
than the setting of least loss, which is what a setting is worse than the best, beyond a tolerance,
and a price for each doubling of the knob (see `good_setting`; a decision under a loss: Berger 1985,
Statistical Decision Theory and Bayesian Analysis, chapter 1). What is compared are the level
estimates of the fitted curve with each level's own deviation (see `level_estimates`), so that the
levels of a plateau share their trials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases import decision
from deadzone.analysis.phases.best_set import BestSet, best_set
from deadzone.analysis.phases.candidates import (
    Candidates,
    candidates_of,
    only,
    with_cost,
)
from deadzone.analysis.phases.good_setting import chance_of_good, chance_within
from deadzone.analysis.phases.heeding import (
    doubt_of,
    own_level,
    stopping,
    withholding,
)
from deadzone.analysis.phases.power import (
    MOST_WORTH,
    POWER,
    ReplicatesNeeded,
    WhyNot,
    replicates_to_tell,
)
from deadzone.analysis.phases.quantities import listing
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.service_level import checked_targets, target_confidence
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.analysis.response_scale import RATIO
from deadzone.errors import PhaseError
from deadzone.language.messages import Message, _
from deadzone.study.levels import is_number

DOUBLING_PRICE = 0.01
"""What twice the knob has to bring, as a share of the response, once a setting is worse than the
tolerance allows. On curves whose truth is known 0.2 to 1 % choose equally well; 2 % stops too early
where the gain fades slowly."""

AS_PROBABLE = 0.05
"""Settings whose probabilities of being good differ by no more are as good: the one that takes
least of the knob is chosen."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The setting to choose and what it rests on.

    setting: a level, "none" for no limit, for a grid a dictionary with both factors, or None where
    no setting does what was asked. tied: the settings among which noise cannot decide (for the goal
    "within" or "targets": those that do what was asked), the cheapest first. reason: the decision
    in a sentence or two with its numbers, as it is said everywhere. goal: one of "fastest",
    "within", "targets", "cost". quantity: the column compared, or the cost as written. confidence:
    family-wise level of the set. caveats: sentences a reader needs. replicates: what would show
    that the worst of the tied settings is worse, or None where one is left. doubt: what a finding
    about the experiment saw that makes the setting doubtful, or empty. state: what became of the
    question, see `decision.State`. table: one row a candidate, the cheapest first:
    setting, name, n, estimate, low, high (typical response, or cost, with its own interval at the
    confidence), loss, loss_low, loss_high (how much better the best is, a fraction, for a response
    that may be zero an amount; simultaneous bounds), within (the probability that it is worse than
    the best by no more than the tolerance), tied, and `chance`: the probability that it meets the
    targets, or that it is a good setting (see `good_setting`); without it for other goals.
    """

    setting: Any
    tied: tuple[Any, ...]
    reason: str
    goal: str
    quantity: str
    confidence: float
    caveats: tuple[str, ...]
    replicates: ReplicatesNeeded | None
    table: pd.DataFrame
    doubt: str = ""
    state: decision.State = "set"

    @property
    def chosen(self) -> pd.Series:
        """The row of the table for the setting to choose, which there must be."""
        return self.table[[item == self.setting for item in self.table["setting"]]].iloc[0]

    @property
    def probability(self) -> float | None:
        """That the setting is a good one, or meets the targets; None where the goal knows no such
        probability."""
        return (
            None
            if self.setting is None or "chance" not in self.table
            else float(self.chosen["chance"])
        )

    def to_dict(self) -> dict[str, Any]:
        """The record `deadzone fit --json` prints: plain numbers, strings and lists."""
        return {
            "state": self.state,
            "setting": self.setting,
            "tied": list(self.tied),
            "reason": self.reason,
            "goal": self.goal,
            "quantity": self.quantity,
            "confidence": self.confidence,
            "probability": self.probability,
            "caveats": list(self.caveats),
            "replicates_needed": self.replicates.replicates if self.replicates else None,
        }

    def __str__(self) -> str:
        return "\n".join([self.reason, *(f"Note: {caveat}" for caveat in self.caveats)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())


@dataclass(frozen=True, eq=False)
class _Choice:
    """What a goal decided: position of the setting (or None), members of the set, and the
    probability of each."""

    index: int | None
    member: np.ndarray
    chance: np.ndarray | None = None


def recommend(model: PhaseResult, **options: Any) -> Recommendation:
    """Recommend a level of the knob; the options are those of `recommend_from`."""
    candidates = model.settings or candidates_of(model)
    return recommend_from(candidates, **{"findings": model.findings, **options})


def _there_to_have(
    candidates: Candidates, all_there_is: float | None, barred: Sequence[Any]
) -> Candidates:
    """The candidates without barred levels, and those that exceed the smallest one which gives all
    there is. None of them is the end of the range where a larger level is barred."""
    levels = candidates.levels
    larger = max((float(level) for level in barred if is_number(level)), default=-np.inf)
    last = candidates["last"] & ~(levels < larger)
    candidates = replace(candidates, table=candidates.table.assign(last=last))
    own = [own_level(setting, candidates.knob) for setting in candidates["setting"]]
    keep = np.array([level not in barred for level in own])
    if all_there_is is not None:
        enough = levels[levels >= all_there_is]
        keep &= ~(levels > (enough.min() if len(enough) else np.inf))
    return only(candidates, keep) if 1 < keep.sum() < len(keep) else candidates


def check_options(**options: Any) -> None:
    """Raise PhaseError for a wish of `recommend_from` that cannot be meant, whatever was
    measured."""
    for name in ("within", "tolerance", "price"):
        share = options.get(name)
        if share is not None and not (isinstance(share, int | float) and 0 <= share <= 1):
            raise PhaseError(
                f"{name} is {share!r}; give a share from 0 to 1, for example 0.05 for 5 %."
            )
    if options.get("cost") is not None:
        from deadzone.analysis.phases.cost_expression import parse_cost

        parse_cost(options["cost"])


def recommend_from(
    candidates: Candidates,
    within: float | None = None,
    slo: Mapping[str, float] | None = None,
    cost: str | None = None,
    confidence: float = CONFIDENCE,
    all_there_is: float | None = None,
    barred: Sequence[Any] = (),
    tolerance: float = PRACTICAL_TOLERANCE,
    price: float = DOUBLING_PRICE,
    findings: Sequence[Finding] = (),
    anyway: bool = False,
) -> Recommendation:
    """Recommend one of the candidates, whose first column is the knob.

    By default it is, of the settings that are not shown to be worse than the best by more than the
    tolerance, the one that is most probably good. At most one of these asks for another: within:
    the cheapest setting estimated to be at most this fraction worse than the best (0.05: 5 %). slo:
    the cheapest setting that meets targets with the confidence, in the unit of the response:
    {"mean": 40, "p90": 60, "max": 100}.
    cost: the setting with the smallest cost, arithmetic over the knob and the response:
        "cpu_limit * wall_s" (core-seconds a job).
    confidence: family-wise level of every statement. all_there_is: the knob cannot give more than
    this, such as the cores of the machine to a CPU limit; of the levels that reach it the smallest
    may be recommended, and none beyond.
    barred: levels of the knob that are not recommended, whatever they gain, as long as two others
    are there. tolerance: what a setting may be worse than the best for nothing, a share of the
    response. price: the share that a doubling of the knob has to bring beyond it; 0 takes the
    cheapest setting within the tolerance.
    findings: about the experiment. While one stops, no setting is recommended, unless `anyway`;
        while one doubts, the doubt is part of the reason, and no probability is given: it would be
        that of an experiment without the fault.

    Literature: Hsu 1984 (the set), Henderson 1975 (the estimates); see `best_set`,
    `level_estimates`. Raises PhaseError if the options contradict each other or cannot be read.
    """
    check_options(within=within, tolerance=tolerance, price=price)
    barred = [*barred, *(level for finding in findings if finding.bars for level in finding.levels)]
    candidates = _there_to_have(candidates, all_there_is, barred)
    goal = _the_goal(within, slo, cost)
    caveats: list[str] = []
    if candidates.scale.kind != RATIO and (slo is not None or cost is not None):
        raise PhaseError(
            f"{candidates.response!r} may be zero or negative here; targets and costs need a "
            "positive response."
        )
    if cost is not None:
        candidates, caveats = _priced(candidates, cost)
    tied_set = best_set(
        candidates.sign * candidates["estimate"],
        candidates.covariance,
        candidates.comparison_df,
        confidence,
        tolerance,
    )
    tied_set = decision.without_denied(candidates, tied_set)
    wanted = None if slo is None else checked_targets(slo, candidates.goal)
    if within is not None:
        choice = _cheapest_within(candidates, tied_set, within)
    elif wanted is not None:
        choice = _meets_targets(candidates, wanted, confidence)
    else:
        choice = _fastest(candidates, tied_set, price)
    setting = None if choice.index is None else candidates["setting"][choice.index]
    stop = None if anyway else stopping(findings, own_level(setting, candidates.knob))
    withheld = None if anyway else withholding(findings)
    doubt = doubt_of(findings)
    table = _table(candidates, tied_set, choice)
    state, again = _state(candidates, tied_set, choice, table, bool(wanted) or within is not None)
    if stop is not None:
        row = None if choice.index is None else table.iloc[choice.index]
        state, said = "stopped", decision.stopped(stop, row, candidates.response)
    elif withheld is not None:
        state = "no_setting"
        is_load = withheld.seen.values.get("how") in ("load", "repeated", "by")  # no units
        said = withheld.sentence if is_load else decision.of_work(candidates, withheld.sentence)
    elif state == "open" and not anyway:
        said = decision.open_(candidates, tied_set.loss, again)
    elif state in ("open", "tied"):
        state, said = "tied", decision.tied(table, doubt)
    else:
        said = _words(candidates, tied_set, choice, table, doubt, within, wanted)
    if stop is not None or withheld is not None:
        choice = _Choice(None, np.zeros(len(candidates), dtype=bool))
        table = table.assign(tied=False).drop(columns="chance", errors="ignore")
    else:
        said = decision.directed(candidates, said)
        if state == "open" or (doubt and choice.index is not None):
            table = table.drop(columns="chance", errors="ignore")
    is_counted = slo is None and not len(again)
    replicates = _replicates(candidates, tied_set, choice) if is_counted else None
    if state == "open":
        choice = replace(choice, index=None)
    tolerated = candidates.scale.tolerance_text(tolerance)
    caveats += decision.caveats(
        candidates, choice.index, replicates, tolerated, all_there_is, table["loss_low"]
    )
    return Recommendation(
        setting=None if choice.index is None else setting,
        tied=tuple(candidates["setting"][choice.member]),
        reason=said,
        goal=goal,
        quantity=candidates.response,
        confidence=confidence,
        caveats=tuple(caveats),
        replicates=replicates,
        table=table,
        doubt=doubt,
        state=state,
    )


def _state(
    candidates: Candidates, tied_set: BestSet, choice: _Choice, table: pd.DataFrame, is_asked: bool
) -> tuple[decision.State, np.ndarray]:
    """What the trials leave of the question, and the positions of settings to measure again.
    is_asked: for another setting than the best."""
    again = np.array([], dtype=int)
    if choice.index is None:
        return "no_setting", again
    if is_asked:
        return "set", again
    again = decision.to_measure_again(candidates, tied_set.tolerance, choice.index)
    within = table["within"].to_numpy(float)
    return decision.state_of(candidates, tied_set, within, choice.index, again), again


def _words(
    candidates: Candidates,
    tied_set: BestSet,
    choice: _Choice,
    table: pd.DataFrame,
    doubt: str,
    within: float | None,
    wanted: Mapping[str, float] | None,
) -> Message:
    """The decision in words. within, wanted: what was asked for."""
    scale, index = candidates.scale, choice.index
    if wanted is not None and (index is None or not doubt):
        return decision.targets(candidates, wanted, table, index, tied_set.confidence)
    assert index is not None, "only targets may leave no setting"
    if doubt:
        return decision.doubted(table.iloc[index], candidates.response, doubt)
    if within is not None:
        high, share = scale.loss_text(tied_set.high[index]), scale.tolerance_text(within)
        return decision.within(
            table.iloc[index], candidates.response, share, high, tied_set.confidence
        )
    allowance = scale.tolerance_text(tied_set.tolerance)
    return decision.best(table, index, candidates.response, allowance, tied_set.confidence)


def _the_goal(within: float | None, slo: Mapping[str, float] | None, cost: str | None) -> str:
    """The goal that the arguments name; at most one may."""
    asked = {"within": within, "targets": slo, "cost": cost}
    given = [name for name, value in asked.items() if value is not None]
    if len(given) > 1:
        raise PhaseError(f"Ask for one thing at a time: {' and '.join(given)} were given together.")
    return given[0] if given else "fastest"


def _fastest(candidates: Candidates, tied_set: BestSet, price: float) -> _Choice:
    kin = tied_set.member & _kin(candidates, tied_set)
    chance = chance_of_good(candidates, tied_set, price, kin)
    index = int(
        np.where(chance >= chance.max() - AS_PROBABLE, candidates.doublings, np.inf).argmin()
    )
    # What measured no worse and takes less is not refused for what the curve expects of it.
    own = candidates.sign * candidates["own"]
    index = int(np.where(kin & (own <= own[index]), candidates.doublings, np.inf).argmin())
    return _Choice(index, tied_set.member, chance)


def _kin(candidates: Candidates, tied_set: BestSet) -> np.ndarray:
    """Which are of the best estimate's kind, shape (n,): what others cost is not known."""
    return candidates["kind"] == candidates["kind"][int(np.argmin(tied_set.loss))]


def _cheapest_within(candidates: Candidates, tied_set: BestSet, within: float) -> _Choice:
    member = tied_set.loss <= np.log1p(within) + 1e-12
    return _Choice(int(np.argmax(member & _kin(candidates, tied_set))), member)


def _meets_targets(
    candidates: Candidates, targets: Mapping[str, float], confidence: float
) -> _Choice:
    chance = target_confidence(targets, candidates)
    member = chance >= confidence
    index = int(np.argmax(member)) if member.any() else int(np.argmax(chance))
    if chance[index] < decision.PROBABLE:
        return _Choice(None, member, chance)
    return _Choice(index, member if member.any() else np.arange(len(chance)) == index, chance)


def _priced(candidates: Candidates, cost: str) -> tuple[Candidates, list[str]]:
    """The candidates by cost, the cheapest first, without those that have no cost."""
    from deadzone.analysis.phases.cost_expression import parse_cost

    priced = with_cost(candidates, parse_cost(cost))
    known = np.isfinite(priced["estimate"])
    if known.sum() < min(2, len(known)):
        raise PhaseError(
            f"The cost {cost!r} is a positive number at fewer than two settings; check its signs."
        )
    if known.all():
        return priced, []
    without = listing(list(priced["name"][~known]))
    note = _("{settings}: no positive, finite cost, so not compared.", settings=without)
    return only(priced, known), [note]


def _replicates(
    candidates: Candidates, tied_set: BestSet, choice: _Choice
) -> ReplicatesNeeded | None:
    """What would show that the tied setting expected to be worst is worse than the best by more
    than the tolerance; of more than MOST_WORTH trials nothing is asked."""
    tied = np.flatnonzero(tied_set.member)
    if choice.index is None or len(tied) < 2:
        return None
    best, *_, other = tied[np.argsort(tied_set.loss[tied], kind="stable")]
    noise = float(np.hypot(*candidates["noise"][[best, other]]) / np.sqrt(2))
    beyond = float(tied_set.loss[other] - tied_set.loss[best] - np.log1p(tied_set.tolerance))
    n = None
    why_not: WhyNot = "many"
    if not candidates["estimable"].any():
        why_not = "noise"
    elif beyond <= 0:
        why_not = "tolerated"
    if beyond > 0 and noise > 0:
        n = replicates_to_tell(beyond, noise, len(tied), tied_set.confidence)
    if n is not None:
        # The trials that were made did not tell them apart.
        n = max(n, int(candidates["n"][[best, other]].min()) + 1)
    if n is not None and n > MOST_WORTH:
        n = None
    return ReplicatesNeeded(
        candidates["name"][best],
        candidates["name"][other],
        float(candidates.scale.amount(np.asarray(tied_set.loss[other] - tied_set.loss[best]))),
        n,
        n * len(tied) if n else None,
        POWER,
        tied_set.confidence,
        why_not,
    )


def estimates_table(candidates: Candidates, confidence: float) -> pd.DataFrame:
    """Each setting with its name, its trials, its estimate and the interval of that at the
    confidence."""
    from scipy.special import stdtrit

    scale, estimate = candidates.scale, candidates["estimate"]
    quantile = float(stdtrit(candidates.degrees_of_freedom, (1 + confidence) / 2))
    half = quantile * candidates.std_error
    return candidates.table[["setting", "name", "n"]].assign(
        estimate=scale.backward(estimate),
        low=np.maximum(scale.backward(estimate - half), scale.least),
        high=scale.backward(estimate + half),
    )


def _table(candidates: Candidates, tied_set: BestSet, choice: _Choice) -> pd.DataFrame:
    scale = candidates.scale
    table = estimates_table(candidates, tied_set.confidence).assign(
        loss=scale.amount(tied_set.loss),
        loss_low=scale.amount(tied_set.low),
        loss_high=scale.amount(tied_set.high),
        within=chance_within(candidates, tied_set),
        tied=choice.member,
    )
    return table if choice.chance is None else table.assign(chance=choice.chance)
