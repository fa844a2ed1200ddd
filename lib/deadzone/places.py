"""Where things are: the folders of notebooks, studies, runs and reports.

Inside a research-notebook repository (a folder with `notebooks/studies` in it) they are the
repository's own. Anywhere else runs and reports are kept in a folder `deadzone` beside the study,
or here, and the notebooks and studies are those that the package carries. `DEADZONE_HOME` names
another place for runs and reports: a repository, or any folder.
"""

import os
from pathlib import Path

from deadzone.errors import ReportError

HOME_VARIABLE = "DEADZONE_HOME"

KEPT = "deadzone"
"""Folder of runs and reports where there is no repository."""

_PACKAGE = Path(__file__).resolve().parent

CARRIED = next(folder for folder in (_PACKAGE / "carried", _PACKAGE.parents[1]) if folder.is_dir())
"""The notebooks, studies and published tables that came with the package: in a wheel a folder of
it, else the repository that it was installed from."""


def home(start: Path | None = None) -> Path:
    """Where runs and reports belong: what `DEADZONE_HOME` names, else the nearest repository or
    folder `deadzone` that holds runs, here or above, else a folder `deadzone` here, which may not
    be there yet.

    start: a folder in place of the current one.
    """
    if named := os.environ.get(HOME_VARIABLE):
        return Path(named).resolve()
    start = start or Path.cwd()
    for folder in (start, *start.parents):
        if _is_repository(folder):
            return folder
        if (folder / KEPT / "runs").is_dir():
            return folder / KEPT
    return start / KEPT


def use_home_of(study: Path) -> None:
    """Keep the runs and reports of this process, and of the notebooks it executes, beside a study
    file."""
    if not os.environ.get(HOME_VARIABLE) and (folder := home(study.resolve().parent)) != home():
        os.environ[HOME_VARIABLE] = str(folder)


def _is_repository(folder: Path) -> bool:
    return (folder / "notebooks" / "studies").is_dir()


def notebooks_folder() -> Path:
    """The notebooks: the repository's own, or those that the package carries."""
    return (home() if _is_repository(home()) else CARRIED) / "notebooks"


def notebook(name: str, beside: Path | None = None) -> Path:
    """A notebook by its name without the ending, or by its path.

    beside: a folder from which the path may start, too, before the repository and the folder of
    notebooks.

    Raises ReportError if it is missing.
    """
    if not name.endswith(".ipynb"):
        path = notebooks_folder() / f"{name}.ipynb"
        if not path.is_file():
            raise ReportError(f"{path}: the notebook is missing; restore it from the repository.")
        return path
    starts = [*([beside] if beside else []), home(), notebooks_folder()]
    candidate = next((start / name for start in starts if (start / name).is_file()), None)
    if candidate is None:
        looked = ", ".join(dict.fromkeys(map(str, starts)))
        raise ReportError(f"{name}: there is no such notebook in {looked}.")
    return candidate.resolve()


def study_folders() -> tuple[Path, ...]:
    """Folders in which a study is looked up by its name."""
    return (notebooks_folder() / "studies",)


def runs_folder() -> Path:
    """Where runs are kept."""
    return home() / "data" / "runs" if _is_repository(home()) else home() / "runs"


def reports_folder() -> Path:
    """Where reports are published."""
    return home() / "reports"


def cache_folder() -> Path:
    """Where generated inputs and built programs are kept: XDG_CACHE_HOME/deadzone, by default
    ~/.cache/deadzone."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deadzone"
