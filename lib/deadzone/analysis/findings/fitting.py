"""`deadzone.fit_phases`: the phases of a table of trials, with what is wrong with the experiment
behind it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import pandas as pd

from deadzone.analysis.findings.examining import examine
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.phases import fit
from deadzone.analysis.phases.fit import FitSettings
from deadzone.analysis.phases.model import PhaseModel, PhaseModels


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
    **how: Unpack[FitSettings],
) -> PhaseModel | PhaseModels:
    model: Any = (
        fit.fit_phases(frame, knob, response, goal, **how)
        if by is None
        else fit.fit_slices(frame, knob, response, goal, by, **how)
    )
    one = model if by is None else None
    others = (by,) if by else ()
    found = examine(
        Experiment(
            frame, knob, response, goal, others, model=one, failures=tuple(failures), role=role
        )
    )
    if by is None:
        return replace(model, findings=found)
    models = {value: replace(part, findings=found) for value, part in model.models.items()}
    return replace(model, models=models, findings=found)


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
