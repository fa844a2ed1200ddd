"""Who owns a field of an object, as the API server keeps it (`metadata.managedFields`; Kubernetes
documentation, "Server-Side Apply", "Field management").

A sweep writes under a name of its own, and takes the fields that it writes from their owners. So
the owners are noted before, and written back in the end: what an owner leaves out of a manifest is
only removed where the owner has it.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deadzone_kubernetes.api.cluster import MANAGER, Object

Path = tuple[str, ...]
"""The keys on the way to a value; of a list's item its name, else its index."""

Owned = list[tuple[Path, Object]]
"""Fields, each with an owner that it has: an entry of managedFields without its fields."""

LISTS = ("containers", "initContainers", "env", "volumes")
"""Lists whose items are known by their name."""

APPLIERS = ("kubectl-client-side-apply", "argocd", "kustomize-controller", "helm", "fleet")
"""Managers, besides those by server-side apply, that set fields to what a manifest says, again and
again."""

LENT = "ephemeralcontainers"
"""Where a shell is lent to a pod, in which it stays."""

ITSELF: Object = {".": {}}
"""How a value with others in it is owned itself."""


@dataclass(frozen=True)
class FieldOwner:
    """Who set a field last. at: when, as the API server writes it."""

    manager: str
    at: str

    def __str__(self) -> str:
        return f"by {self.manager} at {_clock(self.at)}"


def path_of(kind: str, container: str, key: str) -> Path:
    """Where an object has an amount of a container. kind: of the object. key: such as
    limits.cpu."""
    to_pod = ("spec",) if kind == "pod" else ("spec", "template", "spec")
    return (*to_pod, "containers", container, "resources", *key.split("."))


def value_at(value: object, path: Path) -> object:
    """The value at a path; None if there is none."""
    for key in path:
        if isinstance(value, list):
            named = [item for item in value if isinstance(item, Mapping)]
            value = next((item for item in named if item.get("name") == key), None)
        else:
            value = value.get(key) if isinstance(value, Mapping) else None
    return value


def managers_of(manifest: Mapping[str, Any]) -> list[Object]:
    """Its managedFields: an entry for each manager, with the fields that it owns."""
    return list(manifest["metadata"].get("managedFields") or [])


def entries(manifest: Mapping[str, Any], path: Path) -> Iterator[Object]:
    """The entries of managedFields that own a field, or the list that it is an item of."""
    for entry in managers_of(manifest):
        fields: Object | None = entry.get("fieldsV1") or {}
        for key, written in zip(path, _keys(path), strict=True):
            if fields is not None and (fields or not key.isdigit()):
                fields = fields.get(written)
        if fields is not None and (not fields or ITSELF.keys() <= fields.keys()):
            yield entry


def owner_of(
    manifest: Mapping[str, Any], path: Path, before: Collection[Object] = ()
) -> FieldOwner | None:
    """Who set a field last; None where the API server does not tell. before: entries of earlier,
    whose owners wrote nothing since."""
    fresh = [entry for entry in entries(manifest, path) if entry not in before]
    last = max(fresh, key=lambda entry: str(entry.get("time")), default=None)
    return FieldOwner(str(last.get("manager")), str(last.get("time") or "")) if last else None


def is_ours(manifest: Mapping[str, Any], path: Path) -> bool:
    """Whether the sweep set a field last. A field that is not there has no owner, and counts as
    removed by the sweep."""
    return {entry.get("manager") for entry in entries(manifest, path)} <= {MANAGER}


def owners(manifest: Mapping[str, Any], paths: Iterable[Path]) -> Owned:
    """The owners of fields, and of what these lie in, which goes with the last field in it."""
    every = dict.fromkeys(part for path in paths for part in (path, path[:-1], path[:-2]))
    return [
        (path, {key: value for key, value in entry.items() if key != "fieldsV1"})
        for path in every
        for entry in entries(manifest, path)
        if entry.get("manager") != MANAGER
    ]


def applier(owned: Owned) -> str | None:
    """Who applies a manifest with limits or requests among fields; None where no one does."""
    for path, owner in owned:
        is_applied = owner["operation"] == "Apply" or owner["manager"].startswith(APPLIERS)
        if is_applied and path[-2] in ("limits", "requests"):
            return str(owner["manager"])
    return None


def owned_again(manifest: Object, owned: Owned, noted: Path = ()) -> Object | None:
    """The patch after which fields that the sweep took have their owners again, and it has none but
    its note; None where nothing changes by it.

    A patch of its own, for with another change in it the sweep would be an owner again.
    """
    managers = managers_of(manifest)
    note = [
        {**entry, "fieldsV1": _with(None, _keys(noted))}
        for entry in entries(manifest, noted)
        if noted and entry.get("manager") == MANAGER
    ]
    again = [
        entry
        for entry in managers
        if entry.get("manager") != MANAGER or entry.get("subresource") == LENT
    ]
    for path, owner in ((tuple(path), owner) for path, owner in owned):
        if value_at(manifest, path) is None or not is_ours(manifest, path):
            continue
        same = [i for i, one in enumerate(again) if _who(one) == _who(owner)]
        entry = again.pop(same[0]) if same else {**owner, "fieldsV1": None}
        again.append({**entry, "fieldsV1": _with(entry["fieldsV1"], _keys(path))})
    every = [*again, *note]
    return None if every == managers else {"metadata": {"managedFields": every}}


def _who(entry: Object) -> Object:
    """What tells one owner from another."""
    return {key: entry.get(key) for key in ("manager", "operation", "apiVersion", "subresource")}


def _keys(path: Path) -> list[str]:
    """The keys of a path as managedFields have them."""
    return [
        f"k:{json.dumps({'name': key}, separators=(',', ':'))}" if before in LISTS else f"f:{key}"
        for before, key in zip(("", *path), path, strict=False)
    ]


def _with(fields: Object | None, keys: list[str]) -> Object:
    """Fields with one more; None for no field."""
    if not keys:
        return {**ITSELF, **fields} if fields else {}
    inner = {} if fields is None else fields or ITSELF
    return {**inner, keys[0]: _with(inner.get(keys[0]), keys[1:])}


def _clock(at: str) -> str:
    try:
        when = datetime.fromisoformat(at.replace("Z", "+00:00"))
    except ValueError:
        return at or "an unknown time"
    return when.astimezone(UTC).strftime("%H:%M:%S UTC")
