"""`deadzone runs`: what is kept, and what may go."""

import json

import pytest
from report.made_runs import PROVENANCE, write_run
from report.sweep.test_history import keep_verdicts

from deadzone.study.claim_sentences import parse_claim


@pytest.fixture
def runs(home):
    """Nine runs of a study: the last six are slower, so that history names the fourth; one is
    published, one claimed."""
    made = []
    for number in range(9):
        factor = 1.5 if number > 2 else 1
        run = write_run(
            home, lambda line, by=factor: {**line, "wall_s": line["wall_s"] * by}, f"run-{number}"
        )
        run.write_provenance({**PROVENANCE, "recorded_at": f"2026-03-0{number + 1}T10:00:00+00:00"})
        made.append(run)
    (home / "reports" / "probe" / "run-1").mkdir(parents=True)
    made[4].add_claims([parse_claim("nothing to gain beyond cpu_limit 2")])
    return keep_verdicts(made)


def test_runs_are_listed_with_state_size_and_setting(runs, deadzone):
    rows = json.loads(deadzone("runs", "probe", "--json").out)
    assert [row["run"] for row in rows] == [f"probe/run-{number}" for number in range(9)]
    assert [row["state"] for row in rows[:5]] == ["measured", "published", "measured", "measured", "claimed"]  # fmt: skip  # noqa: E501
    assert rows[0]["setting"] == 2 and rows[0]["bytes"] > 10_000
    said = deadzone("runs").out.splitlines()
    assert "2026-03-05T10:20" in said[0] and said[-1].startswith("9 runs, ")


def test_older_runs_are_listed_and_removed_when_asked_and_history_goes_on(runs, deadzone, home):
    before = deadzone("history", "probe").out
    asked = ("runs", "--prune", "--keep", "2")
    with runs[5].lock():
        listed = deadzone(*asked).out
    kept = {"run-1", "run-3", "run-4", "run-5", "run-7", "run-8"}  # history names run-3
    assert {line.split()[0] for line in listed.splitlines()[:-1]} == {f"probe/run-{n}" for n in (0, 2, 6)}  # fmt: skip  # noqa: E501
    assert "`--yes`" in listed and all(run.journal_file.exists() for run in runs)
    with runs[5].lock():
        assert "trials of 3 runs, " in deadzone(*asked, "--yes").out
    assert {run.run_id for run in runs if run.journal_file.exists()} == kept
    assert sorted(path.name for path in runs[0].folder.iterdir()) == ["lock", "provenance.json", "study.yaml", "verdict.json"]  # fmt: skip  # noqa: E501
    assert deadzone("history", "probe").out == before
    assert "trials of 1 run," in deadzone(*asked, "--yes").out  # what was being measured
