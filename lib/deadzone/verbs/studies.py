"""`load_study`: a study from wherever it is written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.study import loading
from deadzone.study.spec import Study


def load_study(source: str | Path | Mapping[str, Any], **overrides: Any) -> Study:
    """A study, read and checked.

    source: a path, a name in notebooks/studies, YAML text of several lines, or a mapping.
    overrides: values in place of the study's, by key path with `__` for the dot (`design__timeout_s=60`), short name
    (`replicates=3`) or factor (`threads=[1, 2]`).

    Raises StudyError, with the line and key and what is allowed there, if it cannot be read.

    >>> load_study("xz-threads", replicates=3).design.replicates
    3
    """
    changed = {name.replace("__", "."): value for name, value in overrides.items()}
    if isinstance(source, Mapping):
        return loading.parse_study(loading.dump_value(dict(source)), "", changed)
    if "\n" in str(source):
        return loading.parse_study(str(source), "", changed)
    return loading.load_study(loading.find_study(str(source), places.study_folders()), changed)
