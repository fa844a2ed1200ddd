import json
import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StoreError
from deadzone.store.records import Journal, each_line

pytestmark = pytest.mark.kept

RECORDS = st.dictionaries(
    st.text(max_size=8), st.none() | st.integers() | st.text(max_size=8), max_size=4
)


@given(st.lists(RECORDS, max_size=6))
def test_what_is_written_is_read(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("run") / "trials.jsonl"
    journal = Journal(path)
    for record in records:
        journal.append(record)
    assert list(each_line(path)) == records


@given(st.lists(RECORDS, min_size=1, max_size=4), st.data())
def test_cut_off_anywhere_it_keeps_every_whole_line_and_goes_on(tmp_path_factory, records, data):
    path = tmp_path_factory.mktemp("run") / "trials.jsonl"
    Journal(path).append(*records)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    assert list(each_line(path)) == records[:kept]
    Journal(path).append({"next": 1})
    assert list(each_line(path)) == [*records[:kept], {"next": 1}]


@pytest.mark.parametrize(
    "damage", ["not json", "5", "null", "[1]", '"text"', "", "\x00\x00", '{"a": ']
)
def test_a_damaged_line_in_the_middle_is_told_with_its_number(tmp_path, damage):
    path = tmp_path / "trials.jsonl"
    path.write_text(f'{{"trial": 1}}\n{damage}\n{{"trial": 3}}\n')
    with pytest.raises(
        StoreError, match=r"trials\.jsonl: line 2 is no record.*copy, or start a new run"
    ):
        list(each_line(path))


def test_a_journal_that_is_not_there_has_no_records_and_one_that_cannot_be_read_is_told(tmp_path):
    assert list(each_line(tmp_path / "trials.jsonl")) == []
    with pytest.raises(StoreError, match="cannot read the journal: Is a directory"):
        list(each_line(tmp_path))


def test_a_full_disk_tears_no_line(tmp_path):
    """A limit on the size of files stands in for the end of the disk: writes fail the same way."""
    path, written = tmp_path / "trials.jsonl", []
    said = "(?s)cannot write the journal.*The trials before it are safe.*go on with `resume=`"
    journal, before = Journal(path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(StoreError, match=said):
            for number in range(10_000):
                journal.append({"trial": number, "note": "x" * 100})
                written.append(number)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes().endswith(b"\n")
    assert [json.loads(line)["trial"] for line in path.read_text().splitlines()] == written
