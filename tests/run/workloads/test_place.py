"""What is the same in a container is tried in tests/cluster."""

from pathlib import Path

import pytest

from deadzone.errors import WorkloadError
from deadzone.run.workloads.base import Place
from deadzone.run.workloads.command import CommandWorkload
from deadzone.study.workload_specs import CommandWorkloadSpec


class Elsewhere(Place):
    """A folder of this machine that stands for another place; each visit may be a fresh one."""

    is_here = False
    identity = "first pod"

    def __init__(self) -> None:
        self.ran: list[tuple[str, ...]] = []

    def run(self, argv, cwd, timeout_s):
        self.ran.append(tuple(argv))
        return super().run(argv, cwd, timeout_s)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        WorkloadError, match=r"No folder for what a trial writes can be made: .*file/frames"
    ):
        Place().fresh_folder(tmp_path / "file" / "frames")


def test_preparations_tell_how_they_ended(tmp_path: Path) -> None:
    here = Place()
    said = here.run(("sh", "-c", "echo bad >&2; exit 3"), tmp_path, 30)
    assert said and (said.returncode, said.stderr) == (3, "bad\n")
    assert here.run(("sleep", "10"), tmp_path, 0.1) is None


def test_programs_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    here = Place()
    assert not here.has_program("./tool", tmp_path)
    program.chmod(0o755)
    assert here.has_program("./tool", tmp_path)
    assert here.has_program("sh", None)
    assert not here.has_program("no-such-program", None)


def test_the_setup_runs_again_where_the_place_is_a_new_one(tmp_path: Path) -> None:
    spec = CommandWorkloadSpec(argv=("cat", "{inputs}/x"), setup=("touch", "{inputs}/x"))
    workload = CommandWorkload(spec, tmp_path)
    place = Elsewhere()
    workload.move_to(place)
    workload.prepare_sweep(tmp_path)
    workload.prepare_trial({}, tmp_path)
    assert len(place.ran) == 1
    place.identity = "second pod"
    workload.prepare_trial({}, tmp_path)
    workload.prepare_trial({}, tmp_path)
    assert len(place.ran) == 2


def test_elsewhere_only_an_absolute_working_folder_means_anything(tmp_path: Path) -> None:
    for cwd, expected in ((None, None), ("clips", None), ("/srv/clips", Path("/srv/clips"))):
        workload = CommandWorkload(CommandWorkloadSpec(argv=("true",), cwd=cwd), tmp_path)
        workload.move_to(Elsewhere())
        assert workload.prepare_trial({}, tmp_path).cwd == expected
