import numpy as np
import pytest

from analysis.findings.made import found, plain_trials, sound_trials


def less(table):
    return found(table, only="less_work").get("less_work")


def saying(table, count, words="rows_processed"):
    """A program that prints a count of what it did and counts nothing else."""
    printed = [f"{words}={value:.0f}" for value in count]
    return table.drop(columns="items").assign(printed_work=printed)


@pytest.mark.parametrize(
    ("idle", "levels"),
    [(lambda n: n >= 4, (4, 6, 8)), (lambda n: n <= 2, (1, 2)), (lambda n: n == 3, (3,))],
)
def test_levels_at_which_it_prints_that_nothing_was_done_stop_the_verdict(idle, levels):
    table = sound_trials(1)
    done = saying(table, np.where(idle(table["n"]), 0, 5000))
    one = less(done)
    assert one.severity == "stops" and one.levels == levels
    assert "rows processed is as low as 0 at n" in one.sentence and "up to 5,000" in one.sentence
    assert not less(saying(table, 5000 + 0 * table["n"]))


def test_what_is_one_per_another_counts_no_work():
    table = sound_trials(1).drop(columns="items")
    fewer = np.where(table["n"] >= 4, 10, 5000)
    assert less(table.assign(rows=fewer)).severity == "stops"
    assert not less(table.assign(rows_per_batch=fewer))


def test_counts_that_go_with_the_knob_are_what_the_knob_says_and_against_it_how_it_divides():
    table = sound_trials(2)
    assert not less(saying(table, 1000 * table["n"]))
    assert less(saying(table, 24_000 / table["n"], "batches")).severity == "doubts"
    pieces = table.assign(items=33_554_432, requests=24_000 / table["n"])
    assert not less(pieces)
    fewer = saying(table, np.where(table["n"] > 2, 24_000, 12_000))
    assert less(fewer).severity == "stops"


def test_a_file_that_is_a_little_smaller_stops_no_verdict_where_far_more_is_gained():
    table = sound_trials(4).drop(columns="items")
    smaller = table.assign(out_bytes=np.where(table["n"] > 1, 2.40e6, 2.45e6))
    halved = table.assign(out_bytes=np.where(table["n"] > 1, 1.20e6, 2.45e6))
    flat = smaller.assign(wall_s=2 + 0.01 * (table["trial"] % 3))
    severities = [less(each).severity for each in (smaller, halved, flat)]
    assert severities == ["doubts", "stops", "stops"]


def test_work_that_is_dropped_now_and_then_is_another_group_by_what_is_printed():
    table = sound_trials(16)
    dropped = np.random.default_rng(5).random(len(table)) < 0.4
    one = found(saying(table, np.where(dropped, 500, 1000)))["work_differs"]
    assert one.severity == "stops" and "times apart in rows processed" in one.sentence


def idle_from_four(table):
    """Hardly any CPU time and half the time or less from n 4 on."""
    idle = table["n"] >= 4
    table.loc[idle, ["user_s", "sys_s"]] *= 0.04
    table.loc[idle, "wall_s"] *= 0.2
    return table.drop(columns="items")


def test_cpu_time_that_falls_to_next_to_nothing_stops_the_verdict_where_no_work_shows():
    table = idle_from_four(sound_trials(3)).assign(io_read_bytes=29_134)
    one = less(table)
    assert one.severity == "stops" and one.levels == (4, 6, 8) and "cpu_s is" in one.sentence
    rows = saying(table.assign(items=0), 5000 + 0 * table["n"])
    for same in (table.assign(items=1000), rows, table.assign(io_read_bytes=10_000_000)):
        assert less(same).severity == "notes"
    half = sound_trials(3)
    half.loc[half["n"] >= 4, ["user_s", "sys_s"]] *= 0.5
    assert less(half).severity == "notes"


def test_a_level_that_still_takes_a_second_did_something_and_one_that_only_starts_up_did_not():
    """Of 20 s and 16 s of CPU time a cache leaves 1 s and 0.9 s."""
    table = sound_trials(7).drop(columns="items").assign(io_read_bytes=29_134)
    first, idle = table["n"] == 1, table["n"] >= 4
    scatter = table["wall_s"] / table.groupby("n")["wall_s"].transform("median")
    times = {"wall_s": np.where(first, 20, 1.0), "user_s": np.where(first, 16, 0.9)}
    table = table.assign(sys_s=0.0, **{name: scatter * time for name, time in times.items()})
    assert "less_work" not in found(table)
    table.loc[idle, ["wall_s", "user_s"]] = np.column_stack([0.02 * scatter, 0.01 * scatter])[idle]
    one = found(table)["less_work"]
    assert one.severity == "stops" and one.levels == (4, 6, 8)


def test_a_program_that_counts_as_much_as_a_set_time_allows_is_named():
    table, rng = sound_trials(4), np.random.default_rng(1)
    for busy in (0.003, 0.06):
        wall = 0.9 * np.exp(busy * rng.standard_normal(len(table)))
        fixed = table.assign(wall_s=wall, user_s=0.8, sys_s=0.01)
        events = 5000 / (1 + 0.1 * table["n"]) * np.exp(0.08 * rng.standard_normal(len(table)))
        one = found(saying(fixed, events, "events"))
        assert "events differs by a factor of" in one["fixed_duration"].sentence
        assert "less_work" not in one
    with_the_time = saying(fixed, 5000 * wall**2, "events")
    assert not found(with_the_time, only="fixed_duration"), "more work takes longer"
    more_cpu = saying(fixed.assign(user_s=0.4 * table["n"]), 5000 + 0 * wall)
    assert not found(more_cpu, only="fixed_duration")


CHANGES = [
    "-k", "req/s-k", "k-M", "Mbits/sec-Gbits/sec", "MFLOPS-GFLOPS", "ops-kops", "KB/s-MB/s",
    "ms-s", "ms-m",
]  # fmt: skip
STAYS = ["-", "k-k", "item-items", "s-sec", "files-rows", "-s"]


@pytest.mark.parametrize("units", [*CHANGES, *STAYS])
def test_a_unit_or_a_suffix_that_changes_is_read(units):
    table, (small, large) = plain_trials(5), units.split("-")
    printed = np.where(table["n"] < 3, f"rate={small}", f"rate={large}")
    table = table.assign(rate=table["wall_s"], printed_units=printed)
    one = found(table, "rate", only="unit_changes").get("unit_changes")
    assert (one.severity if one else "") == ("stops" if units in CHANGES else "")


def test_the_few_blocks_that_a_server_writes_on_its_own_are_no_work_of_a_trial():
    table = sound_trials(31)
    now_and_then = np.arange(len(table)) % 4 == 0
    written = np.where(now_and_then, 16384, 0)
    server = table.assign(server_rss_bytes=5e7, server_written_bytes=written)
    assert not found(server, only="work_differs")
    much = np.where(now_and_then, 1e7, 1e9)
    assert found(server.assign(server_written_bytes=much), only="work_differs")


@pytest.mark.parametrize("gone", [{"items": np.nan}, {"status": "failed"}])
def test_a_count_without_a_value_and_trials_that_all_failed_are_no_work(gone):
    assert not less(sound_trials(3).assign(**gone))
