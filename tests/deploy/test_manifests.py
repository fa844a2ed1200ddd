import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from needs import needs

from deadzone.errors import EXIT_MOVED
from deadzone.study.loading import load_study

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@pytest.fixture(scope="module")
def rendered() -> dict[tuple[str, str], dict[str, Any]]:
    """Objects by kind and name, as `kubectl apply -k deploy` would make them."""
    needs("kubectl")
    said = subprocess.check_output(("kubectl", "kustomize", str(DEPLOY)), text=True)
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(said)}


def one(rendered: dict[tuple[str, str], dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [document for (its_kind, _), document in rendered.items() if its_kind == kind]
    return found


def test_everything_namespaced_is_in_the_namespace_that_is_made(rendered):
    name = one(rendered, "Namespace")["metadata"]["name"]
    homeless = {"Namespace", "ClusterRole", "ClusterRoleBinding"}
    for (kind, _), document in rendered.items():
        assert kind in homeless or document["metadata"]["namespace"] == name, kind


def test_the_cronjob_runs_the_study_with_the_account_that_has_the_role(rendered):
    pod = one(rendered, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    account = one(rendered, "ServiceAccount")["metadata"]
    assert pod["serviceAccountName"] == account["name"]
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        (subject,) = one(rendered, kind)["subjects"]
        assert (subject["name"], subject["namespace"]) == (account["name"], account["namespace"])
    study = next(volume for volume in pod["volumes"] if volume["name"] == "study")
    assert ("ConfigMap", study["configMap"]["name"]) in rendered
    (container,) = pod["containers"]
    assert container["args"][0] == "run"
    assert Path(container["args"][1]).parent == Path("/etc/deadzone")
    assert container["image"].startswith("registry.example.com/")


def test_two_runs_never_measure_each_other_and_none_is_repeated_blindly(rendered):
    spec = one(rendered, "CronJob")["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["jobTemplate"]["spec"]["backoffLimit"] == 0


def test_the_role_has_no_wildcard_and_reads_no_secret(rendered):
    for kind in ("Role", "ClusterRole"):
        for rule in one(rendered, kind)["rules"]:
            listed = {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}
            assert not listed & {"*", "secrets", "nodes/proxy", "escalate", "bind", "impersonate"}


def test_the_study_in_it_is_valid():
    assert load_study(DEPLOY / "study.yaml").study == "encoder-cpu-limit"


def test_the_workflow_calls_what_the_repository_has():
    workflow = yaml.safe_load((DEPLOY / "github-actions.yaml").read_text())
    steps = workflow["jobs"]["sweep"]["steps"]
    assert any(step.get("run") == "sh scripts/setup requirements.lock" for step in steps)
    assert (DEPLOY.parent / "scripts" / "setup").is_file()
    assert any(f"-eq {EXIT_MOVED}" in step.get("run", "") for step in steps)
    assert workflow[True]["schedule"], "YAML reads the key `on` as true"
