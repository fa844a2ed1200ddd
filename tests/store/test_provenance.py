import os
import subprocess

import pytest

from deadzone.store.provenance import git_facts, host_facts, usable_cores


def test_the_machine_is_described(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "s3cr3t-value")
    facts = host_facts()
    for name in ("host", "cpu_model", "kernel", "operating_system", "python"):
        assert isinstance(facts[name], str) and facts[name], name
    assert 1 <= facts["cores_usable"] <= facts["cores_online"]
    assert facts["memory_bytes"] > 1e8
    assert facts["kernel"] == os.uname().release
    assert facts["packages"]["deadzone"] and facts["packages"]["pandas"]
    assert facts["recorded_at"].endswith("+00:00")
    assert "s3cr3t-value" not in str(facts), "the environment is not recorded"


def test_cores_a_process_may_not_use_do_not_count():
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, every)
    assert usable_cores() == len(every)


@pytest.fixture
def checkout(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        argv = ("git", "-C", tmp_path, *identity, *arguments)
        subprocess.run(argv, check=True, capture_output=True)

    git("init")
    (tmp_path / "study.yaml").write_text("a: 1\n")
    git("add", "study.yaml")
    git("commit", "-m", "first")
    return tmp_path


def test_the_commit_is_named_and_whether_it_was_changed(checkout):
    facts = git_facts(checkout)
    assert len(facts["git_commit"]) == 40
    assert facts["git_changed"] is False
    (checkout / "study.yaml").write_text("a: 2\n")
    assert git_facts(checkout)["git_changed"] is True


def test_outside_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_facts(tmp_path) == {}
