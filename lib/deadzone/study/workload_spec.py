"""What the specification of every workload says of itself, whoever brings it, and what several
share: a rate that is left open, numbers read from a text, the video that is decoded or sent."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from deadzone.study.base import Spec

LEAST_RATE = 1.0
"""A server that misses its objectives at one request a second has no capacity to speak of [1/s]."""

MOST_RATE = 1_000_000
"""Beyond this no single generator sends, so it is a slip of the keyboard [1/s]."""


CAPACITY = "capacity_rps"
"""The response of a study that searches the rate: the highest one that meets its objectives
[requests/s]."""


GENERATOR = "generator"
"""What limits a search whose load could not be made."""


class RateSearchSpec(Spec):
    """The highest rate that meets the objectives, searched for each combination of levels, once a
    replicate."""

    model_config = ConfigDict(populate_by_name=True)

    find: Literal["capacity"]
    """capacity: the highest rate that meets the objectives"""

    start: float = Field(default=100.0, alias="from", ge=LEAST_RATE, le=MOST_RATE)
    """the rate that is tried first [1/s]"""

    within: float = Field(default=0.05, ge=0.02, le=1)
    """a search ends when the lowest rate that misses is no more than this above the highest that
    meets [share]"""


class WorkloadSpec(Spec):
    """A workload as a study writes it. A subclass sets `kind`, a literal that no other has, and
    adds its keys."""

    kind: str

    waits_on_io: ClassVar[bool] = False
    """Whether waiting for a disk is what a trial measures, and no disturbance of it."""

    @property
    def search(self) -> RateSearchSpec | None:
        """How trials search the rate that is borne; None where the study gives the rates."""
        return None

    @property
    def disk_folder(self) -> str | None:
        """A folder on the disk that I/O limits are for; None where the workload names none."""
        return None


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


RegularExpression = Annotated[str, AfterValidator(_regular_expression)]
JsonPath = Annotated[str, AfterValidator(_json_path)]


class BodyResponseSpec(Spec):
    """How one response is read from the body of an answer."""

    one_of = ("regex", "json_path")

    regex: RegularExpression | None = None
    """regular expression; its first group is the number"""

    json_path: JsonPath | None = None
    """JMESPath into JSON"""

    unit: str | None = None
    """unit of the response"""


def with_unit(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A study as a document, whose response has the unit in which the workload reads it, where it
    gives none itself."""
    match document:
        case {"workload": {"responses": dict(read)}, "response": {"name": str(name), **own}}:
            of_workload = read.get(name)
            if isinstance(of_workload, dict) and of_workload.get("unit") and "unit" not in own:
                return {**document, "response": {"name": name, **own, "unit": of_workload["unit"]}}
    return document


class ResponseExtraction(BodyResponseSpec):
    """How one response is read from what a program prints."""

    stream: Literal["stdout", "stderr", "both"] = "stdout"
    """where the program prints it"""


class ClipSpec(Spec):
    """The video that ffmpeg decodes; generated once and kept in a cache."""

    duration_s: float = Field(default=6.0, gt=0, le=3600)
    """length of the clip [s]"""

    width: int = Field(default=1280, ge=16, le=7680)
    """width [pixels]"""

    height: int = Field(default=720, ge=16, le=4320)
    """height [pixels]"""

    frames_per_second: float = Field(default=29.97, gt=0, le=240)
    """frame rate [1/s]"""


CLIP = "clip"
"""Placeholder for the path of the generated video."""
