"""A container that trials run in: the launcher brought there, its actions, and plain file work.

All of it goes through short commands that may be repeated without harm; only the launcher's own
rule (a trial's folder is made once) decides that a program runs, and that it runs once.

Lending a busybox to a container that has no shell.

An ephemeral container of an image with a static /bin/busybox sees the processes of the target
container, and by /proc/1/root its files: it copies the busybox there and ends. Its entry stays in
the pod, which cannot be undone but by a new pod; so it is made only where the study names an image
for it.
"""

import contextlib
import hashlib
import secrets
import time
from collections.abc import Sequence
from importlib import resources
from math import inf, isclose
from pathlib import Path, PurePosixPath

from deadzone.plugins import Command, TargetError
from deadzone.run.targets.limits.base import Counters
from deadzone_kubernetes.api import streams
from deadzone_kubernetes.api.cluster import MANAGER, Cluster, ClusterError, Object
from deadzone_kubernetes.container.accounting import ContainerReading, cores_of, reading
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.workload import container_of, container_status, pod_now

SHELLS: tuple[tuple[str, ...], ...] = (
    ("/bin/sh",),
    ("/busybox/sh",),
    ("/bin/busybox", "sh"),
    ("/bin/bash",),
)
"""Where images keep a shell; the second is that of distroless images for debugging."""

END_OF_FILE = "@@@ end of file @@@"

TELEMETRY_PERIOD_S = 1.0
"""A reading costs the container two or three milliseconds of CPU: a quarter of a percent of a core
[s]."""

COLLECT_MARGIN_S = 60.0
"""What a trial's start and its telling take beyond the trial itself, at the smallest limit [s]."""

LONGEST_STREAM_S = 240.0
"""So long one stream waits for a trial; the next one notices a pod that is gone, and a launcher
that died [s]."""

LAST_LOOK_S = 30.0
"""How long is waited for the result of a trial whose time is over, as after an outage [s]."""

NOT_STARTED, CANNOT_WRITE, LAUNCHER_DIED = 90, 91, 92
"""Exit codes of the launcher."""

TOLD = "told"

WRITE_FILE = (
    'dz=$1; : >"$dz"; while IFS= read -r line && [ "$line" != "$2" ]; do printf "%s\\n" '
    '"$line" >>"$dz"; done'
)
"""Receives a text with nothing but a shell's own commands."""

MAKE_HOME = """mkdir -p "$1" || exit
own=$(stat -c %d / 2>/dev/null) && [ "$own" = "$(stat -c %d "$1")" ] || exit 0
h='[0-9a-f]'
for left in "${1%/*}"/deadzone-$h$h$h$h$h$h$h$h; do
    [ "$left" != "$1" ] && [ -e "$left/launch" ] || continue
    $2 "$left/launch" stop "$left" "$2" "$3"
    rm -rf "$left"
done
exit 0"""
"""Makes the folder, then ends and removes what a sweep left that the container did not answer any
more; not on a volume, which others may share."""

CLEANING_TIMEOUT_S = 600.0
"""What is left may be inputs of some gigabytes [s]."""

PREPARE = "prepare"
"""How the files of a preparation begin."""

RECEIVE = 'mkdir -p "${1%/*}" && head -c "$2" >"$1.part" && mv "$1.part" "$1"'


IN_FORCE_TIMEOUT_S = 10.0
"""The kubelet writes the group a moment after it says so, if at all [s]."""

LOOK_EVERY_S = 0.05

ROUNDING = 1e-6

LARGEST_PAGE = 65_536
"""Of the kernels that nodes have [bytes]."""

UNLIMITED_BYTES = 2**62
"""Version 1 has its largest number for no limit, a little more than this."""


class NotStartedError(ClusterError):
    """The trial was not started, and never will be: it may be asked for again under another
    name."""


class LauncherDiedError(ClusterError):
    """Whatever measured the trial is gone, and with it what it measured."""


