import numpy as np
import pandas as pd
import pytest

import deadzone
from deadzone.analysis.mechanisms.explaining import limits, no_cause, sentences
from deadzone.analysis.mechanisms.parts import WAITS, parts_of, time_by_level
from deadzone.analysis.phases.fit import fit_phases
from deadzone.errors import PhaseError
from deadzone.language.messages import speaking
from deadzone.report.sweep.analysis import explained_by_account


def table(cpu, busy, knob=(1, 2, 4, 8), asleep=0.0, replicates=5):
    """A table by hand: CPU work and cores busy at each level; what is not busy of the knob's cores
    sleeps or is ready.

    A main thread sleeps beside the workers, as in most programs."""
    rng, rows = np.random.default_rng(3), []
    for level, work, cores in zip(knob, cpu, busy, strict=True):
        for _ in range(replicates):
            used = work * np.exp(rng.normal(0, 0.01))
            wall = used / cores
            idle = (level - cores) * wall
            waits = dict.fromkeys(WAITS, 0.0)
            waits |= {"asleep_s": asleep * idle + wall, "ready_s": (1 - asleep) * idle}
            rows.append({"threads": level, "wall_s": wall, "user_s": used, "sys_s": 0.0, "running_s": used,  # noqa: E501
                         "threads_s": (level + 1) * wall, **waits})  # fmt: skip
    return pd.DataFrame(rows)


def explained(frame, knob="threads", response="wall_s", goal="min"):
    return deadzone.explain_phases(frame, fit_phases(frame, knob, response, goal))


def confirmed(found):
    return {*found.table["mechanism"][found.table["verdict"] == "confirmed"]}


def adds_up(found, to):
    """Whether the parts of each phase are its loss."""
    parts = found.table.groupby("phase")["change"].sum()
    return parts.to_list() == pytest.approx(found.loss["change"].to_list(), abs=to)


def test_more_cpu_work_is_told_with_its_interval_and_idle_cores_are_excluded():
    found = explained(table(cpu=(8, 8, 8 * 1.5, 8 * 2.2), busy=(1, 2, 4, 8)))
    assert adds_up(found, 0.005)
    phase = int(found.loss["phase"].max())
    last = found.of(phase)
    assert list(last["mechanism"]) == ["more_cpu_work"]
    row = last.iloc[0]
    assert row["low"] < row["change"] < row["high"]
    excluded = set(found.of(phase, "excluded")["mechanism"])
    assert {"cpu_full", "throttled", "waiting_for_each_other", "too_few_threads"} <= excluded
    assert "more CPU work for the same job" in sentences(found)[phase]
    with speaking("ko"):
        assert "CPU 작업량" in sentences(found)[phase]


def test_a_rate_is_explained_as_the_time_for_its_unit():
    frame = table(cpu=(8, 8, 8, 8), busy=(1, 2, 2, 2), asleep=1.0)
    frame["jobs_s"] = 1 / frame["wall_s"]
    by_rate = explained(frame, response="jobs_s", goal="max")
    assert confirmed(by_rate) == {"waiting_for_each_other"}


def test_where_time_went_is_told_for_a_unit_of_work_where_a_trial_is_of_many():
    frame = table(cpu=(8, 8, 8, 8), busy=(1, 2, 2, 2), asleep=1.0)
    level = frame["threads"].to_numpy(float)
    of_trials = time_by_level(frame, level, "wall_s", "min")
    frame["jobs_s"] = 20 / frame["wall_s"]
    of_jobs = time_by_level(frame, level, "jobs_s", "max")
    assert np.allclose(of_jobs * 20, of_trials)
    assert of_trials["running"].to_list() == pytest.approx([8] * 4, rel=0.02)


def test_where_hardly_a_trial_has_an_account_nothing_is_said_of_any_phase():
    frame = table(cpu=(8, 8, 16, 32), busy=(1, 2, 4, 8))
    frame.loc[1:, "asleep_s"] = np.nan
    found = explained(frame)
    assert found.table.empty and found.loss.empty and sentences(found) == []
    assert limits(found, 0) == "cause not shown"


def test_a_table_without_an_account_is_refused_in_a_sentence():
    frame = table(cpu=(8, 8, 8, 8), busy=(1, 2, 4, 8)).drop(columns="asleep_s")
    with pytest.raises(PhaseError, match="no account of time"):
        explained(frame)


