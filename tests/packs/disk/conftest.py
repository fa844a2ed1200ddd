"""What the tests of the disk workload share: folders on a disk, small file systems, and trials run
as a sweep runs them."""

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from needs import needs

from deadzone.measurement import Measurement
from deadzone.run.targets.local import LocalTarget
from deadzone.run.workloads.base import Outcome
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec
from deadzone_disk.device import in_memory
from deadzone_disk.specs import DiskWorkloadSpec
from deadzone_disk.workload import DiskWorkload

MIB = 2**20


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notes of folders, apart from the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    if in_memory(tmp_path):
        pytest.skip("the tests' folder lies in memory here, so no disk can be measured; set TMPDIR")
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder


@pytest.fixture
def mount(tmp_path: Path, mount: Callable[..., Path]) -> Callable[..., Path]:
    """Mount a small file system; needs root."""
    return lambda *arguments, name="mounted": mount(tmp_path / name, *arguments)


@pytest.fixture
def ext4(tmp_path: Path, mount: Callable[..., Path]) -> Callable[..., Path]:
    """A small ext4 of its own in a file, mounted."""

    def make(size: str, *options: str, features: tuple[str, ...] = ()) -> Path:
        image = tmp_path / "image"
        subprocess.run(("truncate", "-s", size, str(image)), check=True)
        argv = ("mkfs.ext4", "-q", "-m", "0", *features, str(image))
        made = subprocess.run(argv, capture_output=True, check=False)
        if made.returncode:
            pytest.skip(f"no ext4 can be made here ({made.stderr.decode().strip()})")
        return mount("-o", ",".join(("loop", *options)), str(image), name="ext4")

    return make


Trial = tuple[Measurement, Outcome, dict[str, Any]]


@pytest.fixture
def trials(disk: Path) -> Callable[..., Iterator[Trial]]:
    """Trials of the disk workload on the local target, one after the other: what was measured, its
    outcome, and the facts. beforehand: called with the workload once a trial is prepared."""

    def run(
        folder: Path = disk,
        levels: dict[str, Any] | None = None,
        beforehand: Callable[[DiskWorkload], None] | None = None,
        **keys: Any,
    ) -> Iterator[Trial]:
        if keys.get("engine") == "fio":
            needs("fio")
        own = {"file_size": 8 * MIB, "trial_bytes": 4 * MIB, "duration_s": 0.3, "block_size": 65536}
        spec = DiskWorkloadSpec.model_validate({"folder": str(folder), **own, **keys})
        workload = DiskWorkload(spec, folder, [levels or {}])
        workload.check(())
        try:
            with LocalTarget(LocalTargetSpec(mechanism="unlimited")) as target:
                facts = workload.prepare_sweep(target.scratch)
                target.prepare(Treatment(levels or {}))
                while True:
                    command = workload.prepare_trial(levels or {}, target.scratch)
                    if beforehand:
                        beforehand(workload)
                    measured = target.execute(command, 30)
                    yield measured, workload.outcome(measured, target.scratch), facts
        finally:
            workload.finish()

    return run


@pytest.fixture
def trial(trials: Callable[..., Iterator[Trial]]) -> Callable[..., Trial]:
    """One trial that ends well."""

    def run(*arguments: Any, **keys: Any) -> Trial:
        with contextlib.closing(trials(*arguments, **keys)) as made:
            measured, outcome, facts = next(made)
        assert measured.status == "ok", measured.stderr
        return measured, outcome, facts

    return run
