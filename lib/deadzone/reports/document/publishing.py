"""Publishing: the executed analysis of a run becomes `reports/<study>/<run_id>/`, and the newest one the study's page.

Everything published is made from the run alone: publishing it again gives the same bytes.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.errors import DeadzoneError, ReportError, SaidAs
from deadzone.language.catalogue import LANGUAGES
from deadzone.reports.document.document import Document, document_of, read_notebook
from deadzone.reports.document.execution import execute
from deadzone.reports.document.index import ENTRY, PAGE, THUMBNAIL, Entry, write_front_page
from deadzone.reports.document.page import page
from deadzone.reports.document.pdf import pdf
from deadzone.reports.document.scrubbing import machine_folders, scrubbed, without_paths
from deadzone.store.run import Run
from deadzone.store.whole import written_whole

PDF, NOTEBOOK, TRIALS = "report.pdf", "report.ipynb", "trials.parquet"
FILES = (PDF, NOTEBOOK, TRIALS)
"""What a page links to beside itself."""


@dataclass(frozen=True)
class Published:
    """Where a report was published. front: the study's front page, which leads to the newest report."""

    folder: Path
    front: Path

    @property
    def page(self) -> Path:
        """The report's own page."""
        return self.folder / PAGE

    @property
    def pdf(self) -> Path:
        """The report's PDF."""
        return self.folder / PDF


PHASES = "phases"
"""The notebook for runs of any study; the others are each for studies of one kind."""


def run_parameter(notebook: str) -> str:
    """Name of the parameter by which a notebook takes the run to analyse."""
    return "run" if notebook == PHASES else "source"


def publish_run(
    run: Run, parameters: Mapping[str, Any] | None = None, notebook: str | None = None
) -> Published:
    """Execute the analysis of a run and publish page, PDF and notebook.

    parameters: of the notebook, besides the run. notebook: its name, in the repository's notebooks; by default the one
    that the study asks for. One that fails is not published, and what was published before stays.

    Raises ReportError if it cannot be written, and whatever DeadzoneError the analysis raised.
    """
    spec = run.study()
    study, notebook = spec.study, notebook or spec.analysis_notebook
    folder = places.reports_folder() / study / run.run_id
    with tempfile.TemporaryDirectory(prefix="deadzone-report-") as scratch:
        executed = Path(scratch) / NOTEBOOK
        given = {run_parameter(notebook): _name(run), **(parameters or {})}
        execute(places.notebook(notebook), executed, given, meanwhile=load_writers)
        own = folder_for(folder, str(given.get("lang") or LANGUAGES[0]))
        write_report(executed, own, run.folder / TRIALS)
    with SaidAs(ReportError, f"{own}: the report cannot be written"):
        return Published(own, write_front_page(folder.parent))


def folder_for(folder: Path, language: str) -> Path:
    """Where the report of a run belongs: beside the first one, in a folder of its own, if that is in another language."""
    try:
        first = json.loads((folder / ENTRY).read_text(encoding="utf-8"))["language"]
    except (OSError, ValueError, KeyError):
        return folder
    return folder if first == language else folder / language


def write_report(
    executed: Path, folder: Path, trials: Path | None = None, links: Mapping[str, str] | None = None
) -> None:
    """Write page, PDF, notebook and index entry of an executed notebook into a folder.

    trials: the raw table to publish beside it, where there is one. links: what else the page links to, address to text.

    Raises ReportError if a cell failed or the folder cannot be written.
    """
    import nbformat

    clean = nbformat.from_dict(scrubbed(read_notebook(executed)))
    has_trials = trials is not None and trials.is_file()
    document = document_of(clean, FILES if has_trials else FILES[:2])
    written: dict[str, bytes] = {
        PAGE: page(document, links=links or {}).encode(),
        PDF: pdf(document),
        NOTEBOOK: (nbformat.writes(clean) + "\n").encode(),
        ENTRY: (json.dumps(asdict(entry_of(document, folder)), indent=1, ensure_ascii=False) + "\n").encode(),
    }
    if document.face:
        written[THUMBNAIL] = (document.face.svg + "\n").encode()
    with SaidAs(ReportError, f"{folder}: the report cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as drafts:  # all of them are written before the first takes its place
            if trials and has_trials:
                _copy_trials(trials, drafts.enter_context(written_whole(folder / TRIALS)))
            for name, content in written.items():
                drafts.enter_context(written_whole(folder / name)).write_bytes(content)


def entry_of(document: Document, folder: Path) -> Entry:
    """What the index of all reports says of one."""
    title = document.title
    return Entry(
        study=title.study or folder.parent.name,
        run_id=folder.name,
        title=title.title,
        verdict=title.verdict,
        date=title.date,
        host=title.host,
        language=document.language,
        description=document.face.description if document.face else "",
    )


def load_writers() -> None:
    """Import what page and PDF need, for a caller that has time to spare."""
    import typst  # noqa: F401


def _name(run: Run) -> str:
    """The run by its study and id, which hold on every machine; by its folder where it lies elsewhere."""
    name = f"{run.folder.parent.name}/{run.run_id}"
    try:
        if Run.find(places.runs_folder(), name).folder.resolve() == run.folder.resolve():
            return name
    except DeadzoneError:
        pass
    return str(run.folder.resolve())


def _copy_trials(source: Path, target: Path) -> None:
    """The raw trials, as they are; rewritten only if a program's message holds a path of this machine."""
    import pandas as pd

    table = pd.read_parquet(source)
    folders = machine_folders()
    texts = [name for name in table if pd.api.types.is_string_dtype(table[name])]
    cleaned = table.assign(
        **{str(name): table[name].map(lambda value: without_paths(value, folders)) for name in texts}
    )
    if all(cleaned[name].equals(table[name]) for name in texts):
        shutil.copyfile(source, target)
    else:
        cleaned.astype(table.dtypes.to_dict()).to_parquet(target, index=False)
