import pytest

from deadzone.errors import ReportError
from deadzone.report.document.execution import refuse_secrets

PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nabc"


@pytest.mark.parametrize(
    "parameters",
    [
        {"api_token": "x"},
        {"Password": ""},
        {"kubeconfig": "/somewhere"},
        {"overrides": {"workload": {"env": {"GITHUB_TOKEN": "x"}}}},
        {"overrides": {"workload.env.api-key": "x"}},
        {"overrides": {"workload": {"argv": ["curl", "https://user:pass@host/x"]}}},
        {"url": "postgres://me:hunter2@db:5432/x"},
        {"header": "Authorization: Bearer abc"},
        {"file": PRIVATE},
        {"config": "apiVersion: v1\ncurrent-context: me\nusers: []"},
        {"value": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"},
        {"address": "https://host/x?access_token=abc"},
    ],
)
def test_what_looks_like_a_secret_is_refused_without_being_repeated(parameters):
    with pytest.raises(ReportError, match="environment variable") as raised:
        refuse_secrets(parameters)
    for told in ("hunter2", "abc", "user:pass", "eyJ"):
        assert told not in str(raised.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"run": "latest", "within": 0.05},
        {"overrides": {"workload": {"argv": ["curl", "https://host/x?rate=3"], "threads": [1, 2]}}},
        {"cost": "cpu_limit * wall_s"},
        {"started": "10:20:30@here"},
    ],
)
def test_ordinary_parameters_pass(parameters):
    refuse_secrets(parameters)
