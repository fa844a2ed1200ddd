import json

import pandas as pd
import pytest

import deadzone as dz
from deadzone.errors import PhaseError


@pytest.fixture
def table(tmp_path):
    """Perfect scaling up to four cores, nothing beyond; three trials a level."""
    path = tmp_path / "trials.csv"
    noise = (0.99, 1.0, 1.01)
    rows = [(cores, 8 / min(cores, 4) * n) for cores in (1, 2, 3, 4, 5, 6, 8) for n in noise]
    pd.DataFrame(rows, columns=["cores", "wall_s"]).to_csv(path, index=False)
    return path


def test_the_documented_json_is_printed(table, deadzone):
    asked = ("fit", table, "--knob", "cores", "--response", "wall_s")
    model = json.loads(deadzone(*asked, "--json", code=0).out)
    facts = ["knob", "response", "goal", "goal_from", "n_levels", "n_trials", "phases", "outliers"]
    assert {*facts, "recommendation"} <= set(model)
    assert (model["knob"], model["n_levels"], model["n_trials"]) == ("cores", 7, 21)
    assert [phase["label"] for phase in model["phases"]] == ["linear", "plateau"]
    keys = {"start", "stop", "label", "elasticity", "elasticity_low", "elasticity_high"}
    assert all(keys | {"probability"} <= set(phase) for phase in model["phases"])
    assert model["recommendation"]["setting"] == 4
    words = deadzone(*asked, code=0).out
    assert "plateau" in words and "4" in words


def test_a_value_has_the_unit_of_its_cells_and_is_told_from_what_was_measured(fit_of):
    cells = {1: (20.1, 20.8, 19.4), 2: (39.1, 37.7, 37.7), 4: (63.4, 60.3, 59.9),
             6: (62.3, 63.1, 60.9), 8: (59.0, 56.3, 57.4)}  # fmt: skip
    rows = [(n, f"{value} kB") for n, values in cells.items() for value in values]
    asked = (rows, "threads", "time_s", "--goal", "max")
    said = fit_of(*asked).out
    assert "Set 4 threads: 61.3 kB, " in said
    assert "4 threads: 61.3 kB by the curve, 60.3 kB is the median of its own trials." in said
    settings = {one["setting"]: one for one in json.loads(fit_of(*asked, "--json").out)["settings"]}
    assert settings[4]["measured"] == pytest.approx(60.3)
    assert "meets mean ≥ 50 kB" in fit_of(*asked, "-q", "--slo", "mean", "50").out


@pytest.mark.parametrize(
    ("rows", "is_said"),
    [([(3, 500), (9, 150), (15, 50), (19, 10)], True), ([(3, 511), (9, 170), (15, 102)], False)],
)
def test_a_short_answer_says_where_its_value_is_the_curves(fit_of, rows, is_said):
    said = " ".join(fit_of(rows, "level", "MB/s", "-q").out.split())
    own = f"by the curve, {rows[0][1]} MB/s is the median of its own trials."
    assert (own in said) == is_said


@pytest.mark.parametrize(
    ("response", "cell", "asked", "known", "setting"),
    [("tok_s", "{}", (), ("max", "name"), 8), ("c/s real", "{} c/s", (), ("max", "name"), 8),
     ("Mean", "{} ms", (), ("min", "cells"), 1), ("score", "{}", (), ("min", "assumed"), 1),
     ("score", "{}", ("--goal", "max"), ("max", "asked"), 8)],
)  # fmt: skip
def test_without_a_goal_the_response_says_which_way_is_better(
    fit_of, response, cell, asked, known, setting
):
    rows = [(n, cell.format(value)) for n, value in ((1, 10), (2, 19), (4, 36), (8, 60))]
    arguments = (rows, "lanes", response, *asked)
    model = json.loads(fit_of(*arguments, "--json").out)
    assert (model["goal"], model["goal_from"]) == known
    assert model["recommendation"]["setting"] == setting
    said = fit_of(*arguments).out
    assert said.startswith("Less score is assumed to be better") == (known[1] == "assumed")
    assert ("is better, by its name" in " ".join(said.split())) == (known == ("max", "name"))


