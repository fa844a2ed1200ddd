"""The phases of a fitted curve in a line or in a table."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from deadzone.analysis.mechanisms.explaining import PhasesExplained
from deadzone.analysis.mechanisms.wording import limits
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import ends, phase_name, phases_shown
from deadzone.analysis.phases.quantities import axis_label, number, percent, plain_name
from deadzone.analysis.phases.summary import fit_table, phase_table
from deadzone.language.messages import N_, Message, _, join, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Table

PHASES_TABLE = Layout(
    columns={
        "{label}": "{range}",
        N_("phase"): "{name}",
        N_("gain"): "{gain:percent}",
        "{slope_head}": "{slope}",
        N_("std err"): "{error}",
        N_("{certainty:percent} interval"): "{interval}",
        "p": "{p:p}",
    },
    caption="{told}",
    ids="{position}",
    numeric=(2, 3, 4, 5, 6),
)

EXPLAINED_TABLE = replace(
    PHASES_TABLE, columns={**PHASES_TABLE.columns, N_("what limits"): "{limits}"}
)


def names(response: str, knob: str) -> dict[str, str]:
    """Two columns in words, as the sentences on a curve name them."""
    return {"response": plain_name(response), "knob": plain_name(knob)}


def phases_text(model: PhaseModel) -> str:
    """All phases in a line: `linear 1-4, dead zone 4-6, ...`."""
    return join(["{phase} {start}-{stop}".format(**row) for row in phases_shown(model)], ", ")


def phases_table(
    model: PhaseModel,
    why: PhasesExplained | None = None,
    *,
    identity: str = "phases",
    name: str = "",
) -> Table:
    """One row a phase: range, label, gain over the phase, elasticity with its standard error,
    interval and p (of no effect at all, by Student's t), and what limits it.

    why: what explains the phases, if it can be told. identity: id of the table. name: of the curve,
    beside others.
    """
    rows: list[dict[str, Any]] = []
    for position, phase in enumerate(phase_table(model).to_dict("records")):
        slope, low, high = slopes(model, phase)
        rows.append(
            {
                "position": position + 1,
                "range": _("{start} to {stop}", **ends(model, phase)),
                "name": phase_name(model, phase),
                "limits": limits(why, position) if why else "",
                "gain": improvement(model, float(phase["start"]), float(phase["stop"])),
                "slope": slope,
                "error": _error(model, float(phase["std_error"])),
                "interval": _("{start} to {stop}", start=low, stop=high),
                "p": float(phase["p_value"]),
            }
        )
    caption, slope_head = (
        N_(
            "The curve of {response} over {knob} is a single phase. An elasticity of 1 is perfect "
            "scaling, 0 no gain, below 0 harm.",
            "The curve of {response} over {knob} has {n} phases. An elasticity of 1 is perfect "
            "scaling, 0 no gain, below 0 harm.",
        ),
        N_("elasticity"),
    )
    if model.axis.is_interval:
        caption, slope_head = (
            N_(
                "The curve of {response} over {knob} is a single phase; a unit is one of the "
                "knob's, on an interval scale.",
                "The curve of {response} over {knob} has {n} phases; a unit is one of the knob's, "
                "on an interval scale.",
            ),
            N_("gain a unit, fitted"),
        )
    sentence = say(caption, n=len(rows), **names(model.response, model.knob))
    return Table.of(
        EXPLAINED_TABLE if why else PHASES_TABLE,
        rows,
        identity,
        told=f"{name}. {sentence}" if name else sentence,
        label=axis_label(model.knob),
        slope_head=say(slope_head),
        certainty=model.certainty,
    )


def fit_in_words(model: PhaseModel) -> Message:
    """What stands below the coefficients of a fit: trials, noise and R2."""
    fit = fit_table(model).set_index("name")["value"]
    return _(
        "n = {n:count} trials at {levels} levels; noise {noise:percent}; R² = {r_squared:number}.",
        n=model.n_trials,
        levels=model.n_levels,
        noise=float(fit["noise"]),
        r_squared=fit["r_squared"],
    )


def _error(model: PhaseModel, error: float) -> str:
    if model.axis.is_interval:
        return percent(abs(model.axis.gain_a_unit(error, model.goal)))
    return number(error, error)


def slopes(model: PhaseModel, phase: Mapping[Hashable, Any]) -> tuple[str, str, str]:
    """The elasticity of a phase and the ends of its interval; on an interval scale the improvement
    a unit."""
    elasticities = [
        float(phase[name]) for name in ("elasticity", "elasticity_low", "elasticity_high")
    ]
    if model.axis.is_interval:
        middle, low, high = (
            percent(model.axis.gain_a_unit(value, model.goal)) for value in elasticities
        )
    else:
        middle, low, high = (number(value, float(phase["std_error"])) for value in elasticities)
    return middle, low, high


def improvement(model: PhaseModel, start: float, stop: float) -> float:
    """How much better the fitted response is at stop than at start, as a share of the one at
    start."""
    fitted = model.levels.set_index("level")["fitted"]
    ratio = float(fitted[stop] / fitted[start])
    return 1 - ratio if model.goal == "min" else ratio - 1
