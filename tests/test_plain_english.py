from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from babel.messages.pofile import read_po

from deadzone.cli.main import deadzone

ROOT = Path(__file__).resolve().parent.parent
MOST_WORDS = 30
NAMELESS = ("nobody", "somebody", "one's own")
"""Who does something is named: the user, another process."""

WORDS = (
    *NAMELESS,
    *["whosoever", "belonging", "heir", "kin", "lending", "recognising", "spared", "wishes"],
)
"""Coinages have terms of the field."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "deploy/README.md")),
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        # Pages of measurements are tables with the conditions of each below it.
        if "benchmarks" not in path.parts
    ),
]


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, without citations."""
    plain = re.sub(r"\s*\([^()]*\b(?:19|20)\d\d\b[^()]*\)", "", " ".join(text.split()))
    return re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\"\[{(-])", plain)


def paragraphs(markdown: str) -> Iterator[str]:
    """The prose of a page: no code, table, heading or markup."""
    text = re.sub(r"^(```|---).*?^\1", "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^[|#].*$|<[^>]+>", "", text, flags=re.MULTILINE)
    yield from re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)


def helps() -> Iterator[str]:
    """What each command says of itself and its options, without examples."""
    context = click.Context(deadzone)
    for name in deadzone.list_commands(context):
        command = deadzone.get_command(context, name)
        assert command is not None
        yield from (part for part in (command.help or "").split("\n\n") if "\b" not in part)
        yield from (getattr(option, "help", None) or "" for option in command.params)


def messages() -> Iterator[str]:
    """What the library says in reports, with its plural forms."""
    with (ROOT / "lib/deadzone/locale/ko/LC_MESSAGES/deadzone.po").open("rb") as file:
        for message in read_po(file):
            yield from [message.id] if isinstance(message.id, str) else message.id


def faults(texts: Iterator[str]) -> list[str]:
    """The sentences that are too long or hold a word of the list."""
    wrong = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
    return [
        sentence
        for text in texts
        for sentence in sentences(text)
        if len(sentence.split()) > MOST_WORDS or wrong.search(sentence)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_english(page):
    assert faults(paragraphs(page.read_text())) == []


@pytest.mark.parametrize("texts", [helps, messages])
def test_the_library_speaks_plain_english(texts):
    assert faults(texts()) == []


def test_who_does_something_is_named_in_the_code_too():
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "lib").rglob("*")
        if path.suffix in {".py", ".sh", ".j2", ".typ", ".po"}
        for line in path.read_text().splitlines()
        if any(word in line for word in NAMELESS)
    ]
    assert lines == []


def test_a_long_sentence_and_a_wrong_word_are_seen():
    assert len(faults(iter(["Nobody knows. Here" + " word" * 31 + "."]))) == 2
