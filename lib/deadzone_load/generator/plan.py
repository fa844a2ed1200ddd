"""What the generator is told to do: one JSON file, written by the workload, read by the client
process."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

ID = "{id}"
"""Stands in a body for the number of the message, by which its answers are recognised."""

USER = "{user}"
"""Stands in a path, body or destination for the number of the connection."""

ROOM = "{room}"
"""Stands in a path, body or destination for the room of the connection: its number over the size of
a room."""


@dataclass(frozen=True)
class LoadPlan:
    """A load: what is sent where, how often, for how long. Rates are per second, times seconds."""

    url: str
    protocol: Literal["http", "websocket", "stomp"] = "http"
    mode: Literal["constant", "spike", "ramp"] = "constant"
    rate: float = 0.0
    duration_s: float = 10.0
    warmup_s: float = 0.0
    arrival: Literal["constant", "poisson"] = "constant"
    seed: int = 1
    connections: int = 1_000
    connection_rate: float = 200.0
    room_size: int = 1
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    subscribe: Sequence[str] = ()
    send_to: str = ""
    on_open: Sequence[str] = ()
    answered_by: Literal["reply", "broadcast"] = "reply"
    reply_contains: str = ""
    fan_out: int = 0
    timeout_s: float = 10.0
    drain_s: float = 5.0
    hold_s: float = 1.0
    verify_tls: bool = True
    allow_remote: bool = False

    def write(self, path: Path) -> None:
        """Write the plan as JSON."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "LoadPlan":
        """The plan in a file that `write` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))
