"""The workloads a study can name: what a trial executes."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from deadzone.study.base import Argument, Spec
from deadzone.study.extraction_specs import BodyResponse, JsonPath, RegularExpression, ResponseExtraction
from deadzone.study.levels import placeholders, texts_in
from deadzone.study.objective_specs import Column
from deadzone_disk.specs import DiskWorkload
from deadzone_load.specs import LoadWorkload
from deadzone_services.specs import SERVICE_URL


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


def _header(text: str) -> str:
    if re.search(r"[\r\n]", text):
        raise ValueError("holds a line end, which no header can")
    return text


def _templates(body: Any) -> Any:
    for text in texts_in(body):
        placeholders(text)
    return body


JsonBody = Annotated[Any, AfterValidator(_templates)]
HeaderText = Annotated[Argument, AfterValidator(_header)]


class FormFile(Spec):
    """A part of a form that is a file."""

    file: Argument
    """path; {clip} is the generated video, {inputs}/NAME what the setup made"""

    content_type: str | None = None
    """default: as the file's name says"""

    filename: str | None = None
    """name told to the server; default the file's own"""


class AnswerSpec(Spec):
    """What an answer must be: a fast error is no fast success."""

    status: tuple[int, ...] = Field(default=(200,), min_length=1)
    """HTTP statuses that mean success"""

    min_bytes: int = Field(default=0, ge=0)
    """least length of the body [bytes]"""

    regex: RegularExpression | None = None
    """the body must match it somewhere"""

    json_path: JsonPath | None = None
    """JMESPath into a JSON body that must give something other than false, empty or null"""


class HttpWorkload(Spec):
    """One HTTP request a trial, timed phase by phase by libcurl."""

    kind: Literal["http"] = "http"
    url: Argument = f"{{{SERVICE_URL}}}/"
    """where; {service_url} is the service under test, {factor} a level"""

    method: str | None = Field(default=None, pattern=r"^[A-Z]+$")
    """default GET, and POST with a body"""

    headers: dict[str, HeaderText] = Field(default_factory=dict)
    """headers of the request"""

    headers_from_env: dict[str, str] = Field(default_factory=dict)
    """headers whose value stands in an environment variable of that name, such as {Authorization: API_TOKEN}"""

    json_body: JsonBody = None
    """a body in JSON; {factor} in its texts is replaced"""

    form: dict[str, Argument | FormFile] | None = Field(default=None, min_length=1)
    """a multipart form; a part is a text or {file: path}"""

    body_file: Argument | None = None
    """a file whose content is the body"""

    clip: ClipSpec = Field(default_factory=ClipSpec)
    """the video that {clip} stands for"""

    setup: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run once before the sweep, not measured; fills {inputs}"""

    answer: AnswerSpec = Field(default_factory=AnswerSpec)
    responses: dict[Column, BodyResponse] = Field(default_factory=dict)
    """numbers read from the body"""

    timeout_s: float = Field(default=300.0, gt=0)
    """longest time of the request [s]"""

    connect_timeout_s: float = Field(default=10.0, gt=0)
    """longest time until it is connected [s]"""

    keep_alive: bool = False
    """ask over a connection that an earlier request opened; then connecting takes no time"""

    expect_100: bool = False
    """ask for leave before a large upload (Expect: 100-continue); the first byte is then that of the leave"""

    verify_tls: bool = True
    """whether the server's certificate must be valid"""

    ca_file: str | None = None
    """certificates to trust, relative to the study file"""

    def _hangs_together(self) -> None:
        given = [n for n in ("json_body", "form", "body_file") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"has {' and '.join(given)}; a request has one body")

    @property
    def has_body(self) -> bool:
        """Whether the request carries one."""
        return any(part is not None for part in (self.json_body, self.form, self.body_file))

    def templates(self) -> Iterator[str]:
        """Every text in which placeholders are filled in."""
        form = [part.file if isinstance(part, FormFile) else part for part in (self.form or {}).values()]
        return texts_in([self.url, self.headers, self.json_body, form, self.body_file])


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

    responses: dict[Column, ResponseExtraction] = Field(default_factory=dict)
    output: str | None = None
    """a program whose results are read from what is printed, such as pgbench; `deadzone import --list` names them"""

    expected_exit_codes: tuple[int, ...] | Literal["any"] = (0,)
    """exit codes that mean success, or any"""


class PythonWorkload(Spec):
    """A Python function that `dz.sweep` was given: what is kept of it is its text, which nothing executes."""

    kind: Literal["python"] = "python"
    function: str
    """its name"""

    source: str = ""
    """its text as the sweep began; empty where it has none, such as one that was typed at a prompt"""

    sha256: str = ""
    """of the text"""

    returns: tuple[Column, ...] = ()
    """columns that it must return a number for"""

    _given: bytes = PrivateAttr(default=b"")
    _levels: dict[str, dict[str, Any]] = PrivateAttr(default_factory=dict)

    def of(self, given: bytes, levels: Mapping[str, Mapping[str, Any]]) -> "PythonWorkload":
        """The workload with the function to call, as cloudpickle writes it, and what each level is in Python.

        Both stay in memory: a pickle that is kept is read by nobody safely, and by another version of Python not at all.
        levels: by factor and by the level as a study writes it.
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


AnyWorkload = Annotated[
    FfmpegWorkload | CommandWorkload | PythonWorkload | DiskWorkload | LoadWorkload | HttpWorkload,
    Field(discriminator="kind"),
]
"""Every workload, told apart by its kind."""
