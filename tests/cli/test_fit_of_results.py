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


@pytest.fixture
def fitted(fit_of):
    return lambda *asked: json.loads(fit_of(*asked, "--json").out)


@pytest.fixture
def imported(deadzone, tmp_path):
    """The table of what `go test -bench` printed."""

    def table_of(text):
        source, table = tmp_path / "result.txt", tmp_path / "result.csv"
        source.write_text(text)
        deadzone("import", "go-bench", source, "-o", table, code=0)
        return table

    return table_of


def test_sizes_with_a_letter_are_amounts_and_the_size_of_the_work(fitted, imported):
    facts = fitted(imported(GO_SIZES), "size", "time_per_call_s")
    (phase,) = facts["phases"]
    assert (phase["start"], phase["stop"], phase["label"]) == (1e5, 1e7, "reversal")
    assert [finding["key"] for finding in facts["findings"]] == ["work_size"]
    assert facts["recommendation"]["setting"] is None


def test_a_benchmark_without_a_suffix_is_of_one_process(fitted, imported):
    facts = fitted(imported(GO_PROCESSES), "gomaxprocs", "time_per_call_s")
    assert facts["phases"][-1]["label"] == "reversal"
    assert facts["recommendation"]["setting"] == 1


@pytest.mark.parametrize("more", [(), ("--scale", "ratio")])
def test_a_level_in_thousands_lies_between_the_numbers_beside_it(fitted, more):
    """Figures of an issue of CNugteren/CLBlast."""
    rows = [(512, 138), ("1K", 899), (1536, 1945), ("2K", 2069), ("4K", 891)]
    facts = fitted(rows, "size", "gflops", "--goal", "max", *more)
    assert facts["phases"][0]["start"] == 512 and facts["phases"][-1]["stop"] == 4096
    assert 1536 in [phase["stop"] for phase in facts["phases"]]
    assert facts["recommendation"]["setting"] is None


WORSE = [(n, 1.07**i * (1 + 0.007 * k)) for i, n in enumerate((1, 2, 4, 8)) for k in (-1, 0, 1)]
"""By 7 % at each doubling."""


@pytest.mark.parametrize(
    ("rows", "goal", "label", "setting"),
    [
        # Calls a second of a floppy disk, by louwrentius/fio-plot.
        ([(1, 2.66), (4, 2.78), (16, 3.43), (64, 4.03)], "max", "linear", 64),
        ([(1, 0.3), (4, 0.2), (16, 0.2)], "min", "plateau", 4),
        (WORSE, "min", "reversal", 1),
    ],
    ids=["slow gain", "equal values", "worse"],
)
def test_a_short_table_gives_its_last_phase_and_the_cheapest_of_the_best(
    fitted, rows, goal, label, setting
):
    facts = fitted(rows, "threads", "result", "--goal", goal)
    assert facts["phases"][-1]["label"] == label
    assert facts["recommendation"]["setting"] == setting
