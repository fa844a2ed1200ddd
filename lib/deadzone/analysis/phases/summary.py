"""The regression-style summary of a phase model: tables first, and the two ways to print them.

`summarise(model).tables` holds data frames of numbers; `str()` and `_repr_html_()` show the same tables
with the digits that their uncertainty leaves, as lifelines and statsmodels do for their models. `tables.yaml`
lays the texts out; here is what takes more than a format.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.quantities import axis_label, number, unit_name
from deadzone.analysis.phases.recommend import Recommendation, recommend
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.shape import NAMES
from deadzone.analysis.records import records
from deadzone.language.catalogue import say, term
from deadzone.language.formats import p_value
from deadzone.language.tabling import Tabled, tabled
from deadzone.style import PHASE_STYLES

LEVELS = ("level", "low", "high", "start", "stop", "knob")
"""Columns that hold levels of the knob."""


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Paged):
    """The summary of one phase model.

    tables: data frames of numbers by name: "fit" (name, value), "phases", "joints", "criteria", "laws",
    "outliers". recommendation: for the default goal. warnings: sentences.
    sections: the same tables as text, in the order in which they are printed.
    """

    title: str
    tables: dict[str, pd.DataFrame]
    sections: tuple[Tabled, ...]
    recommendation: Recommendation
    warnings: tuple[str, ...]

    def page(self) -> Page:
        """The tables, and what is recommended and to be known."""
        advice = [self.recommendation.reason, *self.recommendation.caveats]
        notes: dict[str, list[str]] = {
            say("summary.recommendation"): advice,
            say("summary.warnings"): list(self.warnings),
        }
        return Page(self.title, self.sections, notes)


def summarise(model: PhaseResult, advice: Recommendation | None = None) -> Summary:
    """The summary of a phase model: everything a statistician expects beside a fit, and a recommendation."""
    tables = {
        "fit": fit_table(model),
        "phases": phase_table(model),
        "joints": model.joints.copy(),
        "criteria": model.criteria.assign(chosen=model.criteria["n_phases"] == len(model.phases)),
        "laws": model.laws.copy(),
        "outliers": model.outliers.copy(),
    }
    return Summary(
        title=say("summary.title", response=axis_label(model.response), knob=axis_label(model.knob)),
        tables=tables,
        sections=summary_sections(model, tables),
        recommendation=advice or recommend(model),
        warnings=tuple(model.warnings),
    )


def fit_table(model: PhaseResult) -> pd.DataFrame:
    """What was fitted and how well: columns name, value; noise and misfit are fractions.

    The curve of p phases has 2 p parameters: its value at the start, p elasticities and p - 1 joints.
    """
    trials, noise = model.trials, model.noise
    weight = trials["weight"].to_numpy(float)
    log_y = np.log(trials["corrected"].to_numpy(float))
    residual = log_y - np.log(trials["fitted"].to_numpy(float))
    k = 2 * len(model.phases)
    plain, adjusted = r_squared(log_y, residual, weight, k)
    facts: dict[str, Any] = {
        "response": model.response,
        "knob": model.knob,
        "goal": model.goal,
        "n_trials": model.n_trials,
        "n_levels": model.n_levels,
        "n_outliers": len(model.outliers),
        "df_model": k,
        "df_residual": residual_df(model),
        "noise": float(noise.replicate),
        "misfit": float(noise.misfit),
        "noise_from": "replicates" if noise.estimable else "the curve",
        "r_squared": plain,
        "r_squared_adjusted": adjusted,
        "drift_change": model.drift.change if model.drift else np.nan,
        "drift_p_value": model.drift.p_value if model.drift else np.nan,
    }
    return _facts(facts)


def _facts(facts: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({"name": list(facts), "value": list(facts.values())})


def residual_df(model: PhaseResult) -> float:
    """Trials after down-weighting minus parameters of the curve, at least 0."""
    return max(float(model.trials["weight"].sum()) - 2 * len(model.phases), 0.0)


def phase_table(model: PhaseResult) -> pd.DataFrame:
    """The coefficients: the columns of `model.phases` with t and p of the hypothesis of no elasticity.

    t has the degrees of freedom of the residuals; without any, t and p are nan.
    """
    from scipy.special import stdtr

    table = model.phases.copy()
    df = residual_df(model)
    error = table["std_error"].to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error > 0) & (df > 0), table["elasticity"].to_numpy(float) / error, np.nan)
    table["t"] = t
    table["p_value"] = 2 * stdtr(max(df, 1e-9), -np.abs(t))
    return table


def summary_sections(model: PhaseResult, tables: Mapping[str, pd.DataFrame]) -> tuple[Tabled, ...]:
    """The tables of `summarise` as sections of a page, in the order in which a statistician reads them."""
    unit, measured = unit_name(model.response), say("summary.measured")
    shown = {
        "fit": [_fit(model, _named(tables["fit"]))],
        "phases": [_phase(i, row) for i, row in enumerate(_rows(model, tables["phases"]), start=1)],
        "joints": _rows(model, tables["joints"]),
        "criteria": [{**row, "phases": _phases(row)} for row in _rows(model, tables["criteria"])],
        "laws": _models(model),
        "outliers": _rows(model, tables["outliers"]),
    }
    words = {
        "certainty": model.certainty,
        "measured": say("quantity.labelled", name=measured, unit=unit) if unit else measured,
    }
    return tuple(
        tabled(f"deadzone/analysis/phases.{name}", rows, **words) for name, rows in shown.items() if rows
    )


def _named(table: pd.DataFrame) -> dict[str, Any]:
    return dict(zip(table["name"], table["value"], strict=True))


def _rows(model: PhaseResult, table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a table, each level of the knob also as text."""
    levels = {f"{name}_text": table[name].map(partial(level_text, model)) for name in LEVELS if name in table}
    return table.assign(**levels).to_dict("records")


