"""Whether a namespace has room for the levels of a sweep by rollout: its quotas and ranges, read
before the first trial.

A rolling change runs old and new pods side by side, so it needs more than either level (Kubernetes
documentation, "Deployments", "Max Surge", and "Resource Quotas").
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import MissingVerbError
from deadzone_kubernetes.container.resources import (
    LIMITS,
    MEMORY,
    REQUESTS,
    Resources,
    number_of,
    written,
)
from deadzone_kubernetes.workload import DEPLOYMENT, KubernetesWorkload, label_selector, pods_of

DEFAULT_SHARE = "25%"
"""maxSurge and maxUnavailable where the owner says nothing."""

ROUNDING = 1e-6


def check(
    cluster: Cluster,
    workload: KubernetesWorkload,
    manifest: Object,
    container: str,
    every: Sequence[Resources],
) -> None:
    """Raise TargetError where a quota or range of the namespace forbids a level, or the way from
    one to another.

    every: what the container has before, and at each level. What the account may not read is not
    checked.
    """
    ranges = _listed(cluster, "core.list_namespaced_limit_range", workload.namespace)
    quotas = _listed(cluster, "core.list_namespaced_resource_quota", workload.namespace)
    spec = workload.template(manifest)
    names = every[0].names
    beside = [
        Resources.of(other, names) for other in spec["containers"] if other["name"] != container
    ]
    old = pods_that_stay(workload.kind, manifest["spec"])
    replicas = int(manifest["spec"].get("replicas", 1))
    for problem in itertools.chain(
        out_of_range(ranges, every), beyond_quota(quotas, every, beside, replicas, old)
    ):
        raise TargetError(
            f"Not every level of the sweep can be put in force in {workload}: {problem}. Nothing "
            "was changed. Use other levels, target.change: resize, or ask for more room."
        )


def check_budgets(cluster: Cluster, workload: KubernetesWorkload, manifest: Object) -> None:
    """Raise TargetError where a rollout takes more pods away at once than a PodDisruptionBudget of
    them bears.

    The API server lets a rollout do so, for budgets bind evictions alone (Kubernetes documentation,
    "Disruptions"); but what the owner promised of his pods holds for a sweep too. What the account
    may not read is not checked.
    """
    own = {pod["metadata"]["uid"] for pod in workload.pods(cluster)}
    taken = int(manifest["spec"].get("replicas", 1)) - pods_that_stay(
        workload.kind, manifest["spec"]
    )
    method = "policy.list_namespaced_pod_disruption_budget"
    for budget in _listed(cluster, method, workload.namespace):
        name, status = budget["metadata"]["name"], budget.get("status") or {}
        if "observedGeneration" not in status or int(status["disruptionsAllowed"]) >= taken:
            continue
        selector = label_selector(budget["spec"].get("selector") or {})
        of_it = pods_of(cluster, f"poddisruptionbudget/{name}", workload.namespace, selector)
        if own & {pod["metadata"]["uid"] for pod in of_it}:
            raise TargetError(
                f"A rollout of {workload} takes {taken} of its pods away at once, and the "
                f"PodDisruptionBudget {name} wants {status['desiredHealthy']} of "
                f"{status['currentHealthy']} pods healthy. Nothing was changed. Use target.change: "
                "resize, or a strategy that makes a new pod before it ends an old one "
                "(maxUnavailable: 0)."
            )


def _listed(cluster: Cluster, method: str, namespace: str) -> list[Object]:
    try:
        return list(
            cluster.call(f"look at the room of the namespace {namespace}", method, namespace)[
                "items"
            ]
        )
    except MissingVerbError:
        return []


def out_of_range(ranges: Sequence[Mapping[str, Any]], every: Sequence[Resources]) -> Iterator[str]:
    """What a LimitRange forbids, in the words that the API server has for it."""
    bounds = [
        bound for each in ranges for bound in each["spec"]["limits"] if bound["type"] == "Container"
    ]
    for bound, wanted in itertools.product(bounds, every):
        for name in wanted.names:
            most, least = (bound.get("max") or {}).get(name), (bound.get("min") or {}).get(name)
            limit, request = wanted.number(f"{LIMITS}.{name}"), wanted.asked(name)
            if most and limit is not None and limit > number_of(most) + ROUNDING:
                amount = wanted.amounts[f"{LIMITS}.{name}"]
                yield f"maximum {name} usage per Container is {most}, but limit is {amount}"
            if least and request is not None and request < number_of(least) - ROUNDING:
                amount = wanted.amounts[f"{REQUESTS}.{name}"] or wanted.amounts[f"{LIMITS}.{name}"]
                yield f"minimum {name} usage per Container is {least}, but request is {amount}"


def pods_that_stay(kind: str, spec: Mapping[str, Any]) -> int:
    """How many old pods run beside the first new one in a rollout."""
    replicas = int(spec.get("replicas", 1))
    if kind != DEPLOYMENT:
        return max(replicas - 1, 0)
    strategy = spec.get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return 0
    rolling = strategy.get("rollingUpdate") or {}
    gone = _pods(rolling.get("maxUnavailable", DEFAULT_SHARE), replicas, math.floor)
    surge = _pods(rolling.get("maxSurge", DEFAULT_SHARE), replicas, math.ceil)
    return max(replicas - (gone if surge or gone else 1), 0)


def _pods(share: int | str, replicas: int, rounded: Any) -> int:
    text = str(share)
    return int(rounded(float(text[:-1]) / 100 * replicas)) if text.endswith("%") else int(text)


def beyond_quota(
    quotas: Sequence[Mapping[str, Any]],
    every: Sequence[Resources],
    beside: Sequence[Resources],
    replicas: int,
    old: int,
) -> Iterator[str]:
    """What a quota does not leave room for, of all ways from one amount to another, in the API
    server's words.

    every: amounts of the swept container, the first is in force now. beside: of the other
    containers of a pod. old: how many pods of the one amount run beside the first of the other.
    """
    for quota in quotas:
        if quota["spec"].get("scopes") or quota["spec"].get("scopeSelector"):
            continue  # whether it counts these pods is not told by its name
        hard = (quota.get("status") or {}).get("hard") or quota["spec"].get("hard") or {}
        used = (quota.get("status") or {}).get("used") or {}
        name = quota["metadata"]["name"]
        keys = [
            key
            for name in every[0].names
            for key in (f"{LIMITS}.{name}", f"{REQUESTS}.{name}", name)
        ]
        for key in (key for key in keys if key in hard):
            amounts, most = [_counted(part, key) for part in every], number_of(str(hard[key]))
            known = [amount for amount in amounts if amount is not None]
            if len(known) < len(amounts):
                yield f"failed quota: {name}: must specify {key}"
                continue
            rest = sum(_counted(part, key) or 0.0 for part in beside)
            others = number_of(str(used.get(key, "0"))) - replicas * (known[0] + rest)
            for before, after in itertools.permutations(known, 2):
                needed = others + max(
                    old * (before + rest) + after + rest, replicas * (after + rest)
                )
                if needed > most + ROUNDING:
                    yield (
                        f"exceeded quota: {name}, for the rollout from {_shown(key, before)} to "
                        f"{_shown(key, after)}{'' if MEMORY in key else ' cores'} needs "
                        f"{_shown(key, needed)} of {key}, with {old} old pods beside a new one, "
                        f"limited: {hard[key]}"
                    )


def _counted(amounts: Resources, key: str) -> float | None:
    """What a quota counts of a container under a name; None where it has none."""
    part, _, name = key.rpartition(".")
    return amounts.number(key) if part == LIMITS else amounts.asked(name)


def _shown(key: str, amount: float) -> str:
    return written(MEMORY, amount) if MEMORY in key else f"{amount:g}"
