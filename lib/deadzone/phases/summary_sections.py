"""The tables of a summary as a reader sees them: texts with the digits that their uncertainty leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from deadzone.phases.candidates import level_text
from deadzone.phases.quantities import axis_label, number, percent, unit_of
from deadzone.phases.summary_page import Section
from deadzone.style import PHASE_STYLES

if TYPE_CHECKING:
    from deadzone.phases.model import PhaseModel

SMALLEST_P = 0.001
"""Smaller p-values are shown as below it: their digits say nothing more."""


def summary_sections(model: PhaseModel, tables: dict[str, pd.DataFrame]) -> tuple[Section, ...]:
    """The tables of `summarise` as sections of a page, in the order in which a statistician reads them."""
    sections = [
        Section("Fit", _fit_shown(model, tables["fit"]), paired=True),
        Section("Phases", _phases_shown(model, tables["phases"])),
    ]
    if len(tables["joints"]):
        sections.append(Section("Joints", _joints_shown(model)))
    sections.append(
        Section(
            "Number of phases (likelihood with outliers allowed for)", _criteria_shown(tables["criteria"])
        )
    )
    sections.append(
        Section("Comparable models (weighted least squares on ln(response))", _rivals_shown(tables["rivals"]))
    )
    sections.append(Section("Residuals of ln(response)", _residuals_shown(tables["residuals"]), paired=True))
    if len(tables["outliers"]):
        sections.append(Section("Outliers, down-weighted", _outliers_shown(model)))
    return tuple(sections)


def _fit_shown(model: PhaseModel, fit: pd.DataFrame) -> pd.DataFrame:
    fact = dict(zip(fit["name"], fit["value"], strict=True))
    levels = model.levels["level"].to_numpy(float)
    per_level = model.levels["n"].to_numpy(int)
    each = (
        f"{per_level.min()}"
        if per_level.min() == per_level.max()
        else f"{per_level.min()} to {per_level.max()}"
    )
    span = f"{level_text(model, levels[0])} to {level_text(model, levels[-1])}"
    shown = {
        "Response": axis_label(model.response),
        "Knob": axis_label(model.knob),
        "Goal": {"min": "smaller is better", "max": "larger is better"}[model.goal],
        "Levels": f"{fact['n_levels']} ({span})",
        "Trials": f"{fact['n_trials']} ({each} a level)",
        "Outliers": str(fact["n_outliers"]),
        "Df of the curve": str(fact["df_model"]),
        "Df of the residuals": f"{fact['df_residual']:.4g}",
        "Noise of a trial": f"{percent(fact['noise'])}, from {fact['noise_from']}",
        "Misfit of a level": percent(fact["misfit"]),
        "R²": _fixed(fact["r_squared"], 4),
        "R² adjusted": _fixed(fact["r_squared_adjusted"], 4),
        "Log-likelihood": _fixed(fact["log_likelihood"], 1),
        "AIC": _fixed(fact["aic"], 1),
        "BIC": _fixed(fact["bic"], 1),
        "Drift over the run": _drift_text(model),
    }
    return pd.DataFrame({"": list(shown), " ": list(shown.values())})


def _phases_shown(model: PhaseModel, table: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for position, row in enumerate(table.to_dict("records"), start=1):
        error = row["std_error"]
        rows.append(
            {
                "no.": str(position),
                "range": f"{level_text(model, row['start'])}-{level_text(model, row['stop'])}",
                "phase": PHASE_STYLES[row["label"]].name,
                "elasticity": number(row["elasticity"], error),
                "std err": _fixed(error, _decimals(error)),
                "t": _fixed(row["t"], 2),
                "P>|t|": _p_text(row["p_value"]),
                f"{percent(model.certainty)} low": number(row["elasticity_low"], error),
                "high": number(row["elasticity_high"], error),
                "probability": _probability(row["probability"]),
            }
        )
    return pd.DataFrame(rows)


def _joints_shown(model: PhaseModel) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "at": [level_text(model, level) for level in model.joints["level"]],
            f"{percent(model.certainty)} low": [level_text(model, level) for level in model.joints["low"]],
            "high": [level_text(model, level) for level in model.joints["high"]],
            "within one level": [_probability(p) for p in model.joints["probability"]],
        }
    )


def _criteria_shown(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "phases": [
                f"{n}{' (chosen)' if chosen else ''}"
                for n, chosen in zip(table["n_phases"], table["chosen"], strict=True)
            ],
            "parameters": [f"{k:g}" for k in table["n_parameters"]],
            "log-lik.": [_fixed(v, 1) for v in table["log_likelihood"]],
            "AIC": [_fixed(v, 1) for v in table["aic"]],
            "BIC": [_fixed(v, 1) for v in table["bic"]],
            "probability": [_probability(p) for p in table["probability"]],
        }
    )


def _rivals_shown(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": table["model"],
            "AIC": [_fixed(v, 1) for v in table["aic"]],
            "ΔAIC": [_fixed(v, 1) for v in table["delta_aic"]],
            "BIC": [_fixed(v, 1) for v in table["bic"]],
            "parameters": [
                f"{text} ({note})" if text and note else text or note
                for text, note in zip(table["parameters"], table["note"], strict=True)
            ],
        }
    )


def _residuals_shown(table: pd.DataFrame) -> pd.DataFrame:
    value = dict(zip(table["name"], table["value"], strict=True))
    shown = {
        "Durbin-Watson, run order": _fixed(value["durbin_watson_run"], 2),
        "Durbin-Watson, along the knob": _fixed(value["durbin_watson_knob"], 2),
        "Skewness": _fixed(value["skewness"], 2),
        "Kurtosis (normal: 3)": _fixed(value["kurtosis"], 2),
        "Jarque-Bera": _test_text(value["jarque_bera"], value["jarque_bera_p"]),
        "Shapiro-Wilk": _test_text(value["shapiro"], value["shapiro_p"]),
    }
    return pd.DataFrame({"": list(shown), " ": list(shown.values())})


def _outliers_shown(model: PhaseModel) -> pd.DataFrame:
    unit = unit_of(model.response)
    table = model.outliers
    return pd.DataFrame(
        {
            "trial": [str(t) for t in table["trial"]],
            "at": [level_text(model, level) for level in table["knob"]],
            f"response{f' ({unit})' if unit else ''}": [number(v) for v in table["response"]],
            "fitted": [number(v) for v in table["fitted"]],
            "times": [_fixed(v, 2) for v in table["factor"]],
            "probability": [_probability(p) for p in table["probability"]],
            "reason": list(table["reason"]),
        }
    )


def _drift_text(model: PhaseModel) -> str:
    drift = model.drift
    if drift is None:
        return "cannot be told"
    done = "removed" if drift.removed else "not significant, left in"
    return f"{percent(drift.change)} by {drift.kind}, p {_p_text(drift.p_value)}, {done}"


def _fixed(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if np.isfinite(value) else "-"


def _decimals(error: float) -> int:
    """Decimals that show two digits of a standard error."""
    return int(np.clip(1 - np.floor(np.log10(error)), 0, 6)) if np.isfinite(error) and error > 0 else 2


def _p_text(p: float) -> str:
    if not np.isfinite(p):
        return "-"
    return f"<{SMALLEST_P:g}" if p < SMALLEST_P else f"{p:.3f}"


def _test_text(statistic: float, p: float) -> str:
    return f"{statistic:.3g} (p {_p_text(p)})" if np.isfinite(p) else "too few residuals"


def _probability(p: float) -> str:
    if not np.isfinite(p):
        return "-"
    return ">99 %" if p > 0.99 else "<1 %" if p < 0.01 else f"{100 * p:.0f} %"
