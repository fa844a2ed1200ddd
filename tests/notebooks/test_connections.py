from notebooks.executed import Executed
from notebooks.load_runs import ramp_run, spike_run


def test_a_spike_test_names_knee_and_failures(tmp_path):
    with Executed("connections", source=str(spike_run(tmp_path).folder)) as executed:
        spike = "Allow 200 new connections a second: beyond it connecting takes off"
        assert spike in executed.verdict
        assert "fail from 400 a second on (3 %" in executed.verdict


def test_a_ramp_names_the_last_good_count_and_how_it_ended(tmp_path):
    with Executed("connections", source=str(ramp_run(tmp_path).folder)) as executed:
        assert "the median was 4,805 (4,790 to 4,812, n = 3)" in executed.verdict
        assert "killed for memory (3)" in executed.verdict
        assert "Allow 3,832 connections" in executed.verdict


def test_it_opens_on_a_spike_and_a_ramp_that_were_published():
    with Executed("connections") as executed:
        assert "Allow 200 new connections a second (200 to 400)" in executed.verdict
        assert "Allow 3,840 connections at most" in executed.verdict
