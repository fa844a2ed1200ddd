import numpy as np
import pandas as pd
import pytest

from analysis.findings.made import (
    after_large,
    asleep,
    found,
    some,
    sound_trials,
    thrown_out,
    times,
    where,
)
from deadzone.analysis.finding import KINDS, SEVERITIES
from deadzone.analysis.findings.examining import CATALOGUE, FALSE_ALARMS, barred_levels, examine
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.findings.work import work_differs
from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.recommend import recommend
from deadzone.language.messages import speaking
from deadzone.study.finding_keys import FINDINGS


@pytest.mark.parametrize("tails", ["normal", "heavy", "skewed"])
def test_sound_runs_are_left_in_peace(tails):
    runs = [found(sound_trials(seed, tails=tails)).values() for seed in range(6)]
    alarms = [one.key for run in runs for one in run if one.severity != "notes"]
    assert not alarms


def test_a_level_at_which_trials_fail_is_found_and_barred():
    table = sound_trials(1)
    failed = (table["n"] >= 6) & (table["block"] % 2 == 0)
    table.loc[failed, "status"] = "failed"
    one = found(table, only="failures_by_level")["failures_by_level"]
    assert one.levels == (6, 8) and set(one.trials) == set(table.loc[failed, "trial"])
    assert "6 of 12 trials at n 6, 8 failed" in one.sentence
    assert barred_levels(Experiment(table, "n", "wall_s")) == (6, 8)
    table.loc[table["n"] >= 6, "status"] = "failed"
    one = found(table, only="failures_by_level")["failures_by_level"]
    assert one.seen == "No trial at n 6, 8 ended well (12 failed)."


def test_trials_may_be_counted_anew_at_each_level():
    table = sound_trials(1).query("not warmup").drop(columns=["attempt", "block"])
    table["trial"] = table.groupby("n").cumcount() + 1
    table.loc[(table["n"] == 2) & (table["trial"] > 2), "status"] = "failed"
    one = found(table, only="failures_by_level")["failures_by_level"]
    assert one.levels == (2,) and "3 of 5 trials" in one.sentence
    untrusted = found(table.assign(status="ok", trusted=False), only="nothing_trusted")
    assert "0 of 6 levels" in untrusted["nothing_trusted"].sentence


def test_a_column_by_the_name_of_one_of_ours_is_no_setting_that_goes_with_the_knob():
    table = sound_trials(1).query("not warmup")
    table = table.assign(level=np.where(table["block"] % 2, 1, 9))
    assert not found(table, only="levels_confounded")


def test_a_level_with_hardly_a_trial_hides_no_cold_first_trial():
    table = sound_trials(2, replicates=6).query("not warmup").reset_index(drop=True)
    first = table.groupby("n").cumcount() == 0
    table.loc[first, "wall_s"] *= 3
    table.loc[(table["n"] == 3) & (table.groupby("n").cumcount() > 1), "status"] = "failed"
    assert "carry_over" in found(table.sort_values(["n", "trial"]).assign(started_at=None))


def everywhere(**columns):
    return lambda table: table.assign(**columns)


def large(table):
    return table["n"] >= 4


def first(table):
    return ~table["n"].duplicated()


def in_order(table):
    by_level = table[~table["warmup"]].sort_values("n", kind="stable")
    return by_level.assign(started_at=sorted(by_level["started_at"]))


def limited(table, **columns):
    """Of a limit that is the knob."""
    return table.assign(cpu_limit=table["n"], nr_periods=2, nr_throttled=1).assign(**columns)


def cached(table):
    rng = np.random.default_rng(1)
    quick = 0.02 * np.exp(0.03 * rng.standard_normal(len(table)))
    return where(lambda t: ~first(t), wall_s=quick)(table)


def slept(table, share):
    """Every second trial needs three times the CPU time, of which there is a share."""
    part = np.where(table.index % 2, 1, 3) * share
    return table.assign(user_s=table["user_s"] * part, sys_s=table["sys_s"] * part)


slower = times("wall_s", 1.9)

