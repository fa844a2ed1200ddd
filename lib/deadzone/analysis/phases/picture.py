"""The picture of a phase model in a terminal: trials, fit, phases, tied settings and the
recommended one, in text.

The curve is drawn in Braille dots, two by four a character (U+2800). It is drawn here
and not by a library: plotext 5.3 has no ASCII frame and its functions are gone in 6.1, and rich
draws tables but no curves.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from deadzone.analysis.phases.candidates import level_text, places
from deadzone.analysis.phases.quantities import axis_label
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.formats import exact
from deadzone.language.messages import _
from deadzone.style import (
    LOG_RESPONSE_FACTOR,
    MUTED,
    OUTLIER_COLOUR,
    PHASE_STYLES,
    RECOMMENDED_COLOUR,
)
from deadzone.visible import visible

GAP = 0.1
"""Between the curve and what stands apart, and from one of those to the next: a share of the
curve's width."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """What a picture shows beside trials and curve.

    apart: the settings on no curve, rows of the recommendation's table by their places on the axis;
    none where it is over several curves, or about another quantity than the curve shows. setting:
    the place of the recommended one, None where it has none. tied: those of the settings that are
    as good. is_log_x, is_log_y: which axes read better so.
    """

    apart: dict[float, dict[Any, Any]]
    setting: float | None
    tied: list[float]
    is_log_x: bool
    is_log_y: bool


def drawing_of(model: PhaseResult, advice: Recommendation) -> Drawing:
    """What a picture of a model with this recommendation shows."""
    on_curve = places(model)
    rows = advice.table.to_dict("records") if advice.quantity == model.response else []
    apart = [
        row
        for row in rows
        if not isinstance(row["setting"], dict) and row["setting"] not in on_curve
    ]
    is_log = not model.axis.is_interval and _is_log_better(model.levels["level"].to_numpy(float))
    where = {**on_curve, **_places_off_the_curve(model, [row["setting"] for row in apart], is_log)}
    drawn = [*model.trials["corrected"], *(row["estimate"] for row in apart)]
    placed = [
        where[setting]
        for setting in advice.tied
        if not isinstance(setting, dict) and setting in where
    ]
    chosen = None if isinstance(advice.setting, dict) else where.get(advice.setting)
    return Drawing(
        {where[row["setting"]]: row for row in apart},
        chosen,
        placed,
        is_log,
        max(drawn) / min(drawn) >= LOG_RESPONSE_FACTOR,
    )


def path(
    model: PhaseResult, columns: Sequence[str], points: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The curve drawn through many points, for it is straight on the axes of the fit alone: levels,
    shape (m,), increasing and with the measured ones among them, and each of the columns of
    `model.levels` there."""
    levels = model.axis.forward(model.levels["level"].to_numpy(float))
    x = np.unique(np.concatenate([levels, np.linspace(levels[0], levels[-1], points)]))
    values = [
        np.exp(np.interp(x, levels, np.log(model.levels[name].to_numpy(float)))) for name in columns
    ]
    return model.axis.backward(x), values


def _places_off_the_curve(
    model: PhaseResult, apart: Sequence[Any], is_log: bool
) -> dict[Any, float]:
    """The places of settings on no curve: 0 before it, words behind it."""
    levels = model.levels["level"].to_numpy(float)
    ends = np.log(levels[[0, -1]]) if is_log else levels[[0, -1]]
    step = GAP * float(ends[1] - ends[0])
    before, behind = ([s for s in apart if (s == 0) is is_zero] for is_zero in (True, False))
    beside = {s: float(ends[0] - step * (1 + i)) for i, s in enumerate(before)}
    beside |= {s: float(ends[1] + step * (1 + i)) for i, s in enumerate(behind)}
    return {s: float(np.exp(x)) if is_log else x for s, x in beside.items()}


def _is_log_better(levels: np.ndarray) -> bool:
    """Whether levels, shape (n,), increasing and > 0, are spaced more evenly by ratio than by
    difference."""

    def unevenness(values: np.ndarray) -> float:
        gaps = np.diff(values)
        return float(gaps.std() / gaps.mean())

    return len(levels) > 2 and unevenness(np.log(levels)) < unevenness(levels)


LEAST_WIDTH, MOST_WIDTH = 40, 240
"""Characters: narrower, the names of phases have no room; wider, no eye follows a line."""

