"""From a table of trials to the numbers a fit works on, or a sentence that says why it cannot.

Nothing is dropped in silence: what is left out is counted and said in a warning.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from deadzone.analysis.phases.censored import completed, is_bound, without_end
from deadzone.analysis.phases.drift import without_nodes
from deadzone.analysis.phases.quantities import listing, setting
from deadzone.analysis.phases.quantities import response as in_words
from deadzone.analysis.phases.result import CurveTrials, KnobAxis
from deadzone.analysis.phases.roles import check_roles
from deadzone.analysis.trial_columns import (
    MOST_TRIALS,
    below_zero,
    is_well,
    marked,
    thinned,
    with_fewer_levels,
)
from deadzone.errors import PhaseError, check_known, option
from deadzone.language.messages import N_, Message, Text, _, say
from deadzone.study.levels import NONE, Level, is_number
from deadzone.study.response_cells import by_distinct, is_amount, level_names, said_of, with_numbers
from deadzone.study.scales import (
    FEWEST_LEVELS,
    INTERVAL,
    MINUS_ONE,
    MISSING,
    RATIO,
    WORDS,
    KnobScale,
    Place,
    is_infinite,
    level_name,
    scale_of,
)

ONE_TRIAL_A_LEVEL = N_(
    "Every level has one trial: the noise is estimated from how far the points lie from the curve. "
    "Measure each level three times or more."
)
"""A doubt about the curve and about a setting alike."""

MOST_LEVELS = 2000
"""Memory grows with their square: 2,000 take 1.1 GB, and 200,000 took all. What has more levels is
a measurement, such as a temperature, and no setting."""

KNOWN_UNITS = ("unit", "units")
"""A column of this name says the response's unit in each row; a response cannot mix units."""


def prepare(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str,
    keep_untrusted: bool = False,
    scale: KnobScale | None = None,
    k: int | None = None,
    at: Mapping[Level, Place] | None = None,
) -> CurveTrials:
    """Check a table of trials and turn it into a sample.

    scale: of the knob, by default the one that its levels suggest, with a K as k says and single
    levels where at puts them.

    Raises PhaseError for anything that cannot be analysed, with the rows concerned.
    """
    table, notes = measured_trials(frame, (knob,), response, goal, keep_untrusted)
    wrong = table.index[table[response] <= 0]
    if len(wrong):
        raise PhaseError(
            f"{response!r} must be positive, since phases are straight on log-log axes; it is "
            f"{table[response][wrong[0]]:g} in {_rows(wrong)}. Use a positive quantity, for "
            "example time or throughput."
        )
    scale = scale or knob_scale(table[knob], places=places_of(at), k=k)
    table, fewer = with_fewer_levels(table, knob, scale)
    return curve_trials(table, knob, response, goal, scale, [*notes, *fewer])


ROUNDS = {"replicate", "rep", "round", "repeat", "repetition", "iteration", "run"}
"""Names of a column that counts the rounds in which all levels were measured."""


def curve_trials(
    table: pd.DataFrame,
    knob: str,
    response: str,
    goal: str,
    scale: KnobScale,
    notes: Sequence[Message] = (),
) -> CurveTrials:
    """The trials of one curve among those of `measured_trials`, whose response is positive. notes:
    what is said of them already. Raises PhaseError where they make no curve."""
    table, positions, said = on_axis(table, knob, scale)
    values = table[response].to_numpy(dtype=float)
    levels, level = np.unique(positions, return_inverse=True)
    _check_shape(levels, values, knob, response)
    axis, names, none_level = written_on(scale, levels)
    row = table.index.to_numpy()
    is_known = "block" in table and table["block"].notna().all()
    rounds = _rounds(table.drop(columns=[knob, response]))
    others = table.drop(columns=knob)
    value, blocked = without_nodes(others, level, np.log(values) * (1 if goal == "min" else -1))
    return CurveTrials(
        levels,
        names,
        level,
        response=values,
        value=value,
        row=row,
        trial=table["trial"].to_numpy() if "trial" in table else row + 1,
        block=table["block"].to_numpy() if is_known else None,
        order=_run_order(table) if rounds is None else rounds,
        by_round=rounds is not None,
        higher_is_worse=goal == "min",
        none_level=none_level,
        warnings=(*notes, *said, *blocked, *_doubts(levels, level, values, response)),
        axis=axis,
    )


