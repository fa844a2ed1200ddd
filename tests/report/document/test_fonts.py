from pathlib import Path

import matplotlib
import pytest

from deadzone.errors import ReportError
from deadzone.language.messages import spoken
from deadzone.report.document import fonts, speaking
from deadzone.report.document.fonts import family_of, korean_font, weights_of
from deadzone.report.document.speaking import language_note, use_language


def test_a_font_that_is_found_has_korean_letters():
    font = korean_font()
    assert font.is_file() and family_of(font)
    assert font in weights_of(font)


def test_a_font_without_korean_letters_is_not_taken():
    assert not fonts._has_korean(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf")


def test_a_machine_without_fonts_has_the_letters_that_a_dependency_brings(monkeypatch):
    monkeypatch.setattr(fonts, "KNOWN_FOLDERS", ())
    font = fonts.korean_font.__wrapped__()
    assert family_of(font) == "NanumGothic"
    assert [path.name for path in weights_of(font)] == ["NanumGothic.ttf", "NanumGothicBold.ttf"]


def test_nothing_is_found_where_nothing_is(monkeypatch):
    monkeypatch.setattr(fonts, "KNOWN_FOLDERS", ())
    monkeypatch.setattr(fonts, "FONT_PACKAGE", "no_such_package_at_all")
    assert fonts.korean_font.__wrapped__() is None


def test_without_a_font_the_report_is_in_english_and_says_so(monkeypatch):
    monkeypatch.setattr(speaking, "korean_font", lambda: None)
    with pytest.warns(UserWarning, match="no Korean font"):
        note = use_language("ko")
    assert spoken() == "en"
    assert "written in English" in str(note.paragraphs[0])


def test_with_a_font_it_is_in_korean():
    assert use_language("ko") is None
    assert spoken() == "ko"


def test_before_anything_runs_the_missing_font_is_told(monkeypatch):
    assert language_note("en") is None
    monkeypatch.setattr(speaking, "korean_font", lambda: None)
    assert "fonts-noto-cjk" in language_note("ko")
    with pytest.raises(ReportError, match="kr"):
        language_note("kr")
