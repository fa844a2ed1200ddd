"""The catalogue: the same messages with the same values in every language, and none that code asks for in vain."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path
from string import Formatter

import pytest
import yaml

import deadzone
from deadzone.errors import ReportError
from deadzone.language.catalogue import LANGUAGES, catalogue, join, say, speak, speaking, spoken, term
from deadzone.language.formats import date, date_and_time, particle, percent

TRANSLATIONS = [language for language in LANGUAGES if language != "en"]
SOURCES = sorted(Path(deadzone.__file__).parents[1].glob("deadzone*/**/*.py"))
TEMPLATES = sorted(Path(deadzone.__file__).parents[1].glob("deadzone*/**/*.j2"))
LAYOUTS = sorted(Path(deadzone.__file__).parents[1].glob("deadzone*/**/tables.yaml"))
WORDS = ("unit", "column", "phase", "law")
"""Sections whose keys are looked up with names from the data."""


def templates(entry):
    return [entry] if isinstance(entry, str) else list(entry.values())


def values(entry):
    return {name for text in templates(entry) for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_no_message_is_missing_or_superfluous(language):
    assert set(catalogue(language)) == set(catalogue("en"))


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_translation_names_the_same_values(language):
    other = {
        key: values(entry) ^ values(catalogue(language)[key])
        for key, entry in catalogue("en").items()
        # How many there are may go without saying where a language has no plural.
        if (values(entry) ^ values(catalogue(language)[key])) - {"n"}
    }
    assert not other


def test_every_message_that_code_says_is_in_the_catalogue():
    missing = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                missing += [f"{path.name}: {key}" for key in said(node.args[0]) if not known(key)]
    assert not missing


def said(argument):
    """The keys of one call; a part made from data is a wildcard."""
    if isinstance(argument, ast.Constant):
        return [argument.value]
    if isinstance(argument, ast.IfExp):
        return [*said(argument.body), *said(argument.orelse)]
    if isinstance(argument, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else "*" for part in argument.values)]
    return []


def known(key):
    pattern = re.compile(re.escape(key).replace(r"\*", ".+"))
    return any(pattern.fullmatch(known_key) for known_key in catalogue("en"))


def is_key(head):
    """A heading that is no template, nor a word that reads alike in every language, such as AIC."""
    return "{" not in head and "." in head


def laid_out(path):
    """The keys that a layout of a report or of its tables says; a part made from data is a wildcard."""
    layout = yaml.safe_load(path.read_text(encoding="utf-8"))
    is_report = "sections" in layout
    tables = (layout.get("tables", {}) if is_report else layout).values()
    words = [table["columns"].values() for table in tables]
    keys = [key for table in tables for key in (table.get("caption", ""), *table["columns"]) if is_key(key)]
    if is_report:
        shown = [
            entry for section in layout["sections"].values() for entry in section if isinstance(entry, dict)
        ]
        words += [layout["facts"].values(), *layout.get("sentences", {}).values(), layout["abstract"]]
        keys += [
            "title",
            "subtitle",
            "doubt",
            "verdict",
            *(one for entry in shown for one in entry.get("prose", ())),
        ]
        keys += [entry["section"] for entry in shown if "section" in entry]
    keys += [
        entry["say"] for entries in words for entry in entries if isinstance(entry, dict) and "say" in entry
    ]
    keys = {re.sub(r"\{[^}]*\}", "*", key) for key in keys}
    own = layout.get("sentences", {}) if is_report else {}
    return [key if "." in key else f"{layout['words']}.{key}" for key in keys - set(own)]


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_message_that_a_layout_says_is_in_the_catalogue(path):
    assert not [key for key in laid_out(path) if not known(key)]


def test_no_message_is_left_over_in_the_catalogue():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (*SOURCES, *TEMPLATES))
    prefixes = tuple(set(re.findall(r"""f["']([a-z_]+\.[a-z_]*)\{""", code)))
    quoted = {part for quote in ('"', "'") for part in code.split(quote)}
    said = {key for path in LAYOUTS for key in laid_out(path)}
    quoted |= {key for key in said if "*" not in key}
    prefixes += tuple(key.partition("*")[0] for key in said if "*" in key)
    unused = [
        key
        for key in catalogue("en")
        if key not in quoted and key.split(".")[0] not in WORDS and not key.startswith(prefixes)
    ]
    assert not unused


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_translation_is_not_the_english_text(language):
    same = [
        key
        for key, entry in catalogue("en").items()
        if entry == catalogue(language)[key]
        and re.search(r"[A-Za-z]{4,}", re.sub(r"\{[^}]*\}", "", str(entry)))
    ]
    assert not same


def test_a_message_reads_in_the_language_spoken_and_keeps_its_numbers():
    english = say("doubt.few_levels", levels=5)
    with speaking("ko"):
        korean = say("doubt.few_levels", levels=5)
        assert spoken() == "ko"
    assert spoken() == "en"
    assert english == "There are only 5 levels; joints are known to a step at best."
    assert korean.startswith("수준이 5개뿐")
    assert english.translated("ko") == korean
    assert (english.text, english.values) == ("doubt.few_levels", {"levels": 5})


def test_joined_and_nested_messages_are_translated_with_their_parts():
    note = say("doubt.of_slice", by="threads", value=4, warning=say("doubt.few_levels", levels=5))
    assert join([note, say("caveat.end_of_range")]).translated("ko").endswith("나을 수 있습니다.")
    assert "수준이 5개뿐" in note.translated("ko")


def test_a_message_survives_pickling_and_copying():
    said = say("doubt.few_levels", levels=5)
    for twin in (pickle.loads(pickle.dumps(said)), copy.deepcopy(said)):
        assert twin == said and twin.translated("ko") == said.translated("ko")


def test_a_count_chooses_the_plural():
    assert "1 trial is flagged" in say("doubt.outliers", n=1, trials="3 (at 4)")
    assert "2 trials are flagged" in say("doubt.outliers", n=2, trials="3 (at 4), 5 (at 4)")
    assert term("unit", "cores", n=1) == "core"
    assert term("unit", "GiB") == "GiB"


def test_an_unknown_language_is_an_error_with_the_nearest_one():
    with pytest.raises(ReportError, match="Languages are en, ko"):
        speak("kr")
    assert spoken() == "en"


@pytest.mark.parametrize(
    ("word", "pair", "expected"),
    [
        ("곡선", "은/는", "은"),
        ("코어", "은/는", "는"),
        ("12코어", "을/를", "를"),
        ("구간(4~6)", "이/가", "이"),
        ("64 KiB", "을/를", "를"),
        ("10", "을/를", "을"),
        ("2", "이/가", "가"),
        ("서울", "으로/로", "로"),
        ("99 %", "으로/로", "로"),
        ("3.48 s", "으로/로", "로"),
    ],
)
def test_korean_particles_fit_the_sound_before_them(word, pair, expected):
    assert particle(word, pair) == expected


def test_numbers_and_dates_are_written_as_the_reader_expects():
    moment = "2026-11-21T08:21:55+00:00"
    assert date(moment, "en") == "21 November 2026"
    assert date(moment, "ko") == "2026년 11월 21일"
    assert date_and_time(moment, "en") == "21 November 2026, 08:21 UTC"
    assert date("unknown", "en") == "unknown"
    assert percent(0.021, "en") == "2.1 %"
    assert percent(0.14, "ko") == "14%"
    assert percent(2.99, "en") == "299 %"
    assert percent(12.34, "en") == "13 times"
    assert percent(6.04, "ko") == "7.0배"