PLANTED = [
    ("failures_by_level", 2, where(lambda t: t.index == 10, status="failed"), ""),
    ("timeouts_by_level", 3, where(lambda t: t.index % 2 == 0, status="timeout"), "stops"),
    ("work_differs", 6, lambda t: slept(t, 1.0), "stops"),
    ("work_differs", 6, lambda t: slept(t, 0.005), ""),  # a program that sleeps
    ("work_differs", 16, where(some, items=500.0), "stops items"),
    ("work_differs", 16, where(some, io_read_bytes=20 * 812467), "doubts io_read_bytes"),
    ("work_differs", 16, where(some, io_written_bytes=240), "doubts io_written_bytes"),
    ("work_differs", 17, where(some, stdout_lines=2), ""),  # a warning
    ("work_differs", 17, lambda t: t.assign(stdout_lines=np.where(some(t), 0, 40)), "doubts"),
    ("carry_over", 8, where(after_large, wall_s=times("wall_s", 1.6)), "stops a factor of 1.5"),
    ("carry_over", 9, cached, "stops"),
    ("carry_over", 10, where(lambda t: t.index <= 7, wall_s=times("wall_s", 2)), ""),  # busy
    ("few_values", 19, lambda t: t.assign(wall_s=(3 * t["wall_s"]).round() / 10 + 0.1), "doubts"),
    ("few_values", 19, lambda t: t.assign(wall_s=t["wall_s"].round(0) + 1), "doubts"),
    ("few_values", 19, everywhere(wall_s=0.1), "doubts"),
    ("few_values", 19, everywhere(wall_s=3.0), ""),
    ("too_short", 19, lambda t: t.assign(wall_s=t["wall_s"] / 500), "doubts"),
    ("selected_by_trust", 14, where(thrown_out, trusted=False), ""),
    ("selected_by_trust", 14, where(thrown_out, trusted=False, wall_s=20.0), "stops"),
    ("selected_by_trust", 14, where(thrown_out, trusted=False, wall_s=slower), "doubts"),
    ("selected_by_trust", 14, where(thrown_out, trusted=False, wall_s=slower, foreign_cpu=1.0), ""),
    ("levels_confounded", 15, in_order, "doubts"),
    ("neighbours_follow", 21, lambda t: t.assign(foreign_cpu=t["n"] * 0.3), "doubts"),
    ("few_periods", 20, lambda t: limited(t, cpu_efficiency=t["n"] * 1.4), "doubts"),
    ("limit_not_felt", 20, lambda t: limited(t, nr_throttled=0), "doubts"),
    ("limit_not_felt", 20, limited, ""),
    ("less_work", 7, where(large, items=500.0), "stops items is as low as 500 at n 4, 6, 8"),
    ("not_the_program", 6, asleep, "doubts"),
    ("not_the_program", 6, lambda t: asleep(t, awake=0.5), ""),  # it waits for a core
    ("error_printed", 13, where(large, error_lines=1), "stops at n 4, 6, 8"),
    ("error_printed", 13, everywhere(error_lines=1), ""),  # that is how the program talks
]
"""The key, the seed of a sound table, what is planted, and the severity with words of the sentence,
or nothing where it is not found."""


@pytest.mark.parametrize(("key", "seed", "plant", "told"), PLANTED)
def test_what_is_planted_is_found_and_what_looks_like_it_is_not(key, seed, plant, told):
    table = plant(sound_trials(seed))
    knob = "cpu_limit" if "cpu_limit" in table else "n"
    one = found(table, knob=knob).get(key)
    severity, _, words = told.partition(" ")
    assert (one.severity if one else "") == severity
    assert not one or words.replace(" n ", f" {knob} ") in one.sentence


def test_where_nothing_is_trusted_the_ways_out_are_named_and_no_neighbour_as_the_trials():
    beside = {"trusted": False, "foreign_cpu": 1.04, "foreign_processes": "backup 0.99, git 0.05"}
    table = sound_trials(14).assign(**beside)
    said = found(table, only="nothing_trusted")["nothing_trusted"].sentence
    assert "in cores: backup 0.99, git 0.05" in said
    assert "`--foreign-cpu 1.1`" in said and "`--belongs process=NAME`" in said


def test_a_few_milliseconds_are_how_a_program_starts():
    table = sound_trials(6)
    table[["user_s", "sys_s"]] *= 0.0005 * np.where(table.index % 2, 18, 1)[:, None]
    table["wall_s"] = 0.012 * np.exp(0.03 * np.random.default_rng(2).standard_normal(len(table)))
    assert not found(table, only="work_differs")