@pytest.fixture
def grid(tmp_path):
    """Two thread counts: four threads use four cores, two use two."""
    path = tmp_path / "grid.csv"
    rows = [
        (threads, cores, 8 / min(cores, threads) * n)
        for threads in (2, 4)
        for cores in (1, 2, 3, 4, 5, 6)
        for n in (0.99, 1.0, 1.01)
    ]
    pd.DataFrame(rows, columns=["threads", "cores", "wall_s"]).to_csv(path, index=False)
    return path


def test_a_second_factor_gives_a_model_for_each_of_its_values(grid, deadzone):
    arguments = ("fit", grid, "--knob", "cores", "--response", "wall_s", "--by", "threads")
    said = json.loads(deadzone(*arguments, "--json").out)
    plateaus = {one["threads"]: one["phases"][-1]["start"] for one in said["slices"]}
    assert plateaus == {2: 2, 4: 4} and said["recommendation"]
    words = deadzone(*arguments, code=0).out
    assert "threads = 2" in words and "threads = 4" in words


def test_a_doubt_of_one_slice_names_it_and_the_setting_is_said_once(fit_of):
    rows = [
        (by, n, rate / min(n, most) * (1 + 0.001 * r))
        for by, most, rate in (("short", 4, 10), ("long", 9, 20))
        for n in (1, 2, 4, 8)
        for r in range(3)
    ]
    columns = ("way", "n", "wall_s")
    out = fit_of(rows, "n", "wall_s", "--by", "way", "-q", columns=columns).out
    lines = out.splitlines()
    assert sum(line.startswith("Doubt") for line in lines) <= 3 and out.count("Set ") == 1
    assert any(line.startswith("Doubt: way = short: The joint at 4 ") for line in lines)


def test_a_factor_that_is_not_ours_to_choose_is_given(grid, deadzone):
    asked = ("fit", grid, "--knob", "cores", "--response", "wall_s", "--by")
    said = json.loads(deadzone(*asked, "threads", "--given", "threads=2", "--json").out)
    assert said["recommendation"]["setting"] == {"threads": 2, "cores": 2}
    for more, words in (
        (("threads", "--given", "threads"), "write FACTOR=LEVEL"),
        (("threads", "--given", "threads=3"), "there are threads = 2; threads = 4"),
        (("threads,cores",), "Give each by itself: `--by threads --by cores`."),
    ):
        assert words in deadzone(*asked, *more).err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [("--knob core --response wall_s", "Did you mean `cores`?"),
     ("--knob cores --response wall", "Did you mean `wall_s`?"),
     ("--knob cores --response wall_s --slo p99 fast", "'--slo': 'fast' is not a valid float"),
     ("--knob cores --response wall_s --cost cores*", "cannot be read as arithmetic")],
)  # fmt: skip
def test_what_is_wrong_is_told(table, deadzone, arguments, words):
    said = deadzone("fit", table, *arguments.split(), code=2).err
    assert words in said and "Traceback" not in said


def test_a_table_that_is_not_there_is_told_with_the_nearest(table, fit_of):
    said = fit_of(table.with_name("trial.csv"), "a", "b", code=2).err
    assert "there is no such table. Did you mean `trials.csv`?" in said


@pytest.mark.parametrize(
    ("levels", "code", "words"),
    [(("4", "4", "4"), 0, "There is no other setting to compare"),
     (("many", "many", "many"), 0, "There is no other setting to compare"),
     (("1", "2", "1e999"), 2, "'cores' is infinite in data row 3"),
     (("1", "2", "9" * 400), 2, "'cores' is infinite in data row 3")],
    ids=["one number", "one word", "infinite", "too large"],
)  # fmt: skip
def test_a_knob_that_was_not_turned_or_is_too_large_is_said_in_a_sentence(
    levels, code, words, fit_of
):
    rows = list(zip(levels, (8.1, 8.2, 8.4), strict=True))
    said = fit_of(rows, "cores", "wall_s", code=code)
    assert words in said.out + said.err


def test_a_level_that_is_missing_in_a_row_is_no_defect(table, fit_of):
    said = fit_of(table.read_text() + ",3.0\n", "cores", "wall_s", code=0)
    assert said.out.startswith("Set 4 cores")


