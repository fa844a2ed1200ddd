import re
import resource
import sys
from pathlib import Path

import pandas as pd
import pytest
from html_tags import Tags

from deadzone.errors import ReportError
from deadzone.report.document.publishing import (
    FILES,
    Entry,
    folder_for,
    index_page,
    publish_index,
    publish_run,
    write_front_page,
    write_report,
)
from deadzone.store.run import RunFolder
from report.made_runs import new_repository, write_run

HOSTILE = '</td><script>alert("stderr")</script>'


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A repository with a run in which one level fails with hostile output."""
    folder = new_repository(tmp_path_factory.mktemp("publishing") / "some repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEADZONE_HOME", str(folder))
        yield folder


def failing(home):
    def change(line):
        if line["levels"]["cpu_limit"] != 1.5:
            return line
        error = f"{HOSTILE} in {home}/data and {sys.prefix}/bin"
        return {**line, "status": "failed", "exit_code": 1, "error": error}

    return change


@pytest.fixture(scope="module")
def published(home):
    return publish_run(write_run(home, failing(home)))


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_page_pdf_notebook_and_trials_lie_side_by_side(published):
    assert {"index.html", *FILES, "report.json", "thumbnail.svg"} == set(contents(published.folder))
    assert published.pdf.read_bytes().startswith(b"%PDF")
    assert published.folder.name in published.front.read_text()


@pytest.mark.night
def test_publishing_twice_gives_the_same_bytes(home, published):
    before = contents(published.folder)
    again = publish_run(RunFolder.find(home / "data" / "runs", "probe/run-1"))
    assert contents(again.folder) == before


def test_where_one_file_of_a_report_cannot_be_written_the_report_before_it_stays_whole(
    published, tmp_path
):
    folder = tmp_path / "probe" / "run-1"
    write_report(published.folder / "report.ipynb", folder)
    before = contents(folder)
    other = tmp_path / "other.ipynb"
    whole = (published.folder / "report.ipynb").read_text()
    other.write_text(whole.replace("A program under", "Another program under"))
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(map(len, before.values())) - 1, most[1]))
    try:
        with pytest.raises(ReportError, match="the report cannot be written: File too large"):
            write_report(other, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert contents(folder) == before
    write_report(other, folder)
    assert contents(folder)["index.html"] != before["index.html"]


def test_nothing_published_names_a_path_of_the_machine(home, published):
    for name, content in contents(published.folder).items():
        for folder in (str(home), sys.prefix, str(Path.home()) + "/", "input_path", "/tmp/"):
            assert folder.encode() not in content, (name, folder)
    errors = pd.read_parquet(published.folder / "trials.parquet")["error"].dropna()
    assert len(errors) == 4 and not errors.str.contains(str(home), regex=False).any()


def test_the_failed_level_is_told_before_anything_else_and_its_output_is_only_text(published):
    page = published.page.read_text()
    assert page.index("No trial at cpu_limit 1.5 ended well") < page.index('id="verdict"')
    assert "<script" not in page
    assert "&lt;script&gt;alert" in page


def test_every_link_leads_somewhere_and_no_id_stands_twice(published):
    tags = Tags(published.page.read_text())
    ids = tags.each("id")
    assert len(ids) == len(set(ids))
    for link in tags.each("href", ["a"]):
        if link.startswith("#"):
            assert link[1:] in ids
        else:
            assert (published.folder / link).is_file(), link


def test_from_the_verdict_to_the_raw_trials_it_is_one_click(published):
    page = published.page.read_text()
    box = re.search(r'id="verdict".*?</div>', page, re.DOTALL).group()
    for target in ("#response", "#settings-4", "trials.parquet", "#reproduce"):
        assert f'href="{target}"' in box


def test_the_study_leads_to_the_newest_run_and_the_index_to_every_study(published, tmp_path):
    newer = tmp_path / "newer.ipynb"
    whole = (published.folder / "report.ipynb").read_text()
    newer.write_text(whole.replace("2026-03-05", "2026-04-05"))
    write_report(newer, published.folder.with_name("run-0"))
    front = write_front_page(published.folder.parent)
    assert front == published.front and "url=run-0/index.html" in front.read_text()
    assert "\\x00" not in front.read_text()
    index = publish_index()
    text = index.read_text()
    assert text == publish_index().read_text()
    said = ("A program under a CPU limit", "5 April 2026", "measuring-host", "1 older report")
    assert not [words for words in (*said, "Which limit is enough?", "<svg") if words not in text]
    for link in Tags(text).each("href", ["a"]):
        assert (index.parent / link).is_file(), link


def test_a_failed_notebook_is_not_published_and_leaves_what_there_was(home, published):
    notebook = home / "notebooks" / "phases.ipynb"
    whole, before = notebook.read_text(), contents(published.folder)
    try:
        notebook.write_text(whole.replace("import matplotlib.pyplot as plt", "1 / 0"))
        with pytest.raises(ReportError, match="ZeroDivisionError"):
            publish_run(RunFolder.find(home / "data" / "runs", "probe/run-1"))
    finally:
        notebook.write_text(whole)
    assert contents(published.folder) == before


def test_a_second_language_stands_beside_the_first(tmp_path):
    run = tmp_path / "run"
    assert folder_for(run, "ko") == run
    run.mkdir()
    (run / "report.json").write_text('{"language": "en"}')
    assert folder_for(run, "en") == run
    assert folder_for(run, "ko") == run / "ko"


def test_the_index_says_what_moved(tmp_path):
    verdicts = [("2026-04-05", "Set 4 threads."), ("2026-03-05", "Set 2 threads.")]
    found = [Entry("xz", day, "xz", said, day, "", "en", "", "How many?") for day, said in verdicts]
    assert "Before, on 5 March 2026: Set 2 threads." in index_page(found, tmp_path, "en")
