"""Causes: named patterns on stacks, and which samples match which of them.

A pattern is a glob (`*`, `?`, `[...]`) on the name or the package of a function, upper and lower case
alike; a pattern without `*` also matches a part of a path at its slashes: `pion/mdns` matches
`github.com/pion/mdns`. A stack matches a cause if any of its functions does.
"""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deadzone.errors import ProfileError
from deadzone.explaining.profiles.model import Profile
from deadzone.study.loading import yaml_in

MOST_CAUSES = 62
"""So that the set of causes a stack matches is one 64-bit number."""

OTHER = "other"
"""The name of what no cause matches."""


@dataclass(frozen=True)
class Cause:
    """A named group of stacks: those with a function that matches one of the patterns."""

    name: str
    patterns: tuple[str, ...]


def causes_from(mapping: Mapping[str, str | Sequence[str]], where: str = "causes") -> tuple[Cause, ...]:
    """Causes from names and their pattern or patterns, in order of precedence.

    where: what messages call the mapping.
    Raises ProfileError if a name or a pattern is missing, or the name is `other`.
    """
    if not isinstance(mapping, Mapping) or not mapping:
        raise ProfileError(f'{where}: write a name and a pattern a line, such as `NACK: "*nack*"`.')
    if len(mapping) > MOST_CAUSES:
        raise ProfileError(f"{where}: there are {len(mapping)} causes; {MOST_CAUSES} can be told apart.")
    return tuple(_cause(name, patterns, where) for name, patterns in mapping.items())


def read_causes(path: Path) -> tuple[Cause, ...]:
    """Causes from a YAML file: `NACK: "*nack*"` a line, or a list of patterns.

    Raises StudyError if the file cannot be read, ProfileError if it is no such mapping.
    """
    return causes_from(yaml_in(path), str(path))


def matched_causes(profile: Profile, causes: Sequence[Cause]) -> np.ndarray:
    """Which causes each sample matches, as a set: bit i is cause i. Shape (samples,), int64."""
    matched = np.zeros(profile.samples, dtype=np.int64)
    starts, samples = profile.on_function.indptr, profile.on_function.indices
    for bit, cause in enumerate(causes):
        for function in functions_of(profile, cause):
            matched[samples[starts[function] : starts[function + 1]]] |= np.int64(1 << bit)
    return matched


def functions_of(profile: Profile, cause: Cause) -> list[int]:
    """Indices of the functions that match a cause."""
    pattern = re.compile("|".join(map(_expression, cause.patterns)), re.IGNORECASE | re.DOTALL)
    packages = {package: bool(pattern.match(package)) for package in set(profile.packages)}
    return [
        index
        for index, (function, package) in enumerate(zip(profile.functions, profile.packages, strict=True))
        if packages[package] or pattern.match(function)
    ]


def _expression(glob: str) -> str:
    """A regular expression for a glob; without a star it also matches whole parts of a path."""
    expression = fnmatch.translate(glob)
    return expression if "*" in glob else f"{expression}|(?:.*/)?{re.escape(glob)}(?:[/.].*)?\\Z"


def _cause(name: object, patterns: object, where: str) -> Cause:
    several: Sequence[Any] = patterns if isinstance(patterns, list | tuple) else [patterns]
    if not isinstance(name, str) or not name.strip():
        raise ProfileError(f"{where}: the name {name!r} is no text; put it in quotes.")
    if name.lower() == OTHER:
        raise ProfileError(f"{where}: {OTHER!r} is what no cause matches; choose another name.")
    if not several or not all(isinstance(pattern, str) and pattern for pattern in several):
        raise ProfileError(f'{where}: {name} needs a pattern, such as "*{name.lower()}*", or a list of them.')
    return Cause(name, tuple(several))