GOGC_TIMES = [(-1, 5.1), (50, 9.0), (100, 8.0), (200, 7.0), (400, 6.5)]
GOGC = ([(n, s * k) for n, s in GOGC_TIMES for k in (1, 1.004)], "gogc", "time_s")
"""A word below levels that are numbers."""


def test_a_lone_minus_one_is_a_word_and_there_is_one_recommendation(fit_of):
    said = fit_of(*GOGC).out
    assert "-1 is the only level of gogc below zero" in " ".join(said.split())
    assert said.count("Set gogc -1: 5.") == said.count(" sure to be within ") >= 1
    as_level = fit_of(*GOGC, "--minus-one", "level").out
    assert "taken for a word" not in as_level


def test_zero_is_the_lowest_level_unless_it_is_a_word(fit_of):
    """Of settings that tie the lowest is chosen, and a word is no lower than any other."""
    times = [(0, 3.03), (1, 12.0), (2, 6.0), (4, 3.0), (8, 3.0)]
    rows = [(n, s + d) for n, s in times for d in (0, 0.01, 0.02)]
    for option, chosen in (((), 0), (("--zero", "level"), 0), (("--zero", "word"), 4)):
        said = fit_of(rows, "pool", "time_s", "-q", *option).out
        assert said.startswith(f"Set pool {chosen}:")


def test_what_a_level_costs_is_not_known_of_a_word(fit_of):
    said = fit_of(*GOGC, "--cost", "gogc * time_s").out
    assert "gogc -1: no positive, finite cost, so not compared" in " ".join(said.split())


def test_a_column_is_found_by_the_end_of_its_name_where_no_other_ends_so(fit_of):
    """As typed by who knows wrk's `connections`, which is imported as `client_connections`."""
    rows = [(1, 5043, 6.04), (1, 5007, 0.49), (2, 9800, 0.2), (4, 19000, 0.2)]
    columns = ("client_connections", "achieved_rate", "latency_mean_ms")
    said = fit_of(rows, "connections", "mean_ms", columns=columns, code=7)
    assert "connections is the column client_connections." in said.err
    columns = ("(connections)", "achieved_rate", "latency_mean_ms")
    assert (
        "connections is the column (connections)."
        in fit_of(rows, "connections", "mean_ms", columns=columns, code=7).err
    )
    columns = ("a_connections", "b_connections", "time_s")
    fit_of([(1, 1, 2), (2, 2, 1)], "connections", "time_s", columns=columns, code=2)


@pytest.mark.parametrize(
    ("given", "asked"),
    [((), "the knob, which the response?"), (("--knob", "n"), "the response?"),
     (("--response", "wall"), "the knob?")],
)  # fmt: skip
def test_without_knob_or_response_the_columns_are_named(given, asked, tmp_path, deadzone):
    (tmp_path / "t.csv").write_text("n,wall\n1,2\n2,1\n")
    said = deadzone("fit", tmp_path / "t.csv", *given, code=2).err
    assert f"Which column is {asked} There are `n`, `wall`." in said
    assert "Add `--knob n --response wall`." in said
    (tmp_path / "t.csv").write_text("n,wall,m\n1,2,3\n2,1,4\n")
    assert " COL" in deadzone("fit", tmp_path / "t.csv", *given, code=2).err


def test_a_level_keeps_its_remark_and_is_a_number_unless_the_remark_is_the_level(fit_of):
    rows = [("1 (default)", 100), (2, 190), (4, 350)]
    said = fit_of(rows * 2, "threads", "ops/s", "-q").out
    assert said.startswith("Set 4 threads: 350 ops/s")
    for other in ("1 (packed)", "1", "1.0"):
        rows[1] = (other, 190)
        found = json.loads(fit_of(rows * 2, "threads", "ops/s", "--json").out)
        assert len(found["settings"]) == 3  # two settings, not one number


def test_levels_with_remarks_are_in_order_and_ranges_of_phases_leave_them_out(fit_of):
    rows = [("1 (Sequential)", "665 ms"), (5, "872 ms"), (10, "1522 ms")]
    said = fit_of(rows, "concurrency", "P95 Latency", "-q").out
    assert "more is asked for at once" in said
    rows = [("1 (one)", 8.0), (2, 4.1), ("4 (cores)", 2.1), ("8 (HT)", 2.0), ("16 (more)", 2.1)]
    said = fit_of(rows * 2, "threads", "wall_s", "--details").out
    assert " 1-4 " in said and "4 (cores)" in said


