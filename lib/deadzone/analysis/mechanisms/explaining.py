"""Why each phase is what it is: how much of what it loses against proportional scaling each
mechanism explains.

The trials at the start of a phase are set against those at its stop. A mechanism is confirmed where
its part is shown to be beyond a margin, excluded where it is shown to stay below it (one-sided
tests of the difference of two means with unequal variances: Welch 1947, Biometrika 34, 28-35; with
a margin as Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680), both
after Holm's correction over all mechanisms of all phases; else it is undecided. Not by ranks, as
attribution does it between two environments: five trials a level cannot show anything in so many
tests at once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, judged
from deadzone.analysis.mechanisms.parts import (
    CAUSES,
    LIMIT,
    REASONS,
    WORK,
    has_account,
    is_known,
    is_of_time,
    parts_of,
)
from deadzone.analysis.objectives.estimates import Estimate
from deadzone.analysis.phases.candidates import named_places
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.prepare import usable
from deadzone.analysis.phases.quantities import listing
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.roles import check_frame, check_roles
from deadzone.analysis.trial_columns import marked, numbers
from deadzone.errors import PhaseError, check_type
from deadzone.language.messages import N_, Message, _, join, say
from deadzone.study.response_cells import level_names

CONFIRMED, EXCLUDED, UNDECIDED = "confirmed", "excluded", "undecided"

MARGIN = 0.1
"""A part of less than a tenth of what is to be explained explains next to nothing."""

FLOOR = 0.05
"""Added to it: two levels that differ by 5 % do not call for an explanation."""

RESOLUTION = 0.005
"""Trials that agree to better than half a percent do so by chance; the standard deviation is taken
for no less."""

INTERVAL = 0.90

WHERE, CHANGE = ("phase", "start", "stop", "label"), ("change", "low", "high")
TESTS = ("p_excluded", "p_confirmed")


@dataclass(frozen=True, eq=False)
class PhasesExplained:
    """What explains each phase of a curve.

    table: one row a phase and mechanism: phase (0 for the first), start, stop, label, mechanism,
    change (of ln(time for the job), beyond or short of proportional scaling, that it explains),
    low, high (90 % interval), p_confirmed, p_excluded (after Holm's correction), verdict. loss: of
    each phase the whole change that is to be explained, with low and high; and `limited`, of a
    linear phase of CPU limits the share of their periods in which they held threads back, of
    another 0. is_scaling: whether the knob offers cores or threads, so that the change is held
    against proportional scaling. model: whose phases they are.
    """

    table: pd.DataFrame
    loss: pd.DataFrame
    is_scaling: bool
    model: PhaseResult

    def of(self, phase: int, verdict: str = CONFIRMED) -> pd.DataFrame:
        """The mechanisms of a phase that have a verdict, the largest part first."""
        rows = self.table[(self.table["phase"] == phase) & (self.table["verdict"] == verdict)]
        return rows.reindex(rows["change"].abs().sort_values(ascending=False, kind="stable").index)


def explain_phases(trials: pd.DataFrame, model: PhaseResult) -> PhasesExplained:
    """Explain the phases of a model by where the time of its trials' threads went.

    trials: the tidy table that the model was fitted to, with the columns of the account
    (data/README.md); what a fit leaves out is left out here, untrusted trials unless the fit kept
    them. Phases are those between numbers on a ratio scale; a phase that begins or ends at none is
    explained up to the last level before.

    Raises PhaseError if the table has no account of time, the response is neither a time nor a rate
    of its trials, or the knob is on an interval scale.
    """
    check_frame(trials)
    check_type(PhaseError, model, PhaseResult, "The model of one curve")
    check_roles(trials, (model.knob,), model.response, model.goal)
    if not has_account(trials, model.response):
        raise PhaseError(
            f"There is no account of time that explains {model.response}. That of a load test "
            "explains a latency, such as `latency_p99_ms`; else measure the trials with this "
            "version, without `account: off`."
        )
    if not is_of_time(trials, model.response, model.goal):
        raise PhaseError(
            f"{model.response} is neither a time nor a rate of the trial, of which the account of "
            "time tells the cause: judge `wall_s`, or give it a name that ends in its unit."
        )
    if model.axis.is_interval:
        raise PhaseError(f"{model.knob} is on an interval scale: nothing is in proportion.")
    kept, _ = usable(trials, model.response, keep_untrusted=True)
    trusted = kept[marked(kept, "trusted", True)]
    trials = trusted if len(trusted) >= model.n_trials else kept
    named = {
        name: place for name, place in named_places(model).items() if place != model.none_level
    }
    level = level_names(trials[model.knob]).map(named).astype(float)
    parts, level = _parts_at(trials, level.where(level > 0), model.response, model.goal, model.knob)
    rows: list[dict[Any, Any]] = []
    losses: list[dict[Any, Any]] = []
    for number, phase in enumerate(model.phases.to_dict("records")):
        inside = level[(level >= phase["start"]) & (level <= phase["stop"])]
        if inside.nunique() < 2:
            continue
        where = {**phase, "phase": number}
        start, stop = parts[level == inside.min()], parts[level == inside.max()]
        loss = _change(*(end["log_loss"].to_numpy(float) for end in (start, stop)))
        periods, throttled = (
            numbers(trials.loc[inside.index], name).sum() for name in ("nr_periods", "nr_throttled")
        )
        pays = model.knob == LIMIT and phase["label"] == "linear" and periods > 0
        told = dict(zip(CHANGE, loss, strict=True))
        losses.append({**where, **told, "limited": throttled / periods if pays else 0.0})
        rows += [{**where, **row} for row in _mechanisms(start, stop, loss[0])]
    table = pd.DataFrame(rows, columns=[*WHERE, "mechanism", *CHANGE, *TESTS])
    table[[*TESTS]] = judged(table[[*TESTS]].to_numpy(float))
    sure = [table[name] <= 1 - CONFIDENCE for name in TESTS]
    table["verdict"] = np.select(sure, [EXCLUDED, CONFIRMED], UNDECIDED)
    loss_table = pd.DataFrame(losses, columns=[*WHERE, *CHANGE, "limited"])
    return PhasesExplained(table, loss_table, bool(parts["offers"].all()), model)


def mechanisms_between(
    trials: pd.DataFrame, response: str, goal: str, knob: str, ends: tuple[float, float]
) -> pd.DataFrame:
    """What explains the change from one level of the knob to another: one row a mechanism, by its
    name, with change, low, high, and p_excluded and p_confirmed before any correction; nan where a
    level was measured once, empty where nothing was.
    """
    table = pd.DataFrame(columns=[*CHANGE, *TESTS])
    if not (has_account(trials, response) and is_of_time(trials, response, goal)):
        return table
    level = pd.to_numeric(trials[knob], errors="coerce")
    parts, level = _parts_at(trials, level.where(level.isin(ends)), response, goal, knob)
    if level.nunique() < len(set(ends)):
        return table
    start, stop = (parts[level == end] for end in ends)
    loss = float(stop["log_loss"].mean() - start["log_loss"].mean())
    work, *_ = _mechanisms(start, stop, -loss or -1.0)
    return pd.DataFrame([work, *_mechanisms(start, stop, loss)]).set_index("mechanism")


def _parts_at(
    trials: pd.DataFrame, level: pd.Series, response: str, goal: str, knob: str
) -> tuple[pd.DataFrame, pd.Series]:
    """The parts of the trials that can be explained and are at a level, not nan, and their
    levels."""
    kept = level.notna() & is_known(trials, response)
    level = level[kept]
    return parts_of(trials[kept], level.to_numpy(float), response, goal, knob), level


def _mechanisms(
    start: pd.DataFrame, stop: pd.DataFrame, loss: float
) -> Iterator[dict[str, object]]:
    """The parts of the change from start to stop, that of the work first, each tested in the
    direction of the whole change."""
    scales = _scales_between(start, stop)
    told = {str(name).partition("_")[2] for name in start}
    for reason in (reason for reason in REASONS if reason in told):
        a, b = (_part_of(end, reason, scales) for end in (start, stop))
        name = reason if reason != WORK else "more_cpu_work" if loss >= 0 else "less_work"
        before, after = (
            _mean_of(part - MARGIN * end["log_loss"].to_numpy(float))
            for part, end in ((a, start), (b, stop))
        )
        slower = (after - before) * (1 if loss >= 0 else -1)
        tests = slower.p_below(FLOOR), slower.p_above(FLOOR)
        yield dict(zip(("mechanism", *CHANGE, *TESTS), (name, *_change(a, b), *tests), strict=True))


def _scales_between(start: pd.DataFrame, stop: pd.DataFrame) -> dict[str, float]:
    """What a unit of each kind of column of `parts_of` adds to the logarithm of the time, between
    two ends."""
    slowed = [1 + end.filter(like="slow_").sum(axis=1) for end in (start, stop)]
    active = _logarithmic_mean(*(float(end["active"].mean()) for end in (start, stop)))
    share = _logarithmic_mean(*(float(end["computing"].mean()) for end in (start, stop))) / active
    slow = share / _logarithmic_mean(*(float(each.mean()) for each in slowed))
    return {"ln_": 1.0, "work_": share, "slow_": slow, "wait_": 1 / active}


def _part_of(end: pd.DataFrame, reason: str, scales: Mapping[str, float]) -> np.ndarray:
    """What a reason adds to the logarithm of each trial's time."""
    columns = [
        scale * end[f"{kind}{reason}"] for kind, scale in scales.items() if f"{kind}{reason}" in end
    ]
    return sum(columns, pd.Series(0.0, end.index)).to_numpy(float)


def _logarithmic_mean(a: float, b: float) -> float:
    return a if a == b or min(a, b) <= 0 else (b - a) / math.log(b / a)


def _mean_of(side: np.ndarray) -> Estimate:
    """How exact it is, is not known of a single trial."""
    spread = max(float(side.std(ddof=1)), RESOLUTION) if len(side) > 1 else math.nan
    return Estimate(float(side.mean()), spread / len(side) ** 0.5, len(side) - 1, len(side))


def _change(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """From a to b, with its interval."""
    difference = _mean_of(b) - _mean_of(a)
    return difference.value, *difference.interval(INTERVAL)


NOTHING = {True: N_("nothing: in proportion"), False: N_("nothing: unchanged")}
"""By whether the knob offers cores or threads, so that proportional scaling is expected."""

SAYS = {
    "shown": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}. Shown to explain it: {because}."
    ),
    "open": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}; no mechanism is shown to explain it."
    ),
    "proportional": N_("{start} to {stop} ({phase}) scales in proportion ({loss})."),
    "unchanged": N_(
        "{start} to {stop} ({phase}): the same work takes as long at both ends ({loss})."
    ),
}

