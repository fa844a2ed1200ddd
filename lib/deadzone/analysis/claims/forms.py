"""The test of each form of claim.

| form | test |
| --- | --- |
| better, scaling | Student's t of a difference of means of ln(response) against the edge of the claim |
| why | the same of CPU time over wall time; of other mechanisms the test that explains phases (`explaining.mechanisms`) |
| same | two one-sided tests (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680) |
| best, nothing_to_gain_beyond | better than, or not worse than, each of the others: an intersection-union test (Berger 1982, Technometrics 24, 295-300) |
| holds | that of the objectives of a load test (`capacity.confidence`); without a setting, at one level of the knob at least |
| not_worse | non-inferiority against the margin (Wellek 2010, Testing Statistical Hypotheses of Equivalence and Noninferiority) |
| phase | the posterior probability of the label on every step, from the phase model |

Means of logarithms make "twice as fast" a statement about geometric means.
"""  # noqa: E501

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.claims.measured import Measured, NotMeasured, missing
from deadzone.analysis.claims.verdicts import ClaimTest
from deadzone.analysis.claims.wording import WORK, cause_name, settings_text, words
from deadzone.analysis.compare.factors import known_goal
from deadzone.analysis.hypothesis_tests.holm import all_of, any_of
from deadzone.analysis.objectives.cells import ERRORS, Objective, objectives_of
from deadzone.analysis.objectives.estimates import Estimate
from deadzone.analysis.objectives.feasibility import chance_met, errors_interval
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import level_number, number, percent, plain_name, response
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.language.messages import N_, Text, _, join
from deadzone.store.table import is_at
from deadzone.study import claims
from deadzone.study.claims import PRACTICAL_SHARE, ClaimSpec, factor_of, same_level
from deadzone.study.levels import NONE, Level, is_number
from deadzone.study.objective_specs import DERIVED, ObjectiveSpec
from deadzone.style import PHASE_STYLES


