"""From a table of trials to the numbers a fit works on, or a sentence that says why it cannot.

Nothing is dropped in silence: what is left out is counted and said in a warning.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError, did_you_mean
from deadzone.explaining.marks import marked
from deadzone.explaining.phases.nodes import node_effects
from deadzone.language.catalogue import Message, say

GOALS = ("min", "max")

NO_LIMIT = ("none", "unlimited", "inf", "max")
"""Spellings of a level without a limit."""

MOST_NAMED = 4
"""So many nodes are named in a sentence."""

FEWEST_LEVELS = 3
"""Two levels are one step: it has a slope but no phases."""

KNOWN_UNITS = ("unit", "units")
"""A column of this name says the response's unit in each row; a response cannot mix units."""


@dataclass(frozen=True)
class Sample:
    """The trials of one curve, ready to be fitted.

    levels: shape (n,), positions on the knob's axis, increasing, > 0. names: how each level is written.
    level: shape (trials,), position of each trial's level. response: shape (trials,), as measured.
    value: shape (trials,), ln(response), sign flipped for a response to maximise: smaller is better; where the trials
    ran on several nodes of a cluster, without what these differ by.
    row: shape (trials,), position in the frame. trial: shape (trials,), where the frame has no such column the
    row of data, counted from 1. block, order: shape (trials,) or None; order is the rank in the run, 0 ... 1.
    """

    levels: np.ndarray
    names: tuple[str, ...]
    level: np.ndarray
    response: np.ndarray
    value: np.ndarray
    row: np.ndarray
    trial: np.ndarray
    block: np.ndarray | None
    order: np.ndarray | None
    higher_is_worse: bool
    none_level: float | None
    warnings: tuple[str, ...]


def prepare(frame: pd.DataFrame, knob: str, response: str, goal: str, keep_untrusted: bool = False) -> Sample:
    """Check a table of trials and turn it into a sample.

    Raises PhaseError for anything that cannot be analysed, with the rows concerned.
    """
    _check_call(frame, knob, response, goal)
    table, notes = _usable(frame.reset_index(drop=True), response, keep_untrusted)
    table, more = _measured(table, response)
    positions, none_level, said = _positions(table[knob], knob)
    values = table[response].to_numpy(dtype=float)
    levels, level = np.unique(positions, return_inverse=True)
    _check_shape(levels, values, knob, response)
    names = tuple("none" if position == none_level else f"{position:g}" for position in levels)
    value = np.log(values) if goal == "min" else -np.log(values)
    row = table.index.to_numpy()
    trial = table["trial"].to_numpy() if "trial" in table else row + 1
    block = table["block"].to_numpy() if "block" in table and table["block"].notna().all() else None
    value, blocked = _without_nodes(table, level, value)
    warnings = (*notes, *more, *said, *blocked, *_doubts(levels, level, values, response))
    return Sample(
        levels,
        names,
        level,
        values,
        value,
        row,
        trial,
        block,
        _run_order(table),
        goal == "min",
        none_level,
        warnings,
    )


def _check_call(frame: pd.DataFrame, knob: str, response: str, goal: str) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise PhaseError(f"fit_phases needs a pandas DataFrame of trials, not {type(frame).__name__}.")
    if goal not in GOALS:
        raise PhaseError(f"The goal is {goal!r}; it must be 'min' or 'max'.{did_you_mean(str(goal), GOALS)}")
    for column in (knob, response):
        check_column(frame, column)
    if knob == response:
        raise PhaseError(f"Knob and response are the same column, {knob!r}.")
    for name in KNOWN_UNITS:
        if name in frame and frame[name].nunique() > 1:
            units = ", ".join(sorted(map(str, frame[name].dropna().unique())))
            raise PhaseError(
                f"Column {name!r} says that the rows are in different units ({units}); convert {response!r} "
                "to one unit first."
            )


def check_column(frame: pd.DataFrame, column: Hashable) -> None:
    """Raise PhaseError unless the frame has the column exactly once."""
    count = int((frame.columns == column).sum())
    if count == 0:
        known = [str(name) for name in frame.columns]
        raise PhaseError(
            f"The table has no column {column!r}.{did_you_mean(str(column), known)} "
            f"Its columns are {', '.join(known) or 'none'}."
        )
    if count > 1:
        raise PhaseError(f"The table has {count} columns named {column!r}; rename or drop all but one.")


def _usable(table: pd.DataFrame, response: str, keep_untrusted: bool) -> tuple[pd.DataFrame, list[Message]]:
    """Leave out what the table itself marks as not to be analysed."""
    notes = []
    keep = np.ones(len(table), dtype=bool)
    for column in ("status", "warmup", "trusted"):
        if column not in table or (column == "trusted" and keep_untrusted):
            continue
        good = table["status"].eq("ok") if column == "status" else marked(table, column, column == "trusted")
        if column == "warmup":
            good = ~good
        left_out = int((keep & ~good.to_numpy()).sum())
        if left_out:
            reason = say(f"doubt.left_out_{column}")
            notes.append(say("doubt.left_out", n=left_out, trials=len(table), reason=reason))
        keep &= good.to_numpy()
    if not keep.any():
        raise PhaseError(
            f"No trial is left to analyse of {len(table)}: {' '.join(notes) or 'the table is empty.'}"
        )
    return table[keep], notes


