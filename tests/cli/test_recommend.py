import json
import subprocess

import pytest
import yaml
from needs import needs


@pytest.fixture
def measured(home, write_study, deadzone):
    """A run in which half a second is shared out among workers."""
    write_study(
        workload={"kind": "command", "argv": ["sleep", "{pause}"], "env": {"PAUSE": "{pause}"}},
        factors={"pause": [0.03, 0.06, 0.12]},
        design={"replicates": 3},
    )
    assert deadzone("sweep", "probe").code == 0


ARGUMENTS = (
    "--manifest", "--workload", "deployment/encoder", "--container", "main", "--namespace", "media",
)  # fmt: skip


def test_it_prints_the_recommendation(measured, deadzone):
    said = deadzone("recommend", "probe/latest")
    assert said.code == 0
    assert "0.03" in said.out
    answer = json.loads(deadzone("recommend", "probe/latest", "--json").out)
    assert answer["levels"] == {"pause": 0.03}
    assert answer["usage_cores"]["p50"] <= answer["usage_cores"]["p90"]


def test_the_patch_is_one_that_kubectl_can_apply(measured, deadzone, tmp_path):
    said = deadzone("recommend", "probe/latest", *ARGUMENTS)
    assert said.code == 0
    document = yaml.safe_load(said.out)
    (container,) = document["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "PAUSE", "value": "0.03"}]
    assert json.loads(deadzone("recommend", "probe/latest", *ARGUMENTS, "--json").out) == document
    needs("kubectl")
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "encoder", "namespace": "media"},
        "spec": {"selector": {"matchLabels": {"app": "encoder"}},
                 "template": {"metadata": {"labels": {"app": "encoder"}},
                              "spec": {"containers": [{"name": "main", "image": "x",
                                                       "args": ["kept"]},
                                                      {"name": "side", "image": "y"}]}}},
    }  # fmt: skip
    (tmp_path / "deployment.yaml").write_text(yaml.safe_dump(deployment))
    (tmp_path / "patch.yaml").write_text(said.out)
    kustomization = {"resources": ["deployment.yaml"], "patches": [{"path": "patch.yaml"}]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    rendered = subprocess.run(
        ("kubectl", "kustomize", str(tmp_path)), capture_output=True, text=True, check=True
    )
    containers = {
        c["name"]: c
        for c in yaml.safe_load(rendered.stdout)["spec"]["template"]["spec"]["containers"]
    }
    assert containers["main"]["args"] == ["kept"]
    assert containers["main"]["env"] == [{"name": "PAUSE", "value": "0.03"}]
    assert containers["main"]["resources"]["requests"]["cpu"].endswith("m")
    assert set(containers) == {"main", "side"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--manifest",), "--workload deployment/NAME --container NAME"),
        (
            (*ARGUMENTS, "--env", "THREADS=pause"),
            "--env is gone: write the variable",
        ),
        ((*ARGUMENTS, "--request", "p50"), "--request is gone: it is the 90th percentile"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(measured, deadzone, arguments, words):
    said = deadzone("recommend", "probe/latest", *arguments)
    assert said.code == 2
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_run_that_does_not_exist_is_told(home, deadzone):
    said = deadzone("recommend", "probe/latest")
    assert said.code == 2
    assert "There is no run" in said.err


def test_a_run_with_another_question_is_refused_with_its_report(home, write_study, deadzone):
    write_study(analysis="thread_pool", design={"replicates": 1})
    assert deadzone("sweep", "probe").code == 0
    for more in ((), ARGUMENTS):
        said = deadzone("recommend", "probe/latest", *more)
        assert said.code == 2 and "which recommends no setting: `deadzone report" in said.err


def test_a_next_study_is_refused_with_where_the_next_step_stands(measured, deadzone):
    said = deadzone("recommend", "probe/latest", "--next")
    assert said.code == 2 and "What to do now" in said.err
