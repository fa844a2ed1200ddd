import io
import json

import pandas as pd
import pytest
from report.made_runs import write_run


@pytest.fixture
def run(home):
    return write_run(home)


def test_csv_is_the_tidy_table(run, deadzone):
    table = pd.read_csv(io.StringIO(deadzone("export", "probe/latest", code=0).out))
    assert list(table.columns) == list(run.trials().columns)
    assert table["wall_s"].tolist() == pytest.approx(run.trials()["wall_s"].tolist())
    records = json.loads(deadzone("export", run.run_id, "--json").out)
    assert [record["trial"] for record in records] == run.trials()["trial"].tolist()


def test_a_file_is_written_where_it_is_asked_for(run, deadzone, tmp_path):
    said = deadzone("export", run.folder, "-o", tmp_path / "trials.csv")
    assert (said.code, said.out) == (0, "")
    assert len(pd.read_csv(tmp_path / "trials.csv")) == 32


def test_a_file_that_cannot_be_written_is_told(run, deadzone):
    said = deadzone("export", "probe/latest", "-o", "/nowhere/t.csv", code=3).err
    assert "/nowhere/t.csv: cannot be written: No such file or directory" in said


def test_a_damaged_journal_and_a_format_that_is_gone_are_told(run, deadzone):
    said = deadzone("export", run.run_id, "--format", "openmetrics")
    assert said.code == 2 and "--format is gone" in said.err and "deploy/README.md" in said.err
    lines = run.journal_file.read_text().splitlines()
    run.journal_file.write_text("\n".join([lines[0], "damage", *lines[1:]]) + "\n")
    said = deadzone("export", "probe/latest")
    assert said.code == 3 and "line 2 is no record" in said.err
