"""Studies, runs and tables as no person would write them: always a sentence and an exit code, never a defect."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadzone.cli.main import deadzone as group
from deadzone.errors import DeadzoneError
from deadzone.measuring.sweep.opening import planned_file
from deadzone.store.run import Run

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
"""What a value of a study or a record is replaced by."""

TRIES = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


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
    document = yaml.safe_load(path.read_text())
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


@pytest.fixture
def measured(write_study, sweep) -> Run:
    """A small run that is whole."""
    program = {"kind": "command", "argv": ["echo", "{threads}"], "responses": {"n": {"regex": r"\d+"}}}
    return sweep(write_study(workload=program, factors={"threads": [1, 2, 4, 8]}))


def said(*arguments: str) -> None:
    """A command in this process, which may refuse."""
    try:
        group.main(list(arguments), standalone_mode=False)
    except (DeadzoneError, click.ClickException) as error:
        assert str(error)


@TRIES
@given(data=st.data())
def test_a_run_with_anything_in_its_journal_is_explained_or_refused(data, measured, tmp_path):
    records = [json.loads(line) for line in measured.journal_file.read_bytes().splitlines()]
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(list(places(records))))
        records = changed(records, place, data.draw(VALUES))
    harmed = tmp_path / "harmed" / measured.run_id
    shutil.copytree(measured.folder, harmed, dirs_exist_ok=True)
    Run(harmed).journal_file.write_text("".join(json.dumps(one) + "\n" for one in records))
    for command in (("recommend",), ("export",)):
        said(*command, str(harmed))


@TRIES
@given(data=st.data())
def test_a_table_with_anything_in_its_cells_is_fitted_or_refused(data, tmp_path):
    lines = [["knob", "wall_s"], *([str(knob), str(9 / knob)] for knob in (1, 2, 4, 8) for _ in range(3))]
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(lines))
        row[data.draw(st.integers(0, 1))] = data.draw(VALUES.map(str))
    table = tmp_path / "table.csv"
    table.write_text("\n".join(map(",".join, lines)), errors="replace")
    said("fit", str(table), "--knob", "knob", "--response", "wall_s")
