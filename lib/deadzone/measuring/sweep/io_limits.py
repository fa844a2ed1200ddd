"""Which I/O limits a study will ask for, and on which disk."""

from __future__ import annotations

from pathlib import Path

from deadzone.errors import StudyError
from deadzone.measuring.targets.limits.io import IO_LIMITS, IoWish, io_limit
from deadzone.study.design import treatments
from deadzone.study.disk_specs import DiskWorkload
from deadzone.study.spec import Study
from deadzone.study.target_specs import LocalTarget


def io_wish(study: Study, folder: Path) -> IoWish | None:
    """The I/O limits of a study on this machine; None for one on another target.

    folder: where the study file lies. Raises StudyError where nothing says which disk is meant.
    """
    target = study.target
    if not isinstance(target, LocalTarget):
        return None
    own = {name: getattr(target, name) for name in IO_LIMITS}
    asked = [[treatment.levels.get(name, own[name]) for name in IO_LIMITS] for treatment in treatments(study)]
    limits = tuple(dict.fromkeys(io_limit(*levels) for levels in asked))
    named = target.io_folder or (study.workload.folder if isinstance(study.workload, DiskWorkload) else None)
    wish = IoWish((folder / (named or ".")).absolute(), limits)
    if wish.is_needed and named is None:
        raise StudyError(
            "target.io_folder is missing: I/O limits are for one disk; name a folder that lies on it."
        )
    return wish
