"""The tables of a report, as texts with units and sensible digits, each under a sentence about the
data."""

import numpy as np
import pandas as pd

from deadzone.analysis.phases.candidates import named_places
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.quantities import axis_label, listing, plain_name
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.summary import SLOPES, fit_facts, phase_rows, summarise
from deadzone.language.messages import N_, Message, _, join, ngettext, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Table
from deadzone.report.sweep.analysis import Slice, Source
from deadzone.study.response_cells import level_names

OUTLIERS = N_(
    "{n} of {all:count} trials is an outlier; it stays in the data but counts little in the fit.",
    "{n} of {all:count} trials are outliers; they stay in the data but count little in the fit.",
)

LEFT_OUT_TABLE = Layout(
    columns={
        "{knob_label}": "{level}",
        N_("trials", context="count"): "{count:,}",
        N_("status"): "{status}",
        N_("reason"): "{reason}",
        N_("trial numbers"): "{numbers}",
    },
    caption="{told}",
    numeric=(0, 1),
)

UNTRUSTED = N_(
    "{n} attempt was disturbed; it is kept, and analysed only if hardly any is trusted.",
    "{n:count} attempts were disturbed; they are kept, and analysed only if hardly any is trusted.",
)
FAILED = N_(
    "{n} of {all:count} trials failed; it is kept, and left out of the fit.",
    "{n:count} of {all:count} trials failed; they are kept, and left out of the fit.",
)


def positions(model: PhaseResult, trials: pd.DataFrame) -> np.ndarray:
    """Where each trial stands on the knob's axis, NaN for those whose level is not on it."""
    return level_names(trials[model.knob]).map(named_places(model)).to_numpy(float)


def cores_used(trials: pd.DataFrame, knob: str) -> list[str]:
    """The columns with the cores that the trials used, and those that servers used which belong to
    them; no factor is one."""
    names = (name for name in map(str, trials) if name.endswith("_cores") and name != knob)
    numeric = (name for name in names if pd.api.types.is_numeric_dtype(trials[name]))
    beside = (name for name in numeric if trials[name].nunique() > 1)  # one level of a slice
    return [name for name in ("cpu_efficiency", *beside) if is_measured(trials, name)]


def is_measured(trials: pd.DataFrame, column: str) -> bool:
    """Whether any trial has a value of a column."""
    return column in trials and bool(trials[column].notna().any())


def outliers_table(s: Slice) -> Table | None:
    """The trials that were given less weight, with the reason; None if there are none."""
    if s.model.outliers.empty:
        return None
    caption = say(OUTLIERS, n=len(s.model.outliers), all=s.model.n_trials)
    return Table.shown(summarise(s.model, s.advice).sections[-1], s.anchor("outliers"), caption)


def left_out(source: Source) -> list[Table]:
    """The trials that were disturbed, and those that failed, timed out or were killed, one row for
    those alike at a level; no table where there are none."""
    tables = []
    for identity, rows, reason, text in (
        ("untrusted", source.untrusted, "distrust_reason", UNTRUSTED),
        ("failures", source.failed, "error", FAILED),
    ):
        if rows.empty:
            continue
        said = {
            "level": level_names(rows[source.knob]),
            "status": rows.get("status", ""),
            "reason": rows[reason].fillna("") if reason in rows else "",
            "trial": rows.get("trial", rows.index + 1),
        }
        alike = pd.DataFrame(said, index=rows.index).astype(str)
        grouped = alike.groupby(["level", "status", "reason"], sort=False)["trial"]
        shown = grouped.agg(count="size", numbers=lambda trials: listing([*trials]))
        told = say(text, n=len(rows), all=len(source.trials))
        more = {"told": told, "knob_label": axis_label(source.knob)}
        cells = shown.reset_index().to_dict("records")
        tables.append(Table.of(LEFT_OUT_TABLE, cells, identity, **more))
    return tables


PHASES_TABLE = Layout(
    columns={
        "{label}": "{range}",
        N_("phase"): "{phase}",
        N_("gain"): "{gain:percent}",
        "{slope_name}": "{slope}",
        N_("std err"): "{error}",
        N_("{certainty:exact_percent} interval"): "{interval}",
        "p": "{p_value:p}",
    },
    caption="{told}",
    ids="{position}",
    numeric=(2, 3, 4, 5, 6),
)

MEANINGS = {
    False: N_("An elasticity of 1 is perfect scaling, 0 no gain, below 0 harm."),
    True: N_("A unit is one of the knob's, on an interval scale."),
}
"""Of the slope of a phase, by whether the knob is on an interval scale."""


def names(response: str, knob: str) -> dict[str, str]:
    """Two columns in words, as the sentences on a curve name them."""
    return {"response": plain_name(response), "knob": plain_name(knob)}


def phases_text(model: PhaseModel) -> str:
    """All phases in a line: `linear 1-4, dead zone 4-6, ...`."""
    return join(["{phase} {range}".format(**row) for row in phases_shown(model)], ", ")


def phases_table(
    model: PhaseModel,
    *,
    identity: str = "phases",
    name: str = "",
) -> Table:
    """One row a phase: range, label, gain over the phase, elasticity with its standard error,
    interval and p (of no effect at all, by Student's t).

    identity: id of the table. name: of the curve, beside others.
    """
    rows = phase_rows(model)
    for row in rows:
        row["range"] = _("{start} to {stop}", start=row["start"], stop=row["stop"])
        row["interval"] = _("{start} to {stop}", start=row["low"], stop=row["high"])
    is_interval = model.axis.is_interval
    caption = ngettext(
        "The curve of {response} over {knob} is a single phase. {meaning}",
        "The curve of {response} over {knob} has {n} phases. {meaning}",
        n=len(rows),
        meaning=say(MEANINGS[is_interval]),
        **names(model.response, model.knob),
    )
    return Table.of(
        PHASES_TABLE,
        rows,
        identity,
        told=f"{name}. {caption}" if name else caption,
        label=axis_label(model.knob),
        slope_name=say(SLOPES[is_interval]),
        certainty=model.certainty,
    )


def fit_in_words(model: PhaseModel) -> Message:
    """What stands below the coefficients of a fit: trials, noise and R2."""
    return _(
        "n = {n_trials:count} trials at {n_levels} levels; noise {noise:percent}; R² = "
        "{r_squared:number}.",
        **fit_facts(model),
    )
