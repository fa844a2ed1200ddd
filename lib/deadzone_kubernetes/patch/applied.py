"""The recommended setting in the cluster that was swept: the command that applies it, and what the
cluster makes of it then."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deadzone.language.messages import N_, join, say
from deadzone.plugins import Level, Message, RunFolder, TableError, _
from deadzone.report.document.display import Block, CommandBlock, Prose
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.recommended import Usage, recommended_levels, usage
from deadzone_kubernetes.patch import manifest

TOLERANCE = 0.1
"""So far from its goal a HorizontalPodAutoscaler changes nothing (Kubernetes documentation,
"Horizontal Pod Autoscaling", "Algorithm details"; the default of
--horizontal-pod-autoscaler-tolerance)."""

VERTICAL = "VerticalPodAutoscaler"


@dataclass(frozen=True)
class Application:
    """command: applies a setting to the container that a run swept. consequences: what to know of
    it there."""

    command: str
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
    kind, _, name = where.workload.partition("/")
    change = json.dumps({"spec": document["spec"]}, separators=(",", ":"))
    command = f"kubectl -n {where.namespace} patch {kind} {name} -p '{change}'"
    return Application(command, tuple(consequences(analysis.source.provenance, document, used)))


def applied(analysis: Analysis) -> list[Block]:
    """The command and what follows from it, as blocks of a report; nothing where there is no
    command."""
    how = application(analysis)
    if how is None:
        return []
    blocks: list[Block] = [CommandBlock((how.command,), _("Apply it"))]
    return [*blocks, Prose(how.consequences)] if how.consequences else blocks


def consequences(
    provenance: Mapping[str, Any], document: Mapping[str, Any], used: Usage
) -> list[Message]:
    """For how many pods a setting was measured, and what the workload's autoscalers do once it is
    in force.

    document: the patch. used: the CPU that the container used at the setting.
    """
    at_level = provenance.get("pods_at_level") or []
    several = (
        [_("The setting is for one pod; {n} pods were at it at once.", n=len(at_level))]
        if len(at_level) > 1
        else []
    )
    (container,) = document["spec"]["template"]["spec"]["containers"]
    request = int(container["resources"]["requests"]["cpu"].removesuffix("m")) / 1000
    pods = int(provenance.get("replicas") or 1)
    scalers = provenance.get("autoscalers") or []
    effects = (join(list(_effect(scaler, request, used, pods))) for scaler in scalers)
    return [*several, *filter(str, effects)]


def _effect(scaler: Mapping[str, Any], request: float, used: Usage, pods: int) -> Iterator[Message]:
    """What an autoscaler does at a CPU request [cores], under the load of the trials.

    A horizontal one makes as many pods as bring the share of the request that is used to its goal.
    """
    who = {"kind": scaler["kind"], "name": scaler["name"]}
    if scaler["kind"] == VERTICAL:
        if scaler["mode"] != "Off":
            yield say(
                N_(
                    "{kind} {name} sets the CPU request itself, and the limit in proportion, so "
                    "this setting does not last. Switch it off (updateMode: Off), or let it set "
                    "requests alone (controlledValues: RequestsOnly)."
                )
                if scaler["sets_limits"]
                else N_(
                    "{kind} {name} sets the CPU request itself: it keeps the limit of this "
                    "setting, and overwrites its request."
                ),
                **who,
            )
        return
    if (goal := scaler["cpu_share"]) is not None:
        share = used.mean_cores / request
        wanted = pods if abs(share / goal - 1) <= TOLERANCE else math.ceil(pods * share / goal)
        makes = min(max(wanted, scaler["pods_min"]), scaler["pods_max"])
        text = (
            N_(
                "{kind} {name} keeps the CPU used at {goal:.0f} % of the request, with {least} to "
                "{most} pods. At this setting a pod uses {cores:.2f} of {request:.2f} cores "
                "requested: under the load of the trials it leaves the number of pods at {pods}."
            )
            if makes == pods
            else N_(
                "{kind} {name} keeps the CPU used at {goal:.0f} % of the request, with {least} to "
                "{most} pods. At this setting a pod uses {cores:.2f} of {request:.2f} cores "
                "requested: under the load of the trials it goes from {pods} to {makes} pods."
            )
        )
        shown = {"cores": used.mean_cores, "request": request, "goal": 100 * goal, "pods": pods}
        ends = {"least": scaler["pods_min"], "most": scaler["pods_max"], "makes": makes}
        yield say(text, **who, **shown, **ends)
    if scaler["goes_by"]:
        yield _(
            "{kind} {name} goes by {what}, which no trial measured.",
            **who,
            what=", ".join(scaler["goes_by"]),
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
    comments += map(str, consequences(analysis.source.provenance, document, used))
    return manifest.manifest(document, comments)
