"""Deadzone: tuning experiments that say where a knob pays, stops paying, hurts, and what to set.

`import deadzone as dz` gives the verbs, and `dir(dz)` lists them; each is loaded when it is first
used.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from deadzone.lazy import listed

if TYPE_CHECKING:
    from deadzone.analysis.adaptive.proposing import propose
    from deadzone.analysis.compare.page import Comparison
    from deadzone.analysis.findings.fitting import fit_phases
    from deadzone.analysis.mechanisms.explaining import explain_phases
    from deadzone.analysis.phases.model import PhaseModel
    from deadzone.analysis.phases.recommend import Recommendation
    from deadzone.report.sweep.history import history
    from deadzone.store.reference import load_reference
    from deadzone.verbs.comparing import compare
    from deadzone.verbs.display import Figure, Table, Verdict
    from deadzone.verbs.doctor import doctor
    from deadzone.verbs.examining import examine
    from deadzone.verbs.exploring import explore
    from deadzone.verbs.judging import judge
    from deadzone.verbs.parameters import check_parameters
    from deadzone.verbs.publishing import publish
    from deadzone.verbs.run import Run, load_run, runs
    from deadzone.verbs.studies import load_study
    from deadzone.verbs.sweeping import sweep
    from deadzone.verbs.tables import read_table

__version__ = "0.2.0"

TYPES = {"Comparison", "PhaseModel", "Recommendation", "Run"}
"""Classes that annotations name; they are no verbs."""

HOMES = listed(__file__)
VERBS = {name: home for name, home in HOMES.items() if name not in TYPES}
"""Where each verb of the core is defined; packs bring more."""

__all__ = [*VERBS]

GONE = {
    "fit_surface": "dz.fit_surface is gone: dz.fit_phases(frame, knob, response, by=OTHER) fits a "
    "curve for each level of the other knob, and seaborn.heatmap draws the cells"
}
"""Verbs of earlier releases, each with what to do instead."""


def _of_packs() -> dict[str, str]:
    """Verbs that packs bring, each with where it is defined, as `module:name`."""
    return dict(import_module("deadzone.packs").brought("verbs"))


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    is_public = name.isidentifier() and not name.startswith("_")
    if is_public and not find_spec(f"deadzone.{name}") and (place := _of_packs().get(name)):
        return import_module("deadzone.packs").load(place)
    hint = import_module("deadzone.errors").did_you_mean(name, __dir__())
    raise AttributeError(GONE.get(name, f"module 'deadzone' has no attribute {name!r}.{hint}"))


def __dir__() -> list[str]:
    return sorted({*VERBS, *_of_packs()}, key=str.lower)
