"""From a recommendation to the patch that applies it: limit, request and thread count of a
container, in step.

The patch is a strategic merge patch (`kubectl patch --patch-file`, kustomize `patches`), never to
be applied by `kubectl apply`, which would take from its owner what it leaves out. A limit and a
thread count that are set in two places drift apart; here both come from one treatment of one run.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from deadzone.plugins import (
    NONE,
    UNCHANGED,
    Level,
    Message,
    TableError,
    _,
    fill,
    format_level,
    is_number,
    placeholders,
)
from deadzone.report.document.display import Block, CommandBlock, Prose
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.recommended import Usage, recommended_levels, usage
from deadzone.study.design import limits_of
from deadzone.study.target_spec import POD_LIMITS
from deadzone.study.workload_specs import CommandWorkloadSpec
from deadzone_kubernetes.container.resources import MEMORY, written

REQUEST_PERCENTILE = 90
"""Of the measured usage, which becomes the request."""

KINDS = {"deployment": "Deployment", "statefulset": "StatefulSet"}
"""Workloads whose pods a patch can change; the resources of a bare pod are changed in place
only."""

LEAST_REQUEST_MILLICORES = 10
"""Less than a hundredth of a core is nothing a scheduler can place by."""

MEMORY_REQUEST_BEFORE = "memory_request_before_bytes"
"""Where the provenance of a run has what the container asked for of memory, if it was swept."""

IN_NAMESPACE = " in the namespace "
"""Between a workload and its namespace in the provenance of a run."""


@dataclass(frozen=True)
class Destination:
    """The container that a patch is for. workload: KIND/NAME, such as deployment/encoder."""

    workload: str
    container: str
    namespace: str | None = None


def destination(
    analysis: Analysis, workload: str | None, container: str | None, namespace: str | None
) -> Destination:
    """Where a patch goes: as said, else the container that the run changed and entered.

    Raises TableError if workload or container are said nowhere, or the workload is of a kind that
    has no pod template.
    """
    swept = swept_container(analysis.source.provenance)
    workload, container = workload or swept.workload, container or swept.container
    namespace = namespace or swept.namespace
    if not workload or not container:
        raise TableError(
            "The run does not say which container its setting is for; name it: `--workload "
            "deployment/NAME --container NAME`, in Python `patch('deployment/NAME', 'NAME')`."
        )
    kind, _slash, name = workload.partition("/")
    if kind not in KINDS or not name:
        known = " or ".join(f"{known}/NAME" for known in KINDS)
        raise TableError(
            f"--workload {workload}: a patch is for a workload with a pod template: {known}."
        )
    return Destination(workload, container, namespace)


def swept_container(provenance: Mapping[str, Any]) -> Destination:
    """The container that a run says it swept; empty names where it says none."""
    workload, _in, namespace = str(provenance.get("workload") or "").partition(IN_NAMESPACE)
    if not namespace:
        return Destination("", "")
    return Destination(workload, str(provenance.get("container") or ""), namespace)


def patch(
    analysis: Analysis, levels: Mapping[str, Level], used: Usage, where: Destination
) -> dict[str, Any]:
    """The strategic merge patch as plain values."""
    source = analysis.source
    assert source.study is not None
    kind, _slash, name = where.workload.partition("/")
    limit = limits_of(source.study, levels).cpu_limit
    resources = _cpu(limit, levels.get("cpu_request", used.cores[REQUEST_PERCENTILE]))
    _add_memory(resources, levels, source.provenance.get(MEMORY_REQUEST_BEFORE))
    container: dict[str, Any] = {"name": where.container, "resources": resources}
    workload = source.study.workload
    variables = workload.env if isinstance(workload, CommandWorkloadSpec) else {}
    environment = [
        {"name": variable, "value": fill(text, levels)}
        for variable, text in variables.items()
        if placeholders(text) and set(placeholders(text)) <= set(levels)
    ]
    if environment:
        container["env"] = environment
    by = {"deadzone.dev/recommended-by": f"{source.study.study}/{source.run_id}"}
    metadata = {"name": name} | ({"namespace": where.namespace} if where.namespace else {})
    return {
        "apiVersion": "apps/v1",
        "kind": KINDS[kind],
        "metadata": {**metadata, "annotations": by},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def comments(
    analysis: Analysis, levels: Mapping[str, Level], used: Usage, document: Mapping[str, Any]
) -> list[str]:
    """What a reviewer of the patch must know: why this setting, where the request comes from, what
    is left to do."""
    source, advice = analysis.source, analysis.advice
    assert advice is not None and source.study is not None
    how = "readings during" if used.sampled else "the means of"
    share = "" if "cpu_request" in levels else f"request: {REQUEST_PERCENTILE}th percentile of the "
    amounts = ", ".join(f"p{n} {cores:.3g}" for n, cores in used.cores.items())
    lines = [
        f"{source.title or source.name}, run {source.run_id}",
        *str(advice.reason).splitlines(),
        *analysis.further(),
        f"{share}CPU used, from {how} {used.n_trials} trials ({amounts} cores)",
    ]
    limit = limits_of(source.study, levels).cpu_limit
    if limit == NONE:
        lines.append("limits.cpu: null removes the limit; the pod is Burstable then")
    if limit == UNCHANGED:
        lines.append("the study left the CPU limit as it was, and so does this patch")
    others = {name: level for name, level in levels.items() if name not in POD_LIMITS}
    if others and not document["spec"]["template"]["spec"]["containers"][0].get("env"):
        unset = ", ".join(f"{name}={format_level(level)}" for name, level in others.items())
        lines.append(f"not in this patch: {unset}")
    return lines


def _cpu(limit: Level, asked: Level) -> dict[str, dict[str, Any]]:
    """Limit and request of CPU. asked: the request that was swept, else what was used [cores]."""
    request = max(LEAST_REQUEST_MILLICORES, math.ceil(round(1000 * float(asked), 3)))
    allowed = max(1, round(1000 * float(limit))) if is_number(limit) else None
    limits = {} if limit == UNCHANGED else {"limits": {"cpu": f"{allowed}m" if allowed else None}}
    return {**limits, "requests": {"cpu": f"{min(request, allowed or request)}m"}}


def _add_memory(
    resources: dict[str, dict[str, Any]], levels: Mapping[str, Level], before: Any
) -> None:
    """Limit and request of memory where they were swept. before: the request that the container had
    [bytes], which may not stay above a limit."""
    limit, request = levels.get("memory_limit"), levels.get("memory_request")
    if limit is not None:
        resources.setdefault("limits", {})["memory"] = (
            written(MEMORY, float(limit)) if is_number(limit) else None
        )
        if request is None and before and is_number(limit) and float(before) > float(limit):
            request = limit
    if request is not None:
        resources["requests"]["memory"] = written(MEMORY, float(request))


def consequences(analysis: Analysis) -> list[Message]:
    """In whose manifest the setting of a container that was swept belongs, and for how many pods it
    was measured; nothing where nothing is recommended for one."""
    provenance = analysis.source.provenance
    where, at_level = swept_container(provenance), provenance.get("pods_at_level") or []
    if analysis.stopped or analysis.advice is None or not where.container:
        return []
    said = []
    if owner := provenance.get("applied_by"):
        text = _(
            "{manager} applies the manifest of {workload}: change the limits and requests there. A "
            "`kubectl patch` lasts until it is applied again.",
            manager=owner,
            workload=where.workload,
        )
        said.append(text)
    if len(at_level) > 1:
        said.append(_("The setting is for one pod; {n} pods were at it at once.", n=len(at_level)))
    return said


def applied(analysis: Analysis) -> list[Block]:
    """The command that applies the setting to the container that a run swept, or what its owner's
    manifest is to have, and what follows from it; nothing where there is no command."""
    source = analysis.source
    where = swept_container(source.provenance)
    if analysis.stopped or not (analysis.advice and source.folder and where.container):
        return []
    try:
        levels = recommended_levels(analysis)
        used = usage(source, levels)
        document = patch(analysis, levels, used, destination(analysis, None, None, None))
    except TableError:
        return []
    change = {"spec": document["spec"]}
    lines = [f"{_kubectl_patch(where)} -p '{json.dumps(change, separators=(',', ':'))}'"]
    if source.provenance.get("applied_by"):
        lines = yaml.safe_dump(change, sort_keys=False).splitlines()
    told = consequences(analysis)
    blocks: list[Block] = [CommandBlock(tuple(lines), _("Apply it"))]
    return [*blocks, Prose(tuple(told))] if told else blocks


def _kubectl_patch(where: Destination) -> str:
    kind, _slash, name = where.workload.partition("/")
    namespace = f" -n {where.namespace}" if where.namespace else ""
    return f"kubectl{namespace} patch {kind} {name}"


def printed(
    analysis: Analysis,
    levels: Mapping[str, Level],
    used: Usage,
    *,
    workload: str | None,
    container: str | None,
    namespace: str | None,
    as_json: bool,
) -> str:
    """What `deadzone recommend --manifest` prints: the patch, with what is to be known of it as
    comments, or as JSON alone."""
    where = destination(analysis, workload, container, namespace)
    document = patch(analysis, levels, used, where)
    if as_json:
        return json.dumps(document) + "\n"
    said = [*comments(analysis, levels, used, document), *map(str, consequences(analysis))]
    if not analysis.source.provenance.get("applied_by"):
        said.append(f"apply: {_kubectl_patch(where)} --patch-file FILE")
    shown = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return "".join(f"# {line}\n" for line in said) + shown
