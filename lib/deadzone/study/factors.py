"""How a study writes its factors: a list of levels, a range, or the levels of another factor."""

import contextlib
import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from deadzone.study.base import Spec
from deadzone.study.coresident_specs import LIMITS
from deadzone.study.levels import NAME, NONE, Level, range_levels, scale_level
from deadzone.study.quantity import as_size
from deadzone.study.scales import Place, Scale, level_name


def _as_level(value: Any) -> Any:
    """Read YAML's null as `none`, and its booleans as the words they are written with."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(
            f"is {value!r}; a level is a finite number or a word. Write none for no limit"
        )
    if isinstance(value, int | float) and abs(value) > MOST_LEVEL:
        raise ValueError(f"is larger than {MOST_LEVEL:.0g}, which no knob has")
    return value


def as_bytes(value: Level) -> Level:
    """A size in words, such as 64MiB, in bytes; another word, such as none, as it is."""
    with contextlib.suppress(ValueError):
        return as_size(value)
    return value


def limit_named(factor: str) -> str:
    """The limit that a factor is, be it of the trials or of what belongs to them; any other factor
    itself."""
    return next((limit for limit in LIMITS if factor.endswith(f"_{limit}")), factor)


def sized_level(factor: str, level: Level) -> Level:
    """A limit written as a size, such as 64MiB, in bytes; any other level as it is."""
    is_size = limit_named(factor) in ("memory_limit", "memory_request", "io_bandwidth_limit")
    return as_bytes(level) if is_size else level


FactorLevel = Annotated[Level, BeforeValidator(_as_level)]
SizeLevel = Annotated[FactorLevel, AfterValidator(as_bytes)]
Multiplier = Annotated[
    Annotated[float, Field(gt=0), Tag("number")] | Annotated[Literal["host_cores"], Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "number"),
]

FactorName = Annotated[str, Field(pattern=f"^{NAME.pattern}$")]

HOST_CORES = "host_cores"
"""The multiplier that is the number of cores trials can use on this machine."""

MOST_LEVEL = 10**18
"""Beyond this a number is a slip of the keyboard, and a float no longer holds its digits."""


class FactorSpec(Spec):
    """What every written form of a factor shares."""

    model_config = ConfigDict(populate_by_name=True)

    unit: str | None = None
    """unit of the levels, e.g. cores, threads, bytes"""

    scale: Scale | None = None
    """ratio (log axis; default for positive numbers), interval (default with negative levels) or
    words"""

    at: dict[Annotated[str, BeforeValidator(level_name)], Place] = Field(default_factory=dict)
    """where single levels lie: a number, apart (a word: off, automatic), or beyond (the largest;
    default for none)"""

    role: Literal["setting", "work_size"] | None = None
    """what the factor is: a setting to choose, or the size of the work, of which none is
    recommended (default by name)"""


class ScaledFactorSpec(FactorSpec):
    """What the forms with levels of their own share."""

    times: Multiplier = 1.0
    """multiply every number by this; host_cores is the number of cores trials can use here"""


class LevelsFactorSpec(ScaledFactorSpec):
    """A factor with its levels listed."""

    levels: tuple[FactorLevel, ...] = Field(min_length=1)
    """the levels, each a number, a name, none or auto"""

    def resolve(self, host_cores: int) -> tuple[Level, ...]:
        """The levels in force on a host with so many cores, in the order written."""
        multiplier = host_cores if self.times == HOST_CORES else float(self.times)
        return tuple(scale_level(level, multiplier) for level in self.levels)


class RangeFactor(ScaledFactorSpec):
    """A factor with evenly spaced levels."""

    start: float = Field(alias="from")
    """first level"""

    stop: float = Field(alias="to")
    """last level, included where the step hits it"""

    step: float = Field(gt=0)
    """distance between neighbouring levels"""

    plus: tuple[FactorLevel, ...] = ()
    """further levels after the range, such as none"""

    def _hangs_together(self) -> None:
        range_levels(self.start, self.stop, self.step)

    def resolve(self, host_cores: int) -> tuple[Level, ...]:
        """The levels in force on a host with so many cores, ascending."""
        levels = (*range_levels(self.start, self.stop, self.step), *self.plus)
        return LevelsFactorSpec(levels=levels, times=self.times).resolve(host_cores)


class EqualFactorSpec(FactorSpec):
    """A factor that always has the level of another one (threads = limit)."""

    equals: str
    """name of the factor whose level this one takes"""


AS_LEVELS, AS_RANGE, AS_EQUAL = "as levels", "as range", "as equal"
"""The forms, in words that are no key of a study: pydantic puts them among the keys of a
problem."""


def _form(value: Any) -> str | None:
    """Which of the written forms a factor has; None for something that is none of them."""
    if isinstance(value, FactorSpec):
        return {RangeFactor: AS_RANGE, EqualFactorSpec: AS_EQUAL, LevelsFactorSpec: AS_LEVELS}[
            type(value)
        ]
    if isinstance(value, dict):
        if "equals" in value:
            return AS_EQUAL
        return AS_RANGE if {"from", "to", "step"} & set(value) else AS_LEVELS
    return None


Factor = Annotated[
    Annotated[LevelsFactorSpec, Tag(AS_LEVELS)]
    | Annotated[RangeFactor, Tag(AS_RANGE)]
    | Annotated[EqualFactorSpec, Tag(AS_EQUAL)],
    Discriminator(
        _form,
        custom_error_type="factor_form",
        custom_error_message="a factor is a list of levels, {from, to, step}, {levels: [...]} or "
        "{equals: other_factor}",
    ),
    BeforeValidator(  # a bare list is short for {levels: [...]}
        lambda value: {"levels": value} if isinstance(value, list | tuple) else value,
        json_schema_input_type=list[FactorLevel] | LevelsFactorSpec | RangeFactor | EqualFactorSpec,
    ),
]
