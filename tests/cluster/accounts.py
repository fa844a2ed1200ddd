"""The account of deploy/rbac.yaml in a namespace of a test, and a kubeconfig that is its."""

from pathlib import Path
from typing import Any

import yaml
from administering import Manifest

RBAC = Path(__file__).resolve().parents[2] / "deploy" / "rbac.yaml"

ACCOUNT = "deadzone"


def rules_of_the_account(namespace: str, without: tuple[str, str] | None = None) -> list[Manifest]:
    """What deploy/rbac.yaml makes, for this namespace; without: a resource and its missing verb."""
    documents = []
    for document in yaml.safe_load_all(RBAC.read_text()):
        if is_cluster_wide(document):
            document["metadata"]["name"] += f"-{namespace}"
        else:
            document["metadata"]["namespace"] = namespace
        if "roleRef" in document and is_cluster_wide(document):
            document["roleRef"]["name"] += f"-{namespace}"
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
        for rule in document.get("rules", ()):
            if without and without[0] in rule["resources"]:
                rule["verbs"] = [verb for verb in rule["verbs"] if verb != without[1]]
        if "rules" in document:
            document["rules"] = [rule for rule in document["rules"] if rule["verbs"]]
        documents.append(document)
    return documents


def is_cluster_wide(document: Manifest) -> bool:
    return bool(document["kind"].startswith("Cluster"))


def kubeconfig_with(administrators: Path, token: str = "", **of_the_cluster: Any) -> str:
    """The administrator's kubeconfig with another token, if one is given, and with other keys of
    the cluster, such as `server`."""
    config = yaml.safe_load(administrators.read_text())
    for user in config["users"] if token else ():
        user["user"] = {"token": token}
    for one in config["clusters"]:
        one["cluster"] |= of_the_cluster
    return str(yaml.safe_dump(config))
