"""The stacks of two sides merged into one tree, for flame graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadzone.explaining.profiles.pairing import Pair

SMALLEST_SHARE = 0.001
"""Nodes narrower than this share of the whole cannot be seen and are left out."""

DEEPEST = 200
"""Levels drawn; deeper stacks are cut off above."""

ALL = "all"


@dataclass(frozen=True)
class Node:
    """A function called along one path. before, after: amounts of everything on that path and above it.

    width: at least both; left: where it begins, in the unit of the amounts. level: 0 is the whole.
    """

    name: str
    level: int
    left: float
    width: float
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class _Stacks:
    """Samples of all profiles: stacks of indices into names, and amounts. after: whether of that side."""

    names: tuple[str, ...]
    frames: np.ndarray
    offsets: np.ndarray
    amounts: np.ndarray
    after: np.ndarray


def flame_tree(pair: Pair) -> tuple[Node, ...]:
    """All nodes that are wide enough to be seen, callers before callees.

    A path is as wide as the larger of its amounts before and after, so that what vanished and what is new
    can both be seen; a node is at least as wide as the paths above it together.
    """
    stacks = _gather(pair)
    whole = max(*_sums(stacks.amounts, stacks.after))
    levels = _levels(stacks, whole * SMALLEST_SHARE)
    return tuple(_placed(levels, stacks.names))


def _gather(pair: Pair) -> _Stacks:
    names: dict[str, int] = {}
    frames, lengths, amounts, after = [], [], [], []
    for is_after, side in enumerate((pair.before, pair.after)):
        for profile, value, factor in side.parts:
            place = np.array(
                [names.setdefault(name, len(names)) for name in profile.functions], dtype=np.int64
            )
            frames.append(place[profile.frames] if len(place) else np.zeros(0, dtype=np.int64))
            lengths.append(np.diff(profile.offsets))
            amounts.append(np.abs(profile.numbers(value)) * float(factor) / len(side.profiles))
            after.append(np.full(profile.samples, bool(is_after)))
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return _Stacks(
        tuple(names), np.concatenate(frames), offsets, np.concatenate(amounts), np.concatenate(after)
    )


@dataclass(frozen=True, eq=False)
class _Level:
    """The nodes of one level. parent: index in the level below, name: of the function; amounts; shape (nodes,)."""

    parent: np.ndarray
    name: np.ndarray
    before: np.ndarray
    after: np.ndarray


def _levels(stacks: _Stacks, smallest: float) -> list[_Level]:
    """Level by level from the outermost caller; samples of nodes too narrow go no further."""
    root = np.array(_sums(stacks.amounts, stacks.after))
    levels = [_Level(np.zeros(1, dtype=np.int64), np.full(1, -1), root[:1], root[1:])]
    sample = np.flatnonzero(stacks.amounts)
    node = np.zeros(len(sample), dtype=np.int64)
    for depth in range(1, DEEPEST + 1):
        at = stacks.offsets[sample + 1] - depth
        deep = at >= stacks.offsets[sample]
        sample, node, at = sample[deep], node[deep], at[deep]
        if not len(sample):
            break
        keys, index = np.unique(node * len(stacks.names) + stacks.frames[at], return_inverse=True)
        weight, after = stacks.amounts[sample], stacks.after[sample]
        sums = [np.bincount(index, np.where(mine, weight, 0.0), len(keys)) for mine in (~after, after)]
        wide = np.maximum(*sums) >= smallest
        levels.append(
            _Level(
                keys[wide] // len(stacks.names), keys[wide] % len(stacks.names), sums[0][wide], sums[1][wide]
            )
        )
        kept = wide[index]
        sample, node = sample[kept], (np.cumsum(wide) - 1)[index[kept]]
    return levels


def _placed(levels: list[_Level], names: tuple[str, ...]) -> list[Node]:
    widths = _widths(levels)
    left, nodes = np.zeros(1), []
    for depth, (level, width) in enumerate(zip(levels, widths, strict=True)):
        if depth:
            left = _lefts(level, width, left, names)
        for place in range(len(width)):
            name = names[level.name[place]] if depth else ALL
            amounts = float(level.before[place]), float(level.after[place])
            nodes.append(Node(name, depth, float(left[place]), float(width[place]), *amounts))
    return nodes


def _widths(levels: list[_Level]) -> list[np.ndarray]:
    """From the leaves down: the larger amount, or what the callees need."""
    widths = [np.maximum(level.before, level.after) for level in levels]
    for depth in range(len(levels) - 1, 0, -1):
        needed = np.bincount(levels[depth].parent, widths[depth], len(widths[depth - 1]))
        widths[depth - 1] = np.maximum(widths[depth - 1], needed)
    return widths


def _lefts(level: _Level, width: np.ndarray, below: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Callees side by side from the left edge of their caller, in alphabetical order."""
    order = sorted(range(len(width)), key=lambda place: (level.parent[place], names[level.name[place]]))
    next_left, left = below.copy(), np.zeros(len(width))
    for place in order:
        left[place] = next_left[level.parent[place]]
        next_left[level.parent[place]] += width[place]
    return left


def _sums(amounts: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    return float(amounts[~after].sum()), float(amounts[after].sum())