LEAST_HEIGHT, MOST_HEIGHT = 9, 16
"""Lines of the curve; with what stands around it, the picture leaves room on a screen of 24."""

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The dots of a Braille character by row and column."""


TRIAL, APART, OUTLIER, SETTING, TIED, UPRIGHT, GUIDE = "●◆×▲■│┊"
PHASE_MARKS = {
    "linear": "─", "dead_zone": "╱", "breakthrough": "━", "plateau": "┄", "reversal": "╲",
}  # fmt: skip


class Canvas:
    """Lines of characters, each with a colour; a wide character (UAX 11) takes two places."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self._cells = [[(" ", "")] * width for _ in range(height)]
        self._dots = np.zeros((height, width), dtype=int)

    def write(self, x: int, y: int, text: str, colour: str = "") -> None:
        """Write a text from a place on; what does not fit into the line is left out."""
        for letter in visible(text):
            if x + width_of(letter) > len(self._cells[y]):
                return
            self._cells[y][x] = (letter, colour)
            if width_of(letter) == 2:
                self._cells[y][x + 1] = ("", colour)
            x += width_of(letter)

    def dot(self, x: int, y: int, colour: str) -> None:
        """Set a dot; x counts half characters, y quarters of a line."""
        row, column = y // 4, x // 2
        self._dots[row, column] |= DOTS[y % 4][x % 2]
        self._cells[row][column] = (chr(0x2800 + int(self._dots[row, column])), colour)

    def lines(self, coloured: bool) -> Iterator[str]:
        """The lines, without spaces at their ends."""
        for row in self._cells:
            text, last = "", ""
            for letter, colour in row:
                if coloured and colour != last:
                    text += f"\x1b[38;5;{_of_256(colour)}m" if colour else "\x1b[0m"
                    last = colour
                text += letter
            yield text.rstrip() + ("\x1b[0m" if last else "")