LISTS = {
    EXCLUDED: N_("Shown not to explain it: {names}."),
    UNDECIDED: N_("Undecided: {names}.", context="mechanism"),
}

LIMITED = 0.5
"""A linear phase whose limits hold threads back in more of their periods than this is limited by
them [share]."""

MOST_CANDIDATES = 3
"""Between more mechanisms than this a phase is not narrowed down: none of them is named."""


def limits(explanation: PhasesExplained, phase: int) -> str:
    """What limits a phase, in a few words: the mechanisms confirmed, the largest first; where none
    is, that nothing does, or between which few mechanisms it is undecided."""
    rows = explanation.loss[explanation.loss["phase"] == phase].to_dict("records")
    throttled = [say(CAUSES["throttled"]) for loss in rows if loss["limited"] > LIMITED]
    if named := [*throttled, *_named(explanation, phase, CONFIRMED)]:
        return join([*dict.fromkeys(named)], ", ")
    if any(abs(loss["change"]) <= FLOOR for loss in rows):
        return say(NOTHING[explanation.is_scaling])
    candidates = _named(explanation, phase, UNDECIDED)
    if 1 < len(candidates) <= MOST_CANDIDATES:
        return _("undecided between {names}", names=listing(candidates))
    return _("cause not shown")


def no_cause(trials: pd.DataFrame, model: PhaseResult) -> list[Message]:
    """That the account of time tells no cause of a response that is no time; nothing where it
    does, or there is no account."""
    if not has_account(trials, model.response) or is_of_time(trials, model.response, model.goal):
        return []
    return [
        _(
            "{response} is neither a time nor a rate of the trial: no cause is known for it.",
            response=model.response,
        )
    ]