def test_noise_is_too_large_where_not_even_the_ends_can_be_told_apart():
    def told(table):
        return found(table, model=True, only="noise_too_large").get("noise_too_large")

    table = sound_trials(18, noise=0.5)
    assert not told(table), "one and four differ fourfold"
    table["wall_s"] = np.exp(0.5 * np.random.default_rng(3).standard_normal(len(table)))
    assert "more than 50 trials" in told(table).sentence
    for seed in range(3):
        scattered = np.exp(1.2 * np.random.default_rng(seed).standard_normal(len(table)))
        assert told(table.assign(wall_s=scattered)), "the fit bends to the noise"


def edge(table, response="wall_s", **facts):
    return found(table, response, model=True, only="edge_of_range", **facts).get("edge_of_range")


def test_levels_to_add_go_on_as_the_levels_do_and_a_limit_is_no_larger_than_all_cores():
    few = sound_trials(22, levels=(1, 2, 3))
    few["wall_s"] *= 3 / few["n"]
    assert "add the levels 4, 7." in edge(few).sentence
    table = sound_trials(22, levels=(16, 32, 64))
    table["wall_s"] *= 16 / table["n"]
    assert "add the levels 96, 128." in edge(table).sentence
    limits = table.assign(n=table["n"] / 32).rename(columns={"n": "cpu_limit"})
    assert "add the levels 3." in edge(limits, knob="cpu_limit", cores=3).sentence
    assert not edge(limits, knob="cpu_limit", cores=2)


@pytest.mark.parametrize(
    ("times", "is_told"),
    [
        ((8, 4, 3.8, 3.6, 3.42, 3.25), True),  # called a plateau, and 5 % better at each doubling
        ((8, 4, 2, 2, 2, 2), False),
        ((8, 6, 5, 4.6, 4.45, 4.43), False),  # a gain that has faded
        ((8, 4, 3.9, 4, 4.1, 4.2), False),
    ],
)
def test_a_slow_gain_at_the_end_of_the_range_is_told_whatever_its_phase_is_called(times, is_told):
    table = sound_trials(23, levels=(1, 2, 4, 8, 16, 32), noise=0.005)
    sound = table.groupby("n")["wall_s"].transform("median")
    table["wall_s"] *= table["n"].map(dict(zip((1, 2, 4, 8, 16, 32), times, strict=True))) / sound
    assert bool(edge(table)) == is_told
    advice = recommend(fit_phases(table, "n", "wall_s"))
    assert any("still improves at the end" in caveat for caveat in advice.caveats) == is_told


@pytest.mark.parametrize("last", [19.0, 140.0])
def test_a_last_level_of_one_trial_that_falls_off_is_named_and_no_gain_is_told(last):
    levels = np.array([1, 2, 4, 8, 16, 32, 64])
    wiggle = 1 + 0.01 * np.array([0.6, -0.9, 0.2, 0.8, -0.5, -0.1, 0.4])
    time_s = 100 / levels**0.8 * wiggle
    time_s[-1] *= last
    table = pd.DataFrame({"threads": levels, "time_s": time_s})
    assert not edge(table, "time_s", knob="threads")
    model = fit_phases(table, "threads", "time_s")
    advice = recommend(model)
    assert not any("still improves" in caveat for caveat in advice.caveats)
    assert advice.setting == 32
    if model.phases.iloc[-1]["label"] != "reversal":
        off = found(table, "time_s", knob="threads", model=True, only="one_level_off")
        assert "(trials: 1)" in off["one_level_off"].sentence


def strongly(seen):
    """What would be said of the work of trials, however many checks were made beside it."""
    least = FALSE_ALARMS / len(CATALOGUE)
    return [one for one in work_differs(seen) if one.weight and one.p <= least]


def test_trials_that_did_nothing_are_told_apart_on_a_busy_machine():
    tables = [sound_trials(seed, noise=0.2) for seed in range(10)]
    for seed, table in enumerate(tables):
        idle = np.random.default_rng(seed).random(len(table)) < 0.5
        table.loc[idle, ["user_s", "sys_s"]] *= 0.1
    told = [bool(strongly(Experiment(table, "n", "wall_s"))) for table in tables]
    assert np.mean(told) >= 0.95


@pytest.mark.parametrize("tails", ["normal", "heavy", "skewed"])
@pytest.mark.parametrize("replicates", [3, pytest.param(10, marks=pytest.mark.night)])
def test_noise_alone_however_large_makes_no_groups(tails, replicates):
    drawn = {"noise": 0.3, "replicates": replicates, "tails": tails}
    tables = (sound_trials(seed, **drawn) for seed in range(10))
    assert sum(bool(strongly(Experiment(table, "n", "wall_s"))) for table in tables) <= 1


