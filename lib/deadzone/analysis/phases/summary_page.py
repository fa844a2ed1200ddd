"""The summary of a phase model in words: its tables as sections of a page."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.doubts import DRIFT_KINDS
from deadzone.analysis.phases.naming import open_labels, phase_name
from deadzone.analysis.phases.quantities import axis_label, number, unit_name
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.shape import LAW_NAMES
from deadzone.analysis.records import records
from deadzone.language.formats import p_value
from deadzone.language.messages import N_, _, ngettext, say
from deadzone.language.tabling import Layout, Tabled, tabled

NOISE_SOURCES = {
    "replicates": N_("{noise:percent}, from replicates"),
    "curve": N_("{noise:percent}, from the curve"),
}


LAW_PARAMETERS = {
    "Amdahl's law": N_(
        "serial share {share:percent} ({share_low:percent} to {share_high:percent})"
    ),
    "Universal Scalability Law": N_(
        "contention {share:percent} ({share_low:percent} to {share_high:percent}), coherency "
        "{coherency:number} ({coherency_low:number} to {coherency_high:number})"
    ),
}


GOALS = {
    "min": N_("smaller is better"),
    "max": N_("larger is better"),
}


TABLES = {
    "fit": Layout(
        columns={
            N_("Response"): "{response_label}",
            N_("Knob"): "{knob_label}",
            N_("Goal"): (GOALS, "{goal}"),
            N_("Levels"): "{levels}",
            N_("Trials"): "{trials}",
            N_("Outliers"): "{n_outliers}",
            N_("Df of the curve"): "{df_model}",
            N_("Df of the residuals"): "{df_residual:number}",
            N_("Noise of a trial"): "{noise_text}",
            N_("Misfit of a level"): "{misfit:percent}",
            N_("R²"): "{r_squared:.4f}",
            N_("R² adjusted"): "{r_squared_adjusted:.4f}",
            N_("Drift over the run"): "{drift}",
        },
        caption=N_("Fit"),
        paired=True,
    ),
    "phases": Layout(
        columns={
            N_("no."): "{position}",
            N_("range"): "{start_text}-{stop_text}",
            N_("phase"): "{name}",
            N_("elasticity"): "{slope}",
            N_("std err"): "{error}",
            "t": "{t:.2f}",
            "P>|t|": "{p_value:p}",
            N_("{certainty:percent} low"): "{low}",
            N_("high"): "{high}",
            N_("probability"): "{probability:probability}",
        },
        caption=N_("Phases"),
    ),
    "joints": Layout(
        columns={
            N_("at"): "{level_text}",
            N_("{certainty:percent} low"): "{low_text}",
            N_("high"): "{high_text}",
            N_("within one level"): "{probability:probability}",
        },
        caption=N_("Joints"),
    ),
    "criteria": Layout(
        columns={
            N_("phases"): "{phases}",
            N_("parameters"): "{n_parameters:count}",
            N_("log-lik."): "{log_likelihood:.1f}",
            "AIC": "{aic:.1f}",
            "BIC": "{bic:.1f}",
            N_("probability"): "{probability:probability}",
        },
        caption=N_("Number of phases (by a likelihood that allows outliers)"),
    ),
    "laws": Layout(
        columns={
            N_("model"): "{model}",
            N_("probability"): "{probability:probability}",
            N_("parameters"): "{told}",
        },
        caption=N_("Smooth laws beside the phases"),
    ),
    "outliers": Layout(
        columns={
            N_("trial"): "{trial}",
            N_("at"): "{knob_text}",
            "{measured}": "{response:number}",
            N_("fitted"): "{fitted:number}",
            N_("times"): "{factor:.2f}",
            N_("probability"): "{probability:probability}",
            N_("reason"): "{reason}",
        },
        caption=N_("Outliers, down-weighted"),
    ),
}
"""By the names of `summarise`."""

LEVELS = ("level", "low", "high", "start", "stop", "knob")
"""Columns that hold levels of the knob."""


def summary_sections(model: PhaseResult, tables: Mapping[str, pd.DataFrame]) -> tuple[Tabled, ...]:
    """The tables of `summarise` as sections of a page, in the order in which a statistician reads
    them."""
    unit, measured = unit_name(model.response), _("response")
    shown = {
        "fit": [_fit(model, _named(tables["fit"]))],
        "phases": [
            _phase(model, i, row) for i, row in enumerate(_rows(model, tables["phases"]), start=1)
        ],
        "joints": _rows(model, tables["joints"]),
        "criteria": [{**row, "phases": _phases(row)} for row in _rows(model, tables["criteria"])],
        "laws": _models(model),
        "outliers": _rows(model, tables["outliers"]),
    }
    words = {
        "certainty": model.certainty,
        "measured": _("{name} ({unit})", name=measured, unit=unit) if unit else measured,
    }
    return tuple(tabled(TABLES[name], rows, **words) for name, rows in shown.items() if rows)


def _named(table: pd.DataFrame) -> dict[str, Any]:
    return dict(zip(table["name"], table["value"], strict=True))


def _rows(model: PhaseResult, table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a table, each level of the knob also as text."""
    levels = {
        f"{name}_text": table[name].map(partial(level_text, model))
        for name in LEVELS
        if name in table
    }
    return table.assign(**levels).to_dict("records")


