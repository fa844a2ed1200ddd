"""What packs are made of: the names of the core that hold still between releases, each loaded when
it is first used.

A pack that imports `deadzone` and these alone works with the next release too. docs/packs.md makes
one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadzone.lazy import listed

if TYPE_CHECKING:
    from deadzone.analysis.phases.quantities import listing as listing
    from deadzone.check import Check as Check
    from deadzone.errors import CompareError as CompareError
    from deadzone.errors import DeadzoneError as DeadzoneError
    from deadzone.errors import FormatError as FormatError
    from deadzone.errors import LostError as LostError
    from deadzone.errors import SaidAs as SaidAs
    from deadzone.errors import StudyError as StudyError
    from deadzone.errors import TableError as TableError
    from deadzone.errors import TargetError as TargetError
    from deadzone.errors import WorkloadError as WorkloadError
    from deadzone.errors import check_known as check_known
    from deadzone.errors import did_you_mean as did_you_mean
    from deadzone.errors import refused as refused
    from deadzone.language.messages import Message as Message
    from deadzone.language.messages import _ as _
    from deadzone.measurement import Command as Command
    from deadzone.measurement import Measurement as Measurement
    from deadzone.measurement import Sample as Sample
    from deadzone.measurement import Status as Status
    from deadzone.measurement import not_measured as not_measured
    from deadzone.packs import Kind as Kind
    from deadzone.packs import Pack as Pack
    from deadzone.run.targets.base import Seen as Seen
    from deadzone.run.targets.base import Surroundings as Surroundings
    from deadzone.run.targets.base import Target as Target
    from deadzone.run.workloads.base import Outcome as Outcome
    from deadzone.run.workloads.base import Workload as Workload
    from deadzone.run.workloads.base import fresh_folder as fresh_folder
    from deadzone.store.imports.columns import own_name as own_name
    from deadzone.store.imports.document import csv_rows as csv_rows
    from deadzone.store.imports.document import parse_json as parse_json
    from deadzone.store.imports.document import reading as reading
    from deadzone.store.imports.document import text_of as text_of
    from deadzone.store.imports.json_format import figures_of as figures_of
    from deadzone.store.imports.result import Results as Results
    from deadzone.store.imports.result import Row as Row
    from deadzone.store.programs import program_version as program_version
    from deadzone.store.run import RunFolder as RunFolder
    from deadzone.study.base import Argument as Argument
    from deadzone.study.base import Spec as Spec
    from deadzone.study.design import Limits as Limits
    from deadzone.study.design import Treatment as Treatment
    from deadzone.study.levels import NONE as NONE
    from deadzone.study.levels import Level as Level
    from deadzone.study.levels import check_placeholders as check_placeholders
    from deadzone.study.levels import fill as fill
    from deadzone.study.levels import filled as filled
    from deadzone.study.levels import format_level as format_level
    from deadzone.study.levels import is_number as is_number
    from deadzone.study.levels import placed as placed
    from deadzone.study.levels import placeholders as placeholders
    from deadzone.study.levels import texts_in as texts_in
    from deadzone.study.masking import masked as masked
    from deadzone.study.plan import Plan as Plan
    from deadzone.study.plan import PlannedTarget as PlannedTarget
    from deadzone.study.spec import Study as Study
    from deadzone.study.target_spec import UNCHANGED as UNCHANGED
    from deadzone.study.target_spec import TargetSpec as TargetSpec
    from deadzone.study.workload_spec import WorkloadSpec as WorkloadSpec

HOMES = listed(__file__)
"""The names, each with the module that defines it."""

__all__ = [*HOMES]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'deadzone.plugins' has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
