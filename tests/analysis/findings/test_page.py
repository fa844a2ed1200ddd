from pathlib import Path

import pytest
from finding_pages import WITHOUT_EXAMPLE, pages

from deadzone.analysis.findings.examining import CATALOGUE, page
from deadzone.errors import StudyError
from deadzone.language.messages import speaking

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "findings"


def test_the_pages_in_the_repository_are_those_of_the_catalogue():
    with speaking("en"):
        made = pages()
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert kept == made, "python scripts/finding_pages.py"


def test_an_example_that_is_shown_was_measured():
    examples = FOLDER / "examples"
    for key in [key for key in CATALOGUE if key not in WITHOUT_EXAMPLE]:
        size = (examples / f"{key}.png").stat().st_size
        assert size > 10_000, f"scripts/finding_examples.py {key}"
        assert list(examples.glob(f"{key}.yaml")) or list(examples.glob(f"{key}.sh")), key


def test_every_page_says_how_it_is_tested():
    for name, text in pages().items():
        tested = text.partition("## How it is tested")[2].partition("## ")[0]
        assert name == "README.md" or len(tested) > 80, name


def test_an_unknown_finding_is_answered_with_the_nearest():
    with pytest.raises(StudyError, match="knob_not_used"):
        page("knob_not_use")


def test_explain_prints_a_page_and_the_list(deadzone):
    assert "# less_work" in deadzone("explain", "less_work").out
    assert "carry_over" in deadzone("explain").out
    failures = deadzone("explain", "failures_by_level").out
    assert "Usual severity: Doubtful." in failures, "where all levels fail it stops the verdict"
    assert "more than 0.05 for each level" in failures and "ALLOWED" not in failures
    assert "출력" in deadzone("explain", "unit_changes", "--lang", "ko").out
    assert deadzone("explain", "nothing").code == 2
