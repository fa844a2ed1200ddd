import pytest
from sweeping import ALLOWED, target

from deadzone_services.attribution.attributing import attribute

pytestmark = [pytest.mark.cluster, pytest.mark.alone("it measures response times under a limit")]

PORT = 8080


@pytest.fixture
def uploads(own_cluster, namespace, project_image, deployment):
    """The bundled upload service in a pod, behind a port of the node; returns its address."""
    program = "/opt/deadzone/notebooks/studies/programs/upload_service.py"
    argv = ["python", program, "--host", "0.0.0.0", "--port", str(PORT), "--folder", "/tmp"]
    deployment(
        "uploads", image=project_image, annotations=ALLOWED, command=argv, imagePullPolicy="Never"
    )
    return own_cluster.expose(namespace, "uploads", PORT)


def test_a_limit_makes_it_slow_and_the_verdict_says_so(
    uploads, namespace, own_cluster, write_study, sweep
):
    def pod(limit):
        return {"target": target(namespace, "uploads", cpu_limit=limit), "url": uploads}

    found = ("deployment", "uploads", "--namespace", namespace)
    before = own_cluster.get(*found)["spec"]["template"]["spec"]
    path = write_study(
        service={"ready": {"path": "/health"}},
        factors={},
        environments={"limited": pod(0.25), "unlimited": pod("none")},
        workload={
            "kind": "http",
            "url": "{service_url}/frames",
            "form": {"video": {"file": "{clip}", "content_type": "video/mp4"}},
            "clip": {"duration_s": 1, "width": 320, "height": 240},
            "answer": {"status": [200], "json_path": "frames"},
        },
        design={"replicates": 5, "warmup": 1, "seed": 7, "timeout_s": 120},
        response={"name": "total_s", "unit": "s", "goal": "min"},
    )
    run = sweep(path)
    trials = run.trials()
    assert (trials["status"] == "ok").all(), trials["error"].tolist()
    limited = trials[trials["environment"] == "limited"]
    free = trials[trials["environment"] == "unlimited"]
    assert (limited["nr_throttled"] > 0).all()
    assert (free["throttled_s"].fillna(0) == 0).all()
    assert limited["total_s"].median() > 2 * free["total_s"].median()

    tested = attribute(str(run.folder)).hypotheses.set_index("hypothesis")
    assert tested.loc["cpu_limit", "verdict"] == "confirmed", tested.to_string()

    after = own_cluster.get(*found)
    assert after["spec"]["template"]["spec"] == before
    assert not [name for name in after["metadata"]["annotations"] if "original" in name]
