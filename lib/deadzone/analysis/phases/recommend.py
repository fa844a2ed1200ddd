"""Which setting to choose, out of those that noise cannot tell apart, and why.

The smallest mean is a poor guide: among twenty equal settings one is always the luckiest. The set
of settings that may be the best comes from multiple comparisons with the best (see `best_set`), and
of the set the one that is most probably a good one is recommended: hardly worse and hardly larger
than the setting of least loss, which is what a setting is worse than the best, beyond a tolerance,
and a price for each doubling of the knob (a decision under a loss: Berger 1985, Statistical
Decision Theory and Bayesian Analysis, chapter 1). What is compared are the level estimates of the
fitted curve with each level's own deviation (see `level_estimates`), so that the levels of a
plateau share their trials.

The estimates choose well where they are sure. Where a plateau still gains a little, or the levels
are rough, the least loss at the estimates stops a level too early as often as too late, and the
first costs more. So the setting that is good on most of the curves that the trials allow is chosen:
the probability of good selection (Ni, Ciocan, Henderson and Hunter 2017, Operations Research 65,
821-836), a decision under a loss that is 0 for a good setting and 1 for another.

Targets that a response has to meet (a service level objective), and how sure it is that it does.

A target bounds a statistic of the response: `{"mean": 40, "p99": 80, "max": 100}`. With the noise
of a level taken as log-normal, each statistic is a function of the level's ln(response) and its
noise, so the probability that the true statistic meets the target follows from Student's t. `max`
(and `min` for a response to maximise) is about trials to come: the probability that the next trial
meets the target, and none at all if a measured trial broke it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

from deadzone.analysis.finding import Finding
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases import decision
from deadzone.analysis.phases.best_set import BestSet, best_set
from deadzone.analysis.phases.candidates import Candidates, candidates_of, only, with_cost
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.analysis.response_scale import RATIO
from deadzone.errors import PhaseError, check_type
from deadzone.language.messages import Message, _
from deadzone.study.levels import is_number

DOUBLING_PRICE = 0.01
"""What twice the knob has to bring, as a share of the response, once a setting is worse than the
tolerance allows. On curves whose truth is known 0.2 to 1 % choose equally well; 2 % stops too early
where the gain fades slowly."""

AS_PROBABLE = 0.05
"""Settings whose probabilities of being good differ by no more are as good: the one that takes
least of the knob is chosen."""

HARDLY_LARGER = float(np.log2(1.25))
"""A quarter more of the knob is hardly larger [doublings], and so is the next setting: between two
there was nothing to choose."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The setting to choose and what it rests on.

    setting: a level, "none" for no limit, for a grid a dictionary with both factors, or None where
    no setting does what was asked. tied: the settings among which noise cannot decide (for the goal
    "within" or "targets": those that do what was asked), the cheapest first. reason: the decision
    in a sentence or two with its numbers, as it is said everywhere. goal: one of "fastest",
    "within", "targets", "cost". quantity: the column compared, or the cost as written. confidence:
    family-wise level of the set. caveats: sentences a reader needs. replicates: trials of each
    tied setting that would show that the worst of them is worse, or None. doubt: what a finding
    about the experiment saw that makes the setting doubtful, or empty. state: what became of the
    question, see `decision.State`. unit: that stood in the cells of the response.
    table: one row a candidate, the cheapest first: setting, name, n, estimate, low, high (typical
    response, or cost, with its own interval at the confidence), measured (the median of its own
    trials), loss, loss_low, loss_high (how much better the best is, a fraction, for a response that
    may be zero an amount; simultaneous bounds), within (the probability that it is worse than the
    best by no more than the tolerance), tied, and `chance`, by which one is chosen: the
    probability that it meets the targets, or that it is good (`_chance_of_good`), or missing.
    """

    setting: Any
    tied: tuple[Any, ...]
    reason: str
    goal: str
    quantity: str
    confidence: float
    caveats: tuple[str, ...]
    replicates: int | None
    table: pd.DataFrame
    doubt: str = ""
    state: decision.State = "set"
    unit: str = ""

    @property
    def chosen(self) -> pd.Series:
        """The row of the table for the setting to choose, which there must be."""
        return self.table[[item == self.setting for item in self.table["setting"]]].iloc[0]

    @property
    def is_of_best(self) -> bool:
        """Whether the best is looked for, and not what does what was asked."""
        return self.goal in ("fastest", "cost")

    @property
    def said_of_tied(self) -> str:
        """What the tied settings are, in words."""
        return _("not told apart from the best") if self.is_of_best else _("does what was asked")

    @property
    def is_withheld(self) -> bool:
        """Whether a finding keeps every setting from being recommended."""
        return self.state == "no_setting" and "chance" not in self.table

    @property
    def probability(self) -> float | None:
        """That of the sentence: `within` of the setting, or that it meets the targets; None where
        the goal knows no such probability."""
        is_known = self.setting is not None and "chance" in self.table
        told = "chance" if self.goal == "targets" else "within"
        return float(self.chosen[told]) if is_known else None

    def less_than(self, level: Any) -> list[Message]:
        """Which cheaper settings do as well as one of the tied set, or cannot be told apart from
        it; nothing of another."""
        table, is_it = self.table, self.table["setting"].map(lambda item: item == level)
        rows = table[is_it & table["tied"]]
        if rows.empty:
            return []
        return decision.as_well(table[is_it.cumsum().eq(0)], rows.iloc[0], self.confidence)

    def to_dict(self) -> dict[str, Any]:
        """The record `deadzone fit --json` prints: plain numbers, strings and lists."""
        plain = ("state", "setting", "reason", "goal", "quantity", "confidence", "probability")
        return {name: getattr(self, name) for name in plain} | {
            "tied": list(self.tied),
            "caveats": list(self.caveats),
            "replicates_needed": self.replicates,
        }

    def __str__(self) -> str:
        return "\n".join([self.reason, *(f"{_('Note')}: {caveat}" for caveat in self.caveats)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())


def recommend(model: PhaseResult, **options: Any) -> Recommendation:
    """Recommend a level of the knob; the options are those of `recommend_from`."""
    options = {"findings": model.findings, **options}
    settings = model.settings or candidates_of(model)
    return recommend_from(replace(settings, goal_from=model.goal_from), **options)


def _there_to_have(
    candidates: Candidates, all_there_is: float, barred: Sequence[Any]
) -> Candidates:
    """The candidates without barred levels, and those that exceed the smallest one which gives all
    there is. None of them is the end of the range where a larger level is barred."""
    levels = candidates.levels
    larger = max((float(level) for level in barred if is_number(level)), default=-np.inf)
    table = candidates.table.assign(last=candidates["last"] & ~(levels < larger))
    candidates, settings = replace(candidates, table=table), candidates["setting"]
    keep = np.array([decision.own_level(one, candidates.knob) not in barred for one in settings])
    keep &= ~(levels > levels[levels >= all_there_is].min(initial=np.inf))
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
    asked = (("within", within), ("targets", slo), ("cost", cost))
    given = [name for name, value in asked if value is not None]
    if len(given) > 1:
        raise PhaseError(f"Ask for one thing at a time: {' and '.join(given)} were given together.")
    if candidates.scale.kind != RATIO and (slo is not None or cost is not None):
        raise PhaseError(
            f"{candidates.response!r} may be zero or negative here; targets and costs need a "
            "positive response."
        )
    barred = [*barred, *(level for finding in findings if finding.bars for level in finding.levels)]
    most = np.inf if all_there_is is None else all_there_is
    candidates = _there_to_have(candidates, most, barred)
    candidates, caveats = (candidates, []) if cost is None else with_cost(candidates, cost)
    tied_set = best_set(
        candidates.sign * candidates["estimate"],
        candidates.covariance,
        candidates.comparison_df,
        confidence,
        tolerance,
    )
    tied_set = decision.without_denied(candidates, tied_set)
    # How much worse than the best each is on each curve that the trials allow, shape (draws, n).
    drawn = candidates.sign * candidates["estimate"] + tied_set.drawn
    worse = drawn - drawn.min(axis=1, keepdims=True)
    table = _table(candidates, tied_set, worse)
    # Of settings of another kind than the best estimate's it is not known what they cost.
    kin = candidates["kind"] == candidates["kind"][int(np.argmin(tied_set.loss))]
    wanted = {} if slo is None else checked_targets(slo, candidates.goal)
    again, settles = np.array([], dtype=int), list[Message]()
    state: decision.State = "set"
    if within is not None:
        table["tied"] = tied_set.loss <= np.log1p(within) + 1e-12
        index: int | None = int(np.argmax(table["tied"] & kin))
    elif wanted:
        chance = target_confidence(wanted, candidates)
        met = chance >= confidence
        known = met & kin if (met & kin).any() else met
        index = int(np.argmax(known if met.any() else chance))
        if not met.any() and chance[index] >= decision.PROBABLE:
            met[index] = True
        table = table.assign(tied=met, chance=chance)
        if not met.any():
            index, state = None, "no_setting"
    else:
        eligible = tied_set.member & kin
        table["chance"] = _chance_of_good(candidates.doublings, worse, tolerance, price, eligible)
        index = _most_probable(candidates, table["chance"].to_numpy(), eligible)
        again = decision.to_measure_again(candidates, tolerance, index)
        state = decision.state_of(candidates, tied_set, table, index, again)
    doubt = decision.doubt_of(findings)
    setting = None if index is None else candidates["setting"][index]
    heeded = () if anyway else findings
    stop = decision.stopping(heeded, decision.own_level(setting, candidates.knob))
    withheld = next((one for one in heeded if one.withholds), None)
    tolerated = candidates.scale.tolerance_text(tolerance)
    row: Any = None if index is None else table.iloc[index]
    if stop is not None:
        state, said = "stopped", decision.stopped(stop, row, candidates)
    elif withheld is not None:
        state, said = "no_setting", withheld.sentence
        if withheld.values.get("how") == "by":  # slices have settings
            said = decision.directed(candidates, said)
    else:
        if state == "open" and not anyway:
            said = decision.open_(candidates, tied_set.loss, again)
        elif state in ("open", "tied"):
            state, said = "tied", decision.tied(table, doubt)
        elif wanted and (row is None or not doubt):
            said = decision.targets(candidates, wanted, table, index, confidence)
        elif doubt:
            said = decision.doubted(row, candidates, doubt)
        elif within is not None:
            said = decision.within(row, candidates, within, float(tied_set.high[index]), confidence)
        else:
            said = decision.best(table, row, candidates, tolerated, confidence)
        said = decision.directed(candidates, said)
    if stop is not None or withheld is not None:
        index, table = None, table.assign(tied=False)
    is_unsure = state == "open" or (candidates.is_assumed and not wanted)
    if stop or withheld or is_unsure or (doubt and index is not None):
        table = table.drop(columns="chance", errors="ignore")
    replicates = None
    if not wanted and not len(again) and index is not None and tied_set.member.sum() > 1:
        replicates, *settles = decision.trials_that_settle(candidates, tied_set, tolerated)
    index = None if state == "open" else index
    return Recommendation(
        setting=None if index is None else setting,
        tied=tuple(candidates["setting"][table["tied"].to_numpy(bool)]),
        reason=said,
        goal=given[0] if given else "fastest",
        quantity=candidates.response,
        confidence=confidence,
        caveats=(*caveats, *decision.caveats(candidates, index, most, settles)),
        replicates=replicates,
        table=table,
        doubt=doubt,
        state=state,
        unit=candidates.unit,
    )


def _chance_of_good(
    taken: np.ndarray, worse: np.ndarray, tolerance: float, price: float, eligible: np.ndarray
) -> np.ndarray:
    """Probability of each candidate that it is a good setting, shape (n,); -inf of those that are
    not eligible, shape (n,), bool.

    taken: shape (n,), doublings of the knob. worse: shape (draws, n), than the best [ln].
    Of a curve the setting of least loss is ideal: the loss is what a setting is worse than the best
    beyond the tolerance, and `price` for each doubling of the knob. Good is what is as good as the
    ideal or within the tolerance of the best, up to another tolerance, and hardly larger.
    """
    allowed = np.log1p(tolerance)
    loss = np.maximum(worse - allowed, 0.0) + price * taken
    ideal = np.argmin(np.where(eligible, loss, np.inf), axis=1)
    needed = np.maximum(np.take_along_axis(worse, ideal[:, None], axis=1), allowed)
    _, place = np.unique(taken, return_inverse=True)
    hardly = (place <= place[ideal][:, None] + 1) | (taken <= taken[ideal][:, None] + HARDLY_LARGER)
    return np.where(eligible, ((worse <= needed + allowed) & hardly).mean(axis=0), -np.inf)


def _most_probable(candidates: Candidates, chance: np.ndarray, eligible: np.ndarray) -> int:
    """Position of the setting to choose. What measured no worse and takes less is not refused for
    what the curve expects of it."""
    taken = np.round(candidates.doublings, 9)
    index = int(np.where(chance >= chance.max() - AS_PROBABLE, taken, np.inf).argmin())
    own = candidates.sign * candidates["own"]
    less = eligible & (own <= own[index]) & (taken < taken[index])
    return int(np.where(less, taken, np.inf).argmin()) if less.any() else index


def estimates_table(candidates: Candidates, confidence: float) -> pd.DataFrame:
    """Each setting with its name, its trials, its estimate and the interval of that at the
    confidence."""
    scale, estimate = candidates.scale, candidates["estimate"]
    half = stdtrit(candidates.comparison_df, (1 + confidence) / 2) * candidates.std_error
    return candidates.table[["setting", "name", "n"]].assign(
        estimate=scale.backward(estimate),
        low=np.maximum(scale.backward(estimate - half), scale.least),
        high=scale.backward(estimate + half),
        measured=scale.backward(candidates["own"]),
    )


def _table(candidates: Candidates, tied_set: BestSet, worse: np.ndarray) -> pd.DataFrame:
    """The columns of `Recommendation.table`, without `chance`. worse: as of `_chance_of_good`."""
    scale, near = candidates.scale, worse <= np.log1p(tied_set.tolerance)
    return estimates_table(candidates, tied_set.confidence).assign(
        loss=scale.amount(tied_set.loss),
        loss_low=scale.amount(tied_set.low),
        loss_high=scale.amount(tied_set.high),
        within=near.mean(axis=0),
        tied=tied_set.member,
    )


def target_confidence(targets: Mapping[str, float], candidates: Candidates) -> np.ndarray:
    """Probability that each setting meets all targets, shape (n,).

    targets: of `checked_targets`. The probabilities of several targets are combined by Bonferroni's
    bound, so the truth is no lower.
    """
    sign, noise, freedom = candidates.sign, candidates["noise"], candidates.comparison_df
    missing = np.zeros(len(candidates))
    for name, bound in targets.items():
        if (shift := _shift(name, candidates.goal)) is None:
            log_statistic, error = candidates["estimate"], np.hypot(candidates.std_error, noise)
        else:
            a, b = shift
            log_statistic = candidates["estimate"] + a * noise + b * noise**2
            # The noise itself is an estimate: its relative error is about 1 / sqrt(2 df).
            own = (a + 2 * b * noise) * noise / np.sqrt(2 * freedom)
            error = np.hypot(candidates.std_error, own)
        distance = sign * (np.log(bound) - log_statistic) / np.maximum(error, 1e-12)
        is_broken = (sign * candidates["worst"] > sign * bound) & (shift is None)
        missing += 1 - np.where(is_broken, 0.0, stdtr(freedom, distance))
    return np.maximum(1 - missing, 0.0)


def checked_targets(targets: Mapping[str, float], goal: str) -> dict[str, float]:
    """The targets with their bounds as numbers: from statistics (`mean`, `median`, `p90` ...,
    `max`, `min`) to bounds in the unit of the response, upper ones where the goal is "min", lower
    ones where it is "max". Raises PhaseError with the reason if one is unusable."""
    check_type(PhaseError, targets, Mapping, "A dict of targets by statistic")
    if not targets:
        raise PhaseError("slo is empty; give at least one target, for example slo={'mean': 40}.")
    for name, bound in targets.items():
        _shift(name, goal)
        if not is_number(bound) or bound <= 0:
            raise PhaseError(
                f"slo[{name!r}] is {bound!r}; give a positive number in the response's unit."
            )
    return {name: float(bound) for name, bound in targets.items()}


def _shift(name: str, goal: str) -> tuple[float, float] | None:
    """(a, b) with ln(statistic) = mu + a * sigma + b * sigma ** 2, or None for the extreme of
    trials."""
    extreme = "max" if goal == "min" else "min"
    known = {"mean": (0.0, 0.5), "median": (0.0, 0.0), extreme: None}
    if name in known:
        return known[name]
    if match := re.fullmatch(r"p(\d{1,2}(?:\.\d+)?)", name):
        share = float(match[1]) / 100
        if 0 < share < 1:
            return float(ndtri(share)), 0.0
    raise PhaseError(
        f"slo names {name!r}; known are mean, median, {extreme} and quantiles such as p90."
    )
