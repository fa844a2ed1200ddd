"""What the generator is told to do: one JSON file, written by the workload, read by the client
process."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deadzone_load.specs import LoadWorkloadSpec as Told
else:  # to load pydantic would take the process that sends a tenth of a second
    Told = SimpleNamespace

ID = "{id}"
"""Stands in a body for the number of the message, by which its answers are recognised."""

USER = "{user}"
"""Stands in a path, body or destination for the number of the connection."""

ROOM = "{room}"
"""Stands in a path, body or destination for the room of the connection: its number over the size of
a room."""


class LoadPlan(Told):
    """A load: the keys of its specification, with the levels of a trial in their place and in its
    texts. Rates are per second, times seconds."""

    rate: float

    def write(self, path: Path) -> None:
        """Write the plan as JSON."""
        path.write_text(json.dumps(vars(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "LoadPlan":
        """The plan in a file that `write` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))
