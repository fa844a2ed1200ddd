"""The phases of a fitted curve in a line or in a table."""

from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.quantities import axis_label, plain_name
from deadzone.analysis.phases.summary import SLOPES, fit_facts, phase_rows
from deadzone.language.messages import N_, Message, _, join, ngettext, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Table

PHASES_TABLE = Layout(
    columns={
        "{label}": "{range}",
        N_("phase"): "{phase}",
        N_("gain"): "{gain:percent}",
        "{slope_name}": "{slope}",
        N_("std err"): "{error}",
        N_("{certainty:percent} interval"): "{interval}",
        "p": "{p_value:p}",
    },
    caption="{told}",
    ids="{position}",
    numeric=(2, 3, 4, 5, 6),
)

MEANINGS = {
    False: N_("An elasticity of 1 is perfect scaling, 0 no gain, below 0 harm."),
    True: N_("A unit is one of the knob's, on an interval scale."),
}
"""Of the slope of a phase, by whether the knob is on an interval scale."""


def names(response: str, knob: str) -> dict[str, str]:
    """Two columns in words, as the sentences on a curve name them."""
    return {"response": plain_name(response), "knob": plain_name(knob)}


def phases_text(model: PhaseModel) -> str:
    """All phases in a line: `linear 1-4, dead zone 4-6, ...`."""
    return join(["{phase} {start}-{stop}".format(**row) for row in phases_shown(model)], ", ")


def phases_table(
    model: PhaseModel,
    *,
    identity: str = "phases",
    name: str = "",
) -> Table:
    """One row a phase: range, label, gain over the phase, elasticity with its standard error,
    interval and p (of no effect at all, by Student's t).

    identity: id of the table. name: of the curve, beside others.
    """
    rows = phase_rows(model)
    for row in rows:
        row["range"] = _("{start} to {stop}", start=row["start"], stop=row["stop"])
        row["interval"] = _("{start} to {stop}", start=row["low"], stop=row["high"])
    is_interval = model.axis.is_interval
    caption = ngettext(
        "The curve of {response} over {knob} is a single phase. {meaning}",
        "The curve of {response} over {knob} has {n} phases. {meaning}",
        n=len(rows),
        meaning=say(MEANINGS[is_interval]),
        **names(model.response, model.knob),
    )
    return Table.of(
        PHASES_TABLE,
        rows,
        identity,
        told=f"{name}. {caption}" if name else caption,
        label=axis_label(model.knob),
        slope_name=say(SLOPES[is_interval]),
        certainty=model.certainty,
    )


def fit_in_words(model: PhaseModel) -> Message:
    """What stands below the coefficients of a fit: trials, noise and R2."""
    return _(
        "n = {n_trials:count} trials at {n_levels} levels; noise {noise:percent}; R² = "
        "{r_squared:number}.",
        **fit_facts(model),
    )
