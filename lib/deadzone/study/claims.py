"""Claims: what is believed of a program, in a form that measurements can be held against.

Most spellings bound one thing, a `Ratio`: how many times as good a setting is as another. Beside it
stand `phase`, `why` and `holds`. Spellings that name a plain number (`phase`, `scaling`, `why`,
`nothing_to_gain_beyond`) speak of the study's knob; the others name levels by their factor.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from deadzone.errors import StudyError, check_known, did_you_mean
from deadzone.study.base import NAME_PATTERN, Spec
from deadzone.study.factors import FactorLevel, sized_level
from deadzone.study.levels import Level, format_level, is_number, read_level
from deadzone.study.objective_specs import DERIVED, Column, ObjectiveSpec, in_own_units
from deadzone.study.scales import NO_LIMIT, level_name, scale_of

PRACTICAL_SHARE = 0.03
"""A gain below 3 % is none that anybody acts on: the margin of `nothing_to_gain_beyond`, of `same`
where the claim names none, and of a `best` that holds in part."""

MOST_CLAIMS = 200
"""More claims than this leave each so little confidence that none can be decided."""

Sized = AfterValidator(lambda at: {name: sized_level(name, level) for name, level in at.items()})
Given = Annotated[dict[Column, FactorLevel], Sized]
Levels = Annotated[dict[Column, FactorLevel], Field(min_length=1), Sized]
Cause = Literal[
    "less_work", "more_cores", "more_cpu_work", "cpu_full", "throttled", "waiting_for_disk",
    "memory_short", "waiting_for_each_other", "sleeping", "too_few_threads",
    "outside",
]  # fmt: skip
PhaseLabel = Literal["linear", "dead_zone", "breakthrough", "plateau", "reversal"]


class BetterSpec(Spec):
    """One setting against another."""

    at: Levels
    """the setting that is said to be better"""

    than: Levels
    """the setting it is compared with"""

    by_at_least: float = Field(default=1.0, ge=1)
    """how many times better, such as 2.0 for half the time"""


class SameSpec(Spec):
    """Two settings that are said not to differ by more than a share, either way."""

    at: Levels
    """the one setting"""

    than: Levels = Field(alias="as")
    """the other setting"""

    within: float = Field(default=PRACTICAL_SHARE, gt=0, lt=1)
    """largest difference, as a share"""


class ScalingSpec(Spec):
    """How well the response scales between two levels of the knob."""

    start: float = Field(alias="from", gt=0)
    """lower level"""

    stop: float = Field(alias="to", gt=0)
    """upper level"""

    at_least: float = Field(ge=-10, le=10)
    """elasticity: 1 is in proportion, 0 no gain"""


class PhaseIsSpec(Spec):
    """The phase that the steps between two levels of the knob are in."""

    start: FactorLevel = Field(alias="from")
    """level at which the first step begins"""

    stop: FactorLevel = Field(alias="to")
    """level at which the last step ends"""

    label: PhaseLabel = Field(alias="is")
    """phase of every step between them"""


class WhySpec(Spec):
    """Why the response changes between two levels of the knob."""

    start: float = Field(alias="from")
    """lower level"""

    stop: float = Field(alias="to")
    """upper level"""

    cause: Cause = Field(alias="is")
    """less_work: CPU time falls; more_cores: as much CPU time on more cores; or a mechanism by the
    account of time"""


class NotWorseSpec(Spec):
    """A response that does not get worse from one level of a factor to another."""

    response: Column | None = None
    """column; default: the study's response"""

    by_at_most: float = Field(ge=0)
    """largest loss: a share of the response, or in its unit"""

    absolute: bool | None = None
    """whether by_at_most is in the response's unit; default: for shares it is"""

    goal: Literal["min", "max"] | None = None
    """whether less or more is better; default: of the study's response as the study says, else as
    the name says"""