def picture(
    model: PhaseResult,
    advice: Recommendation,
    width: int,
    *,
    coloured: bool = False,
) -> str:
    """The picture of a phase model, at most `width` characters wide.

    advice: the recommendation to mark. coloured: with colours of terminals that know 256.
    """
    width = min(max(width, LEAST_WIDTH), MOST_WIDTH)
    height = min(max(width // 7, LEAST_HEIGHT), MOST_HEIGHT)
    shown = drawing_of(model, advice)
    levels = np.array([*model.levels["level"], *shown.apart])
    spans = [row[end] for row in shown.apart.values() for end in ("low", "high")]
    values = np.concatenate([model.trials["corrected"], model.levels["fitted"], spans])
    across, up = (np.log if is_log else np.asarray for is_log in (shown.is_log_x, shown.is_log_y))
    y_ticks = _ticks(float(values.min()), float(values.max()), up, height)
    left = max(width_of(text) for text in y_ticks.values()) + 2
    canvas = Canvas(width, height + 4)
    columns, rows = width - left - 2, height

    def at(values: np.ndarray | float, scale: Callable, ends: np.ndarray, size: int) -> np.ndarray:
        low, high = scale(ends.min()), scale(ends.max())
        return np.rint(
            (scale(np.asarray(values)) - low) / ((high - low) or 1.0) * (size - 1)
        ).astype(int)

    def x_of(level: np.ndarray | float, parts: int = 1) -> Any:
        return (left + 1) * parts + at(level, across, levels, columns * parts)

    def y_of(value: np.ndarray | float, parts: int = 1) -> Any:
        return (rows + 1) * parts - 1 - at(value, up, values, rows * parts)

    for row, text in y_ticks.items():
        canvas.write(left - 1 - width_of(text), row + 1, text, MUTED)
    for row in range(1, rows + 1):
        canvas.write(left, row, UPRIGHT, MUTED)
    canvas.write(left, rows + 1, "└" + "─" * (columns + 1), MUTED)
    if (setting := shown.setting) is not None:
        for row in range(1, rows + 1):
            canvas.write(x_of(setting), row, GUIDE, RECOMMENDED_COLOUR)
    _draw_phases(canvas, model, x_of)
    _draw_fit(canvas, model, x_of, y_of)
    for trial in model.trials.to_dict("records"):
        mark, colour = (OUTLIER, OUTLIER_COLOUR) if trial["outlier"] else (TRIAL, "")
        canvas.write(x_of(trial["level"]), y_of(trial["corrected"]), mark, colour)
    for place, alone in shown.apart.items():
        for line in range(y_of(alone["high"]), y_of(alone["low"]) + 1):
            canvas.write(x_of(place), line, UPRIGHT)
        canvas.write(x_of(place), y_of(alone["estimate"]), APART)
    texts = {place: str(row["setting"]) for place, row in shown.apart.items()}
    _draw_levels(canvas, model, x_of, rows + 2, texts, [] if setting is None else [setting])
    for place in shown.tied:
        canvas.write(x_of(place), rows + 3, TIED, RECOMMENDED_COLOUR)
    if setting is not None:
        canvas.write(x_of(setting), rows + 3, SETTING, RECOMMENDED_COLOUR)
    legend = _(
        "{trial} trial   {tied} {alike}   {setting} recommended",
        alike=advice.said_of_tied,
        trial=TRIAL,
        tied=TIED,
        setting=SETTING,
    )
    if shown.apart:
        legend = _("{legend}   {apart} apart", legend=legend, apart=APART)
    title = _(
        "{response} over {knob}",
        response=axis_label(model.response, of_cells=advice.unit),
        knob=axis_label(model.knob),
    )
    indent = " " * max(min(left + 1, width - width_of(legend)), 0)
    below = textwrap.wrap(legend, width, initial_indent=indent, subsequent_indent=indent)
    return "\n".join([*textwrap.wrap(visible(title), width), *canvas.lines(coloured), *below])


def width_of(text: str) -> int:
    """How many places of a terminal a text takes; Chinese, Japanese and Korean letters take two
    (UAX 11)."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _draw_phases(canvas: Canvas, model: PhaseResult, x_of: Callable[[float], int]) -> None:
    """A bar along the top: each phase in its own pattern and colour, with its name where there is
    room."""
    for phase in model.phases.to_dict("records"):
        style = PHASE_STYLES[phase["label"]]
        start, stop = x_of(phase["start"]), x_of(phase["stop"])
        canvas.write(start, 0, PHASE_MARKS[style.label] * (stop - start + 1), style.colour)
        canvas.write(start, 0, UPRIGHT, style.colour)
        name = f" {style.name} "
        if (room := stop - start - 1 - width_of(name)) >= 0:
            canvas.write(start + 1 + room // 2, 0, name, style.colour)
    canvas.write(x_of(float(model.levels["level"].max())), 0, UPRIGHT, style.colour)


def _draw_fit(canvas: Canvas, model: PhaseResult, x_of: Callable, y_of: Callable) -> None:
    """The fitted curve, straight on the axes of the fit, in the colours of its phases."""
    colours = [PHASE_STYLES[label].colour for label in model.phases["label"]]
    at, (values,) = path(model, ("fitted",), 8 * MOST_WIDTH)
    starts = model.phases["start"].to_numpy(float)
    phases = np.maximum(np.searchsorted(starts, at + 1e-9 * np.abs(at), side="right") - 1, 0)
    for x, y, phase in zip(x_of(at, 2), y_of(values, 4), phases, strict=True):
        canvas.dot(x, y, colours[phase])


def _draw_levels(
    canvas: Canvas,
    model: PhaseResult,
    x_of: Callable[[float], int],
    row: int,
    apart: Mapping[float, str],
    chosen: Sequence[float],
) -> None:
    """The levels below the axis, as far as there is room: those beside it, the recommended one and
    the ends of phases first.

    apart: the levels beside the curve by their places.
    """
    levels = [float(level) for level in model.levels["level"]]
    wanted = [*apart, *chosen, levels[0], levels[-1], *map(float, model.phases["start"]), *levels]
    taken: list[tuple[int, int]] = []
    for level in dict.fromkeys(wanted):
        text = apart.get(level) or level_text(model, level)
        start = max(min(x_of(level) - width_of(text) // 2, canvas.width - width_of(text)), 0)
        if all(start > stop or start + width_of(text) < begin for begin, stop in taken):
            taken.append((start, start + width_of(text)))
            canvas.write(start, row, text)


def _ticks(low: float, high: float, scale: Callable, height: int) -> dict[int, str]:
    """Values beside the axis, by line from the top: at both ends and between, with as many digits
    as tell them apart."""
    back = np.exp if scale is np.log else np.asarray
    rows = np.unique(np.linspace(0, height - 1, 4).round().astype(int))
    values = back(scale(low) + (1 - rows / (height - 1)) * (scale(high) - scale(low)))
    for digits in (3, 4, 5, 6):
        texts = [exact(float(f"{value:.{digits}g}")) for value in values]
        if len({*texts}) == len(texts):
            break
    if len({*texts}) == 1:
        return {int(rows[-1]): texts[-1]}
    return {int(row): text for row, text in zip(rows, texts, strict=True)}


def _of_256(colour: str) -> int:
    """The nearest colour of the 6 x 6 x 6 cube that terminals with 256 colours have."""
    red, green, blue = (round(int(colour[i : i + 2], 16) / 255 * 5) for i in (1, 3, 5))
    return 16 + 36 * red + 6 * green + blue