def test_a_program_that_works_for_a_set_time_counts_a_rate():
    table, rng = sound_trials(11), np.random.default_rng(3)
    scatter = np.exp(0.01 * rng.standard_normal(len(table)))
    table["transactions"] = 80_000 / (1 + 0.02 * table["n"]) * scatter
    table["achieved_rate"] = table["transactions"] / 2
    rate = ("achieved_rate", "max")
    assert found(table, *rate, only="less_work")
    table["wall_s"] = 2.03 * np.exp(0.003 * rng.standard_normal(len(table)))
    assert not found(table, *rate, only="less_work")
    table["transactions"] = np.where(table["n"] >= 4, 500, 1000)
    half = found(table, *rate, only="less_work")["less_work"]  # at the same pace
    assert half.severity == "stops"


def test_a_knob_that_is_not_used_shows_in_nothing():
    table = sound_trials(11)
    rng = np.random.default_rng(11)
    table["wall_s"] = 0.5 * np.exp(0.03 * rng.standard_normal(len(table)))
    assert "knob_not_used" not in found(table), "threads and page faults still follow it"
    for name in ("max_rss_bytes", "voluntary_switches", "minor_faults"):
        table[name] = rng.permutation(table[name].to_numpy())
    assert "knob_not_used" in found(table)
    few = table.groupby("n").head(3)
    switches = np.where(few["n"] == 1, 60, 190 + rng.integers(0, 30, len(few)))
    few = few.assign(voluntary_switches=switches)
    assert "knob_not_used" not in found(few), "depth 0 has no thread of its own, the others one"
    noise = np.exp(0.15 * rng.standard_normal(len(table)))
    table["wall_s"] *= np.where(table["n"] == 1, 1.7, 1) * noise
    assert "knob_not_used" not in found(table), "one level among many alike is a difference too"


def test_a_plateau_whose_medians_differ_by_chance_is_one_of_the_fit():
    table = served(1.0, 0.5)
    rng = np.random.default_rng(5)
    table["wall_s"] = 0.5 * np.exp(0.12 * rng.standard_normal(len(table)))
    table["ready_s"] = 0.2 * table["wall_s"]  # its own threads wait for each other's core
    assert len(found(table, model=True, only="client_full")["client_full"].levels) == 6


def served(client, server):
    """A plateau from two clients on, with the cores that client and server used [cores]."""
    rng = np.random.default_rng(4)
    table = sound_trials(12)
    size = len(table)
    table["wall_s"] = np.where(table["n"] == 1, 1.0, 0.6) * np.exp(0.01 * rng.standard_normal(size))
    table["cpu_efficiency"] = client + 0.005 * rng.standard_normal(size)
    return table.assign(db_cores=server + 0.01 * rng.standard_normal(size))


@pytest.mark.parametrize(
    ("client", "ready", "server", "cores", "said"),
    [
        (0.99, 0, 0.6, 4, "keeps one core busy"),
        (0.99, 0, 0.5, 1, ""),  # there is no other
        (1.98, 0, 0.6, 4, "keeps one core busy"),  # by all its threads
        (0.6, 0, 0.6, 4, ""),
        (1.5, 0, 0.6, 4, ""),  # half a thread is a thread that waits
        (0.5, 0.5, 0.5, 16, "keeps one core busy"),  # a thread that others keep from its core
        (0.5, 2.8, 0.5, 16, ""),  # four threads that others keep from theirs
        (0.6, 0, 1.36, 2, "the server (1.36) use all 2 cores"),
        (0.6, 0, 1.0, 2, ""),
        (0.03, 0, 1.95, 2, ""),  # the server itself is full
    ],
)
def test_a_client_that_is_full_or_takes_the_servers_cores_is_told(
    client, ready, server, cores, said
):
    table = served(client, server).assign(ready_s=lambda t: ready * t["wall_s"])
    one = found(table, cores=cores, only="client_full").get("client_full")
    assert (one is not None) == bool(said)
    assert one is None or (said in one.sentence and one.levels == (2, 3, 4, 6, 8))


def test_a_program_of_one_thread_that_asks_no_server_is_no_client():
    alone = served(0.99, 0.5).drop(columns="db_cores")
    assert not found(alone, cores=4, only="client_full")


def test_a_table_without_circumstances_is_examined_as_far_as_it_goes():
    table = sound_trials(16)[["n", "wall_s"]]
    assert set(found(table, model=True)) <= {"edge_of_range", "one_level_off"}


