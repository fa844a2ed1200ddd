"""Publishing the reports of the published studies: both languages, the same bytes, and nothing of this machine."""

from __future__ import annotations

import json
import re

import pytest

from deadzone import places
from deadzone.errors import ReportError
from deadzone.reports.document.publishing import entries, index_page
from deadzone.reports.published import reference_reports
from deadzone.reports.published.reference_reports import NOTEBOOKS, publish_reference

COMMITTED = places.home() / "reports"


@pytest.fixture
def reports(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "reports_folder", lambda: tmp_path / "reports")
    return tmp_path / "reports"


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_study_is_published_twice_with_the_same_bytes_in_both_languages(reports):
    (folder,) = publish_reference(["disk-io"])
    first = files(reports)
    publish_reference(["disk-io"])
    assert files(reports) == first
    assert folder == reports / "disk-io" / "reference"
    for name in (
        "index.html",
        "report.pdf",
        "report.ipynb",
        "ko/index.html",
        "ko/report.pdf",
        "ko/report.ipynb",
    ):
        assert f"disk-io/reference/{name}" in first
    page, korean = (folder / "index.html").read_text(), (folder / "ko" / "index.html").read_text()
    assert 'lang="en"' in page and 'href="ko/index.html"' in page
    assert 'lang="ko"' in korean and 'href="../index.html"' in korean
    assert "data/reference/disk-io/datapackage.json" in page
    shown = index_page(entries(reports), reports, "en")
    assert 'hreflang="ko"' in shown and "한국어" in shown


def test_an_unknown_study_is_refused_with_the_nearest(reports):
    with pytest.raises(ReportError, match="Did you mean 'disk-io'"):
        publish_reference(["disk-oi"])
    assert not reports.exists()


def test_without_a_korean_font_nothing_is_published(reports, monkeypatch):
    monkeypatch.setattr(reference_reports, "korean_font", lambda: None)
    with pytest.raises(ReportError, match="fonts-noto-cjk"):
        publish_reference(["disk-io"])
    assert not reports.exists()


@pytest.mark.parametrize("study", sorted(NOTEBOOKS))
@pytest.mark.parametrize("language", ["", "ko"])
def test_the_committed_reports_are_whole_small_and_name_no_machine(study, language):
    folder = COMMITTED / study / "reference" / language
    for name in ("index.html", "report.pdf", "report.ipynb", "report.json", "thumbnail.svg"):
        assert 0 < (folder / name).stat().st_size < 1_000_000
    text = (folder / "index.html").read_text(encoding="utf-8") + (folder / "report.ipynb").read_text(
        encoding="utf-8"
    )
    assert not re.search(r"/root/|/home/[a-z]+/(?!ubuntu)|/tmp/deadzone|http-equiv", text)
    assert json.loads((folder / "report.json").read_text())["language"] == (language or "en")


@pytest.mark.parametrize("study", sorted(NOTEBOOKS))
def test_links_of_the_committed_reports_lead_somewhere(study):
    for page in (
        COMMITTED / study / "reference" / "index.html",
        COMMITTED / study / "reference" / "ko" / "index.html",
    ):
        text = page.read_text(encoding="utf-8")
        ids = set(re.findall(r'\bid="([^"]+)"', text))
        for address in re.findall(r'\bhref="([^"]+)"', text):
            if address.startswith("#"):
                assert address[1:] in ids, address
            elif not address.startswith("data:"):
                assert (page.parent / address).exists(), address
