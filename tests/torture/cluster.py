"""A scene on a cluster: a sweep of pods on a real node, under the account of deploy/rbac.yaml."""

import atexit
import json
import os
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import node
from accounts import ACCOUNT, is_cluster_wide, kubeconfig_with, rules_of_the_account
from administering import Cluster, Manifest
from node_cgroups import processes
from node_images import FFMPEG_IMAGE
from node_places import API_PORT, NODE, NODE_ADDRESS
from sweeping import owners_of_resources

from deadzone.store.run import TRIALS_FILE, RunFolder
from torture import harness, oracle
from torture.harness import Arming, Command
from torture.link import Link
from torture.scene import Scene, a_number

harness.LOADED += [
    *("kubernetes.client", "kubernetes.config", "kubernetes.stream"),
    *("deadzone_kubernetes.exec_target", "deadzone_kubernetes.job_target"),
]

PATIENCE_S = 300.0
"""What a command may take that waits for a server, a lock of somebody silent, and a pod."""

ORIGINAL = {"limits": {"cpu": "1", "memory": "64Mi"}, "requests": {"cpu": "50m", "memory": "64Mi"}}

ORDERLY = {"ConfigMap kube-root-ca.crt"}
"""What the cluster itself puts into a namespace."""

SHARED = "/shared"
"""A folder of the scene, in every pod of it."""

PROGRAM = """echo {{threads}} >> {shared}/ran
sleep 0.2
if [ -e {shared}/hungry ]; then rm -f {shared}/hungry; x=$(head -c 300000000 /dev/zero | tr '\\0' a); exit 9; fi
echo {{threads}}"""  # noqa: E501
"""What is swept: a fifth of a second, or once more memory than it may have."""

WORKLOADS = ("deployment", "deployment", "statefulset")

OWED = ("`deadzone restore`", "has lost its lock")
"""Words of a sweep that says that something is left to be given back."""

TRIES = 3
"""So often a fault looks for a sweep that runs at its instant."""


def is_ending(found: Manifest) -> bool:
    """Whether an object is about to go."""
    return bool(found["metadata"].get("deletionTimestamp"))


@lru_cache(maxsize=1)
def real_cluster() -> Cluster:
    """The node of `make cluster`, brought up if need be, and down again then."""
    was_up = node.is_up()
    kubeconfig = node.up()
    if not was_up:
        atexit.register(node.down)
    return Cluster(kubeconfig, own=True)


