"""`deadzone restore`: put back what an interrupted run left changed, on this machine and in clusters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from deadzone.errors import NotGivenBackError, TargetError
from deadzone.visible import visible

if TYPE_CHECKING:
    from deadzone_kubernetes.restoring import Restored


@click.command("restore")
@click.option(
    "--context", help="Context of the kubeconfig; default the current one, and those of recorded runs."
)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    multiple=True,
    help="Look in this namespace of the cluster only; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(context: str | None, namespaces: tuple[str, ...], as_json: bool) -> None:
    """Remove control groups, containers and scratch folders of runs that were killed, with whatever still runs in
    them; give back the limits and settings that a killed run left changed here, and the resources of every workload that a killed sweep left changed in a cluster."""
    from deadzone.run.targets.container import remove_left_containers
    from deadzone.run.targets.promises import keep_left_over, remove_leftovers

    done, problems = keep_left_over()
    removed = [*map(str, remove_leftovers()), *remove_left_containers()]
    clusters = _clusters(context, namespaces).items()
    found = [_restored(name, known, bool(namespaces)) for name, known in clusters]
    busy = [said for one in found for said in one.busy]
    for one in found:
        done += one.done
        problems += one.problems
    if as_json:
        found_out = {"removed": removed, "restored": done, "left_alone": busy, "problems": problems}
        click.echo(json.dumps(found_out))
    else:
        said = [*(f"removed {path}" for path in removed), *(f"restored {what}" for what in done)]
        click.echo(visible("\n".join(said)) or "Nothing was left over.")
        for sentence in busy:
            click.echo(f"left alone: {visible(sentence)}", err=True)
    if problems:
        kind = NotGivenBackError if any(one.is_left for one in found) else TargetError
        raise kind("\n".join(problems))


def _clusters(context: str | None, namespaces: tuple[str, ...]) -> dict[str | None, list[str]]:
    """Contexts to look at, each with the namespaces asked for, else with those of recorded runs to fall back to."""
    found: dict[str | None, list[str]] = {context: list(namespaces)}
    for recorded, namespace in _recorded():
        if context in (None, recorded):
            found.setdefault(recorded, list(namespaces)).extend(() if namespaces else (namespace,))
    return {name: list(dict.fromkeys(known)) for name, known in found.items()}


def _recorded() -> Iterator[tuple[str | None, str]]:
    """Context and namespace of each target in a cluster of a recorded run, those of its environments too."""
    import yaml

    from deadzone import places
    from deadzone.store.run import STUDY_FILE

    for path in sorted(places.runs_folder().glob(f"*/*/{STUDY_FILE}")):
        try:
            text = path.read_text(encoding="utf-8")
            study = yaml.safe_load(text) if "kind: kubernetes" in text else {}
            environments = (study.get("environments") or {}).values()
            targets = [study.get("target"), *(one.get("target") for one in environments)]
        except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError, AttributeError):
            continue
        for target in targets:
            if isinstance(target, dict) and target.get("kind") == "kubernetes":
                yield target.get("context"), target.get("namespace") or "default"


def _restored(context: str | None, namespaces: list[str], only: bool) -> Restored:
    """What was given back in a cluster; nothing where no cluster is named, as on most machines."""
    from deadzone_kubernetes.cluster import is_configured
    from deadzone_kubernetes.restoring import Restored, restore_reachable

    if not is_configured():
        return Restored()
    return restore_reachable(context, lambda sentence: click.echo(sentence, err=True), namespaces, only=only)
