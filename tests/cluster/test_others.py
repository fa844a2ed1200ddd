import json
import os
import signal

import pytest
from sweeping import ALLOWED, SLEEP, kill, owners, records, resources, target

pytestmark = pytest.mark.cluster


def patched(cluster, namespace, body, *more):
    """What kubectl says of a patch, such as that it changes nothing."""
    where = ("deployment/worker", "--namespace", namespace, f"--patch={json.dumps(body)}")
    return cluster.kubectl("patch", *where, *more)


def container(**changes):
    return {"spec": {"template": {"spec": {"containers": [{"name": "ffmpeg", **changes}]}}}}


def limited(cpu):
    return container(resources={"limits": cpu and {"cpu": cpu}})


FAST = container(env=[{"name": "MODE", "value": "fast"}])

FORBIDDEN = {"metadata": {"annotations": {"deadzone.dev/sweep": "no"}}}

COLLEAGUE, NOBODY = "by colleague at", "UTC (the cluster does not record who)"


@pytest.fixture
def sweep_of(namespace, deployment, write_study, start):
    """A sweep of some trials that has measured two."""

    def begin(replicas=60, seconds=0.2, **more):
        deployment(annotations=ALLOWED)
        study = write_study(
            argv=SLEEP,
            target=target(namespace, start_timeout_s=60, **more),
            factors={"seconds": [seconds], "cpu_limit": [0.3, 0.5]},
            replicates=replicas,
        )
        begun = start("sweep", study)
        begun.wait_for(lambda: begun.trials() > 1, "two trials")
        return begun

    return begin


@pytest.mark.parametrize(
    ("change", "body", "said", "who", "limit"),
    [("resize", limited("700m"), "limits.cpu was changed from 1 to 700m", COLLEAGUE, "700m"),
     ("patch", limited("700m"), "limits.cpu was changed from", COLLEAGUE, "700m"),
     ("patch", limited("1"), "limits.cpu was changed from", COLLEAGUE, None),
     ("resize", limited(None), "limits.cpu was removed, it was 1 between", NOBODY, None),
     ("patch", FAST, "env.MODE.value was set", COLLEAGUE, "1"),
     ("auto", {"spec": {"replicas": 2}}, "replicas was changed from 1 to 2", COLLEAGUE, None),
     ("auto", FORBIDDEN, "deadzone.dev/sweep was changed from allowed to no", COLLEAGUE, "1")],
    ids=["limit", "level", "set back", "removed", "environment", "replicas", "permission"],
)  # fmt: skip
def test_what_others_change_stays_and_stops_the_sweep(
    change, body, said, who, limit, cluster, namespace, sweep_of, left
):
    begun = sweep_of(change=change)
    patched(cluster, namespace, body, "--field-manager=colleague")
    err = begun.end_with(3)
    assert said in err and who in err and "Traceback" not in err
    assert "no change" in patched(cluster, namespace, body)
    assert left.annotation() is None and left.leases() == []
    if limit:
        left.check_nothing(limit=limit)


def applied(cluster, manifest, how):
    """Apply a manifest as one of those do who own workloads."""
    flags = {
        "kubectl apply": (),
        "server-side apply": ("--server-side",),
        "Argo CD": ("--server-side", "--force-conflicts", "--field-manager=argocd-controller"),
    }
    cluster.kubectl("apply", *flags[how], "--filename=-", given=json.dumps(manifest))


def own_manifest(found, **limits):
    """The manifest of an owner that was never swept, with limits."""
    metadata = {key: found["metadata"][key] for key in ("name", "namespace")}
    of_spec = ("selector", "replicas", "serviceName")
    spec = {key: found["spec"][key] for key in of_spec if key in found["spec"]}
    (worker,) = found["spec"]["template"]["spec"]["containers"]
    kept = {key: worker[key] for key in ("name", "image", "imagePullPolicy")}
    kept["resources"] = {"limits": {"memory": "96Mi", **limits}, "requests": {"cpu": "50m"}}
    pod = {"terminationGracePeriodSeconds": 1, "containers": [kept]}
    template = {"metadata": {"labels": found["spec"]["selector"]["matchLabels"]}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": found["kind"],
        "metadata": {**metadata, "annotations": ALLOWED},
        "spec": {**spec, "revisionHistoryLimit": 1, "template": template},
    }


