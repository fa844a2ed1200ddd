import os
import subprocess
import tarfile
import urllib.request

import pytest
from needs import needs

from deadzone.errors import TargetError
from deadzone.measurement import Command
from deadzone.study.design import Treatment
from deadzone.study.service_specs import ServiceSpec
from deadzone_services.base import ServiceError
from deadzone_services.container import ContainerTarget, ask, find_engine, remove_left_containers
from deadzone_services.container_spec import ContainerTargetSpec
from deadzone_services.service import Service

IMAGE = "localhost/deadzone-test-box:1"
TOOLS = ("sh", "httpd", "sleep", "cat", "mkdir", "yes", "timeout")


def without_privileges(folder):
    """Settings for podman in a machine that is itself confined: no systemd, and limits that it may
    not raise."""
    path = folder / "containers.conf"
    path.write_text(
        '[engine]\ncgroup_manager = "cgroupfs"\n[containers]\ndefault_ulimits = '
        '["nofile=1024:1024", "nproc=1024:1024"]\n'
    )
    return str(path)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """An engine that starts containers of an image of the test's own; without one the test cannot
    say anything."""
    busybox = needs("busybox")
    if subprocess.run(("ldd", busybox), capture_output=True).returncode == 0:
        pytest.skip(
            "busybox is not static here, so no image can be made of it: apt install busybox-static"
        )
    folder = tmp_path_factory.mktemp("image")
    before = os.environ.get("CONTAINERS_CONF")
    os.environ["CONTAINERS_CONF"] = before or without_privileges(folder)
    try:
        try:
            name = find_engine("auto")
        except TargetError as error:
            pytest.skip(str(error))
        archive = folder / "box.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(busybox, "bin/busybox")
            for tool in TOOLS:
                link = tarfile.TarInfo(f"bin/{tool}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(link)
        made = ask(name, "import", str(archive), IMAGE)
        tried = ask(name, "run", "--rm", IMAGE, "/bin/cat", "/dev/null")
        if made.returncode or tried.returncode:
            pytest.skip(
                f"{name} starts no container here: "
                f"{(made if made.returncode else tried).stderr.strip()[-200:]}"
            )
        yield name
        ask(name, "rmi", "--force", IMAGE)
    finally:
        if before is None:
            del os.environ["CONTAINERS_CONF"]


def containers(engine):
    which = ("--all", "--filter", "name=deadzone-", "--format", "{{.Names}}")
    return ask(engine, "ps", *which).stdout.split()


@pytest.mark.alone("it measures CPU time under a limit")
def test_a_service_in_a_container_is_limited_asked_counted_and_removed(engine, tmp_path):
    burn = "/bin/timeout 1 /bin/yes > /dev/null"
    argv = ("/bin/sh", "-c", f"echo started; {burn}; exec /bin/httpd -f -p {{port}} -h /")
    limits = {"cpu_limit": 0.25, "memory_limit": 64_000_000}
    spec = ContainerTargetSpec(kind="container", image=IMAGE, port=8000, **limits)
    with ContainerTarget(spec) as host:
        service = Service(ServiceSpec(argv=argv), host, tmp_path, logs=tmp_path)
        reached = service.ready(Treatment({}))
        with urllib.request.urlopen(f"{reached}/bin/busybox", timeout=20) as answer:
            assert len(answer.read()) > 100_000
        assert len(containers(engine)) == 1
        counters = host.read()
        if counters.nr_periods is not None:
            assert counters.nr_periods >= 3, "only a group with a quota counts periods"
            assert counters.usage_s < 1
            assert len(host.processes()) >= 2
        assert host.facts()["limits_mechanism"] == engine
        assert host.facts()["image_id"]
    assert containers(engine) == []
    assert next(tmp_path.glob("*.log")).read_text().startswith("started\n")


def test_one_that_ends_at_once_is_not_ready_and_gone(engine, tmp_path):
    ends = ServiceSpec(argv=("/bin/sh", "-c", "echo no {port}; exit 3"))
    said = r"ended with exit code 3; the end of its log .*: no \d+"
    with ContainerTarget(ContainerTargetSpec(kind="container", image=IMAGE)) as host:
        service = Service(ends, host, tmp_path, logs=tmp_path)
        with pytest.raises(ServiceError, match=said):
            service.ready(Treatment({}))
        assert containers(engine) == []


@pytest.mark.night
def test_a_container_of_a_killed_run_is_removed(engine, tmp_path):
    with ContainerTarget(ContainerTargetSpec(kind="container", image=IMAGE)) as host:
        mine = host.start(Command(("/bin/sleep", "60")), tmp_path / "log")
        name = "deadzone-999999-1-" + mine.name.split("-")[3] + "-x-1"
        ask(engine, "run", "--detach", "--name", name, IMAGE, "/bin/sleep", "60")
        while mine.name not in containers(engine):
            assert mine.runs()
        assert remove_left_containers(engine) == [name]
        assert containers(engine) == [mine.name]


def test_an_image_that_is_missing_is_told(engine):
    with (
        pytest.raises(TargetError, match="has no image 'no-such-image:9'"),
        ContainerTarget(ContainerTargetSpec(kind="container", image="no-such-image:9")),
    ):
        pass


@pytest.mark.parametrize(
    ("programs", "words"),
    [({}, "docker is not installed; podman is not installed"),
     ({"docker": "echo 'Cannot connect to the Docker daemon' >&2; exit 1"},
      "docker does not work: Cannot connect")],
)  # fmt: skip
def test_without_an_engine_the_reason_and_the_remedy_are_told(
    tmp_path, monkeypatch, programs, words
):
    for name, script in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(TargetError, match=words) as refusal,
        ContainerTarget(ContainerTargetSpec(kind="container", image="x")),
    ):
        pass
    assert "install podman" in str(refusal.value)


def test_programs_of_other_workloads_do_not_run_in_containers(write_study, deadzone):
    write_study(target={"kind": "container", "image": "x"})
    said = deadzone("sweep", "probe", code=2)
    assert "runs services only" in said.err
