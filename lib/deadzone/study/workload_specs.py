"""The workloads a study can name: what a trial executes."""

from typing import Annotated, Literal

from pydantic import Field

from deadzone.study.base import COLUMN_PATTERN, Argument, Spec
from deadzone.study.disk_specs import DiskWorkload
from deadzone.study.extraction_specs import ResponseExtraction
from deadzone.study.http_specs import HttpWorkload
from deadzone.study.load_specs import LoadWorkload
from deadzone.study.media_specs import ClipSpec


class FfmpegWorkload(Spec):
    """Frame extraction with ffmpeg: decode, scale, write one JPEG a frame."""

    kind: Literal["ffmpeg"] = "ffmpeg"
    program: str = "bundled"
    """bundled, or a program on the PATH such as ffmpeg"""

    clip: ClipSpec = Field(default_factory=ClipSpec)
    input: str | None = None
    """a video file to use in place of the generated clip"""

    scale: str = Field(default="1280:720", pattern=r"^-?\d+:-?\d+$")
    """size of the extracted frames"""

    quality: int = Field(default=2, ge=1, le=31)
    """JPEG quality, 1 is best"""


class CommandWorkload(Spec):
    """Any program: an argument vector with {factor} placeholders."""

    kind: Literal["command"] = "command"
    argv: tuple[Argument, ...] = Field(min_length=1)
    """program and arguments; {factor} is its level, {inputs} what the setup filled, {scratch} an empty folder, {python} the interpreter"""

    setup: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run once before the sweep, not measured"""

    prepare: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run before each trial, not measured"""

    cleanup: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run once after the sweep, not measured"""

    env: dict[str, Argument] = Field(default_factory=dict)
    """environment variables added; {factor} is replaced"""

    cwd: str | None = None
    """working folder, relative to the study file"""

    responses: dict[Annotated[str, Field(pattern=COLUMN_PATTERN)], ResponseExtraction] = Field(
        default_factory=dict
    )
    output: str | None = None
    """a program whose results are read from what is printed, such as pgbench; `deadzone import --list` names them"""

    expected_exit_codes: tuple[int, ...] | Literal["any"] = (0,)
    """exit codes that mean success, or any"""


AnyWorkload = Annotated[
    FfmpegWorkload | CommandWorkload | DiskWorkload | LoadWorkload | HttpWorkload, Field(discriminator="kind")
]
"""Every workload, told apart by its kind."""
