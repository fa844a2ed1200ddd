"""A profile: stacks of functions, and what was counted on each of them.

The package a function belongs to is read from its name. Go writes `path/to/package.(*Type).Method`,
with the dots of the last path element as `%2e`; C++ and Rust write `namespace::function`; py-spy
writes `function (path/file.py:12)`, and Node alike; perf marks the kernel's functions with `_[k]`;
async-profiler writes `java/util/HashMap.get`; GCC adds `.constprop.0` and the like to parts of a
function.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from deadzone.errors import ProfileError
from deadzone.plugins import check_known


@dataclass(frozen=True)
class ValueType:
    """What a number of a profile is: `cpu` in `nanoseconds`, `inuse_space` in `bytes`, ..."""

    name: str
    unit: str


SAMPLES = ValueType("samples", "count")
WEIGHTS = ValueType("weights", "count")
"""What the numbers of folded stacks are, which do not say it."""


NO_STACK = "[no stack]"
"""Of a sample in which the profiler saw no function: py-spy writes its count alone."""

UNNAMED = re.compile(r"\[(?!no stack\]).*\]|0x[0-9a-fA-F]+|unknown")
"""How code without a name is called: after its binary, or as profilers write an address that they
found no name for."""


@dataclass(frozen=True, eq=False)
class Profile:
    """The samples of one profile.

    source: where it was read from. value_types: one for each column of `values`. values: shape
    (samples, value types), int64. offsets: shape (samples + 1,); the stack of sample i is
    `frames[offsets[i]:offsets[i + 1]]`. frames: shape (entries,), int32, index into `functions`;
    the leaf first, the outermost caller last; inlined functions are frames of their own. functions:
    distinct names. packages: of each function (see `naming`). period, period_type: one sample is
    taken each `period` of this (10,000,000 ns of CPU), 0 if not stated. duration_ns: how long was
    profiled, 0 for snapshots or if not stated. default_value: the name of the value a reader wants
    first.
    """

    source: str
    value_types: tuple[ValueType, ...]
    values: np.ndarray
    offsets: np.ndarray
    frames: np.ndarray
    functions: tuple[str, ...]
    packages: tuple[str, ...]
    period: int = 0
    period_type: ValueType | None = None
    duration_ns: int = 0
    default_value: str = ""

    @property
    def samples(self) -> int:
        """How many samples there are; a sample is a stack with its numbers."""
        return len(self.values)

    def value_index(self, name: str | None = None) -> int:
        """The column of a value, by default of the one a reader wants first.

        Raises ProfileError if the profile has no such value.
        """
        names = [kind.name for kind in self.value_types]
        if name is None:
            return (
                names.index(self.default_value) if self.default_value in names else len(names) - 1
            )
        sentence = f"{self.source}: the profile has no value {name!r}, only {', '.join(names)}"
        check_known(ProfileError, sentence, name, names)
        return names.index(name)

    def value_type(self, name: str | None = None) -> ValueType:
        """The name and unit of a value. Raises ProfileError if the profile has no such value."""
        return self.value_types[self.value_index(name)]

    def numbers(self, name: str | None = None) -> np.ndarray:
        """One value of every sample. Shape (samples,), int64, in its own unit.

        Raises ProfileError if the profile has no such value.
        """
        return np.asarray(self.values[:, self.value_index(name)])

    def total(self, name: str | None = None) -> int:
        """The sum of a value over all samples. Raises ProfileError if the profile has no such
        value."""
        return int(self.numbers(name).sum())

    @property
    def stacks(self) -> Iterator[list[str]]:
        """The functions of every sample, the outermost caller first."""
        names = np.array(self.functions, dtype=object)[self.frames]
        ends = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        return (names[start:stop][::-1].tolist() for start, stop in ends)

    @cached_property
    def leaves(self) -> np.ndarray:
        """The function in which each sample was taken; -1 where a sample has no stack. Shape
        (samples,)."""
        first = np.full(self.samples, -1, dtype=np.int32)
        with_stack = self.offsets[1:] > self.offsets[:-1]
        first[with_stack] = self.frames[self.offsets[:-1][with_stack]]
        return first

    @cached_property
    def on_function(self) -> Any:
        """Which samples each function is on, by counting, in time linear in the entries.

        A sparse matrix of columns, shape (samples, functions), 1 where a function is anywhere on a
        sample's stack.
        """
        ones = np.ones(len(self.frames), dtype=np.int8)
        shape = (self.samples, len(self.functions))
        matrix: Any = sparse.csr_matrix((ones, self.frames, self.offsets), shape=shape)
        once = matrix.tocsc()
        once.sum_duplicates()
        once.data[:] = 1
        return once


KERNEL = "(kernel)"
NO_PACKAGE = "(no package)"

SOURCE_FILE = re.compile(r"[ (](?P<file>[^()\s]+\.(?:pyx?|[mc]?js|ts|rb|php))(?::\d+)*\)?$")
COMPILER_SUFFIX = re.compile(r"(?:\.(?:constprop|isra|part|cold|lto_priv|llvm)(?:\.\d+)*)+$")
KERNEL_MARK = "_[k]"

ANNOTATION = re.compile(
    r"(?<=Lambda)(?:[$/]\d+)?(?:/[0-9a-fA-F]{6,}|[/.]0x[0-9a-fA-F]{6,})?"
    r"|(?:\+0x[0-9a-fA-F]+)?(?:_\[[0-9jik]\])?$"
)
"""What profilers add to a name that differs from run to run: how perf and async-profiler say that a
function was compiled, inlined or the kernel's, an address inside it, the number of a lambda."""


def package_of(function: str, binary: str = "") -> str:
    """The package, namespace, file or class of a function.

    binary: name of the program or library the code is in, used where the name says nothing.
    """
    if function.startswith("[") and function.endswith("]"):
        return function
    if function.endswith(KERNEL_MARK):
        return KERNEL
    if source := SOURCE_FILE.search(function):
        return source["file"]
    own = COMPILER_SUFFIX.sub("", ANNOTATION.sub("", function))
    plain = re.split(r"[\[(<]", own, maxsplit=1)[0]
    if "::" in plain:  # C++ has the type that a template returns before it
        return plain.split("::", 1)[0].rpartition(" ")[2] or NO_PACKAGE
    folder, slash, last = plain.rpartition("/")
    name, dot, _ = last.partition(".")
    if dot and name:
        return folder + slash + name.replace("%2e", ".")
    return f"[{binary}]" if binary else NO_PACKAGE