@pytest.mark.parametrize(
    ("how", "kind"),
    [("kubectl apply", "deployment"), ("server-side apply", "statefulset"),
     ("Argo CD", "deployment")],
)  # fmt: skip
def test_fields_are_their_owners_again(
    how, kind, cluster, namespace, deployment, write_study, start, deadzone
):
    inside = ("--namespace", namespace)
    deployment()
    found = cluster.get("deployment", "worker", *inside)
    cluster.kubectl("delete", "deployment/worker", *inside)
    if kind == "statefulset":
        found["kind"], found["spec"]["serviceName"] = "StatefulSet", "worker"
    applied(cluster, own_manifest(found, cpu="800m"), how)
    cluster.kubectl("rollout", "status", f"{kind}/worker", *inside, "--timeout=120s")
    before = owners(cluster.get(kind, "worker", *inside))
    where = target(namespace, workload=f"{kind}/worker", change="patch")
    factors = {"cpu_limit": [0.4, "none"], "seconds": [0.2]}
    begun = start("sweep", write_study(argv=SLEEP, target=where, factors=factors, replicates=30))
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    kill(begun)
    assert owners(cluster.get(kind, "worker", *inside)) != before
    deadzone("restore", *inside, code=0)
    assert owners(cluster.get(kind, "worker", *inside)) == before
    limits = {"cpu_limit": ["none", 0.4]}
    again = write_study(argv=["true"], target=where, factors=limits, replicates=1)
    deadzone("sweep", again, code=0)
    assert owners(cluster.get(kind, "worker", *inside)) == before
    told = json.loads(next(begun.runs.glob("*/*/provenance.json")).read_text())
    assert told["applied_by"] == next(manager for manager, _ in before)
    applied(cluster, own_manifest(found, cpu="400m"), how)
    assert resources(cluster.get(kind, "worker", *inside))["limits"]["cpu"] == "400m"
    applied(cluster, own_manifest(found), how)
    assert resources(cluster.get(kind, "worker", *inside))["limits"] == {"memory": "96Mi"}


