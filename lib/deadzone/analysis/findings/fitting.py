"""`deadzone.fit_phases`: the phases of a table of trials, with what is wrong with the experiment
behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import pandas as pd

from deadzone.analysis.findings.examining import examine
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.phases import fit
from deadzone.analysis.phases.fit import FitSettings
from deadzone.analysis.phases.model import PhaseModel, PhaseModels
from deadzone.analysis.phases.prepare import knob_scale, places_of
from deadzone.analysis.phases.roles import check_column, with_index
from deadzone.analysis.phases.thresholds import CERTAINTY, Thresholds
from deadzone.analysis.settings.answering import answer
from deadzone.errors import PhaseError, check_known
from deadzone.study.distinct import level_names
from deadzone.study.levels import Level
from deadzone.study.scales import MISSING, KnobScale, Place


@overload
def fit_phases(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: None = None,
    failures: Sequence[str] = (),
    role: str = "",
    **how: Unpack[FitSettings],
) -> PhaseModel: ...


@overload
def fit_phases(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: str,
    failures: Sequence[str] = (),
    role: str = "",
    **how: Unpack[FitSettings],
) -> PhaseModels: ...


def fit_phases(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: str | None = None,
    failures: Sequence[str] = (),
    role: str = "",
    thresholds: Thresholds | None = None,
    certainty: float = CERTAINTY,
    correct_drift: bool = True,
    keep_untrusted: bool = False,
    scale: KnobScale | None = None,
    k: int | None = None,
    at: Mapping[Level, Place] | None = None,
) -> PhaseModel | PhaseModels:
    frame = with_index(frame, (knob, by))
    check_column(frame, knob)
    names, places = pd.Series(level_names(frame[knob]).unique(), name=knob), places_of(at)
    for level in places:
        check_known(PhaseError, f"{knob} has no level {level}", level, [*names])
    how: FitSettings = {
        "thresholds": thresholds,
        "certainty": certainty,
        "correct_drift": correct_drift,
        "keep_untrusted": keep_untrusted,
        "scale": scale,
        "k": k,
        "at": at,
    }
    model: Any = (
        fit.fit_phases(frame, knob, response, goal, **how)
        if by is None
        else fit.fit_slices(frame, knob, response, goal, by, **how)
    )
    curve = model if by is None else None
    others = (by,) if by else ()
    settings = None
    if scale is None and not keep_untrusted:
        on_axis = knob_scale(names, places=places, k=k).positions
        if {*names} - {*on_axis, MISSING}:
            settings = answer(
                frame, knob, response, goal, by=others, places=places, k=k, thresholds=thresholds
            ).candidates
    seen = Experiment(
        frame, knob, response, goal, others, model=curve, failures=tuple(failures), role=role
    )
    findings = examine(seen)
    if by is None:
        return replace(model, findings=findings, settings=settings)
    models = {value: replace(part, findings=findings) for value, part in model.models.items()}
    return replace(model, models=models, findings=findings, settings=settings)


fit_phases.__doc__ = (
    (fit.fit_phases.__doc__ or "")
    .replace(
        "    thresholds: where",
        "    by: a second factor; each of its values is fitted as a slice and a PhaseModels is "
        "returned.\n    thresholds: where",
    )
    .replace(
        "    Raises PhaseError,",
        "    failures: columns that count failures, or hold their share, whatever they are "
        "called.\n"
        "    role: of the knob, `setting` or `work_size` (nothing is recommended then); by default "
        "what its name says.\n\n"
        "    `model.findings` says what is wrong with the experiment behind the table; "
        "`model.recommend()` heeds it.\n\n"
        "    Raises PhaseError,",
    )
)