def tested(claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """The test of a claim."""
    try:
        return FORMS[claim.form](getattr(claim, claim.form), claim, measured)
    except NotMeasured as missing:
        return ClaimTest(reason=_("Not measured here: {what}.", what=missing.args[0]))


def _gain(
    claim: ClaimSpec, measured: Measured, at: Mapping[str, Level], than: Mapping[str, Level]
) -> Estimate:
    """By how much the first setting is better: ln of the ratio."""
    cells = measured.cells(measured.response)
    ends = [cells.at({**claim.given, **levels}) for levels in (at, than)] if cells else []
    if cells is None or ends[0] is None or ends[1] is None or not cells.is_log:
        raise missing(measured.response, cells)
    return (ends[0] - ends[1]) * measured.sign()


def _above(
    estimates: Sequence[Estimate],
    edge: float,
    words: Text,
    values: Mapping[str, Any],
    weaker_edge: float | None = None,
) -> ClaimTest:
    """A claim that every one of some numbers is above an edge; partly where all are above a weaker
    one."""
    partly = (
        None
        if weaker_edge is None
        else all_of([estimate.p_above(weaker_edge) for estimate in estimates])
    )
    confirmed = all_of([estimate.p_above(edge) for estimate in estimates])
    refuted = any_of([estimate.p_below(edge) for estimate in estimates])
    hardest = min(estimates, key=lambda estimate: estimate.distance(edge))
    return ClaimTest(confirmed, refuted, partly, words, values, hardest.distance(edge), hardest.n)


def _ends(
    measured: Measured, stated: claims.ScalingSpec | claims.PhaseIsSpec | claims.WhySpec
) -> dict[str, str]:
    """The levels between which something is claimed, in words."""
    return {name: level_number(getattr(stated, name), measured.knob) for name in ("start", "stop")}


def _times(estimate: Estimate) -> dict[str, str]:
    ends = zip(("times", "low", "high"), (estimate.value, *estimate.interval()), strict=True)
    return {name: number(math.exp(value)) for name, value in ends}


def _pair(claim: ClaimSpec, measured: Measured) -> tuple[Estimate, dict[str, str]]:
    """By how much the first of two settings is better, and what is said of it."""
    at, than = claim.compared
    gain = _gain(claim, measured, at, than)
    return gain, {"at": settings_text(at), "than": settings_text(than), **_times(gain)}


def _better(stated: claims.BetterSpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    gain, values = _pair(claim, measured)
    return _above(
        [gain],
        math.log(stated.by_at_least),
        N_("With {at} it is {times} times as good as with {than} ({low} to {high})."),
        values,
    )


def _same(stated: claims.SameSpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    gain, values = _pair(claim, measured)
    margin = math.log1p(stated.within)
    return ClaimTest(
        max(gain.p_above(-margin), gain.p_below(margin)),
        min(1.0, 2 * min(gain.p_above(margin), gain.p_below(-margin))),
        None,
        N_("With {at} it is {times} times as good as with {than} ({low} to {high})."),
        values,
        (margin - abs(gain.value)) / gain.error,
        gain.n,
    )


def _scaling(stated: claims.ScalingSpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    start, stop = stated.start, stated.stop
    gain = _gain(claim, measured, measured.at(stop), measured.at(start))
    elasticity = gain * (1 / math.log(stop / start))
    low, high = elasticity.interval()
    figures = {"elasticity": f"{elasticity.value:.2f}", "low": f"{low:.2f}", "high": f"{high:.2f}"}
    values = _ends(measured, stated) | figures
    return _above(
        [elasticity],
        stated.at_least,
        N_("From {start} to {stop} the elasticity is {elasticity} ({low} to {high})."),
        values,
    )


def _rivals(
    measured: Measured, factor: str, level: Level, given: Mapping[str, Level], above: bool
) -> list[Level]:
    """The other levels of a factor that were measured at the given ones; above: only those beyond
    the level."""
    there = measured.trials[is_at(measured.trials, given)]
    others = [other for other in measured.factors[factor] if not same_level(other, level)]
    return [
        other
        for other in others
        if is_at(there, {factor: other}).any() and (not above or _place(other) > _place(level))
    ]


def _place(level: Level) -> float:
    """Where a level of the knob stands among the others: no limit behind every number, other words
    before them."""
    return math.inf if level == NONE else float(level) if is_number(level) else -math.inf


def _against_each(
    claim: ClaimSpec, measured: Measured, factor: str, level: Level, edge: float, *, above: bool
) -> tuple[list[Estimate], Level, Estimate]:
    """By how much a level is better than each of its rivals, of which there must be one; and the
    rival that it is least surely better than by the edge."""
    rivals = _rivals(measured, factor, level, claim.given, above)
    if not rivals:
        raise NotMeasured(plain_name(measured.response))
    gains = [_gain(claim, measured, {factor: level}, {factor: other}) for other in rivals]
    rival, gain = min(zip(rivals, gains, strict=True), key=lambda pair: pair[1].distance(edge))
    return gains, rival, gain


def _best(stated: Mapping[str, Level], claim: ClaimSpec, measured: Measured) -> ClaimTest:
    ((factor, level),) = stated.items()
    gains, rival, gain = _against_each(claim, measured, factor, level, 0.0, above=False)
    named = {"at": settings_text(stated), "rival": settings_text({factor: rival})}
    values = {**named, "tolerance": PRACTICAL_TOLERANCE, **_times(gain)}
    return _above(
        gains,
        0.0,
        N_(
            "The closest rival is {rival}: with {at} it is {times} times as good ({low} to "
            "{high}); from {tolerance:percent} on a difference matters."
        ),
        values,
        -math.log1p(PRACTICAL_TOLERANCE),
    )


def _beyond(stated: Level, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    edge = -math.log1p(PRACTICAL_SHARE)
    gains, rival, gain = _against_each(claim, measured, measured.knob, stated, edge, above=True)
    named = {"at": settings_text(measured.at(stated)), "rival": settings_text(measured.at(rival))}
    return _above(
        gains,
        edge,
        N_("The best beyond is {rival}: {times} times as good as {at} ({low} to {high})."),
        named | _times(gain * -1),
    )


def _holds(stated: Mapping[str, ObjectiveSpec], claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """Of a claim without a setting: that some level of the knob meets all bounds."""
    from scipy.special import ndtri

    bounds, _ = objectives_of(stated)
    anywhere = not claim.at and measured.knob not in claim.given
    settings = map(measured.at, measured.factors[measured.knob]) if anywhere else [claim.at or {}]
    held = [(at, _held(bounds, {**claim.given, **at}, measured)) for at in settings]
    cases = [(at, *case) for at, case in held if case is not None]
    if not cases:
        raise NotMeasured(join([plain_name(bound.column) for bound in bounds], ", "))
    at, sure, figures, n = max(cases, key=lambda case: min(case[1]))
    # The distance is that, in standard errors, at which what is met with such a confidence lies
    # from its bound.
    return ClaimTest(
        any_of([1 - min(sure) for _, sure, _, _ in cases]),
        all_of([any_of(sure) for _, sure, _, _ in cases]),
        None,
        N_("With {at} it is surest: {figures}.") if anywhere else N_("Measured: {figures}."),
        {"figures": figures, "at": settings_text(at)},
        float(ndtri(min(sure))),
        n,
    )


def _held(
    bounds: Sequence[Objective], levels: Mapping[str, Level], measured: Measured
) -> tuple[list[float], str, int] | None:
    """The confidence that each bound is met at a setting, what was measured of it, and how often;
    None if it was not."""
    sure, parts, n = [], [], []
    for bound in bounds:
        cells = measured.cells(bound.column)
        mean = cells.at(levels) if cells else None
        if cells is None or mean is None:
            return None
        there = is_at(cells.trials, levels)
        scale = np.exp if cells.is_log else np.array
        value, low, high, *each = scale(
            [mean.value, *mean.interval(), *cells.values[there]]
        ).tolist()
        counted = (
            cells.trials.loc[there].reindex(columns=list(DERIVED[ERRORS])).fillna(0).to_numpy(float)
        )
        if bound.column == ERRORS and counted.any():
            low, high = errors_interval(counted)
        sure.append(chance_met(bound, np.array(each), mean, counted, is_log=cells.is_log))
        spread = (high - low) / 4 or None
        parts.append(
            _(
                "{column} {value} ({low} to {high})",
                column=plain_name(bound.column),
                value=response(value, bound.column, spread),
                low=number(low, spread),
                high=number(high, spread),
            )
        )
        n.append(mean.n)
    return sure, join(parts, "; "), min(n)


def _not_worse(stated: claims.NotWorseSpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    column, absolute = stated.response or measured.response, stated.absolute
    if absolute is None:
        absolute = column in DERIVED or column.endswith("_share")
    known = measured.goal if column == measured.response else known_goal(column)
    goal = stated.goal or known or "min"
    factor, cells = factor_of(claim, measured.factors), measured.cells(column, linear=absolute)
    if cells is not None and cells.is_log == absolute:
        raise NotMeasured(
            _(
                "{column}, which was 0 at times: no share of it says by how much it changes; give "
                "the margin in its unit (absolute: true)",
                column=plain_name(column),
            )
        )
    change = cells.change(factor, claim.compared, claim.given) if cells and factor else None
    if change is None:
        raise missing(column, cells)
    margin = stated.by_at_most if absolute else math.log1p(stated.by_at_most)
    spread = max(2 * change.error, stated.by_at_most / 100)
    ends = [v if abs(v) > spread / 100 else 0.0 for v in (change.value, *change.interval())]
    shown = [number(v, spread) if absolute else percent(math.expm1(v)) for v in ends]
    shown[0] = response(ends[0], column, spread) if absolute else shown[0]
    values = dict(
        zip(("column", "change", "low", "high"), (plain_name(column), *shown), strict=True)
    )
    return _above(
        [change * measured.sign(goal)],
        -margin,
        N_("Change of {column}: {change} ({low} to {high})."),
        values,
    )


def _phase(stated: claims.PhaseIsSpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    model = measured.model_of(claim.given)
    if model is None:
        raise NotMeasured(_("a curve that phases could be fitted to"))
    steps = model.steps
    start, stop = (_position(model, end) for end in (stated.start, stated.stop))
    inside = steps[(steps["start"] >= start) & (steps["stop"] <= stop)]
    if inside.empty:
        raise NotMeasured(_("a curve that phases could be fitted to"))
    likely = inside[f"p_{stated.label}"].to_numpy(float)
    labels = [PHASE_STYLES[str(label)].name for label in dict.fromkeys(inside["label"])]
    shares = {"low": percent(float(likely.min())), "high": percent(float(likely.max()))}
    named = {"labels": join(labels, ", "), "phase": PHASE_STYLES[stated.label].name}
    values = {**_ends(measured, stated), **named, **shares}
    all_of_them, any_of_them = float((1 - likely).sum()), float(likely.sum())
    partly = float((1 - likely.max()) + likely.min()) if len(likely) > 1 else None
    return ClaimTest(
        min(1.0, all_of_them),
        min(1.0, any_of_them),
        partly,
        N_(
            "The steps from {start} to {stop} are {labels}; that one is {phase} has a probability "
            "of {low} to {high}."
        ),
        values,
    )


def _position(model: PhaseModel, level: Level) -> float:
    return float(model.none_level or math.inf) if level == NONE else float(level)


def _why(stated: claims.WhySpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """Whether CPU time falls, and by more than half of what ln(wall time) does; or wall time falls,
    and CPU time by less than half of that: wall = CPU time / cores used."""
    if stated.cause not in WORK:
        return _mechanism(stated, measured, measured.trials[is_at(measured.trials, claim.given)])
    trials = measured.trials
    if not {"wall_s", "user_s", "sys_s"} <= set(trials):
        raise NotMeasured(_("CPU time"))
    cpu, wall = (
        (trials["user_s"] + trials["sys_s"]).to_numpy(float),
        trials["wall_s"].to_numpy(float),
    )
    start, stop = ({**claim.given, **measured.at(level)} for level in (stated.start, stated.stop))
    halves = [
        measured.cells("", cpu / np.sqrt(wall)),
        measured.cells("", cpu),
        measured.cells("", wall),
    ]
    ends = [(half.at(start), half.at(stop)) if half else (None, None) for half in halves]
    if any(end is None for pair in ends for end in pair):
        raise NotMeasured(_("CPU time"))
    (excess, cpu_change, wall_change) = (before - after for before, after in ends)  # type: ignore[operator]
    asked = (excess, cpu_change) if stated.cause == "less_work" else (excess * -1, wall_change)
    changes = {
        "cpu": number(math.exp(-cpu_change.value)),
        "wall": number(math.exp(-wall_change.value)),
    }
    return _above(
        asked,
        0.0,
        N_(
            "From {start} to {stop} the time becomes {wall} times and the CPU time {cpu} times "
            "what it was."
        ),
        _ends(measured, stated) | changes,
    )


def _mechanism(why: claims.WhySpec, measured: Measured, trials: pd.DataFrame) -> ClaimTest:
    """Whether a mechanism is confirmed, or excluded, as where phases are explained: by the account
    of time."""
    table = (
        measured.mechanisms(trials, (why.start, why.stop))
        if measured.mechanisms
        else pd.DataFrame()
    )
    if why.cause not in table.index or table.loc[why.cause].isna().any():
        raise NotMeasured(_("the account of time"))
    row = table.loc[[why.cause]].to_dict("records")[0]
    times = {name: number(math.exp(row[name])) for name in ("change", "low", "high")}
    values = {"cause": cause_name(why.cause), **_ends(measured, why), **times}
    return ClaimTest(
        row["p_confirmed"],
        row["p_excluded"],
        None,
        N_(
            "From {start} to {stop}, {cause} makes the job take {change} times what it would take "
            "without ({low} to {high})."
        ),
        values,
    )


def _cannot(stated: str | Mapping[Any, str], claim: ClaimSpec, measured: Measured) -> ClaimTest:
    return ClaimTest(reason=words(stated))


FORMS: dict[str, Callable[[Any, ClaimSpec, Measured], ClaimTest]] = {
    "better": _better,
    "same": _same,
    "best": _best,
    "scaling": _scaling,
    "phase": _phase,
    "nothing_to_gain_beyond": _beyond,
    "holds": _holds,
    "not_worse": _not_worse,
    "why": _why,
    "cannot_be_judged": _cannot,
}
