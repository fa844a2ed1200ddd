import json

import pytest
from html_tags import Tags
from pypdfium2 import PdfDocument

from deadzone.report.document.publishing import publish_run
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study
from report.made_runs import PROVENANCE, new_repository, record

HOSTILE = (
    "</td></text><script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) "
    '#panic("typst") $x$ *b* `c` {{7*7}} \\u{41} \x1b]0;own\x07'
)
LEVELS = ("fast", "<script>alert(4)</script>", '#panic("level") [y](javascript:alert(5))')
STUDY = {
    "study": "strange", "title": HOSTILE, "question": HOSTILE,
    "workload": {"kind": "command", "argv": ["true", "{mode}"]},
    "factors": {"mode": list(LEVELS)},
    "design": {"replicates": 4, "warmup": 0, "timeout_s": 10},
    "claims": [{"says": HOSTILE, "best": {"mode": "fast"}}],
}  # fmt: skip


def active(text):
    """Elements and attributes of a page that do something, as a browser would see them."""
    found = []
    for tag, attributes in Tags(text).seen:
        for name, value in attributes.items():
            leads = name.endswith("href") or name in ("src", "action", "formaction", "srcdoc")
            if name.startswith("on") or (leads and "javascript:" in (value or "").lower()):
                found.append((tag, name, value))
        is_hostile = tag == "img" and attributes.get("src") == "x"
        if is_hostile or tag in ("script", "iframe", "object", "embed", "foreignobject"):
            found.append((tag, attributes))
    return found


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    home = new_repository(tmp_path_factory.mktemp("strangers") / "repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEADZONE_HOME", str(home))
        study = parse_study(json.dumps(STUDY), "study.yaml")
        run = RunFolder.create(home / "data" / "runs", study, "run-1")
        for number in range(12):
            level = LEVELS[number % 3]
            wrong = {"status": "failed", "exit_code": 1, "error": HOSTILE}
            changes = {"levels": {"mode": level}, **(wrong if number in (1, 4) else {})}
            changes["distrust_reason"] = HOSTILE if number == 5 else None
            wall = 1 + number % 3 + number / 100
            run.append(record(number + 1, level, wall, number // 3 + 1, **changes))
        run.write_tables()
        facts = {**PROVENANCE, "host": HOSTILE, "cpu_model": HOSTILE}
        (run.folder / "provenance.json").write_text(json.dumps(facts))
        yield publish_run(run)


def test_a_page_does_nothing_that_a_stranger_wrote(published):
    page = published.page.read_text()
    assert "alert(1)" in page and "alert(4)" in page, "it is there, as text"
    assert not active(page)
    assert "{{7*7}}" in page
    assert not active(published.front.read_text())


def test_a_pdf_shows_what_would_be_code_of_typst(published):
    with PdfDocument(published.pdf) as pdf:
        text = "".join(page.get_textpage().get_text_range() for page in pdf)
    assert 'panic("typst")' in " ".join(text.split())
    assert b"/JavaScript" not in published.pdf.read_bytes()


def test_outputs_of_the_notebook_hold_no_script(published):
    notebook = json.loads((published.folder / "report.ipynb").read_text())
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {})
            assert "application/javascript" not in shown
            for kind in ("text/html", "image/svg+xml", "text/markdown"):
                assert not active("".join(shown.get(kind, "")))
