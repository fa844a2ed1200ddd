"""Studies as no person would write them: always a plan or a sentence, never a defect."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadzone.errors import DeadzoneError
from deadzone.measuring.sweep.opening import planned_file

STUDIES = sorted((Path(__file__).parents[2] / "notebooks" / "studies").glob("*.yaml"))

NUMBERS = [10**400, -(10**400), 2**63, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 0, -1]
TEXTS = [
    "",
    " ",
    "\0",
    "{",
    "{}",
    "{{",
    "x" * 10_000,
    "1" * 5_000,
    "\x1b]0;x\x07",
    "../..",
    "\u202e",
    "1e999",
]
OTHERS = [True, None, [], [[]], {}, {"": {}}, [None] * 3]

VALUES = st.sampled_from([*NUMBERS, *TEXTS, *OTHERS]) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
"""What a value of a study is replaced by."""

TRIES = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
"""Drawn anew each time, so that what many runs of the tests try adds up."""


@lru_cache
def document_in(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, as the keys on the way to it."""
    below = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in below:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a place."""
    document = copy.deepcopy(document)
    node = document
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return document


@TRIES
@given(data=st.data())
def test_a_study_with_anything_anywhere_is_planned_or_refused(data, tmp_path_factory):
    path = data.draw(st.sampled_from(STUDIES))
    document = document_in(path)
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(list(places(document))))
        document = changed(document, place, data.draw(VALUES))
    file = tmp_path_factory.getbasetemp() / "changed.yaml"
    try:
        file.write_text(yaml.safe_dump(document, allow_unicode=True))
    except (UnicodeEncodeError, yaml.YAMLError):
        return  # no text, so no file of anybody
    try:
        planned_file(file)
    except DeadzoneError as error:
        assert str(error)


@TRIES
@given(data=st.data())
def test_a_study_of_torn_and_garbled_bytes_is_planned_or_refused(data, tmp_path_factory):
    content = data.draw(st.sampled_from(STUDIES)).read_bytes()
    at = data.draw(st.integers(0, len(content)))
    put = data.draw(
        st.binary(max_size=6) | st.sampled_from([b"&a [*a, *a]", b"\t", b"\r\n", b"\xef\xbb\xbf"])
    )
    file = tmp_path_factory.getbasetemp() / "garbled.yaml"
    file.write_bytes(content[:at] + put + content[at + data.draw(st.integers(0, 40)) :])
    try:
        planned_file(file)
    except DeadzoneError as error:
        assert str(error)
