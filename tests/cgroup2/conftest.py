"""The emulated machine, booted once for all stories."""

from typing import Any

import pytest
from machine import tell_stories
from machine_image import NotPossibleHere

Stories = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def stories(request: pytest.FixtureRequest) -> Stories:
    """What happened in the machine, by case; only the cases that the tests of this run ask for."""
    asked = [vars(item).get("callspec") for item in request.session.items]
    cases = {spec.params["case"] for spec in asked if spec}
    try:
        return tell_stories(cases if all(asked) else ())
    except NotPossibleHere as error:
        pytest.skip(
            f"no emulated machine: {error} (packages are listed in tests/cgroup2/packages.txt)"
        )
