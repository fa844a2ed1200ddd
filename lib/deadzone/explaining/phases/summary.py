"""The regression-style summary of a phase model: tables first, and the two ways to print them.

`summarise(model).tables` holds data frames of numbers; `str()` and `_repr_html_()` show the same tables
with the digits that their uncertainty leaves, as lifelines and statsmodels do for their models.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.page import Page, Paged
from deadzone.explaining.phases.diagnostics import Diagnostics, diagnose, r_squared
from deadzone.explaining.phases.quantities import axis_label
from deadzone.explaining.phases.recommend import Recommendation, recommend
from deadzone.explaining.phases.result import PhaseResult
from deadzone.explaining.phases.rivals import phase_criteria, rivals_table
from deadzone.explaining.phases.summary_sections import summary_sections
from deadzone.language.catalogue import say
from deadzone.language.tabling import Tabled


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Paged):
    """The summary of one phase model.

    tables: data frames of numbers by name: "fit" (name, value), "phases", "joints", "criteria", "rivals",
    "residuals" (name, value), "outliers". recommendation: for the default goal. warnings: sentences.
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


def summarise(model: PhaseResult) -> Summary:
    """The summary of a phase model: everything a statistician expects beside a fit."""
    tables = {
        "fit": fit_table(model),
        "phases": phase_table(model),
        "joints": model.joints.copy(),
        "criteria": model.criteria.assign(chosen=model.criteria["n_phases"] == len(model.phases)),
        "rivals": rivals_table(model),
        "residuals": residual_table(model),
        "outliers": model.outliers.copy(),
    }
    return Summary(
        title=say("summary.title", response=axis_label(model.response), knob=axis_label(model.knob)),
        tables=tables,
        sections=summary_sections(model, tables),
        recommendation=recommend(model),
        warnings=tuple(model.warnings),
    )


def fit_table(model: PhaseResult) -> pd.DataFrame:
    """What was fitted and how well: columns name, value; noise and misfit are fractions."""
    trials, noise = model.trials, model.noise
    weight = trials["weight"].to_numpy(float)
    log_y = np.log(trials["corrected"].to_numpy(float))
    residual = log_y - np.log(trials["fitted"].to_numpy(float))
    likelihood, aic, bic, k = phase_criteria(model)
    plain, adjusted = r_squared(log_y, residual, weight, k - 1)
    facts: dict[str, Any] = {
        "response": model.response,
        "knob": model.knob,
        "goal": model.goal,
        "n_trials": model.n_trials,
        "n_levels": model.n_levels,
        "n_outliers": len(model.outliers),
        "df_model": k - 1,
        "df_residual": residual_df(model),
        "noise": float(noise.replicate),
        "misfit": float(noise.misfit),
        "noise_from": "replicates" if noise.estimable else "the curve",
        "r_squared": plain,
        "r_squared_adjusted": adjusted,
        "log_likelihood": likelihood,
        "aic": aic,
        "bic": bic,
        "drift_change": model.drift.change if model.drift else np.nan,
        "drift_p_value": model.drift.p_value if model.drift else np.nan,
    }
    return pd.DataFrame({"name": list(facts), "value": list(facts.values())})


def residual_df(model: PhaseResult) -> float:
    """Trials after down-weighting minus parameters of the curve, at least 0."""
    return max(float(model.trials["weight"].sum()) - 2 * len(model.phases), 0.0)


def phase_table(model: PhaseResult) -> pd.DataFrame:
    """The coefficients: the columns of `model.phases` with t and p of the hypothesis of no elasticity.

    t has the degrees of freedom of the residuals; without any, t and p are nan.
    """
    from scipy import stats

    table = model.phases.copy()
    df = residual_df(model)
    error = table["std_error"].to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error > 0) & (df > 0), table["elasticity"].to_numpy(float) / error, np.nan)
    table["t"] = t
    table["p_value"] = 2 * stats.t.sf(np.abs(t), max(df, 1e-9))
    return table


def residual_table(model: PhaseResult) -> pd.DataFrame:
    """Diagnostics of the residuals: columns name, value."""
    sound = model.trials[~model.trials["outlier"].to_numpy(bool)]
    found = diagnose(
        sound["residual"].to_numpy(float), sound["trial"].to_numpy(float), sound["level"].to_numpy(float)
    )
    names = Diagnostics.__dataclass_fields__
    return pd.DataFrame({"name": list(names), "value": [getattr(found, name) for name in names]})
