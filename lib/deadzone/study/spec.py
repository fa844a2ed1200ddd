"""The study: a question with its workload, target, factors, design, response and goal."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from deadzone.study.factors import EqualFactor, Factor, FactorLevel
from deadzone.study.levels import AUTO, NONE, Level, format_level, is_number
from deadzone.study.templates import placeholders

MOST_REPLICATES = 1_000
"""More repeats of a treatment than this narrow no interval that anybody acts on."""

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"
"""Names become folders and web addresses, so they keep to characters that are safe in both."""

COLUMN_PATTERN = r"^[a-z][a-z0-9_]*$"


def _well_formed(template: str) -> str:
    if "\0" in template:
        raise ValueError("holds a null byte, which no argument of a program can")
    placeholders(template)
    return template


def _as_argument(value: object) -> object:
    """A number in an argument vector stands for its text, as it would in a terminal."""
    return format_level(value) if is_number(value) and isinstance(value, int | float) else value


Argument = Annotated[str, BeforeValidator(_as_argument), AfterValidator(_well_formed)]


def _regular_expression(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is {pattern!r}, which is no regular expression: {error}") from error
    return pattern


def _json_path(path: str) -> str:
    import jmespath

    try:
        jmespath.compile(path)
    except (jmespath.exceptions.JMESPathError, RecursionError) as error:
        reason = str(error).splitlines()[0].rstrip(":")
        raise ValueError(f"is {path!r}, which is no JMESPath: {reason}") from error
    return path


class Spec(BaseModel):
    """Base of all parts of a study: immutable, and no key is ever silently ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ClipSpec(Spec):
    """The video that ffmpeg decodes; generated once and kept in a cache."""

    duration_s: float = Field(default=6.0, gt=0, le=3600, description="length of the clip [s]")
    width: int = Field(default=1280, ge=16, le=7680, description="width [pixels]")
    height: int = Field(default=720, ge=16, le=4320, description="height [pixels]")
    frames_per_second: float = Field(default=29.97, gt=0, le=240, description="frame rate [1/s]")


class FfmpegWorkload(Spec):
    """Frame extraction with ffmpeg: decode, scale, write one JPEG a frame."""

    kind: Literal["ffmpeg"] = "ffmpeg"
    program: str = Field(default="bundled", description="bundled, or a program on the PATH such as ffmpeg")
    clip: ClipSpec = Field(default_factory=ClipSpec)
    input: str | None = Field(default=None, description="a video file to use in place of the generated clip")
    scale: str = Field(
        default="1280:720", pattern=r"^-?\d+:-?\d+$", description="size of the extracted frames"
    )
    quality: int = Field(default=2, ge=1, le=31, description="JPEG quality, 1 is best")


class ResponseExtraction(Spec):
    """How one response is read from what a program prints."""

    regex: Annotated[str, AfterValidator(_regular_expression)] | None = Field(
        default=None, description="regular expression; its first group is the number"
    )
    json_path: Annotated[str, AfterValidator(_json_path)] | None = Field(
        default=None, description="JMESPath into JSON printed by the program"
    )
    stream: Literal["stdout", "stderr"] = Field(default="stdout", description="where the program prints it")
    unit: str | None = Field(default=None, description="unit of the response")

    @model_validator(mode="after")
    def _one_way(self) -> ResponseExtraction:
        if (self.regex is None) == (self.json_path is None):
            raise ValueError("needs exactly one of regex and json_path")
        return self


class CommandWorkload(Spec):
    """Any program: an argument vector with {factor} placeholders."""

    kind: Literal["command"] = "command"
    argv: tuple[Argument, ...] = Field(
        min_length=1,
        description="program and arguments; {factor} is its level, {inputs} what the setup filled, {scratch} an empty folder",
    )
    setup: tuple[Argument, ...] | None = Field(
        default=None, min_length=1, description="argv run once before the sweep, not measured"
    )
    prepare: tuple[Argument, ...] | None = Field(
        default=None, min_length=1, description="argv run before each trial, not measured"
    )
    env: dict[str, Argument] = Field(
        default_factory=dict, description="environment variables added; {factor} is replaced"
    )
    cwd: str | None = Field(default=None, description="working folder, relative to the study file")
    responses: dict[Annotated[str, Field(pattern=COLUMN_PATTERN)], ResponseExtraction] = Field(
        default_factory=dict
    )
    expected_exit_codes: tuple[int, ...] = Field(default=(0,), description="exit codes that mean success")


class LocalTarget(Spec):
    """This machine."""

    kind: Literal["local"] = "local"
    mechanism: Literal["auto", "cgroup-v2", "cgroup-v1", "systemd", "affinity", "unlimited"] = Field(
        default="auto", description="how a CPU limit is put in force; auto takes the best that works here"
    )
    cpu_limit: Annotated[
        FactorLevel, Field(description="CPU limit of every trial where it is no factor [cores]")
    ] = NONE


