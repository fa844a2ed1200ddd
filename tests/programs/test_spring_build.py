import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs
from spring_build import JAR, build, built_jar

from deadzone.errors import WorkloadError
from programs import PROGRAMS

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "deploy" / "spring-websocket"
STUDY = ROOT / "notebooks" / "studies" / "spring-websocket.yaml"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(PROJECT, tmp_path / "project"))


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_without_java_the_study_says_what_to_install(project, tmp_path):
    answer = subprocess.run(
        (sys.executable, str(PROGRAMS / "spring_build.py"), str(project), str(tmp_path)),
        env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 4
    assert answer.stderr.startswith("Java is not installed here")
    assert "thread-pool" in answer.stderr


def test_without_maven_too(project, tmp_path, monkeypatch):
    program(tmp_path, "java", "true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkloadError, match="Maven is not installed here"):
        build(project)


def test_a_build_that_fails_says_what_maven_said_and_keeps_nothing(project, tmp_path, monkeypatch):
    program(tmp_path, "java", "true")
    program(tmp_path, "mvn", "echo the parent pom is unreachable; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(WorkloadError, match="the parent pom is unreachable"):
        build(project)
    assert not built_jar(project).exists()


def test_a_jar_is_built_once_for_its_sources(project, tmp_path, monkeypatch):
    program(tmp_path, "java", "true")
    program(tmp_path, "mvn", f"mkdir target; echo built >> {tmp_path}/log; echo jar > target/{JAR}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert build(project) == build(project)
    assert (tmp_path / "log").read_text() == "built\n"
    (project / "pom.xml").write_text("<project/>")
    assert build(project).name != built_jar(PROJECT).name


@pytest.mark.night
@pytest.mark.alone("a JVM starts, which takes both cores")
def test_the_spring_server_speaks_stomp_and_answers(sweep):
    needs("java")
    if not built_jar(PROJECT).is_file():
        pytest.skip("the Spring server is not built: .venv/bin/deadzone run spring-websocket")
    few = {
        "factors.pool_size": [8], "factors.rate": [20], "design.replicates": 1,
        "trust.max_attempts": 1, "workload.warmup_s": 2, "workload.duration_s": 2,
        "workload.connections": 10,
    }  # fmt: skip
    (trial,) = sweep(STUDY, few).trials().to_dict("records")
    assert trial["status"] == "ok", trial["error"]
    assert (trial["requests"], trial["broadcasts"]) == (40, 200)
    assert trial["service_threads"] > 16
