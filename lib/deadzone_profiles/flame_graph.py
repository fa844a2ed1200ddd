"""The differential flame graph: one self-contained SVG, readable as a picture, with zoom where
scripts run.

After Gregg (2016, "The Flame Graph"; differential ones show a change by colour). Here a path is as
wide as the larger of its amounts before and after, so that code that vanished stays visible.

The stacks of two sides merged into one tree, for flame graphs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from deadzone.language.rendering import rendered
from deadzone.plugins import _
from deadzone.style import INK, LESS_COLOUR, MORE_COLOUR, MUTED
from deadzone_profiles.comparison import ProfileComparison, without_annotations
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
UNCHANGED = "#EDEFF2"


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


@dataclass
class _Branch:
    """Everything on one path. amounts: before and after. callees: by name."""

    amounts: list[float] = field(default_factory=lambda: [0.0, 0.0])
    callees: dict[str, Self] = field(default_factory=dict)

    @cached_property
    def width(self) -> float:
        """The larger amount, or what the callees need."""
        return max(*self.amounts, sum(branch.width for branch in self.callees.values()))

    def placed(self, name: str, level: int, left: float) -> Iterator[FlameNode]:
        """It and its callees, which stand side by side from its left edge in alphabetical order."""
        yield FlameNode(name, level, left, self.width, *self.amounts)
        for callee, branch in sorted(self.callees.items()):
            yield from branch.placed(callee, level + 1, left)
            left += branch.width

    def prune(self, smallest: float) -> None:
        """Leave out callees that are too narrow to be seen."""
        wide = {n: branch for n, branch in self.callees.items() if max(branch.amounts) >= smallest}
        self.callees = wide
        for branch in wide.values():
            branch.prune(smallest)


def flame_tree(pair: Pair) -> tuple[FlameNode, ...]:
    """All nodes that are wide enough to be seen, callers before callees.

    A path is as wide as the larger of its amounts before and after, so that what vanished and what
    is new can both be seen; a node is at least as wide as the paths above it together.
    """
    root = _Branch()
    for column, side in enumerate((pair.before, pair.after)):
        for profile in map(without_annotations, side.profiles):
            amounts = np.abs(profile.numbers(side.value)) * float(side.factor) / len(side.profiles)
            for stack, amount in zip(profile.stacks, amounts.tolist(), strict=True):
                root.amounts[column] += amount
                branch = root
                for name in stack[:DEEPEST]:
                    branch = branch.callees.setdefault(name, _Branch())
                    branch.amounts[column] += amount
    root.prune(max(root.amounts) * SMALLEST_SHARE)
    return tuple(root.placed(ALL, 0, 0.0))


def flame_graph(comparison: ProfileComparison) -> str:
    """An SVG document of both sides' stacks, callers below, coloured by what changed;
    its script zooms into a box on a click."""
    nodes = flame_tree(comparison.pair)
    whole = nodes[0].width or 1.0
    depth = max(node.level for node in nodes) + 1
    return rendered(
        TEMPLATE,
        hundredths,
        width=f"{WIDTH:g}",
        height=HEAD + depth * ROW + 2 * MARGIN,
        margin=MARGIN,
        row=ROW,
        ink=INK,
        muted=MUTED,
        title=change_of_total(comparison),
        how_to_read=_("width: the larger of before and after; callers below, callees above"),
        headline=change_of_total(comparison, with_interval=False),
        legend=[
            (LESS_COLOUR, _("less after (-)")),
            (UNCHANGED, _("as before (=)")),
            (MORE_COLOUR, _("more after (+)")),
        ],
        boxes=[
            _box(node, (WIDTH - 2 * MARGIN) / whole, depth, comparison.pair.unit) for node in nodes
        ],
        script=SCRIPT.read_text(encoding="utf-8"),
    )


def hundredths(value: float) -> str:
    """A length on the drawing."""
    return f"{value:.2f}"


def _box(node: FlameNode, scale: float, depth: int, unit: str) -> dict[str, Any]:
    """A box with its label: the sign of the change, so that colour is not needed to read it, and
    the function without its path; what is longer than the box is cut off."""
    colour, is_light = _colour(node)
    sign = "=" if node.before == node.after else "-" if node.after < node.before else "+"
    short = node.name if " (" in node.name else node.name.rpartition("/")[2]
    return {
        "x": MARGIN + node.left * scale,
        "y": HEAD + (depth - 1 - node.level) * ROW + MARGIN,
        "width": node.width * scale,
        "level": node.level,
        "label": f"{sign} {short or node.name}",
        "tip": _tooltip(node, unit),
        "colour": colour,
        "ink": INK if is_light else "white",
    }


def _tooltip(node: FlameNode, unit: str) -> str:
    change = node.after - node.before
    share = f", {change / node.before:+.1%}" if node.before else f", {_('new')}"
    before, after = (readable(amount, unit) for amount in (node.before, node.after))
    return _(
        "{name}: {before} before, {after} after ({change}{share})",
        name=node.name,
        before=before,
        after=after,
        change=readable(change, unit, signed=True),
        share=share,
    )


def _colour(node: FlameNode) -> tuple[str, bool]:
    """Between the colour of no change and that of less or more, which what is new or vanished has;
    and whether dark letters read well on it."""
    larger = max(node.before, node.after)
    change = (node.after - node.before) / larger if larger else 0.0
    target = LESS_COLOUR if change < 0 else MORE_COLOUR
    ends = (bytes.fromhex(colour.removeprefix("#")) for colour in (UNCHANGED, target))
    mixed = [round(a + (b - a) * abs(change)) for a, b in zip(*ends, strict=True)]
    luminance = (0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2]) / 255
    return f"#{bytes(mixed).hex().upper()}", luminance > 0.6
