import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from sweeping import ALLOWED, SLEEP, Left, job_target, kill, resources, target

from deadzone.errors import TargetError
from deadzone_kubernetes.api.cluster import Cluster
from deadzone_kubernetes.lease.lease import DURATION_S, Lease

pytestmark = [pytest.mark.cluster, pytest.mark.kept]

CHANGED = {"limits": {"cpu": "300m"}, "requests": {"cpu": "50m"}}


@pytest.fixture
def long_study(worker_study):
    """A study whose trials sleep, under a limit that is not the Deployment's; in the end its own is
    in force again."""

    def make(change: str = "resize", replicates: int = 60, name: str = "probe"):
        factors = {"seconds": [0.2], "cpu_limit": [0.3]}
        return worker_study(SLEEP, factors, replicates, {"name": name}, change=change)

    return make


def changed(left: Left) -> bool:
    return CHANGED in left.pod_resources()


def test_a_workload_that_does_not_permit_it_is_not_touched_unless_allow_says_so(
    cluster, namespace, long_study, deadzone, left
):
    worker = ("deployment", "worker", "--namespace", namespace)
    cluster.kubectl("annotate", *worker, "deadzone.dev/sweep-")
    before = cluster.get(*worker)["metadata"]
    said = deadzone("sweep", long_study(), code=4)
    assert "lacks the annotation deadzone.dev/sweep: allowed" in said.err and "--allow" in said.err
    after = cluster.get(*worker)["metadata"]
    assert after["resourceVersion"] == before["resourceVersion"]
    assert left.leases() == []
    cluster.kubectl("annotate", *worker, "deadzone.dev/sweep=forbidden")
    assert "(its value is 'forbidden')" in deadzone("sweep", long_study(), code=4).err
    said = deadzone("sweep", long_study(replicates=1), "--allow", code=0)
    assert "because --allow says so" in said.err


def test_only_the_workload_that_the_study_names_is_touched(
    cluster, namespace, deployment, long_study, deadzone
):
    deployment("other", annotations=ALLOWED)

    def spec():
        found = cluster.get("deployment", "other", "--namespace", namespace)
        return found["metadata"]["generation"], found["metadata"].get("annotations")

    before = spec()
    assert deadzone("sweep", long_study("patch", replicates=1)).code == 0
    assert spec() == before
    cluster.kubectl("delete", "deployment/other", "--namespace", namespace)


