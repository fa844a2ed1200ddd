"""What is kept in an annotation, and what is read back from it."""

import json

import pytest

from deadzone.errors import TargetError
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.lease.giving_back import ANNOTATION, Original, kept

pytestmark = pytest.mark.kept

HAD = {"limits.cpu": "1", "requests.cpu": "50m"}

POD = {"metadata": {"name": "w-1", "uid": "u-1"}}


def original() -> Original:
    return Original(
        "ffmpeg", Resources(HAD), "run-1", "2026-01-01T00:00:00+00:00", "/tmp/deadzone-1"
    )


def test_it_survives_the_way_through_an_annotation():
    before = original().with_pod(POD, Resources(HAD))
    of_version_0_2 = json.dumps({**json.loads(before.dumps()), "manager": "deadzone"})
    for text in (before.dumps(), of_version_0_2):
        found = {"metadata": {"annotations": {ANNOTATION: text}}}
        assert kept(found, "deployment/w") == before


def test_owners_by_object_as_an_earlier_version_wrote_them_are_read():
    scaler, of_it = "HorizontalPodAutoscaler/w", [["spec", "minReplicas"], {"manager": "helm"}]
    of_pods = [["spec", "template"], {"manager": "argocd"}]
    earlier = {"owned": {"deployment/w": [of_pods], scaler: [of_it]}, "autoscalers": {scaler: [1]}}
    text = json.dumps({**json.loads(original().dumps()), **earlier})
    read = Original.loads(text, "deployment/w")
    assert read.owned == [of_pods] and read.autoscalers == {scaler: ([1], [of_it])}


def test_the_first_entry_of_a_pod_stays():
    first = original().with_pod(POD, Resources(HAD))
    assert first.with_pod(POD, Resources({**HAD, "limits.cpu": "300m"})) == first


def test_without_an_annotation_there_is_nothing_to_give_back():
    assert kept({"metadata": {}}, "deployment/w") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pods": [1]}', "null"])
def test_a_damaged_annotation_is_refused_with_what_it_says(text):
    with pytest.raises(TargetError, match="cannot be read, so what it had before is not known"):
        kept({"metadata": {"annotations": {ANNOTATION: text}}}, "deployment/w")
