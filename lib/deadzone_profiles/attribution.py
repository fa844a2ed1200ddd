"""How much of a change each cause is answerable for, without counting anything twice.

A stack can match several causes: retransmission writes to a socket, so its system calls are both.
Adding the cumulative changes of causes counts such samples several times. Here each sample belongs
to one cause (the first that matches), or is shared equally among those it matches. Equal shares are
the Shapley values (1953) of the game in which a set of causes is worth the samples that any of them
matches. Either way the causes and `other` add up to the total change exactly, because they are sums
of whole numbers.

Ablations, one option switched at a time, stand beside what the stacks say of it. Stacks book what
they see: memory freed by dropping a buffer saves garbage collection, which stands on other stacks.
An ablation measures the whole effect of an option. What the single effects leave of the total
change is the interaction: options that spare each other's work add up to more or less than
together.

Causes are named patterns on stacks. A pattern is a glob (`*`, `?`, `[...]`) on the name or the
package of a function, upper and lower case alike; a pattern without `*` also matches a part of a
path at its slashes: `pion/mdns` matches `github.com/pion/mdns`. A stack matches a cause if any of
its functions does.
"""

import fnmatch
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import ProfileError
from deadzone.language.messages import N_, say
from deadzone.plugins import _, check_known
from deadzone.study.loading import yaml_in
from deadzone_profiles.estimates import Amounts, estimate, total_amounts
from deadzone_profiles.model import Profile
from deadzone_profiles.pairing import Basis, Pair, ProfileSide, pair_up
from deadzone_profiles.units import readable

RULE_TEXTS = {
    "first": N_("Each sample belongs to the first cause in the list that matches its stack."),
    "shapley": N_(
        "A sample that matches several causes is shared equally among them (Shapley values)."
    ),
}


MOST_CAUSES = 62
"""So that the set of causes a stack matches is one 64-bit number."""

OTHER = "other"
"""The name of what no cause matches."""


@dataclass(frozen=True)
class Cause:
    """A named group of stacks: those with a function that matches one of the patterns."""

    name: str
    patterns: tuple[str, ...]


def causes_from(
    mapping: Mapping[str, str | Sequence[str]], where: str = "causes"
) -> tuple[Cause, ...]:
    """Causes from names and their pattern or patterns, in order of precedence.

    where: what messages call the mapping.
    Raises ProfileError if a name or a pattern is missing, or the name is `other`.
    """
    if not isinstance(mapping, Mapping) or not mapping:
        raise ProfileError(f'{where}: write a name and a pattern a line, such as `NACK: "*nack*"`.')
    if len(mapping) > MOST_CAUSES:
        raise ProfileError(
            f"{where}: there are {len(mapping)} causes; {MOST_CAUSES} can be told apart."
        )
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
        for index, (function, package) in enumerate(
            zip(profile.functions, profile.packages, strict=True)
        )
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
        raise ProfileError(
            f'{where}: {name} needs a pattern, such as "*{name.lower()}*", or a list of them.'
        )
    return Cause(name, tuple(several))


RULES = tuple(RULE_TEXTS)
FIRST = RULES[0]

Sets = dict[int, int]
"""Whole-number value of the samples that match exactly each set of causes; bit i is cause i."""


@dataclass(frozen=True, eq=False)
class CauseAttribution:
    """The change of each cause.

    rule: one of RULES. what, unit: of the amounts. table: a row each cause, then `other`: `cause`,
    the columns of `estimates.COLUMNS`, `share_of_change` (of the total change, 0 to 1) and
    `naive_change`, the change of everything that matches the cause, whatever else it matches.
    exact: cause to its change, as an exact fraction of the unit. total, naive_sum: the change of
    the whole, and the sum of the naive changes of the causes, exact. overlaps: `first`, `second`,
    `change`: of the samples that match both, where there are any.
    """

    rule: str
    what: str
    unit: str
    table: pd.DataFrame
    exact: dict[str, Fraction]
    total: Fraction
    naive_sum: Fraction
    overlaps: pd.DataFrame

    @property
    def counted_twice(self) -> Fraction:
        """How far the naive sum and what the causes are really answerable for differ; in the
        unit."""
        return self.naive_sum - (self.total - self.exact[OTHER])


def rule_text(rule: str) -> str:
    """What a rule does with a sample that matches several causes, as a sentence. rule: one of
    RULES."""
    return say(RULE_TEXTS[rule])


def attribute(pair: Pair, causes: Sequence[Cause], rule: str = FIRST) -> CauseAttribution:
    """Attribute the change between two sides to causes.

    Raises ProfileError if there is no such rule.
    """
    check_known(
        ProfileError, f"There is no rule {rule!r} to attribute by", rule, RULES, "Rules are"
    )
    sides = (pair.before, pair.after)
    sets = [_sets_of(side, causes) for side in sides]
    names = [*(cause.name for cause in causes), OTHER]
    each = [_by_cause(side, own, rule, len(causes)) for side, own in zip(sides, sets, strict=True)]
    before, after = (_amounts(side, own) for side, own in zip(sides, each, strict=True))
    means = [
        [sum(parts, Fraction(0)) / len(own) for parts in zip(*own, strict=True)] for own in each
    ]
    exact = {name: y - x for name, x, y in zip(names, *means, strict=True)}
    total = sum(exact.values(), Fraction(0))
    changes = _changes_by_set(pair, sets)
    naive = [
        sum((c for s, c in changes.items() if s >> bit & 1), Fraction(0))
        for bit in range(len(causes))
    ]
    table = estimate(before, after)
    table.insert(0, "cause", names)
    table["share_of_change"] = [float(exact[name] / total) if total else 0.0 for name in names]
    table["naive_change"] = [*map(float, naive), float(exact[OTHER])]
    return CauseAttribution(
        rule,
        pair.what,
        pair.unit,
        table,
        exact,
        total,
        sum(naive, Fraction(0)),
        _overlaps(causes, changes),
    )