def _fit(model: PhaseResult, fact: dict[str, Any]) -> dict[str, Any]:
    levels, per_level = model.levels["level"], model.levels["n"]
    fewest, most = int(per_level.min()), int(per_level.max())
    each = fewest if fewest == most else _("{start} to {stop}", start=fewest, stop=most)
    start, stop = (level_text(model, float(levels.iloc[end])) for end in (0, -1))
    source = "replicates" if model.noise.estimable else "curve"
    return {
        **fact,
        "response_label": axis_label(model.response),
        "knob_label": axis_label(model.knob),
        "levels": _(
            "{n:count} ({span})",
            n=fact["n_levels"],
            span=_("{start} to {stop}", start=start, stop=stop),
        ),
        "trials": _("{n:count} ({each} a level)", n=fact["n_trials"], each=each),
        "noise_text": say(NOISE_SOURCES[source], noise=fact["noise"]),
        "drift": _drift_text(model),
    }


def _phase(model: PhaseResult, position: int, row: dict[Any, Any]) -> dict[Any, Any]:
    error = row["std_error"]
    texts = {"slope": "elasticity", "low": "elasticity_low", "high": "elasticity_high"}
    return {
        **row,
        **{name: number(row[column], error) for name, column in texts.items()},
        "position": position,
        "name": phase_name(model, row),
        "probability": next(iter(open_labels(model, row).values())),
        "error": f"{error:.{_decimals(error)}f}" if np.isfinite(error) else "-",
    }


def _phases(row: dict[Any, Any]) -> str:
    return _("{n} (chosen)", n=row["n_phases"]) if row["chosen"] else str(row["n_phases"])


def _models(model: PhaseResult) -> list[dict[Any, Any]]:
    """The chains of pieces and the smooth laws beside them, with their probabilities."""
    phases = ngettext("{n} phase", "{n} phases", n=len(model.phases))
    rows = [
        {"model": phases, "probability": 1 - model.smooth_probability, "told": _("see the phases")}
    ]
    for law in records(model.laws):
        sentence = say(LAW_PARAMETERS[law["law"]], **law) if law["share"] is not None else ""
        chance = float(np.exp(law["log_probability"]))
        rows.append({"model": say(LAW_NAMES[law["law"]]), "probability": chance, "told": sentence})
    return rows


def _drift_text(model: PhaseResult) -> str:
    drift = model.drift
    if drift is None:
        return _("cannot be told")
    text = (
        N_("{change:percent} by {kind}, p {p}, removed")
        if drift.removed
        else N_("{change:percent} by {kind}, p {p}, not significant, left in")
    )
    return say(
        text, change=drift.change, kind=say(DRIFT_KINDS[drift.kind]), p=p_value(drift.p_value)
    )


def _decimals(error: float) -> int:
    """Decimals that show two digits of a standard error."""
    return int(np.clip(1 - np.floor(np.log10(error)), 0, 6)) if error > 0 else 2