def test_the_rate_of_a_load_test_is_refused_with_what_its_account_explains():
    frame = requests((1, 2, 3, 4))
    with pytest.raises(PhaseError, match="That of a load test explains a latency"):
        explained(frame, "pool_size", "achieved_rate", "max")


def requests(pools, slept_s=0.003, cpu_s=0.002, rate=500.0, wall_s=10.0, replicates=5):
    """A load test by hand, of a pool in which each request computes and sleeps: a pool of n answers
    n / (cpu_s + slept_s) a second."""
    rng, rows = np.random.default_rng(4), []
    for pool in pools:
        for _ in range(replicates):
            bears = pool / (cpu_s + slept_s)
            mean_s = (
                (cpu_s + slept_s) * np.exp(rng.normal(0, 0.02))
                if bears > rate
                else wall_s / 4 * (1 - bears / rate)
            )
            answers = min(bears, rate) * wall_s
            waits = dict.fromkeys(WAITS, 0.0) | {"asleep_s": pool * wall_s - answers * cpu_s}
            rows.append({"pool_size": pool, "wall_s": wall_s, "user_s": answers * cpu_s, "sys_s": 0.0, "client_cpu_s": 0.5, "threads_s": pool * wall_s,  # noqa: E501
                         "achieved_rate": answers / wall_s, "latency_mean_ms": 1000 * mean_s,
                         "latency_p99_ms": 1500 * mean_s, **waits})  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize("response", ["latency_mean_ms", "latency_p99_ms"])
def test_requests_that_no_thread_has_taken_wait_for_a_thread(response):
    frame = requests((1, 2, 8, 16))
    found = explained(frame, "pool_size", response)
    assert set(found.of(0)["mechanism"]) == {"too_few_threads"}
    assert "too few threads" in sentences(found)[0]
    assert adds_up(found, 0.02)


def test_a_share_of_errors_and_the_account_of_a_client_explain_no_latency():
    frame = requests((1, 2, 8, 16)).assign(error_share=(0.5,) * 10 + (0.1,) * 10)
    assert explained_by_account(frame, fit_phases(frame, "pool_size", "error_share")) is None
    of_client = frame.drop(columns="client_cpu_s")
    model = fit_phases(of_client, "pool_size", "latency_mean_ms")
    assert explained_by_account(of_client, model) is None


def limited(busy, levels=(0.2, 0.4), cpu=(0.2, 0.2), replicates=6):
    """One thread that always works, and is throttled where it does not run. A parent sleeps."""
    rng, rows = np.random.default_rng(5), []
    for level, cores, work in zip(levels, busy, cpu, strict=True):
        for _ in range(replicates):
            used = work * np.exp(rng.normal(0, 0.005))
            wall = used / cores
            waits = dict.fromkeys(WAITS, 0.0) | {"throttled_wait_s": wall - used, "asleep_s": wall}
            rows.append({"cpu_limit": level, "wall_s": wall, "user_s": used, "sys_s": 0.0, "threads_s": 2 * wall, **waits})  # fmt: skip  # noqa: E501
    return pd.DataFrame(rows)


def test_a_trial_that_is_busier_than_its_limit_does_not_feel_it():
    # At 0.4 cores 0.067 s of work are over within two periods: 40 ms at once, 60 ms to wait, 27 ms,
    # so 0.067 / 0.127 = 0.53 cores.
    frame = limited(busy=(0.2, 0.53, 0.8), levels=(0.2, 0.4, 0.8), cpu=(0.2, 0.067, 0.067))
    found = explained(frame, "cpu_limit")
    few = found.table[found.table["phase"] == 0].set_index("mechanism").loc["too_few_threads"]
    assert few["change"] == 0 and few["verdict"] != "confirmed"
    parts = parts_of(frame, frame["cpu_limit"].to_numpy(float), "wall_s", "min", "cpu_limit")
    columns = ["slow_throttled", "ln_too_few_threads"]
    felt = parts.groupby(frame["cpu_limit"])[columns].mean().round(6)
    assert list(felt["slow_throttled"]) == [0, round(-0.13 / 0.53, 6), 0]
    assert list(felt["ln_too_few_threads"]) == [0, 0, 0]
    assert np.allclose(parts["work_work"] + np.log1p(parts["slow_throttled"]), parts["log_loss"])


