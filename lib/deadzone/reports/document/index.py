"""The index of all published reports, and each study's front page, made from what lies in `reports/` alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from deadzone import places
from deadzone.errors import ReportError, SaidAs
from deadzone.language.catalogue import LANGUAGES, say, speaking
from deadzone.language.formats import date
from deadzone.language.rendering import rendered
from deadzone.reports.document.fonts import with_korean_letters
from deadzone.reports.document.html import TEMPLATES, apart, described, themed
from deadzone.store.whole import written_whole

PAGE, ENTRY, THUMBNAIL = "index.html", "report.json", "thumbnail.svg"
STYLES = ("report.css", "index.css")


@dataclass(frozen=True)
class Entry:
    """What the index says of one report. date: when the run was measured (ISO 8601), "" where it is unknown."""

    study: str
    run_id: str
    title: str
    verdict: str
    date: str
    host: str
    language: str
    description: str


def entries(reports: Path) -> list[Entry]:
    """All published reports, by study and within it the newest first.

    Raises ReportError if a report's own entry cannot be read.
    """
    found = [read_entry(path.parent) for path in sorted(reports.glob(f"*/*/{ENTRY}"))]
    return sorted(found, key=lambda entry: (entry.study, [-ord(c) for c in entry.date], entry.run_id))


def read_entry(folder: Path) -> Entry:
    """What the index says of the report in a folder. Raises ReportError if its entry cannot be read."""
    path = folder / ENTRY
    try:
        return Entry(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ReportError(f"{path}: this is no entry of a report; publish the report again.") from error


def write_front_page(study: Path) -> Path:
    """Lead from a study's folder to its newest report; returns the page."""
    newest = next((entry for entry in entries(study.parent) if entry.study == study.name), None)
    if newest is None:
        raise ReportError(f"{study}: no report is published here.")
    with speaking(newest.language):
        before, _, after = say("report.newest", study=newest.title, run="\0").partition("\0")
    values = {"newest": newest, "address": f"{newest.run_id}/{PAGE}", "before": before, "after": after}
    page = study / PAGE
    with written_whole(page) as draft:
        draft.write_text(rendered(TEMPLATES / "front.html.j2", **values), encoding="utf-8")
    return page


def publish_index(lang: str = LANGUAGES[0]) -> Path:
    """Write `reports/index.html` anew: every study with its newest report; returns the page.

    Raises ReportError if it cannot be written.
    """
    reports = places.reports_folder()
    with speaking(lang):
        written = index_page(entries(reports), reports, lang)
    with SaidAs(ReportError, f"{reports}: the index cannot be written"):
        reports.mkdir(parents=True, exist_ok=True)
        with written_whole(reports / PAGE) as draft:
            draft.write_text(written, encoding="utf-8")
    return reports / PAGE


def index_page(found: Sequence[Entry], reports: Path, lang: str) -> str:
    """The page of all reports."""
    studies = [list(group) for _, group in groupby(found, key=lambda entry: entry.study)]
    studies.sort(key=lambda group: (group[0].date, group[0].study), reverse=True)
    styles = [(TEMPLATES / "deadzone" / name).read_text(encoding="utf-8") for name in STYLES]
    page = rendered(
        TEMPLATES / "cards.html.j2", lang=lang, studies=studies, styles=styles, say=say, date=date, own_name=own_name,
        thumbnail=partial(_thumbnail, reports), translations=partial(_translations, reports),
    )  # fmt: skip
    return with_korean_letters(page)


def _translations(reports: Path, entry: Entry) -> list[str]:
    """The languages of the same report, which lie in a folder each."""
    return [name for name in LANGUAGES if (reports / entry.study / entry.run_id / name / ENTRY).is_file()]


def own_name(language: str) -> str:
    """What a language calls itself."""
    with speaking(language):
        return say("study.own_name")


def _thumbnail(reports: Path, entry: Entry) -> str:
    """The report's figure, inline so that it follows the page into the dark."""
    path = reports / entry.study / entry.run_id / THUMBNAIL
    if not path.is_file():
        return ""
    drawing = themed(apart(path.read_text(encoding="utf-8"), f"thumb-{entry.study}"))
    return described(drawing, entry.description)
