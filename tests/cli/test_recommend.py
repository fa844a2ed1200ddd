import json
import subprocess

import pytest
import yaml
from disturbance import NO_DOUBTS
from needs import needs

import deadzone as dz

PAUSES = {
    "study": "probe",
    "workload": {"kind": "command", "argv": ["sleep", "{pause}"], "env": {"PAUSE": "{pause}"}},
    "factors": {"pause": [0.03, 0.06, 0.12]},
    "design": {"replicates": 3, "warmup": 0},
    "trust": NO_DOUBTS,
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A run of three pauses, of which the shortest is the best."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DEADZONE_HOME", str(tmp_path_factory.mktemp("measured")))
        return dz.sweep(PAUSES, quiet=True).folder


ARGUMENTS = (
    "--manifest", "--workload", "deployment/encoder", "--container", "main", "--namespace", "media",
)  # fmt: skip


def test_it_prints_the_recommendation(measured, deadzone):
    assert "0.03" in deadzone("recommend", measured, code=0).out
    answer = json.loads(deadzone("recommend", measured, "--json").out)
    assert answer["levels"] == {"pause": 0.03}
    assert answer["usage_cores"]["p50"] <= answer["usage_cores"]["p90"]


def test_the_patch_is_one_that_kubectl_can_apply(measured, deadzone, tmp_path):
    said = deadzone("recommend", measured, *ARGUMENTS, code=0)
    document = yaml.safe_load(said.out)
    (container,) = document["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "PAUSE", "value": "0.03"}]
    assert json.loads(deadzone("recommend", measured, *ARGUMENTS, "--json").out) == document
    advice = dz.load_run(measured).recommend()
    assert advice.patch("deployment/encoder", "main", "media") == said.out
    needs("kubectl")
    owned = [{"name": "main", "image": "x", "args": ["kept"]}, {"name": "side", "image": "y"}]
    template = {"metadata": {"labels": {"app": "encoder"}}, "spec": {"containers": owned}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "encoder", "namespace": "media"},
        "spec": {"selector": {"matchLabels": {"app": "encoder"}}, "template": template},
    }
    (tmp_path / "deployment.yaml").write_text(yaml.safe_dump(deployment))
    (tmp_path / "patch.yaml").write_text(said.out)
    kustomization = {"resources": ["deployment.yaml"], "patches": [{"path": "patch.yaml"}]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    argv = ("kubectl", "kustomize", str(tmp_path))
    rendered = subprocess.run(argv, capture_output=True, text=True, check=True)
    pod = yaml.safe_load(rendered.stdout)["spec"]["template"]["spec"]
    containers = {one["name"]: one for one in pod["containers"]}
    assert containers["main"]["args"] == ["kept"]
    assert containers["main"]["env"] == [{"name": "PAUSE", "value": "0.03"}]
    assert containers["main"]["resources"]["requests"]["cpu"].endswith("m")
    assert set(containers) == {"main", "side"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--manifest",), "--workload deployment/NAME --container NAME"),
     ((*ARGUMENTS, "--env", "THREADS=pause"), "--env is gone: write the variable"),
     ((*ARGUMENTS, "--request", "p50"), "--request is gone: it is the 90th percentile"),
     (("--next",), "What to do now")],
)  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence(measured, deadzone, arguments, words):
    said = deadzone("recommend", measured, *arguments, code=2).err
    assert words in said and "Traceback" not in said


def test_a_value_has_the_unit_that_the_study_gives(home, write_study, deadzone):
    write_study(
        argv=["sh", "-c", "echo score: {n}00"], factors={"n": [1, 2, 4]}, design={"replicates": 2},
        workload={"responses": {"score": {"regex": r"score: ([0-9]+)"}}},
        response={"name": "score", "unit": "points", "goal": "max"},
    )  # fmt: skip
    deadzone("sweep", "probe", code=0)
    assert "(400 points)" in deadzone("recommend", "probe/latest").out


def test_a_run_with_another_question_is_refused_with_its_report(home, write_study, deadzone):
    write_study(analysis="thread_pool", design={"replicates": 1})
    assert deadzone("sweep", "probe").code == 0
    for more in ((), ARGUMENTS):
        said = deadzone("recommend", "probe/latest", *more)
        assert said.code == 2 and "which recommends no setting: `deadzone report" in said.err