def test_the_fields_of_a_pod_by_itself_are_their_owners_again(
    cluster, namespace, ffmpeg_image, write_study, start, deadzone
):
    metadata = {"name": "alone", "namespace": namespace, "annotations": ALLOWED}
    worker = {"name": "ffmpeg", "image": ffmpeg_image, "imagePullPolicy": "IfNotPresent"}
    worker["resources"] = {"limits": {"cpu": "1"}, "requests": {"cpu": "50m"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    applied(cluster, {**pod, "spec": {"containers": [worker]}}, "Argo CD")
    inside = ("alone", "--namespace", namespace)
    cluster.kubectl("wait", "pod", *inside, "--for=condition=Ready", "--timeout=120s")
    before = cluster.get("pod", *inside)
    factors = {"cpu_limit": [0.4, 0.5], "seconds": [0.2]}
    study = write_study(argv=SLEEP, target=target(namespace, workload="pod/alone"), factors=factors)
    begun = start("sweep", study)
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    assert owners(cluster.get("pod", *inside)) != owners(before)
    kill(begun)
    deadzone("restore", "--namespace", namespace, code=0)
    after = cluster.get("pod", *inside)
    assert owners(after) == owners(before) and resources(after) == resources(before)
    assert "deadzone" not in {one["manager"] for one in after["metadata"]["managedFields"]}


def test_the_fields_of_a_pod_that_was_resized_in_place_are_its_owners_again(
    cluster, namespace, worker_study, start, deadzone
):
    def pod():
        (found,) = cluster.get("pods", "-l", "app=worker", "--namespace", namespace)["items"]
        return found

    before = pod()
    factors = {"cpu_limit": [0.4, 0.5], "seconds": [0.2]}
    begun = start("sweep", worker_study(SLEEP, factors, replicates=2, change="resize"))
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    assert owners(pod()) != owners(before)
    kill(begun)
    deadzone("restore", "--namespace", namespace, code=0)
    after = pod()
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert owners(after) == owners(before) and resources(after) == resources(before)


@pytest.mark.parametrize("how", ["restarted", "made anew"])
def test_a_restart_and_a_new_workload_of_the_same_name_stop_it(
    how, cluster, namespace, sweep_of, deployment, left
):
    begun = sweep_of()
    if how == "restarted":
        cluster.kubectl("rollout", "restart", "deployment/worker", "--namespace", namespace)
    else:
        cluster.kubectl("delete", "deployment/worker", "--namespace", namespace, "--wait=true")
        deployment(annotations=ALLOWED)
    err = begun.end_with(3)
    said = (
        "its pods were restarted by kubectl-rollout at" if how == "restarted" else "it was deleted"
    )
    assert said in err and "Traceback" not in err
    left.check_nothing()


def test_a_killed_sweep_gives_back_what_is_its_own_and_leaves_what_is_not(
    cluster, namespace, sweep_of, deadzone, left
):
    begun = sweep_of(change="patch")
    kill(begun)
    patched(cluster, namespace, limited("700m"), "--field-manager=colleague")
    said = deadzone("restore", "--namespace", namespace, code=0)
    assert "limit 700m, set by colleague at" in said.out
    left.check_nothing(limit="700m")


def resized_by_a_colleague(cluster, namespace, left, limit="700m"):
    """A pod gets another limit by `kubectl patch --subresource resize`; its name."""
    (pod,) = left.pods()
    name, body = pod["metadata"]["name"], limited(limit)["spec"]["template"]
    where = (name, "--namespace", namespace, "--subresource=resize", "--field-manager=colleague")
    cluster.kubectl("patch", "pod", *where, f"--patch={json.dumps(body)}")
    return name


def test_a_pod_that_others_resize_stays_so_and_stops_the_sweep(cluster, namespace, sweep_of, left):
    begun = sweep_of(change="resize")
    name = resized_by_a_colleague(cluster, namespace, left)
    err = begun.end_with(3)
    assert f"pod {name}: ffmpeg.resources.limits.cpu was changed from" in err
    assert "to 700m by colleague at" in err and "Traceback" not in err
    (now,) = left.pod_resources()
    assert now == {"limits": {"cpu": "700m"}, "requests": {"cpu": "50m"}}
    template = resources(cluster.get("deployment", "worker", "--namespace", namespace))
    assert template["limits"] == {"cpu": "1"}
    assert left.annotation() is None and left.leases() == [] and left.files() == []


def test_a_pod_of_a_level_that_others_resize_stops_the_sweep_though_it_is_replaced(
    cluster, namespace, sweep_of, left
):
    begun = sweep_of(change="patch", seconds=5)
    begun.wait_for(
        lambda: "sleep 5" in left.inside("ps"), "a trial in a pod that is not being replaced"
    )
    name = resized_by_a_colleague(cluster, namespace, left)
    err = begun.end_with(3)
    assert f"pod {name}, until it is replaced: ffmpeg.resources.limits.cpu was changed" in err
    left.check_nothing()


def quota(namespace, cores):
    metadata, spec = {"name": "cpu", "namespace": namespace}, {"hard": {"limits.cpu": cores}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}


def test_a_rollout_that_needs_more_than_the_quota_leaves_is_refused_before_the_first_trial(
    cluster, namespace, worker_study, deadzone
):
    cluster.apply(quota(namespace, "1700m"))
    study = worker_study(factors={"cpu_limit": [0.5, 0.8]}, change="patch")
    said = deadzone("sweep", study, code=4)
    exceeded = "exceeded quota: cpu, requested: limits.cpu=800m, used: limits.cpu=1, limited: "
    assert exceeded in said.err and "Nothing was measured" in said.err


def test_a_rollout_that_takes_a_pod_that_a_budget_wants_is_refused_and_a_resize_is_not(
    cluster, namespace, worker_study, deadzone
):
    inside = ("--namespace", namespace)
    one_after_the_other = {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}
    patched(cluster, namespace, one_after_the_other)
    budget = ("--selector=app=worker", "--min-available=1")
    cluster.kubectl("create", "poddisruptionbudget", "one", *inside, *budget)
    cluster.wait_for(
        lambda: cluster.get("pdb", "one", *inside)["status"].get("currentHealthy"),
        "a budget that counts its pods",
    )
    said = deadzone("sweep", worker_study(change="patch"), code=4)
    wanted = "The disruption budget one needs 1 healthy pods and has 1 currently"
    assert wanted in said.err and "Nothing was measured" in said.err
    said = deadzone("doctor", "--kubernetes", f"{namespace}/worker")
    assert "MISSING" not in said.out and wanted in said.out
    deadzone("sweep", worker_study(change="resize"), code=0)


def test_what_pods_keep_is_not_given_back_and_the_next_restore_tries_again(
    cluster, namespace, sweep_of, deadzone, left
):
    begun = sweep_of(change="patch")
    cluster.apply(quota(namespace, "500m"))
    os.kill(begun.pid, signal.SIGINT)
    err = begun.end_with(10)
    assert "still has limit" in err and "exceeded quota: cpu" in err
    assert "Remove that obstacle" in err and "deadzone restore" in err
    assert left.annotation()
    deadzone("restore", "--namespace", namespace, code=10)
    cluster.kubectl("delete", "quota", "cpu", "--namespace", namespace)
    deadzone("restore", "--namespace", namespace, code=0)
    left.check_nothing()


def test_the_history_of_rollouts_has_each_level_and_no_note_of_the_sweep(
    cluster, namespace, deployment, write_study, deadzone, left
):
    deployment(annotations=ALLOWED)
    name, inside = "deployment/worker", ("--namespace", namespace)
    for mode in ("a", "b"):
        patched(cluster, namespace, container(env=[{"name": "MODE", "value": mode}]))
        cluster.kubectl("rollout", "status", name, *inside, "--timeout=120s")
    where, factors = target(namespace, change="patch"), {"cpu_limit": [0.3, 0.4]}
    study = write_study(argv=["true"], target=where, factors=factors, replicates=1)
    said = deadzone("sweep", study, code=0)
    assert "`kubectl rollout undo` needs --to-revision afterwards" in said.err
    revisions = cluster.kubectl("rollout", "history", name, *inside).split()
    assert [word for word in revisions if word.isdigit()] == ["1", "2", "4", "5", "6"]
    cluster.kubectl("rollout", "undo", name, *inside, "--to-revision=4")
    assert left.annotation() is None
    cluster.kubectl("rollout", "undo", name, *inside, "--to-revision=2")
    now = cluster.get("deployment", "worker", *inside)["spec"]["template"]["spec"]["containers"][0]
    assert (now["env"][0]["value"], now["resources"]["limits"]["cpu"]) == ("a", "1")


def test_three_pods_lost_in_a_row_end_the_sweep(namespace, deployment, write_study, deadzone, left):
    """The program ends its own pod's first process, as often as it runs."""
    command = ["/bin/busybox", "sh", "-c", "while :; do sleep 1; done"]
    deployment(annotations=ALLOWED, command=command)
    study = write_study(
        argv=["sh", "-c", "sleep 0.3; kill -KILL -1; sleep 5"],
        target=target(namespace, start_timeout_s=60),
        factors={"cpu_limit": [0.3]},
        replicates=5,
    )
    said = deadzone("sweep", study, code=3)
    assert "The last 3 trials were lost" in said.err and "Traceback" not in said.err


def test_no_trial_leaves_a_process_in_its_pod(worker_study, sweep, left):
    before = left.inside("ps").count("\n")
    sweep(worker_study(SLEEP, {"seconds": [0.05, 0.3], "cpu_limit": [0.5]}, replicates=30))
    assert left.inside("ps").count("\n") == before, left.inside("ps")


def test_every_pod_that_a_load_reaches_is_at_the_level(
    own_cluster, namespace, deployment, write_study, deadzone, start, left
):
    cluster, inside = own_cluster, ("--namespace", namespace)
    serve = ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/proc"]
    deployment(annotations=ALLOWED, command=serve)
    cluster.kubectl("scale", "deployment/worker", *inside, "--replicas=2")
    cluster.kubectl("rollout", "status", "deployment/worker", *inside, "--timeout=120s")
    url = cluster.expose(namespace, "worker", 8080)

    def study(**more):
        return write_study(
            service={"ready": {"path": "/version"}},
            environments={"pod": {"url": url, "target": target(namespace, **more)}},
            workload={"kind": "http", "url": "{service_url}/version", "answer": {"status": [200]}},
            factors={"cpu_limit": [0.2, 0.4]},
            design={"replicates": 6, "warmup": 0},
            response={"name": "total_s", "unit": "s", "goal": "min"},
        )

    said = deadzone("sweep", study(), code=4)
    assert "reaches 2 pods" in said.err and "`pods: all`" in said.err and "--replicas=1" in said.err
    begun = start("sweep", path := study(pods="all"))
    begun.wait_for(begun.trials, "the first trial")
    cluster.kubectl("delete", "pod", left.pods()[0]["metadata"]["name"], *inside, "--wait=false")
    lines = records(begun)
    assert sorted(line["trial"] for line in lines if line["final"]) == [*range(1, 13)]
    run = next((path.parents[2] / "data" / "runs").glob("*/*/provenance.json"))
    assert '"pods_at_level"' in run.read_text()
    begun.wait_for(lambda: len(left.pods()) == 2, "two pods")
    assert [one["limits"]["cpu"] for one in left.pod_resources()] == ["1", "1"]
