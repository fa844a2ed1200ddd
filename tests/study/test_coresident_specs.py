import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deadzone.errors import StudyError
from deadzone.study.base import COLUMN_PATTERN
from deadzone.study.coresident_specs import CoresidentSpec, coresident_of


@pytest.mark.parametrize(
    ("keys", "label"),
    [({"unit": "postgresql.service"}, "postgresql"), ({"process": "redis-server"}, "redis_server"),
     ({"port": 5432}, "port_5432"), ({"pid_file": "/run/nginx.pid"}, "nginx"),
     ({"cgroup": "system.slice/my-db.service"}, "my_db"), ({"port": 5432, "name": "db"}, "db"),
     ({"container": "7up"}, "container_7up")],
)  # fmt: skip
def test_its_columns_begin_with_what_it_is_called(keys, label):
    spec = CoresidentSpec(**keys)
    assert spec.label == label
    assert spec.factors == (f"{label}_cpu_limit", f"{label}_memory_limit")


@given(st.text(min_size=1))
def test_every_process_name_gives_a_column(name):
    import re

    assert re.match(COLUMN_PATTERN, CoresidentSpec(process=name).label)


@pytest.mark.parametrize(
    "keys", [{}, {"name": "db"}, {"port": 1, "process": "x"}, {"port": 70_000}]
)
def test_anything_but_one_way_is_refused(keys):
    with pytest.raises(ValidationError):
        CoresidentSpec(**keys)


def test_a_text_of_the_command_line_is_the_same():
    assert coresident_of("port=5432,name=db") == {"port": "5432", "name": "db"}
    for text in ("5432", "prt=5432", "port="):
        with pytest.raises(StudyError, match="--belongs"):
            coresident_of(text)


def test_two_of_one_name_and_limits_that_are_none_are_refused(write_study, deadzone):
    redis, other = {"process": "redis"}, {"port": 6379, "name": "redis"}
    said = deadzone("sweep", write_study(belongs=[redis, other]))
    assert said.code == 2 and "two called 'redis'" in said.err
    said = deadzone("sweep", write_study(belongs=[redis], factors={"redis_cpu_limit": [-1, 1]}))
    assert said.code == 2 and "a CPU limit is a positive number of cores" in said.err
