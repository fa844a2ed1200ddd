"""The tables of a report, as texts with units and sensible digits, each under a sentence about the
data."""

import numpy as np
import pandas as pd

from deadzone.analysis.phases.candidates import level_text, places
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import (
    axis_label,
    listing,
)
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Table
from deadzone.report.sweep.analysis import Slice
from deadzone.report.sweep.trials import Source
from deadzone.study.scales import level_name

OUTLIERS_TABLE = Layout(
    columns={
        N_("trial"): "{trial}",
        "{knob_label}": "{level}",
        "{response_label}": "{response:number}",
        N_("reason"): "{reason}",
    },
    caption=N_(
        "{n} of {all:count} trials is an outlier; it stays in the data and counts for little in "
        "the fit.",
        "{n} of {all:count} trials are outliers; they stay in the data and count for little in the "
        "fit.",
    ),
    numeric=(0, 1, 2),
)

UNTRUSTED_TABLE = Layout(
    columns={
        N_("trial"): "{trial}",
        N_("attempt"): "{attempt}",
        "{knob_label}": "{level}",
        "{response_label}": "{value:number}",
        N_("reason"): "{reason}",
    },
    caption="{told}",
    numeric=(0, 1, 2, 3),
)

FAILURES_TABLE = Layout(
    columns={
        "{knob_label}": "{level}",
        N_("trials", context="count"): "{count:,}",
        N_("status"): "{status}",
        N_("error"): "{error}",
        N_("trial numbers"): "{numbers}",
    },
    caption=N_(
        "{n} of {all:count} trials failed; it is kept, and left out of the fit.",
        "{n:count} of {all:count} trials failed; they are kept, and left out of the fit.",
    ),
    numeric=(0, 1),
)

MOST_ROWS = 40
"""A table lists this many disturbed attempts; all of them stand in the trials beside the report."""


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
    model, outliers = s.model, s.model.outliers
    if outliers.empty:
        return None
    rows = [
        {**row, "level": level_text(model, float(row["knob"]))}
        for row in outliers.to_dict("records")
    ]
    counts = {"n": len(rows), "all": model.n_trials}
    return Table.of(OUTLIERS_TABLE, rows, s.anchor("outliers"), **_labels(model), **counts)


def _labels(of: Source | PhaseModel) -> dict[str, str]:
    return {"knob_label": axis_label(of.knob), "response_label": axis_label(of.response)}


def left_out(source: Source) -> list[Table]:
    """The tables of the trials that do not count, where there are any."""
    return [table for table in (untrusted_table(source), failed_table(source)) if table is not None]


def untrusted_table(source: Source) -> Table | None:
    """The attempts that were disturbed, and what disturbed them; None if there are none."""
    rows = source.untrusted
    if rows.empty:
        return None
    reasons = rows["distrust_reason"].fillna("").astype(str)
    named = rows.assign(
        level=rows[source.knob].astype(str),
        value=rows[source.response].astype(float),
        reason=reasons,
    )
    shown = named.head(MOST_ROWS).to_dict("records")
    text = (
        N_(
            "{n} attempt was disturbed from outside; it is kept, and analysed only for want of "
            "others.",
            "{n:count} attempts were disturbed from outside; they are kept, and analysed only for "
            "want of others.",
        )
        if len(shown) == len(rows)
        else N_(
            "{n:count} attempts were disturbed from outside, of which the first {shown} are "
            "listed; they are kept, and analysed only for want of others."
        )
    )
    return Table.of(
        UNTRUSTED_TABLE,
        shown,
        "untrusted",
        told=say(text, n=len(rows), shown=len(shown)),
        **_labels(source),
    )


def failed_table(source: Source) -> Table | None:
    """The trials that failed, timed out or were killed; None if there are none."""
    rows = source.failed
    if rows.empty:
        return None
    error = rows["error"].fillna("") if "error" in rows else ""
    what = rows[["status", "trial"]].assign(level=rows[source.knob], error=error).astype(str)
    alike = what.groupby(["level", "status", "error"], sort=False)["trial"]
    named = alike.agg(count="size", numbers=lambda trials: listing([*trials])).reset_index()
    counts = {"n": len(rows), "all": len(source.trials)}
    return Table.of(
        FAILURES_TABLE, named.to_dict("records"), "failures", **counts, **_labels(source)
    )
