import json

import pytest
from report.made_runs import write_runs
from report.sweep.test_history import keep_verdicts

from deadzone.study.claim_sentences import parse_claim


@pytest.fixture
def runs(home):
    """Nine runs of a study: the last six are slower, so that history names the fourth; one is
    published, one claimed."""
    made = write_runs(home, *[1] * 3, *[1.5] * 6)
    (home / "reports" / "probe" / "run-01").mkdir(parents=True)
    made[4].add_claims([parse_claim("nothing to gain beyond cpu_limit 2")])
    return keep_verdicts(made)


def test_runs_are_listed_and_older_ones_removed_when_asked_and_history_goes_on(runs, deadzone):
    rows = json.loads(deadzone("runs", "probe", "--json").out)
    assert [row["run"] for row in rows] == [f"probe/{run.run_id}" for run in runs]
    states = ["measured", "published", "measured", "measured", "claimed"]
    assert [row["state"] for row in rows[:5]] == states
    assert rows[0]["setting"] == 2 and rows[0]["bytes"] > 10_000
    said = deadzone("runs").out.splitlines()
    assert "2026-03-05T10:20" in said[0] and said[-1].startswith("9 runs, ")
    before = deadzone("history", "probe").out
    asked = ("runs", "--prune", "--keep", "2")
    with runs[5].lock():
        listed = deadzone(*asked).out
    gone = {"run-00", "run-02", "run-06"}  # history names run-03
    assert {line.split()[0] for line in listed.splitlines()[:-1]} == {f"probe/{n}" for n in gone}
    assert "`--yes`" in listed and all(run.journal_file.exists() for run in runs)
    with runs[5].lock():
        assert "trials of 3 runs, " in deadzone(*asked, "--yes").out
    assert {run.run_id for run in runs if not run.journal_file.exists()} == gone
    left = {path.name for path in runs[0].folder.iterdir()}
    assert left == {"lock", "provenance.json", "study.yaml", "verdict.json"}
    assert deadzone("history", "probe").out == before
    assert "trials of 1 run," in deadzone(*asked, "--yes").out  # what was being measured
    said = deadzone("sweep", str(runs[0].folder / "study.yaml"), "--resume", "run-00", code=3)
    assert "were removed by `--prune`" in said.err and (runs[0].folder / "verdict.json").exists()


def test_a_run_that_cannot_be_read_hides_no_other_and_stays(runs, deadzone):
    (runs[-1].folder / "verdict.json").unlink()
    runs[-1].journal_file.write_text("cut\n" + runs[-1].journal_file.read_text())
    rows = json.loads(deadzone("runs", "--json").out)
    assert rows[-1]["state"] == "unread" and rows[0]["state"] == "measured"
    deadzone("runs", "--prune", "--keep", "1", "--yes")
    assert runs[-1].journal_file.exists() and (runs[-1].folder / "study.yaml").exists()
