"""The emulated machine, booted once for all stories."""

from __future__ import annotations

from typing import Any

import pytest
from machine import tell_stories
from machine_image import NotPossibleHere

Stories = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def stories() -> Stories:
    """What happened in the machine, by case."""
    try:
        return tell_stories()
    except NotPossibleHere as error:
        pytest.skip(
            f"no emulated machine: {error} (packages are listed in tests/cgroup2/packages.txt)"
        )
