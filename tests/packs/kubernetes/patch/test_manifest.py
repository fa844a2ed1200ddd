from dataclasses import replace

import numpy as np
import pytest
import yaml
from report.made_runs import record

from deadzone.errors import TableError
from deadzone.measurement import Sample
from deadzone.report.sweep.analysis import Analysis, analyse
from deadzone.report.sweep.recommended import recommended_levels, usage
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study
from deadzone_kubernetes.patch import manifest
from deadzone_kubernetes.patch.manifest import Destination, applied, consequences
from deadzone_kubernetes.specs import KubernetesTargetSpec

STUDY = """
study: encoder
workload: {kind: command, argv: [encode], env: {ENCODER_THREADS: "{threads}", MODE: fast}}
factors:
  cpu_limit: [0.5, 1, 2, 3, none]
  threads: {equals: cpu_limit}
"""

PAIRED = """
study: encoder
workload: {kind: command, argv: [encode, "-t{threads}"]}
design: {kind: paired}
factors:
  cpu_limit: [0.5, 1, 2, 3, 4]
  threads: [1, 1, 2, 3, 4]
"""


def write(home, text=STUDY, cores=2.0) -> RunFolder:
    """A run of a program that uses up to two cores: nine tenths of its limit half of the time, else
    half of it."""
    study = parse_study(text, "study.yaml")
    run = RunFolder.create(home / "data" / "runs", study, "run-1")
    rng = np.random.default_rng(5)
    threads = dict(zip(study.factors["cpu_limit"].levels, (1, 1, 2, 3, 4), strict=True))
    for number in range(20):
        level = study.factors["cpu_limit"].levels[number % 5]
        limit = 9.0 if level == "none" else float(level)
        wall = 4 / min(cores, limit) * float(np.exp(0.005 * rng.standard_normal()))
        levels = {"cpu_limit": level, "threads": threads[level] if text is PAIRED else level}
        used = np.cumsum([0.1 * min(cores, limit) * (0.9 if i % 2 else 0.5) for i in range(20)])
        samples = [Sample(0.1 * i, "cpu_usage_s", float(value)) for i, value in enumerate(used, 1)]
        run.append(record(number + 1, level, wall, number // 5 + 1, levels=levels), samples)
    run.write_tables()
    return run


WHERE = {"workload": "deployment/encoder", "container": "main", "namespace": "media"}

SHOP = {"workload": "deployment/encoder in the namespace shop", "container": "app"}


def analysed(run: RunFolder) -> Analysis:
    return analyse(load_source(str(run.folder)))


@pytest.fixture(scope="module")
def analysis(tmp_path_factory) -> Analysis:
    """Of one run, which no test changes."""
    return analysed(write(tmp_path_factory.mktemp("repository")))


def met(analysis: Analysis, **provenance) -> Analysis:
    """The analysis, as if its sweep had met these in the namespace shop."""
    source = analysis.source
    found = {**source.provenance, **SHOP, **provenance}
    return replace(analysis, source=replace(source, provenance=found))


def printed(analysis: Analysis, levels):
    """The patch, as data and as it is printed."""
    used = usage(analysis.source, levels)
    text = manifest.printed(analysis, levels, used, **WHERE, as_json=False)
    return yaml.safe_load(text), text


def patched(analysis: Analysis):
    """The patch for what is recommended."""
    return printed(analysis, recommended_levels(analysis))


def container_of(document):
    (container,) = document["spec"]["template"]["spec"]["containers"]
    return container


def test_a_limit_that_the_study_left_alone_is_left_alone(analysis):
    pod = KubernetesTargetSpec(
        kind="kubernetes", namespace="media", workload="deployment/encoder", container="main"
    )
    source = analysis.source
    study = source.study.model_copy(update={"target": pod})
    of_a_pod = replace(analysis, source=replace(source, study=study))
    document, text = printed(of_a_pod, {"threads": 2})
    assert container_of(document)["resources"] == {"requests": {"cpu": "1800m"}}
    assert "the study left the CPU limit as it was, and so does this patch" in text


def test_limit_request_and_threads_come_from_one_treatment(analysis):
    document, text = patched(analysis)
    container = container_of(document)
    assert container["resources"] == {"limits": {"cpu": "2000m"}, "requests": {"cpu": "1800m"}}
    assert container["env"] == [{"name": "ENCODER_THREADS", "value": "2"}]
    annotations = {"deadzone.dev/recommended-by": "encoder/run-1"}
    of_it = {"name": "encoder", "namespace": "media", "annotations": annotations}
    assert document["metadata"] == of_it
    assert "# request: 90th percentile of the CPU used, from readings during 4 trials" in text
    assert "(p50 1, p90 1.8 cores)" in text


def test_threads_that_are_an_argument_are_said_to_be_left(tmp_path):
    document, text = patched(analysed(write(tmp_path, PAIRED)))
    assert "env" not in container_of(document)
    assert "not in this patch: threads=2" in text


def test_where_only_no_limit_will_do_the_patch_removes_it(tmp_path):
    document, text = patched(analysed(write(tmp_path, cores=9.0)))
    assert container_of(document)["resources"]["limits"] == {"cpu": None}
    assert "cpu: null" in text and "Burstable" in text


def test_without_readings_during_trials_their_means_are_used_and_said(tmp_path):
    run = write(tmp_path)
    (run.folder / "telemetry.jsonl").unlink()
    _, text = patched(analysed(run))
    assert "from the means of 4 trials" in text


@pytest.mark.parametrize(
    ("workload", "container", "words"),
    [(None, "main", "name it: `--workload"), ("deployment/encoder", None, "name it: `--workload"),
     ("pod/encoder", "main", "deployment/NAME or statefulset/NAME"),
     ("encoder", "main", "deployment/NAME or statefulset/NAME")],
)  # fmt: skip
def test_a_patch_for_nothing_is_refused(analysis, workload, container, words):
    with pytest.raises(TableError, match=words):
        manifest.destination(analysis, workload, container, None)


def test_the_patch_is_for_the_container_that_the_run_swept(analysis):
    swept = met(analysis)
    where = manifest.destination(swept, None, None, None)
    assert where == Destination("deployment/encoder", "app", "shop")
    assert manifest.destination(swept, None, "other", None).container == "other"
    ((command,), *_) = [block.lines for block in applied(swept)]
    assert command.startswith('kubectl -n shop patch deployment encoder -p \'{"spec":')
    assert '"name":"app"' in command
    face = SweepReport(swept).face()
    assert command in [line for block in face for line in getattr(block, "lines", ())]
    assert applied(analysis) == []


def test_where_a_manifest_is_applied_its_lines_are_given_and_no_patch(analysis):
    command, told = applied(met(analysis, applied_by="argocd-controller"))
    assert yaml.safe_load("\n".join(command.lines)).keys() == {"spec"}
    assert "argocd-controller applies the manifest of deployment/encoder" in str(told)


def test_for_how_many_pods_it_was_measured_is_said(analysis):
    said = consequences(met(analysis, pods_at_level=["a", "b"]))
    assert said == ["The setting is for one pod; 2 pods were at it at once."]
