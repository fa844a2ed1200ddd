import subprocess
import time

import pytest
from kubelet_figures import figures
from sweeping import ALLOWED, BUSY, records, target

from deadzone.measurement import Command
from deadzone.run.targets.base import Surroundings
from deadzone.store.table import ACCOUNT
from deadzone.study.design import Limits, Treatment
from deadzone_kubernetes.exec_target import ExecTarget
from deadzone_kubernetes.specs import KubernetesTargetSpec

pytestmark = pytest.mark.cluster


@pytest.mark.core
def test_a_resize_changes_the_limit_in_place_and_gives_it_back(worker_study, sweep, left):
    before = left.pods()[0]["metadata"]["uid"]
    factors = {"work": [60000], "cpu_limit": [0.05, 0.2]}
    run = sweep(worker_study(BUSY, factors, replicates=2, change="resize"))
    trials = run.trials()
    assert set(trials["status"]) == {"ok"}
    in_force = dict(zip(trials["cpu_limit"], trials["cpu_max"], strict=True))
    assert in_force == {0.05: "5000 100000", 0.2: "20000 100000"}
    assert left.pods()[0]["metadata"]["uid"] == before
    assert left.pods()[0]["status"]["containerStatuses"][0]["restartCount"] == 0
    slow = trials[trials["cpu_limit"] == 0.05]
    assert slow["nr_throttled"].min() > 0
    assert slow["throttled_s"].min() > 0.1
    assert slow["cpu_efficiency"].max() < 0.07
    assert (trials["user_s"] + trials["sys_s"]).min() > 0.03
    assert trials["cpu_efficiency"].max() < 0.3
    facts = run.provenance()
    assert facts["image_id"].startswith("sha256:") and facts["cluster_node"]
    assert {"cpu_usage_s", "nr_throttled", "throttled_s"} <= set(run.telemetry()["metric"])


@pytest.mark.alone("it measures how long threads are throttled")
def test_a_trial_in_a_pod_tells_where_the_time_of_its_threads_went(worker_study, sweep):
    factors = {"work": [1500000], "cpu_limit": [0.2, 0.8]}
    run = sweep(worker_study(BUSY, factors, replicates=3, change="resize"))
    trials = run.trials()
    known = trials.dropna(subset=[*ACCOUNT])
    limits = known["cpu_limit"].astype(float)
    assert set(limits) == {0.2, 0.8}, trials[["cpu_limit", "wall_s", *ACCOUNT]].to_string()
    parts = known[[*ACCOUNT][1:]].sum(axis=1)
    assert known["threads_s"].to_numpy() == pytest.approx(parts.to_numpy(), abs=1e-4)
    used = known["cpu_efficiency"] * known["wall_s"]
    assert known["running_s"].to_numpy() == pytest.approx(used, rel=0.02)
    slow = known[limits == 0.2]
    assert (slow["throttled_wait_s"] > 0.5 * slow["threads_s"]).all()
    assert (slow["threads_s"] < 1.3 * slow["wall_s"]).all()
    assert "looked at by the launcher" in run.provenance()["account_source"]


def test_auto_resizes_where_it_can_and_patches_where_it_must(worker_study, sweep):
    treatments = [{"cpu_limit": limit} for limit in (0.3, 0.7, "none")]
    design = {"design": {"kind": "list", "treatments": treatments}}
    trials = sweep(worker_study(factors={}, study=design)).trials()
    in_force = trials.drop_duplicates("trial", keep="last").set_index("cpu_limit")["cpu_max"]
    quota = {limit: told.split()[0] for limit, told in in_force.items()}
    assert quota.pop("none") in ("-1", "max")
    assert quota == {"0.3": "30000", "0.7": "70000"}
    pods = trials.drop_duplicates("trial", keep="last").set_index("cpu_limit")["pod"]
    assert pods["0.7"] != pods["none"]


def test_a_resize_that_the_cluster_cannot_do_is_refused_with_the_remedy(worker_study, deadzone):
    study = worker_study(factors={"cpu_limit": ["none"]}, change="resize")
    said = deadzone("sweep", study, code=4)
    assert "a limit cannot be removed from a running pod" in said.err
    assert "target.change: auto or patch" in said.err


def test_the_arguments_reach_the_program_as_they_are(worker_study, sweep):
    awkward = """a b 'c' "d" $HOME `id` \\ ; | & * ~ é 가"""
    argv = ["printf", "%s|%s|%s\\n{threads}\\n", awkward, "", "x"]
    workload = {"env": {"GREETING": awkward}, "responses": {"n": {"regex": r"^(\d+)$"}}}
    run = sweep(worker_study(argv, {"threads": [1, 2]}, study={"workload": workload}))
    assert sorted(run.trials()["n"]) == [1.0, 2.0]


def test_what_comes_before_and_after_the_trials_runs_in_the_container(worker_study, sweep, left):
    workload = {
        "setup": ["sh", "-c", "echo 7 > {inputs}/seed"],
        "prepare": ["cp", "{inputs}/seed", "{scratch}/seed"],
        "cleanup": ["cp", "{inputs}/seed", "/tmp/cleaned"],
        "responses": {"seed": {"regex": r"^(\d+)$"}},
    }
    argv = ["sh", "-c", "cat {scratch}/seed; : {threads}"]
    run = sweep(worker_study(argv, {"threads": [1, 2]}, study={"workload": workload}))
    assert set(run.trials()["seed"]) == {7.0}
    assert left.inside("cat /tmp/cleaned").strip() == "7"


