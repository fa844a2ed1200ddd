"""The recommended setting in the cluster that was swept: what applies it for good, which follows
from who owns the limit, and what the cluster makes of it then."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from deadzone.plugins import Level, Message, RunFolder, TableError, _
from deadzone.report.document.display import Block, CommandBlock, Prose
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.recommended import Usage, recommended_levels, usage
from deadzone_kubernetes.patch import manifest

VERTICAL = "VerticalPodAutoscaler"


@dataclass(frozen=True)
class Application:
    """lines: the command that applies a setting to the container that a run swept, or what its
    owner's manifest is to have. consequences: what to know of it there."""

    lines: tuple[str, ...]
    consequences: tuple[Message, ...]


def application(analysis: Analysis) -> Application | None:
    """How the recommended setting is applied; None where the run swept no container, or recommends
    nothing."""
    where = manifest.swept_container(analysis.source.provenance)
    if (
        analysis.stopped
        or analysis.advice is None
        or analysis.source.folder is None
        or not where.container
    ):
        return None
    try:
        levels = recommended_levels(analysis)
        used = usage(RunFolder(analysis.source.folder), levels, analysis.source.analysed)
        document = manifest.patch(
            analysis, levels, used, manifest.destination(analysis, None, None, None)
        )
    except TableError:
        return None
    change, provenance = {"spec": document["spec"]}, analysis.source.provenance
    patch = json.dumps(change, separators=(",", ":"))
    lines = (
        yaml.safe_dump(change, sort_keys=False).splitlines()
        if provenance.get("applied_by")
        else [f"{_kubectl_patch(where)} -p '{patch}'"]
    )
    return Application(tuple(lines), tuple(consequences(provenance, document, used)))


def _kubectl_patch(where: manifest.Destination) -> str:
    kind, _, name = where.workload.partition("/")
    namespace = f" -n {where.namespace}" if where.namespace else ""
    return f"kubectl{namespace} patch {kind} {name}"


def applied(analysis: Analysis) -> list[Block]:
    """The command and what follows from it, as blocks of a report; nothing where there is no
    command."""
    how = application(analysis)
    if how is None:
        return []
    blocks: list[Block] = [CommandBlock(how.lines, _("Apply it"))]
    return [*blocks, Prose(how.consequences)] if how.consequences else blocks


def consequences(
    provenance: Mapping[str, Any], document: Mapping[str, Any], used: Usage
) -> list[Message]:
    """In whose manifest a setting belongs, for how many pods it was measured, and what the
    workload's autoscalers do once it is in force.

    document: the patch. used: the CPU that the container used at the setting.
    """
    owner, at_level = provenance.get("applied_by"), provenance.get("pods_at_level") or []
    of_owner = (
        [
            _(
                "{manager} applies the manifest of {workload}: change the limits and requests "
                "there. A `kubectl patch` lasts until it is applied again.",
                manager=owner,
                workload=manifest.swept_container(provenance).workload,
            )
        ]
        if owner
        else []
    )
    several = (
        [_("The setting is for one pod; {n} pods were at it at once.", n=len(at_level))]
        if len(at_level) > 1
        else []
    )
    (container,) = document["spec"]["template"]["spec"]["containers"]
    request = int(container["resources"]["requests"]["cpu"].removesuffix("m")) / 1000
    effects = [_effect(scaler, request, used) for scaler in provenance.get("autoscalers") or []]
    return [*of_owner, *several, *effects]


def _effect(scaler: Mapping[str, Any], request: float, used: Usage) -> Message:
    """What an autoscaler does at a CPU request [cores], which it was not asked for in the
    trials."""
    who = {"kind": scaler["kind"], "name": scaler["name"]}
    if scaler["kind"] == VERTICAL:
        return _(
            "{kind} {name} sets the CPU request itself, and the limit in proportion, so this "
            "setting does not last. Switch it off (updateMode: Off), or let it set requests alone "
            "(controlledValues: RequestsOnly).",
            **who,
        )
    return _(
        "{kind} {name} changes the number of pods. If it goes by a share of the CPU request, that "
        "is of {request:.2f} cores now; a pod used {cores:.2f} under the load of the trials.",
        **who,
        request=request,
        cores=used.mean_cores,
    )


def printed(
    analysis: Analysis,
    levels: Mapping[str, Level],
    used: Usage,
    *,
    workload: str | None,
    container: str | None,
    namespace: str | None,
    percentile: int,
    variables: Mapping[str, str],
    as_json: bool,
) -> str:
    """What `deadzone recommend --manifest` prints: the patch, with what is to be known of it as
    comments, or as JSON alone."""
    where = manifest.destination(analysis, workload, container, namespace)
    document = manifest.patch(
        analysis, levels, used, where, percentile=percentile, variables=variables
    )
    if as_json:
        return json.dumps(document) + "\n"
    comments = manifest.comments(analysis, levels, used, percentile, document)
    provenance = analysis.source.provenance
    comments += map(str, consequences(provenance, document, used))
    if not provenance.get("applied_by"):
        comments.append(f"apply: {_kubectl_patch(where)} --patch-file FILE")
    return manifest.manifest(document, comments)
