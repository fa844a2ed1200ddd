"""The table of mechanisms and the study's choice of them name the same things."""

from typing import get_args

from deadzone.run.targets.local import MECHANISMS, QUOTA_MECHANISMS
from deadzone.study.target_specs import LocalTargetSpec


def test_a_study_can_name_every_mechanism_and_no_other():
    named = get_args(LocalTargetSpec.model_fields["mechanism"].annotation)
    assert set(named) - {"auto"} == set(MECHANISMS)
    assert all(MECHANISMS[name].name == name for name in MECHANISMS)


def test_a_quota_is_preferred_to_its_emulation_and_that_to_no_limit():
    order = list(MECHANISMS)
    assert (
        max(order.index(name) for name in QUOTA_MECHANISMS)
        < order.index("emulated")
        < order.index("unlimited")
    )
