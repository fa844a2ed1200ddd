"""The index of all published reports, and each study's front page, made from what lies in `reports/` alone."""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from deadzone import places
from deadzone.errors import ReportError, SaidAs
from deadzone.language.catalogue import LANGUAGES, say, speaking
from deadzone.language.formats import date
from deadzone.reports.document.fonts import with_korean_letters
from deadzone.reports.document.html import apart, themed

PAGE, ENTRY, THUMBNAIL = "index.html", "report.json", "thumbnail.svg"
STYLE = Path(__file__).parent / "templates" / "deadzone" / "report.css"
INDEX_STYLE = Path(__file__).parent / "templates" / "deadzone" / "index.css"


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
    address = f"{newest.run_id}/{PAGE}"
    with speaking(newest.language):
        link = f'<a href="{html.escape(address)}">{html.escape(newest.run_id)}</a>'
        said = html.escape(say("report.newest", study=newest.title, run="\0")).replace("\0", link)
    page = study / PAGE
    page.write_text(
        f'<!doctype html>\n<html lang="{newest.language}"><head><meta charset="utf-8">'
        f"<title>{html.escape(newest.title)}</title>"
        f'<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="0; url={html.escape(address)}"></head>\n'
        f"<body><main><h1>{html.escape(newest.title)}</h1><p>{said}</p></main></body></html>\n",
        encoding="utf-8",
    )
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
        (reports / PAGE).write_text(written, encoding="utf-8")
    return reports / PAGE


def index_page(found: Sequence[Entry], reports: Path, lang: str) -> str:
    """The page of all reports."""
    studies = [list(group) for _, group in groupby(found, key=lambda entry: entry.study)]
    studies.sort(key=lambda group: (group[0].date, group[0].study), reverse=True)
    cards = "\n".join(_card(group, reports, lang) for group in studies)
    title = html.escape(say("index.title"))
    opening = say("index.introduction", n=len(studies)) if studies else say("index.none")
    return with_korean_letters(
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f'<title>Deadzone: {title}</title><link rel="icon" href="data:,">\n<style>\n{STYLE.read_text(encoding="utf-8")}\n'
        f'{INDEX_STYLE.read_text(encoding="utf-8")}</style></head>\n<body><main class="dz-index">\n'
        f'<h1>{title}</h1>\n<p class="dz-subtitle">{html.escape(opening)}</p>\n{cards}\n</main></body></html>\n'
    )


def _card(group: Sequence[Entry], reports: Path, lang: str) -> str:
    newest, older = group[0], group[1:]
    address = html.escape(f"{newest.study}/{newest.run_id}/{PAGE}")
    said = [say("index.measured", date=date(newest.date, lang)) if newest.date else ""]
    said.append(say("index.on_host", host=newest.host) if newest.host else "")
    facts = html.escape(" ".join(part for part in said if part))
    links = [f'<a href="{address}">{html.escape(say("index.read"))}</a>',
             f'<a href="{html.escape(f"{newest.study}/{newest.run_id}/report.pdf")}">PDF</a>',
             *_translations(newest, reports)]  # fmt: skip
    return (
        f'<article class="dz-card" lang="{newest.language}">{_thumbnail(newest, reports)}<div><h2><a href="{address}">{html.escape(newest.title)}</a></h2>'
        f'<p>{html.escape(newest.verdict)}</p><p class="dz-card-facts">{facts}</p>'
        f'<p class="dz-card-links">{" ".join(links)}</p>{_older(older)}</div></article>'
    )


def _translations(entry: Entry, reports: Path) -> list[str]:
    """Links to the same report in other languages, which lie in a folder each."""
    there = [name for name in LANGUAGES if (reports / entry.study / entry.run_id / name / ENTRY).is_file()]
    return [
        f'<a href="{html.escape(f"{entry.study}/{entry.run_id}/{name}/{PAGE}")}" lang="{name}" hreflang="{name}">'
        f"{html.escape(own_name(name))}</a>"
        for name in there
    ]


def own_name(language: str) -> str:
    """What a language calls itself."""
    with speaking(language):
        return say("study.own_name")


def _thumbnail(entry: Entry, reports: Path) -> str:
    """The report's figure, inline so that it follows the page into the dark."""
    path = reports / entry.study / entry.run_id / THUMBNAIL
    if not path.is_file():
        return '<div class="dz-thumbnail"></div>'
    drawing = themed(apart(path.read_text(encoding="utf-8"), f"thumb-{entry.study}"))
    label = html.escape(entry.description, quote=True)
    shown = drawing.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return f'<div class="dz-thumbnail">{shown}</div>'


def _older(entries_before: Sequence[Entry]) -> str:
    if not entries_before:
        return ""
    items = "".join(
        f'<li><a href="{html.escape(f"{entry.study}/{entry.run_id}/{PAGE}")}">{html.escape(entry.run_id)}</a> {html.escape(entry.verdict)}</li>'
        for entry in entries_before
    )
    return f"<details><summary>{html.escape(say('index.older', n=len(entries_before)))}</summary><ul>{items}</ul></details>"
