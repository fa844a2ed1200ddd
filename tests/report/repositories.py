"""Fixtures: a repository of the test's own, runs in it, and their analyses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deadzone.language.messages import speak
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from deadzone.store.run import RunFolder
from report.made_runs import new_repository, write_run


@pytest.fixture(autouse=True)
def english():
    speak("en")
    yield
    speak("en")


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> SweepReport:
    """The report of a run in which nothing went wrong, for tests that leave it as it is."""
    run = write_run(new_repository(tmp_path_factory.mktemp("sound") / "repository"))
    return SweepReport(analyse(load_source(str(run.folder))))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of the test's own, the one in force."""
    home = new_repository(tmp_path / "some repository")
    monkeypatch.setenv("DEADZONE_HOME", str(home))
    return home


@pytest.fixture
def make_run(repository: Path) -> Callable[..., RunFolder]:
    return lambda *arguments, **options: write_run(repository, *arguments, **options)


@pytest.fixture
def analysed(make_run: Callable[..., RunFolder]) -> Callable[..., SweepReport]:
    """The report of a run made by `make_run`."""

    def analyse_run(*arguments: Any, **options: Any) -> SweepReport:
        return SweepReport(analyse(load_source(str(make_run(*arguments, **options).folder))))

    return analyse_run
