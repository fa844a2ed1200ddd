"""What a table of trials says of the settings that were tried: every table gets an answer.

Where the knob has an order, the settings share a curve with phases, one for each combination of the other factors'
levels; those that stand apart, and all settings of a knob without an order, are estimated from their own trials. All
of them together are the candidates of a recommendation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.candidates import (
    Candidates,
    candidates_of,
    in_slice,
    measured_at,
    only,
    stacked,
)
from deadzone.explaining.phases.fit import fit_phases
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.outliers import OUTLIER_PROBABILITY
from deadzone.explaining.phases.prepare import knob_scale, measured_trials
from deadzone.explaining.phases.quantities import plain_name, unit_name
from deadzone.explaining.phases.quantities import setting as setting_text
from deadzone.explaining.phases.recommend import Recommendation, recommend_from
from deadzone.explaining.phases.thresholds import (
    BREAKTHROUGH_ELASTICITY,
    LINEAR_ELASTICITY,
    REVERSAL_ELASTICITY,
    Thresholds,
)
from deadzone.explaining.response_scale import RATIO, ResponseScale, response_scale
from deadzone.explaining.settings.cells import estimate_cells
from deadzone.language.catalogue import Message, say
from deadzone.study.levels import plain_number
from deadzone.study.scales import (
    FEWEST_LEVELS,
    INTERVAL,
    NO_LIMIT,
    WORDS,
    KnobScale,
    Place,
    level_name,
)


@dataclass(frozen=True, eq=False)
class Answer:
    """The settings of a table with what is known of each.

    factors: the other factors and, last, the knob. scale: of the response. knob_scale: of the knob. models: a phase
    model for each combination of the other factors' levels that has one, by those levels. candidates: every setting.
    trials: one row an analysed trial: setting (position among the candidates), response, outlier. notes: what was
    left out, which scales were used, and why there are no phases.
    """

    factors: tuple[str, ...]
    response: str
    goal: str
    scale: ResponseScale
    knob_scale: KnobScale
    models: Mapping[tuple[Any, ...], PhaseModel]
    candidates: Candidates
    trials: pd.DataFrame
    notes: tuple[Message, ...]

    @property
    def knob(self) -> str:
        """The factor that curves are drawn over."""
        return self.factors[-1]

    @property
    def others(self) -> tuple[str, ...]:
        """The factors beside the knob."""
        return self.factors[:-1]

    def recommend(self, **wishes: Any) -> Recommendation:
        """The setting to choose; the wishes are those of `recommend_from`."""
        return recommend_from(self.candidates, **wishes)


def answer(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: Sequence[str] = (),
    scale: str | None = None,
    places: Mapping[str, Place] | None = None,
    measured_on: str | None = None,
    thresholds: Thresholds | None = None,
) -> Answer:
    """Estimate every setting of a table, and fit phases where the knob has an order.

    frame: one row a trial, as for `fit_phases`. by: the other factors. scale, places: of the knob, see `scale_of`.
    measured_on: the scale of the response: ratio, interval or count. thresholds: between phases.

    Raises PhaseError for what is no such table, or does not fit the scales that are wanted.
    """
    factors = (*by, knob)
    table, notes = measured_trials(frame, factors, response, goal)
    table = table.reset_index(drop=True)  # rows without a response are gone: the others are counted anew
    on_knob = knob_scale(table[knob], scale, places)
    values = table[response].to_numpy(float)
    try:
        measured = response_scale(values, measured_on, unit_name(response) or plain_name(response))
    except ValueError as error:
        raise PhaseError(f"{response!r} {error}.") from error
    cells, cell = _cells(table, factors, on_knob)
    asked = _Asked(factors, response, goal, on_knob, measured, thresholds)
    own, spoiled = _own_candidates(asked, cells, cell, values)
    models: dict[tuple[Any, ...], PhaseModel] = {}
    parts, order = [], []
    for levels, group in cells.groupby(list(by), sort=False) if by else [((), cells)]:
        rows = table[np.isin(cell, group.index)]
        try:
            model = _curve(asked, rows)
        except PhaseError as error:
            model = None
            notes.append(say("settings.not_fitted", where=_where(by, levels), error=str(error)))
        on_axis = group["place"].map(lambda place: isinstance(place, float)) & (model is not None)
        is_zero = group["place"] == ZERO
        pieces = [only(own, part.index.to_numpy()) for part in (group[is_zero], group[~on_axis & ~is_zero])]
        if model is not None:
            models[levels] = model
            pieces.insert(1, replace(candidates_of(model), scale=measured))
            spoiled[rows.index[model.trials["row"].to_numpy(int)]] = model.trials["outlier"].to_numpy(bool)
        order += [*group.index[is_zero], *group.index[on_axis], *group.index[~on_axis & ~is_zero]]
        parts.append(in_slice(stacked([p for p in pieces if len(p)]), dict(zip(by, levels, strict=True))))
    trials = table.assign(setting=np.argsort(order)[cell], response=values, outlier=spoiled[table.index])[
        ["setting", "response", "outlier"]
    ]
    return Answer(
        factors,
        response,
        goal,
        measured,
        on_knob,
        models,
        stacked(parts),
        trials,
        (*notes, *_said(asked, models)),
    )


ZERO = "0"
"""The one level that stands apart and yet has its place in the order: before all others."""


@dataclass(frozen=True)
class _Asked:
    """What an answer is asked about, and the scales it is given on."""

    factors: tuple[str, ...]
    response: str
    goal: str
    knob_scale: KnobScale
    scale: ResponseScale
    thresholds: Thresholds | None


def _cells(table: pd.DataFrame, factors: Sequence[str], scale: KnobScale) -> tuple[pd.DataFrame, np.ndarray]:
    """One row a setting, groups of the other factors together and the knob's levels in order; and each trial's row.

    Columns: the factors, with levels as a program is given them, and `place`: a number on the axis, or a text.
    """
    *by, knob = factors
    rows = pd.DataFrame({name: table[name].map(level_name) for name in factors})
    rows["place"] = rows[knob].map(lambda name: scale.positions.get(name, name))
    sound = rows.drop_duplicates([*by, "place"])
    ranks = [[_rank(level) for level in sound[name]] for name in (*by, "place")]
    sound = sound.iloc[sorted(range(len(sound)), key=lambda i: [rank[i] for rank in ranks])]
    numbers = {tuple(row): i for i, row in enumerate(sound[[*by, "place"]].to_numpy().tolist())}
    cell = np.array([numbers[tuple(row)] for row in rows[[*by, "place"]].to_numpy().tolist()])
    sound = sound.reset_index(drop=True)
    return sound.assign(**{name: sound[name].map(_as_setting) for name in factors}), cell


def _rank(level: Any) -> tuple[int, float, str]:
    """Zero, then numbers in order, then words."""
    try:
        value = float(level)
    except ValueError:
        return 2, 0.0, str(level)
    return (0 if level == ZERO else 1), value, ""


def _as_setting(name: str) -> Any:
    """A level as a program is given it: a number where it is written as one."""
    try:
        return plain_number(float(name)) if name not in NO_LIMIT else name
    except ValueError:
        return name


def _own_candidates(
    asked: _Asked, cells: pd.DataFrame, cell: np.ndarray, values: np.ndarray
) -> tuple[Candidates, np.ndarray]:
    """Every setting estimated from its own trials, and which trials are spoiled, shape (trials,)."""
    knob, n = asked.factors[-1], len(cells)
    estimates, weight = estimate_cells(cell, asked.scale.forward(values), n, asked.scale)
    spoiled = weight < 1 - OUTLIER_PROBABILITY
    measured = measured_at(cell, values, spoiled, n, asked.goal)
    is_ordered = asked.knob_scale.kind != INTERVAL
    ordered = [is_ordered and (isinstance(place, float) or place == ZERO) for place in cells["place"]]
    found = Candidates(
        settings=tuple(cells[knob]),
        names=tuple(setting_text(level, knob) for level in cells[knob]),
        places=("",) * n,
        dead=np.zeros(n, dtype=bool),
        last=np.zeros(n, dtype=bool),
        columns={knob: pd.to_numeric(cells["place"], errors="coerce").to_numpy(float)},
        estimates=estimates,
        **measured,
        response=asked.response,
        goal=asked.goal,
        estimable=bool(measured["trials"].max() > 1),
        kinds=np.where(ordered, 0, 1 + np.arange(n)),
        scale=asked.scale,
    )
    return found, spoiled


def _curve(asked: _Asked, rows: pd.DataFrame) -> PhaseModel | None:
    """The phases of one curve; None where the scales leave none. Raises PhaseError where it cannot be fitted."""
    knob = asked.factors[-1]
    on_axis = rows[knob].map(lambda level: asked.knob_scale.positions.get(level_name(level)))
    if asked.scale.kind != RATIO or on_axis.nunique() < FEWEST_LEVELS:
        return None
    return fit_phases(
        rows, knob, asked.response, asked.goal, scale=asked.knob_scale, thresholds=asked.thresholds
    )


def _where(by: Sequence[str], levels: Sequence[Any]) -> str:
    return ", ".join(f"{name} = {level}" for name, level in zip(by, levels, strict=True))


def _said(asked: _Asked, models: Mapping[tuple[Any, ...], PhaseModel]) -> list[Message]:
    """Which scales were used, where they are not the usual ones, and why there are no phases."""
    said = []
    knob = plain_name(asked.factors[-1])
    if asked.scale.kind != RATIO:
        said.append(say(f"settings.response_{asked.scale.kind}", response=plain_name(asked.response)))
    elif asked.knob_scale.kind == WORDS:
        said.append(say("settings.words", knob=knob))
    elif not asked.knob_scale.has_phases:
        said.append(say("settings.few_levels", knob=knob, least=FEWEST_LEVELS))
    elif asked.knob_scale.kind == INTERVAL and models:
        axis = next(iter(models.values())).axis
        gains = [
            abs(axis.gain_a_unit(e))
            for e in (LINEAR_ELASTICITY, BREAKTHROUGH_ELASTICITY, REVERSAL_ELASTICITY)
        ]
        said.append(say("settings.interval", knob=knob, pays=gains[0], jumps=gains[1], harms=gains[2]))
    return said
