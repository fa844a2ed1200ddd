import io
import json
import resource
import subprocess
import sys
from pathlib import Path

import nbformat.v4 as v4
import pytest

from deadzone.errors import ReportError, StudyError
from deadzone.report.document.execution import (
    _transport,
    execute,
    machine_folders,
    notebook_parameters,
    refuse_secrets,
    scrubbed,
    without_paths,
)
from report.made_runs import write_notebook


@pytest.fixture
def notebook(tmp_path):
    def write(*sources):
        tagged = {"metadata": {"tags": ["parameters"]}}
        given = v4.new_code_cell("x: int = 1  # a number [count]", **tagged)
        return write_notebook(tmp_path / "some.ipynb", given, *map(v4.new_code_cell, sources))

    return write


def test_parameters_of_a_notebook_are_those_of_its_cell(notebook, tmp_path):
    assert list(notebook_parameters(notebook())) == ["x"]
    (tmp_path / "no.ipynb").write_text("{")
    with pytest.raises(ReportError, match="cannot be read as a notebook"):
        notebook_parameters(tmp_path / "no.ipynb")


def test_an_unknown_parameter_is_refused_with_the_nearest_one(notebook, tmp_path):
    with pytest.raises(ReportError, match=r"no parameter 'xx'\. Did you mean `x`"):
        execute(notebook(), tmp_path / "out.ipynb", {"xx": 1})


def test_a_kernel_gets_parameters_and_environment_and_our_own_errors_come_out_as_themselves(
    notebook, tmp_path
):
    heard = io.StringIO()
    path = notebook(
        "import os, sys\nassert (x, os.environ['TOLD']) == (2, 'yes')\nprint(x, file=sys.stderr)",
        "from deadzone.errors import StudyError\nraise StudyError('no such level')",
    )
    told = {"TOLD": "yes"}
    with pytest.raises(StudyError, match="no such level"):
        execute(path, tmp_path / "out.ipynb", {"x": 2}, environment=told, stderr=heard)
    assert heard.getvalue() == "2\n"


EXECUTES = (
    "import sys; from pathlib import Path; from deadzone.report.document.execution import "
    "execute; execute(Path(sys.argv[1]), Path(sys.argv[2]), {'x': int(sys.argv[3])})"
)

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
    started = [
        subprocess.Popen(
            (sys.executable, "-c", EXECUTES, str(path), str(tmp_path / f"{x}.ipynb"), str(x)),
            stderr=subprocess.PIPE,
        )
        for x in (1, 2)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in started]
    assert [code for _, code in ends] == [0, 0], ends


def test_a_kernel_talks_through_a_folder_of_its_own_unless_its_name_is_too_long(tmp_path):
    assert _transport(tmp_path)["ip"].startswith(str(tmp_path))
    assert _transport(tmp_path / ("long" * 30)) == {"transport": "tcp"}


def test_where_too_few_files_may_be_open_no_kernel_is_begun(notebook, tmp_path, monkeypatch):
    """It would die without a word, or wait for ever. The limit is only said: other tests may have
    left more files open."""
    monkeypatch.setattr(resource, "getrlimit", {resource.RLIMIT_NOFILE: (90, 90)}.get)
    with pytest.raises(ReportError, match="needs 100 open files and may have 90"):
        execute(notebook(), tmp_path / "out.ipynb", {})


PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nabc"


@pytest.mark.parametrize(
    "parameters",
    [{"api_token": "x"}, {"Password": ""}, {"kubeconfig": "/somewhere"},
     {"overrides": {"workload": {"env": {"GITHUB_TOKEN": "x"}}}},
     {"overrides": {"workload.env.api-key": "x"}},
     {"overrides": {"workload": {"argv": ["curl", "https://user:pass@host/x"]}}},
     {"url": "postgres://me:hunter2@db:5432/x"}, {"header": "Authorization: Bearer abc"},
     {"file": PRIVATE}, {"config": "apiVersion: v1\ncurrent-context: me\nusers: []"},
     {"value": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"},
     {"address": "https://host/x?access_token=abc"}],
)  # fmt: skip
def test_what_looks_like_a_secret_is_refused_without_being_repeated(parameters):
    with pytest.raises(ReportError, match="environment variable") as raised:
        refuse_secrets(parameters)
    for told in ("hunter2", "abc", "user:pass", "eyJ"):
        assert told not in str(raised.value)


@pytest.mark.parametrize(
    "parameters",
    [{"run": "latest", "within": 0.05},
     {"overrides": {"workload": {"argv": ["curl", "https://host/x?rate=3"], "threads": [1, 2]}}},
     {"cost": "cpu_limit * wall_s"}, {"started": "10:20:30@here"}],
)  # fmt: skip
def test_ordinary_parameters_pass(parameters):
    refuse_secrets(parameters)


def shown(kind, text):
    return v4.new_output("display_data", data={kind: text})


def executed(home, seconds):
    told = {
        "input_path": f"{home}/notebooks/phases.ipynb",
        "output_path": "/tmp/x/report.ipynb",
        "start_time": f"2026-03-05T10:20:{seconds}",
        "duration": float(seconds),
        "parameters": {"run": f"{home}/data/runs/probe/run-1", "within": 0.1},
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    kernel["language_info"] = {"name": "python", "version": sys.version}
    warned = {"name": "stderr", "text": f"{sys.prefix}/lib/x.py:1: Warning"}
    wrote = shown("text/plain", f"wrote {home}/data, {Path.home()}/.cache and a/b")
    cell = v4.new_code_cell(
        f'run = "{home}/data/runs/probe/run-1"',
        metadata={"papermill": {"duration": seconds}},
        outputs=[v4.new_output("stream", **warned), wrote],
    )
    return v4.new_notebook(metadata={**kernel, "papermill": told}, cells=[cell])


def test_no_path_of_the_machine_is_left(repository):
    text = json.dumps(scrubbed(executed(repository, 10)))
    for folder in (str(repository), sys.prefix, str(Path.home()), "input_path", "/tmp/x"):
        assert folder not in text
    assert "./data/runs/probe/run-1" in text
    assert "~/.cache and a/b" in text


def drawn(clip):
    svg = (
        f'<svg><g id="axes_1"><path clip-path="url(#p{clip})"/></g><clipPath id="p{clip}"/><path '
        'id="m0123456789"/></svg>'
    )
    cell = v4.new_code_cell("", outputs=[shown("image/svg+xml", svg)])
    [output] = scrubbed(v4.new_notebook(cells=[cell]))["cells"][0]["outputs"]
    return output["data"]["image/svg+xml"]


def test_a_drawing_has_the_same_ids_whatever_the_last_bits_of_its_places():
    assert drawn("50e0bf395b") == drawn("551befd450")
    assert 'url(#p0)"' in drawn("50e0bf395b") and 'clipPath id="p0"' in drawn("50e0bf395b")
    assert 'path id="m1"' in drawn("50e0bf395b") and 'id="axes_1"' in drawn("50e0bf395b")


def test_a_folder_is_not_replaced_inside_a_longer_name(repository):
    folders = machine_folders()
    assert without_paths(f"{repository}2/x", {str(repository): "."}) == f"{repository}2/x"
    assert without_paths([f"{repository}/x", 3], folders) == ["./x", 3]
