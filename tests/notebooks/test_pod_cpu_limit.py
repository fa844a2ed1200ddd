"""What the published search for a cause shows, by arithmetic worked out by hand."""

import pytest

from notebooks.executed import Executed


@pytest.fixture(scope="module")
def notebook():
    with Executed("published/pod_cpu_limit") as executed:
        yield executed


def test_every_conclusion_has_its_verdict(notebook):
    assert notebook.value("verdicts") == {
        "about 32 times slower": "supported",
        "the CPU limit is the cause": "in part",
        "the disk is excluded": "not shown",
        "memory pressure is excluded": "not shown",
        "the network is excluded": "not shown",
        "the client is not the bottleneck": "supported",
        "slower than environments A and B": "not shown",
    }


def test_the_pod_is_32_to_33_times_slower(notebook):
    assert notebook.value("by_shell") == pytest.approx(148.263 / 4.539)
    assert notebook.value("ratio") == pytest.approx(148.835 / 4.584)
    assert "32.47 times by curl's clock and 32.66 by the shell's" in notebook.sentences


def test_lifting_the_limits_restores_nearly_all(notebook):
    assert notebook.value("left") == pytest.approx(4.718 / 4.584 - 1)
    assert 0.99 < notebook.value("restored") < 1


def test_limits_lifted_together_cannot_be_told_apart(notebook):
    assert {"cpu_limit", "memory_limit_bytes"} <= set(notebook.value("list(lifted)"))
    alone = notebook.again('"the CPU limit is the cause"', "resources = resources[['cpu_limit']]")
    assert "**Supported.**" in alone


def test_one_core_of_twenty_cannot_explain_a_factor_of_32(notebook):
    assert notebook.value("more") == pytest.approx(148.835 / (20 * 4.584))
    assert "at least 1.6 times the CPU time" in notebook.sentences
    assert "One core in place of 64 can explain" in notebook.again(
        "cores = host_cores or", "host_cores = 64"
    )


def test_the_time_to_the_first_byte_may_be_the_upload(notebook):
    assert notebook.value("upload_mb_s") == pytest.approx(22.7 / 0.209851)
    assert "108 MB/s, 87 % of what 1 Gbit/s can" in notebook.sentences
    assert "148.63 of 148.84 s under the limit and 4.38 s or more without it" in notebook.sentences


def test_by_the_rules_for_runs_one_request_each_decides_nothing_but_the_client(notebook):
    verdicts = notebook.value("attribution.hypotheses.set_index('hypothesis')['verdict'].to_dict()")
    assert verdicts.pop("client") == "excluded"
    assert verdicts == dict.fromkeys(("cpu_limit", "network", "disk", "memory"), "undecided")


def test_what_was_not_measured_is_a_gap_in_the_guideline(notebook):
    rows = notebook.value("guideline.astype(object).fillna('-').values.tolist()")
    assert [row[1] for row in rows] == [148.835, "-", 4.718]
    assert rows[1][2] == "not measured"


def test_the_missing_table_is_told_as_missing(notebook):
    assert "Times of the environments A, B, C are not in the document" in notebook.sentences


def test_one_printed_figure_is_a_rounding_away(notebook):
    assert notebook.value("readings.to_dict()") == {"agrees": 4, "a rounding away": 1}
