"""The stacks of two sides merged into one tree, for flame graphs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

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


def flame_tree(pair: Pair) -> tuple[Node, ...]:
    """All nodes that are wide enough to be seen, callers before callees.

    A path is as wide as the larger of its amounts before and after, so that what vanished and what is new
    can both be seen; a node is at least as wide as the paths above it together.
    """
    stacks = _gather(pair)
    return tuple(_placed(_levels(stacks), stacks.names))


class _Stacks(NamedTuple):
    """Samples of all profiles: stacks of indices into names, and amounts before and after, shape (samples, 2)."""

    names: tuple[str, ...]
    frames: np.ndarray
    offsets: np.ndarray
    amounts: np.ndarray


def _gather(pair: Pair) -> _Stacks:
    names: dict[str, int] = {}
    frames, lengths, amounts = [], [], []
    for column, side in enumerate((pair.before, pair.after)):
        for profile, value, factor in side.parts:
            place = [names.setdefault(name, len(names)) for name in profile.functions]
            frames.append(np.array(place, dtype=np.int64)[profile.frames])
            lengths.append(np.diff(profile.offsets))
            amounts.append(np.zeros((profile.samples, 2)))
            amounts[-1][:, column] = np.abs(profile.numbers(value)) * float(factor) / len(side.profiles)
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return _Stacks(tuple(names), np.concatenate(frames), offsets, np.concatenate(amounts))


class _Level(NamedTuple):
    """The nodes of one level. parent: index in the level below, name: of the function, shape (nodes,); amounts as above."""

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


def _placed(levels: list[_Level], names: tuple[str, ...]) -> Iterator[Node]:
    left = np.zeros(1)
    for depth, (level, width) in enumerate(zip(levels, _widths(levels), strict=True)):
        left = _lefts(level, width, left, names) if depth else left
        for place, amounts in enumerate(level.amounts.tolist()):
            name = names[level.name[place]] if depth else ALL
            yield Node(name, depth, float(left[place]), float(width[place]), *amounts)


def _widths(levels: list[_Level]) -> list[np.ndarray]:
    """From the leaves down: the larger amount, or what the callees need."""
    widths = [level.amounts.max(axis=1) for level in levels]
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