def _measured(table: pd.DataFrame, response: str) -> tuple[pd.DataFrame, list[Message]]:
    """Keep the rows whose response is a positive number; refuse zero, negative and infinite ones."""
    column = table[response]
    values = pd.to_numeric(column, errors="coerce")
    words = column[values.isna() & column.notna()]
    if len(words):
        raise PhaseError(
            f"{len(words)} values of {response!r} are not numbers, the first is {words.iloc[0]!r} in {_rows(words.index[:1])}."
        )
    infinite = table.index[np.isinf(values)]
    if len(infinite):
        raise PhaseError(f"{response!r} is infinite in {_rows(infinite)}; remove or repeat these trials.")
    wrong = table.index[values <= 0]
    if len(wrong):
        raise PhaseError(
            f"{response!r} must be positive, since phases are straight on log-log axes; it is "
            f"{values[wrong[0]]:g} in {_rows(wrong)}. Use a positive quantity, for example time or throughput."
        )
    missing = int(values.isna().sum())
    if missing == len(values):
        raise PhaseError(f"No trial has a value of {response!r}.")
    notes = [say("doubt.no_value", n=missing, trials=len(values), response=repr(response))] if missing else []
    return table.assign(**{response: values})[values.notna()], notes


def _rows(index: pd.Index) -> str:
    """Rows of data as a person counts them: from 1, the header left out."""
    shown = ", ".join(str(row + 1) for row in index[:5])
    return f"data row {shown}" + (f" and {len(index) - 5} more" if len(index) > 5 else "")


def _positions(knob: pd.Series, name: str) -> tuple[np.ndarray, float | None, list[str]]:
    """Positions of the trials on the knob's axis; `none` goes one median step beyond the largest."""
    unlimited = knob.isna() | knob.map(lambda value: str(value).strip().lower() in NO_LIMIT).astype(bool)
    numbers = pd.to_numeric(knob.mask(unlimited), errors="coerce")
    words = knob[numbers.isna() & ~unlimited]
    if len(words):
        raise PhaseError(
            f"Level {words.iloc[0]!r} of {name!r} ({_rows(words.index[:1])}) is not a number. Phases need a knob that "
            "can be drawn on an axis; give ordered levels a number, and write 'none' for no limit."
        )
    wrong = knob.index[numbers <= 0]
    if len(wrong):
        raise PhaseError(f"Levels of {name!r} must be positive; {_rows(wrong)} has {numbers[wrong[0]]:g}.")
    if not unlimited.any():
        return numbers.to_numpy(dtype=float), None, []
    known = np.unique(numbers.dropna())
    if len(known) < 2:
        raise PhaseError(f"{name!r} needs at least two numeric levels beside 'none'.")
    position = float(known[-1] * np.exp(np.median(np.diff(np.log(known)))))
    said = say("doubt.none_level", knob=name, position=position, largest=float(known[-1]))
    return numbers.fillna(position).to_numpy(dtype=float), position, [said]


def _check_shape(levels: np.ndarray, values: np.ndarray, knob: str, response: str) -> None:
    if len(levels) < FEWEST_LEVELS:
        have = ", ".join(f"{level:g}" for level in levels)
        raise PhaseError(
            f"{knob!r} has {len(levels)} level{'s' if len(levels) > 1 else ''} ({have}); phases need at least "
            f"{FEWEST_LEVELS}, and 8 or more to tell them apart well."
        )
    if np.ptp(values) == 0:
        raise PhaseError(
            f"{response!r} is {values[0]:g} in every trial; a response that never changes has no phases. "
            "Check that the column is what was meant, and that it is recorded with enough digits."
        )


def _without_nodes(
    table: pd.DataFrame, level: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, list[Message]]:
    """Take what the nodes of a cluster differ by off the trials, where they ran on several."""
    if "node" not in table or table["node"].isna().any() or table["node"].nunique() < 2:
        return value, []
    names = sorted(map(str, table["node"].unique()))
    shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
    effects = node_effects(level, table["node"].to_numpy(), value)
    if effects is None:
        return value, [say("doubt.nodes_apart", n=len(names), names=shown)]
    said = say("doubt.nodes", n=len(names), names=shown, spread=effects.spread)
    return value - effects.per_trial, [said]


def _doubts(levels: np.ndarray, level: np.ndarray, values: np.ndarray, response: str) -> list[Message]:
    counts = np.bincount(level)
    doubts = []
    if len(levels) < 6:
        doubts.append(say("doubt.few_levels", levels=len(levels)))
    if counts.max() == 1:
        doubts.append(say("doubt.one_trial"))
    elif counts.min() == 1:
        doubts.append(say("doubt.some_one_trial", n=int((counts == 1).sum()), levels=len(levels)))
    if values.max() / values.min() > 1e6:
        factor = float(values.max() / values.min())
        doubts.append(say("doubt.units", response=response, factor=factor))
    return doubts


def _run_order(table: pd.DataFrame) -> np.ndarray | None:
    """Rank of each trial in the run, 0 ... 1, from `started_at`; None without it."""
    if "started_at" not in table or table["started_at"].isna().any():
        return None
    times: Any = pd.to_datetime(table["started_at"], utc=True, errors="coerce", format="ISO8601")
    if times.isna().any() or times.nunique() < 3:
        return None
    rank = times.rank(method="average").to_numpy() - 1
    return rank / max(len(rank) - 1, 1)
