"""Room for the revisions of a sweep, and the owner's limit given back."""

import pytest

from deadzone_kubernetes.lease.history import limit_back, room_for

pytestmark = pytest.mark.kept

OURS = [{"manager": "deadzone", "fieldsV1": {"f:spec": {"f:revisionHistoryLimit": {}}}}]


def test_the_limit_is_raised_only_where_revisions_would_be_pushed_out():
    assert room_for({"limit": 10, "revisions": {}}, 5) == {}
    assert room_for({"limit": None, "revisions": {"a": 1, "b": 2}}, 11) == {
        "revisionHistoryLimit": 15
    }
    assert room_for({"limit": 0, "revisions": {"a": 1}}, 2) == {"revisionHistoryLimit": 5}


def test_the_owners_limit_comes_back_but_not_over_a_new_one():
    raised = {"metadata": {"managedFields": OURS}, "spec": {"revisionHistoryLimit": 15}}
    assert limit_back(raised, {"limit": 2}) == {"spec": {"revisionHistoryLimit": 2}}
    assert limit_back(raised, {"limit": 15}) is None
    theirs = {**raised, "metadata": {"managedFields": [{**OURS[0], "manager": "kubectl-edit"}]}}
    assert limit_back(theirs, {"limit": 2}) is None
