"""What a process that has ended left behind bears its name."""

import subprocess
import sys

import pytest


@pytest.fixture
def dead_name():
    """The name of something made by a process that has ended."""
    code = "from deadzone.run.targets.limits.base import group_name; print(group_name())"
    return subprocess.check_output((sys.executable, "-c", code), text=True).strip()
