"""What others change at a workload while it is swept, and who they are.

The API server keeps for each object which manager set which field and when
(`metadata.managedFields`; Kubernetes documentation, "Server-Side Apply", "Field management"). A
sweep writes under a name of its own, so a field that it set and that has another owner now was
changed by another client, whatever the value is.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deadzone_kubernetes.api.cluster import MANAGER, Object

Path = tuple[str, ...]
"""The keys on the way to a value; of a list's item its name, else its index."""

SHOWN = 60
"""How much of a value stands in a sentence [characters]."""

EPHEMERAL = "ephemeralContainers"

PERMISSION_PATH: Path = ("metadata", "annotations")


@dataclass(frozen=True)
class FieldOwner:
    """Who set a field last. at: when, as the API server writes it."""

    manager: str
    at: str


@dataclass(frozen=True)
class Change:
    """A difference that others made. what: in words, with the values. owner: None where the API
    server does not tell."""

    what: str
    owner: FieldOwner | None

    def __str__(self) -> str:
        by = f" by {self.owner.manager} at {_clock(self.owner.at)}" if self.owner else ""
        return f"{self.what}{by}"


def path_of(kind: str, container: str, key: str) -> Path:
    """Where an object has an amount of a container. kind: of the object. key: such as
    limits.cpu."""
    to_pod = ("spec",) if kind == "pod" else ("spec", "template", "spec")
    return (*to_pod, "containers", container, "resources", *key.split("."))


def owner_of(
    manifest: Mapping[str, Any], path: Path, manager: str | None = None
) -> FieldOwner | None:
    """Who set a field, or what lies around it, last; None if it was never set.

    manager: looks at this one's fields alone. An owner of exactly this field goes before one of
    what lies around it.
    """
    best: tuple[int, str, FieldOwner] | None = None
    for entry in manifest["metadata"].get("managedFields") or []:
        if manager is not None and entry.get("manager") != manager:
            continue
        depth = max(
            (_overlap(field, path) for field in _owned(entry.get("fieldsV1") or {})), default=0
        )
        owner = FieldOwner(str(entry.get("manager")), str(entry.get("time") or ""))
        if depth and (best is None or (depth, owner.at) > best[:2]):
            best = (depth, owner.at, owner)
    return best[2] if best else None


def is_ours(manifest: Mapping[str, Any], path: Path, manager: str = MANAGER) -> bool:
    """Whether the sweep set a field last. A field that is not there has no owner, and counts as
    removed by the sweep."""
    exact = [
        str(entry.get("manager"))
        for entry in manifest["metadata"].get("managedFields") or []
        if path in _owned(entry.get("fieldsV1") or {})
    ]
    return not exact or exact == [manager]


def disowned(manifest: Object) -> Object | None:
    """The patch after which the sweep manages no field of an object, which a later apply by its
    owner would meet as a conflict; None where it manages none."""
    managers = manifest["metadata"].get("managedFields") or []
    kept = [entry for entry in managers if entry.get("manager") != MANAGER]
    return {"metadata": {"managedFields": kept}} if len(kept) < len(managers) else None


def differences(
    before: Object, now: Object, swept: Collection[Path], watched: Collection[Path] = ()
) -> list[Change]:
    """What others changed in an object's specification since it was read before.

    swept: fields that the sweep changes itself, which count where they are another manager's now.
    watched: further fields.
    """
    if before["metadata"]["uid"] != now["metadata"]["uid"]:
        made = str(now["metadata"].get("creationTimestamp") or "")
        owner = owner_of(now, ("spec",))
        return [
            Change(
                "it was deleted and made again", FieldOwner(owner.manager, made) if owner else None
            )
        ]
    was, has = (dict(_values(("spec",), manifest["spec"])) for manifest in (before, now))
    for path in watched:
        was[path], has[path] = value_at(before, path), value_at(now, path)
    changed = [
        path
        for path in {**was, **has}
        if was.get(path) != has.get(path)
        and EPHEMERAL not in path  # a shell that is lent, or a user who looks
    ]
    theirs = [path for path in changed if path not in swept or not is_ours(now, path)]
    return [Change(_said(path, was.get(path), has.get(path)), _who(now, path)) for path in theirs]


def _who(manifest: Object, path: Path) -> FieldOwner | None:
    """The owner of a field; of one that was removed, whoever wrote last beside the sweep and the
    cluster's own reports."""
    exact = owner_of(manifest, path)
    entries = manifest["metadata"].get("managedFields") or []
    if exact and exact.manager != MANAGER and value_at(manifest, path) is not None:
        return exact
    others = [
        entry
        for entry in entries
        if entry.get("manager") != MANAGER and entry.get("subresource") != "status"
    ]
    last = max(others, key=lambda entry: str(entry.get("time")), default=None)
    return FieldOwner(str(last.get("manager")), str(last.get("time") or "")) if last else None


def _said(path: Path, before: object, now: object) -> str:
    if path[-1] == "kubectl.kubernetes.io/restartedAt":
        return "its pods were restarted"
    shown = [part for part in path if part not in ("spec", "template", "metadata", "containers")]
    name = ".".join(shown) or ".".join(path)
    if "env" in path:  # values of the environment may be secrets
        what = "set" if before is None else "removed" if now is None else "changed"
        return f"{name} was {what}"
    if before is None:
        return f"{name} was set to {_short(now)}"
    return (
        f"{name} was removed, it was {_short(before)}"
        if now is None
        else f"{name} was changed from {_short(before)} to {_short(now)}"
    )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _clock(at: str) -> str:
    try:
        return (
            datetime.fromisoformat(at.replace("Z", "+00:00"))
            .astimezone(UTC)
            .strftime("%H:%M:%S UTC")
        )
    except ValueError:
        return at or "an unknown time"


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


def value_at(value: object, path: Path) -> object:
    """The value at a path; None if there is none."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list):
            value = next(
                (item for item in value if isinstance(item, Mapping) and item.get("name") == key),
                None,
            )
        else:
            return None
    return value


def _owned(fields: Mapping[str, Any], before: Path = ()) -> set[Path]:
    """The fields of an entry of managedFields; a list's item stands under its name, else under its
    key as it is written."""
    paths: set[Path] = set()
    for key, below in fields.items():
        kind, _, rest = key.partition(":")
        if kind == "k":
            key_fields = json.loads(rest)
            rest = str(key_fields.get("name", rest))
        if kind in ("f", "k", "v"):
            path = (*before, rest)
            paths |= {path} if not below else _owned(below, path)
        elif key == ".":
            paths.add(before)
    return paths


def _overlap(path: Path, other: Path) -> int:
    """How many keys two paths share from the start where one lies in the other; 0 where neither
    does."""
    shared = min(len(path), len(other))
    return shared if path[:shared] == other[:shared] else 0
