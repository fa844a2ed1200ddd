"""The regression-style summary of a phase model: tables first, and the two ways to print them.

`summarise(model).tables` holds data frames of numbers; `str()` and `_repr_html_()` show the same
tables with the digits that their uncertainty leaves, as lifelines and statsmodels do for their
models. `summary_page` lays the texts out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import axis_label
from deadzone.analysis.phases.recommend import Recommendation, recommend
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.summary_page import summary_sections
from deadzone.language.messages import _
from deadzone.language.tabling import Tabled


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Paged):
    """The summary of one phase model.

    tables: data frames of numbers by name: "fit" (name, value), "phases", "joints", "criteria",
    "laws", "outliers". recommendation: for the default goal. warnings: sentences. sections: the
    same tables as text, in the order in which they are printed.
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
            _("Recommended setting"): advice,
            _("Warnings"): list(self.warnings),
        }
        return Page(self.title, self.sections, notes)


def summarise(model: PhaseResult, advice: Recommendation | None = None) -> Summary:
    """The summary of a phase model: everything a statistician expects beside a fit, and a
    recommendation."""
    tables = {
        "fit": fit_table(model),
        "phases": phase_table(model),
        "joints": model.joints.copy(),
        "criteria": model.criteria.assign(chosen=model.criteria["n_phases"] == len(model.phases)),
        "laws": model.laws.copy(),
        "outliers": model.outliers.copy(),
    }
    return Summary(
        title=_(
            "Phase model: {response} over {knob}",
            response=axis_label(model.response),
            knob=axis_label(model.knob),
        ),
        tables=tables,
        sections=summary_sections(model, tables),
        recommendation=advice or recommend(model),
        warnings=tuple(model.warnings),
    )


def fit_table(model: PhaseResult) -> pd.DataFrame:
    """What was fitted and how well: columns name, value; noise and misfit are fractions.

    The curve of p phases has 2 p parameters: its value at the start, p elasticities and p - 1
    joints.
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
    """The coefficients: the columns of `model.phases` with t and p of the hypothesis of no
    elasticity.

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


def r_squared(
    log_y: np.ndarray, residual: np.ndarray, weight: np.ndarray, n_parameters: int
) -> tuple[float, float]:
    """Share of the variance of ln(response) that the curve explains, plain and adjusted for its
    parameters.

    log_y, residual, weight: shape (m,). n_parameters: of the curve, the mean included. Both nan for
    a constant response; the adjusted one also where no degrees of freedom are left.
    """
    count = float(weight.sum())
    total = float(np.sum(weight * (log_y - np.average(log_y, weights=weight)) ** 2))
    if total <= 0:
        return np.nan, np.nan
    plain = 1 - float(np.sum(weight * residual**2)) / total
    df = count - n_parameters
    return plain, (1 - (1 - plain) * (count - 1) / df if df > 0 else np.nan)
