"""`load_study`: a study from wherever it is written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.errors import StudyError
from deadzone.study import loading
from deadzone.study.spec import Study


def load_study(
    source: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    **further: Any,
) -> Study:
    """A study, read and checked.

    source: a path, a name in notebooks/studies, YAML text of several lines, or a mapping.
    overrides: values in place of the study's, by key path (`design.timeout_s`), short name
    (`replicates`) or factor. further: the same as keywords, with `__` for the dot
    (`design__timeout_s=60`, `threads=[1, 2]`).

    Raises StudyError, with the line and key and what is allowed there, if it cannot be read.

    >>> load_study("xz-threads", replicates=3).design.replicates
    3
    """
    changed = changed_by(overrides, further)
    if not isinstance(source, str | Path | Mapping):
        raise StudyError(
            f"The study is {source!r:.60}; give a path, a name, YAML text or a mapping."
        )
    if isinstance(source, Mapping) or "\n" in str(source):
        return loading.parse_study(
            source if isinstance(source, Mapping) else str(source), "", changed
        )
    return loading.load_study(loading.find_study(str(source), places.study_folders()), changed)


def changed_by(overrides: Mapping[str, Any] | None, further: Mapping[str, Any]) -> dict[str, Any]:
    """Both kinds of overrides by key path. Raises StudyError for overrides that are no mapping."""
    if overrides is not None and not isinstance(overrides, Mapping):
        raise StudyError(
            f"The overrides are {overrides!r:.60}; give a mapping, such as {{'replicates': 3}}."
        )
    return {
        **(overrides or {}),
        **{name.replace("__", "."): value for name, value in further.items()},
    }
