import json
import sys
from pathlib import Path

import nbformat.v4 as v4

from deadzone.report.document.execution import machine_folders, scrubbed, without_paths


def shown(kind, text):
    return v4.new_output("display_data", data={kind: text})


def executed(home, seconds):
    return v4.new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python", "version": sys.version},
            "papermill": {
                "input_path": f"{home}/notebooks/phases.ipynb",
                "output_path": "/tmp/x/report.ipynb",
                "start_time": f"2026-03-05T10:20:{seconds}",
                "duration": float(seconds),
                "parameters": {"run": f"{home}/data/runs/probe/run-1", "within": 0.1},
            },
        },
        cells=[
            v4.new_code_cell(
                f'run = "{home}/data/runs/probe/run-1"',
                metadata={"papermill": {"duration": seconds}},
                outputs=[
                    v4.new_output(
                        "stream", name="stderr", text=f"{sys.prefix}/lib/x.py:1: Warning"
                    ),
                    shown("text/plain", f"wrote {home}/data, {Path.home()}/.cache and a/b"),
                ],
            )
        ],
    )


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
