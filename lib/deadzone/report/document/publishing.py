"""Publishing: the executed analysis of a run becomes `reports/<study>/<run_id>/`, and the newest
one the study's page.

Everything published is made from the run alone: publishing it again gives the same bytes.

The reports of published studies, `notebooks/published/<study>.ipynb`, become
`reports/<study>/reference/`, from the committed tables alone.

The index of all published reports, and each study's front page, are made from what lies in
`reports/` alone.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from html import escape
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from deadzone import places
from deadzone.contents import written_whole
from deadzone.errors import ReportError, SaidAs, StoreError, check_known
from deadzone.language.formats import date
from deadzone.language.messages import LANGUAGES, _, ngettext, speaking
from deadzone.language.rendering import rendered
from deadzone.report.document.document import FILES, Document, document_of, page, read_notebook
from deadzone.report.document.execution import (
    execute,
    machine_folders,
    notebook_parameters,
    scrubbed,
    without_paths,
)
from deadzone.report.document.html import TEMPLATES, apart, described, themed
from deadzone.report.document.pdf import pdf
from deadzone.store.command_lines import name_of
from deadzone.store.run import RunFolder

PDF, NOTEBOOK, TRIALS = "report.pdf", "report.ipynb", "trials.parquet"

PAGE, ENTRY, THUMBNAIL = "index.html", "report.json", "thumbnail.svg"
STYLES = ("report.css", "index.css")


@dataclass(frozen=True)
class Entry:
    """What the index says of one report. date: when the run was measured (ISO 8601), "" where it is
    unknown. question: "" in an entry that an earlier version wrote. moved: what moved last in the
    history of the study."""

    study: str
    run_id: str
    title: str
    verdict: str
    date: str
    host: str
    language: str
    description: str
    question: str = ""
    moved: str = ""


@dataclass(frozen=True)
class Published:
    """Where a report was published. front: the study's front page, which leads to the newest
    report."""

    folder: Path
    front: Path

    @property
    def page(self) -> Path:
        """The report's own page."""
        return self.folder / PAGE

    @property
    def pdf(self) -> Path | None:
        """The report's PDF; None where Typst, which writes it, is not installed."""
        path = self.folder / PDF
        return path if path.exists() else None


PHASES, SEARCH = "phases", "search"
"""The notebooks of runs that end in the setting of their knobs; the others are each for studies of
one kind."""


def run_parameter(notebook: Path) -> str:
    """Name of the parameter by which a notebook takes the run to analyse. Raises ReportError if it
    has none."""
    known = notebook_parameters(notebook)
    for name in ("run", "source"):
        if name in known:
            return name
    raise ReportError(
        f"{notebook}: it has no parameter run or source, by which it would take the run."
    )


def publish_run(
    run: RunFolder,
    parameters: Mapping[str, Any] | None = None,
    notebook: str | None = None,
    moved: str | None = None,
) -> Published:
    """Execute the analysis of a run and publish page, PDF and notebook.

    parameters: of the notebook, besides the run. notebook: its name, in the repository's notebooks,
    or its path; by default the one that the study asks for. Its path, hash and state in git stand
    in the provenance of a run that was measured here. moved: for the index, see `Entry`; by default
    as it was. One that fails is not published, and what was published before stays.

    Raises ReportError if it cannot be written, and whatever DeadzoneError the analysis raised.
    """
    from deadzone.store.reference import reference_run  # it needs pandas

    spec = run.study()
    path = places.notebook(notebook or spec.notebook or spec.analysis_notebook)
    is_own = run.folder != reference_run(spec.study)  # these stay as they were published
    if is_own:
        run.note_notebook(path, places.home())
    folder = places.reports_folder() / spec.study / run.run_id
    given = {run_parameter(path): name_of(run), **(parameters or {})}
    if is_own and not (run.folder / TRIALS).exists():  # recorded where no Parquet is written
        with suppress(StoreError):
            run.write_tables()
    own = folder_for(folder, str(given.get("lang") or LANGUAGES[0]))
    if moved is None:
        with suppress(ReportError):  # one published before knows it
            moved = read_entry(own).moved
    publish_notebook(path, given, own, trials=run.folder / TRIALS, moved=moved or "")
    return Published(own, write_front_page(folder.parent))


def publish_notebook(
    notebook: Path, parameters: Mapping[str, Any], folder: Path, **beside: Any
) -> None:
    """Execute a notebook of the repository and write its report into a folder. beside: trials,
    links and head of `write_report`."""
    with tempfile.TemporaryDirectory(prefix="deadzone-report-") as scratch:
        executed = Path(scratch) / NOTEBOOK
        execute(notebook, executed, parameters)
        write_report(executed, folder, **beside)