def sentences(explanation: PhasesExplained | None) -> list[Message]:
    """A sentence on each phase that could be explained; none without an explanation."""
    if explanation is None:
        return []
    shown = phases_shown(explanation.model)
    return [_sentence(explanation, loss, shown) for loss in explanation.loss.to_dict("records")]


def _sentence(
    explanation: PhasesExplained, loss: Mapping[Any, Any], shown: list[dict[str, str]]
) -> Message:
    """loss: a row of the explanation's. shown: the phases in words."""
    phase = loss["phase"]
    because = [
        _(
            "{words} ({change}, {certainty:exact_percent} interval {low} to {high})",
            words=say(CAUSES[row["mechanism"]]),
            certainty=INTERVAL,
            **{name: _change_text(row[name]) for name in ("change", "low", "high")},
        )
        for row in explanation.of(phase).to_dict("records")
    ]
    is_flat = not because and abs(loss["change"]) <= FLOOR
    flat = "proportional" if explanation.is_scaling else "unchanged"
    told = say(
        SAYS[flat if is_flat else "shown" if because else "open"],
        loss=_change_text(loss["change"]),
        against=_(" against proportional scaling") if explanation.is_scaling else "",
        because=join(because, "; "),
        **shown[phase],
    )
    others = {verdict: _named(explanation, phase, verdict) for verdict in LISTS if not is_flat}
    rest = [say(LISTS[verdict], names=join(them, ", ")) for verdict, them in others.items() if them]
    limited = _(
        "The CPU limit holds it back in {share:percent} of its periods.", share=loss["limited"]
    )
    return join([told, limited if loss["limited"] > LIMITED else "", *rest])


def _named(explanation: PhasesExplained, phase: int, verdict: str) -> list[Message]:
    return [say(CAUSES[name]) for name in explanation.of(phase, verdict)["mechanism"]]


def _change_text(logarithm: float) -> Message:
    """A change of a logarithm: what it adds to the time, as a share or as a multiple."""
    return _("{share:change}", share=math.expm1(logarithm))
