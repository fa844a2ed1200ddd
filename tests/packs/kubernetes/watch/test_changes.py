"""Who changed what at a workload, from its specification and its managedFields."""

import copy

from deadzone_kubernetes.watch.changes import differences, is_ours, path_of

LIMIT = path_of("deployment", "app", "limits.cpu")

CONTAINERS = {'k:{"name":"app"}': {"f:resources": {"f:limits": {"f:cpu": {}}}}}

FIELDS = {"f:spec": {"f:template": {"f:spec": {"f:containers": CONTAINERS}}}}


def found(limit="1", manager="kubectl-client-side-apply", **more):
    container = {"name": "app", "image": "burn:1", "resources": {"limits": {"cpu": limit}}, **more}
    managed = {"manager": manager, "time": "2026-01-01T10:20:30Z", "fieldsV1": FIELDS}
    made = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {
        "metadata": {**made, "managedFields": [managed]},
        "spec": {"replicas": 1, "template": {"metadata": {}, "spec": {"containers": [container]}}},
    }


def test_what_the_sweep_itself_changes_is_no_difference():
    assert differences(found(), found("500m", "deadzone"), {LIMIT}) == []
    assert is_ours(found("500m", "deadzone"), LIMIT)


def test_another_managers_limit_is_named_with_who_and_when():
    (change,) = differences(found(), found("1500m", "kubectl-set"), {LIMIT})
    said = "app.resources.limits.cpu was changed from 1 to 1500m by kubectl-set at 10:20:30 UTC"
    assert str(change) == said
    assert not is_ours(found("1500m", "kubectl-set"), LIMIT)


def test_a_field_that_both_own_is_not_ours():
    both = found("500m", "deadzone")
    both["metadata"]["managedFields"].append({"manager": "argocd", "time": "", "fieldsV1": FIELDS})
    assert not is_ours(both, LIMIT)


def test_image_environment_replicas_restarts_and_removals_are_seen():
    now = found(image="burn:2", env=[{"name": "MODE", "value": "fast"}])
    now["spec"]["replicas"] = 3
    restarted = {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}
    now["spec"]["template"]["metadata"] = restarted
    said = " | ".join(change.what for change in differences(found(), now, {LIMIT}))
    assert "app.image was changed from burn:1 to burn:2" in said
    assert "app.env.MODE.value was set" in said and "fast" not in said  # it may be a secret
    assert "replicas was changed from 1 to 3" in said
    assert "its pods were restarted" in said
    (gone,) = differences(found(workingDir="/srv"), found(), {LIMIT})
    assert gone.what.endswith("workingDir was removed, it was /srv")


def test_a_container_that_is_lent_to_a_pod_is_no_change():
    lent = found()
    lent["spec"]["ephemeralContainers"] = [{"name": "deadzone-1", "image": "busybox"}]
    assert differences(found(), lent, {LIMIT}) == []


def test_a_workload_that_was_made_anew_is_one_change():
    now = copy.deepcopy(found("2"))
    now["metadata"]["uid"] = "other"
    (change,) = differences(found(), now, {LIMIT})
    assert change.what == "it was deleted and made again"


def test_a_watched_annotation_counts():
    path = ("metadata", "annotations", "deadzone.dev/sweep")
    before, now = found(), found()
    before["metadata"]["annotations"] = {"deadzone.dev/sweep": "allowed", "other": "1"}
    now["metadata"]["annotations"] = {"other": "2"}
    (change,) = differences(before, now, {LIMIT}, {path})
    assert "deadzone.dev/sweep was removed, it was allowed" in change.what