def shares(matched: int, value: int, rule: str, causes: int) -> list[int]:
    """How the value of the samples that match one set of causes is shared out; whole numbers that
    add up.

    Returns causes + 1 numbers; the last is `other`. What does not divide goes to the first causes
    of the set.
    """
    members = [bit for bit in range(causes) if matched >> bit & 1] or [causes]
    if rule == FIRST:
        members = members[:1]
    each, rest = divmod(abs(value), len(members))
    sign = 1 if value >= 0 else -1
    result = [0] * (causes + 1)
    for place, member in enumerate(members):
        result[member] = sign * (each + (place < rest))
    return result


def _sets_of(side: ProfileSide, causes: Sequence[Cause]) -> list[Sets]:
    """For every profile of a side, the value of each set of causes."""
    result = []
    for profile in side.profiles:
        sums = pd.Series(profile.numbers(side.value)).groupby(matched_causes(profile, causes)).sum()
        result.append(dict(zip(sums.index.tolist(), sums.tolist(), strict=True)))
    return result


def _by_cause(
    side: ProfileSide, sets: Sequence[Sets], rule: str, causes: int
) -> list[list[Fraction]]:
    """What each cause has of every profile of a side, and last `other`, in the unit of the pair."""
    amounts = []
    for own, factor in zip(sets, side.factors, strict=True):
        shared = [shares(matched, value, rule, causes) for matched, value in own.items()]
        amounts.append(
            [sum(parts) * factor for parts in zip([0] * (causes + 1), *shared, strict=True)]
        )
    return amounts


def _amounts(side: ProfileSide, each: Sequence[Sequence[Fraction]]) -> Amounts:
    """The same as floats, with the variance of sampling.

    The variance is that of the profile's mean event; a sample shared among causes is shared in
    variance too.
    """
    values = np.array(each, dtype=float).T
    return Amounts.of(side, values, np.abs(values) * np.array(side.weights))


def _changes_by_set(pair: Pair, sets: Sequence[list[Sets]]) -> dict[int, Fraction]:
    changes: defaultdict[int, Fraction] = defaultdict(Fraction)
    for side, own, sign in ((pair.before, sets[0], -1), (pair.after, sets[1], 1)):
        for values, factor in zip(own, side.factors, strict=True):
            for matched, value in values.items():
                changes[matched] += sign * value * factor / len(side.profiles)
    return changes


def _overlaps(causes: Sequence[Cause], changes: dict[int, Fraction]) -> pd.DataFrame:
    rows = []
    for (i, first), (j, second) in combinations(enumerate(causes), 2):
        if both := [
            change for matched, change in changes.items() if matched >> i & 1 and matched >> j & 1
        ]:
            rows.append((first.name, second.name, float(sum(both))))
    return pd.DataFrame(rows, columns=["first", "second", "change"])


@dataclass(frozen=True, eq=False)
class Ablations:
    """Effects of options switched one at a time.

    table: a row an option: `option`, the columns of `estimates.COLUMNS` (before: all options as
    before; after: this option alone changed), `by_stacks` (the change that the cause of the same
    name got from its stacks; not a number if there is none) and `elsewhere` (the part of the effect
    on other stacks). by_cause: options by causes, what each option alone changed on the stacks of
    each cause. total: the change with all options. interaction: total less the sum of the single
    effects. All amounts in `unit`.
    """

    unit: str
    table: pd.DataFrame
    by_cause: pd.DataFrame
    total: float
    interaction: float

    def statement(self) -> str:
        """The interaction in words."""
        single = float(self.table["change"].sum())
        alone, together, rest = (
            readable(x, self.unit, signed=True) for x in (single, self.total, self.interaction)
        )
        return _(
            "Switched one at a time the options change {single}, together {total}: the interaction "
            "is {rest}.",
            single=alone,
            total=together,
            rest=rest,
        )


def ablate(
    pair: Pair,
    single: Mapping[str, Sequence[Profile]],
    causes: Sequence[Cause],
    rule: str = FIRST,
    basis: Basis | None = None,
) -> Ablations:
    """Set the effects of options beside the attribution by stacks.

    pair: all options as before, and all changed. single: by option, profiles with it alone changed.
    basis: the load of the pair; the single profiles are at the load before.
    Raises ProfileError if there are none, or they cannot be compared with the pair.
    """
    if not single:
        raise ProfileError("An ablation needs profiles with one option changed at a time.")
    basis = Basis(basis.unit, basis.before, basis.before) if basis else None
    attributed = attribute(pair, causes, rule).exact
    rows, by_cause = [], {}
    for option, profiles in single.items():
        alone = pair_up(pair.before.profiles, profiles, pair.before.value, basis)
        rows.append(estimate(total_amounts(alone.before), total_amounts(alone.after)))
        by_cause[option] = {
            name: float(part) for name, part in attribute(alone, causes, rule).exact.items()
        }
    table = pd.concat(rows, ignore_index=True)
    table.insert(0, "option", list(single))
    stacks = {name: float(part) for name, part in attributed.items() if name != OTHER}
    table["by_stacks"] = [stacks.get(name, np.nan) for name in single]
    own_stacks = [by_cause[name].get(name, 0.0) if name != OTHER else 0.0 for name in single]
    table["elsewhere"] = table["change"] - own_stacks
    total = float(sum(attributed.values()))
    return Ablations(
        pair.unit,
        table,
        pd.DataFrame.from_dict(by_cause, orient="index"),
        total,
        total - float(table["change"].sum()),
    )