class PodContainer:
    """One container of one pod, with the launcher in it."""

    def __init__(
        self,
        cluster: Cluster,
        pod: Object,
        name: str,
        home: PurePosixPath,
        lent: PurePosixPath | None = None,
    ) -> None:
        """pod: as it was last seen. name: of the container. home: folder for Deadzone's files in
        it. lent: where a busybox was brought for it."""
        self.cluster = cluster
        self.pod = pod
        self.spot = streams.Spot.of(pod, name)
        self.home = home
        self._shell: tuple[str, ...] = (str(lent / "busybox"), "sh") if lent else ()
        self._tools = str(lent / "bin") if lent else "-"

    def open(self) -> ContainerReading:
        """Find the shell, bring the launcher, and look around.

        Raises TargetError where the container has no shell or nothing can be written.
        """
        self._shell = self._shell or self.find_shell()
        text = resources.files(__package__).joinpath("launcher.sh").read_text()
        stdin = f"{text}\n{END_OF_FILE}\n".encode()
        where = (str(self.home), " ".join(self._shell), self._tools)
        wrote = self.shell(MAKE_HOME, *where, timeout_s=CLEANING_TIMEOUT_S)
        if not wrote.returncode:
            wrote = self.shell(WRITE_FILE, str(self.home / "launch"), END_OF_FILE, stdin=stdin)
        if wrote.returncode:
            raise self._unwritable(wrote.stderr.strip())
        return self.probe()

    def _unwritable(self, why: str = "it is read-only, or not this user's") -> TargetError:
        return TargetError(
            f"Nothing can be written to {self.home} in {self.spot}: {why}. Name a folder that can: "
            "target.scratch, an emptyDir volume for example."
        )

    def find_shell(self) -> tuple[str, ...]:
        """Where the image keeps a shell. Raises TargetError where it has none."""
        for shell in SHELLS:
            with contextlib.suppress(streams.NoProgramError):
                if self._patiently((*shell, "-c", "exit 0")).returncode == 0:
                    return shell
        raise TargetError(
            f"{self.spot} has no shell (looked for "
            f"{', '.join(' '.join(shell) for shell in SHELLS)}). Give target.launcher_image, an "
            "image with a static /bin/busybox, and one is lent to it."
        )

    def shell(
        self, script: str, *arguments: str, stdin: bytes = b"", timeout_s: float = 60.0
    ) -> streams.Answer:
        """Run a few lines of shell that may be run twice, also when the stream breaks meanwhile."""
        path = f'PATH="{self._tools}:$PATH"; ' if self._tools != "-" else ""
        argv = (*self._shell, "-c", path + script, "deadzone", *arguments)
        return self._patiently(argv, stdin, timeout_s)

    def _patiently(
        self, argv: Sequence[str], stdin: bytes = b"", timeout_s: float = 60.0
    ) -> streams.Answer:
        deadline = time.monotonic() + timeout_s + self.cluster.patience_s
        while True:
            try:
                return streams.run(self.cluster, self.spot, tuple(argv), stdin, timeout_s)
            except streams.StreamBrokenError:
                if time.monotonic() > deadline:
                    raise
                self.cluster.pause(1.0)

    def probe(self) -> ContainerReading:
        """What the container has now, with the limit in force in its own control group."""
        probe = reading(self._act("probe").stdout.splitlines())
        if "writable" not in probe.lines:
            raise self._unwritable()
        return probe

    def count(self) -> Counters:
        """Its accounting now. The reading itself costs the container a few milliseconds of CPU."""
        return reading(self._act("count").stdout.splitlines()).counters()

    def _argv(self, action: str, *arguments: str) -> tuple[str, ...]:
        launch, shell = str(self.home / "launch"), " ".join(self._shell)
        return (*self._shell, launch, action, str(self.home), shell, self._tools, *arguments)

    def _act(self, action: str) -> streams.Answer:
        answer = self._patiently(self._argv(action))
        if answer.returncode:
            raise ClusterError(
                f"The launcher in {self.spot} failed to {action}: {answer.stderr.strip()[-300:]}."
            )
        return answer

    def run_trial(self, command: Command, timeout_s: float) -> str:
        """Run a command as one trial; what the launcher tells of it. A broken stream neither ends
        nor repeats it.

        Raises NotStartedError if it was never started, LauncherDiedError if what measured it is
        gone, AbsentError if the container is.
        """
        trial = secrets.token_hex(4)
        env = [f"{name}={value}" for name, value in command.env.items()]
        timing = (str(max(1, round(timeout_s * 100))), f"{TELEMETRY_PERIOD_S:g}")
        where = (str(command.cwd or ""), str(len(env)), *env)
        deadline = time.monotonic() + timeout_s + COLLECT_MARGIN_S
        argv, answer = self._argv("run", trial, *timing, *where, *command.argv), None
        while answer is None:
            left = deadline - time.monotonic()
            longest_s = min(max(left, LAST_LOOK_S), LONGEST_STREAM_S)
            try:
                answer = streams.run(self.cluster, self.spot, argv, timeout_s=longest_s)
            except streams.StreamBrokenError as error:
                if left <= 0:
                    late = f"A trial in {self.spot} did not end in its time."
                    raise LauncherDiedError(late) from error
                argv = self._argv("await", trial)
                self.cluster.pause(1.0)
        if answer.returncode == NOT_STARTED:
            raise NotStartedError(f"A trial in {self.spot} was not started.")
        if answer.returncode == CANNOT_WRITE:
            raise self._unwritable()
        if answer.returncode or not answer.stdout.rstrip().endswith(TOLD):
            raise LauncherDiedError(
                f"The launcher in {self.spot} ended with code {answer.returncode}: "
                f"{answer.stderr.strip()[-300:] or 'killed'}."
            )
        return answer.stdout

    def clean(self) -> bool:
        """Kill what trials left running, of a sweep that was killed too, and remove the folder;
        whether there was one."""
        self._shell = self._shell or self.find_shell()
        there = self.shell('[ -d "$1" ] || exit 2; [ -e "$1/launch" ]', str(self.home)).returncode
        if there == 0:
            self._act("stop")
        self.shell('rm -rf "$1"', str(self.home))
        return there != 2

    def prepare(
        self, script: str, argv: Sequence[str], cwd: Path | None, timeout_s: float
    ) -> streams.Answer:
        """Run a program unmeasured, with the container's own PATH; what it prints goes to a file
        named by $0."""
        command = (*self._shell, "-c", script, str(self.home / PREPARE), str(cwd or ""), *argv)
        return streams.run(self.cluster, self.spot, command, timeout_s=timeout_s)

    def send(self, source: Path, there: Path) -> None:
        """Copy a file into the container, and compare checksums where the container can.

        Raises TargetError if what arrives is not what was sent.
        """
        content = source.read_bytes()
        where, size = (str(there), str(len(content))), len(content)
        for _ in range(3):
            answer = self.shell(RECEIVE, *where, stdin=content, timeout_s=600.0)
            if self.holds(there, hashlib.sha256(content).hexdigest(), size):
                return
        why = answer.stderr.strip() or "it arrives damaged"
        raise TargetError(f"{source.name} cannot be copied into {self.spot}: {why}.")

    def holds(self, there: Path, sha256: str, size: int) -> bool:
        """Whether a file of the container has this content; by its size where the container has no
        sha256sum."""
        script = 'if command -v sha256sum >/dev/null; then sha256sum "$1"; else wc -c <"$1"; fi'
        words = self.shell(script, str(there), timeout_s=600.0).stdout.split()
        return bool(words) and words[0] in (sha256, str(size))