class DesignSpec(Spec):
    """Which treatments, how often, in what order."""

    kind: Literal["factorial", "paired", "list"] = Field(
        default="factorial",
        description="factorial: every combination; paired: first with first, second with second; list: as written",
    )
    treatments: tuple[dict[str, FactorLevel], ...] | None = Field(
        default=None, description="the treatments of a list design, each {factor: level, ...}"
    )
    replicates: int = Field(
        default=5, ge=1, le=MOST_REPLICATES, description="measured trials a treatment [count]"
    )
    warmup: int = Field(
        default=1,
        ge=0,
        le=100,
        description="trials of each treatment before the first block, recorded, not analysed",
    )
    seed: int = Field(default=1, ge=0, description="seed of the run order")
    timeout_s: float = Field(default=600.0, gt=0, description="longest time a trial may take [s]")
    cooldown_s: float = Field(default=0.0, ge=0, le=3600, description="pause between trials [s]")

    @model_validator(mode="after")
    def _list_has_treatments(self) -> DesignSpec:
        if (self.kind == "list") != (self.treatments is not None):
            raise ValueError("treatments are given for kind: list, and only there")
        return self


class ResponseSpec(Spec):
    """What is judged, and which way is better."""

    name: str = Field(default="wall_s", pattern=COLUMN_PATTERN, description="column of the tidy table")
    unit: str | None = Field(default="s", description="unit of the response")
    goal: Literal["min", "max"] = Field(default="min", description="whether smaller or larger is better")


class TrustSpec(Spec):
    """When a trial is not trusted, and how often it is repeated."""

    max_foreign_cpu: float = Field(
        default=0.15, gt=0, description="CPU others may use during a trial [cores]"
    )
    max_steal: float = Field(default=0.05, gt=0, description="CPU the hypervisor may withhold [cores]")
    max_pressure: float = Field(
        default=0.10, gt=0, le=1, description="share of time tasks may stall on memory or I/O"
    )
    max_clock_drift: float = Field(
        default=0.01, gt=0, description="wall clock against monotonic clock [share]"
    )
    max_attempts: int = Field(
        default=3, ge=1, le=20, description="attempts at a trial before it is left as it is"
    )


class Study(Spec):
    """A question and all it takes to answer it."""

    study: str = Field(pattern=NAME_PATTERN, max_length=64, description="short name; becomes a folder name")
    title: str = Field(default="", description="one line")
    question: str = Field(default="", description="what the study is to decide")
    workload: Annotated[FfmpegWorkload | CommandWorkload, Field(discriminator="kind")]
    target: LocalTarget = Field(default_factory=LocalTarget)
    factors: dict[Annotated[str, Field(pattern=COLUMN_PATTERN)], Factor] = Field(default_factory=dict)
    design: DesignSpec = Field(default_factory=DesignSpec)
    knob: str | None = Field(
        default=None, description="the factor that phases are fitted over; default the first"
    )
    response: ResponseSpec = Field(default_factory=ResponseSpec)
    trust: TrustSpec = Field(default_factory=TrustSpec)

    @field_validator("factors")
    @classmethod
    def _equals_a_factor(cls, factors: dict[str, Factor]) -> dict[str, Factor]:
        for name, factor in factors.items():
            if isinstance(factor, EqualFactor) and isinstance(factors.get(factor.equals), EqualFactor | None):
                raise ValueError(
                    f"{name} equals {factor.equals!r}, which is no factor with levels of its own"
                )
        return factors

    @model_validator(mode="after")
    def _hangs_together(self) -> Study:
        names = self.factor_names()
        if not names:
            raise ValueError("has no factors: nothing is varied, so nothing can be learnt")
        if self.knob is not None and self.knob not in names:
            raise ValueError(f"knob is {self.knob!r}, which is no factor; factors are {', '.join(names)}")
        return self

    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors, in the order written; those of a list design come from its treatments."""
        listed = (name for treatment in self.design.treatments or () for name in treatment)
        return tuple(dict.fromkeys((*self.factors, *listed)))

    @property
    def knob_name(self) -> str:
        """The factor phases are fitted over."""
        return self.knob or self.factor_names()[0]

    def unit_of(self, factor: str) -> str | None:
        """Unit of a factor: as declared, else what its name says by convention."""
        declared = self.factors[factor].unit if factor in self.factors else None
        return declared or CONVENTIONAL_UNITS.get(factor)


CONVENTIONAL_UNITS = {
    "cpu_limit": "cores",
    "threads": "threads",
    "pool_size": "threads",
    "rate": "requests/s",
    "block_size": "bytes",
}


def check_level(factor: str, level: Level) -> str | None:
    """What is wrong with a level of a factor whose meaning Deadzone knows, or None.

    A CPU limit is a positive number of cores or none; threads are whole and positive, none or auto.
    """
    if factor == "cpu_limit" and level != NONE and not (is_number(level) and float(level) > 0):
        return f"is {format_level(level)!r}; a CPU limit is a positive number of cores, or none"
    if factor == "threads" and level not in (NONE, AUTO):
        whole = is_number(level) and float(level) == int(float(level)) and float(level) > 0
        if not whole:
            return f"is {format_level(level)!r}; a number of threads is whole and positive, or auto"
    return None
