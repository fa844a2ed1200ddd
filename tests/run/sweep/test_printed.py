import pytest

from deadzone.run.sweep.printed import printed_counts

NINE = ["rows", "files", "jobs", "tasks", "items", "keys", "lines", "frames", "docs"]
"""More than are told of a program."""


@pytest.mark.parametrize(
    ("text", "counts"),
    [("0 rows processed", "rows_processed=0"),
     ("100 rows processed\n5,000 rows processed in 3 s.", "rows_processed=5000"),
     ("1 row processed", "rows_processed=1"),
     ("Processed 12 input files.", "input_files=12"),
     ("events 123", "events=123"),
     ("    total number of events:              1234", "events=1234"),
     ("frame=  100 fps=25 q=1", "frames=100"),
     ("number of transactions actually processed: 20", "transactions_actually_processed=20"),
     ("Complete requests:  1000\nFailed requests:  0\nRequests per second:  45.1",
      "complete_requests=1000"),
     ("5000 rows in 3 files", "rows=5000 files=3"),
     ("3 rows failed, 12 tests passed, 2 skipped files", "tests_passed=12"),
     ("rows/s: 33\n45 rows per second\nrows 12 ms\n20.5 rows\nv1.2 rows\nrows per batch: 100", ""),
     ("done in 3 s; 4 threads; took 0.5 s; exit 1", ""),
     ("\n".join(f"{k} rows\n{k} files" for k in range(9)), "rows=8 files=8"),
     (" ".join(f"{k} {thing}" for k, thing in enumerate(NINE)), "")],
)  # fmt: skip
def test_what_a_program_says_it_did(text, counts):
    assert printed_counts(text, "", {})["printed_work"] == counts
    assert printed_counts("", text, {})["printed_work"] == counts, "many say it on stderr"


def test_words_of_failure_and_units_are_counted():
    told = printed_counts("took 3 ms\nERROR: none\n", "fatal\n", {"took": "ms"})
    assert (told["stdout_lines"], told["stderr_lines"], told["error_lines"]) == (2, 1, 2)
    assert told["printed_units"] == "took=ms"