class ClusterScene(Scene):
    """A sweep of a Deployment or a StatefulSet, resized or patched, or of Jobs. It runs through
    several faults, as long as it bears them."""

    lasts_s: ClassVar[float] = 6.0
    most_faults: ClassVar[int] = 8

    @classmethod
    def faults(cls) -> Mapping[str, Callable[[Any], None]]:
        """Those of the cluster, and signals to the sweep."""
        from torture.cluster_faults import CLUSTER_FAULTS

        return CLUSTER_FAULTS

    def asked(self) -> dict[str, Any]:
        self.cluster = real_cluster()
        self.link = Link((NODE_ADDRESS, API_PORT))
        self.namespace = f"torture-{os.getpid()}-{time.monotonic_ns() // 1_000_000}"
        self.current: Command | None = None
        self.codes: set[int] = {0}
        self.is_owed = self._afresh = False
        self.most = 3  # pods of the autoscaler, where the workload has one
        self.repairs: list[Callable[[], None]] = []
        self.shared.mkdir()
        self.shared.chmod(0o777)
        self.await_node()
        self.way = self.draw.choice(["resize", "resize", "patch", "auto", "job", "jobs"])
        self.workload = "" if "job" in self.way else f"{self.draw.choice(WORKLOADS)}/worker"
        self.story.append(f"{self.way} {self.workload}".strip())
        self.is_scaled = self.workload.startswith("deployment") and self.draw.random() < 0.5
        self._make()
        few = self.way == "patch"
        return {
            "workload": a_number(PROGRAM.format(shared=SHARED)), "target": self._target(),
            "factors": {"threads": self.draw.sample(range(1, 99), 1 if few else 2),
                        "cpu_limit": self.draw.sample([0.2, 0.3, 0.4, 0.5, 0.6], 2)},
            "design": {"replicates": 2, "warmup": 0},
        }  # fmt: skip

    def _target(self) -> dict[str, Any]:
        common = {"kind": "kubernetes", "namespace": self.namespace, "start_timeout_s": 60}
        if self.workload:
            paused = {"autoscaler": "pause"} if self.is_scaled else {}
            return {**common, "workload": self.workload, "change": self.way, **paused}
        folder = {"name": "shared", "hostPath": {"path": str(self.shared)}}
        mount = {"name": "shared", "mountPath": SHARED}
        job = {"image": FFMPEG_IMAGE, "one_a_node": False, "cpu_request": 0.02, "memory": "64Mi"}
        places = {"volumes": [folder], "volume_mounts": [mount], "parallelism": self.workers}
        return {**common, "mode": "job", "job": {**job, **places}}

    @property
    def workers(self) -> int:
        """Trials that may run at once."""
        return 2 if self.way == "jobs" else 1

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    @property
    def hungry(self) -> Path:
        return self.shared / "hungry"

    def _make(self) -> None:
        cluster, name = self.cluster, self.namespace
        cluster.kubectl("create", "namespace", name)
        self.rules = rules_of_the_account(name)
        cluster.apply(*self.rules)
        token = cluster.wait_for(self._token, "a token")
        path = self.folder / "kubeconfig"
        server = f"https://127.0.0.1:{self.link.port}"
        path.write_text(kubeconfig_with(cluster.kubeconfig, token, server=server))
        self.environment = {"KUBECONFIG": str(path)}
        if not self.workload:
            return
        self.await_true(lambda: "default" in self.objects("serviceaccounts"), "the default account")
        cluster.apply(self._manifest())
        self.await_workload()
        self.original = self._state_of_workload()
        if self.is_scaled:
            self.kubectl(
                "autoscale", self.workload, "--min=1", f"--max={self.most}", "--cpu-percent=60"
            )

    def _token(self) -> str:
        with suppress(AssertionError):
            return self.cluster.kubectl(
                "create", "token", ACCOUNT, "--namespace", self.namespace
            ).strip()
        return ""

    def _manifest(self) -> Manifest:
        kind, _, name = self.workload.partition("/")
        labels, volume = {"app": name}, {"name": "shared", "hostPath": {"path": str(self.shared)}}
        container = {"name": "ffmpeg", "image": FFMPEG_IMAGE, "imagePullPolicy": "IfNotPresent"}
        container["volumeMounts"] = [{"name": "shared", "mountPath": SHARED}]
        pod = {"containers": [{**container, "resources": ORIGINAL}], "volumes": [volume]}
        template = {
            "metadata": {"labels": labels},
            "spec": {**pod, "terminationGracePeriodSeconds": 1},
        }
        spec = {"selector": {"matchLabels": labels}, "template": template}
        allowed = {"annotations": {"deadzone.dev/sweep": "allowed"}}
        return {
            "apiVersion": "apps/v1",
            "kind": {"deployment": "Deployment", "statefulset": "StatefulSet"}[kind],
            "metadata": {"name": name, "namespace": self.namespace, **allowed},
            "spec": spec | ({"serviceName": name} if kind == "statefulset" else {}),
        }

    def kubectl(self, *arguments: str) -> str:
        return self.cluster.kubectl("--namespace", self.namespace, *arguments)

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", "--output=json", "--show-managed-fields", *arguments))

    def objects(self, kind: str) -> set[str]:
        """Names of objects of a kind that are to stay."""
        return {one["metadata"]["name"] for one in self.get(kind)["items"] if not is_ending(one)}

    def pods(self) -> list[dict[str, Any]]:
        """Pods that are to stay, the newest last."""
        found = [pod for pod in self.get("pods")["items"] if not is_ending(pod)]
        return sorted(found, key=lambda pod: str(pod["metadata"].get("creationTimestamp")))

    def first_processes(self) -> list[int]:
        """Process ids of the first process of each container of the scene."""
        uids = [pod["metadata"]["uid"] for pod in self.pods()]
        found = []
        for pid in processes():
            with suppress(OSError):
                group, status = (
                    Path(f"/proc/{pid}/{name}").read_text() for name in ("cgroup", "status")
                )
                lines = status.splitlines()
                inside = next(line for line in lines if line.startswith("NSpid")).split()
                # The first process of a pod holds its namespaces: `pause` here is a sleep with
                # another image.
                is_one = any(uid in group for uid in uids) and inside[-1] == "1"
                if is_one and SHARED in Path(f"/proc/{pid}/mountinfo").read_text():
                    found.append(pid)
        return found

    def _state_of_workload(self) -> dict[str, Any]:
        found = self.get(*self.workload.split("/"))
        annotations = dict(found["metadata"].get("annotations") or {})
        annotations.pop("deployment.kubernetes.io/revision", None)
        # when somebody asked for a rollout
        found["spec"]["template"]["metadata"].pop("annotations", None)
        owned = owners_of_resources(found)
        return {"spec": found["spec"], "annotations": annotations, "owned": owned}

    def is_answering(self) -> bool:
        """Whether the server answers and the node is ready."""
        with suppress(AssertionError):
            found = self.cluster.get("node", NODE)["status"]["conditions"]
            return any(one["type"] == "Ready" and one["status"] == "True" for one in found)
        return False

    def await_node(self) -> None:
        self.cluster.wait_for(self.is_answering, "the node is ready", PATIENCE_S)

    def await_true(
        self, condition: Callable[[], Any], what: str, patience_s: float = 120.0
    ) -> None:
        """Wait until something is the case; a server that does not answer says that it is not."""

        def told() -> bool:
            with suppress(AssertionError, LookupError):
                return bool(condition())
            return False

        self.cluster.wait_for(told, what, patience_s)

    def has_good_pod(self) -> bool:
        """Whether the workload has its one pod, and it is ready; one that crashed too often is
        replaced at once."""
        pods = self.get("pods")["items"]
        for pod in pods:
            for state in pod["status"].get("containerStatuses") or []:
                waiting = (state.get("state") or {}).get("waiting", {})
                if waiting.get("reason") == "CrashLoopBackOff":
                    self.kubectl("delete", "pod", pod["metadata"]["name"], "--wait=false")
        conditions = [one for pod in pods for one in pod["status"].get("conditions") or []]
        return len(pods) == 1 and any(
            one["type"] == "Ready" and one["status"] == "True" for one in conditions
        )

    def await_workload(self) -> None:
        if self.workload:
            self.await_true(self.has_good_pod, f"{self.workload} has one pod that is ready")

    def start(self, arming: Arming | None = None, resumed: RunFolder | None = None) -> Command:
        run = None if self._afresh else resumed or self.run()
        self._afresh = False
        more = ("--resume", run.run_id) if run else ()
        return self.command("sweep", str(self.study), *more, arming=arming)

    def command(
        self, *arguments: str, home: Path | None = None, arming: Arming | None = None
    ) -> Command:
        """Start a command as the account of the scene."""
        how = {"environment": self.environment, "patience_s": PATIENCE_S}
        self.commands.append(Command(home or self.home, *arguments, arming=arming, **how))
        return self.commands[-1]

    def going(self) -> Command:
        """The sweep that runs; the next one, where it has ended."""
        if self.current and not self.current.runs():
            self.settle()
        if self.current is None:
            self.heal()
            self._next_run()
            self.current, self.codes = self.start(), {0}
        return self.current

    def _next_run(self) -> None:
        """Of a run that is whole there is nothing left to disturb: ask the oracle about it, and
        begin another one. One that was killed before it wrote its tables is resumed."""
        run = self.run()
        if run and self.is_whole() and (run.folder / TRIALS_FILE).exists():
            self.check_run(run)
            self._afresh, self._kept, self.harmed = True, b"", 0
            time.sleep(1.1)  # names of runs tell seconds, by which the last one is found

    def is_whole(self) -> bool:
        """Whether the run has every trial."""
        run = self.run()
        return run is not None and len(run.finished()) == len(
            oracle.planned_file(self.study).trials
        )

    def recorded(self) -> int:
        """Attempts in all journals of the scene."""
        journals = self.folder.rglob("trials.jsonl")
        return sum(path.read_bytes().count(b"\n") for path in journals)

    def instant(self) -> Command:
        """A sweep that runs, at an instant that is drawn: of a trial, or any."""
        for _ in range(TRIES):
            command = self.going()
            if self.draw.random() < 0.6:
                had = self.recorded()
                command.wait_for(lambda had=had: self.recorded() > had)
                command.wait(self.draw.uniform(0, 0.4))
            else:
                command.wait(self.draw.uniform(0, self.lasts_s))
            if command.runs():
                return command
        return self.going()

    def bears(self, *codes: int) -> None:
        """The sweep that runs may end with these codes too."""
        self.codes |= set(codes)

    def settle(self, killed: bool = False) -> None:
        """Wait for the end of the sweep that runs, and ask the oracle."""
        command, self.current = self.current, None
        if command:
            self.ended(command, killed, self.codes)

    def ended(
        self, command: Command, killed: bool = False, codes: Collection[int] = oracle.DOCUMENTED
    ) -> None:
        super().ended(command, killed, codes)
        self.is_owed |= killed or any(words in command.printed() for words in OWED)
        self.heal()
        if self.is_owed and self.draw.random() < 0.5:
            self.restore()
        if not self.is_owed:
            self.check_given_back()

    def oracle_of(self, command: Command, codes: Collection[int]) -> None:
        """Wait for a command beside the sweep that runs, and ask the oracle of its end alone."""
        oracle.check_ended(command, False, codes)

    def heal(self) -> None:
        """Whatever the faults took away is there again."""
        self.link.mend()
        self.await_node()
        self.hungry.unlink(missing_ok=True)
        while self.repairs:
            self.repairs.pop()()
        self.await_workload()

    def permit(self) -> None:
        """The account has its permissions, and the server knows."""
        self.cluster.apply(*[one for one in self.rules if one["kind"] == "RoleBinding"])
        who = f"--as=system:serviceaccount:{self.namespace}:{ACCOUNT}"
        self.await_true(
            lambda: "yes" in self.kubectl("auth", "can-i", "get", "leases", who), "permissions"
        )

    def unlimit(self) -> None:
        """Nothing is forbidden in the namespace."""
        self.kubectl("delete", "limitranges,resourcequotas", "--all")

    def edited(self, patch: str) -> bool:
        """Whether a colleague's patch of the autoscaler went through."""
        name = self.workload.split("/")[1]
        return bool(
            self.kubectl("patch", "hpa", name, "--field-manager=colleague", f"--patch={patch}")
        )

    def unscale(self) -> None:
        """The workload has no autoscaler."""
        self.kubectl("delete", "hpa", "--all")

    def uncordon(self) -> None:
        """The node takes new pods."""
        self.cluster.kubectl("uncordon", NODE)

    def restore(self) -> None:
        """As whoever finds a workload that a dead sweep left changed."""
        self.story.append("restored")
        command = self.command("restore", "--namespace", self.namespace)
        oracle.check_ended(command, False, {0})
        assert "left alone" not in command.printed(), command.printed()
        self.is_owed = False
        self.check_given_back()

    def check_given_back(self) -> None:
        """The workload is as its owner had it, and nothing of a sweep is left in the namespace."""
        found = [one for one in self.get("leases,jobs,configmaps")["items"] if not is_ending(one)]
        left = {f"{one['kind']} {one['metadata']['name']}" for one in found} - ORDERLY
        assert not left, f"left in the namespace: {left}"
        if not self.workload:
            self.await_true(lambda: not self.pods(), "no pod of a Job is left", 60)
            return
        now = self._state_of_workload()
        assert now == self.original, f"not as it was: {now}"
        if self.is_scaled:
            scaler = self.get("hpa", self.workload.split("/")[1])["spec"]
            assert (scaler["minReplicas"], scaler["maxReplicas"]) == (1, self.most), (
                f"not as it was: {scaler}"
            )
        self.await_workload()
        self.await_true(self._pods_are_original, "its pods have their own resources", 60)
        inside = (self.workload, "--", "/bin/sh", "-c")
        said: list[str] = []

        def look() -> bool:  # again where it meets a container that was just started anew
            said[:] = [self.kubectl("exec", *inside, "ls -d /tmp/deadzone* 2>/dev/null; ps")]
            return True

        self.await_true(look, "its container answers", 60)
        ours = ("/tmp/deadzone", SHARED)
        lines = (line for line in said[0].splitlines() if "ls -d" not in line)
        strange = [line for line in lines if any(word in line for word in ours)]
        assert not strange, f"left in the container: {strange}"

    def _pods_are_original(self) -> bool:
        """Spoken of by the specification, and by what the kubelet has put in force."""
        told = [
            (pod["spec"]["containers"][0]["resources"], container.get("resources"))
            for pod in self.pods()
            for container in pod["status"]["containerStatuses"][:1]
        ]
        return told == [(ORIGINAL, ORIGINAL)]

    def check_run(self, run: RunFolder) -> None:
        """Besides what holds for every run: each trial had its limit, and no program ran that no
        line tells of."""
        oracle.check_whole(run, self.study, self.harmed, ordered=self.workers == 1)
        trials = run.trials()
        well = trials[trials["status"] == "ok"]
        quota = well["cpu_max"].str.split().str[0].astype(float)
        wrong = well[(quota / 100_000 - well["cpu_limit"].astype(float)).abs() > 1e-6]
        assert wrong.empty, (
            f"another limit was in force: {wrong[['trial', 'cpu_limit', 'cpu_max']]}"
        )
        self._check_programs(len(well))

    def _check_programs(self, well: int) -> None:
        """Programs that ran, against trials that are told: one for each that went well, and none
        besides those that were cut."""
        file = self.shared / "ran"
        ran = len(file.read_text().split()) if file.exists() else 0
        assert ran >= well, f"{well} trials went well, and {ran} programs ran"
        assert ran <= self._told(), f"{ran} programs ran, and at most {self._told()} can have"

    def _told(self) -> int:
        """Attempts in the journals, and those that a part may have begun and not told of."""
        cut = sum(command.code != 0 for command in self.commands)
        return self.recorded() + cut * self.workers

    def finish(self) -> None:
        """Go on to the end, and ask the oracle about all of it."""
        self.settle()
        self.heal()
        # The sweep of a workload gives back what a killed one left, and one with no trial left what
        # it finds in the namespace.
        gives_back = bool(self.workload) or self.is_whole()
        if self.is_owed and not (gives_back and self.draw.random() < 0.5):
            self.restore()
        self.story.append("resumed")
        self.is_owed = False
        self.ended(self.start(), codes={0})
        run = self.run()
        assert run
        self.check_run(run)
        oracle.check_nothing_left(self.commands, self.folder)

    def close(self) -> None:
        self.link.close()
        for command in self.commands:
            command.kill()
        with suppress(AssertionError):
            self.kubectl("delete", "pods", "--all", "--grace-period=1", "--wait=false")
            # Waited for, as its pods write into the folder of the scene, which is removed next.
            self.cluster.kubectl("delete", "namespace", self.namespace, "--timeout=60s")
            for one in filter(is_cluster_wide, self.rules):
                self.cluster.kubectl(
                    "delete", one["kind"], one["metadata"]["name"], "--ignore-not-found"
                )
