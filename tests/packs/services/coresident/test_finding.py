import contextlib
import os

import pytest
from needs import needs
from servers import refusing_port

from deadzone.run.targets.processes import names_of
from deadzone.study.coresident_specs import CoresidentSpec
from deadzone_services.coresident.watching import GoneError, roots_of


def test_it_is_found_by_process_port_and_pid_file(redis, tmp_path):
    assert redis.pid in roots_of(CoresidentSpec(process="redis-server"))
    assert roots_of(CoresidentSpec(port=redis.port)) == (redis.pid,)
    note = tmp_path / "redis.pid"
    note.write_text(f"{redis.pid}\n")
    assert roots_of(CoresidentSpec(pid_file=str(note))) == (redis.pid,)
    note.write_text("4194304")
    with pytest.raises(GoneError, match="has ended"):
        roots_of(CoresidentSpec(pid_file=str(note)))


def test_the_harness_itself_never_belongs(redis):
    found = ()
    with contextlib.suppress(GoneError):
        found = roots_of(CoresidentSpec(process=names_of(os.getpid())[0]))
    assert os.getpid() not in found


@pytest.mark.parametrize(
    "keys", [{"process": "redis-servr"}, {"unit": "no-such.service"}, {"pid_file": "/run/no.pid"}]
)
def test_what_is_not_there_is_said(keys, redis):
    with pytest.raises(GoneError, match=str(next(iter(keys.values())))) as raised:
        roots_of(CoresidentSpec(**keys))
    if "process" in keys:
        assert "Did you mean `redis-server`?" in str(raised.value)


def test_a_port_that_nobody_listens_on_names_those_that_are(redis):
    near = redis.port + 1 if redis.port < 65535 else redis.port - 1
    said = r"nothing is listening there\. Listening ports: "
    with pytest.raises(GoneError, match=said) as raised:
        roots_of(CoresidentSpec(port=near))
    assert str(redis.port) in str(raised.value)


def test_a_container_is_asked_of_its_engine():
    needs("podman", "docker")
    with pytest.raises(GoneError, match="container no-such-container"):
        roots_of(CoresidentSpec(container="no-such-container"))


def test_a_port_is_refused_in_a_sentence_before_anything_is_measured(write_study, deadzone, home):
    with refusing_port() as port:
        said = deadzone("sweep", write_study(), "--belongs", f"port={port}")
    assert said.code == 4 and "nothing is listening there" in said.err
    assert not list((home / "data" / "runs").glob("*/*"))
