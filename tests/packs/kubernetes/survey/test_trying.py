import pytest

from deadzone_kubernetes.survey.trying import _ends_pods_first
from deadzone_kubernetes.workload import KubernetesWorkload


@pytest.mark.parametrize(
    ("kind", "replicas", "unavailable", "ends_first"),
    [
        ("deployment", 1, "25%", False),
        ("deployment", 4, "25%", True),
        ("deployment", 2, "50%", True),
        ("deployment", 2, 0, False),
        ("deployment", 3, None, True),  # Recreate
        ("statefulset", 3, None, True),
    ],
)
def test_which_rollouts_end_pods_first(kind, replicas, unavailable, ends_first):
    rolling = {"maxUnavailable": unavailable, "maxSurge": "25%"}
    strategy = {"strategy": {} if unavailable is None else {"rollingUpdate": rolling}}
    manifest = {"spec": {"replicas": replicas, **strategy}}
    assert _ends_pods_first(KubernetesWorkload(None, kind, "shop", "api"), manifest) == ends_first
