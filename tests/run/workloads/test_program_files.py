import sys

import pytest

from deadzone.run.workloads.base import program_files


@pytest.mark.parametrize("file", ["tool/work.py", "tool/work/__main__.py"])
def test_a_module_that_python_runs_is_known_by_its_file(file, tmp_path):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("print(1)")
    line = [sys.executable, "-m", "tool.work", "-m", "json.tool"]
    before = program_files([line], tmp_path)
    assert before.keys() == {f"file {sys.executable}", "file tool.work"}
    (tmp_path / file).write_text("print(2)")
    assert program_files([line], tmp_path) != before
