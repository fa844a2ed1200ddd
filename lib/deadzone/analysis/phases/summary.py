"""The regression-style summary of a phase model: tables first, and the two ways to print them.

`summarise(model).tables` holds data frames of numbers; `str()` and `_repr_html_()` show the same
tables with the digits that their uncertainty leaves, as lifelines and statsmodels do for their
models.

Whether a curve has thresholds at all: chains of pieces against smooth laws, in words, by their
posterior probabilities.

A response that saturates, y = y_inf (1 + k / x) as of batch and block sizes, is Amdahl's law in
other words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.naming import (
    DRIFT_KINDS,
    open_labels,
    phase_meaning,
    phases_shown,
)
from deadzone.analysis.phases.quantities import axis_label, number, unit_name
from deadzone.analysis.phases.recommend import Recommendation, recommend
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.records import records
from deadzone.language.formats import p_value
from deadzone.language.messages import N_, Message, _, ngettext, say
from deadzone.language.tabling import Layout, Tabled, tabled

FITS = {
    "Amdahl's law": N_(
        "The gain fades smoothly and follows Amdahl's law with a serial share of {share:percent} "
        "({certainty:exact_percent} interval {share_low:percent} to {share_high:percent}). There "
        "is no threshold, so where the phases meet is a matter of degree (probability "
        "{probability:probability})."
    ),
    "Universal Scalability Law": N_(
        "The gain fades smoothly and follows the Universal Scalability Law with a contention of "
        "{share:percent} ({certainty:exact_percent} interval {share_low:percent} to "
        "{share_high:percent}). There is no threshold, so where the phases meet is a matter of "
        "degree (probability {probability:probability})."
    ),
}


LAW_NAMES = {
    "Amdahl's law": N_("Amdahl's law"),
    "Universal Scalability Law": N_("Universal Scalability Law"),
}


SURE = 0.95
"""Below this probability the data do not decide between smooth laws and pieces."""


def shape(model: PhaseResult) -> Message | None:
    """Whether the curve fades smoothly, by which law and with what parameter, or is better
    described by its phases. None where the data do not decide, and of a single phase in which the
    knob does not pay."""
    is_single = len(model.phases) == 1
    if model.laws.empty or (is_single and model.phases["label"].iloc[0] != "linear"):
        return None
    best = model.laws.iloc[int(model.laws["log_probability"].argmax())]
    smooth = model.smooth_probability
    if smooth >= SURE:
        facts = {name: best[name] for name in ("share", "share_low", "share_high")}
        return say(FITS[best["law"]], **facts, certainty=model.certainty, probability=smooth)
    if not is_single and smooth <= 1 - SURE:
        return _(
            "No smooth law fits as well: the best, {law}, has probability "
            "{probability:probability}.",
            law=say(LAW_NAMES[best["law"]]),
            probability=smooth,
        )
    return None


NOISE_SOURCES = {
    "replicates": N_("{noise:percent}, from replicates"),
    "the curve": N_("{noise:percent}, from the curve"),
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
            N_("range"): "{range}",
            N_("phase"): "{phase}",
            "{slope_name}": "{slope}",
            N_("std err"): "{error}",
            "t": "{t:.2f}",
            "P>|t|": "{p_value:p}",
            N_("{certainty:exact_percent} low"): "{low}",
            N_("high"): "{high}",
            N_("probability"): "{probability:probability}",
        },
        caption=N_("Phases"),
    ),
    "joints": Layout(
        columns={
            N_("at"): "{level_text}",
            N_("{certainty:exact_percent} low"): "{low_text}",
            N_("high"): "{high_text}",
            N_("within one level"): "{probability:probability}",
        },
        caption=N_("Joints"),
    ),
    "laws": Layout(
        columns={
            N_("model"): "{model}",
            N_("probability"): "{probability:probability}",
            N_("parameters"): "{told}",
        },
        caption=N_("Smooth laws next to the phases"),
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

SLOPES = {False: N_("elasticity"), True: N_("gain a unit")}
"""What states a phase, by whether the knob is on an interval scale."""

LEVELS = ("level", "low", "high", "knob")
"""Columns that hold levels of the knob."""


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Paged):
    """The summary of one phase model.

    tables: data frames of numbers by name: "fit" (name, value), "phases", "joints", "laws",
    "outliers". recommendation: for the default goal. warnings: sentences. sections: the
    same tables as text, in the order in which they are printed.
    """

    title: str
    tables: dict[str, pd.DataFrame]
    sections: tuple[Tabled, ...]
    recommendation: Recommendation
    warnings: tuple[str, ...]

    def page(self) -> Page:
        """The tables, and what is recommended and to be known."""
        notes: dict[str, list[str]] = {
            _("Recommended setting"): [self.recommendation.reason, *self.recommendation.caveats],
            _("Warnings"): list(self.warnings),
        }
        return Page(self.title, self.sections, notes)


def summarise(model: PhaseResult, advice: Recommendation | None = None) -> Summary:
    """The summary of a phase model: everything a statistician expects beside a fit, and a
    recommendation."""
    facts = fit_facts(model)
    tables = {
        "fit": pd.DataFrame({"name": list(facts), "value": list(facts.values())}),
        "phases": phase_table(model),
        "joints": model.joints.copy(),
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
        sections=_sections(model, facts, tables),
        recommendation=advice or recommend(model),
        warnings=tuple(model.warnings),
    )


def fit_facts(model: PhaseResult) -> dict[str, Any]:
    """What was fitted and how well, by name; noise and misfit are fractions.

    The curve of p phases has 2 p parameters: its value at the start, p elasticities and p - 1
    joints.
    """
    trials, noise = model.trials, model.noise
    weight = trials["weight"].to_numpy(float)
    log_y = np.log(trials["corrected"].to_numpy(float))
    residual = log_y - np.log(trials["fitted"].to_numpy(float))
    k = 2 * len(model.phases)
    plain, adjusted = r_squared(log_y, residual, weight, k)
    return {
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


def phase_rows(model: PhaseResult) -> list[dict[Any, Any]]:
    """The phases as every table and sentence shows them, a row each: `phase_table` with position
    (1 for the first), start, stop, range, phase, meaning (texts), probability (of its
    likeliest label), gain (how much better the fitted response ends, a share of the one at its
    start), and slope, low, high, error (texts): the elasticity with its interval and standard
    error, or on an interval scale the gain a unit."""
    fitted = model.levels.set_index("level")["fitted"]
    shown = phases_shown(model)
    rows: list[dict[Any, Any]] = phase_table(model).to_dict("records")
    for position, row in enumerate(rows):
        ratio = float(fitted[row["stop"]] / fitted[row["start"]])
        row |= {
            "position": position + 1,
            "meaning": phase_meaning(model, row),
            "probability": next(iter(open_labels(model, row).values())),
            "gain": 1 - ratio if model.goal == "min" else ratio - 1,
            **_slope_texts(model, row),
            **shown[position],
        }
    return rows


def _slope_texts(model: PhaseResult, row: Mapping[Any, Any]) -> dict[str, str]:
    error = row["std_error"]
    names = {"slope": "elasticity", "low": "elasticity_low", "high": "elasticity_high"}
    if not model.axis.is_interval:
        slopes = {name: number(row[column], error) for name, column in names.items()}
        return {**slopes, "error": number(error, error)}
    gain = {name: model.axis.gain_a_unit(row[column], model.goal) for name, column in names.items()}
    gain["error"] = abs(model.axis.gain_a_unit(error, model.goal))
    return {
        name: _("{value} %", value=number(100 * share, 100 * gain["error"]))
        for name, share in gain.items()
    }


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


def _sections(
    model: PhaseResult, facts: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]
) -> tuple[Tabled, ...]:
    """The tables of `summarise` as sections of a page, in the order in which a statistician reads
    them."""
    unit, measured = unit_name(model.response), _("response")
    shown = {
        "fit": [_fit(model, facts)],
        "phases": phase_rows(model),
        "joints": _rows(model, tables["joints"]),
        "laws": _models(model),
        "outliers": _rows(model, tables["outliers"]),
    }
    words = {
        "certainty": model.certainty,
        "slope_name": say(SLOPES[model.axis.is_interval]),
        "measured": _("{name} ({unit})", name=measured, unit=unit) if unit else measured,
    }
    return tuple(tabled(TABLES[name], rows, **words) for name, rows in shown.items() if rows)


def _rows(model: PhaseResult, table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a table, each level of the knob also as text."""
    levels = {
        f"{name}_text": table[name].map(partial(level_text, model))
        for name in LEVELS
        if name in table
    }
    return table.assign(**levels).to_dict("records")


