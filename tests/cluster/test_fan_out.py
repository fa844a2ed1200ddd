from datetime import datetime, timedelta
from itertools import combinations

import pytest
from sweeping import SLEEP, job_target

pytestmark = [pytest.mark.cluster, pytest.mark.alone("it takes a node away from the cluster")]


def test_two_nodes_work_at_once_and_never_two_trials_on_one(
    second_node, namespace, ffmpeg_image, write_study, sweep
):
    study = write_study(
        argv=SLEEP,
        target=job_target(namespace, ffmpeg_image, job={"parallelism": 2, "one_a_node": True}),
        factors={"seconds": [4], "cpu_limit": [0.2, 0.3]},
        replicates=2,
    )
    trials = sweep(study).trials()
    assert set(trials["status"]) == {"ok"}
    assert trials["node"].nunique() == 2
    assert second_node in set(trials["node"])
    spans = []
    for trial in trials.to_dict("records"):
        begun = datetime.fromisoformat(trial["started_at"])
        spans.append((trial["node"], begun, begun + timedelta(seconds=trial["wall_s"])))
    overlapping = [
        (node, other)
        for (node, begun, ended), (other, its_begin, its_end) in combinations(spans, 2)
        if begun < its_end and its_begin < ended
    ]
    assert overlapping
    assert all(node != other for node, other in overlapping)
