"""The regression-style summary of a phase model as a block of a report."""

from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import axis_label, percent
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Regression, Table
from deadzone.reports.document.summaries import numeric_columns


def regression(model: PhaseModel, identity: str = "regression", name: str = "") -> Regression:
    """The summary that `model.summary()` prints, as tables under one caption; the recommendation is left to the verdict."""
    summary = model.summary()
    facts = dict(zip(summary.tables["fit"]["name"], summary.tables["fit"]["value"], strict=True))
    tables = tuple(
        Table(one.frame, one.caption, [] if one.paired else numeric_columns(one.frame), paired=one.paired)
        for one in summary.sections
    )
    columns = {"response": axis_label(model.response), "knob": axis_label(model.knob)}
    fit = {"r_squared": f"{float(facts['r_squared']):.4f}", "noise": percent(float(facts["noise"]))}
    caption = say("report.regression_caption", n=len(model.phases), **columns, **fit)
    return Regression(f"{name}. {caption}" if name else caption, tables, id=identity)
