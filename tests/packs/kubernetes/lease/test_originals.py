import json
from dataclasses import replace

import pytest

from deadzone.errors import TargetError
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.lease.giving_back import ANNOTATION, Original, kept

pytestmark = pytest.mark.kept

HAD = {"limits.cpu": "1", "requests.cpu": "50m"}

POD = {"metadata": {"name": "w-1", "uid": "u-1"}}


def original() -> Original:
    return Original("ffmpeg", Resources(HAD), "run-1", "/tmp/deadzone-1")


def test_it_survives_the_way_through_an_annotation():
    before = original().with_pod(POD, Resources(HAD))
    of_version_0_2 = json.dumps({**json.loads(before.dumps()), "started_at": "2026-01-01T00:00"})
    for text in (before.dumps(), of_version_0_2):
        found = {"metadata": {"annotations": {ANNOTATION: text}}}
        assert kept(found, "deployment/w") == before


def test_owners_and_autoscalers_survive_it_too():
    of_it = (("spec", "minReplicas"), {"manager": "helm", "operation": "Update"})
    before = replace(original(), owned=[of_it], autoscalers={"HPA/w": ([1, 4], [of_it])})
    assert kept({"metadata": {"annotations": {ANNOTATION: before.dumps()}}}, "w") == before


def test_the_first_entry_of_a_pod_stays():
    first = original().with_pod(POD, Resources(HAD))
    assert first.with_pod(POD, Resources({**HAD, "limits.cpu": "300m"})) == first


def test_without_an_annotation_there_is_nothing_to_give_back():
    assert kept({"metadata": {}}, "deployment/w") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pods": [1]}', "null"])
def test_a_damaged_annotation_is_refused_with_what_it_says(text):
    with pytest.raises(TargetError, match="cannot be read, so what it had before is not known"):
        kept({"metadata": {"annotations": {ANNOTATION: text}}}, "deployment/w")
