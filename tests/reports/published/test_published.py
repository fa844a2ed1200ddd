"""Opening a published study, what its report begins and ends with, and that every report speaks both languages."""

from __future__ import annotations

import re
from importlib import import_module

import nbformat
import pytest

from deadzone import places
from deadzone.errors import ReportError
from deadzone.language.catalogue import speaking, tenths
from deadzone.language.formats import printed
from deadzone.reports.document.display import Claim, Figure, Prose, Regression, Table, Title
from deadzone.reports.ffmpeg_threads import published as ffmpeg_threads
from deadzone.reports.published.reference_reports import NOTEBOOKS

HANGUL = re.compile("[가-힣]")


@pytest.fixture(scope="module", params=sorted(NOTEBOOKS))
def blocks(request):
    """All blocks of a report in each language, by calling what its notebook calls."""
    notebook = NOTEBOOKS[request.param]
    module = import_module(f"deadzone.reports.{notebook}.published")
    cells = nbformat.read(places.notebook(notebook), as_version=4).cells
    calls = re.findall(r"\*(study\..+)\)\s*$", "\n".join(cell.source for cell in cells), re.MULTILINE)
    assert calls[0] == "study.title()" and "study.origin()" in calls
    shown = {}
    for language in ("en", "ko"):
        with speaking(language):
            study = module.load("reference", language)
            shown[language] = [block for call in calls for block in eval(call, {"study": study})]
    return shown


def texts(block):
    match block:
        case Title():
            return [block.title, block.subtitle, *map(str, block.abstract), *block.doubts, block.verdict]
        case Prose():
            return [block.heading, *map(str, block.paragraphs)]
        case Table():
            return [block.caption, *block.columns, *(cell for row in block.rows for cell in row)]
        case Figure():
            return [block.caption, block.description]
    return []


def test_a_report_has_the_same_blocks_in_both_languages(blocks):
    english, korean = blocks["en"], blocks["ko"]
    assert [type(block) for block in english] == [type(block) for block in korean]
    assert [getattr(block, "id", "") for block in english] == [getattr(block, "id", "") for block in korean]
    for one, other in zip(english, korean, strict=True):
        if isinstance(one, Table):
            assert (len(one.rows), one.row_ids) == (len(other.rows), other.row_ids)


def test_no_english_sentence_is_left_in_a_korean_report(blocks):
    for block in blocks["ko"]:
        for text in texts(block):
            if re.search(r"[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+", text):
                assert HANGUL.search(text), text
        if isinstance(block, Title | Figure):
            assert HANGUL.search(texts(block)[0])


def test_every_block_of_a_report_is_complete(blocks):
    for block in blocks["en"]:
        for text in texts(block):
            assert "{" not in text and "nan" not in text.lower().split(), text
        if isinstance(block, Figure):
            assert block.svg.startswith("<svg") and block.caption.endswith(".") and block.description
        if isinstance(block, Table | Regression):
            assert block.caption


def test_all_evidence_of_a_report_exists(blocks):
    ids = set()
    for block in blocks["en"]:
        ids.add(getattr(block, "id", ""))
        if isinstance(block, Table):
            ids |= {f"{block.id}-{row}" for row in block.row_ids}
    said = [
        part
        for block in blocks["en"]
        for part in (*getattr(block, "abstract", ()), *getattr(block, "paragraphs", ()))
    ]
    pointers = [evidence.target for part in said if isinstance(part, Claim) for evidence in part.evidence]
    assert pointers and not set(pointers) - ids


def test_a_report_begins_with_its_title_and_judges_the_author(blocks):
    english = blocks["en"]
    title = english[0]
    assert (
        isinstance(title, Title)
        and title.study
        and title.run_id == "reference"
        and title.doubts
        and title.verdict
    )
    claims = next(block for block in english if isinstance(block, Table) and block.id == "claims")
    assert len(claims.rows) >= 6
    assert any(isinstance(block, Table) and block.id == "guideline" for block in english)


def test_another_source_is_refused_with_what_there_is():
    with pytest.raises(ReportError, match=r"'latest'.*published tables only.*deadzone report RUN"):
        ffmpeg_threads.load("latest")


def test_an_unknown_language_is_refused():
    with pytest.raises(ReportError, match="Languages are en, ko"):
        ffmpeg_threads.load("reference", "fr")


def test_figures_of_documents_keep_their_digits():
    assert [printed(value) for value in (113.0, 15632, 148.835, 0.000631)] == [
        "113",
        "15,632",
        "148.835",
        "0.000631",
    ]
    with speaking("en"):
        assert tenths(0.31752) == "31.8 %"
    with speaking("ko"):
        assert tenths(-0.8788) == "-87.9%"