def _fit(model: PhaseResult, fact: Mapping[str, Any]) -> dict[str, Any]:
    levels, per_level = model.levels["level"], model.levels["n"]
    fewest, most = int(per_level.min()), int(per_level.max())
    each = fewest if fewest == most else _("{start} to {stop}", start=fewest, stop=most)
    start, stop = (level_text(model, float(levels.iloc[end])) for end in (0, -1))
    return {
        **fact,
        "response_label": axis_label(model.response),
        "knob_label": axis_label(model.knob),
        "levels": _(
            "{n:count} ({span})",
            n=fact["n_levels"],
            span=_("{start} to {stop}", start=start, stop=stop),
        ),
        "trials": _("{n:count} ({each} per level)", n=fact["n_trials"], each=each),
        "noise_text": say(NOISE_SOURCES[fact["noise_from"]], noise=fact["noise"]),
        "drift": _drift_text(model),
    }


def _models(model: PhaseResult) -> list[dict[Any, Any]]:
    """The chains of pieces and the smooth laws beside them, with their probabilities."""
    rows = [
        {
            "model": ngettext("{n} phase", "{n} phases", n=len(model.phases)),
            "probability": 1 - model.smooth_probability,
            "told": _("see the phases"),
        }
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
    return say(
        N_("{change:percent} by {kind}, p {p}, removed")
        if drift.removed
        else N_("{change:percent} by {kind}, p {p}, left in"),
        change=drift.change,
        kind=say(DRIFT_KINDS[drift.kind]),
        p=p_value(drift.p_value),
    )
