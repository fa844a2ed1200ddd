"""What a table of trials says of the settings that were tried: every table gets an answer.

Where the knob has an order, the settings share a curve with phases, one for each combination of the
other factors' levels; those that stand apart, and all settings of a knob without an order, are
estimated from their own trials. All of them together are the candidates of a recommendation.

What each setting's true response is, from its own trials alone: settings that share no curve.

The mean of a setting's trials, of which spoiled ones count for little: residuals are a mixture of
noise and of a wide contamination (Huber 1964, Annals of Mathematical Statistics 35, 73-101),
weighed by expectation and maximisation (Dempster, Laird and Rubin 1977, JRSS B 39, 1-38). Variances
are drawn towards the common one (see `level_estimates`). Counts have the noise of counts: their
variance is proportional to their mean (quasi-likelihood; McCullagh and Nelder 1989, Generalized
Linear Models, chapter 9), and none of them is taken for spoiled.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding
from deadzone.analysis.phases.candidates import (
    Candidates,
    candidates_of,
    in_slice,
    measured_settings,
    only,
    stacked,
)
from deadzone.analysis.phases.fit import CurveSettings, fit_curve
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.outliers import OUTLIER_PROBABILITY
from deadzone.analysis.phases.prepare import curve_trials, knob_scale, measured_trials
from deadzone.analysis.phases.quantities import plain_name, unit_name
from deadzone.analysis.phases.recommend import Recommendation, recommend_from
from deadzone.analysis.phases.thresholds import (
    BREAKTHROUGH_ELASTICITY,
    LINEAR_ELASTICITY,
    REVERSAL_ELASTICITY,
)
from deadzone.analysis.response_scale import RATIO, ResponseScale, response_scale
from deadzone.analysis.settings.cell_estimates import estimate_cells
from deadzone.errors import PhaseError, check_known
from deadzone.language.messages import N_, Message, _, say
from deadzone.study.direction import GoalFrom
from deadzone.study.distinct import by_distinct, level_names
from deadzone.study.levels import read_level
from deadzone.study.scales import (
    FEWEST_LEVELS,
    INTERVAL,
    NO_LIMIT,
    WORDS,
    KnobScale,
    Place,
    level_name,
)

SCALES = {
    "interval": N_(
        "{response} may be zero or negative: settings are compared by its amount, and there are no "
        "phases."
    ),
    "count": N_(
        "{response} counts events, some trials have none: settings are compared by their number, "
        "and there are no phases."
    ),
}


LOWEST = ""
"""The place of the one level that stands apart and yet comes before all others, 0; no level is
written so."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a table, and the scales that the answer is given on.

    factors: the other factors and, last, the knob. scale: of the response. knob_scale: of the knob.
    """

    factors: tuple[str, ...]
    response: str
    goal: str
    scale: ResponseScale
    knob_scale: KnobScale

    @property
    def knob(self) -> str:
        """The factor that curves are drawn over."""
        return self.factors[-1]

    @property
    def others(self) -> tuple[str, ...]:
        """The factors beside the knob."""
        return self.factors[:-1]


@dataclass(frozen=True, eq=False)
class Answer(Question):
    """The settings of a table with what is known of each.

    models: a phase model for each combination of the other factors' levels that has one, by those
    levels. candidates: every setting. trials: one row an analysed trial: setting (position among
    the candidates), response, outlier. notes: what was left out, which scales were used, and why
    there are no phases. findings: what is wrong with the experiment behind the table, where it was
    examined; recommendations heed them.
    """

    def heeding(self, findings: Sequence[Finding], goal_from: GoalFrom = "asked") -> "Answer":
        """The answer of an experiment of which this was found. goal_from: how its goal is
        known."""
        own = _but_of(findings, self.others)
        models = {
            levels: replace(model, goal_from=goal_from, findings=own)
            for levels, model in self.models.items()
        }
        candidates = replace(self.candidates, goal_from=goal_from)
        return replace(self, models=models, candidates=candidates, findings=tuple(findings))

    models: Mapping[tuple[Any, ...], PhaseModel]
    candidates: Candidates
    trials: pd.DataFrame
    notes: tuple[Message, ...]
    findings: tuple[Finding, ...] = ()

    def recommend(self, given: Mapping[str, Any] | None = None, **options: Any) -> Recommendation:
        """The setting to choose; the options are those of `recommend_from`.

        given: levels of other factors that are not ours to choose. Raises PhaseError where no
        setting has them.
        """
        options = {"findings": _but_of(self.findings, given or {}), **options}
        return recommend_from(only(self.candidates, self._has(given or {})), **options)

    def in_each_slice(
        self, given: Mapping[str, Any] | None = None, **options: Any
    ) -> list[Recommendation]:
        """The setting to choose for each combination of the other factors' levels."""
        there = zip(self.candidates["setting"], self._has(given or {}), strict=True)
        slices = dict.fromkeys(
            tuple(setting[name] for name in self.others) for setting, has in there if has
        )
        return [
            self.recommend(dict(zip(self.others, levels, strict=True)), **options)
            for levels in slices
        ]

    def _has(self, given: Mapping[str, Any]) -> np.ndarray:
        """Which settings have the levels given, shape (settings,)."""
        for name in given:
            listed = "Factors beside the knob are" if self.others else ""
            check_known(PhaseError, f"{name!r} cannot be given", name, self.others, listed)
        wanted = {name: _as_setting(level_name(level)) for name, level in given.items()}
        settings = self.candidates["setting"]
        has = np.array(
            [all(setting[name] == level for name, level in wanted.items()) for setting in settings]
        )
        if not has.any():
            there = dict.fromkeys(
                of_levels(list(given), [candidate[name] for name in given])
                for candidate in settings
            )
            asked = of_levels(list(given), list(given.values()))
            raise PhaseError(f"No setting has {asked}; there are {'; '.join(there)}.")
        return has


