"""A search that a study runs: the cells it chooses among, its next trials, and what the trials of
a run say."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from deadzone.errors import PhaseError
from deadzone.plugins import Level, Plan, Study, StudyError
from deadzone.store.table import SEARCH_STAGE
from deadzone.study.design import NextTreatments, with_equals
from deadzone.study.factors import LevelsFactorSpec, sized_level
from deadzone.study.plan import SEARCH_TRIALS
from deadzone.study.reasons import reason
from deadzone.study.service_specs import ENVIRONMENT

if TYPE_CHECKING:
    import pandas as pd

    from deadzone_search.searching import KnobSearch


MOST_TRUSTED = 0.5
"""Where fewer of the trials are trusted, the others choose the next ones too."""


def search_cells(study: Study) -> list[dict[str, Level]]:
    """The cells of a resolved study, with the levels of all factors that equal no other, the
    baseline first.

    Raises StudyError where nothing can be searched, ModuleNotFoundError where the extra is missing.
    """
    if find_spec("sklearn") is None:
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
    from deadzone_search.searching import check_trials
    from deadzone_search.space import space_of

    knobs, asked = _knobs(study), _asked(study)
    try:
        space, base = space_of(
            knobs, asked["baseline"], asked["where"], asked["when"], asked["seed"]
        )
        check_trials(space, asked["trials"])
    except PhaseError as error:
        raise StudyError(f"design.kind is search: {error}") from error
    cells = space.cells.to_dict("records")
    ordered, fixed = [cells[base], *cells[:base], *cells[base + 1 :]], _fixed(study)
    return [{**{str(name): level for name, level in cell.items()}, **fixed} for cell in ordered]


def next_cells(plan: Plan, table: pd.DataFrame) -> NextTreatments:
    """The next trials of a plan: those that the search asks for after these."""
    said = searched(plan.study, table)
    fixed = _fixed(plan.study)
    chosen = tuple(
        with_equals(plan.study, fixed | {str(name): level for name, level in cell.items()})
        for cell in said.ask.drop(columns="stage").to_dict("records")
    )
    if not chosen:
        return NextTreatments((), reason("knobs_done", n=len(said.trials)), (), ())
    why = reason(f"knobs_{said.stage}", n=len(chosen))
    still_open = (reason("knobs_open"),) if said.recommendation is None else ()
    return NextTreatments(chosen, why, (0.0,) * len(chosen), still_open, said.stage)


def searched(study: Study, table: pd.DataFrame) -> KnobSearch:
    """What the trials of a resolved study say of its knobs. table: tidy, of which the last attempt
    at each trial counts; may be empty. Raises PhaseError where they say that nothing can be
    searched."""
    from deadzone_search.searching import search

    if len(table):
        table = table[~table["warmup"].fillna(False).astype(bool)].groupby("trial").tail(1)
        table = table.rename(columns={SEARCH_STAGE: "stage"})
        if study.response.name not in table:  # of trials that all failed
            table = table.assign(**{study.response.name: float("nan")})
        if table["trusted"].mean() < MOST_TRUSTED:  # the search goes on, the verdict says so
            table = table.assign(trusted=True)
    given = {name: value for name, value in _asked(study).items() if value is not None}
    return search(table, _knobs(study), study.response.name, study.response.goal, **given)


def _levels(study: Study) -> dict[str, tuple[Level, ...]]:
    return {
        name: factor.levels
        for name, factor in study.factors.items()
        if isinstance(factor, LevelsFactorSpec)
    }


def _knobs(study: Study) -> dict[str, tuple[Level, ...]]:
    """The levels of each knob. A study with one environment does not choose it."""
    return {n: some for n, some in _levels(study).items() if (n, len(some)) != (ENVIRONMENT, 1)}


def _fixed(study: Study) -> dict[str, Level]:
    """The level of each factor that is not searched."""
    return {n: some[0] for n, some in _levels(study).items() if n not in _knobs(study)}


def _asked(study: Study) -> dict[str, Any]:
    """The keys of the design as `search` has them."""
    design = study.design
    baseline = {name: sized_level(name, level) for name, level in (design.baseline or {}).items()}
    when = {
        name: {other: _sized(other, wanted) for other, wanted in needs.items()}
        for name, needs in (design.when or {}).items()
    }
    return {
        "trials": design.trials or SEARCH_TRIALS, "along": design.along, "gain": design.gain,
        "where": design.where, "when": when, "baseline": baseline, "seed": design.seed,
    }  # fmt: skip


def _sized(name: str, wanted: Level | tuple[Level, ...]) -> list[Level]:
    some = wanted if isinstance(wanted, tuple) else (wanted,)
    return [sized_level(name, level) for level in some]
