"""The tables of a summary as a reader sees them: texts with the digits that their uncertainty leaves."""

import numpy as np
import pandas as pd

from deadzone.explaining.page import Section
from deadzone.explaining.phases.candidates import level_text
from deadzone.explaining.phases.quantities import axis_label, number, percent, unit_name
from deadzone.explaining.phases.result import PhaseResult
from deadzone.language.catalogue import say
from deadzone.style import PHASE_STYLES

SMALLEST_P = 0.001
"""Smaller p-values are shown as below it: their digits say nothing more."""


def summary_sections(model: PhaseResult, tables: dict[str, pd.DataFrame]) -> tuple[Section, ...]:
    """The tables of `summarise` as sections of a page, in the order in which a statistician reads them."""
    sections = [
        Section(say("summary.fit"), _fit_shown(model, tables["fit"]), paired=True),
        Section(say("summary.phases"), _phases_shown(model, tables["phases"])),
    ]
    if len(tables["joints"]):
        sections.append(Section(say("summary.joints"), _joints_shown(model)))
    sections.append(Section(say("summary.criteria"), _criteria_shown(tables["criteria"])))
    sections.append(Section(say("summary.rivals"), _rivals_shown(tables["rivals"])))
    sections.append(Section(say("summary.residuals"), _residuals_shown(tables["residuals"]), paired=True))
    if len(tables["outliers"]):
        sections.append(Section(say("summary.outliers"), _outliers_shown(model)))
    return tuple(sections)


def _fit_shown(model: PhaseResult, fit: pd.DataFrame) -> pd.DataFrame:
    fact = dict(zip(fit["name"], fit["value"], strict=True))
    levels = model.levels["level"].to_numpy(float)
    per_level = model.levels["n"].to_numpy(int)
    fewest, most = int(per_level.min()), int(per_level.max())
    each = fewest if fewest == most else say("quantity.range", start=fewest, stop=most)
    span = say("quantity.range", start=level_text(model, levels[0]), stop=level_text(model, levels[-1]))
    source = "replicates" if model.noise.estimable else "curve"
    shown = {
        say("summary.response"): axis_label(model.response),
        say("summary.knob"): axis_label(model.knob),
        say("summary.goal"): say(f"summary.goal_{model.goal}"),
        say("summary.levels"): say("summary.levels_shown", n=fact["n_levels"], span=span),
        say("summary.trials"): say("summary.trials_shown", n=fact["n_trials"], each=each),
        say("summary.n_outliers"): str(fact["n_outliers"]),
        say("summary.df_model"): str(fact["df_model"]),
        say("summary.df_residual"): f"{fact['df_residual']:.4g}",
        say("summary.noise"): say(f"summary.noise_from_{source}", noise=fact["noise"]),
        say("summary.misfit"): percent(fact["misfit"]),
        say("summary.r_squared"): _fixed(fact["r_squared"], 4),
        say("summary.r_squared_adjusted"): _fixed(fact["r_squared_adjusted"], 4),
        say("summary.log_likelihood"): _fixed(fact["log_likelihood"], 1),
        "AIC": _fixed(fact["aic"], 1),
        "BIC": _fixed(fact["bic"], 1),
        say("summary.drift"): _drift_text(model),
    }
    return pd.DataFrame({"": list(shown), " ": list(shown.values())})


