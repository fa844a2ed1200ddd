from deadzone.study.design import Limits
from deadzone_kubernetes.job_target import manifest
from deadzone_kubernetes.specs import KubernetesTargetSpec


def test_a_queue_and_the_rest_of_the_pod_are_as_the_study_says():
    job = {
        "image": "image:1", "queue": "team", "one_a_node": True, "service_account": "runner",
        "tolerations": [{"operator": "Exists"}], "node_selector": {"disk": "fast"},
        "memory": "256Mi", "cpu_request": 0.1,
        "volumes": [{"name": "clips", "persistentVolumeClaim": {"claimName": "clips"}}],
        "volume_mounts": [{"name": "clips", "mountPath": "/clips"}],
    }  # fmt: skip
    spec = KubernetesTargetSpec(kind="kubernetes", mode="job", namespace="shop", job=job)
    made = manifest(spec, "deadzone-1", "a run/with:signs", "lock", Limits(0.5, *3 * ["unchanged"]))
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team"
    pod = made["spec"]["template"]["spec"]
    limits, requests = {"cpu": "500m", "memory": "256Mi"}, {"cpu": "100m", "memory": "256Mi"}
    assert pod["containers"][0]["resources"] == {"limits": limits, "requests": requests}
    assert pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert pod["serviceAccountName"] == "runner"
    assert pod["restartPolicy"] == "Never"
    assert made["spec"]["backoffLimit"] == 0
