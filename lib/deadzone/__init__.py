"""Deadzone: tuning experiments that say where a knob pays, stops paying, hurts, and what to set.

The names below are loaded when first used, so that `import deadzone` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadzone.explaining.adaptive.proposing import propose as propose
    from deadzone.explaining.attribution.attributing import attribute as attribute
    from deadzone.explaining.compare.comparing import compare_tables as compare_tables
    from deadzone.explaining.findings.fitting import fit_phases as fit_phases
    from deadzone.explaining.mechanisms.explaining import explain_phases as explain_phases
    from deadzone.explaining.phases.model import PhaseModel as PhaseModel
    from deadzone.explaining.surfaces.fitting import fit_surface as fit_surface

__version__ = "0.1.0"

_HOME = {
    "propose": "deadzone.explaining.adaptive.proposing",
    "attribute": "deadzone.explaining.attribution.attributing",
    "compare_tables": "deadzone.explaining.compare.comparing",
    "explain_phases": "deadzone.explaining.mechanisms.explaining",
    "fit_phases": "deadzone.explaining.findings.fitting",
    "PhaseModel": "deadzone.explaining.phases.model",
    "fit_surface": "deadzone.explaining.surfaces.fitting",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'deadzone' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
