"""What a program printed, as the responses of a trial."""

import pytest

from deadzone.errors import FormatError
from deadzone.store.imports.registry import RESPONSES, printed_by
from store.imports.samples import sample


def test_a_trial_gets_what_its_program_printed_and_it_does_not_measure_itself():
    found = printed_by("pgbench", sample("pgbench_select.txt").read_text())
    assert found["achieved_rate"] == 1714.597008 and found["errors"] == 0
    assert "wall_s" not in found and set(found) <= set(RESPONSES)


def test_repeats_are_their_median_and_several_benchmarks_are_refused():
    text = sample("go_bench.txt").read_text()
    repeats = "\n".join(line for line in text.splitlines() if "Sort/n=100-" in line)
    assert printed_by("go-bench", repeats)["time_per_call_s"] == pytest.approx(
        (38060e-9 + 16939e-9) / 2
    )
    with pytest.raises(FormatError, match="holds 3 results, and a trial is one"):
        printed_by("go-bench", text)


def test_what_is_no_result_is_said_of_what_was_printed_and_of_no_file():
    with pytest.raises(FormatError, match=r"^what the program printed: is no CSV of JMeter"):
        printed_by("jmeter", "speed 2.5 fast\n")