def test_a_linear_phase_of_limits_that_hold_threads_back_is_limited_by_them():
    levels = (0.2, 0.4, 0.8)
    frame = limited(busy=levels, levels=levels, cpu=(1.0,) * 3)
    frame = frame.assign(nr_periods=100, nr_throttled=98)
    found = explained(frame, "cpu_limit")
    assert limits(found, 0) == "throttled"
    assert "The CPU limit holds it back in 98 % of its periods." in sentences(found)[0]
    never = frame.assign(nr_throttled=0)
    found = explained(never, "cpu_limit")
    assert limits(found, 0) == "nothing: in proportion"


def test_what_is_no_time_of_the_trial_has_no_cause_in_the_account_of_its_time():
    frame = table(cpu=(8, 8, 8, 8), busy=(1, 1, 1, 1))
    accuracy = frame["threads"].map({1: 0.57, 2: 0.64, 4: 0.78, 8: 0.92})
    frame["acc"] = accuracy * np.random.default_rng(1).normal(1, 0.004, len(frame))
    model = fit_phases(frame, "threads", "acc", goal="max")
    assert explained_by_account(frame, model) is None
    assert "acc is neither a time nor a rate" in no_cause(frame, model)[0]
    with pytest.raises(PhaseError, match="acc is neither a time nor a rate"):
        deadzone.explain_phases(frame, model)
    rate = frame.assign(done=3 / frame["wall_s"] * accuracy.map(lambda one: 1 + one / 1000))
    assert not no_cause(rate, fit_phases(rate, "threads", "done", goal="max"))


def test_twice_the_work_under_a_limit_is_more_work_and_no_other_limit():
    sizes = [limited((0.3,) * 3, (0.3,) * 3, (w, w, w)).assign(size=w) for w in (1, 2, 4)]
    frame = pd.concat(sizes, ignore_index=True)
    found = explained(frame, "size")
    assert set(found.of(0)["mechanism"]) == {"more_cpu_work"}
    assert "throttled" in set(found.of(0, "excluded")["mechanism"])


def test_a_program_that_hardly_computes_is_explained_by_what_it_waits_for():
    # One thread calls the disk 100, 200 or 400 times, each 2 ms and 0.02 ms of CPU, which others'
    # caches make half as much again.
    rng, rows = np.random.default_rng(6), []
    for calls, cpu_ms in ((100, 0.02), (200, 0.03), (400, 0.03)):
        for _ in range(5):
            disk, cpu = calls * 0.002 * np.exp(rng.normal(0, 0.01)), calls * cpu_ms / 1000
            waits = dict.fromkeys(WAITS, 0.0) | {"disk_wait_s": disk, "asleep_s": disk + cpu}
            rows.append({"calls": calls, "wall_s": disk + cpu, "user_s": cpu, "sys_s": 0.0, "threads_s": 2 * (disk + cpu), **waits})  # fmt: skip  # noqa: E501
    frame = pd.DataFrame(rows)
    found = explained(frame, "calls")
    assert set(found.of(0)["mechanism"]) == {"waiting_for_disk"}
    assert "more_cpu_work" in set(found.of(0, "excluded")["mechanism"])


def team(serial, threads=(1, 2, 4), wall_s=1.0):
    """A team of threads, the main one among them: for a share of the time all but one sleep."""
    rng, rows = np.random.default_rng(7), []
    for n in threads:
        for _ in range(5):
            alone, together = serial * wall_s, (1 - serial) * wall_s / n
            wall = (alone + together) * np.exp(rng.normal(0, 0.01))
            waits = dict.fromkeys(WAITS, 0.0) | {"asleep_s": n * wall - wall_s}
            rows.append({"threads": n, "wall_s": wall, "user_s": wall_s, "sys_s": 0.0, "threads_s": n * wall, "threads_most": n, **waits})  # fmt: skip  # noqa: E501
    return pd.DataFrame(rows)


def test_a_team_without_a_thread_that_only_waits_sleeps_while_one_works():
    found = explained(team(0.5))
    assert confirmed(found) == {"waiting_for_each_other"}


@pytest.mark.parametrize(
    ("most", "lived", "named"),
    [
        (1, 2, "outside"),
        (2, 2, "waiting_for_each_other"),
        (np.nan, 1, "outside"),  # too short to be looked at
        (np.nan, 2, "waiting_for_each_other"),
    ],
)
def test_a_thread_without_others_waits_for_none_of_them(most, lived, named):
    frame = table(cpu=(8, 8, 8, 8), busy=(1, 1, 1, 1), asleep=1.0)
    frame = frame.rename(columns={"threads": "pause_s"}).assign(threads_most=most)
    frame[["wall_s", "asleep_s"]] = frame[["wall_s", "asleep_s"]].mul(frame["pause_s"], axis=0)
    frame["threads_s"] = lived * frame["wall_s"]
    frame = frame.dropna(axis="columns")  # of trials that are all too short there is no column
    assert confirmed(explained(frame, "pause_s")) == {named}


