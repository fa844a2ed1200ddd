"""What Go builds for the tests of profiles, once for all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

from packs.profiles.making import RECORDED

sys.path.insert(0, str(RECORDED))
import record


def built(folder: Path, *source: str) -> Path:
    needs("go")
    try:
        return record.build(folder, *source)
    except subprocess.CalledProcessError:
        pytest.skip("Go cannot build here")


@pytest.fixture(scope="session")
def media_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small Go server of the recorded profiles, built now."""
    return built(tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def pprof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that `go tool pprof` runs, built with what was built for the server: Go would
    compile its whole library a second time, which takes half a minute."""
    return built(tmp_path_factory.mktemp("pprof"), "cmd/pprof")
