"""The workloads a study can name: what a trial executes. Those of packs stand beside these."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from deadzone import packs
from deadzone.study.base import Argument
from deadzone.study.objective_specs import Column
from deadzone.study.workload_spec import ClipSpec, ResponseExtraction, WorkloadSpec


class FfmpegWorkloadSpec(WorkloadSpec):
    """Frame extraction with ffmpeg: decode, scale, write one JPEG a frame."""

    kind: Literal["ffmpeg"] = "ffmpeg"
    program: str = "bundled"
    """bundled, or a program on the PATH such as ffmpeg"""

    clip: ClipSpec = Field(default_factory=ClipSpec)
    """the video that is generated and decoded"""

    scale: str = Field(default="1280:720", pattern=r"^-?\d+:-?\d+$")
    """size of the extracted frames"""

    quality: int = Field(default=2, ge=1, le=31)
    """JPEG quality, 1 is best"""


class CommandWorkloadSpec(WorkloadSpec):
    """Any program: an argument vector with {factor} placeholders."""

    kind: Literal["command"] = "command"
    argv: tuple[Argument, ...] = Field(min_length=1)
    """program and arguments; {factor} is its level, {inputs} what the setup filled, {scratch} an
    empty folder, {python} the interpreter"""

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

    responses: dict[Column, ResponseExtraction] = Field(default_factory=dict)
    """columns read from what the program prints, by name"""

    output: str | None = None
    """a program whose results are read from what is printed, such as pgbench; `deadzone import
    --list` names them"""

    expected_exit_codes: tuple[int, ...] | Literal["any"] = (0,)
    """exit codes that mean success, or any"""


class PythonWorkloadSpec(WorkloadSpec):
    """A Python function that `dz.sweep` was given: what is kept of it is its text, which nothing
    executes."""

    kind: Literal["python"] = "python"
    function: str
    """its name"""

    source: str = ""
    """its text as the sweep began; empty where it has none, such as one that was typed at a
    prompt"""

    sha256: str = ""
    """of the text"""

    returns: tuple[Column, ...] = ()
    """columns that it must return a number for"""

    _given: bytes = PrivateAttr(default=b"")
    _levels: dict[str, dict[str, Any]] = PrivateAttr(default_factory=dict)

    def of(self, given: bytes, levels: Mapping[str, Mapping[str, Any]]) -> "PythonWorkloadSpec":
        """The workload with the function to call, as cloudpickle writes it, and what each level is
        in Python.

        Both stay in memory: a pickle that is kept is not safe to read, and by another version
        of Python not at all. levels: by factor and by the level as a study writes it.
        """
        made = self.model_copy()
        made._given, made._levels = given, {name: dict(known) for name, known in levels.items()}
        return made

    @property
    def given(self) -> bytes:
        """The function to call; empty of a study that was read from a file."""
        return self._given

    def value(self, factor: str, level: str, written: Any) -> Any:
        """What a level is in Python."""
        return self._levels.get(factor, {}).get(level, written)


SPECS: tuple[type[WorkloadSpec], ...] = (
    FfmpegWorkloadSpec,
    CommandWorkloadSpec,
    PythonWorkloadSpec,
    *(packs.load(entry.spec) for entry in packs.brought("workloads").values()),
)
"""Every workload that a study can name."""

if TYPE_CHECKING:
    AnyWorkload = WorkloadSpec
else:
    AnyWorkload = Annotated[reduce(or_, SPECS), Field(discriminator="kind")]
