import json

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.ft2font import FT2Font

from deadzone.errors import ReportError
from deadzone.language.messages import spoken
from deadzone.report.document.display import (
    MIME,
    Claim,
    CommandBlock,
    Evidence,
    Figure,
    Prose,
    Regression,
    Table,
    Title,
    block_of,
)
from deadzone.report.document.drawing import FAMILY, font_folder, use_language

TABLE = Table.of_frame(
    pd.DataFrame({"limit": ["1", "2"], "time (s)": ["4.0", "2.0"]}),
    "Two cores halve it.", numeric=["limit", "time (s)"], id="t", row_ids=["1", "2"],
)  # fmt: skip

SHOWN = (Claim("Shown.", (Evidence("t-1", "the row"),)),)
BLOCKS = [
    Title("A title", "A question?", ("A doubt.",), (("Host", "here"),), "2026-03-05"),
    Prose(("Plain.", *SHOWN), heading="Head", style="verdict", id="v"),
    CommandBlock(("deadzone run x",), heading="Reproduce", id="r"),
    TABLE,
    Figure('<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>', "It falls.", "A falling line", id="f"),
    Regression("A model.", (TABLE,), id="m"),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.kind)
def test_a_block_comes_back_from_the_notebook_as_it_went_in(block):
    bundle = json.loads(json.dumps(block._repr_mimebundle_()))
    back = block_of(bundle)
    assert json.dumps(back.to_json()) == json.dumps(block.to_json())
    assert back._repr_html_() == block._repr_html_()
    assert bundle["text/plain"] == repr(block)


def test_a_drawing_stands_in_the_notebook_once():
    bundle = json.dumps(BLOCKS[4]._repr_mimebundle_())
    assert bundle.count("<path") == 1
    assert block_of(json.loads(bundle)).svg == BLOCKS[4].svg


def test_an_output_of_something_else_is_no_block():
    assert block_of({"text/plain": "1"}) is None
    assert block_of({MIME: {"kind": "unheard of"}}) is None


def test_the_same_figure_gives_the_same_bytes():
    def drawn():
        figure, ax = plt.subplots()
        ax.plot([1, 2], [3, 4])
        return Figure.of(figure, "c", "d").svg

    assert drawn() == drawn()
    assert not plt.get_fignums()


def test_korean_letters_in_a_drawing_find_a_font(recwarn):
    figure, ax = plt.subplots()
    ax.set_title("한글")
    assert "NanumGothic" in Figure.of(figure, "c", "d").svg
    assert not [warning for warning in recwarn if "missing from font" in str(warning.message)]


def test_the_font_that_a_dependency_brings_has_korean_letters():
    font = FT2Font(str(font_folder() / f"{FAMILY}.ttf"))
    assert font.family_name == FAMILY and font.get_char_index(ord("한"))


def test_a_language_is_spoken_from_here_on_and_an_unknown_one_is_refused():
    use_language("ko")
    assert spoken() == "ko"
    with pytest.raises(ReportError, match="kr"):
        use_language("kr")
