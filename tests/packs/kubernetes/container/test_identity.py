import copy

import pytest

from deadzone_kubernetes.container.trial import identity
from deadzone_kubernetes.workload import KubernetesWorkload

WORKLOAD = KubernetesWorkload(None, "deployment", "shop", "burner")

CONTAINERS = [
    {"name": "main", "image": "spin:2.0", "env": [{"name": "TOKEN", "value": "secret"}],
     "resources": {"limits": {"cpu": "1", "memory": "96Mi"}}},
    {"name": "proxy", "image": "proxy:1", "resources": {"limits": {"cpu": "100m"}}},
]  # fmt: skip
TEMPLATE = {"metadata": {"labels": {"svc": "burner"}}, "spec": {"containers": CONTAINERS}}
MANIFEST = {"spec": {"replicas": 2, "template": TEMPLATE}}
RUNNING = [{"name": "main", "imageID": "sha256:20"}, {"name": "proxy", "image": "proxy:1"}]
POD = {"status": {"containerStatuses": RUNNING}}


def known(change=lambda manifest, main, pod: None):
    manifest, pod = copy.deepcopy(MANIFEST), copy.deepcopy(POD)
    change(manifest["spec"], manifest["spec"]["template"]["spec"]["containers"][0], pod)
    return identity(WORKLOAD, manifest, pod, "main", {"limits.cpu"})


def restarted(spec, main, pod):
    spec["template"]["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "now"}
    main["resources"]["limits"]["cpu"] = "2"


def test_a_restart_and_the_swept_limit_are_no_other_workload():
    assert known(restarted) == known()
    assert known()["image of main"] == "sha256:20"
    assert known()["resources of proxy"] == "limits.cpu 100m"
    assert "secret" not in str(known())


@pytest.mark.parametrize(
    ("name", "change"),
    [("image of main", lambda spec, main, pod: pod["status"].update(containerStatuses=[])),
     ("env of main", lambda spec, main, pod: main["env"].clear()),
     ("resources of main", lambda spec, main, pod: main["resources"]["limits"].pop("memory")),
     ("replicas", lambda spec, main, pod: spec.update(replicas=3)),
     ("pod template", lambda spec, main, pod: spec["template"]["spec"].update(hostIPC=True))],
)  # fmt: skip
def test_what_an_owner_changes_is_named(name, change):
    before, after = known(), known(change)
    assert name in {key for key in {**before, **after} if before.get(key) != after.get(key)}