def _fit(model: PhaseResult, fact: dict[str, Any]) -> dict[str, Any]:
    levels, per_level = model.levels["level"], model.levels["n"]
    fewest, most = int(per_level.min()), int(per_level.max())
    each = fewest if fewest == most else say("quantity.range", start=fewest, stop=most)
    start, stop = (level_text(model, float(levels.iloc[end])) for end in (0, -1))
    source = "replicates" if model.noise.estimable else "curve"
    return {
        **fact,
        "response_label": axis_label(model.response),
        "knob_label": axis_label(model.knob),
        "levels": say(
            "summary.levels_shown", n=fact["n_levels"], span=say("quantity.range", start=start, stop=stop)
        ),
        "trials": say("summary.trials_shown", n=fact["n_trials"], each=each),
        "noise_text": say(f"summary.noise_from_{source}", noise=fact["noise"]),
        "drift": _drift_text(model),
    }


def _phase(position: int, row: dict[Any, Any]) -> dict[Any, Any]:
    error = row["std_error"]
    texts = {"slope": "elasticity", "low": "elasticity_low", "high": "elasticity_high"}
    return {
        **row,
        **{name: number(row[column], error) for name, column in texts.items()},
        "position": position,
        "name": PHASE_STYLES[row["label"]].name,
        "error": f"{error:.{_decimals(error)}f}" if np.isfinite(error) else "-",
    }


def _phases(row: dict[Any, Any]) -> str:
    return say("summary.chosen", n=row["n_phases"]) if row["chosen"] else str(row["n_phases"])


def _models(model: PhaseResult) -> list[dict[Any, Any]]:
    """The chains of pieces and the smooth laws beside them, with their probabilities."""
    phases = say("summary.phase_model", n=len(model.phases))
    rows = [{"model": phases, "probability": 1 - model.smooth_probability, "told": say("summary.see_phases")}]
    for law in records(model.laws):
        told = say(f"summary.{NAMES[law['law']]}", **law) if law["share"] is not None else ""
        chance = float(np.exp(law["log_probability"]))
        rows.append({"model": term("law", law["law"]), "probability": chance, "told": told})
    return rows


def _drift_text(model: PhaseResult) -> str:
    drift = model.drift
    if drift is None:
        return say("summary.drift_unknown")
    key = "summary.drift_removed" if drift.removed else "summary.drift_left"
    return say(key, change=drift.change, kind=say(f"doubt.by_{drift.kind}"), p=p_value(drift.p_value))


def _decimals(error: float) -> int:
    """Decimals that show two digits of a standard error."""
    return int(np.clip(1 - np.floor(np.log10(error)), 0, 6)) if error > 0 else 2


def r_squared(
    log_y: np.ndarray, residual: np.ndarray, weight: np.ndarray, n_parameters: int
) -> tuple[float, float]:
    """Share of the variance of ln(response) that the curve explains, plain and adjusted for its parameters.

    log_y, residual, weight: shape (m,). n_parameters: of the curve, the mean included. Both nan for a
    constant response; the adjusted one also where no degrees of freedom are left.
    """
    count = float(weight.sum())
    total = float(np.sum(weight * (log_y - np.average(log_y, weights=weight)) ** 2))
    if total <= 0:
        return np.nan, np.nan
    plain = 1 - float(np.sum(weight * residual**2)) / total
    df = count - n_parameters
    return plain, (1 - (1 - plain) * (count - 1) / df if df > 0 else np.nan)
