"""The packs: what a study may name beside what the core brings, each found by its entry point of
the group `deadzone.packs`.

An entry point names a `Pack`, a record of import strings. Nothing of a pack but the record is
imported until a study, a command or a notebook names what it brings; the core imports none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal

from deadzone.errors import PackError

State = Literal["works", "missing", "optional"]


@dataclass(frozen=True)
class Check:
    """One finding of `deadzone doctor`. state: works; missing (the main job needs it); optional
    (absent, and only some studies need it)."""

    name: str
    state: State
    finding: str
    remedy: str = ""


GROUP = "deadzone.packs"

Place = str
"""Where something is defined, as `module:name`."""


@dataclass(frozen=True)
class Kind:
    """A kind of workload or target. spec: its class of the study; light, for every study is read
    with it.

    make: of a workload, called with the spec, the study's folder and the levels of each treatment;
    of a target, with what is planned there and the sweep around it. resolve: called with a study,
    returns it with what depends on its treatments written out. warning: called with a resolved
    study and its treatments, returns what a person should know before. give_back: of a target,
    called with its spec and a function that is told what was done: gives back what killed sweeps
    left there. notebook: what analyses a run.
    """

    spec: Place
    make: Place
    resolve: Place = ""
    warning: Place = ""
    give_back: Place = ""
    notebook: str = "phases"


@dataclass(frozen=True)
class Pack:
    """What a pack brings, by the name under which a study, a command line or a notebook asks for
    it.

    importers: readers of other tools' result files, by tool. commands: click commands, each with a
    line of help. verbs: of `import deadzone as dz`. checks: of `deadzone doctor`, functions that
    return its checks. The fields below are parts of the core, one pack each: what measures a
    service or takes profiles, what belongs to trials, which of them come next, where settings are
    applied, and what is left of killed sweeps.
    """

    name: str
    workloads: Mapping[str, Kind] = field(default_factory=dict)
    targets: Mapping[str, Kind] = field(default_factory=dict)
    importers: Mapping[str, Place] = field(default_factory=dict)
    commands: Mapping[str, tuple[Place, str]] = field(default_factory=dict)
    verbs: Mapping[str, Place] = field(default_factory=dict)
    checks: tuple[Place, ...] = ()
    services: Place = ""
    profiling: Place = ""
    coresident_processes: Place = ""
    recognising: Place = ""
    next_rates: Place = ""
    search_cells: Place = ""
    next_cells: Place = ""
    searched: Place = ""
    search_blocks: Place = ""
    capacities: Place = ""
    application: Place = ""
    applied: Place = ""
    manifest: Place = ""
    examine_workload: Place = ""
    restore_clusters: Place = ""
    remove_left_containers: Place = ""


@cache
def packs() -> tuple[Pack, ...]:
    """Every installed pack, by name. Raises PackError for one that cannot be imported."""
    from importlib.metadata import entry_points  # takes longer to load than some commands

    entries = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return tuple(map(_loaded, entries))


def _loaded(entry: Any) -> Pack:
    try:
        pack = entry.load()
        if not isinstance(pack, Pack):
            raise TypeError("it is no deadzone.plugins.Pack")
    except Exception as error:
        raise PackError(
            f"The pack {entry.name} ({entry.value}) cannot be imported: {error}. Fix it or "
            "uninstall it."
        ) from error
    return pack


def brought(what: str) -> dict[str, Any]:
    """Everything that the packs bring of a sort, such as `importers`, by name."""
    return {name: entry for pack in packs() for name, entry in getattr(pack, what).items()}


def kind_of(sort: str, name: str) -> Kind:
    """What the packs bring as a kind of `workloads` or `targets`; for one of the core, a kind that
    says nothing."""
    kind: Kind = brought(sort).get(name, Kind("", ""))
    return kind


def load(place: Place) -> Any:
    """What an import string names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def part(of: Callable[[Pack], Place]) -> Callable[..., Any]:
    """What a pack brings for a part of the core. Raises PackError where none does."""
    for place in filter(None, map(of, packs())):
        made: Callable[..., Any] = load(place)
        return made
    raise PackError(
        "A part of Deadzone is not there; install deadzone again, its packs are not registered."
    )
