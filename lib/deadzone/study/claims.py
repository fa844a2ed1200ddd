"""Claims: what is believed of a program, each in a form that measurements can be held against.

A claim has one form and, beside it, the words it is said in. Forms that name a plain number
(`phase`, `scaling`, `why`, `nothing_to_gain_beyond`) speak of the study's knob; the others name
levels by their factor.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from deadzone.errors import StudyError, check_known, did_you_mean
from deadzone.study.base import NAME_PATTERN, Spec
from deadzone.study.factors import FactorLevel
from deadzone.study.levels import Level, format_level, is_number
from deadzone.study.objective_specs import DERIVED, Column, ObjectiveSpec, in_own_units

PRACTICAL_SHARE = 0.03
"""A gain below 3 % is none that anybody acts on: the margin of `nothing_to_gain_beyond` where the
claim names none."""

MOST_CLAIMS = 200
"""More claims than this leave each so little confidence that none can be decided."""

Levels = Annotated[dict[Column, FactorLevel], Field(min_length=1)]
Cause = Literal[
    "less_work", "more_cores", "more_cpu_work", "cpu_full", "throttled", "waiting_for_disk",
    "memory_short", "waiting_for_each_other", "too_few_threads", "outside",
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

    other: Levels = Field(alias="as")
    """the other setting"""

    within: float = Field(default=PRACTICAL_SHARE, gt=0, lt=1)
    """largest difference, as a share"""


class ScalingSpec(Spec):
    """How well the response scales between two levels of the knob."""

    start: float = Field(alias="from", gt=0)
    """lower level"""

    stop: float = Field(alias="to", gt=0)
    """upper level"""

    at_least: float
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


FORMS = ("better", "same", "best", "scaling", "phase", "nothing_to_gain_beyond", "holds", "not_worse", "why", "cannot_be_judged")  # fmt: skip  # noqa: E501
"""The keys of which a claim has exactly one."""


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

    given: dict[Column, FactorLevel] = Field(default_factory=dict)
    """levels of other factors at which the claim is to hold"""

    one_of = FORMS
    _units = field_validator("holds", mode="before")(in_own_units)

    @property
    def form(self) -> str:
        """Which of FORMS the claim has."""
        return next(form for form in FORMS if getattr(self, form) is not None)

    def _hangs_together(self) -> None:
        if self.best is not None and len(self.best) != 1:
            raise ValueError("best names one factor; give the levels of others as given")
        if (self.not_worse is not None) != (self.start is not None and self.stop is not None):
            raise ValueError(
                "not_worse needs from and to, the levels before and after, and no other form has "
                "them"
            )
        if self.at is not None and self.holds is None:
            raise ValueError("at stands beside holds only")
        first, other = self.compared
        if first is not None and first == other:
            raise ValueError("compares a setting with itself")
        span = self.scaling or self.phase or self.why
        if (
            span
            and is_number(span.start)
            and is_number(span.stop)
            and float(span.start) >= float(span.stop)
        ):
            raise ValueError(f"goes from {span.start} to {span.stop}; write the lower level first")

    def stated(self) -> dict[str, Any]:
        """The claim as a study file states it."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    def settings(self) -> Iterator[tuple[str, Level]]:
        """Every level that the claim names by its factor."""
        settings = self.compared if self.better or self.same else ()
        for named in (self.at, self.best, self.given, *settings):
            yield from (named or {}).items()

    @property
    def compared(self) -> tuple[Any, Any]:
        """The two settings of better and same, the two levels of not_worse; None twice of the other
        forms."""
        if self.better:
            return self.better.at, self.better.than
        return (self.same.at, self.same.other) if self.same else (self.start, self.stop)

    def columns(self) -> tuple[str, ...]:
        """The columns that the claim names."""
        named = (self.not_worse.response,) if self.not_worse and self.not_worse.response else ()
        return (*(self.holds or ()), *named)

    def knob_levels(self) -> tuple[Level, ...]:
        """Every level that the claim names of the knob, by a plain number."""
        spans = [span for span in (self.scaling, self.phase, self.why) if span is not None]
        beyond = (self.nothing_to_gain_beyond,) if self.nothing_to_gain_beyond is not None else ()
        return (*(end for span in spans for end in (span.start, span.stop)), *beyond)


def same_level(a: object, b: object) -> bool:
    """Whether two levels are one: numbers by value, words by their letters; of a table's own kinds
    as well."""
    a, b = (level.item() if hasattr(level, "item") else level for level in (a, b))
    if is_number(a) and is_number(b):
        return float(a) == float(b)  # type: ignore[arg-type]
    return str(a) == str(b)


