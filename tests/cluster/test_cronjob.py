import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from disturbance import NO_DOUBTS

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.alone("it sweeps a pod from another pod, which takes both cores"),
]

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"

LONGEST_S = 420.0
"""A sweep of six trials and a report take a minute on two idle cores."""

STUDY = {
    "study": "encoder-cpu-limit",
    "workload": {"kind": "command",
                 "argv": [*("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi"),
                          *("-i", "testsrc2=duration=10:size=320x240", "-f", "null", "-")]},
    "factors": {"cpu_limit": [0.2, 0.4, 0.8]},
    "design": {"replicates": 2, "warmup": 0, "seed": 7, "timeout_s": 60}, "trust": NO_DOUBTS,
}  # fmt: skip


def volume(folder: Path, namespace: str) -> dict[str, Any]:
    """A folder of this machine, as the volume that the claim in deploy/ finds."""
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    spec = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": str(folder)},
        "claimRef": {"namespace": namespace, "name": "deadzone"},
    }
    metadata = {"name": namespace}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def manifests(namespace: str, image: str) -> list[dict[str, Any]]:
    """What `kubectl apply -k deploy` makes, with the test's namespace, study and image."""
    said = subprocess.check_output(("kubectl", "kustomize", str(DEPLOY)), text=True)
    text = said.replace("namespace: deadzone\n", f"namespace: {namespace}\n")
    # not namespaced, so named after the test
    text = text.replace("deadzone-nodes", f"{namespace}-nodes")
    listed = [one for one in yaml.safe_load_all(text) if one["kind"] != "Namespace"]
    for one in listed:
        if one["kind"] == "ConfigMap":
            target = yaml.safe_load(one["data"]["study.yaml"])["target"]
            study = {**STUDY, "target": {**target, "namespace": namespace}}
            one["data"]["study.yaml"] = json.dumps(study)
        if one["kind"] == "CronJob":
            (container,) = one["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
            container.update(image=image, imagePullPolicy="Never")
            one["spec"]["suspend"] = True  # only the Job that the test makes from it runs
    return listed


@pytest.fixture
def installed(own_cluster, namespace, project_image, deployment, tmp_path):
    """The manifests applied, and the encoder that they sweep; returns the folder of the volume."""
    folder = tmp_path / "volume"
    listed = [volume(folder, namespace), *manifests(namespace, project_image)]
    own_cluster.apply(*listed)
    deployment("encoder", cpu_limit="1", annotations={"deadzone.dev/sweep": "allowed"})
    yield folder
    for one in listed:
        if "namespace" not in one["metadata"]:
            own_cluster.kubectl("delete", one["kind"], one["metadata"]["name"], "--wait=false")


def test_the_cronjob_run_once_sweeps_the_encoder_and_leaves_a_report(
    installed, own_cluster, namespace
):
    where = ("--namespace", namespace)
    before = own_cluster.get("deployment", "encoder", *where)["spec"]["template"]["spec"]
    own_cluster.kubectl("create", "job", "--from=cronjob/deadzone", "once", *where)

    def ended() -> dict[str, Any] | None:
        status = own_cluster.get("job", "once", *where)["status"]
        return status if status.get("succeeded") or status.get("failed") else None

    status = own_cluster.wait_for(ended, "the end of the Job", LONGEST_S)
    said = own_cluster.kubectl("logs", "job/once", *where)
    assert status.get("succeeded"), said

    (journal,) = (installed / "runs").glob("encoder-cpu-limit/*/trials.jsonl")
    trials = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [trial["status"] for trial in trials] == ["ok"] * 6
    report = installed / "reports" / "encoder-cpu-limit" / journal.parent.name
    pages = {path.suffix for path in report.iterdir()}
    assert {".html", ".pdf", ".ipynb"} <= pages, sorted(report.iterdir())

    after = own_cluster.get("deployment", "encoder", *where)
    assert after["spec"]["template"]["spec"] == before
    assert not [name for name in after["metadata"]["annotations"] if "original" in name]