def folder_for(folder: Path, language: str) -> Path:
    """Where the report of a run belongs: beside the first one, in a folder of its own, if that is
    in another language."""
    try:
        first = json.loads((folder / ENTRY).read_text(encoding="utf-8"))["language"]
    except (OSError, ValueError, KeyError):
        return folder
    return folder if first == language else folder / language


def write_report(
    executed: Path,
    folder: Path,
    trials: Path | None = None,
    links: Mapping[str, str] = MappingProxyType({}),
    head: Mapping[str, Any] = MappingProxyType({}),
    moved: str = "",
) -> None:
    """Write page, PDF, notebook and index entry of an executed notebook into a folder; no PDF where
    Typst is not installed.

    trials: the raw table to publish beside it, where there is one. links: what else the page links
    to, address to text. head: see `document_of`. moved: see `Entry`.

    Raises ReportError if a cell failed or the folder cannot be written.
    """
    import nbformat

    clean = nbformat.from_dict(scrubbed(read_notebook(executed)))
    has_trials, has_pdf = trials is not None and trials.is_file(), find_spec("typst") is not None
    files = [name for name in FILES if {PDF: has_pdf, TRIALS: has_trials}.get(name, True)]
    document = document_of(clean, files, head)
    written: dict[str, bytes] = {
        PAGE: page(document, links=links).encode(),
        **({PDF: pdf(document)} if has_pdf else {}),
        NOTEBOOK: (nbformat.writes(clean) + "\n").encode(),
        ENTRY: (
            json.dumps(
                asdict(replace(entry_of(document, folder), moved=moved)),
                indent=1,
                ensure_ascii=False,
            )
            + "\n"
        ).encode(),
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
        for name in {PDF, THUMBNAIL} - {*written}:  # an earlier one would tell of other trials
            (folder / name).unlink(missing_ok=True)


def entry_of(document: Document, folder: Path) -> Entry:
    """What the index of all reports says of one."""
    is_translation = folder.name in LANGUAGES and (folder.parent / ENTRY).is_file()
    title, own = document.title, folder.parent if is_translation else folder
    return Entry(
        study=own.parent.name,
        run_id=own.name,
        title=title.title,
        verdict=title.verdict,
        date=title.date,
        host=title.host,
        language=document.language,
        description=document.face.description if document.face else "",
        question=title.subtitle,
    )


def _copy_trials(source: Path, target: Path) -> None:
    """The raw trials, as they are; rewritten only if a program's message holds a path of this
    machine."""
    import pandas as pd

    table = pd.read_parquet(source)
    folders = machine_folders()
    texts = [name for name in table if pd.api.types.is_string_dtype(table[name])]
    cleaned = table[texts].map(lambda value: without_paths(value, folders))
    if cleaned.equals(table[texts]):
        shutil.copyfile(source, target)
    else:
        table.assign(**cleaned).astype(table.dtypes.to_dict()).to_parquet(target, index=False)


def entries(reports: Path) -> list[Entry]:
    """All published reports, by study and within it the newest first.

    Raises ReportError if a report's own entry cannot be read.
    """
    all_entries = [read_entry(path.parent) for path in sorted(reports.glob(f"*/*/{ENTRY}"))]
    all_entries.sort(key=lambda entry: (entry.date, entry.run_id), reverse=True)
    return sorted(all_entries, key=lambda entry: entry.study)


def read_entry(folder: Path) -> Entry:
    """What the index says of the report in a folder. Raises ReportError if its entry cannot be
    read."""
    path = folder / ENTRY
    try:
        return Entry(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ReportError(
            f"{path}: this is no entry of a report; publish the report again."
        ) from error


def write_front_page(study: Path) -> Path:
    """Lead from a study's folder to its newest report; returns the page. Raises ReportError if it
    cannot be written."""
    newest = next((entry for entry in entries(study.parent) if entry.study == study.name), None)
    if newest is None:
        raise ReportError(f"{study}: no report is published here.")
    address, title = quote(f"{newest.run_id}/{PAGE}"), escape(newest.title)
    written = f"""<!doctype html>
<html lang="{newest.language}"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="refresh" content="0; url={address}"></head>
<body><h1>{title}</h1><p><a href="{address}">{escape(newest.run_id)}</a></p></body></html>
"""
    return _written(study / PAGE, written, f"{study}: the front page cannot be written")


def _written(path: Path, text: str, failed: str) -> Path:
    """Write a page whole, its folder too; failed: what is said where it cannot be."""
    with SaidAs(ReportError, failed):
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return path


def publish_index(lang: str = LANGUAGES[0], name: str = PAGE, run_id: str | None = None) -> Path:
    """Write the index of reports anew: every study with its newest report; returns the page.

    name: of the page in `reports/`. run_id: only reports of runs of this name. Raises ReportError
    if it cannot be written.
    """
    reports = places.reports_folder()
    with speaking(lang):
        all_entries = [entry for entry in entries(reports) if run_id in (None, entry.run_id)]
        written = index_page(all_entries, reports, lang)
    return _written(reports / name, written, f"{reports}: the index cannot be written")


def index_page(all_entries: Sequence[Entry], reports: Path, lang: str) -> str:
    """The page of all reports."""
    studies = [list(group) for _, group in groupby(all_entries, key=lambda entry: entry.study)]
    studies.sort(key=lambda group: (group[0].date, group[0].study), reverse=True)
    words = {
        "heading": _("Reports"),
        "introduction": ngettext(
            "{n} study. Each links to its newest report; a report says where a knob pays, where it "
            "stops paying, where it hurts, and what to set.",
            "{n} studies. Each links to its newest report; a report says where a knob pays, where "
            "it stops paying, where it hurts, and what to set.",
            n=len(studies),
        )
        if studies
        else _("No report is published yet. Make one with: deadzone run STUDY"),
        "before": partial(_before, lang),
        "read": _("Read the report"),
        "measured": lambda entry: (
            _("Measured {date}", date=date(entry.date, lang)) if entry.date else ""
        ),
        "has_pdf": lambda entry: (reports / entry.study / entry.run_id / PDF).is_file(),
        "on_host": lambda entry: _("on {host}", host=entry.host) if entry.host else "",
        "older_reports": lambda older: ngettext(
            "{n} older report", "{n} older reports", n=len(older)
        ),
    }
    return rendered(
        TEMPLATES / "cards.html.j2",
        quote,
        lang=lang,
        studies=studies,
        styles=[(TEMPLATES / "deadzone" / name).read_text(encoding="utf-8") for name in STYLES],
        own_name=OWN_NAMES.__getitem__,
        thumbnail=partial(_thumbnail, reports),
        translations=partial(_translations, reports),
        **words,
    )


def _before(lang: str, study: Sequence[Entry]) -> str:
    """What moved since the report before the newest one of a study; empty for the first."""
    if len(study) < 2 or not study[1].date:
        return ""
    newest, earlier = study[:2]
    if newest.moved:
        return newest.moved
    when = date(earlier.date, lang)
    if newest.verdict == earlier.verdict:
        return _("The same as on {date}.", date=when)
    return _("Before, on {date}: {verdict}", date=when, verdict=earlier.verdict)


def _translations(reports: Path, entry: Entry) -> list[str]:
    """The languages of the same report, which lie in a folder each."""
    return [
        name
        for name in LANGUAGES
        if (reports / entry.study / entry.run_id / name / ENTRY).is_file()
    ]


OWN_NAMES = {"en": "English", "ko": "한국어"}
"""What each language calls itself."""


def _thumbnail(reports: Path, entry: Entry) -> str:
    """The report's figure, inline so that it follows the page into the dark."""
    path = reports / entry.study / entry.run_id / THUMBNAIL
    if not path.is_file():
        return ""
    drawing = themed(apart(path.read_text(encoding="utf-8"), f"thumb-{entry.study}"))
    return described(drawing, entry.description)


INDEX = "published.html"
"""The index of these reports, committed as they are; `index.html` also holds the reports of runs,
and is not."""

FOLDER = "reference"
"""Name of a published study's report among the runs of its study."""


def published_studies() -> dict[str, str]:
    """The notebook of each published study, by the study's name."""
    paths = sorted((places.notebooks_folder() / "published").glob("*.ipynb"))
    return {path.stem.replace("_", "-"): f"published/{path.stem}" for path in paths}


def publish_reference(studies: Sequence[str] = ()) -> list[Path]:
    """Execute and publish the reports of published studies; all of them where none is named.

    Returns the folder of each. Raises ReportError if a study is unknown, or a report cannot be
    written.
    """
    known = published_studies()
    for name in studies:
        check_known(ReportError, f"No published study {name!r}", name, known, "There are:")
    folders = [_publish(name, known[name]) for name in studies or known]
    publish_index(name=INDEX, run_id=FOLDER)
    return folders


def _publish(study: str, notebook: str) -> Path:
    folder = places.reports_folder() / study / FOLDER
    tables = {f"../../../data/reference/{study}/datapackage.json": "tables (CSV)"}
    publish_notebook(places.notebook(notebook), {}, folder, links=tables, head=_head(study))
    write_front_page(folder.parent)
    return folder


def _head(study: str) -> dict[str, Any]:
    """What the head of the page says of the document that the figures are from."""
    from deadzone.store.reference import reference_package

    document = reference_package(study)["sources"][0]
    day = str(document.get("date") or "")
    told = {
        "Document": document["title"],
        "Author": document.get("author") or document.get("series") or "not stated",
        "Date": date(day, "en") if day else "not stated",
    }
    facts = tuple((name, str(value)) for name, value in told.items())
    return {"study": study, "run_id": FOLDER, "date": day, "facts": facts}
