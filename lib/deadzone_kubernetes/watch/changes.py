"""What others change at a workload while it is swept, and who they are.

Every write of a sweep gives the object as it is then, so whatever differs from it later was changed
by another client, also a value that is set back to what it was before the sweep.

Who owns a field of an object, as the API server keeps it (`metadata.managedFields`; Kubernetes
documentation, "Server-Side Apply", "Field management").

A sweep writes under a name of its own, and takes the fields that it writes from their owners. So
the owners are noted before, and written back in the end: what an owner leaves out of a manifest is
only removed where the owner has it.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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


def last_set(
    manifest: Mapping[str, Any], *paths: Path, before: Collection[Object] = ()
) -> str | None:
    """Who set one of some fields last, and when, in words; None where the API server does not tell.
    before: entries of earlier, whose owners wrote nothing since."""
    every = (entry for path in paths for entry in entries(manifest, path))
    fresh = [entry for entry in every if entry not in before]
    last = max(fresh, key=lambda entry: str(entry.get("time")), default=None)
    if not last:
        return None
    told = last.get("time")
    at = f"{datetime.fromisoformat(told):%H:%M:%S} UTC" if told else "an unknown time"
    return f"by {last['manager']} at {at}"


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


def owned_again(manifest: Object, owned: Owned) -> Object:
    """The patch after which fields that the sweep took have their owners again, and it has none.

    Nothing but removals may go with it, for what else is set has the sweep as its owner again.
    """
    again = [
        entry
        for entry in managers_of(manifest)
        if entry.get("manager") != MANAGER or entry.get("subresource") == LENT
    ]
    for path, owner in owned:
        if value_at(manifest, path) is None or not is_ours(manifest, path):
            continue
        same = [i for i, one in enumerate(again) if _who(one) == _who(owner)]
        entry = again.pop(same[0]) if same else {**owner, "fieldsV1": None}
        again.append({**entry, "fieldsV1": _with(entry["fieldsV1"], _keys(path))})
    return {"metadata": {"managedFields": again}}


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


SHOWN = 60
"""How much of a value stands in a sentence [characters]."""

EPHEMERAL = "ephemeralContainers"


@dataclass(frozen=True)
class Look:
    """An object as it was seen, and when."""

    manifest: Object
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def until_now(self) -> str:
        """When, in words, a change was made whose author the cluster does not record."""
        now = f"{datetime.now(UTC):%H:%M:%S} UTC"
        return f"between {self.at:%H:%M:%S} and {now} (the cluster does not record who)"

    def differences(self, now: Object, watched: Collection[Path] = ()) -> list[str]:
        """What others changed in the object's specification since, with who, as far as the API
        server tells. watched: further fields."""
        before, unknown = self.manifest, self.until_now()
        if before["metadata"]["uid"] != now["metadata"]["uid"]:
            return [f"it was deleted and made again {unknown}"]
        was, has = (dict(_values(("spec",), manifest["spec"])) for manifest in (before, now))
        for path in watched:
            was[path], has[path] = value_at(before, path), value_at(now, path)
        differ = [path for path in {**was, **has} if was.get(path) != has.get(path)]
        return [
            f"{_said(path, was.get(path), has.get(path))} "
            f"{last_set(now, path, before=managers_of(before)) or unknown}"
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
