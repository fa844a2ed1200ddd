"""The differential flame graph: one self-contained SVG, readable as a picture, with zoom where
scripts run.

After Gregg (2016, "The Flame Graph"; differential ones show a change by colour). Here a path is as
wide as the larger of its amounts before and after, so that code that vanished stays visible.

The stacks of two sides merged into one tree, for flame graphs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deadzone.language.rendering import rendered
from deadzone.plugins import _
from deadzone.style import INK, LESS_COLOUR, MORE_COLOUR, MUTED
from deadzone_profiles.comparison import ProfileComparison
from deadzone_profiles.pairing import Pair
from deadzone_profiles.tables import change_of_total
from deadzone_profiles.units import readable

SMALLEST_SHARE = 0.001
"""Nodes narrower than this share of the whole cannot be seen and are left out."""

DEEPEST = 200
"""Levels drawn; deeper stacks are cut off above."""

ALL = "all"

TEMPLATE, SCRIPT = (Path(__file__).with_suffix(suffix) for suffix in (".svg.j2", ".js"))
WIDTH = 1200.0
ROW = 18
MARGIN = 12
HEAD = 80
LETTER = 6.6
"""Width of a letter of the font at its size: what fits into a box is cut to it."""

TITLE_LETTER = 7.9
FEWEST_LETTERS = 3
UNCHANGED = "#EDEFF2"
FULL_COLOUR = 1.0
"""A box has its full colour when this share of its larger amount changed: when it is new or
vanished."""


@dataclass(frozen=True)
class FlameNode:
    """A function called along one path. before, after: amounts of everything on that path and above
    it.

    width: at least both; left: where it begins, in the unit of the amounts. level: 0 is the whole.
    """

    name: str
    level: int
    left: float
    width: float
    before: float
    after: float


def flame_tree(pair: Pair) -> tuple[FlameNode, ...]:
    """All nodes that are wide enough to be seen, callers before callees.

    A path is as wide as the larger of its amounts before and after, so that what vanished and what
    is new can both be seen; a node is at least as wide as the paths above it together.
    """
    stacks = _gather(pair)
    return tuple(_placed(_levels(stacks), stacks.names))


class _Stacks(NamedTuple):
    """Samples of all profiles: stacks of indices into names, and amounts before and after, shape
    (samples, 2)."""

    names: tuple[str, ...]
    frames: np.ndarray
    offsets: np.ndarray
    amounts: np.ndarray


def _gather(pair: Pair) -> _Stacks:
    names: dict[str, int] = {}
    frames, lengths, amounts = [], [], []
    for column, side in enumerate((pair.before, pair.after)):
        for profile, factor in side.parts:
            place = [names.setdefault(name, len(names)) for name in profile.functions]
            frames.append(np.array(place, dtype=np.int64)[profile.frames])
            lengths.append(np.diff(profile.offsets))
            amounts.append(np.zeros((profile.samples, 2)))
            amounts[-1][:, column] = (
                np.abs(profile.numbers(side.value)) * float(factor) / len(side.profiles)
            )
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return _Stacks(tuple(names), np.concatenate(frames), offsets, np.concatenate(amounts))


class _Level(NamedTuple):
    """The nodes of one level. parent: index in the level below, name: of the function, shape
    (nodes,); amounts as above."""

    parent: np.ndarray
    name: np.ndarray
    amounts: np.ndarray


def _levels(stacks: _Stacks) -> list[_Level]:
    """Level by level from the outermost caller; samples of nodes too narrow go no further."""
    root = stacks.amounts.sum(axis=0, keepdims=True)
    levels = [_Level(np.zeros(1, dtype=np.int64), np.full(1, -1), root)]
    sample = np.flatnonzero(stacks.amounts.any(axis=1))
    node = np.zeros(len(sample), dtype=np.int64)
    for depth in range(1, DEEPEST + 1):
        at = stacks.offsets[sample + 1] - depth
        deep = at >= stacks.offsets[sample]
        sample, node, at = sample[deep], node[deep], at[deep]
        if not len(sample):
            break
        keys, index = np.unique(node * len(stacks.names) + stacks.frames[at], return_inverse=True)
        columns = stacks.amounts[sample].T
        sums = np.stack([np.bincount(index, column, len(keys)) for column in columns], axis=1)
        wide = sums.max(axis=1) >= root.max() * SMALLEST_SHARE
        parent, name = np.divmod(keys[wide], len(stacks.names))
        levels.append(_Level(parent, name, sums[wide]))
        kept = wide[index]
        sample, node = sample[kept], (np.cumsum(wide) - 1)[index[kept]]
    return levels


def _placed(levels: list[_Level], names: tuple[str, ...]) -> Iterator[FlameNode]:
    left = np.zeros(1)
    for depth, (level, width) in enumerate(zip(levels, _widths(levels), strict=True)):
        left = _lefts(level, width, left, names) if depth else left
        for place, amounts in enumerate(level.amounts.tolist()):
            name = names[level.name[place]] if depth else ALL
            yield FlameNode(name, depth, float(left[place]), float(width[place]), *amounts)


def _widths(levels: list[_Level]) -> list[np.ndarray]:
    """From the leaves down: the larger amount, or what the callees need."""
    widths = [level.amounts.max(axis=1) for level in levels]
    for depth in range(len(levels) - 1, 0, -1):
        needed = np.bincount(levels[depth].parent, widths[depth], len(widths[depth - 1]))
        widths[depth - 1] = np.maximum(widths[depth - 1], needed)
    return widths


def _lefts(
    level: _Level, width: np.ndarray, below: np.ndarray, names: tuple[str, ...]
) -> np.ndarray:
    """Callees side by side from the left edge of their caller, in alphabetical order."""
    order = sorted(
        range(len(width)), key=lambda place: (level.parent[place], names[level.name[place]])
    )
    next_left, left = below.copy(), np.zeros(len(width))
    for place in order:
        left[place] = next_left[level.parent[place]]
        next_left[level.parent[place]] += width[place]
    return left


def flame_graph(comparison: ProfileComparison) -> str:
    """An SVG document of both sides' stacks, callers below, coloured by what changed;
    its script zooms into a box on a click."""
    nodes = flame_tree(comparison.pair)
    whole = nodes[0].width or 1.0
    depth = max(node.level for node in nodes) + 1
    height = HEAD + depth * ROW + 2 * MARGIN
    headline, unit = change_of_total(comparison, with_interval=False), comparison.pair.unit
    return rendered(
        TEMPLATE,
        hundredths,
        width=f"{WIDTH:g}",
        height=height,
        margin=MARGIN,
        row=ROW,
        ink=INK,
        muted=MUTED,
        title=change_of_total(comparison),
        how_to_read=_("width: the larger of before and after; callers below, callees above"),
        headline=_fitting(headline, headline, WIDTH - 2 * MARGIN, TITLE_LETTER),
        legend=[
            (LESS_COLOUR, _("less after (-)")),
            (UNCHANGED, _("as before (=)")),
            (MORE_COLOUR, _("more after (+)")),
        ],
        boxes=[_box(node, (WIDTH - 2 * MARGIN) / whole, depth, unit) for node in nodes],
        script=SCRIPT.read_text(encoding="utf-8"),
    )


def hundredths(value: float) -> str:
    """A length on the drawing."""
    return f"{value:.2f}"


def _box(node: FlameNode, scale: float, depth: int, unit: str) -> dict[str, Any]:
    width, (full, short), (colour, is_light) = node.width * scale, _labels(node), _colour(node)
    x, y = MARGIN + node.left * scale, HEAD + (depth - 1 - node.level) * ROW + MARGIN
    place = {"x": x, "y": y, "width": width, "level": node.level}
    words = {
        "full": full,
        "short": short,
        "shown": _fitting(full, short, width),
        "tip": _tooltip(node, unit),
    }
    return {**place, **words, "colour": colour, "ink": INK if is_light else "white"}


def _labels(node: FlameNode) -> tuple[str, str]:
    """The sign of the change, so that colour is not needed to read it, with the function: whole,
    and without its path."""
    sign = "=" if node.before == node.after else "-" if node.after < node.before else "+"
    short = node.name if " (" in node.name else node.name.rpartition("/")[2]
    return f"{sign} {node.name}", f"{sign} {short or node.name}"


def _fitting(full: str, short: str, width: float, letter: float = LETTER) -> str:
    """As much of a label as fits: all of it, else without the path, else its beginning."""
    letters = int((width - 6) / letter)
    if letters < FEWEST_LETTERS:
        return ""
    text = full if len(full) <= letters else short
    return text if len(text) <= letters else text[: letters - 2] + ".."


def _tooltip(node: FlameNode, unit: str) -> str:
    change = node.after - node.before
    share = f", {change / node.before:+.1%}" if node.before else f", {_('new')}"
    before, after = (readable(amount, unit) for amount in (node.before, node.after))
    signed = readable(change, unit, signed=True)
    return _(
        "{name}: {before} before, {after} after ({change}{share})",
        name=node.name,
        before=before,
        after=after,
        change=signed,
        share=share,
    )


def _colour(node: FlameNode) -> tuple[str, bool]:
    """Between the colour of no change and that of less or more; and whether dark letters read well
    on it."""
    larger = max(node.before, node.after)
    change = (node.after - node.before) / larger if larger else 0.0
    strength = min(abs(change) / FULL_COLOUR, 1.0)
    target = LESS_COLOUR if change < 0 else MORE_COLOUR
    ends = (bytes.fromhex(colour.removeprefix("#")) for colour in (UNCHANGED, target))
    mixed = [round(a + (b - a) * strength) for a, b in zip(*ends, strict=True)]
    luminance = (0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2]) / 255
    return f"#{bytes(mixed).hex().upper()}", luminance > 0.6
