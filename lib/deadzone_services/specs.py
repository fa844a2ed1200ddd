"""The HTTP workload of a study: what is asked, and what the answer must be."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from deadzone.plugins import Argument, Spec, WorkloadSpec, placeholders, texts_in
from deadzone.study.objective_specs import Column
from deadzone.study.service_specs import SERVICE_URL
from deadzone.study.workload_spec import BodyResponseSpec, ClipSpec, JsonPath, RegularExpression


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


class FormFileSpec(Spec):
    """A part of a form that is a file."""

    gone: ClassVar = {"filename": "the server is told the file's own name"}

    file: Argument
    """path; {clip} is the generated video"""

    content_type: str | None = None
    """default: as the file's name says"""


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


class HttpWorkloadSpec(WorkloadSpec):
    """One HTTP request a trial, timed phase by phase by libcurl."""

    gone: ClassVar = {
        "keep_alive": "the workload load asks over connections that stay open",
        "expect_100": "a request is sent without asking for leave",
        "connect_timeout_s": "timeout_s bounds the whole request",
        "setup": "make the file that is uploaded beforehand, and name it in body_file or form",
    }

    kind: Literal["http"] = "http"
    url: Argument = f"{{{SERVICE_URL}}}/"
    """where; {service_url} is the service under test, {factor} a level"""

    method: str | None = Field(default=None, pattern=r"^[A-Z]+$")
    """default GET, and POST with a body"""

    headers: dict[str, HeaderText] = Field(default_factory=dict)
    """headers of the request"""

    headers_from_env: dict[str, str] = Field(default_factory=dict)
    """headers whose value stands in an environment variable of that name, such as {Authorization:
    API_TOKEN}"""

    json_body: JsonBody = None
    """a body in JSON; {factor} in its texts is replaced"""

    form: dict[str, Argument | FormFileSpec] | None = Field(default=None, min_length=1)
    """a multipart form; a part is a text or {file: path}"""

    body_file: Argument | None = None
    """a file whose content is the body"""

    clip: ClipSpec = Field(default_factory=ClipSpec)
    """the video that {clip} stands for"""

    answer: AnswerSpec = Field(default_factory=AnswerSpec)
    """what a good answer looks like; any other is a failed trial"""

    responses: dict[Column, BodyResponseSpec] = Field(default_factory=dict)
    """numbers read from the body"""

    timeout_s: float = Field(default=300.0, gt=0)
    """longest time of the request [s]"""

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
        form = [
            part.file if isinstance(part, FormFileSpec) else part
            for part in (self.form or {}).values()
        ]
        return texts_in([self.url, self.headers, self.json_body, form, self.body_file])
