import pandas as pd
import pytest

from deadzone.language.messages import speaking
from deadzone.report.document.display import CommandBlock, Prose, Regression, Table, Title
from deadzone.report.document.document import Document, Names, page
from deadzone.report.document.drawing import use_language
from deadzone.report.document.outputs import Markdown, Printed
from deadzone.report.document.publishing import Entry, index_page

WIDTHS = (360, 800, 1400)
FILES = ("report.pdf", "report.ipynb", "trials.parquet")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Where the reports lie: each is made once."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture
def written(analysed, files):
    """A report with everything in it, as a file."""

    def write(language):
        path = files / f"{language}.html"
        if path.exists():
            return path
        with speaking(language):
            use_language(language)
            report = analysed(
                lambda line: (
                    {**line, "status": "failed", "error": "x" * 300} if line["trial"] == 5 else line
                )
            )
            blocks = (
                report.title(), report.verdict(), *report.face(), Prose((), heading="Figures", id="section-f"),  # noqa: E501
                *report.phases(), *report.treatments(), *report.exceptions(),
                *report.provenance(), CommandBlock(("a very long command " * 12,)), Prose(("Careful.",), heading="W", level=3, style="warnings"),  # noqa: E501
                Markdown("## Written\n\nBy hand with `code`."), Printed("printed"),
            )  # fmt: skip
            names = Names(blocks, FILES)
        assert isinstance(blocks[0], Title)
        path.write_text(page(Document(blocks[0], blocks, names, language, FILES)))
        return path

    return write


@pytest.mark.parametrize(
    ("scheme", "language"),
    [("light", "en"), pytest.param("light", "ko", marks=pytest.mark.night),
     pytest.param("dark", "en", marks=pytest.mark.night),
     pytest.param("dark", "ko", marks=pytest.mark.night)],
)  # fmt: skip
def test_axe_finds_nothing(browser, written, language, scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    view = {"width": 1400, "height": 900}
    tab = browser.new_page(color_scheme=scheme, viewport=view, offline=True)
    tab.goto(written(language).as_uri())
    found = axe.run(tab)["violations"]
    tab.close()
    assert not [(one["id"], [node["html"][:150] for node in one["nodes"]]) for one in found]


def test_nothing_is_loaded_and_nothing_sticks_out(browser, written):
    asked, path = [], written("en")
    for width in WIDTHS:
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.close()
    assert {address for address in asked if not address.startswith("data:")} == {path.as_uri()}


@pytest.mark.night
def test_words_in_tables_are_not_broken_inside(browser, written):
    tab = browser.new_page(viewport={"width": 360, "height": 900})
    tab.goto(written("en").as_uri())
    heights = tab.evaluate(
        """[...document.querySelectorAll('td')].filter(cell => ['plateau', 'linear'].includes(cell.textContent))
           .map(cell => { const range = document.createRange(); range.selectNodeContents(cell);
                          return range.getClientRects().length; })"""  # noqa: E501
    )
    tab.close()
    assert heights and set(heights) == {1}


@pytest.mark.night
def test_the_index_is_as_accessible(browser, tmp_path):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    told = ("A title", "Best: 2 cores.", "2026-03-05T10:00:00+00:00", "here", "en", "A curve.")
    entry = Entry("probe", "run-1", *told)
    path = tmp_path / "index.html"
    for found in ([entry, Entry(**{**entry.__dict__, "run_id": "run-0"})], []):
        path.write_text(index_page(found, tmp_path, "en"))
        tab = browser.new_page(color_scheme="dark", viewport={"width": 800, "height": 900})
        tab.goto(path.as_uri())
        violations = axe.run(tab)["violations"]
        tab.close()
        assert not [violation["id"] for violation in violations]


@pytest.mark.night
def test_a_wide_table_scrolls_in_itself(browser, tmp_path):
    frame = pd.DataFrame({f"column {i}": [f"value {i}"] for i in range(30)})
    wide = Table.of_frame(frame, "Wide.")
    blocks = (Title("T"), wide, Regression("Model.", (wide,)))
    path = tmp_path / "wide.html"
    path.write_text(page(Document(blocks[0], blocks, Names(blocks), "en")))
    tab = browser.new_page(viewport={"width": 360, "height": 900})
    tab.goto(path.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    tab.close()
