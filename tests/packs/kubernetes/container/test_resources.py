import pytest

from deadzone.errors import TargetError
from deadzone.study.design import Limits
from deadzone_kubernetes.container.accounting import reading
from deadzone_kubernetes.container.container import not_in_force
from deadzone_kubernetes.container.resources import (
    FACTORS,
    Resources,
    for_resize,
    for_template,
    keys_swept,
    number_of,
    quantity,
    required,
    resources_of,
    why_not_resizable,
)


def container(limits=None, requests=None, name="main"):
    resources = {"limits": limits or {}, "requests": requests or {}}
    return {"name": name, "resources": {key: value for key, value in resources.items() if value}}


def pod(qos_class):
    return {"status": {"qosClass": qos_class}}


def test_quantities_are_read_and_written_as_people_do():
    read = {"500m": 0.5, "2": 2, "1.5": 1.5, "100u": 1e-4, "2k": 2000, "3e-1": 0.3}
    assert {text: number_of(text) for text in read} == pytest.approx(read)
    written = {0.5: "500m", 2: "2", 1.25: "1250m", 0.01: "10m"}
    assert {cores: quantity("limits.cpu", cores) for cores in written} == written
    with pytest.raises(TargetError, match="no quantity"):
        number_of("much")


@pytest.mark.parametrize("cores", [0.0005, 0.2505, 0.009])
def test_what_kubernetes_cannot_count_is_refused(cores):
    with pytest.raises(TargetError, match="thousandths of a core"):
        quantity("limits.cpu", cores)


def test_sizes_are_written_in_the_largest_unit_that_fits():
    sizes = [64 * 2**20, 2**30, 1536 * 2**10, 1_000_000]
    assert [quantity("limits.memory", one) for one in sizes] == ["64Mi", "1Gi", "1536Ki", "1000000"]


def limits(**levels):
    return Limits(**{**dict.fromkeys(FACTORS, "unchanged"), **levels})


def cpu(limit, request):
    return Resources({"limits.cpu": limit, "requests.cpu": request})


def resized(main, qos_class="Burstable", original=None, **levels):
    own = Resources.of(main, resources_of(keys_swept([limits(**levels)])))
    return for_resize(pod(qos_class), required(own, limits(**levels)), original or own)


def why_not(main, **levels):
    own = Resources.of(main, resources_of(keys_swept([limits(**levels)])))
    return why_not_resizable(main, required(own, limits(**levels)))


def test_a_template_keeps_its_request_but_never_above_the_limit():
    original = cpu("2", "500m")
    assert for_template(original, limits(cpu_limit=1)) == cpu("1", "500m")
    assert for_template(original, limits(cpu_limit=0.25)) == cpu("250m", "250m")
    assert for_template(original, limits(cpu_limit="none")) == cpu(None, "500m")


def test_a_request_that_the_study_says_is_as_it_says():
    assert for_template(cpu("2", "500m"), limits(cpu_request=1)) == cpu("2", "1")
    main = container({"cpu": "2"}, {"cpu": "500m"})
    assert resized(main, cpu_request=1, cpu_limit=1.5) == cpu("1500m", "1")
    assert resized(main, cpu_request=0.001).amounts["requests.cpu"] == "1m"


def test_memory_is_touched_only_where_it_is_swept():
    main = container({"cpu": "1", "memory": "256Mi"}, {"cpu": "50m", "memory": "64Mi"})
    assert "memory" not in resized(main, cpu_limit=0.5).as_patch()["limits"]
    limits, requests = {"cpu": "1", "memory": "128Mi"}, {"cpu": "50m", "memory": "64Mi"}
    patch = resized(main, memory_limit=128 * 2**20).as_patch()
    assert patch == {"limits": limits, "requests": requests}
    assert resized(main, memory_limit=32 * 2**20).amounts["requests.memory"] == "32764Ki"
    assert resized(main, memory_request=96 * 2**20).amounts["requests.memory"] == "96Mi"


def test_a_guaranteed_pod_stays_guaranteed_and_a_burstable_one_burstable():
    main = container({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    assert resized(main, "Guaranteed", cpu_limit=0.5) == cpu("500m", "500m")
    half = resized(main, "Guaranteed", memory_limit=2**29)
    assert half.amounts["requests.memory"] == "512Mi"
    main = container({"cpu": "1", "memory": "1Gi"}, {"cpu": "500m", "memory": "1Gi"})
    assert resized(main, cpu_limit=0.5) == cpu("500m", "499m")
    assert resized(main, cpu_limit=2) == cpu("2", "500m")
    now = container({"cpu": "200m"}, {"cpu": "200m"})
    assert resized(now, original=cpu("1", "500m"), cpu_limit=1) == cpu("1", "500m")


@pytest.mark.parametrize(
    ("amounts", "levels", "words"),
    [({"cpu": "1"}, {"cpu_limit": "none"}, "a limit cannot be removed"),
     (None, {"cpu_limit": 1.0}, "has no limit"),
     ({"cpu": "1"}, {"memory_limit": 2**26}, "has no memory limit"),
     ({"cpu": "1"}, {"memory_request": 2**26}, "has no memory request")],
)  # fmt: skip
def test_what_a_resize_cannot_do_is_known_before(amounts, levels, words):
    assert words in why_not(container(amounts, {"cpu": "100m"}), **levels)


def test_a_resize_that_restarts_the_container_is_none():
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    main = {**container({"cpu": "1", "memory": "1Gi"}, {"cpu": "100m"}), "resizePolicy": policy}
    assert "restart where its memory limit is changed" in why_not(main, memory_limit=2**29)
    assert why_not(main, cpu_limit=0.5) is None


def test_the_same_amount_is_the_same_however_it_is_written():
    assert cpu("1", "0.5").holds(cpu("1000m", "500m"))
    assert not cpu("1", None).holds(cpu("1", "500m"))


@pytest.mark.parametrize(
    ("told", "limit", "has"),
    [("67108864", "64Mi", True), ("67108864", "67109000", True), ("134217728", "64Mi", False),
     ("max", None, True), ("9223372036854771712", None, True), ("67108864", None, False)],
)  # fmt: skip
def test_a_memory_limit_is_read_back_in_whole_pages(told, limit, has):
    probe = reading(["cpu_max 100000 100000", f"memory_max {told}"])
    said = not_in_force(probe, Resources({"limits.cpu": "1", "limits.memory": limit}))
    assert (said == "") == has, said
