import json

import pytest

from packs.services.attribution.made_trials import FAST, LIMITED, trials


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "trials.csv"
    trials({"pod": LIMITED, "container": FAST}, n=6).to_csv(path, index=False)
    return path


def test_it_prints_the_hypotheses_and_json_holds_the_same(deadzone, table):
    said = deadzone("attribute", table, code=0)
    assert "CPU limit   confirmed" in said.out
    assert "Excluded: network, disk, memory and client." in " ".join(said.out.split())
    answer = json.loads(deadzone("attribute", table, "--json").out)
    assert answer["slow"] == "pod"
    assert {row["verdict"] for row in answer["hypotheses"]} == {"confirmed", "excluded"}


def test_an_unknown_environment_is_a_sentence(deadzone, table):
    said = deadzone("attribute", table, "--slow", "pood", code=2)
    assert "Did you mean `pod`" in said.err


def test_a_run_that_varies_nothing_any_more_is_refused_with_a_sentence(
    deadzone, sweep, write_study
):
    run = sweep(write_study())
    first, *_ = run.journal_file.read_text().splitlines(keepends=True)
    run.journal_file.write_text(first)
    said = deadzone("attribute", str(run.folder), code=2)
    assert said.err.startswith("deadzone: ") and "environment" in said.err
