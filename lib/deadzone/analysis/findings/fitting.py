"""`deadzone.fit_phases`: the phases of a table of trials, with what is wrong with the experiment
behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import pandas as pd

from deadzone.analysis.findings.examining import barred_levels, examine
from deadzone.analysis.findings.experiment import Experiment, without_barred
from deadzone.analysis.phases import fit
from deadzone.analysis.phases.model import PhaseModel, PhaseModels
from deadzone.analysis.phases.prepare import places_of
from deadzone.analysis.phases.roles import check_roles, listed, of_levels, with_index
from deadzone.analysis.phases.thresholds import CERTAINTY, Thresholds
from deadzone.analysis.settings.answering import Answer, answer
from deadzone.analysis.trial_columns import answering, is_untrusted, with_status
from deadzone.errors import PhaseError, check_known
from deadzone.language.messages import _
from deadzone.study.direction import direction_of
from deadzone.study.levels import Level
from deadzone.study.response_cells import level_names, unit_in, with_numbers
from deadzone.study.scales import KnobScale, Place, level_name


def examined(
    seen: Experiment,
    accept: Mapping[str, str] | None = None,
    rows: pd.DataFrame | None = None,
    **how: Any,
) -> Answer:
    """Every setting of an experiment, in the light of what is wrong with it.

    accept: reasons for findings that are meant, by key. rows: that the answer rests on, by default
    all of its table but levels that fail too often. how: see `answer`. Raises PhaseError for what
    is no table of trials.
    """
    table = seen.table if rows is None else rows
    if seen.knob in seen.table and is_untrusted(seen.table, seen.knob):
        table, how["keep_untrusted"] = answering(table, seen.knob), True
    if rows is None and seen.knob in table:
        kept = without_barred(table, seen.knob, seen.response, barred_levels(seen))
        table = kept if kept[seen.knob].nunique() > 1 else table
    result = answer(table, seen.knob, seen.response, seen.goal, by=seen.by, **how)
    model = next(iter(result.models.values())) if len(result.models) == 1 else None
    return result.heeding(examine(replace(seen, model=model), accept), seen.goal_from)


def experiment_in(
    frame: pd.DataFrame, knob: str, response: str, goal: str | None, by: Sequence[str], **known: Any
) -> Experiment:
    """The experiment in a table, its goal by the response where it is not asked, the cells of the
    response as numbers. known: see `Experiment`. Raises PhaseError for a column that is not
    there."""
    check_roles(frame, (knob, *by), response, goal or "min")
    frame = frame.rename(columns=str)
    table = with_status(frame.loc[:, ~frame.columns.duplicated()], (knob, response, *by))
    table = with_numbers(table, response)
    unit = unit_in(table, response)
    better = direction_of(response, goal, unit_in_cells=unit)
    return Experiment(
        table, knob, response, better.goal, tuple(by), goal_from=better.goal_from, unit=unit,
        **known,
    )  # fmt: skip


class TableSettings(fit.CurveSettings, total=False):
    """What is said of a table, and how it is fitted; see `fit_phases`."""

    keep_untrusted: bool
    scale: KnobScale | None
    k: int | None
    failures: Sequence[str]
    role: str
    at: Mapping[Level, Place] | None


@overload
def fit_phases(
    frame: pd.DataFrame, knob: str, response: str, goal: str | None = None, *, by: None = None,
    **how: Unpack[TableSettings],
) -> PhaseModel: ...  # fmt: skip


@overload
def fit_phases(
    frame: pd.DataFrame, knob: str, response: str, goal: str | None = None, *,
    by: str | Sequence[str], **how: Unpack[TableSettings],
) -> PhaseModels: ...  # fmt: skip


def fit_phases(
    frame: pd.DataFrame, knob: str, response: str, goal: str | None = None, *,
    by: str | Sequence[str] | None = None, failures: Sequence[str] = (), role: str = "",
    thresholds: Thresholds | Mapping[str, float] | None = None, certainty: float = CERTAINTY,
    correct_drift: bool = True, keep_untrusted: bool = False, scale: KnobScale | None = None,
    k: int | None = None, at: Mapping[Level, Place] | None = None,
) -> PhaseModel | PhaseModels:  # fmt: skip
    """Find the phases of a response curve: where the knob pays, stalls, breaks through, or hurts.

    frame: one row a trial. Columns used where present: `trial`, `block`, `started_at` (run order),
        `status`, `success` or `exit_code` (what did not end well is left out), `warmup` (left out
        where true), `trusted` (left out where false unless keep_untrusted).
    knob: column of the levels, 3 to 2,000 numbers, or the word "none" for no limit; rows without a
        level or a response are left out, and `warnings` say how many; other words and, beside
        positive numbers, 0 stand apart: they are in no phase, and a recommendation compares them by
        their own trials. Negative ones make the scale an interval scale (see `KnobAxis`).
    response: column of a positive quantity in one unit. goal: "min" (a time) or "max" (a
    throughput), by default what its name or the unit of its cells says. by: another factor or
    several; each of their values, or tuple of values, is a slice of the PhaseModels. thresholds:
    where one label ends and the next begins, by name: linear, breakthrough, reversal. certainty:
    coverage of all intervals. correct_drift: subtract a significant drift over the run; it is
    reported either way. scale: of the knob, by default what its levels suggest. k: what a K alone
    stands for in its levels, 1000 or 1024, by default what the numbers beside it suggest. at: where
    single levels stand, by level: a number, or "apart" for a word such as off (a lone -1 beside
    positive levels is one unless it is put at -1).

    The curve is a continuous broken power law (Muggeo 2003). Joints, labels, elasticities, outliers
    and noise are inferred together: the posterior over all segmentations is summed exactly on a
    grid by dynamic programming (after Fearnhead 2006 and Fearnhead, Maidstone and Letchford 2019),
    so no random numbers are drawn and the same table always gives the same model.

    failures: columns that count failures, or hold their share, whatever they are called.
    role: of the knob, `setting` or `work_size` (nothing is recommended then); by default what its
    name says.

    `model.findings` says what is wrong with the experiment behind the table; `model.recommend()`
    heeds it.

    Raises PhaseError, with what to do about it, where the table cannot be analysed.
    """
    settings: dict[str, Any] = {
        "thresholds": thresholds, "certainty": certainty, "correct_drift": correct_drift,
        "keep_untrusted": keep_untrusted, "scale": scale, "k": k,
    }  # fmt: skip
    by = listed(by)
    frame = with_index(frame, (knob, *by))
    seen = experiment_in(frame, knob, response, goal, by, failures=listed(failures), role=role)
    names, places = pd.Series(level_names(frame[knob]).unique(), name=knob), places_of(at)
    for level in places:
        check_known(PhaseError, f"{knob} has no level {level}", level, [*names])
    result = examined(seen, places=places, **settings)
    if by:
        return slices_of(result, frame)
    # a table without a curve is refused by the fit, with the reason
    model = result.models.get(()) or fit.fit_phases(
        frame, knob, response, seen.goal, at=at, **settings
    )
    return replace(model, settings=result.candidates)


def slices_of(result: Answer, frame: pd.DataFrame) -> PhaseModels:
    """The models of an answer by the value of its other factor, or the tuple of values of several,
    as the frame has them. Raises PhaseError where there is none."""
    by = result.others
    values = [{level_name(value): value for value in frame[name].unique()} for name in by]
    models = {
        tuple(of[level_name(level)] for of, level in zip(values, levels, strict=True)): model
        for levels, model in result.models.items()
    }
    if not models:
        wanted = " and ".join(map(repr, by))
        raise PhaseError(f"No curve of a value of {wanted} can be fitted. {' '.join(result.notes)}")
    own = [
        _("{slice}: {warning}", slice=of_levels(by, levels), warning=warning)
        for levels, model in models.items()
        for warning in model.warnings
    ]
    if len(by) == 1:
        models = {value: model for (value,), model in models.items()}
    return PhaseModels(by, models, (*result.notes, *own), result.findings, result.candidates)
