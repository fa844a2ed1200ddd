import pytest
from html_tags import Tags

from deadzone.report.document.display import (
    Claim,
    CommandBlock,
    Evidence,
    Figure,
    Prose,
    Regression,
    Table,
    Title,
)
from deadzone.report.document.document import Names
from deadzone.report.document.html import anchor, apart, themed

HOSTILE = '</td></table><script>alert(1)</script><img src=x onerror="alert(2)">&amp; \'"'


@pytest.mark.parametrize(
    "block",
    [Title(HOSTILE, HOSTILE, (HOSTILE,), ((HOSTILE, HOSTILE),)),
     Prose((HOSTILE, Claim(HOSTILE, (Evidence("t", HOSTILE),))), heading=HOSTILE),
     CommandBlock((HOSTILE,), heading=HOSTILE),
     Table([HOSTILE, "b"], [[HOSTILE, HOSTILE]], HOSTILE, [HOSTILE], "t", [HOSTILE]),
     Figure("<svg viewBox='0 0 1 1'></svg>", HOSTILE, HOSTILE),
     Regression(HOSTILE, (Table([HOSTILE], [[HOSTILE]], HOSTILE),))],
    ids=lambda block: block.kind,
)  # fmt: skip
def test_what_a_program_printed_never_becomes_markup(block):
    tags = Tags(block.html(Names([block])))
    assert not {tag for tag, _ in tags.seen} & {"script", "img"}
    assert not any(name.startswith("on") for _, attributes in tags.seen for name in attributes)


def test_a_table_has_scopes_numbers_to_the_right_and_anchors_of_rows():
    table = Table(["a", "b"], [["1", "x"]], "C.", numeric=["a"], id="t", row_ids=["1"])
    tags = Tags(table.html(Names([table]))).seen
    assert ("th", {"scope": "col", "class": "dz-number"}) in tags
    assert ("th", {"scope": "row", "class": "dz-number"}) in tags
    assert ("tr", {"id": "t-1"}) in tags


def test_a_figure_says_what_it_shows_and_its_ids_are_its_own():
    drawing = '<svg viewBox="0 0 1 1"><g id="a"/><use xlink:href="#a"/></svg>'
    figure = Figure(drawing, "C.", "A line.", id="f")
    html = figure.html(Names([figure]))
    assert 'role="img" aria-label="A line."' in html
    assert 'id="f-a"' in html and 'xlink:href="#f-a"' in html
    assert "Figure 1." in html


def test_words_are_not_broken_but_long_names_may_be():
    broken = Prose(("plateau", "a_very_long_column_name_without_any_space_in_it")).html()
    assert "plateau" in broken
    assert "very_<wbr>long_<wbr>column" in broken


def test_a_drawing_follows_the_page_into_the_dark_and_stays_itself_elsewhere():
    told = 'style="stroke: var(--fig-ink, #1f2933); fill: #123456"'
    assert themed('style="stroke: #1f2933; fill: #123456"') == told
    assert apart('clip-path="url(#p)"', "f") == 'clip-path="url(#f-p)"'


def test_evidence_that_is_not_there_is_not_linked():
    figure = Figure("<svg></svg>", "C.", "D.", id="f")
    claim = Claim("So it is.", (Evidence("f"), Evidence("gone"), Evidence("trials.parquet")))
    prose = Prose((claim,))
    with_files = prose.html(Names([figure, prose], ["trials.parquet"]))
    assert '<a href="#f" aria-label="Figure 1" title="Figure 1">1</a>' in with_files
    assert '<a href="trials.parquet" aria-label="trials.parquet"' in with_files
    assert "gone" not in with_files
    assert "<a" not in Prose((claim,)).html()


def test_headings_of_any_script_get_an_anchor():
    assert anchor("Response curve") == "response-curve"
    assert anchor("응답 곡선") == "응답-곡선"
