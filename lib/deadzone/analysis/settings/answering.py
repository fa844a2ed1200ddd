"""What a table of trials says of the settings that were tried: every table gets an answer.

Where the knob has an order, the settings share a curve with phases, one for each combination of the
other factors' levels; those that stand apart, and all settings of a knob without an order, are
estimated from their own trials. All of them together are the candidates of a recommendation.
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
    measured_settings,
    only,
)
from deadzone.analysis.phases.fit import CurveSettings, fit_curve
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.outliers import OUTLIER_PROBABILITY
from deadzone.analysis.phases.prepare import curve_trials, knob_scale, measured_trials
from deadzone.analysis.phases.quantities import plain_name, unit_name
from deadzone.analysis.phases.quantities import setting as setting_text
from deadzone.analysis.phases.recommend import Recommendation, recommend_from
from deadzone.analysis.phases.roles import of_levels
from deadzone.analysis.phases.thresholds import (
    BREAKTHROUGH_ELASTICITY,
    LINEAR_ELASTICITY,
    REVERSAL_ELASTICITY,
)
from deadzone.analysis.records import plain
from deadzone.analysis.response_scale import RATIO, ResponseScale, response_scale
from deadzone.analysis.settings.cell_estimates import estimate_cells
from deadzone.analysis.trial_columns import with_fewer_levels
from deadzone.errors import PhaseError, check_known
from deadzone.language.messages import N_, Message, _, say
from deadzone.store.table import is_at
from deadzone.study.direction import GoalFrom, kind_of
from deadzone.study.levels import is_number, read_level
from deadzone.study.response_cells import by_distinct, level_names, spread_of, unit_in
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
        "{response} may be zero or negative: settings are compared by its amount, without phases."
    ),
    "count": N_(
        "{response} counts events, some trials have none: settings are compared by their number, "
        "without phases."
    ),
}


LOWEST = ""
"""The place of the one level that stands apart and yet comes before all others, 0; no level is
written so."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The settings of a table with what is known of each.

    factors: the other factors and, last, the knob. knob_scale: of the knob. models: a phase model
    for each combination of the other factors' levels that has one, by those levels. candidates:
    every setting. trials: one row an analysed trial: index (position of its setting among the
    candidates), response, outlier. notes: what was left out, which scales were used, and why
    there are no phases. findings: what is wrong with the experiment behind the table, where it was
    examined; recommendations heed them.
    """

    factors: tuple[str, ...]
    knob_scale: KnobScale
    models: Mapping[tuple[Any, ...], PhaseModel]
    candidates: Candidates
    trials: pd.DataFrame
    notes: tuple[Message, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def others(self) -> tuple[str, ...]:
        """The factors beside the knob."""
        return self.factors[:-1]

    @property
    def is_one_curve(self) -> bool:
        """Whether every setting lies on the same curve."""
        on_curves = sum(model.n_levels for model in self.models.values())
        return not self.others and on_curves == len(self.candidates)

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
        there = self.candidates["setting"][self._has(given or {})]
        slices = dict.fromkeys(tuple(one[name] for name in self.others) for one in there)
        return [self.recommend(dict(zip(self.others, at, strict=True)), **options) for at in slices]

    def _has(self, given: Mapping[str, Any]) -> np.ndarray:
        """Which settings have the levels given, shape (settings,)."""
        for name in given:
            listed = "Factors other than the knob are" if self.others else ""
            check_known(PhaseError, f"{name!r} cannot be given", name, self.others, listed)
        held = [{name: one[name] for name in given} for one in self.candidates["setting"]]
        has = is_at(pd.DataFrame(held, dtype=object), given)
        if not has.any():
            there = "; ".join(dict.fromkeys(of_levels(one, one.values()) for one in held))
            raise PhaseError(
                f"No setting has {of_levels(given, given.values())}; there are {there}."
            )
        return has


def _but_of(findings: Sequence[Finding], given: Collection[str]) -> tuple[Finding, ...]:
    """The findings, without what says of a factor that it is no choice, where it is given."""
    return tuple(
        finding
        for finding in findings
        if finding.values.get("how") != "by" or finding.values["column"] not in given
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
    table, fewer = with_fewer_levels(table, knob, scale)
    notes += fewer
    values = table[response].to_numpy(float)
    if (
        measured_on is None
        and not values.all()
        and (
            unit_name(response) or unit_in(frame, response) or kind_of(response) in ("time", "rate")
        )
    ):
        measured_on = INTERVAL  # whole seconds, or a rate of 0, are no numbers of events
    try:
        measured = response_scale(values, measured_on, unit_name(response) or plain_name(response))
    except ValueError as error:
        raise PhaseError(f"{response!r} {error}.") from error
    cells, cell = _cells(table, factors, scale)
    value = measured.forward(values)
    spread = spread_of(frame, response) if measured.kind == RATIO else None
    (columns, covariance, freedom), weight = estimate_cells(
        cell, value, len(cells), measured, spread
    )
    shown = pd.DataFrame(
        {"index": cell, "response": values, "outlier": weight < 1 - OUTLIER_PROBABILITY},
        index=table.index,
    )
    # How much of each factor a setting takes; nothing is known of a word.
    amounts = cells[[knob, *by]].map(_amount)
    on_axis = cells["place"].map(lambda place: isinstance(place, float))
    amounts[knob] = cells["place"].where(on_axis, np.nan).where(cells["place"] != LOWEST, 0.0)
    amounts = amounts.astype(float)
    own = measured_settings(shown.assign(value=value), columns, goal).assign(
        setting=cells[knob],
        name=[setting_text(level, knob) for level in cells[knob]],
        dead=False,
        last=False,
        on_curve=False,
        estimable=bool(np.bincount(cell).max() > 1),
    )
    if spread or own["estimable"].any():  # else how neighbours differ is all that tells
        own["own_error"] = np.maximum(own["own_error"], own["noise"] / np.sqrt(own["n"]))
    models: dict[tuple[Any, ...], PhaseModel] = {}
    with_apart: dict[tuple[Any, ...], tuple[np.ndarray, float]] = {}
    has_curves, freedoms = measured.kind == RATIO and scale.has_phases, list[float]()
    groups = cells.groupby(list(by), sort=False) if by else [((), cells)]
    for levels, group in groups if has_curves else []:
        rows = table[np.isin(cell, group.index)]
        try:
            trials = curve_trials(rows, knob, response, goal, scale)
            model = fit_curve(trials, knob, response, goal, **how)
        except PhaseError as error:
            where, reason = of_levels(by, levels) or plain_name(knob), str(error)
            notes.append(_("{where}: no curve is fitted. {error}", where=where, error=reason))
            continue
        curve, at = candidates_of(model), group.index[on_axis[group.index]]
        own = pd.concat([own.drop(at), curve.table.set_index(at)])
        covariance[np.ix_(at.to_numpy(), at.to_numpy())] = curve.covariance
        amounts.loc[at, knob] = curve.levels
        freedoms.append(curve.degrees_of_freedom)
        shown.loc[model.trials["row"], "outlier"] = model.trials["outlier"].to_numpy()
        if not by:
            model = replace(model, warnings=tuple(dict.fromkeys((*notes, *model.warnings))))
        models[levels] = model
        if len(at) < len(group):
            with_apart[levels] = group.index.to_numpy(), curve.degrees_of_freedom + freedom
    others: Any = cells[list(by)].map(lambda level: plain(level, whole=True)).to_dict("records")
    is_ordered = amounts[knob].notna() & (scale.kind != INTERVAL)
    own = own.sort_index()
    settings = own.assign(
        kind=[
            " / ".join(str(level) for level in levels.values() if np.isnan(_amount(level)))
            if ordered
            else str(number)
            for number, (levels, ordered) in enumerate(zip(others, is_ordered, strict=True))
        ],
        name=[
            " / ".join([*(setting_text(level, name) for name, level in levels.items()), own_name])
            for levels, own_name in zip(others, own["name"], strict=True)
        ],
        setting=pd.Series(
            [
                {**levels, knob: level} if by else level
                for levels, level in zip(others, own["setting"], strict=True)
            ],
            dtype=object,
        ),
    )
    # 0 before the curve, and what stands apart behind it: by the noise of all trials
    freedom = sum(freedoms) + freedom * (not own["on_curve"].all())
    candidates = Candidates(
        settings, amounts, covariance, freedom, response, goal, measured, spread=spread,
        unit=unit_in(frame, response),
    )  # fmt: skip
    if by:  # a slice chooses among what stands apart, too
        table = settings.assign(setting=own["setting"], name=own["name"])
        alone = replace(candidates, table=table, amounts=amounts[[knob]])
        for levels, (rows_of, known) in with_apart.items():
            slice_of = replace(only(alone, rows_of), degrees_of_freedom=known)
            models[levels] = replace(models[levels], settings=slice_of)
    notes += _said(knob, response, measured, scale, models)
    return Answer(factors, scale, models, candidates, shown, tuple(notes))


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
    given = {n: pd.Series([*map(_as_written, sound[n])], dtype=object) for n in by}
    return sound.assign(**given, **{knob: sound[knob].map(_as_setting)}), cell


def _rank(level: Any) -> tuple[int, float, str]:
    """Zero, then places on the axis, then other numbers in order, then words."""
    if level == LOWEST:
        return 0, 0.0, ""
    try:
        return 1 + isinstance(level, str), float(level), ""
    except ValueError:
        return 3, 0.0, str(level)


def _as_setting(name: str) -> Any:
    """A level as a program is given it: a number where it is written as one."""
    return name if name in NO_LIMIT else read_level(name)


def _as_written(name: str) -> Any:
    """A level of another factor: a number where that says all that is written; 2.0 and 1.10 may be
    versions."""
    level = _as_setting(name)
    return level if level_name(level) == name else name


def _amount(level: Any) -> float:
    """How much a level is; nan of a word."""
    number = _as_setting(level)
    return float(number) if is_number(number) else np.nan


def _said(
    knob: str,
    response: str,
    measured: ResponseScale,
    scale: KnobScale,
    models: Mapping[tuple[Any, ...], PhaseModel],
) -> list[Message]:
    """Which scales were used, where they are not the usual ones, and why there are no phases."""
    named = {"knob": plain_name(knob)}
    if measured.kind != RATIO:
        return [say(SCALES[measured.kind], response=plain_name(response))]
    if scale.kind == WORDS:
        return [
            _(
                "{knob} is a choice among words: its settings are compared, without phases.",
                **named,
            )
        ]
    if not scale.has_phases:
        return [
            _(
                "{knob} has fewer than {least} levels on its axis: its settings are compared, "
                "without phases.",
                **named,
                least=FEWEST_LEVELS,
            )
        ]
    if scale.kind != INTERVAL or not models:
        return []
    gain = next(iter(models.values())).axis.gain_a_unit
    return [
        _(
            "{knob} is on an interval scale: pieces are straight over the level itself. A phase "
            "pays from an improvement of {pays:percent} a unit, is a breakthrough from "
            "{jumps:percent}, and a reversal from {harms:percent} worse.",
            **named,
            pays=abs(gain(LINEAR_ELASTICITY)),
            jumps=abs(gain(BREAKTHROUGH_ELASTICITY)),
            harms=abs(gain(REVERSAL_ELASTICITY)),
        )
    ]
