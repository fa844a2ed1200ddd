"""What a limit means for resources, tried on specifications as clusters store them."""

from __future__ import annotations

import pytest

from deadzone.errors import TargetError
from deadzone.measuring.targets.kubernetes.resources import (
    CpuResources,
    cores_of,
    cpu_quantity,
    for_resize,
    for_template,
    qos_class,
    why_not_resizable,
)


def container(limits=None, requests=None, name="main"):
    resources = {"limits": limits or {}, "requests": requests or {}}
    return {"name": name, "resources": {key: value for key, value in resources.items() if value}}


def pod(*containers):
    return {"spec": {"containers": list(containers)}, "status": {"qosClass": qos_class(containers)}}


@pytest.mark.parametrize(
    ("text", "cores"), [("500m", 0.5), ("2", 2), ("1.5", 1.5), ("100u", 1e-4), ("2k", 2000), ("3e-1", 0.3)]
)
def test_quantities_are_read(text, cores):
    assert cores_of(text) == pytest.approx(cores)


@pytest.mark.parametrize(("cores", "text"), [(0.5, "500m"), (2, "2"), (1.25, "1250m"), (0.01, "10m")])
def test_quantities_are_written_as_people_do(cores, text):
    assert cpu_quantity(cores) == text


@pytest.mark.parametrize("cores", [0.0005, 0.2505, 0.009])
def test_what_kubernetes_cannot_count_is_refused(cores):
    with pytest.raises(TargetError, match="thousandths of a core"):
        cpu_quantity(cores)


def test_what_is_no_quantity_is_refused():
    with pytest.raises(TargetError, match="no quantity"):
        cores_of("much")


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([container()], "BestEffort"),
        ([container({"cpu": "1"}, {"cpu": "50m"})], "Burstable"),
        ([container({"cpu": "1", "memory": "1Gi"}, {"cpu": "1000m", "memory": "1Gi"})], "Guaranteed"),
        ([container({"cpu": "1", "memory": "1Gi"})], "Guaranteed"),
        ([container({"cpu": "1", "memory": "1Gi"}), container(name="other")], "Burstable"),
    ],
)
def test_the_qos_class_follows_from_the_resources(containers, expected):
    assert qos_class(containers) == expected


def test_a_template_keeps_its_request_but_never_above_the_limit():
    original = CpuResources("2", "500m")
    assert for_template(original, 1) == CpuResources("1", "500m")
    assert for_template(original, 0.25) == CpuResources("250m", "250m")
    assert for_template(original, None) == CpuResources(None, "500m")


def test_a_guaranteed_pod_stays_guaranteed():
    main = container({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    assert for_resize(pod(main), main, 0.5) == CpuResources("500m", "500m")


def test_a_burstable_pod_does_not_become_guaranteed():
    main = container({"cpu": "1", "memory": "1Gi"}, {"cpu": "500m", "memory": "1Gi"})
    assert for_resize(pod(main), main, 0.5) == CpuResources("500m", "499m")
    assert for_resize(pod(main), main, 2) == CpuResources("2", "500m")


def test_the_request_comes_back_with_a_larger_limit():
    now = container({"cpu": "200m"}, {"cpu": "200m"})
    assert for_resize(pod(now), now, 1, CpuResources("1", "500m")) == CpuResources("1", "500m")


@pytest.mark.parametrize(
    ("limits", "cores", "words"),
    [({"cpu": "1"}, None, "cannot be removed"), (None, 1.0, "has no CPU limit")],
)
def test_what_a_resize_cannot_do_is_known_before(limits, cores, words):
    main = container(limits, {"cpu": "100m"})
    assert words in why_not_resizable(pod(main), main, cores)


def test_the_same_amount_is_the_same_however_it_is_written():
    assert CpuResources("1", "0.5").same(CpuResources("1000m", "500m"))
    assert not CpuResources("1", None).same(CpuResources("1", "500m"))