@pytest.mark.parametrize(
    ("levels", "ranges"),
    [("1,024 2,048 4,096 8,192(def) 16,384", "1,024-8,192 8,192-16,384"),
     ("1/8(min) 1/4 1/2 1(max) 2", "1/8-1 1-2"), ("QD=1 QD=2 QD=4 QD=8 QD=16", "1-8 8-16")],
)  # fmt: skip
def test_ranges_of_phases_are_written_as_the_levels_are(fit_of, levels, ranges):
    times = [8.0, 4.1, 2.1, 1.1, 1.1]
    cells = [f'"{level.replace("(", " (")}"' for level in levels.split()]
    said = fit_of([*zip(cells, times, strict=True)] * 2, "n", "wall_s", "--details").out
    assert all(f" {one} " in said for one in ranges.split()), said


def test_which_way_is_better_is_said_where_slices_have_settings(fit_of):
    rows = [("a", n, n * 10) for n in (1, 2, 4, 8)] + [("b", n, n * 5) for n in (1, 2, 4, 8)]
    columns = ("benchmark", "ranks", "ns/day")
    said = fit_of(rows, "ranks", "ns/day", "--by", "benchmark", "-q", columns=columns).out
    assert "More ns/day is better, by its name. By slice: benchmark a / ranks 8" in said


def test_a_trial_whose_response_is_a_word_is_left_out_once_that_cell_is_empty(fit_of):
    rows = [(1, 100), (2, "abc"), (4, 350), (1, 101), (4, 352)]
    said = fit_of(rows, "n", "ops/s", code=2).err
    assert "data row 2" in said and "`--response COL`" in said
    rows[1] = (2, "")
    assert fit_of(rows, "n", "ops/s").out.startswith("Set n 4")


def test_the_unit_of_cells_stands_with_every_value(tmp_path, fit_of):
    cells = ("120 MB/s", "220 MB/s", "380 MB/s", "500 MB/s", "511 MB/s")
    rows = [(f"{2**i}KiB", cell) for i, cell in enumerate(cells, 2)]
    said = fit_of(rows * 2, "bs", "speed").out
    assert "The joint at 32KiB" in said and "Doubt: More trials" not in said
    model = dz.fit_phases(dz.read_table(str(tmp_path / "t.csv")), "bs", "speed")
    assert model.plot().get_ylabel() == "speed (MB/s)"


def test_a_published_spread_is_the_noise_of_settings_that_were_measured_once(fit_of):
    """As hyperfine writes its Markdown."""

    def said(spread, **codes):
        rows = zip("abc", (100, 107, 112.8), strict=True)
        lines = [f"| {name} | {mean} ± {spread * mean / 100:.2f} |" for name, mean in rows]
        text = "\n".join(["| Command | Mean [ms] |", "|:---|---:|", *lines, ""])
        return fit_of(text, "Command", "Mean [ms]", "-q", name="t.md", **codes).out

    noisy = said(21, code=7)
    assert noisy.startswith("No setting yet") and "21 %, the spread in its cells, is" in noisy
    assert said(0.5, code=0).startswith("Set Command a")


def test_no_spread_is_claimed_where_none_was_published(fit_of):
    """Counts have a noise of their own."""
    said = fit_of([("a", 0), ("b", 30), ("c", 50)], "codec", "drops").out
    assert "With one trial per setting" in said and "spread in its cells" not in said


TURNED = """| Pool size | 10 | 20 | 32 | 64 |
|---|---:|---:|---:|---:|
| Req/s | 2,924 | 3,751 | 3,545 | 3,777 |
| p50 | 33 ms | 25 ms | 26 ms | 25 ms |
"""
"""Of a README: its rows are responses, its columns levels."""


def test_a_table_whose_rows_are_responses_is_turned(fit_of):
    for response, tied in (("Req/s", [20, 32, 64]), ("p50", [20, 32, 64])):
        said = fit_of(TURNED, "Pool size", response, "--json", name="pool.md")
        assert json.loads(said.out)["recommendation"]["tied"] == tied


