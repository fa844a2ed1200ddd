"""What packs are made of: the names of the core that hold still between releases, each loaded when
it is first used.

A pack that imports `deadzone` and these alone works with the next release too. docs/packs.md makes
one.
"""

# isort: skip_file
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadzone.lazy import listed

if TYPE_CHECKING:
    from deadzone.analysis.phases.quantities import listing
    from deadzone.errors import (
        CompareError, DeadzoneError, FormatError, LostError, SaidAs, StudyError, TableError,
        TargetError, WorkloadError, check_known, did_you_mean, refused, resume_option,
    )  # fmt: skip
    from deadzone.language.messages import Message, _
    from deadzone.measurement import Command, Measurement, Sample, Status, not_measured
    from deadzone.packs import Check, Kind, Pack
    from deadzone.run.targets.base import Seen, Surroundings, Target
    from deadzone.run.workloads.base import Outcome, Workload, fresh_folder
    from deadzone.store.imports.document import parse_json, reading, text_of
    from deadzone.store.imports.formats import figures_of
    from deadzone.store.imports.result import Results, Row, own_name
    from deadzone.store.programs import program_version
    from deadzone.store.run import RunFolder
    from deadzone.study.base import Argument, Spec
    from deadzone.study.design import Limits, Treatment
    from deadzone.study.levels import (
        NONE, Level, check_placeholders, fill, filled, format_level, is_number, placed,
        placeholders, texts_in,
    )  # fmt: skip
    from deadzone.study.masking import masked
    from deadzone.study.plan import Plan, PlannedTarget
    from deadzone.study.spec import Study
    from deadzone.study.target_spec import UNCHANGED, TargetSpec
    from deadzone.study.workload_spec import WorkloadSpec

HOMES = listed(__file__)
"""The names, each with the module that defines it."""

__all__ = [*HOMES]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'deadzone.plugins' has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
