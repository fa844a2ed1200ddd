"""One table from several files: factors set by hand, columns in order, and a codebook that says
what they mean."""

import re
from pathlib import Path

import pytest

from deadzone.errors import FormatError
from deadzone.store.imports.columns import FIRST, MEASURED
from deadzone.store.imports.registry import reader_of
from store.imports.samples import imported, sample

CODEBOOK = (Path(__file__).resolve().parents[3] / "data" / "imported.md").read_text()


def test_a_level_that_the_file_does_not_tell_is_set():
    table = imported("wrk", sample("wrk_latency.txt"), threads="4", host="a")
    assert table["threads"].tolist() == [4] and table["threads"].dtype == "Int64"
    assert table["host"].tolist() == ["a"]
    assert list(table.columns).index("threads") < list(table.columns).index("wall_s")


def test_what_was_measured_or_told_is_not_set():
    with pytest.raises(FormatError, match="not set but measured"):
        imported("wrk", sample("wrk_latency.txt"), wall_s="4")
    with pytest.raises(FormatError, match="contradicts the file, which says 4"):
        imported("fio", sample("fio_seqw_direct_4k.json"), iodepth="8")
    assert len(imported("fio", sample("fio_seqw_direct_4k.json"), iodepth="4")) == 1


def test_the_codebook_explains_every_column():
    for name in (*FIRST, *MEASURED):
        row = re.search(rf"^\| `{name}` \| (.+) \| (.+) \|$", CODEBOOK, re.MULTILINE)
        assert row, f"data/imported.md lacks {name}"


def test_an_unknown_format_is_refused_with_the_nearest():
    with pytest.raises(FormatError, match="Did you mean `hyperfine`"):
        reader_of("hyperfin")