def test_rows_that_are_called_as_columns_are_no_responses(fit_of):
    rows = [("latency", 5, 100, 3), ("throughput", 9, 200, 70), ("balanced", 4, 150, 60)]
    columns = ("profile", "latency", "throughput", "cpu")
    said = fit_of(rows, "profile", "latency", "--goal", "min", "--json", columns=columns)
    assert json.loads(said.out)["recommendation"]["setting"] == "balanced"


def test_levels_that_stand_several_times_in_a_row_are_repeats(fit_of):
    rows = ("8,8.1,4.1,4,2.2,2.1,1.5,1.53", "8.2,8,4,4,2.1,2.1,1.5,1.5")
    table = "".join(f"time_s,{row}\n" for row in rows) + "rate,1,1,2,2,3,3,4,4\n"
    said = fit_of("threads,1,1,2,2,4,4,8,8\n" + table, "threads", "time_s", "--json").out
    found = [(one["setting"], one["n"]) for one in json.loads(said)["settings"]]
    assert found == [(n, 4) for n in (1, 2, 4, 8)]


SOCKETS = "Latency,32 sockets,64 sockets,128 sockets\n20 ms,1437,2744,3900\n50 ms,600,1190,2300\n"


def test_columns_that_are_levels_with_a_word_are_told_with_what_to_type(fit_of):
    said = fit_of(SOCKETS, "sockets", "req/s")
    wide = "32 sockets,64 sockets,128 sockets"
    assert f"`--wide '{wide}' --name KNOB --knob KNOB --response NAME`" in said.err
    asked = ("--wide", wide, "--name", "sockets", "--by", "Latency", "--json")
    again = fit_of(SOCKETS, "sockets", "req/s", *asked)
    assert json.loads(again.out)["recommendation"]["setting"]["sockets"] == "128 sockets"


def test_one_trial_of_a_setting_beside_others_that_differ_is_not_worse(fit_of):
    """A factor that was left out makes the trials of one setting differ a hundredfold."""
    rows = [(0, 4484), (0, 169), (0, 201), (0, 210), (0, 20379), (1, 208), (2, 300)]
    said = fit_of(rows, "workers", "samples_s", code=7)
    assert "No setting yet" in said.out and "210 (" in said.out and " 0 (0 to" not in said.out


THREE = (0.99, 1.0, 1.01)


@pytest.mark.parametrize(
    ("text", "name", "knob", "response", "setting"),
    [("threads\treq_s\n1\t980\n2\t1,810\n4\t3,420\n8\t6,020\n", "t.tsv", "threads", "req_s", 8),
     ("pool,tps,errors\n1,100,0\n2,195,0\n4,370,0\n8,520,0\nmax,900,0\n", "t.csv", "pool", "tps",
      "max")],
    ids=["thousands of a sheet", "no limit beside a constant"],
)  # fmt: skip
def test_what_was_written_is_what_is_compared(fit_of, text, name, knob, response, setting):
    answer = json.loads(fit_of(text, knob, response, "--json", name=name, code=0).out)
    assert answer["recommendation"]["setting"] == setting


@pytest.mark.parametrize(
    ("response", "mark", "well", "badly"),
    [("wall_s", "exit_code", "0", "1"), ("wall_s", "failed", "False", "True"),
     ("elapsed_ms", "success", "true", "false"), ("ms", "Status", "200", "503"),
     ("ms", "Status", "OK", "Timeout"), ("ms", "status", "True", "False"),
     ("ms", "status", "200", "0"), ("ms", "ok,exit_code", "90,0", "90,1")],
    ids=["exit codes", "failures", "JMeter", "codes of HTTP", "words", "booleans",
         "no answer beside codes of HTTP", "a count beside exit codes"],
)  # fmt: skip
def test_a_trial_that_is_marked_as_failed_is_not_compared(fit_of, response, mark, well, badly):
    rows = [(1, 8, well), (2, 4.1, well), (4, 2.2, well), (8, 1.2, well), (16, 0.02, badly)]
    columns = ("threads", response, mark)
    said = fit_of(rows, "threads", response, "--json", columns=columns, code=0).out
    assert json.loads(said)["recommendation"]["setting"] == 8


