"""Errors: each ends the command with a code that says what kind it is."""

from __future__ import annotations

import pytest

from deadzone import errors
from deadzone.errors import DeadzoneError, did_you_mean

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DeadzoneError)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_has_a_documented_exit_code(kind):
    assert kind.exit_code in (errors.EXIT_USAGE, errors.EXIT_STOPPED, errors.EXIT_UNAVAILABLE)
    assert kind.__doc__


def test_the_nearest_name_is_suggested_and_a_far_one_is_not():
    assert did_you_mean("replicate", ["warmup", "replicates"]) == " Did you mean 'replicates'?"
    assert did_you_mean("quux", ["warmup", "replicates"]) == ""
    assert did_you_mean("x", []) == ""