def test_exit_codes_time_outs_and_missing_programs_are_told_apart(worker_study, sweep):
    def trial(*argv, timeout_s=30):
        design = {"design": {"timeout_s": timeout_s}}
        study = worker_study([*argv, "{threads}"], {"threads": [1]}, study=design)
        return sweep(study).trials().iloc[0]

    failed = trial("sh", "-c", "exit 7")
    assert (failed["status"], failed["exit_code"]) == ("failed", 7)
    late = trial("sh", "-c", "sleep 60 & sleep 61", timeout_s=1)
    assert late["status"] == "timeout"
    assert 0.9 < late["wall_s"] < 20
    missing = trial("no-such-program")
    assert missing["status"] == "failed"
    assert "no program no-such-program" in missing["error"]
    killed = trial("sh", "-c", "kill -SEGV $$")
    assert (killed["status"], killed["exit_code"]) == ("failed", -11)


@pytest.mark.parametrize("end", ["deleted", "evicted"])
def test_a_pod_that_is_replaced_loses_the_trial_which_is_repeated(
    end, cluster, namespace, sleeping, left
):
    begun = sleeping(8)
    pod = left.pods()[0]["metadata"]["name"]
    if end == "evicted":
        cluster.evict(namespace, pod)
    else:
        cluster.kubectl("delete", "pod", pod, "--namespace", namespace, "--wait=false")
    lost, well = records(begun)
    assert (lost["status"], well["status"]) == ("lost", "ok")
    assert "during the trial" in lost["error"]
    assert lost["pod"] != well["pod"]


def test_a_trial_lost_in_a_pod_that_was_resized_is_repeated_there(sleeping, left):
    begun = sleeping(4, cpu_limit=[0.3])
    (pod,) = left.pods()
    left.inside("ps | grep '[/]tmp/deadzone' | while read pid rest; do kill -9 $pid; done")
    lost, well = records(begun)
    assert (lost["status"], well["status"]) == ("lost", "ok")
    assert lost["pod"] == well["pod"] == pod["metadata"]["name"]


@pytest.mark.alone("it measures throttling beside the kubelet's count")
def test_throttling_is_what_the_kubelet_counts(cluster, namespace, deployment, left, tmp_path):
    deployment(annotations=ALLOWED)
    pod = left.pods()[0]["metadata"]["name"]
    spec = KubernetesTargetSpec.model_validate(target(namespace, change="resize"))
    limits = Limits(0.2, *3 * ["unchanged"])
    with ExecTarget(spec, (limits,), Surroundings("probe", tmp_path)) as open_target:
        open_target.prepare(Treatment({"cpu_limit": 0.2}))
        before = figures(cluster, namespace, pod, "ffmpeg", time.time())
        # The kubelet counts the launcher's start and end as well, 0.03 s of CPU: the program takes
        # a hundred times that.
        work = ("/bin/busybox", "sh", "-c", "i=0; while [ $i -lt 2500000 ]; do i=$((i+1)); done")
        measured = open_target.execute(Command(work), 240)
        kubelet = figures(cluster, namespace, pod, "ffmpeg", time.time()).since(before)
    assert measured.status == "ok"
    assert measured.nr_throttled > 50
    assert abs(kubelet.throttled_periods / measured.nr_throttled - 1) < 0.02
    assert abs(kubelet.throttled_s / measured.throttled_s - 1) < 0.02
    assert abs(kubelet.cpu_s / (measured.user_s + measured.sys_s) - 1) < 0.02


def test_a_container_without_a_shell_is_lent_one(
    namespace, deployment, write_study, deadzone, sweep, bare_image, ffmpeg_image
):
    deployment(annotations=ALLOWED, image=bare_image)
    keys = {
        "argv": ["/usr/bin/ffmpeg", "-version"],
        "factors": {"cpu_limit": [0.5]},
        "design": {"replicates": 1},
    }
    said = deadzone("sweep", write_study(**keys, target=target(namespace)), code=4)
    assert "has no shell" in said.err
    assert "target.launcher_image" in said.err
    run = sweep(write_study(**keys, target=target(namespace, launcher_image=ffmpeg_image)))
    assert run.trials()["status"].tolist() == ["ok"]
    assert run.provenance()["measured_by"].endswith("a busybox lent to the container")


def test_a_clip_is_copied_into_the_pod_or_found_there_by_its_checksum(
    cluster, namespace, deployment, write_study, deadzone, sweep, left
):
    deployment(annotations=ALLOWED)
    clip = {"duration_s": 0.5, "width": 320, "height": 240}
    keys = {
        "workload": {"kind": "ffmpeg", "clip": clip, "scale": "320:240"},
        "factors": {"cpu_limit": [0.5]},
        "design": {"replicates": 1},
    }
    run = sweep(write_study(**keys, target=target(namespace)))
    trial = run.trials().iloc[0]
    assert trial["status"] == "ok"
    assert trial["frames"] == run.provenance()["clip_frames"]
    there = target(namespace, inputs={run.provenance()["clip"]: "/etc/hostname"})
    said = deadzone("sweep", write_study(**keys, target=there), code=4)
    assert "/etc/hostname" in said.err
    assert "checksum differs" in said.err
    left.check_nothing()


def test_kubectl_is_not_needed(worker_study, sweep, monkeypatch, tmp_path):
    study = worker_study()
    with monkeypatch.context() as bare:
        bare.setenv("PATH", str(tmp_path))
        with pytest.raises(FileNotFoundError):
            subprocess.run(("kubectl",), check=False)
        assert sweep(study).trials()["status"].tolist() == ["ok"]