def test_two_equal_trials_tell_the_digits_and_not_the_noise(fit_of):
    text = "tool,wall_s\na,1.00\na,1.00\nb,1.02\nc,1.6\n"
    advice = json.loads(fit_of(text, "tool", "wall_s", "--json").out)["recommendation"]
    assert "b" in advice["tied"] and "c" not in advice["tied"]


def test_a_target_is_judged_by_the_trials_that_the_noise_is_known_from(fit_of):
    text = "allocator,latency_ms\na,90\na,98\nb,200\nb,210\n"
    said = fit_of(text, "allocator", "latency_ms", "--slo", "mean", "103").out
    assert "No setting meets mean ≤ 103 ms" in said and " recommended" not in said


def test_a_rate_of_zero_is_no_number_of_events(fit_of):
    said = fit_of("threads,rps\n1,10\n2,19\n4,33\n8,0\n", "threads", "rps", "--details").out
    assert "counts events" not in said


def test_levels_to_add_are_written_as_they_are_typed(fit_of):
    levels = [0.5, *(2**n for n in range(11))]
    rows = [(level, 1000 * (level / 0.5) ** 0.9 * noise) for level in levels for noise in THREE]
    said = fit_of(rows, "batch", "ops_s", columns=("batch", "ops_s")).out
    assert "add the levels 2048, 4096" in said


def test_points_between_thousands_are_refused_where_they_may_be_decimals(fit_of):
    text = "threads;req_s\n1;980\n2;1.810\n4;3.420\n8;6.020\n"
    assert "write thousands without a mark" in fit_of(text, "threads", "req_s", code=2).err
    assert fit_of("n;wall_s\n1;4\n2;1.500\n4;1.250\n", "n", "wall_s").code == 0


def test_a_slice_chooses_among_what_stands_apart_and_as_it_is_asked(fit_of):
    walls = {0: 0.5, 1: 8.0, 2: 4.1, 4: 2.2, 8: 1.9}
    rows = [
        (tool, n, wall * noise) for tool in ("xz", "zstd") for n, wall in walls.items()
        for noise in THREE
    ]  # fmt: skip
    columns = ("tool", "threads", "wall_s")

    def told(*options):
        out = fit_of(rows, *columns[1:], "--by", "tool", "--json", *options, columns=columns).out
        return [part["recommendation"] for part in json.loads(out)["slices"]]

    assert [advice["setting"] for advice in told()] == [0, 0]
    assert {advice["goal"] for advice in told("--within", "0.5")} == {"within"}


@pytest.mark.parametrize("versions", [("2.0", "1.10"), ("1.1", "1.10"), ("01", "02")])
def test_versions_are_the_words_that_they_are_written_with(fit_of, versions):
    walls = {1: 8.0, 2: 4.1, 4: 2.2, 8: 1.9}
    rows = [(f'"{v}"', n, wall * k) for v in versions for n, wall in walls.items() for k in THREE]
    frame = pd.DataFrame(rows, columns=["version", "threads", "wall_s"])
    frame["version"] = frame["version"].str.strip('"')
    models = dz.fit_phases(frame, "threads", "wall_s", by="version")
    assert set(models) == set(versions)


def test_a_knob_may_be_called_node_and_other_columns_have_numbers_for_names():
    rows = [(n, 8 / min(n, 4) * k) for n in (1, 2, 4, 8) for k in THREE]
    frame = pd.DataFrame(rows, columns=["node", "wall_s"]).assign(x=1).rename({"x": 0}, axis=1)
    model = dz.fit_phases(frame, "node", "wall_s")
    assert model.recommend().setting == 4 and not any("nodes" in said for said in model.warnings)
    with pytest.raises(PhaseError, match=r"total_seconds"):
        dz.fit_phases(frame.assign(took=pd.to_timedelta(frame["wall_s"], "s")), "node", "took")


def test_a_result_is_never_written_over(tmp_path, deadzone):
    result = tmp_path / "stats.csv"
    result.write_text("x")
    said = deadzone("import", "locust", result, "-o", result, code=2).err
    assert "one of the files that are read" in said and result.read_text() == "x"
