import pytest
from matplotlib.ft2font import FT2Font

from deadzone.errors import ReportError
from deadzone.language.messages import spoken
from deadzone.report.document.drawing import FAMILY, font_folder, use_language


def test_the_font_that_a_dependency_brings_has_korean_letters():
    font = FT2Font(str(font_folder() / f"{FAMILY}.ttf"))
    assert font.family_name == FAMILY and font.get_char_index(ord("한"))


def test_a_language_is_spoken_from_here_on_and_an_unknown_one_is_refused():
    use_language("ko")
    assert spoken() == "ko"
    with pytest.raises(ReportError, match="kr"):
        use_language("kr")
