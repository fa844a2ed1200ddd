"""The tables of a report, as texts with units and sensible digits, each under a sentence about the
data."""

import numpy as np
import pandas as pd

from deadzone.analysis.phases.candidates import places
from deadzone.analysis.phases.quantities import (
    axis_label,
    listing,
)
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.summary import summarise
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Table
from deadzone.report.sweep.analysis import Slice
from deadzone.report.sweep.trials import Source
from deadzone.study.scales import level_name

OUTLIERS = N_(
    "{n} of {all:count} trials is an outlier; it stays in the data and counts for little in the "
    "fit.",
    "{n} of {all:count} trials are outliers; they stay in the data and count for little in the "
    "fit.",
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
    "{n} attempt was disturbed from outside; it is kept, and analysed only for want of others.",
    "{n:count} attempts were disturbed from outside; they are kept, and analysed only for want of "
    "others.",
)
FAILED = N_(
    "{n} of {all:count} trials failed; it is kept, and left out of the fit.",
    "{n:count} of {all:count} trials failed; they are kept, and left out of the fit.",
)


def positions(model: PhaseResult, trials: pd.DataFrame) -> np.ndarray:
    """Where each trial stands on the knob's axis, NaN for those whose level is not on it."""
    named = {level_name(level): place for level, place in places(model).items()}
    return trials[model.knob].map(level_name).map(named).to_numpy(float)


def cores_used(trials: pd.DataFrame) -> list[str]:
    """The columns with the cores that the trials used, and those that servers used which belong to
    them."""
    beside = (name for name in map(str, trials) if name.endswith("_cores"))
    return [name for name in ("cpu_efficiency", *beside) if is_measured(trials, name)]


def is_measured(trials: pd.DataFrame, column: str) -> bool:
    """Whether any trial has a value of a column."""
    return column in trials and bool(trials[column].notna().any())


def outliers_table(s: Slice) -> Table | None:
    """The trials that were given less weight, with the reason; None if there are none."""
    n = len(s.model.outliers)
    if not n:
        return None
    caption = say(OUTLIERS, n=n, all=s.model.n_trials)
    return Table.shown(summarise(s.model, s.advice).sections[-1], s.anchor("outliers"), caption)


def _labels(of: Source) -> dict[str, str]:
    return {"knob_label": axis_label(of.knob), "response_label": axis_label(of.response)}


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
        said = rows[reason].fillna("") if reason in rows else ""
        status = rows.get("status", "")
        named = {"level": rows[source.knob], "status": status, "reason": said}
        alike = rows.assign(**named).astype(dict.fromkeys((*named, "trial"), str))
        grouped = alike.groupby([*named], sort=False)["trial"]
        shown = grouped.agg(count="size", numbers=lambda trials: listing([*trials])).reset_index()
        told = say(text, n=len(rows), all=len(source.trials))
        cells, words = shown.to_dict("records"), _labels(source)
        tables.append(Table.of(LEFT_OUT_TABLE, cells, identity, told=told, **words))
    return tables
