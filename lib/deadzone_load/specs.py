"""The load workload of a study: what is sent, how often, for how long, and by which generator."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from deadzone.plugins import Argument, WorkloadSpec, texts_in
from deadzone.study.service_specs import SERVICE_URL
from deadzone.study.workload_spec import MOST_RATE, RateSearchSpec

FIELD_FACTORS = ("rate", "duration_s", "warmup_s", "connections", "connection_rate")
"""Factors that take the place of the field of their name."""

MESSAGE_PLACEHOLDERS = ("id", "user", "room")
"""Filled in for each message or connection by the generator, not by the study."""

Rate = Annotated[
    Annotated[float, Field(gt=0, le=MOST_RATE), Tag("number")]
    | Annotated[RateSearchSpec, Tag("search")],
    Discriminator(lambda value: "search" if isinstance(value, dict | RateSearchSpec) else "number"),
]


class LoadWorkloadSpec(WorkloadSpec):
    """A load on a server: requests or messages at a constant arrival rate, or connections."""

    gone: ClassVar = {
        "broadcast_contains": "reply_contains tells the two apart",
        "latency_metric": "a trend of the k6 script is a column by its own name",
    }

    kind: Literal["load"] = "load"
    driver: Literal["deadzone", "k6", "locust"] = "deadzone"
    """the generator; k6 and locust run a script of theirs, with the factors in the environment, in
    capitals, beside URL, RATE, DURATION_S and USERS"""

    protocol: Literal["http", "websocket", "stomp"] = "http"
    """HTTP/1.1, text messages over WebSocket, or STOMP 1.2 over WebSocket"""

    mode: Literal["constant", "spike", "ramp"] = "constant"
    """constant: rate; spike: connection_rate for duration_s; ramp: connection_rate until the server
    gives up"""

    url: Argument = f"{{{SERVICE_URL}}}"
    """where; {service_url} is the service under test, {factor} a level, {id} the number of the
    request, {user} and {room} those of the connection"""

    rate: Rate | None = None
    """requests or messages due each second [1/s]; a factor named rate takes its place, {find:
    capacity} searches it"""

    duration_s: float = Field(default=10.0, gt=0, le=86_400)
    """length of what is measured [s]"""

    warmup_s: float = Field(default=0.0, ge=0, le=3600)
    """the same load before that, kept in the histograms alone [s]"""

    arrival: Literal["constant", "poisson"] = "constant"
    """evenly spaced, or at random moments as from many independent users"""

    connections: int = Field(default=1_000, ge=1, le=1_000_000)
    """users that stay connected (WebSocket, STOMP), or most connections at once (HTTP, spike, ramp)
    [count]"""

    connection_rate: float = Field(default=200.0, gt=0, le=MOST_RATE)
    """connections opened each second [1/s]"""

    room_size: int = Field(default=1, ge=1)
    """connections that share a {room}: its number is {user} divided by this"""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    """of HTTP requests"""

    headers: dict[str, Annotated[Argument, Field(pattern=r"^[^\r\n]*$")]] = Field(
        default_factory=dict
    )
    """of requests and of the upgrade"""

    body: Argument = ""
    """what is sent; {id} is the number by which answers of messages are recognised"""

    subscribe: tuple[Argument, ...] = ()
    """STOMP destinations that every user listens to"""

    send_to: Argument = ""
    """STOMP destination that messages are sent to"""

    on_open: tuple[Argument, ...] = ()
    """messages that each user sends first, not measured"""

    answered_by: Literal["reply", "broadcast"] = "reply"
    """what ends the waiting of a message: its reply, or its first broadcast"""

    reply_contains: str = ""
    """words that only replies hold; default: the first copy that reaches its sender"""

    fan_out: int = Field(default=0, ge=0)
    """broadcasts that each message must cause; 0: not known [count]"""

    timeout_s: float = Field(default=10.0, gt=0, le=3600)
    """a request without answer is given up [s]"""

    drain_s: float = Field(default=5.0, ge=0, le=3600)
    """wait for answers at the end [s]"""

    hold_s: float = Field(default=1.0, ge=0, le=3600)
    """of a spike or ramp: wait at the end [s]"""

    verify_tls: bool = True
    """whether the server's certificate must be valid"""

    allow_remote: bool = False
    """load a host that is neither this machine nor a private address; say so only of your own"""

    script: str | None = None
    """file of k6 or Locust, relative to the study file"""

    program: str | None = None
    """k6 or locust to run; default: the installed one"""

    users: int = Field(default=100, ge=1)
    """virtual users of k6 or Locust [count]"""

    env: dict[str, Argument] = Field(default_factory=dict)
    """environment variables of the script besides the factors"""

    def _hangs_together(self) -> None:
        if (self.driver == "deadzone") != (self.script is None):
            raise ValueError("needs a script for the driver k6 or locust, and for no other")
        if self.driver != "deadzone" and self.mode != "constant":
            raise ValueError(
                f"has the mode {self.mode}, which the script of {self.driver} must do itself"
            )
        if self.search and (self.driver != "deadzone" or self.mode != "constant"):
            raise ValueError(
                "searches its rate, which the driver deadzone does, with the mode constant"
            )
        if self.protocol == "stomp" and self.mode == "constant" and not self.send_to:
            raise ValueError("needs send_to, the destination of its STOMP messages")
        if self.protocol != "stomp" and (self.send_to or self.subscribe):
            raise ValueError(
                "has destinations (send_to, subscribe), which only the protocol stomp knows"
            )
        if self.protocol == "http" and (self.fan_out or self.on_open):
            raise ValueError("has fan_out or on_open, which HTTP does not know")

    @property
    def search(self) -> RateSearchSpec | None:
        """How the rate is searched; None where it is given."""
        return self.rate if isinstance(self.rate, RateSearchSpec) else None

    def templates(self) -> Iterator[str]:
        """Every text in which placeholders are filled in."""
        texts = [self.url, self.body, self.send_to, self.subscribe, self.on_open]
        return texts_in([*texts, self.headers, self.env])
