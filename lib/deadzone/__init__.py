"""Deadzone: tuning experiments that say where a knob pays, stops paying, hurts, and what to set.

`import deadzone as dz` gives the verbs, and `dir(dz)` lists them; each is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadzone.analysis.adaptive.proposing import propose as propose
    from deadzone.analysis.findings.fitting import fit_phases as fit_phases
    from deadzone.analysis.mechanisms.explaining import explain_phases as explain_phases
    from deadzone.analysis.phases.model import PhaseModel as PhaseModel
    from deadzone.analysis.surfaces.fitting import fit_surface as fit_surface
    from deadzone.store.reference import load_reference as load_reference
    from deadzone.verbs.comparing import compare as compare
    from deadzone.verbs.display import Figure as Figure
    from deadzone.verbs.display import Table as Table
    from deadzone.verbs.display import Verdict as Verdict
    from deadzone.verbs.examining import examine as examine
    from deadzone.verbs.exploring import explore as explore
    from deadzone.verbs.judging import judge as judge
    from deadzone.verbs.publishing import publish as publish
    from deadzone.verbs.run import load_run as load_run
    from deadzone.verbs.run import runs as runs
    from deadzone.verbs.studies import load_study as load_study
    from deadzone.verbs.sweeping import sweep as sweep
    from deadzone.verbs.tables import read_table as read_table
    from deadzone_load.verb import capacity as capacity
    from deadzone_profiles.verb import diff_profiles as diff_profiles
    from deadzone_services.attribution.attributing import attribute as attribute

__version__ = "0.1.0"

VERBS = {
    "attribute": "deadzone_services.attribution.attributing",
    "capacity": "deadzone_load.verb",
    "compare": "deadzone.verbs.comparing",
    "diff_profiles": "deadzone_profiles.verb",
    "examine": "deadzone.verbs.examining",
    "explain_phases": "deadzone.analysis.mechanisms.explaining",
    "explore": "deadzone.verbs.exploring",
    "Figure": "deadzone.verbs.display",
    "fit_phases": "deadzone.analysis.findings.fitting",
    "fit_surface": "deadzone.analysis.surfaces.fitting",
    "judge": "deadzone.verbs.judging",
    "load_reference": "deadzone.store.reference",
    "load_run": "deadzone.verbs.run",
    "load_study": "deadzone.verbs.studies",
    "propose": "deadzone.analysis.adaptive.proposing",
    "publish": "deadzone.verbs.publishing",
    "read_table": "deadzone.verbs.tables",
    "runs": "deadzone.verbs.run",
    "sweep": "deadzone.verbs.sweeping",
    "Table": "deadzone.verbs.display",
    "Verdict": "deadzone.verbs.display",
}
"""Where each verb is defined."""

TYPES = {"PhaseModel": "deadzone.analysis.phases.model"}
"""Classes that annotations name; they are no verbs."""

__all__ = [*VERBS]


def __getattr__(name: str) -> Any:
    home = VERBS.get(name) or TYPES.get(name)
    if home is None:
        raise AttributeError(f"module 'deadzone' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*VERBS]