def verified(container: PodContainer, must: Resources) -> ContainerReading:
    """Look into the container's control group until it has the amounts.

    Raises TargetError if it does not get them, or shows no control group.
    """
    for _ in container.cluster.looks(IN_FORCE_TIMEOUT_S, LOOK_EVERY_S):
        probe = container.probe()
        if not probe.numbers["cgroup"]:
            raise TargetError(
                f"{container.spot} shows no control group, so no limit can be verified and nothing "
                "be measured."
            )
        if not (differing := not_in_force(probe, must)):
            return probe
    raise TargetError(
        f"The control group of {container.spot} says {differing} was asked for, "
        f"{IN_FORCE_TIMEOUT_S:g} s after the cluster called it done."
    )


def not_in_force(probe: ContainerReading, must: Resources) -> str:
    """The first amount that the control group does not have, in words; empty where it has them
    all."""
    have = cores_of(probe.first("cpu_max"))
    for key, quantity in must.amounts.items():
        wanted = must.number(key)
        if key == "limits.cpu" and not isclose(have or inf, wanted or inf, abs_tol=ROUNDING):
            asked = "none" if wanted is None else f"{wanted:g} cores"
            return f"{probe.first('cpu_max')!r} where a limit of {asked}"
        memory_max = probe.first("memory_max")
        if key == "limits.memory" and not _is_size(memory_max, wanted):
            return f"{memory_max} bytes where a memory limit of {quantity or 'none'}"
    return ""


