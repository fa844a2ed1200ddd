import io
import resource
import subprocess
import sys

import nbformat
import nbformat.v4 as v4
import pytest

from deadzone.errors import ReportError, StudyError
from deadzone.report.document.execution import _transport, execute, notebook_parameters


@pytest.fixture
def notebook(tmp_path):
    def write(*sources):
        tagged = {"metadata": {"tags": ["parameters"]}}
        cells = [v4.new_code_cell("x: int = 1  # a number [count]", **tagged)]
        cells += map(v4.new_code_cell, sources)
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        path = tmp_path / "some.ipynb"
        nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
        return path

    return write


def test_parameters_of_a_notebook_are_those_of_its_cell(notebook, tmp_path):
    assert list(notebook_parameters(notebook())) == ["x"]
    (tmp_path / "no.ipynb").write_text("{")
    with pytest.raises(ReportError, match="cannot be read as a notebook"):
        notebook_parameters(tmp_path / "no.ipynb")


def test_an_unknown_parameter_is_refused_with_the_nearest_one(notebook, tmp_path):
    with pytest.raises(ReportError, match=r"no parameter 'xx'\. Did you mean `x`"):
        execute(notebook(), tmp_path / "out.ipynb", {"xx": 1})


def test_the_kernel_gets_parameters_and_environment(notebook, tmp_path):
    heard = io.StringIO()
    path = notebook(
        "import os, sys\nassert (x, os.environ['TOLD']) == (2, 'yes')\nprint(x, file=sys.stderr)"
    )
    told = {"TOLD": "yes"}
    execute(path, tmp_path / "out.ipynb", {"x": 2}, environment=told, stderr=heard)
    assert heard.getvalue() == "2\n"


def test_our_own_errors_come_out_as_themselves(notebook, tmp_path):
    path = notebook("from deadzone.errors import StudyError\nraise StudyError('no such level')")
    with pytest.raises(StudyError, match="no such level"):
        execute(path, tmp_path / "out.ipynb", {})


BOTH_BEGUN = """
import time
from pathlib import Path
Path({folder!r}, f"begun-{{x}}").touch()
until = time.monotonic() + 60
while len([*Path({folder!r}).glob("begun-*")]) < 2 and time.monotonic() < until:
    time.sleep(0.02)
"""


@pytest.mark.night
def test_two_commands_started_in_one_place_do_not_hear_each_other(notebook, tmp_path):
    path = notebook(BOTH_BEGUN.format(folder=str(tmp_path)), "assert x in (1, 2)")
    code = (
        "import sys; from pathlib import Path; from deadzone.report.document.execution import "
        "execute; execute(Path(sys.argv[1]), Path(sys.argv[2]), {'x': int(sys.argv[3])})"
    )
    started = [
        subprocess.Popen(
            (sys.executable, "-c", code, str(path), str(tmp_path / f"{x}.ipynb"), str(x)),
            stderr=subprocess.PIPE,
        )
        for x in (1, 2)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in started]
    assert [code for _, code in ends] == [0, 0], ends


def test_a_kernel_talks_through_a_folder_of_its_own_unless_its_name_is_too_long(tmp_path):
    assert _transport(tmp_path)["ip"].startswith(str(tmp_path))
    assert _transport(tmp_path / ("long" * 30)) == {"transport": "tcp"}


def test_where_too_few_files_may_be_open_no_kernel_is_begun(notebook, tmp_path):
    """It would die without a word, or wait for ever."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (90, hard))
    try:
        with pytest.raises(ReportError, match="needs 100 open files, and only 90 are allowed here"):
            execute(notebook(), tmp_path / "out.ipynb", {"x": 1})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