@pytest.mark.parametrize("threads", [1, 3])
def test_a_program_that_sleeps_by_the_clock_is_told_from_threads_that_wait_for_each_other(threads):
    frame = table(cpu=(1, 1, 1, 1), busy=(1, 0.5, 0.25, 0.12), asleep=0.0)
    frame = frame.rename(columns={"threads": "pause_s"})
    slept = threads * frame["wall_s"] - 1
    sits = frame["wall_s"] * (threads > 1)  # who waits for the others
    frame = frame.assign(ready_s=0.0, asleep_s=sits, timer_wait_s=slept, threads_most=threads)
    frame["threads_s"] = slept + sits + 1
    model = fit_phases(frame, "pause_s", "wall_s")
    assert confirmed(deadzone.explain_phases(frame, model)) == {"sleeping"}
    # as an earlier version measured it
    old = frame.assign(asleep_s=sits + slept).drop(columns="timer_wait_s")
    found = deadzone.explain_phases(old, model)
    assert confirmed(found) == {"waiting_for_each_other" if threads > 1 else "outside"}
    assert "sleeping" not in set(found.table["mechanism"])
    both = pd.concat([frame, old], ignore_index=True)  # a run that was gone on with
    assert "sleeping" in set(deadzone.explain_phases(both, model).table["mechanism"])


def client(threads, wall, slept, asked=1.0):
    """A client with a fixed number of requests: its threads wait for answers, and for a time that
    grows while the server is full; those that are lucky end early, the main thread joins them."""
    rng, rows = np.random.default_rng(7), []
    for level, wall_s, slept_s in zip((1, 2, 4, 8), wall, slept, strict=True):
        for _ in range(5):
            noise = np.exp(rng.normal(0, 0.01))
            waits = {"asleep_s": wall_s, "timer_wait_s": slept_s, "network_wait_s": asked}
            waits = dict.fromkeys(WAITS, 0.0) | {name: s * noise for name, s in waits.items()}
            waits |= {"user_s": 0.1, "sys_s": 0.0}
            most = 1 + (threads or level)
            rows.append({"knob": level, "wall_s": wall_s * noise, "threads_most": most, "threads_s": sum(waits.values()), **waits})  # fmt: skip  # noqa: E501
    return pd.DataFrame(rows)


def test_threads_that_end_before_one_that_sleeps_by_the_clock_are_not_too_few():
    frame = client(0, wall=(1.1, 0.6, 0.6, 0.8), slept=(0, 0.1, 0.8, 2.5))
    frame = frame.rename(columns={"knob": "threads"})
    found = explained(frame)
    assert confirmed(found) == {"sleeping"} and adds_up(found, to=0.02)
    never = explained(frame.assign(threads_most=frame["threads"] // 2))
    assert "too_few_threads" in confirmed(never)


def test_of_threads_that_sleep_by_the_clock_and_ask_in_turn_both_waits_are_allowed_alike():
    frame = client(12, wall=(4, 2, 1, 0.5), slept=(40, 18, 7, 2.4), asked=3.0)
    frame = frame.rename(columns={"knob": "rate"})
    assert confirmed(explained(frame, "rate")) == {"sleeping"}


def test_what_the_fit_leaves_out_explains_nothing():
    frame = table(cpu=(8, 8, 8 * 1.5, 8 * 2.2), busy=(1, 2, 4, 8))
    frame = frame.assign(trusted=True, warmup=False, status="ok")
    disturbed = frame.assign(ready_s=frame["ready_s"] + 9 * frame["wall_s"], trusted=False)
    first = frame.assign(user_s=9 * frame["user_s"], warmup=True)
    found = explained(pd.concat([disturbed, first, frame], ignore_index=True))
    alone = explained(frame)
    pd.testing.assert_frame_equal(found.table, alone.table)
    model = fit_phases(disturbed, "threads", "wall_s", keep_untrusted=True)
    assert len(deadzone.explain_phases(disturbed, model).table)
