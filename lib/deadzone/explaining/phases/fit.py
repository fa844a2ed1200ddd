"""`fit_phases`: from a table of trials to a phase model."""

from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases import tables
from deadzone.explaining.phases.doubts import doubts
from deadzone.explaining.phases.drift import estimate_drift
from deadzone.explaining.phases.inference import infer
from deadzone.explaining.phases.labels import decode, step_probabilities
from deadzone.explaining.phases.model import PhaseModel, PhaseModels
from deadzone.explaining.phases.outliers import spoiled
from deadzone.explaining.phases.prepare import check_column, prepare
from deadzone.explaining.phases.result import Noise
from deadzone.explaining.phases.smooth import LAWS, law_table
from deadzone.explaining.phases.thresholds import CERTAINTY, LABELS, Thresholds
from deadzone.language.catalogue import say
from deadzone.study.scales import KnobScale


class FitSettings(TypedDict, total=False):
    """How a curve is fitted; see `fit_phases`."""

    thresholds: Thresholds | None
    certainty: float
    correct_drift: bool
    keep_untrusted: bool
    scale: KnobScale | None


@overload
def fit_phases(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: None = None,
    **how: Unpack[FitSettings],
) -> PhaseModel: ...


@overload
def fit_phases(
    frame: pd.DataFrame, knob: str, response: str, goal: str = "min", *, by: str, **how: Unpack[FitSettings]
) -> PhaseModels: ...


def fit_phases(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    by: str | None = None,
    **how: Unpack[FitSettings],
) -> PhaseModel | PhaseModels:
    """Find the phases of a response curve: where the knob pays, stalls, breaks through, or hurts.

    frame: one row a trial. Columns used where present: `trial`, `block`, `started_at` (run order),
        `status` (only "ok" is analysed), `warmup` (left out where true), `trusted` (left out where false
        unless keep_untrusted).
    knob: column of the levels, 3 to 500 numbers, or "none" for no limit; other words and, beside positive numbers,
        0 stand apart and are left out. Negative ones make the scale an interval scale (see `KnobAxis`).
    response: column of a positive quantity in one unit. goal: "min" (a time) or "max" (a throughput).
    by: a second factor; each of its values is fitted as a slice and a PhaseModels is returned.
    thresholds: where one label ends and the next begins. certainty: coverage of all intervals.
    correct_drift: subtract a significant drift over the run; it is reported either way.
    scale: of the knob, by default what its levels suggest.

    The curve is a continuous broken power law (Muggeo 2003). Joints, labels, elasticities, outliers and
    noise are inferred together: the posterior over all segmentations is summed exactly on a grid by
    dynamic programming (after Fearnhead 2006 and Fearnhead, Maidstone and Letchford 2019), so no random
    numbers are drawn and the same table always gives the same model.

    Raises PhaseError, with what to do about it, where the table cannot be analysed.
    """
    if by is not None:
        return _fit_slices(frame, knob, response, goal, by, how)
    return _fit_curve(frame, knob, response, goal, **how)


def _fit_curve(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str,
    thresholds: Thresholds | None = None,
    certainty: float = CERTAINTY,
    correct_drift: bool = True,
    keep_untrusted: bool = False,
    scale: KnobScale | None = None,
) -> PhaseModel:
    """The phases of one curve; see `fit_phases` for the arguments."""
    if not 0.5 <= certainty < 1:
        raise PhaseError(f"certainty is {certainty!r}; it is a coverage such as 0.90, from 0.5 to below 1.")
    thresholds = thresholds or Thresholds()
    sample = prepare(frame, knob, response, goal, keep_untrusted, scale)
    drift, correction = estimate_drift(sample, certainty)
    if not correct_drift:
        correction = np.zeros_like(correction)
    value = sample.value - correction
    laws = () if sample.axis.is_interval else LAWS
    posterior = infer(sample.axis.forward(sample.levels), value, sample.level, thresholds, laws)
    probability = step_probabilities(posterior.pieces, len(sample.levels) - 1)
    spoilt = spoiled(posterior, value, sample.level)
    labels = decode(probability)
    reading = tables.Reading(sample, posterior, probability, labels, spoilt, correction, certainty)
    levels = tables.level_table(reading)
    trials = tables.trial_table(reading, levels)
    freedom = max(len(sample.value) - len(sample.levels), 0)
    noise = Noise(posterior.noise, posterior.misfit, freedom > 0, float(spoilt.mean()), freedom)
    model = PhaseModel(
        knob=knob,
        response=response,
        goal=goal,
        phases=tables.phase_table(reading),
        step_labels=tuple(LABELS[k] for k in labels),
        steps=tables.step_table(reading),
        joints=tables.joint_table(reading),
        outliers=tables.outlier_table(reading, trials, levels),
        levels=levels,
        trials=trials,
        noise=noise,
        drift=drift,
        criteria=tables.criteria_table(reading),
        laws=law_table(posterior.laws, certainty),
        warnings=sample.warnings,
        none_level=sample.none_level,
        thresholds=thresholds,
        certainty=certainty,
        axis=sample.axis,
    )
    return replace(model, warnings=(*sample.warnings, *doubts(model)))


def _fit_slices(
    frame: pd.DataFrame, knob: str, response: str, goal: str, by: str, how: FitSettings
) -> PhaseModels:
    """Fit a model for each value of the second factor; a slice that cannot be fitted becomes a warning."""
    if not isinstance(frame, pd.DataFrame):
        raise PhaseError(f"fit_phases needs a pandas DataFrame of trials, not {type(frame).__name__}.")
    check_column(frame, by)
    models: dict[Any, PhaseModel] = {}
    warnings = []
    for value, rows in frame.groupby(by, sort=True, dropna=False):
        try:
            model = _fit_curve(rows, knob, response, goal, **how)
        except PhaseError as error:
            said = say("doubt.not_fitted", error=str(error))
            warnings.append(say("doubt.of_slice", by=by, value=value, warning=said))
            continue
        models[value] = model
        warnings += [say("doubt.of_slice", by=by, value=value, warning=warning) for warning in model.warnings]
    if not models:
        raise PhaseError(f"No slice by {by!r} can be fitted. {' '.join(warnings)}")
    return PhaseModels(by, models, stack(models, by, "levels"), stack(models, by, "phases"), tuple(warnings))


def stack(models: dict[Any, PhaseModel], by: str, table: str) -> pd.DataFrame:
    """A table of several models as one, with the level of the second factor before its columns."""
    parts = [getattr(model, table).assign(**{by: value}) for value, model in models.items()]
    stacked = pd.concat(parts, ignore_index=True)
    return stacked[[by, *(column for column in stacked if column != by)]]
