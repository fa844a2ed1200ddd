"""How numbers are read from what a program prints or a service answers: regular expressions and
JSON paths."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from deadzone.study.base import Spec


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


class ResponseExtraction(BodyResponseSpec):
    """How one response is read from what a program prints."""

    stream: Literal["stdout", "stderr", "both"] = "stdout"
    """where the program prints it"""