def check_claims(
    claims: Sequence[ClaimSpec],
    levels: Mapping[str, Sequence[Level]],
    knob: str,
    columns: Sequence[str] = (),
) -> None:
    """Refuse claims that a study cannot test, or that contradict each other.

    levels: of every factor. columns: of the trials, where they are known; else responses are not
    checked.

    Raises StudyError, with the nearest name there is.
    """
    for i, claim in enumerate(claims):
        where = f"claims[{i}]"
        named = [*claim.settings(), *((knob, level) for level in claim.knob_levels())]
        if claim.not_worse and factor_of(claim, levels) is None:
            raise StudyError(
                f"{where}: no factor has the levels {claim.start!r} and {claim.stop!r}."
            )
        for factor, level in named:
            _check_level(where, factor, level, levels)
        settled = {knob, *dict(claim.settings())}
        others = [name for name, of in levels.items() if len(of) > 1 and name not in settled]
        if claim.knob_levels() and others:
            raise StudyError(
                f"{where} speaks of {knob} alone, and {others[0]} varies too: say at which level, "
                f"given: {{{others[0]}: {format_level(levels[others[0]][0])}}}."
            )
        for column in claim.columns():
            if columns and not {*DERIVED.get(column, ()), column} & {*columns}:
                raise StudyError(
                    f"{where}: nothing measures {column!r}.{did_you_mean(column, columns)}"
                )
    for i, j in contradictions(claims):
        raise StudyError(
            f"claims[{i}] and claims[{j}] contradict each other: at most one of them can be "
            "supported."
        )


def _check_level(
    where: str, factor: str, level: Level, levels: Mapping[str, Sequence[Level]]
) -> None:
    check_known(StudyError, f"{where} names {factor!r}, which is no factor", factor, levels)
    known = levels[factor]
    if not any(same_level(level, other) for other in known):
        listed = ", ".join(map(format_level, known))
        raise StudyError(
            f"{where} names {factor} {format_level(level)}, which is not measured; levels are "
            f"{listed}."
        )


def factor_of(claim: ClaimSpec, levels: Mapping[str, Sequence[Level]]) -> str | None:
    """The factor that has both levels of a `not_worse`."""
    ends = (claim.start, claim.stop)
    return next(
        (
            name
            for name, of in levels.items()
            if all(any(same_level(end, level) for level in of) for end in ends)
        ),
        None,
    )


def contradictions(claims: Sequence[ClaimSpec]) -> list[tuple[int, int]]:
    """Pairs of claims of which at most one can be true, by their positions."""
    return [
        (i, j)
        for j, later in enumerate(claims)
        for i, earlier in enumerate(claims[:j])
        if earlier.given == later.given and _contradict(earlier, later)
    ]


def _contradict(a: ClaimSpec, b: ClaimSpec) -> bool:
    if a.best and b.best:
        return a.best.keys() == b.best.keys() and a.best != b.best
    if a.better and b.better:
        return a.better.at == b.better.than and a.better.than == b.better.at
    if a.phase and b.phase:
        ends: list[Any] = [a.phase.start, a.phase.stop, b.phase.start, b.phase.stop]
        apart = all(map(is_number, ends)) and (ends[1] <= ends[2] or ends[3] <= ends[0])
        return a.phase.label != b.phase.label and not apart
    if any(claim.better and _refuted(claim.better, other) for claim, other in ((a, b), (b, a))):
        return True
    if a.holds and b.holds and a.at == b.at:
        return any(_apart(a.holds[name], b.holds[name]) for name in a.holds.keys() & b.holds.keys())
    return False


def _refuted(better: BetterSpec, other: ClaimSpec) -> bool:
    """Whether a setting cannot be so much better than another if the other claim is true."""
    if other.same:
        apart = {str(better.at), str(better.than)} == {str(other.same.at), str(other.same.other)}
        return apart and better.by_at_least > 1 + other.same.within
    if other.best:
        return better.than == other.best
    if other.not_worse and other.not_worse.response is None and not other.not_worse.absolute:
        ends = [(other.start,), (other.stop,)]
        apart = [tuple(better.at.values()), tuple(better.than.values())] == ends
        return apart and better.by_at_least > 1 + other.not_worse.by_at_most
    return False


def _apart(a: ObjectiveSpec, b: ObjectiveSpec) -> bool:
    return any(
        x.at_most is not None and y.at_least is not None and x.at_most < y.at_least
        for x, y in ((a, b), (b, a))
    )