def _phases_shown(model: PhaseResult, table: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for position, row in enumerate(table.to_dict("records"), start=1):
        error = row["std_error"]
        rows.append(
            {
                say("summary.number"): str(position),
                say("summary.range"): f"{level_text(model, row['start'])}-{level_text(model, row['stop'])}",
                say("summary.phase"): PHASE_STYLES[row["label"]].name,
                say("summary.elasticity"): number(row["elasticity"], error),
                say("summary.std_error"): _fixed(error, _decimals(error)),
                "t": _fixed(row["t"], 2),
                "P>|t|": _p_text(row["p_value"]),
                say("summary.low", certainty=model.certainty): number(row["elasticity_low"], error),
                say("summary.high"): number(row["elasticity_high"], error),
                say("summary.probability"): probability_text(row["probability"]),
            }
        )
    return pd.DataFrame(rows)


def _joints_shown(model: PhaseResult) -> pd.DataFrame:
    return pd.DataFrame(
        {
            say("summary.at"): [level_text(model, level) for level in model.joints["level"]],
            say("summary.low", certainty=model.certainty): [
                level_text(model, level) for level in model.joints["low"]
            ],
            say("summary.high"): [level_text(model, level) for level in model.joints["high"]],
            say("summary.within_one_level"): [probability_text(p) for p in model.joints["probability"]],
        }
    )


def _criteria_shown(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            say("summary.n_phases"): [
                say("summary.chosen", n=n) if chosen else str(n)
                for n, chosen in zip(table["n_phases"], table["chosen"], strict=True)
            ],
            say("summary.n_parameters"): [f"{k:g}" for k in table["n_parameters"]],
            say("summary.short_log_likelihood"): [_fixed(v, 1) for v in table["log_likelihood"]],
            "AIC": [_fixed(v, 1) for v in table["aic"]],
            "BIC": [_fixed(v, 1) for v in table["bic"]],
            say("summary.probability"): [probability_text(p) for p in table["probability"]],
        }
    )


def _rivals_shown(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            say("summary.model"): table["model"],
            "AIC": [_fixed(v, 1) for v in table["aic"]],
            "ΔAIC": [_fixed(v, 1) for v in table["delta_aic"]],
            "BIC": [_fixed(v, 1) for v in table["bic"]],
            say("summary.parameters"): [
                say("rival.with_note", parameters=text, note=note) if text and note else text or note
                for text, note in zip(table["parameters"], table["note"], strict=True)
            ],
        }
    )


def _residuals_shown(table: pd.DataFrame) -> pd.DataFrame:
    value = dict(zip(table["name"], table["value"], strict=True))
    shown = {
        say("summary.durbin_watson_run"): _fixed(value["durbin_watson_run"], 2),
        say("summary.durbin_watson_knob"): _fixed(value["durbin_watson_knob"], 2),
        say("summary.skewness"): _fixed(value["skewness"], 2),
        say("summary.kurtosis"): _fixed(value["kurtosis"], 2),
        "Jarque-Bera": _test_text(value["jarque_bera"], value["jarque_bera_p"]),
        "Shapiro-Wilk": _test_text(value["shapiro"], value["shapiro_p"]),
    }
    return pd.DataFrame({"": list(shown), " ": list(shown.values())})


def _outliers_shown(model: PhaseResult) -> pd.DataFrame:
    unit = unit_name(model.response)
    table = model.outliers
    measured = say("summary.measured")
    return pd.DataFrame(
        {
            say("summary.trial"): [str(t) for t in table["trial"]],
            say("summary.at"): [level_text(model, level) for level in table["knob"]],
            (say("quantity.labelled", name=measured, unit=unit) if unit else measured): [
                number(v) for v in table["response"]
            ],
            say("summary.fitted"): [number(v) for v in table["fitted"]],
            say("summary.times"): [_fixed(v, 2) for v in table["factor"]],
            say("summary.probability"): [probability_text(p) for p in table["probability"]],
            say("summary.reason"): list(table["reason"]),
        }
    )


def _drift_text(model: PhaseResult) -> str:
    drift = model.drift
    if drift is None:
        return say("summary.drift_unknown")
    key = "summary.drift_removed" if drift.removed else "summary.drift_left"
    return say(key, change=drift.change, kind=say(f"doubt.by_{drift.kind}"), p=_p_text(drift.p_value))


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
    if not np.isfinite(p):
        return say("summary.few_residuals")
    return say("summary.test", statistic=float(statistic), p=_p_text(p))


def probability_text(p: float) -> str:
    """A probability as a percentage, and as a bound near 0 and 1, where its digits mean nothing."""
    if not np.isfinite(p):
        return "-"
    if p > 0.99:
        return f">{percent(0.99)}"
    return f"<{percent(0.01)}".replace(".0", "") if p < 0.01 else percent(round(p, 2)).replace(".0", "")