def measured_trials(
    frame: pd.DataFrame,
    factors: Sequence[str],
    response: str,
    goal: str,
    keep_untrusted: bool = False,
) -> tuple[pd.DataFrame, list[Message]]:
    """The trials of a table that can be analysed, with finite responses, and a sentence for each
    kind left out.

    Raises PhaseError for what is no such table, with the rows concerned.
    """
    _check_call(frame, factors, response, goal)
    frame = with_numbers(frame.reset_index(drop=True), response)
    table, notes = usable(frame, response, keep_untrusted)
    table = table.assign(**{response: _numbers(table[response])})
    named = {"column": repr(response)}
    table, no_value = _without(table, table[response].isna(), NO_VALUE, **named)
    if table.empty:
        raise PhaseError(f"No trial has a value of {response!r}.")
    table, impossible = _without(table, below_zero(table, response), IMPOSSIBLE, **named)
    notes = [*said_of(frame, response), *notes, *no_value, *impossible]
    for factor in dict.fromkeys(factors):
        remedy = "write none where there is no limit, and remove or repeat the others"
        endless = by_distinct(table[factor], is_infinite, False).astype(bool)
        _refuse_infinite(table.index[endless], factor, remedy)
        is_missing = level_names(table[factor]) == MISSING
        table, no_value = _without(table, is_missing, NO_VALUE, column=repr(factor))
        if table.empty:
            raise PhaseError(f"No trial that has a response has a value of {factor!r}.")
        notes += no_value
    endless = without_end(table, list(factors), response)
    if endless.any():
        notes.append(_longer(table, endless, factors, response))
        table = table[~endless]
    if bounds := int(is_bound(table, response).sum()):
        notes.append(
            _(
                "{n:count} of {trials:count} trials were stopped by the time-out: they enter with "
                "what is to be expected of one that takes longer.",
                n=bounds,
                trials=len(table),
            )
        )
    fewer = thinned(table, list(factors))
    if len(fewer) < len(table):
        notes.append(
            _(
                "The fit takes {n:count} of {trials:count} trials, about as many of each setting, "
                "drawn evenly from the whole table: its limit is {most:count}.",
                trials=len(table),
                n=len(fewer),
                most=max(MOST_TRIALS, len(fewer)),
            )
        )
    return completed(fewer, list(factors), response), notes


NO_VALUE = N_("Left out: {n:count} of {trials:count} trials, without a value of {column}.")
IMPOSSIBLE = N_(
    "Left out: {n:count} of {trials:count} trials, with a {column} below zero, which cannot be."
)
NOT_OK = N_("Left out: {n:count} of {trials:count} trials, ended without status 'ok'.")
WARM_UP = N_("Left out: {n:count} of {trials:count} trials, for warm-up.")
NOT_TRUSTED = N_("Left out: {n:count} of {trials:count} trials, not trusted.")


def _without(
    table: pd.DataFrame, wrong: pd.Series, said: Text, **values: Any
) -> tuple[pd.DataFrame, list[Message]]:
    """A table without some of its rows, and the sentence that says so where there are any."""
    if not wrong.any():
        return table, []
    return table[~wrong], [say(said, n=int(wrong.sum()), trials=len(table), **values)]


def usable(
    table: pd.DataFrame, response: str, keep_untrusted: bool
) -> tuple[pd.DataFrame, list[Message]]:
    """Leave out what the table itself marks as not to be analysed."""
    kept, ended = _without(table, ~(is_bound(table, response) | is_well(table)), NOT_OK)
    kept, warm = _without(kept, marked(kept, "warmup", False), WARM_UP)
    distrusted = ~marked(kept, "trusted", True) & (not keep_untrusted)
    kept, doubted = _without(kept, distrusted, NOT_TRUSTED)
    notes = [*ended, *warm, *doubted]
    if kept.empty:
        raise PhaseError(f"No trial is left to analyse. {' '.join(notes) or 'The table is empty.'}")
    return kept, notes


def _longer(
    table: pd.DataFrame, endless: pd.Series, factors: Sequence[str], response: str
) -> Message:
    """What is known of levels at which the time-out stopped every trial."""
    levels = table.loc[endless, list(factors)].drop_duplicates()
    bound = table[endless].groupby(list(factors), sort=False)[response].max().min()
    ended = table[~endless & ~is_bound(table, response)]
    best = ended.groupby(list(factors))[response].median().min()
    return _(
        "At {levels} the response is longer than {bound}, {times:number} times the best or more. "
        "The time-out stopped every trial there, so the fit leaves them out.",
        levels=listing(
            [
                ", ".join(setting(level, str(name)) for name, level in row.items())
                for row in levels.to_dict("records")
            ]
        ),
        bound=in_words(float(bound), response, 0.1 * float(bound)),
        times=float(bound / best),
    )


