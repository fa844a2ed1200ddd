"""A service under test, and the environments it is tested in: how it is started, known to be ready,
and stopped."""

from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from deadzone.study.base import NAME_PATTERN, Argument, Spec
from deadzone.study.levels import texts_in
from deadzone.study.target_specs import AnyTarget
from deadzone.study.workload_spec import RegularExpression

ENVIRONMENT = "environment"
"""The factor whose levels are the names of a study's environments."""

SERVICE_URL, ADDRESS, HOST, PORT = "service_url", "address", "host", "port"
"""Placeholders that a client's arguments may hold: base URL of the service, host:port, and its
parts."""

SERVICE_PLACEHOLDERS = (SERVICE_URL, ADDRESS, HOST, PORT)

PYTHON = "python"
"""Placeholder in the argument vector of a service for the Python that Deadzone runs with."""

DATA = "data"
"""Placeholder for the data folder of a service."""

ANY_URL = r"^((https?|wss?)://|tcp://[^/:]+:\d+/?$)"


def _with_host(url: str) -> str:
    if not urlsplit(url).hostname or urlsplit(url).port == 0:  # `port` refuses what is none
        raise ValueError("names no host, or the port 0")
    return url


AnyUrl = Annotated[str, Field(pattern=ANY_URL), AfterValidator(_with_host)]

EnvironmentName = Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]


class ReadinessSpec(Spec):
    """How a service that was started is known to be ready."""

    path: str | None = Field(default=None, pattern=r"^/")
    """path that answers once the service is ready, such as /health; default: its port accepts
    connections, which a container engine may do in its place"""

    status: int = Field(default=200, ge=100, le=599)
    """HTTP status that means ready"""

    argv: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """program that ends with 0 once the service is ready, such as [pg_isready, -p, "{port}"]; asked
    in place of path"""

    timeout_s: float = Field(default=30.0, gt=0, le=3600)
    """longest time until it is ready [s]"""


class ReadBackSpec(Spec):
    """How the value of a setting that is in force is read: it must be the level, or the trial
    fails."""

    one_of = ("argv", "url")

    factor: str
    """the factor whose level it is compared with, as a number, a size or a word"""

    argv: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """program that prints it"""

    url: Argument | None = None
    """page that shows it, in place of a program"""

    regex: RegularExpression = r"(.+)"
    """expression whose first group is the value; default the whole line"""


class DataSpec(Spec):
    """The data folder of a service, {data}: prepared once by the setup, or before."""

    folder: str | None = None
    """folder that is prepared, relative to the study file; default {inputs}, which the setup
    fills"""

    fresh: Literal["copy", "reuse"] = "copy"
    """copy: every start finds a copy of its own, beside the folder, with shared blocks where the
    file system can; reuse: all starts work on the folder itself"""


class ServiceKeys(Spec):
    """What a service and an environment's changes of it have in common."""

    argv: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """program and arguments; {factor} is its level, {port} a free port, {scratch} an empty folder,
    {inputs} what the setup filled, {python} the Python of Deadzone"""

    env: dict[str, Argument] = Field(default_factory=dict)
    """environment variables added; {factor} and the others are replaced"""

    cwd: str | None = None
    """working folder, relative to the study file"""

    url: AnyUrl | None = None
    """base URL of a service that is up already; nothing is started then; tcp://host:port of one
    that speaks no HTTP"""

    hook: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run, unmeasured, before the first trial of each treatment; for a service that is up
    already it changes its setting"""

    read_back: ReadBackSpec | None = None
    """how the setting in force is read after the hook, or the start"""

    restore: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run at the end, after Ctrl-C too, and by `deadzone restore` after a kill: it gives back
    what the hook changed"""

    user: str | None = Field(default=None, min_length=1)
    """user of this machine as whom the service and its hooks, setup and questions run; default the
    one who measures"""

    data: DataSpec | None = None
    """data folder that is prepared once, {data}"""

    def templates(self) -> Iterator[str]:
        """Every text in which placeholders are filled in."""
        asked = self.read_back and (self.read_back.argv, self.read_back.url)
        return texts_in((self.argv, self.env, self.hook, asked))


class ServiceSpec(ServiceKeys):
    """The service that trials ask."""

    setup: tuple[Argument, ...] | None = Field(default=None, min_length=1)
    """argv run once before the sweep, unmeasured; {inputs} is its folder"""

    host: str = "127.0.0.1"
    """address at which the service that was started is reached"""

    port: int | None = Field(default=None, ge=1, le=65535)
    """port it listens on; default a free one, as {port}"""

    ready: ReadinessSpec = Field(default_factory=ReadinessSpec)
    """how to tell that the service answers"""

    restart: Literal["trial", "treatment"] = "trial"
    """trial: a fresh process for every trial; treatment: it goes on as long as treatment and
    environment stay the same"""

    stop_timeout_s: float = Field(default=10.0, ge=0, le=600)
    """time it gets to end after SIGTERM before it is killed [s]"""


class EnvironmentSpec(Spec):
    """One of the places in which the same service is tested."""

    target: AnyTarget | None = None
    """where it runs; default the study's target"""

    service: ServiceKeys | None = None
    """keys of the service that are different here; env is added to"""

    url: AnyUrl | None = None
    """base URL of a service that is up already in this environment"""

    def _hangs_together(self) -> None:
        if self.url and self.service and self.service.url:
            raise ValueError("has two URLs; give one, as url")


def service_in(service: ServiceSpec | None, environment: EnvironmentSpec | None) -> ServiceSpec:
    """The service as it is in an environment: the study's, with what is different there."""
    base = service or ServiceSpec()
    if environment is None:
        return base
    own = environment.service or ServiceKeys()
    changed = {name: value for name, value in own if value is not None}
    changed["env"] = {**base.env, **own.env}
    if own.argv or environment.url:
        changed["url"] = environment.url or own.url
    return base.model_copy(update=changed)