def test_findings_are_ordered_translated_and_are_plain_records():
    table = sound_trials(17)
    table["left_running"] = 1
    table.loc[table["n"] >= 6, "status"] = "failed"
    first, *rest = examine(Experiment(table, "n", "wall_s"))
    assert first.key == "left_running" and rest[0].key == "failures_by_level"
    severities = [SEVERITIES.index(one.severity) for one in (first, *rest)]
    assert severities == sorted(severities)
    record = first.to_dict()
    assert set(record) == {"key", "severity", "levels", "trials", "confidence", "sentence"}
    with speaking("ko"):
        assert "프로세스" in first.sentence.translated("ko")


def test_an_accepted_finding_is_a_note_with_its_reason():
    table = sound_trials(18).assign(left_running=1)
    accept = {"left_running": "a daemon"}
    one = found(table, accept=accept, only="left_running")["left_running"]
    assert one.severity == "notes" and one.accepted == "a daemon" and "a daemon" in str(one)


@pytest.mark.parametrize("goal", ["min", "max"])
def test_single_trials_that_are_far_worse_than_their_warm_up_doubt_the_setting(goal):
    table = sound_trials(4, replicates=1, levels=(1, 2, 3, 4), noise=0.1)
    table["calls_per_s"] = 1 / table["wall_s"]
    response = "wall_s" if goal == "min" else "calls_per_s"
    asked = {"model": True, "only": "state_builds_up"}
    assert not found(table, response, goal, **asked)
    piled = (1 + 0.5 * np.arange(len(table))) ** (1 if goal == "min" else -1)
    worse = table.assign(**{response: table[response] * piled})
    one = found(worse, response, goal, **asked)["state_builds_up"]
    assert one.severity == "doubts" and "worse than it was in the warm-up" in one.sentence
    better = table.assign(**{response: table[response] / piled})
    assert not found(better, response, goal, **asked)


def test_rounds_that_get_slower_are_no_warm_up():
    """Of words no drift is fitted, and without a trial for warm-up nothing is compared with one."""
    rows = [
        {"tool": tool, "host": host, "wall_s": took * slower}
        for host, slower in (("a", 1.0), ("b", 2.0))
        for tool, took in (("gzip", 5.0), ("zstd", 3.0), ("lz4", 2.0), ("xz", 9.0))
    ]
    assert "state_builds_up" not in found(pd.DataFrame(rows), knob="tool")


def test_every_finding_has_its_words():
    assert {*FINDINGS} == {*KINDS}
    assert all("" in about.mend for about in KINDS.values())


def test_numbers_a_thousand_apart_are_doubted_where_no_unit_was_read():
    table = sound_trials(5)
    table.loc[(table["n"] == 4) & (table["block"] > 2), "wall_s"] *= 1000
    one = found(table.assign(took=table["wall_s"]), "took", only="unit_changes")["unit_changes"]
    assert one.severity == "doubts"
    assert not found(table, only="unit_changes"), "a time that the sweep took has one unit"


def test_a_level_between_its_neighbours_is_not_called_far_better():
    """Messages a second of a store (github.com/jcarreira/cirrus-kv/issues/46)."""
    rates = [162072, 135833, 47767.9, 4236.22, 416.731]
    table = pd.DataFrame({"chunk": [0.125, 4, 50, 1024, 10240], "calls_per_s": rates})
    assert "range_too_coarse" not in found(table, "calls_per_s", "max", knob="chunk", model=True)


def test_a_client_that_backs_off_is_told_and_one_that_waits_for_answers_is_not():
    table = served(0.2, 0.4)
    slept = np.where(table["n"] >= 4, 0.7, 0.05) * table["wall_s"]
    alone = table.assign(threads_most=1, voluntary_switches=40, asleep_s=slept)
    asked = {"cores": 4, "only": "not_the_program"}
    one = found(alone, **asked)["not_the_program"]
    assert one.levels == (4, 6, 8) and "it pauses or backs off" in one.sentence
    by_clock = alone.assign(asleep_s=0.0, timer_wait_s=slept)
    assert found(by_clock, **asked)["not_the_program"].sentence == one.sentence
    waits = alone.assign(asleep_s=0.0, network_wait_s=slept)
    for sound in (waits, alone.assign(threads_most=9), alone.assign(voluntary_switches=4000)):
        assert not found(sound, **asked)