def _but_of(findings: Sequence[Finding], given: Collection[str]) -> tuple[Finding, ...]:
    """The findings, without what says of a factor that it is no choice, where it is given."""
    return tuple(
        finding
        for finding in findings
        if finding.seen.values.get("how") != "by" or finding.seen.values["column"] not in given
    )


def answer(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: Sequence[str] = (),
    scale: str | KnobScale | None = None,
    places: Mapping[str, Place] | None = None,
    k: int | None = None,
    measured_on: str | None = None,
    keep_untrusted: bool = False,
    **how: Unpack[CurveSettings],
) -> Answer:
    """Estimate every setting of a table, and fit phases where the knob has an order.

    frame: one row a trial, as for `fit_phases`. by: the other factors. scale, places, k: of the
    knob, see `scale_of`. measured_on: the scale of the response: ratio, interval or count. how: a
    curve is fitted, as for `fit_phases`.

    Raises PhaseError for what is no such table, or does not fit the scales that are wanted.
    """
    factors = (*by, knob)
    table, notes = measured_trials(frame, factors, response, goal, keep_untrusted)
    if not isinstance(scale, KnobScale):
        scale = knob_scale(table[knob], scale, places, k)
    values = table[response].to_numpy(float)
    try:
        measured = response_scale(values, measured_on, unit_name(response) or plain_name(response))
    except ValueError as error:
        raise PhaseError(f"{response!r} {error}.") from error
    cells, cell = _cells(table, factors, scale)
    asked = Question(factors, response, goal, measured, scale)
    own, outlier = _own_candidates(asked, cells, cell, values)
    spoiled = pd.Series(outlier, index=table.index)
    models: dict[tuple[Any, ...], PhaseModel] = {}
    parts, order = [], []
    for levels, group in cells.groupby(list(by), sort=False) if by else [((), cells)]:
        rows = table[np.isin(cell, group.index)]
        try:
            model = _curve(asked, rows, how)
        except PhaseError as error:
            model = None
            where = of_levels(by, levels) or plain_name(knob)
            notes.append(_("{where}: no curve is fitted. {error}", where=where, error=str(error)))
        on_axis = group["place"].map(lambda place: isinstance(place, float)) & (model is not None)
        is_zero = group["place"] == LOWEST
        pieces = [
            only(own, part.index.to_numpy())
            for part in (group[is_zero], group[~on_axis & ~is_zero])
        ]
        if model is not None:
            if not by:
                model = replace(model, warnings=tuple(dict.fromkeys((*notes, *model.warnings))))
            models[levels] = model
            pieces.insert(1, candidates_of(model))
            spoiled[model.trials["row"]] = model.trials["outlier"].to_numpy(bool)
        order += [*group.index[is_zero], *group.index[on_axis], *group.index[~on_axis & ~is_zero]]
        parts.append(
            in_slice(stacked([p for p in pieces if len(p)]), dict(zip(by, levels, strict=True)))
        )
    trials = table.assign(setting=np.argsort(order)[cell], response=values, outlier=spoiled)[
        ["setting", "response", "outlier"]
    ]
    said = (*notes, *_said(asked, models))
    return Answer(
        **vars(asked), models=models, candidates=stacked(parts), trials=trials, notes=said
    )


