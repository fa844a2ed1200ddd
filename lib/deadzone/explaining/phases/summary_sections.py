"""The tables of a summary as a reader sees them: texts with the digits that their uncertainty leaves.

`tables.yaml` lays them out; here is what takes more than a format.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.phases.candidates import level_text
from deadzone.explaining.phases.quantities import axis_label, number, unit_name
from deadzone.explaining.phases.result import PhaseResult
from deadzone.language.catalogue import say
from deadzone.language.formats import p_value
from deadzone.language.tabling import Tabled, tabled
from deadzone.style import PHASE_STYLES

LEVELS = ("level", "low", "high", "start", "stop", "knob")
"""Columns that hold levels of the knob."""


def summary_sections(model: PhaseResult, tables: Mapping[str, pd.DataFrame]) -> tuple[Tabled, ...]:
    """The tables of `summarise` as sections of a page, in the order in which a statistician reads them."""
    unit, measured = unit_name(model.response), say("summary.measured")
    shown = {
        "fit": [_fit(model, _named(tables["fit"]))],
        "phases": [_phase(i, row) for i, row in enumerate(_rows(model, tables["phases"]), start=1)],
        "joints": _rows(model, tables["joints"]),
        "criteria": [{**row, "phases": _phases(row)} for row in _rows(model, tables["criteria"])],
        "rivals": [{**row, "told": _parameters(row)} for row in _rows(model, tables["rivals"])],
        "residuals": [_residuals(_named(tables["residuals"]))],
        "outliers": _rows(model, tables["outliers"]),
    }
    words = {
        "certainty": model.certainty,
        "measured": say("quantity.labelled", name=measured, unit=unit) if unit else measured,
    }
    return tuple(tabled(f"explaining/phases.{name}", rows, **words) for name, rows in shown.items() if rows)


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


def _parameters(row: dict[Any, Any]) -> str:
    text, note = row["parameters"], row["note"]
    return say("rival.with_note", parameters=text, note=note) if text and note else text or note


def _residuals(value: dict[str, Any]) -> dict[str, Any]:
    tests = {
        f"{name}_text": say("summary.test", statistic=float(value[name]), p=p_value(value[f"{name}_p"]))
        if np.isfinite(value[f"{name}_p"])
        else say("summary.few_residuals")
        for name in ("jarque_bera", "shapiro")
    }
    return {**value, **tests}


def _drift_text(model: PhaseResult) -> str:
    drift = model.drift
    if drift is None:
        return say("summary.drift_unknown")
    key = "summary.drift_removed" if drift.removed else "summary.drift_left"
    return say(key, change=drift.change, kind=say(f"doubt.by_{drift.kind}"), p=p_value(drift.p_value))


def _decimals(error: float) -> int:
    """Decimals that show two digits of a standard error."""
    return int(np.clip(1 - np.floor(np.log10(error)), 0, 6)) if error > 0 else 2