class ClaimSpec(Spec):
    """One claim: the words, one form, and where it is to hold."""

    says: str | dict[Literal["en", "ko"], str] = ""
    """the claim in words, in one language or in each; default: made from the form"""

    name: Annotated[str, Field(pattern=NAME_PATTERN)] | None = None
    """short name, for links to the claim"""

    better: BetterSpec | None = None
    """a setting is better than another"""

    same: SameSpec | None = None
    """two settings do not differ by more than a share"""

    best: Levels | None = None
    """no other level of this factor is better"""

    scaling: ScalingSpec | None = None
    """the response scales at least so well"""

    phase: PhaseIsSpec | None = None
    """steps of the knob are in a phase"""

    nothing_to_gain_beyond: FactorLevel | None = None
    """no larger level of the knob is better by more than 3 %"""

    holds: dict[Column, ObjectiveSpec] | None = Field(default=None, min_length=1)
    """bounds on columns, all to be met"""

    not_worse: NotWorseSpec | None = None
    """a response does not get worse"""

    why: WhySpec | None = None
    """why the response changes"""

    cannot_be_judged: str | dict[Literal["en", "ko"], str] | None = None
    """why nothing that is measured can tell"""

    at: Levels | None = None
    """of holds: the setting; default: some level of the knob"""

    start: FactorLevel | None = Field(default=None, alias="from")
    """of not_worse: level before"""

    stop: FactorLevel | None = Field(default=None, alias="to")
    """of not_worse: level after"""

    given: Given = Field(default_factory=dict)
    """levels of other factors at which the claim is to hold"""

    knob: Column | None = None
    """the factor that plain levels are of, which is the study's knob"""

    one_of = (
        "better", "same", "best", "scaling", "phase", "nothing_to_gain_beyond", "holds",
        "not_worse", "why", "cannot_be_judged",
    )  # fmt: skip
    _units = field_validator("holds", mode="before")(in_own_units)

    @property
    def form(self) -> str:
        """The key that the claim has of those of which it has exactly one."""
        return next(form for form in self.one_of if getattr(self, form) is not None)

    def _hangs_together(self) -> None:
        if self.best is not None and len(self.best) != 1:
            raise ValueError("best names one factor; give the levels of others as given")
        if {self.start is not None, self.stop is not None} != {self.not_worse is not None}:
            raise ValueError(
                "not_worse, and no other form, needs from and to, the levels before and after"
            )
        if self.at is not None and self.holds is None:
            raise ValueError("at goes with holds only")
        pair, span = self.better or self.same, self.scaling or self.phase or self.why
        if (pair and pair.at == pair.than) or (self.not_worse and self.start == self.stop):
            raise ValueError("compares a setting with itself")
        low, high = map(place, (span.start, span.stop)) if span else (0.0, 1.0)
        if span and low >= high and -math.inf not in (low, high):
            raise ValueError(f"goes from {span.start} to {span.stop}; write the lower level first")

    def stated(self) -> dict[str, Any]:
        """The claim as a study file states it."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    def ends(self) -> tuple[Level, ...]:
        """The levels that the claim names of the knob, by a plain number."""
        if self.nothing_to_gain_beyond is not None:
            return (self.nothing_to_gain_beyond,)
        span = self.scaling or self.phase or self.why
        return (span.start, span.stop) if span else ()

    def named(self, knob: str) -> list[tuple[str, Level]]:
        """Every level that the claim names, by its factor; of `not_worse` those that are given."""
        pair = self.better or self.same
        settings = (self.at, self.best, self.given, *((pair.at, pair.than) if pair else ()))
        named = [level for setting in settings if setting for level in setting.items()]
        return named + [(knob, level) for level in self.ends()]

    def columns(self) -> tuple[str, ...]:
        """The columns that the claim names."""
        named = self.not_worse.response if self.not_worse else None
        return (*(self.holds or ()), *([named] if named else []))


@dataclass(frozen=True)
class Ratio:
    """How many times as good one setting is as another: what most spellings of a claim bound.

    of, than: the settings; of several in than, each is a rival that the claim speaks of. low, high:
    bounds of ln(ratio); of a difference bounds of how much better it is, in the column's unit.
    low_in_part: the bound that is enough for the claim to hold in part. column: the response that a
    change is to leave no worse, empty for the study's own. goal: `min` or `max`, None for that of
    the column.
    """

    of: Mapping[str, Level]
    than: Sequence[Mapping[str, Level]]
    low: float
    high: float = math.inf
    low_in_part: float | None = None
    column: str = ""
    is_difference: bool = False
    goal: str | None = None


def ratio_of(
    claim: ClaimSpec, levels: Mapping[str, Sequence[Level]], knob: str, response: str = ""
) -> Ratio | None:
    """The ratio that a claim bounds; None where it bounds none. levels: of every factor. response:
    of the study.
    """
    practical = math.log1p(PRACTICAL_SHARE)
    if stated := claim.better:
        return Ratio(stated.at, [stated.than], math.log(stated.by_at_least))
    if same := claim.same:
        return Ratio(same.at, [same.than], -math.log1p(same.within), math.log1p(same.within))
    if scaling := claim.scaling:
        low = scaling.at_least * math.log(scaling.stop / scaling.start)
        return Ratio({knob: scaling.stop}, [{knob: scaling.start}], low)
    if claim.best:
        ((factor, level),) = claim.best.items()
        others = [{factor: other} for other in levels[factor] if not same_level(other, level)]
        return Ratio(claim.best, others, 0.0, low_in_part=-practical)
    if (level := claim.nothing_to_gain_beyond) is not None:  # type: ignore[assignment]
        at = {one: place(one) for one in levels[knob]}
        places = scale_of(at).positions
        at = {one: places.get(level_name(one), x) for one, x in at.items()}
        least = next((x for one, x in at.items() if same_level(one, level)), math.inf)
        beyond = [{knob: one} for one, x in at.items() if x > least]
        return Ratio({knob: level}, beyond, -practical)
    if worse := claim.not_worse:
        start, stop = claim.start or 0, claim.stop or 0
        free = {name: known for name, known in levels.items() if name not in claim.given}
        both = [name for name, known in free.items() if _has(known, start, stop)][:1]
        column = worse.response or response
        is_share = column in DERIVED or column.endswith("_share")
        absolute = is_share if worse.absolute is None else worse.absolute
        low = -worse.by_at_most if absolute else -math.log1p(worse.by_at_most)
        of, than = dict.fromkeys(both, stop), [{name: start} for name in both]
        return Ratio(of, than, low, column=column, is_difference=absolute, goal=worse.goal)
    return None


def place(level: Level) -> float:
    """Where a level of the knob stands among the others: no limit behind every number, other words
    before them."""
    return math.inf if level in NO_LIMIT else float(level) if is_number(level) else -math.inf


def same_level(a: object, b: object) -> bool:
    """Whether two levels are one: numbers by value, words by their letters; of a table's own kinds
    as well."""
    a, b = (level.item() if hasattr(level, "item") else level for level in (a, b))
    a, b = (read_level(level) if isinstance(level, str) else level for level in (a, b))
    kind: Callable[[Any], Any] = float if is_number(a) and is_number(b) else str
    return bool(kind(a) == kind(b))


def _has(known: Sequence[Level], *wanted: Level | None) -> bool:
    return all(any(same_level(level, other) for other in known) for level in wanted)


def check_claims(
    claims: Sequence[ClaimSpec],
    levels: Mapping[str, Sequence[Level]],
    knob: str,
    columns: Sequence[str] = (),
) -> None:
    """Refuse claims that a study cannot test.

    levels: of every factor. columns: of the trials, where they are known; else responses are not
    checked.

    Raises StudyError, with the nearest name there is.
    """
    names = [claim.name for claim in claims]
    for j, claim in enumerate(claims):
        if claim.name and names.count(claim.name) > 1:
            raise StudyError(f"claims[{j}]: several claims have the name {claim.name!r}.")
        _check_names(f"claims[{j}]", claim, levels, knob)
        for column in claim.columns():
            if columns and not {*DERIVED.get(column, ()), column} & {*columns}:
                raise StudyError(
                    f"claims[{j}]: nothing measures {column!r}.{did_you_mean(column, columns)}"
                )


def _check_names(
    where: str, claim: ClaimSpec, levels: Mapping[str, Sequence[Level]], knob: str
) -> None:
    if claim.knob not in (None, knob):
        raise StudyError(f"{where} speaks of {claim.knob}, and the knob is {knob}.")
    named = claim.named(knob)
    for factor, level in named:
        check_known(StudyError, f"{where} names {factor!r}, which is no factor", factor, levels)
        if not _has(levels[factor], level):
            raise StudyError(
                f"{where} names {factor} {format_level(level)}, which is not measured; levels are "
                f"{', '.join(map(format_level, levels[factor]))}."
            )
    ratio = ratio_of(claim, levels, knob)
    if claim.not_worse and ratio and not ratio.than:
        raise StudyError(f"{where}: no factor has the levels {claim.start!r} and {claim.stop!r}.")
    settled = {knob, *dict(named)}
    others = [name for name, known in levels.items() if len(known) > 1 and name not in settled]
    if claim.ends() and others:
        raise StudyError(
            f"{where} speaks of {knob} alone, and {others[0]} varies too: say at which level, "
            f"given: {{{others[0]}: {format_level(levels[others[0]][0])}}}."
        )
