"""What five published runs of dd can carry."""

import pytest

from notebooks.executed import Executed


@pytest.fixture(scope="module")
def notebook():
    with Executed("published/disk_io") as executed:
        yield executed


def test_every_conclusion_has_its_verdict(notebook):
    assert notebook.value("verdicts") == {
        "over 10 s in 1 KiB blocks": "supported",
        "larger blocks are much faster": "supported",
        "18 chunks a second": "in part",
        "the smallest instance is enough": "not shown",
        "reading is not much faster": "not shown",
        "the reads took the file just written": "contradicted",
    }


def test_a_chunk_takes_twelve_seconds_or_a_twentieth(notebook):
    assert notebook.value("chunk_mb / slow") == pytest.approx(20e6 * 1.20932 / 2048000)
    assert notebook.value("chunk_mb / fast") == pytest.approx(20e6 * 0.567581 / 204800000)
    assert notebook.value("runs['chunk_s'].round(4).tolist()") == [
        11.7339,
        11.8098,
        0.0554,
        0.1008,
        0.0615,
    ]


def test_writing_grows_by_213_and_reading_by_1_6(notebook):
    assert "is 213 times as fast. Reading" in notebook.sentences


def test_two_points_fit_a_fixed_time_a_call_exactly(notebook):
    assert "602 µs a call and 365 MB/s; blocks of about 219 kB" in notebook.sentences
    assert "elasticity of 0.54" in notebook.sentences
    calls = "small, large = 1000, 1_000_000; slow, fast = 0.001 / 0.0011, 1 / 0.1010"
    assert "1000 µs a call and 10 MB/s; blocks of about 10 kB" in notebook.again(
        "np.linalg.solve", calls
    )


def test_the_phase_model_refuses_two_levels(notebook):
    rows = "runs.query(\"location == 'tmp' and operation == 'write'\")"
    refused = f"""try:
    dz.fit_phases({rows}, "block_size", "throughput_mb_s", goal="max")
except Exception as error:
    refusal = f"{{type(error).__name__}}: {{error}}"
"""
    notebook.again("instances = ", refused)
    assert notebook.value("refusal").startswith("PhaseError") and "2 levels" in notebook.value(
        "refusal"
    )


def test_the_one_like_pair_differs_by_less_than_a_percent(notebook):
    assert notebook.value("difference") == pytest.approx(0.0064, abs=5e-4)


def test_reads_and_writes_are_not_compared(notebook):
    assert "In 1 KiB blocks reading is 117 times as fast; in large ones it is 325 against 361" in (
        notebook.sentences
    )
    assert "left 204.8 MB; the reads moved 409.6 MB" in notebook.sentences


def test_the_guideline_has_a_gap_where_nothing_was_measured(notebook):
    assert notebook.value("guideline['chunk_s'].round(3).astype(object).fillna('-').tolist()") == [
        11.81,
        "-",
        0.055,
    ]


def test_one_printed_figure_does_not_come_out(notebook):
    assert notebook.value("[len(arithmetic), int(arithmetic['agrees'].sum())]") == [26, 25]
    assert notebook.value("wrong['figure'].tolist()") == ["read-file-equals-written-file"]
