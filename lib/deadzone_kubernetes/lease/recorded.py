"""What killed sweeps left in the clusters of recorded runs, given back."""

from collections.abc import Callable, Iterator, Sequence

import yaml

from deadzone import places
from deadzone.store.run import STUDY_FILE
from deadzone_kubernetes.api.cluster import is_configured
from deadzone_kubernetes.lease.restoring import Restored, restore_reachable


def restore_clusters(
    context: str | None, namespaces: Sequence[str], note: Callable[[str], None]
) -> list[Restored]:
    """What was given back in each cluster that is asked for, or that a recorded run swept; nothing
    where no cluster is named, as on most machines. context: of the kubeconfig. namespaces: those to
    look in; empty for all. note: is told what takes a while."""
    if not is_configured():
        return []
    clusters = _clusters(context, tuple(namespaces)).items()
    return [restore_reachable(name, note, known, only=bool(namespaces)) for name, known in clusters]


def _clusters(context: str | None, namespaces: tuple[str, ...]) -> dict[str | None, list[str]]:
    """Contexts to look at, each with the namespaces asked for, else with those of recorded runs to
    fall back to."""
    clusters: dict[str | None, list[str]] = {context: list(namespaces)}
    for recorded, namespace in _recorded():
        if context in (None, recorded):
            clusters.setdefault(recorded, list(namespaces)).extend(
                () if namespaces else (namespace,)
            )
    return {name: list(dict.fromkeys(known)) for name, known in clusters.items()}


def _recorded() -> Iterator[tuple[str | None, str]]:
    """Context and namespace of each target in a cluster of a recorded run, those of its
    environments too."""
    for path in sorted(places.runs_folder().glob(f"*/*/{STUDY_FILE}")):
        try:
            text = path.read_text(encoding="utf-8")
            study = yaml.safe_load(text) if "kind: kubernetes" in text else {}
            environments = (study.get("environments") or {}).values()
            targets = [
                study.get("target"),
                *(environment.get("target") for environment in environments),
            ]
        except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError, AttributeError):
            continue
        for target in targets:
            if isinstance(target, dict) and target.get("kind") == "kubernetes":
                yield target.get("context"), target.get("namespace") or "default"