def _check_call(frame: pd.DataFrame, factors: Sequence[str], response: str, goal: str) -> None:
    check_roles(frame, factors, response, goal)
    for factor in factors:
        if (n := frame[factor].nunique()) > MOST_LEVELS:
            raise PhaseError(
                f"{factor!r} has {n:,} levels, and a fit takes {MOST_LEVELS:,} at most. Round them "
                f"or put them into classes, for example frame[{factor!r}] = "
                f"pd.qcut(frame[{factor!r}], 20).map(lambda part: part.mid)."
            )
    for name in (column for column in frame if str(column).lower() in KNOWN_UNITS):
        if frame[name].nunique() > 1:
            units = ", ".join(sorted(map(str, frame[name].dropna().unique())))
            raise PhaseError(
                f"Column {name!r} says that the rows are in different units ({units}); convert "
                f"{response!r} to one unit first."
            )


def _numbers(column: pd.Series) -> pd.Series:
    """A response as numbers, nan where a cell is empty; refuses words and infinite ones."""
    if (kind := column.dtype.kind) in ("m", "M"):
        way = "`.dt.total_seconds()` of it" if kind == "m" else "take the difference to a start"
        raise PhaseError(f"{column.name!r} holds times of pandas: {way}.")
    values = pd.to_numeric(column, errors="coerce")
    words = column[values.isna()]
    words = words[~level_names(words).isin([MISSING, NONE])]
    if len(words):
        strange = words[~words.map(is_amount)]
        words = strange if len(strange) else words
        many = "value is no number" if len(words) == 1 else "values are not numbers"
        raise PhaseError(
            f"{len(words)} {many} in {column.name!r}, the first is {words.iloc[0]!r} in "
            f"{_rows(words.index[:1])}. A cell holds one number: give several a row each, and "
            "empty a bound such as >1. Empty cells are left out; "
            f"{option('response', 'COL')} names another column."
        )
    infinite = column.index[np.isinf(values)]
    _refuse_infinite(infinite, str(column.name), "remove or repeat these trials")
    return values


def _refuse_infinite(rows: pd.Index, column: str, remedy: str) -> None:
    if len(rows):
        raise PhaseError(f"{column!r} is infinite in {_rows(rows)}; {remedy}.")


def _rows(index: pd.Index) -> str:
    """Rows of data as a person counts them: from 1, the header left out."""
    shown = ", ".join(str(row + 1) for row in index[:5])
    return f"data row {shown}" + (f" and {len(index) - 5} more" if len(index) > 5 else "")


def places_of(at: Mapping[Level, Place] | None) -> dict[str, Place]:
    """Where single levels stand, by the level as it is written. Raises PhaseError for what is no
    place."""
    for level, place in (at or {}).items():
        if place not in ("apart", "beyond") and not is_number(place):
            raise PhaseError(
                f"at puts {level!r} at {place!r}: give a number, 'apart' for a word such as off, "
                "or 'beyond' for the largest."
            )
    return {level_name(level): place for level, place in (at or {}).items()}


def knob_scale(
    knob: pd.Series,
    scale: str | None = None,
    places: Mapping[str, Place] | None = None,
    k: int | None = None,
) -> KnobScale:
    """The scale of the knob in a column of a table. Raises PhaseError where its levels do not fit
    the one wanted."""
    if k not in (None, 1000, 1024):
        raise PhaseError(
            f"k is {k!r}. It says what the K of levels such as 64K stands for: give 1000 or 1024."
        )
    if isinstance(scale, str):
        said = f"There is no scale {scale!r}"
        check_known(PhaseError, said, scale, (RATIO, INTERVAL, WORDS), "Scales are")
    try:
        return scale_of(level_names(knob).unique(), scale, places, k)
    except ValueError as error:
        raise PhaseError(f"{knob.name!r} {error}.") from error


def on_axis(
    table: pd.DataFrame, knob: str, scale: KnobScale
) -> tuple[pd.DataFrame, np.ndarray, list[Message]]:
    """The trials whose level lies on the axis, their positions, and what is to be said of the
    others."""
    name = level_names(table[knob])
    if scale.kind == WORDS:
        raise PhaseError(
            f"Level {scale.apart[0]!r} of {knob!r} ({_rows(table.index[:1])}) is not a number. "
            "Phases need a knob on an axis: give ordered levels a number, and write 'none' for no "
            "limit."
        )
    position = name.map(scale.positions)
    apart = [level for level in scale.apart if (name == level).any()]
    below = {level: place for level, place in scale.positions.items() if level != scale.beyond}
    values = {
        "n": len(apart),
        "knob": knob,
        "levels": ", ".join(apart),
        "thousand": scale.thousand,
        "beyond": scale.beyond,
        "position": scale.positions.get(str(scale.beyond)),
        "largest": max(below, key=lambda level: below[level], default=""),
    }
    told = {
        APART: bool(apart),
        THOUSAND: bool(scale.thousand),
        ONLY_MINUS_ONE: MINUS_ONE in apart,
        NO_LIMIT_AT: scale.beyond in set(name.unique()),
    }
    sentences = [say(text, **values) for text, is_so in told.items() if is_so]
    kept = position.notna()
    return table[kept], position[kept].to_numpy(dtype=float), sentences


