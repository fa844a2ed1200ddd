from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

import deadzone as dz
from deadzone.cli.main import deadzone as group
from deadzone.study.design import resolve, treatments

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GUIDES = sorted(
    page
    for room in ("how-to", "explanation", "reference")
    for page in (ROOT / "docs" / room).glob("*.md")
)
LINKED = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "deploy" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
MOST_WORDS = 600
"""A page has one subject."""


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_readme_is_one_page():
    assert 700 <= len(README.read_text().split()) <= 900


def test_contributing_and_each_release_are_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text().split()) <= 1500
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert len(releases) > 2 and max(len(release.split()) for release in releases) <= MOST_WORDS


@pytest.mark.parametrize("page", GUIDES, ids=named)
def test_a_page_is_short(page):
    assert len(page.read_text().split()) <= MOST_WORDS


@pytest.mark.parametrize("page", LINKED, ids=named)
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        name, _, heading = target.partition("#")
        place = (page.parent / name).resolve() if name else page
        assert place.exists(), target
        assert not heading or heading in headings(place), target


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    lines = [
        line.lstrip("#").strip().lower()
        for line in page.read_text().splitlines()
        if line.startswith("#")
    ]
    return {re.sub(r"[^\w -]", "", line).replace(" ", "-") for line in lines}


def typed(page: Path) -> Iterator[list[str]]:
    """The lines of a page that call the command, in words, without it, a pipe or redirection."""
    for line in "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        calls = [k for k, word in enumerate(words) if word in ("deadzone", ".venv/bin/deadzone")]
        if calls:
            end = next((k for k, word in enumerate(words) if word in ("|", ">")), len(words))
            yield words[calls[0] + 1 : end]


COMMANDS = [(page, words) for page in (README, *GUIDES) for words in typed(page)]


@pytest.mark.parametrize(
    ("page", "words"), COMMANDS, ids=lambda part: named(part) if isinstance(part, Path) else part[0]
)
def test_a_command_has_what_the_page_gives_it_and_try_each_parameter_in_its_line(page, words):
    above = click.Context(group, **group.context_settings)
    command = group.get_command(above, words[0])
    assert command is not None, words
    context = click.Context(command, parent=above, **command.context_settings)
    given, left, _ = command.make_parser(context).parse_args(list(words[1:]))
    assert not left, words
    for option in command.params:
        for value in [given[option.name]] if isinstance(given.get(option.name), str) else []:
            assert not isinstance(option.type, click.Choice) or value in option.type.choices, words
    if words[0] == "try":
        names = [words[k + 1] for k, word in enumerate(words) if word in ("-L", "-P")]
        before = [words[k + 1] for k, word in enumerate(words) if word in ("--setup", "--prepare")]
        filled = " ".join([*before, *words[words.index("--") + 1 :]])
        assert not [name for name in names if f"{{{name}}}" not in filled], words


REDIS = {"workload": {"kind": "command", "argv": ["redis-cli"]}, "factors": {"hz": [10, 100]}}
BASES = {"profiles": "profile-diff", "service": REDIS}
"""The study that a fragment of a page is a part of, by the fragment's first key; xz by threads
where none is named."""


@pytest.mark.parametrize(
    ("page", "text"), [(page, text) for page in (README, *GUIDES) for text in blocks(page, "yaml")],
    ids=lambda part: named(part) if isinstance(part, Path) else part.split(":")[0],
)  # fmt: skip
def test_a_study_of_a_page_is_one(page, text):
    part = yaml.safe_load(text)
    base = {} if "study" in part else BASES.get(next(iter(part)), "xz-threads")
    if isinstance(base, str):
        base = yaml.safe_load((ROOT / "notebooks" / "studies" / f"{base}.yaml").read_text())
    whole = {"study": "fragment", **base, **part}
    if "kind" not in whole["workload"]:
        whole["workload"] = {**base["workload"], **part["workload"]}
    assert dz.load_study(whole).study == whole["study"]


def test_the_study_of_the_readme_is_the_bundled_one_with_ffmpeg_choosing_its_threads():
    shown = dz.load_study(blocks(README, "yaml")[0])
    bundled = dz.load_study("ffmpeg-16-cores", threads=["auto"])
    for part in ("study", "workload", "target", "design", "knob", "response"):
        assert getattr(shown, part) == getattr(bundled, part), part
    assert treatments(resolve(shown, 16)) == treatments(resolve(bundled, 16))


def test_the_answer_of_the_readme_is_that_of_the_recorded_trials(deadzone, tmp_path, monkeypatch):
    # pytest-xdist sets it to 80; the page has the usual width
    monkeypatch.delenv("COLUMNS", raising=False)
    [shown] = [text for text in blocks(README, "sh") if "deadzone fit" in text]
    pick, fit = shown.splitlines()
    pick = pick.replace("auto.csv", str(tmp_path / "auto.csv"))
    subprocess.run(["sh", "-c", pick], cwd=ROOT, check=True)
    monkeypatch.chdir(tmp_path)
    said = deadzone(*shlex.split(fit)[1:]).out
    for lines in blocks(README, "text")[1].split("\n\n"):
        assert lines.strip() in said


def test_the_python_of_the_readme_prints_what_it_says(capsys):
    [source] = blocks(README, "python")
    exec(source, {})
    assert capsys.readouterr().out.split() == re.findall(r"print\(.*# (.*)", source)
