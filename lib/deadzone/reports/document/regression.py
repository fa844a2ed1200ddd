"""The regression-style summary of a phase model as a block of a report."""

import pandas as pd

from deadzone.explaining.page import is_number
from deadzone.explaining.phases.model import PhaseModel
from deadzone.explaining.phases.quantities import axis_label, percent
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Regression, Table


def regression(model: PhaseModel, identity: str = "regression", name: str = "") -> Regression:
    """The summary that `model.summary()` prints, as tables under one caption; the recommendation is left to the verdict."""
    summary = model.summary()
    facts = dict(zip(summary.tables["fit"]["name"], summary.tables["fit"]["value"], strict=True))
    tables = tuple(
        Table(one.frame, one.caption, numeric=_numeric(one.frame, one.paired), paired=one.paired)
        for one in summary.sections
    )
    caption = say(
        "report.regression_caption",
        response=axis_label(model.response),
        knob=axis_label(model.knob),
        n=len(model.phases),
        r_squared=f"{float(facts['r_squared']):.4f}",
        noise=percent(float(facts["noise"])),
    )
    return Regression(f"{name}. {caption}" if name else caption, tables, id=identity)


def _numeric(table: pd.DataFrame, paired: bool) -> list[str]:
    """Columns that hold nothing but numbers."""
    if paired:
        return []
    return [
        str(column) for column in table.columns[1:] if all(is_number(str(value)) for value in table[column])
    ]