APART = N_(
    "The level {levels} of {knob} is estimated by itself; the phases are of the other levels.",
    "The levels {levels} of {knob} are estimated by themselves; the phases are of the others.",
)
THOUSAND = N_(
    "K in the levels of {knob} is taken as {thousand}. To change that: --k 1000 or --k 1024, in "
    "Python k=1024."
)
ONLY_MINUS_ONE = N_(
    "-1 is the only level of {knob} below zero, and taken for a word: off, no limit or automatic. "
    'If it is a number: --minus-one level, in a study at: {{"-1": -1}}, in Python at={{"-1": -1}}.'
)
NO_LIMIT_AT = N_(
    "The level '{beyond}' of {knob} is drawn at {position:count}, one median step beyond "
    "{largest}. Its position is a convention, so the elasticity of the last step is too."
)


def written_on(
    scale: KnobScale, levels: np.ndarray
) -> tuple[KnobAxis, tuple[str, ...], float | None]:
    """The axis of a knob's levels, how each is written, and the place of `none` where it is among
    them.

    Raises PhaseError where levels are one on the axis, because another lies too far away.
    """
    written = {place: text for text, place in reversed(list(scale.positions.items()))}
    beyond = scale.positions.get(str(scale.beyond))
    names = tuple(written[place] for place in levels)
    kind: Literal["interval", "ratio"] = "interval" if scale.kind == INTERVAL else "ratio"
    axis = KnobAxis(kind, float(levels[0]), float(np.ptp(levels)), scale.unit)
    same = np.flatnonzero(np.diff(axis.forward(levels)) <= 0)
    if len(same):
        raise PhaseError(
            f"Levels {names[same[0]]} and {names[same[0] + 1]} cannot be told apart on an axis "
            f"from {names[0]} to {names[-1]}; leave out what lies so far away."
        )
    return axis, names, beyond if beyond in levels else None


def _check_shape(levels: np.ndarray, values: np.ndarray, knob: str, response: str) -> None:
    if len(levels) < FEWEST_LEVELS:
        have = ", ".join(f"{level:g}" for level in levels)
        raise PhaseError(
            f"{knob!r} has {len(levels)} level{'s' if len(levels) > 1 else ''} ({have}); phases "
            f"need at least {FEWEST_LEVELS}, and 8 or more to tell them apart well."
        )
    if np.ptp(values) == 0:
        raise PhaseError(
            f"{response!r} is {values[0]:g} in every trial; a response that never changes has no "
            "phases. Check that it is the right column, with enough digits."
        )


def _doubts(
    levels: np.ndarray, level: np.ndarray, measured: np.ndarray, response: str
) -> list[Message]:
    """Sentences about few levels, few trials, and a range that no unit explains."""
    factor, single = float(measured.max() / measured.min()), int((np.bincount(level) == 1).sum())
    told = {
        FEW_LEVELS: len(levels) < 6,
        ONE_TRIAL_A_LEVEL: single == len(levels),
        SINGLE_TRIALS: 0 < single < len(levels),
        WIDE_RANGE: factor > 1e6,
    }
    values = {"levels": len(levels), "n": single, "response": response, "factor": factor}
    return [say(text, **values) for text, is_so in told.items() if is_so]


FEW_LEVELS = N_("There are only {levels} levels; joints are known to a step at best.")
SINGLE_TRIALS = N_(
    "{n} of {levels} levels has a single trial.", "{n} of {levels} levels have a single trial."
)
WIDE_RANGE = N_("{response} spans a factor of {factor:number}; check that all rows share a unit.")


def _rounds(table: pd.DataFrame) -> np.ndarray | None:
    """Place of each trial's round among the rounds, 0 ... 1, in a table without times and blocks;
    None without a column that counts rounds."""
    if {"started_at", "block"} & {*table.columns}:
        return None
    for name in table.columns[table.columns.astype(str).str.lower().isin(ROUNDS)]:
        rounds: Any = pd.to_numeric(table[name], errors="coerce")
        if rounds.notna().all() and rounds.nunique() > 1:
            return ((rounds - rounds.min()) / np.ptp(rounds)).to_numpy(float)
    return None


def _run_order(table: pd.DataFrame) -> np.ndarray | None:
    """Rank of each trial in the run, 0 ... 1, from `started_at`; None without it."""
    if "started_at" not in table:
        return None
    times: Any = pd.to_datetime(table["started_at"], utc=True, errors="coerce", format="ISO8601")
    is_told = times.notna().all() and times.nunique() >= 3
    return (times.rank().to_numpy() - 1) / (len(times) - 1) if is_told else None