def _is_size(in_force: str | None, wanted: float | None) -> bool:
    """Whether a limit is in force; the kernel rounds down to whole pages."""
    have = inf if in_force == "max" else float(in_force or 0)
    return have >= UNLIMITED_BYTES if wanted is None else wanted - LARGEST_PAGE < have <= wanted


BUSYBOX = "/bin/busybox"

LENT_LOOK_EVERY_S = 0.3

OTHER_ROOT = "/proc/1/root"
"""The files of the target container, whose first process an ephemeral one sees as its own."""

COPY = (
    'mkdir -p "$1/bin" && cp /bin/busybox "$1/busybox" && for a in $(/bin/busybox --list); do ln '
    '-sf ../busybox "$1/bin/$a"; done'
)
"""Run in an ephemeral container into the target's files, or in an init container into a volume of
the pod."""


def lend(
    cluster: Cluster, pod: Object, container: str, home: PurePosixPath, image: str, timeout_s: float
) -> PurePosixPath:
    """Bring a busybox into a running container; the folder in which it lies.

    Raises TargetError where the image cannot be run or nothing can be written.
    """
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    lender = f"deadzone-{secrets.token_hex(4)}"
    folder = home / "lent"
    own = container_of(pod["spec"], container, name).get("securityContext") or {}
    users = ("runAsUser", "runAsGroup", "runAsNonRoot")  # only the same user sees its files
    entry = {
        "name": lender,
        "image": image,
        "targetContainerName": container,
        "command": [BUSYBOX, "sh", "-c", COPY, "lend", f"{OTHER_ROOT}{folder}"],
        "securityContext": {key: own[key] for key in users if key in own},
    }
    what = f"lend a shell to the container {container} of pod {name} in the namespace {namespace}"
    body = {"spec": {"ephemeralContainers": [entry]}}
    method = "core.patch_namespaced_pod_ephemeralcontainers"
    cluster.call(what, method, name, namespace, body, field_manager=MANAGER)
    waiting: Object = {}
    for _ in cluster.looks(timeout_s, LENT_LOOK_EVERY_S):
        state = container_status(pod_now(cluster, pod), lender, "ephemeralContainerStatuses")
        if ended := pod_problems.ended(state):
            if ended.get("exitCode") == 0:
                return folder
            raise TargetError(
                f"The image {image} could not {what} (exit code {ended.get('exitCode')}): it needs "
                f"a static /bin/busybox, and the right to write to {home.parent}."
            )
        waiting = (state.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in pod_problems.HOPELESS:
            break
    reason = waiting.get("message") or waiting.get("reason") or "it does not start"
    raise TargetError(f"The cluster was asked to {what} from the image {image}: {reason}.")
