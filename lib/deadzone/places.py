"""Where things are: the folders of notebooks, studies, runs and reports.

They lie in the repository the command is called in, or else in the one the package was installed from.
`DEADZONE_HOME` names another one.
"""

from __future__ import annotations

import os
from pathlib import Path

from deadzone.errors import ReportError

HOME_VARIABLE = "DEADZONE_HOME"


def home() -> Path:
    """The repository: the nearest folder upwards with notebooks/studies in it.

    Raises ReportError if there is none.
    """
    named = os.environ.get(HOME_VARIABLE)
    starts = [Path(named)] if named else [Path.cwd(), Path(__file__).resolve().parent]
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "notebooks" / "studies").is_dir():
                return folder
    where = named or "here or above"
    raise ReportError(
        f"There is no Deadzone repository {where}: go to its folder, or name it in {HOME_VARIABLE}."
    )


def notebook(name: str) -> Path:
    """A notebook of the repository by its name without the ending.

    Raises ReportError if it is missing.
    """
    path = home() / "notebooks" / f"{name}.ipynb"
    if not path.is_file():
        raise ReportError(f"{path}: the notebook is missing; restore it from the repository.")
    return path


def study_folders() -> tuple[Path, ...]:
    """Folders in which a study is looked up by its name."""
    return (home() / "notebooks" / "studies",)


def runs_folder() -> Path:
    """Where runs are kept."""
    return home() / "data" / "runs"


def reports_folder() -> Path:
    """Where reports are published."""
    return home() / "reports"


def cache_folder() -> Path:
    """Where generated inputs and built programs are kept: XDG_CACHE_HOME/deadzone, by default ~/.cache/deadzone."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deadzone"
