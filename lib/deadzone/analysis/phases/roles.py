"""Which columns of a table are the knob, the response and the other factors."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pandas as pd

from deadzone.errors import DeadzoneError, PhaseError, check_known, check_type, did_you_mean, option
from deadzone.study.direction import GOALS

FRAME = "A DataFrame of pandas (`dz.read_table`, `.to_frame()`, `.to_pandas()`)"
"""What is needed, and what makes one."""


def listed(names: Any) -> tuple[Any, ...]:
    """Names of columns as a caller gives them: one, several or none."""
    several = names if pd.api.types.is_list_like(names) else [names]
    return tuple(name for name in several if name not in ("", None))


def of_levels(by: Iterable[str], levels: Iterable[Any]) -> str:
    """The levels of further factors, by which a slice is named: `tool = xz, files = 4`."""
    return ", ".join(f"{name} = {level}" for name, level in zip(by, levels, strict=True))


def check_roles(
    frame: pd.DataFrame, factors: Sequence[Hashable], response: Hashable, goal: Any
) -> None:
    """Raise PhaseError for a column that is not there or has two roles, and for a goal that is
    none. factors: the knob first."""
    check_known(PhaseError, f"The goal is {goal!r}; it must be 'min' or 'max'", goal, GOALS)
    roles: dict[Hashable, str] = {}
    named = [("knob", factors[0]), ("response", response), *(("by", name) for name in factors[1:])]
    for role, column in named:
        check_column(frame, column)
        if column in roles:
            raise PhaseError(
                f"{roles[column]} and {role} are the same column, {column!r}; choose another one."
            )
        roles[column] = role


def check_column(frame: pd.DataFrame, column: Hashable) -> None:
    """Raise PhaseError unless the frame is one and has the column exactly once, by a text."""
    check_frame(frame)
    count = [*frame.columns].count(column)
    if count == 0:
        known = [str(name) for name in frame.columns]
        parts = str(column).split(",")
        hint = did_you_mean(str(column), known)
        if len(parts) > 1 and {*parts} <= {*known}:
            hint = f" Give each by itself: {option('by', parts)}."
        seen = (
            f"The table has no column {column!r}.{hint}"
            if column
            else "Say which column is the knob and which the response."
        )
        listed = ", ".join(f"`{one}`" for one in known)
        raise PhaseError(f"{seen} Its columns are {listed}." if known else f"{seen} It has none.")
    if not isinstance(column, str):
        raise PhaseError(
            f"The column {column!r} is named by no text; "
            "`frame.set_axis([*map(str, frame)], axis=1)` names all by one."
        )
    if count > 1:
        raise PhaseError(
            f"The table has {count} columns named {column!r}; rename or drop all but one."
        )


def check_frame(frame: Any, kind: type[DeadzoneError] = PhaseError) -> None:
    """Raise an error of a kind for what is no DataFrame of pandas."""
    check_type(kind, frame, pd.DataFrame, FRAME)


def with_index(frame: pd.DataFrame, names: Iterable[Hashable]) -> pd.DataFrame:
    """The frame with those of the names as columns that are levels of its index alone, as the
    groups of `groupby` are."""
    if not isinstance(frame, pd.DataFrame):
        return frame
    levels = [name for name in names if name in frame.index.names and name not in frame]
    return frame.reset_index(levels) if levels else frame


def column_of(frame: pd.DataFrame, name: str) -> str:
    """The column of this name, or else the only one whose name ends in it, or has it in brackets:
    `connections` is `client_connections` where a tool's output was imported, `threads` is the
    `(threads)` of JMH. The name itself where there is none, or more than one."""
    names = [*map(str, frame.columns)]
    longer = [one for one in names if one.endswith(f"_{name}") or one == f"({name})"]
    return longer[0] if name not in frame and len(longer) == 1 else name
