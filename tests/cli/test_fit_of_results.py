"""From the results that people keep to what a fit says of them, reduced to the fewest lines."""

import json

import pytest

GO_SIZES = """\
BenchmarkNew/size=100K-8  297  4052123 ns/op
BenchmarkNew/size=500K-8  57  21097000 ns/op
BenchmarkNew/size=1M-8  25  45620000 ns/op
BenchmarkNew/size=5M-8  4  268000000 ns/op
BenchmarkNew/size=10M-8  2  600000000 ns/op
"""
"""As golang/perf has them of suffixarray."""
GO_PROCESSES = """\
BenchmarkMutex  200  9787629 ns/op
BenchmarkMutex-2  100  16157000 ns/op
BenchmarkMutex-8  100  21131000 ns/op
BenchmarkMutex-16  50  22456000 ns/op
"""


def fitted(deadzone, table, knob, response, *more):
    said = deadzone("fit", table, "--knob", knob, "--response", response, *more, "--json")
    return json.loads(said.out)


def imported(deadzone, tmp_path, tool, text):
    source, table = tmp_path / "result.txt", tmp_path / "result.csv"
    source.write_text(text)
    assert deadzone("import", tool, source, "-o", table).code == 0
    return table


def test_sizes_with_a_letter_are_amounts_and_the_size_of_the_work(deadzone, tmp_path):
    table = imported(deadzone, tmp_path, "go-bench", GO_SIZES)
    facts = fitted(deadzone, table, "size", "time_per_call_s")
    (phase,) = facts["phases"]
    assert (phase["start"], phase["stop"], phase["label"]) == (1e5, 1e7, "reversal")
    assert [finding["key"] for finding in facts["findings"]] == ["work_size"]
    assert facts["recommendation"]["setting"] is None


def test_a_benchmark_without_a_suffix_is_of_one_process(deadzone, tmp_path):
    table = imported(deadzone, tmp_path, "go-bench", GO_PROCESSES)
    facts = fitted(deadzone, table, "gomaxprocs", "time_per_call_s")
    assert facts["phases"][-1]["label"] == "reversal"
    assert facts["recommendation"]["setting"] == 1


@pytest.mark.parametrize("more", [(), ("--scale", "ratio")])
def test_a_level_in_thousands_lies_between_the_numbers_beside_it(deadzone, tmp_path, more):
    """Figures of an issue of CNugteren/CLBlast."""
    table = tmp_path / "s.csv"
    table.write_text("size,gflops\n512,138\n1K,899\n1536,1945\n2K,2069\n4K,891\n")
    facts = fitted(deadzone, table, "size", "gflops", "--goal", "max", *more)
    assert facts["phases"][0]["start"] == 512 and facts["phases"][-1]["stop"] == 4096
    assert 1536 in [phase["stop"] for phase in facts["phases"]]
    assert facts["recommendation"]["setting"] is None


WORSE = "".join(
    f"{n},{1.07**i * (1 + 0.007 * k):.4f}\n" for i, n in enumerate((1, 2, 4, 8)) for k in (-1, 0, 1)
)
"""By 7 % at each doubling."""


@pytest.mark.parametrize(
    ("rows", "goal", "label", "setting"),
    [
        # Calls a second of a floppy disk, by louwrentius/fio-plot.
        ("1,2.66\n4,2.78\n16,3.43\n64,4.03\n", "max", "linear", 64),
        ("1,0.3\n4,0.2\n16,0.2\n", "min", "plateau", 4),
        (WORSE, "min", "reversal", 1),
    ],
    ids=["slow gain", "equal values", "worse"],
)
def test_a_short_table_gives_its_last_phase_and_the_cheapest_of_the_best(
    deadzone, tmp_path, rows, goal, label, setting
):
    table = tmp_path / "t.csv"
    table.write_text(f"threads,result\n{rows}")
    facts = fitted(deadzone, table, "threads", "result", "--goal", goal)
    assert facts["phases"][-1]["label"] == label
    assert facts["recommendation"]["setting"] == setting
