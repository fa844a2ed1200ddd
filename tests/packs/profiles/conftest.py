"""What Go builds for the tests of profiles, once for all of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

from packs.profiles.making import RECORDED

sys.path.insert(0, str(RECORDED))
import record


@pytest.fixture(scope="session")
def media_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small Go server of the recorded profiles, built now."""
    needs("go")
    try:
        return record.build(tmp_path_factory.mktemp("go"))
    except subprocess.CalledProcessError:
        pytest.skip("Go cannot build here")


@pytest.fixture(scope="session")
def pprof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that `go tool pprof` runs, built with what was built for the server: Go would
    compile its whole library a second time, which takes half a minute."""
    needs("go")
    return record.build(tmp_path_factory.mktemp("pprof"), "cmd/pprof")