@pytest.mark.parametrize("change", ["resize", "patch"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_limits_are_given_back_after_an_interruption(change, number, long_study, start, left):
    begun = start("sweep", long_study(change))
    begun.wait_for(lambda: changed(left), "the changed limit")
    kept = json.loads(left.annotation())
    amounts = {"limits.cpu": "1", "requests.cpu": "50m"}
    assert (kept["resources"]["amounts"], kept["container"]) == (amounts, "ffmpeg")
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    os.kill(begun.pid, number)
    assert "go on with `--resume" in begun.end_with(130)


def test_limits_are_given_back_after_a_failure(worker_study, deadzone):
    broken = ["sh", "-c", "echo broken >&2; exit 1"]
    said = deadzone("sweep", worker_study(broken, {"cpu_limit": [0.3]}, replicates=9), code=3)
    assert "The last 3 trials failed" in said.err
    assert "broken" in said.err


@pytest.mark.parametrize("change", [pytest.param("resize", marks=pytest.mark.core), "patch"])
def test_after_kill_9_restore_gives_back_and_resume_goes_on(
    change, namespace, long_study, start, deadzone, left
):
    study = long_study(change, replicates=15)
    begun = start("sweep", study)
    begun.wait_for(lambda: changed(left), "the changed limit")
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    kill(begun)
    assert left.annotation()
    said = deadzone("restore", "--json", "--namespace", namespace, code=0)
    assert "limit 1, request 50m again" in " ".join(json.loads(said.out)["restored"])
    left.check_nothing()
    deadzone("sweep", study, "--resume", "latest", code=0)
    lines = next(begun.runs.glob("*/*/trials.jsonl")).read_text().splitlines()
    assert sorted(json.loads(line)["trial"] for line in lines) == [*range(1, 16)]


def test_a_run_does_not_go_on_with_another_workload(
    cluster, namespace, long_study, start, deadzone, left
):
    study = long_study("resize", replicates=6)
    begun = start("sweep", study)
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    os.kill(begun.pid, signal.SIGINT)
    begun.end_with(130)
    assert " Z" not in left.inside("cat /proc/[0-9]*/stat | sed 's/.*)//'")
    cluster.kubectl(*("set", "env", "deployment/worker", "MODE=prod", "--namespace", namespace))
    cluster.kubectl("rollout", "status", "deployment/worker", "--namespace", namespace)
    resume = ("sweep", study, "--resume", "latest")
    said = deadzone(*resume, code=3)
    assert "began with another workload: env of ffmpeg was not there, is " in said.err
    left.check_nothing()
    deadzone(*resume, "-p", "target.on_change", "continue", code=0)
    lines = [json.loads(line) for line in next(begun.runs.glob("*/*/trials.jsonl")).open()]
    others = [line for line in lines if "other_workload" in line]
    assert others and not any(line["trusted"] for line in others)


def test_the_next_sweep_gives_back_what_a_killed_one_left(long_study, start, deadzone, left):
    begun = start("sweep", long_study("patch"))
    begun.wait_for(lambda: changed(left), "the changed limit")
    kill(begun)
    said = deadzone("sweep", long_study("resize", replicates=1), code=0)
    assert "left by the killed run" in said.err


def test_a_run_with_nothing_left_to_measure_gives_back_what_a_killed_sweep_left(
    namespace, ffmpeg_image, long_study, write_study, start, deadzone, left
):
    """It may have been killed itself, after its last trial."""
    done = long_study(replicates=1, name="done")
    assert deadzone("sweep", done).code == 0
    jobs = write_study(
        "jobs",
        argv=SLEEP,
        target=job_target(namespace, ffmpeg_image),
        factors={"seconds": [60], "cpu_limit": [0.2]},
    )
    killed = [start("sweep", long_study(name="killed")), start("sweep", jobs)]
    killed[0].wait_for(lambda: changed(left), "the changed limit")
    killed[1].wait_for(left.jobs, "a Job")
    for begun in killed:
        kill(begun)
    said = deadzone("sweep", done, "--resume", "done/latest", code=0)
    assert "limit 1, request 50m again" in said.err and "removed" in said.err


def test_a_program_that_a_killed_sweep_left_running_is_ended(namespace, sleeping, deadzone, left):
    kill(sleeping(777))
    assert "sleep 777" in left.inside("ps")
    assert deadzone("restore", "--namespace", namespace).code == 0
    assert "sleep 777" not in left.inside("ps")


def test_the_lock_of_a_sweep_that_was_killed_before_it_changed_anything_is_given_up(
    namespace, deployment, deadzone, left
):
    deployment(annotations=ALLOWED)
    taking = (
        "import os; from deadzone_kubernetes.api.cluster import Cluster;from "
        f"deadzone_kubernetes.lease.lease import Lease;Lease(Cluster(), {namespace!r}, "
        "'deadzone-deployment-worker', 'it', 'run').acquire(); os._exit(9)"
    )
    assert subprocess.run((sys.executable, "-c", taking), check=False).returncode == 9
    assert left.leases() == ["deadzone-deployment-worker"]
    said = deadzone("restore", "--namespace", namespace, code=0)
    assert "lease/deadzone-deployment-worker" in said.out
    left.check_nothing()


def test_two_sweeps_never_share_a_workload(namespace, long_study, start, deadzone, left):
    study = long_study()
    first = start("sweep", study)
    first.wait_for(lambda: first.trials(), "the first trial")
    second = deadzone("sweep", study, code=4)
    assert "Another sweep works on deployment/worker" in second.err
    restored = deadzone("restore", "--namespace", namespace, code=0)
    assert "left alone: Another sweep works on deployment/worker" in restored.err
    assert first.process.poll() is None
    assert changed(left)
    os.kill(first.pid, signal.SIGINT)
    first.end_with(130)


@pytest.mark.alone("it counts what a whole cluster holds")
def test_what_goes_with_its_namespace_needs_nothing_back(
    cluster, namespace, deployment, write_study, start, deadzone, left
):
    deployment(annotations=ALLOWED)
    factors = {"seconds": [600], "cpu_limit": [0.3]}
    begun = start("sweep", write_study(argv=SLEEP, target=target(namespace), factors=factors))
    begun.wait_for(lambda: changed(left), "the changed limit")
    kill(begun)

    def keep(finalizers: list[str]) -> None:
        body = json.dumps({"metadata": {"finalizers": finalizers}})
        cluster.kubectl(
            "patch", "deployment/worker", "--namespace", namespace, "--type=merge", "--patch", body
        )

    keep(["deadzone.dev/test"])
    try:
        cluster.kubectl("delete", "namespace", namespace, "--wait=false")
        cluster.wait_for(
            lambda: not cluster.get("leases", "--namespace", namespace)["items"], "no lock"
        )
        assert left.annotation()
        deadzone("restore", code=0)
    finally:
        keep([])


def test_a_lock_is_taken_over_only_from_a_holder_that_is_silent(cluster, namespace):
    def lease(run: str) -> Lease:
        made = Lease(Cluster(), namespace, "lock", "the thing", run)
        made.holder = f"{run}@elsewhere/0/nobody"
        return made

    lively, late = lease("lively"), lease("late")
    lively.acquire()
    with pytest.raises(TargetError, match=r"Another sweep works on the thing: lively@elsewhere"):
        late.acquire()
    lively._stop.set()  # as if the machine had gone
    began = time.monotonic()
    late.acquire()
    assert time.monotonic() - began >= DURATION_S
    with pytest.raises(TargetError, match=r"has lost its lock on the thing: late@elsewhere"):
        lively.check()
    lively._renew()  # of a thread that waited for its turn
    lively.release()
    late.check()
    late.release()
    assert Left(cluster, namespace).leases() == []


def test_of_two_that_take_over_at_once_one_gets_it(cluster, namespace):
    dead = Lease(Cluster(), namespace, "lock", "the thing", "dead")
    dead.acquire()
    dead._stop.set()
    cluster.kubectl(
        *("patch", "lease", "lock", "--namespace", namespace, "--type=merge"),
        '--patch={"spec":{"renewTime":"2020-01-01T00:00:00.000001Z"}}',
    )
    got: list[str] = []

    def take(run: str) -> None:
        lease = Lease(Cluster(), namespace, "lock", "the thing", run)
        try:
            lease.acquire()
            got.append(run)
        except TargetError:
            pass

    threads = [threading.Thread(target=take, args=(f"run-{i}",)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1


def test_an_annotation_that_something_changed_is_not_guessed_at(
    cluster, namespace, deployment, deadzone, left
):
    deployment(annotations={**ALLOWED, "deadzone.dev/original-resources": "{}"})
    said = deadzone("restore", "--namespace", namespace, code=4)
    assert "cannot be read, so what it had before is not known" in said.err
    assert said.out == ""
    assert deadzone("restore", "--namespace", "default").code == 0
    template = resources(cluster.get("deployment", "worker", "--namespace", namespace))
    assert template == {"limits": {"cpu": "1"}, "requests": {"cpu": "50m"}}
