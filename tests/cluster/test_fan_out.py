"""Trials of one study on two nodes at once, at most one on each, and which node ran which."""

from datetime import datetime, timedelta

import pytest
from sweeping import SLEEP, job_target

pytestmark = [pytest.mark.cluster, pytest.mark.alone("it takes a node away from the cluster")]

LENGTH_S = 4


@pytest.fixture
def trials(second_node, namespace, ffmpeg_image, write_study, sweep):
    """Four trials, two at a time, of a program that takes some seconds."""
    study = write_study(
        argv=SLEEP,
        target=job_target(namespace, ffmpeg_image, job={"parallelism": 2, "one_a_node": True}),
        factors={"seconds": [LENGTH_S], "cpu_limit": [0.2, 0.3]},
        replicates=2,
    )
    return sweep(study).trials().sort_values("started_at")


def test_two_nodes_work_at_once_and_never_two_trials_on_one(trials, second_node):
    assert set(trials["status"]) == {"ok"}
    assert trials["node"].nunique() == 2
    assert second_node in set(trials["node"])
    begun = [datetime.fromisoformat(text) for text in trials["started_at"]]
    ended = [
        start + timedelta(seconds=wall) for start, wall in zip(begun, trials["wall_s"], strict=True)
    ]
    spans = list(zip(trials["node"], begun, ended, strict=True))
    overlapping = [
        (one[0], other[0])
        for number, one in enumerate(spans)
        for other in spans[number + 1 :]
        if one[1] < other[2] and other[1] < one[2]
    ]
    assert overlapping
    assert all(first != second for first, second in overlapping)
