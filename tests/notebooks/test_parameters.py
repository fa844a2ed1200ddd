from pathlib import Path

import pytest
from click.testing import CliRunner
from papermill.cli import papermill

from deadzone import errors
from notebooks.executed import Executed

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

REFUSED = {
    "start": [({"table": "nosuch"}, "no such file, run or published table"),
              ({"table": 5}, "The table is 5"),
              ({"knob": "cpu_limits"}, "no column 'cpu_limits'. Did you mean `cpu_limit`?"),
              ({"response": "thread_setting"}, "response and by are the same column"),
              ({"goal": "fastest"}, "The goal is 'fastest'; it must be 'min' or 'max'"),
              ({"by": "cpu_limit"}, "knob and by are the same column"), ({"by": 5}, "no column 5")],
    "sweep": [({"study": "xz-thread"}, "no study 'xz-thread'"), ({"study": 5}, "The study is 5"),
              ({"study": "probe", "run_id": "../x"}, "A run cannot be called '../x'"),
              ({"study": "probe", "run_id": 5}, "A run cannot be called 5"),
              ({"study": "probe", "resume": "nosuch"}, "no run 'nosuch'"),
              ({"study": "probe", "overrides": 5}, "The overrides are 5"),
              ({"study": "probe", "overrides": {"replicats": 3}}, "Did you mean `replicates`?")],
    "phases": [({"run": "nosuch"}, "no run 'nosuch'"), ({"table": "nosuch.csv"}, "no such table"),
               ({"knob": "nosuch"}, "no column 'nosuch'"),
               ({"response": "cpu_limit"}, "knob and response are the same column"),
               ({"goal": "fastest"}, "The goal is 'fastest'; it must be 'min' or 'max'"),
               ({"goal": 5}, "The goal is 5"),
               ({"by": "cpu_limit"}, "knob and by are the same column"),
               ({"within": -1}, "within is -1; give a share from 0 to 1"),
               ({"tolerance": 5}, "tolerance is 5; give a share from 0 to 1"),
               ({"price": "x"}, "price is 'x'"),
               ({"cost": "nosuch * 2"}, "is no factor and not the response"),
               ({"lang": "xx"}, "no report in the language 'xx'"),
               ({"further": 5}, "Further claims are 5"),
               ({"further": ["gibberish"]}, "The claim 'gibberish' cannot be read")],
    "compare": [({"a": "nosuch", "b": "nosuch"}, "no run 'nosuch'"),
                ({"a": "ffmpeg-16-cores/trials"}, "no run ''"), ({"response": 5}, "no column '5'"),
                ({"goal": "fastest"}, "The goal is 'fastest'; it must be 'min' or 'max'"),
                ({"by": ["nosuch"]}, "no column 'nosuch'"),
                ({"threshold": 5}, "The threshold is 5; give a fraction from above 0 to 1"),
                ({"confidence": "x"}, "The confidence is 'x'")],
    "explore": [({"source": "nosuch"}, "no such file, run or published table"),
                ({"source": "ffmpeg-16-cores/trials"}, "Say which column is the knob"),
                ({"lang": 5}, "no report in the language 5")],
    "disk": [({"within": 5}, "within is 5; give a number from 0 to 1"),
             ({"chunk_mb": 0}, "chunk_mb is 0; give a number from 0.001"),
             ({"source": "nosuch/latest"}, "no run 'nosuch/latest'")],
    "search": [({"run": "nosuch/latest"}, "no run 'nosuch/latest'"),
               ({"run": "disk-block-size/reference"}, "is no search; its study needs"),
               ({"tolerance": 5}, "tolerance is 5; give a share from 0 to 1"),
               ({"cells": 1}, "cells is 1; give a number from 2")],
    "load_test": [({"target_ms": "fast"}, "target_ms is 'fast'; give a number"),
                  ({"lang": "xx"}, "no report in the language 'xx'")],
    "attribution": [({"margin": 3}, "margin is 3; give a number from 0 to 1"),
                    ({"slow": "nowhere"}, "no trials of an environment 'nowhere'")],
    "connections": [({"safe_share": 7}, "safe_share is 7; give a number from 0 to 1")],
    "profiles": [({"kind": "heaps"}, "kind is 'heaps'; choose one of: cpu"),
                 ({"functions": 0}, "functions is 0; give a number from 1")],
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_value_is_refused_with_a_sentence(name, home, notebooks, write_study):
    write_study(workload={"kind": "command", "argv": ["sleep", "{n}"]}, factors={"n": [0.01, 0.02]})
    for given, words in REFUSED[name]:
        with pytest.raises((ValueError, errors.DeadzoneError)) as refused, Executed(name, **given):
            pass
        said = str(refused.value)
        assert words in said and len(said.splitlines()) == 1, (given, said)
    assert not (home / "data" / "runs").exists()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("safe_share", "7", "ReportError: safe_share is 7; give a number from 0 to 1."),
     pytest.param("sourse", "x",
                  "ReportError: The notebook has no parameter 'sourse'. Did you mean `source`?",
                  marks=pytest.mark.night)],
)  # fmt: skip
def test_papermill_ends_with_the_sentence_and_another_code_than_zero(
    home, tmp_path, name, value, words
):
    files = [str(NOTEBOOKS / "connections.ipynb"), str(tmp_path / "out.ipynb")]
    said = CliRunner().invoke(papermill, [*files, "-p", name, value])
    assert said.exit_code != 0
    assert words in str(said.exception).splitlines()
