import json
import re
from html import unescape

import pytest

from deadzone import places
from deadzone.errors import ReportError
from deadzone.report.document.publishing import entries, publish_reference, published_studies

COMMITTED = places.home() / "reports"
STUDIES = ["disk-io", "ffmpeg-threads", "media-server", "pod-cpu-limit", "thread-pools"]


@pytest.fixture
def reports(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "reports_folder", lambda: tmp_path / "reports")
    return tmp_path / "reports"


def files(folder):
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_the_five_studies_have_a_notebook_each():
    assert sorted(published_studies()) == STUDIES


@pytest.mark.night
def test_a_study_is_published_twice_with_the_same_bytes_and_names_its_document(reports):
    """Its verdict is a sentence that a cell computed."""
    (folder,) = publish_reference(["disk-io"])
    first = files(reports)
    publish_reference(["disk-io"])
    assert files(reports) == first
    assert folder == reports / "disk-io" / "reference"
    own = ("index.html", "report.pdf", "report.ipynb", "report.json", "thumbnail.svg")
    reference = {f"disk-io/reference/{name}" for name in own}
    assert set(first) == {"published.html", "disk-io/index.html"} | reference
    page = (folder / "index.html").read_text()
    for told in ("Document", "14 October 2023", "data/reference/disk-io/datapackage.json"):
        assert told in page, told
    (entry,) = entries(reports)
    assert (entry.study, entry.run_id, entry.date) == ("disk-io", "reference", "2023-10-14")
    assert "a chunk of 20 MB takes 55 ms. In blocks of 1 KiB it takes 12 s" in entry.verdict


def test_an_unknown_study_is_refused_with_the_nearest_before_anything_is_written(reports):
    with pytest.raises(ReportError, match="Did you mean `disk-io`"):
        publish_reference(["ffmpeg-threads", "disk-oi"])
    assert not reports.exists()


@pytest.mark.parametrize("study", STUDIES)
def test_the_committed_reports_are_whole_small_and_name_no_machine(study):
    folder = COMMITTED / study / "reference"
    for name in ("index.html", "report.pdf", "report.ipynb", "report.json", "thumbnail.svg"):
        assert 0 < (folder / name).stat().st_size < 1_000_000
    text = "".join((folder / name).read_text("utf-8") for name in ("index.html", "report.ipynb"))
    assert not re.search(r"/root/|/home/[a-z]+/(?!ubuntu)|/tmp/deadzone|http-equiv", text)
    assert json.loads((folder / "report.json").read_text())["language"] == "en"


@pytest.mark.parametrize("study", STUDIES)
def test_links_of_the_committed_reports_lead_somewhere(study):
    page = COMMITTED / study / "reference" / "index.html"
    text = page.read_text(encoding="utf-8")
    ids = set(re.findall(r'\bid="([^"]+)"', text))
    for address in map(unescape, re.findall(r'\bhref="([^"]+)"', text)):
        if address.startswith("#"):
            assert address[1:] in ids, address
        elif not address.startswith(("data:", "https:")):
            assert (page.parent / address).exists(), address
