"""Two tidy tables side by side: which trials count, and which treatments both of them hold.

Trials of one treatment in one block are one value, their median: repeats inside a block share its
disturbances and are no independent evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.phases.quantities import listing, setting
from deadzone.analysis.trial_columns import marked, measured, well
from deadzone.errors import CompareError, check_known
from deadzone.language.messages import N_, _, join, say
from deadzone.study.levels import format_level, read_level
from deadzone.study.scales import level_name

Key = tuple[str, ...]
"""The levels of a treatment as they are written, in the order of the factors."""

LEAST_TRUSTED = 0.5
"""If fewer of the treatments than this keep a trusted trial, all trials are compared, and the
result says so."""


@dataclass(frozen=True, eq=False)
class Samples:
    """One response of both tables.

    treatments: those in both, in the order of their levels. pairs: for each the values of A and of
    B, shapes (n,) and (m,), one a block. together: for A and for B whether row i of every treatment
    is the same block. paired: whether both come from the same blocks of one run, so that row i of A
    belongs to row i of B.
    """

    treatments: tuple[Key, ...]
    pairs: tuple[tuple[np.ndarray, np.ndarray], ...]
    together: tuple[bool, bool]
    paired: bool


def analysed(
    frame: pd.DataFrame, factors: Sequence[str], name: str
) -> tuple[pd.DataFrame, list[str]]:
    """The trials that count (measured, ended well, trusted), and sentences on those that do not.

    name: of the table, for the sentences. Raises CompareError if none is left, or two columns have
    one name.
    """
    notes: list[str] = []
    if repeated := [*frame.columns[frame.columns.duplicated()]]:
        raise CompareError(
            f"{name} has several columns named {repeated[0]!r}; rename or drop all but one."
        )
    trials = measured(frame.reset_index(drop=True))
    ended = well(trials)
    facts = {"name": name, "trials": len(trials)}
    if lost := len(trials) - len(ended):
        text = N_(
            "{name}: trials left out that did not end well: {n:count} of {trials:count}. If the "
            "other table has fewer such failures, that is itself a difference."
        )
        notes.append(say(text, **facts, n=lost))
    trusted = ended[marked(ended, "trusted", missing=True)]
    if doubted := len(ended) - len(trusted):
        whole, kept = (
            table.groupby(list(factors)).ngroups if factors else 1 for table in (ended, trusted)
        )
        keep = trusted.empty or kept < LEAST_TRUSTED * whole
        text = (
            N_(
                "{name}: trials not trusted, but compared, for too little is left without them: "
                "{n:count} of {trials:count}. Measure again on a quiet machine before acting."
            )
            if keep
            else N_("{name}: trials left out that are not trusted: {n:count} of {trials:count}.")
        )
        notes.append(say(text, **facts | {"trials": len(ended)}, n=doubted))
        trusted = ended if keep else trusted
    if trusted.empty:
        raise CompareError(
            f"{name} has no trial that ended well and was no warm-up: nothing to compare."
        )
    return trusted, notes


def values_of(frame: pd.DataFrame, response: str, name: str) -> pd.Series:
    """A response as numbers, rows without one left out.

    Raises CompareError if the column is missing, holds no number, or a negative or infinite one.
    """
    known = [str(column) for column in frame.columns]
    check_known(
        CompareError, f"{name} has no column {response!r}", response, known, "Its columns are"
    )
    values = pd.to_numeric(frame[response], errors="coerce").dropna().astype(float)
    if values.empty:
        raise CompareError(f"{name} has no number in the column {response!r}.")
    wrong = values[(values < 0) | np.isinf(values)]
    if len(wrong):
        raise CompareError(
            f"{name}: {response!r} is {wrong.iloc[0]:g} in row {wrong.index[0]}; a ratio of "
            "medians needs finite values of zero or more."
        )
    return values


def side_by_side(
    a: pd.DataFrame, b: pd.DataFrame, factors: Sequence[str], response: str, names: tuple[str, str]
) -> Samples:
    """One response of both tables, treatment by treatment.

    a, b: analysed trials. Raises CompareError if no treatment is in both, or a response cannot be
    compared.
    """
    in_a, in_b = (
        _values_by_block(t, factors, response, n) for t, n in zip((a, b), names, strict=True)
    )
    common = tuple(key for key in sorted(in_a, key=order_of) if key in in_b)
    if not common:
        raise CompareError(
            f"{names[0]} and {names[1]} have no treatment in common: {names[0]} has "
            f"{_some(in_a, factors)}, {names[1]} has {_some(in_b, factors)}. If that is what was "
            "changed, name the factors to match by (`--by`)."
        )
    shared = {key: sorted(set(in_a[key].index) & set(in_b[key].index)) for key in common}
    paired = share_blocks(a, b) and all(shared.values())
    if paired:
        in_a, in_b = ({key: side[key].loc[shared[key]] for key in common} for side in (in_a, in_b))
    pairs = tuple((in_a[key].to_numpy(float), in_b[key].to_numpy(float)) for key in common)
    blocks = ((a, in_a), (b, in_b))
    first, second = (
        _has_blocks(table) and len({tuple(side[key].index) for key in common}) == 1
        for table, side in blocks
    )
    return Samples(common, pairs, (first, second), paired)


def share_blocks(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Whether both tables come from the blocks of one run: only then is block 1 of A the block 1 of
    B."""
    if not all(_has_blocks(table) and "run_id" in table for table in (a, b)):
        return False
    runs = {*a["run_id"].dropna(), *b["run_id"].dropna()}
    return len(runs) == 1 and bool(set(a["block"]) & set(b["block"]))


def treatments_of(frame: pd.DataFrame, factors: Sequence[str]) -> list[Key]:
    """All treatments of a table, in the order of their levels; one without factors."""
    return sorted(set(_keys(frame, factors)), key=order_of)


def order_of(key: Key) -> tuple[tuple[int, float, str], ...]:
    """Sorts numbers by their value, and words after them."""
    return tuple(
        (1, 0.0, level) if isinstance(level, str) else (0, level, "")
        for level in map(read_level, key)
    )


def in_words(key: Key, factors: Sequence[str]) -> str:
    """A treatment in words: `2 cores, threads 4`."""
    if not factors:
        return _("all trials")
    levels = zip(map(read_level, key), factors, strict=True)
    return join([setting(level, factor) for level, factor in levels], ", ")


def _values_by_block(
    frame: pd.DataFrame, factors: Sequence[str], response: str, name: str
) -> dict[Key, pd.Series]:
    values = values_of(frame, response, name)
    rows = frame.loc[values.index]
    blocks = rows["block"].to_numpy() if _has_blocks(rows) else np.arange(len(rows))
    keys = _keys(rows, factors)
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    table = pd.DataFrame(
        {"key": [number[key] for key in keys], "block": blocks, "value": values.to_numpy()}
    )
    medians = table.groupby(["key", "block"])["value"].median()
    return {key: medians.loc[i] for key, i in number.items()}


def _keys(frame: pd.DataFrame, factors: Sequence[str]) -> list[Key]:
    columns = [[_written(level) for level in frame[factor]] for factor in factors]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)


def _written(level: object) -> str:
    """A level as text, the same for 4, 4.0 and "4"."""
    return format_level(read_level(level_name(level))) or "-"


def _has_blocks(frame: pd.DataFrame) -> bool:
    return "block" in frame and bool(frame["block"].notna().all())


def _some(samples: dict[Key, pd.Series], factors: Sequence[str]) -> str:
    return listing([in_words(key, factors) for key in sorted(samples, key=order_of)])
