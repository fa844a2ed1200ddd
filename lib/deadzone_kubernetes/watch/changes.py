"""What others change at a workload while it is swept, and who they are.

Every write of a sweep gives the object as it is then, so whatever differs from it later was changed
by another client, also a value that is set back to what it was before the sweep.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.watch.owners import (
    FieldOwner,
    Path,
    entries,
    is_ours,
    managers_of,
    owner_of,
    value_at,
)

SHOWN = 60
"""How much of a value stands in a sentence [characters]."""

EPHEMERAL = "ephemeralContainers"

PERMISSION_PATH: Path = ("metadata", "annotations")


@dataclass(frozen=True)
class Change:
    """A difference that others made. what: in words, with the values. who: who made it and when, as
    far as the API server tells."""

    what: str
    who: FieldOwner | str | None

    def __str__(self) -> str:
        return f"{self.what} {self.who}" if self.who else self.what


@dataclass(frozen=True)
class Look:
    """An object as it was seen, and when."""

    manifest: Object
    at: datetime

    @classmethod
    def now(cls, manifest: Object) -> "Look":
        """As it has just been read."""
        return cls(manifest, datetime.now(UTC))

    def until(self, at: datetime) -> str:
        """When, in words, a change was made whose author the cluster does not record."""
        return f"between {self.at:%H:%M:%S} and {at:%H:%M:%S} UTC (the cluster does not record who)"

    def differences(self, now: Object, watched: Collection[Path] = ()) -> list[Change]:
        """What others changed in the object's specification since. watched: further fields."""
        before, unknown = self.manifest, self.until(datetime.now(UTC))
        if before["metadata"]["uid"] != now["metadata"]["uid"]:
            return [Change("it was deleted and made again", unknown)]
        was, has = (dict(_values(("spec",), manifest["spec"])) for manifest in (before, now))
        for path in watched:
            was[path], has[path] = value_at(before, path), value_at(now, path)
        written = managers_of(before)
        differ = [path for path in {**was, **has} if was.get(path) != has.get(path)]
        return [
            Change(
                _said(path, was.get(path), has.get(path)), owner_of(now, path, written) or unknown
            )
            for path in differ
            # not a shell that is lent, a user who looks, or a write of ours whose answer was lost
            if EPHEMERAL not in path and not (is_ours(now, path) and any(entries(now, path)))
        ]


def _said(path: Path, before: object, now: object) -> str:
    if path[-1] == "kubectl.kubernetes.io/restartedAt":
        return "its pods were restarted"
    shown = [part for part in path if part not in ("spec", "template", "metadata", "containers")]
    name = ".".join(shown) or ".".join(path)
    what = "set" if before is None else "removed" if now is None else "changed"
    if "env" in path:  # values of the environment may be secrets
        return f"{name} was {what}"
    values = [_short(str(value)) for value in (before, now)]
    amounts = {
        "set": f" to {values[1]}",
        "removed": f", it was {values[0]}",
        "changed": f" from {values[0]} to {values[1]}",
    }
    return f"{name} was {what}{amounts[what]}"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _values(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    """The leaves of an object, each with its path."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _values((*path, str(key)), below)
    elif isinstance(value, list):
        for i, below in enumerate(value):
            named = below.get("name") if isinstance(below, Mapping) else None
            yield from _values((*path, str(named or i)), below)
    else:
        yield path, value
