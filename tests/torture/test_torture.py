"""Each fault once, at an instant of one seed, and an oracle that sees what it is there for."""

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from deadzone.errors import StoreError
from deadzone.store.run import RunFolder
from torture import oracle
from torture.scene import Scene, play
from torture.serving import SERVER_FAULTS, ServiceScene

pytestmark = pytest.mark.kept

SEED = 20261126
"""The same in each run, so that what fails can be looked at; `make torture` draws others."""


def played(kind, name):
    found = play(kind, SEED, 0, {name: kind.faults()[name]}).found
    assert not found, f"seed {SEED}: {found}"


@pytest.mark.parametrize("fault", Scene.faults())
def test_a_sweep_in_trouble_loses_nothing_and_goes_on(fault):
    played(Scene, fault)


@pytest.mark.parametrize("fault", SERVER_FAULTS)
def test_a_sweep_whose_server_is_in_trouble_loses_nothing_and_goes_on(fault):
    played(ServiceScene, fault)


def test_each_part_of_a_run_that_was_killed_is_accounted_for(tmp_path):
    scene = Scene(tmp_path, random.Random(4))
    for _ in range(3):
        had, command = scene.lines(), scene.start()
        command.wait_for(lambda had=had: scene.lines() > had)
        os.killpg(command.pid, signal.SIGKILL)
        scene.ended(command, killed=True)
    scene.finish()
    run = scene.run()
    assert run
    assert len(run.provenance()["earlier_parts"]) == 3


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Path]:
    """A run that nothing happened to, with its study."""
    scene = Scene(tmp_path_factory.mktemp("scene"), random.Random(1))
    scene.ended(scene.start(), codes={0})
    scene.finish()
    run = scene.run()
    assert run
    return run, scene.study


@pytest.mark.parametrize("change", ["lost", "doubled", "swapped"])
def test_the_oracle_sees_a_trial_that_is(change, whole, tmp_path):
    run, study = whole
    harmed = RunFolder(tmp_path / run.run_id)
    shutil.copytree(run.folder, harmed.folder)
    oracle.check_whole(harmed, study)
    first, second, *others = run.journal_file.read_bytes().splitlines(keepends=True)
    lines = {"lost": [first, *others], "doubled": [first, first, second, *others]}
    harmed.journal_file.write_bytes(b"".join(lines.get(change, [second, first, *others])))
    said = r"plan's order|not every trial once|tells of trial \d+ again"
    with pytest.raises((AssertionError, StoreError), match=said):
        oracle.check_whole(harmed, study)


def test_the_oracle_sees_lines_that_changed(whole, tmp_path):
    run, _ = whole
    harmed = RunFolder(tmp_path / run.run_id)
    shutil.copytree(run.folder, harmed.folder)
    before = harmed.journal_file.read_bytes()
    oracle.check_kept(harmed, before)
    harmed.journal_file.write_bytes(before[:-30])
    with pytest.raises(AssertionError, match="lines that were there have changed"):
        oracle.check_kept(harmed, before)