def _cells(
    table: pd.DataFrame, factors: Sequence[str], scale: KnobScale
) -> tuple[pd.DataFrame, np.ndarray]:
    """One row a setting, groups of the other factors together and the knob's levels in order; and
    each trial's row.

    Columns: the factors, with levels as a program is given them, and `place`: a number on the axis,
    or a text.
    """
    *by, knob = factors
    rows = pd.DataFrame({name: level_names(table[name]) for name in factors})
    places = {**scale.positions, **({scale.lowest: LOWEST} if scale.lowest else {})}
    rows["place"] = by_distinct(rows[knob], lambda name: places.get(name, name), None)
    cell = rows.groupby([*by, "place"], sort=False).ngroup().to_numpy()
    sound = rows.drop_duplicates([*by, "place"])
    ranks = [[_rank(level) for level in sound[name]] for name in (*by, "place")]
    order = sorted(range(len(sound)), key=lambda i: [rank[i] for rank in ranks])
    sound, cell = sound.iloc[order].reset_index(drop=True), np.argsort(order)[cell]
    return sound.assign(**{name: sound[name].map(_as_setting) for name in factors}), cell


def _rank(level: Any) -> tuple[int, float, str]:
    """Zero, then numbers in order, then words."""
    if level == LOWEST:
        return 0, 0.0, ""
    try:
        return 1, float(level), ""
    except ValueError:
        return 2, 0.0, str(level)


def _amount(place: Any) -> float:
    """How much of the knob a setting takes; NaN where it is a word."""
    return place if isinstance(place, float) else 0.0 if place == LOWEST else np.nan


def _as_setting(name: str) -> Any:
    """A level as a program is given it: a number where it is written as one."""
    return name if name in NO_LIMIT else read_level(name)


def _own_candidates(
    asked: Question, cells: pd.DataFrame, cell: np.ndarray, values: np.ndarray
) -> tuple[Candidates, np.ndarray]:
    """Every setting estimated from its own trials, and which trials are spoiled, shape
    (trials,)."""
    value = asked.scale.forward(values)
    estimates, weight = estimate_cells(cell, value, len(cells), asked.scale)
    spoiled = weight < 1 - OUTLIER_PROBABILITY
    is_ordered = asked.knob_scale.kind != INTERVAL
    ordered = [
        is_ordered and (isinstance(place, float) or place == LOWEST) for place in cells["place"]
    ]
    candidates = measured_settings(
        pd.DataFrame({asked.knob: [_amount(place) for place in cells["place"]]}),
        list(cells[asked.knob]),
        pd.DataFrame({"index": cell, "response": values, "value": value, "outlier": spoiled}),
        estimates,
        (asked.response, asked.goal, asked.scale),
        dead=False,
        last=False,
        kind=np.where(ordered, 0, 1 + np.arange(len(cells))),
        on_curve=False,
        estimable=bool(np.bincount(cell).max() > 1),
    )
    return candidates, spoiled


def _curve(asked: Question, rows: pd.DataFrame, how: CurveSettings) -> PhaseModel | None:
    """The phases of one curve; None where the scales leave none. Raises PhaseError where it cannot
    be fitted."""
    if asked.scale.kind != RATIO or not asked.knob_scale.has_phases:
        return None
    asks = (asked.knob, asked.response, asked.goal)
    return fit_curve(curve_trials(rows, *asks, asked.knob_scale), *asks, **how)


def of_levels(by: Sequence[str], levels: Sequence[Any]) -> str:
    """The levels of further factors, by which a slice is named: `tool = xz, files = 4`."""
    return ", ".join(f"{name} = {level}" for name, level in zip(by, levels, strict=True))


def _said(asked: Question, models: Mapping[tuple[Any, ...], PhaseModel]) -> list[Message]:
    """Which scales were used, where they are not the usual ones, and why there are no phases."""
    sentences = []
    knob = plain_name(asked.knob)
    if asked.scale.kind != RATIO:
        sentences.append(say(SCALES[asked.scale.kind], response=plain_name(asked.response)))
    elif asked.knob_scale.kind == WORDS:
        sentences.append(
            _(
                "{knob} is a choice among words: its settings are compared with each other, and "
                "there are no phases.",
                knob=knob,
            )
        )
    elif not asked.knob_scale.has_phases:
        sentences.append(
            _(
                "{knob} has fewer than {least} levels on its axis: its settings are compared with "
                "each other, and there are no phases.",
                knob=knob,
                least=FEWEST_LEVELS,
            )
        )
    elif asked.knob_scale.kind == INTERVAL and models:
        axis = next(iter(models.values())).axis
        gains = [
            abs(axis.gain_a_unit(e))
            for e in (LINEAR_ELASTICITY, BREAKTHROUGH_ELASTICITY, REVERSAL_ELASTICITY)
        ]
        sentences.append(
            _(
                "{knob} is on an interval scale: pieces are straight over the level itself. A "
                "phase pays from an improvement of {pays:percent} a unit, is a breakthrough from "
                "{jumps:percent}, and a reversal from {harms:percent} worse.",
                knob=knob,
                pays=gains[0],
                jumps=gains[1],
                harms=gains[2],
            )
        )
    return sentences
