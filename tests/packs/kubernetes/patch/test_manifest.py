"""The patch that applies a recommendation to a workload in a cluster."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from deadzone.errors import TableError
from deadzone.measurement import Sample
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.recommended import recommended_levels, usage
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study
from deadzone_kubernetes.patch import manifest
from deadzone_kubernetes.patch.manifest import applied, consequences
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


def write(home, text=STUDY, cores=2.0, name="run-1"):
    """A run of a program that uses up to two cores: nine tenths of its limit half of the time, else
    half of it."""
    from report.made_runs import record

    study = parse_study(text, "study.yaml")
    run = RunFolder.create(home / "data" / "runs", study, name)
    rng = np.random.default_rng(5)
    threads = dict(zip(study.factors["cpu_limit"].levels, (1, 1, 2, 3, 4), strict=True))
    for number in range(20):
        level = study.factors["cpu_limit"].levels[number % 5]
        limit = 9.0 if level == "none" else float(level)
        wall = 4 / min(cores, limit) * float(np.exp(0.005 * rng.standard_normal()))
        levels = {"cpu_limit": level, "threads": threads[level] if text is PAIRED else level}
        used = np.cumsum([0.1 * min(cores, limit) * (0.9 if i % 2 else 0.5) for i in range(20)])
        samples = [
            Sample(0.1 * (i + 1), "cpu_usage_s", float(value)) for i, value in enumerate(used)
        ]
        run.append(record(number + 1, level, wall, number // 5 + 1, levels=levels), samples)
    run.write_tables()
    return run


WHERE = {"workload": "deployment/encoder", "container": "main", "namespace": "media"}


def patched(run):
    """The patch for a run, as data and as it is printed."""
    analysis = analyse(load_source(str(run.folder)))
    levels = recommended_levels(analysis)
    used = usage(analysis.source, levels)
    text = manifest.printed(analysis, levels, used, **WHERE, as_json=False)
    return yaml.safe_load(text), text


def container_of(document):
    (container,) = document["spec"]["template"]["spec"]["containers"]
    return container


def test_a_limit_that_the_study_left_alone_is_left_alone(repository):
    run = write(repository)
    source = load_source(str(run.folder))
    pod = KubernetesTargetSpec(
        kind="kubernetes", namespace="media", workload="deployment/encoder", container="main"
    )
    analysis = analyse(replace(source, study=source.study.model_copy(update={"target": pod})))
    levels = {"threads": 2}
    used = usage(analysis.source, levels)
    said = manifest.printed(analysis, levels, used, **WHERE, as_json=False)
    assert container_of(yaml.safe_load(said))["resources"] == {"requests": {"cpu": "1800m"}}
    assert "the study left the CPU limit as it was, and so does this patch" in said


def test_limit_request_and_threads_come_from_one_treatment(repository):
    document, text = patched(write(repository))
    container = container_of(document)
    assert container["resources"] == {"limits": {"cpu": "2000m"}, "requests": {"cpu": "1800m"}}
    assert container["env"] == [{"name": "ENCODER_THREADS", "value": "2"}]
    annotations = {"deadzone.dev/recommended-by": "encoder/run-1"}
    of_it = {"name": "encoder", "namespace": "media", "annotations": annotations}
    assert document["metadata"] == of_it
    assert "# request: 90th percentile of the CPU used, from readings during 4 trials" in text
    assert "(p50 1, p90 1.8 cores)" in text


def test_threads_that_are_an_argument_are_said_to_be_left(repository):
    document, text = patched(write(repository, PAIRED))
    assert "env" not in container_of(document)
    assert "not in this patch: threads=2" in text


def test_where_only_no_limit_will_do_the_patch_removes_it(repository):
    document, text = patched(write(repository, cores=9.0))
    assert container_of(document)["resources"]["limits"] == {"cpu": None}
    assert "cpu: null" in text and "Burstable" in text


def test_without_readings_during_trials_their_means_are_used_and_said(repository):
    run = write(repository)
    (run.folder / "telemetry.jsonl").unlink()
    _, text = patched(run)
    assert "from the means of 4 trials" in text


@pytest.mark.parametrize(
    ("workload", "container", "words"),
    [
        (None, "main", "name it: `--workload"),
        ("deployment/encoder", None, "name it: `--workload"),
        ("pod/encoder", "main", "deployment/NAME or statefulset/NAME"),
        ("encoder", "main", "deployment/NAME or statefulset/NAME"),
    ],
)
def test_a_patch_for_nothing_is_refused(repository, workload, container, words):
    analysis = analyse(load_source(str(write(repository).folder)))
    with pytest.raises(TableError, match=words):
        manifest.destination(analysis, workload, container, None)


def test_the_patch_is_for_the_container_that_the_run_swept(repository):
    run = write(repository)
    source = load_source(str(run.folder))
    swept = {"workload": "deployment/encoder in the namespace shop", "container": "app"}
    analysis = analyse(replace(source, provenance={**source.provenance, **swept}))
    where = manifest.destination(analysis, None, None, None)
    of_it = (where.workload, where.container, where.namespace)
    assert of_it == ("deployment/encoder", "app", "shop")
    assert manifest.destination(analysis, None, "other", None).container == "other"
    ((command,), *_) = [block.lines for block in applied(analysis)]
    assert command.startswith('kubectl -n shop patch deployment encoder -p \'{"spec":')
    assert '"name":"app"' in command
    face = SweepReport(analysis).face()
    assert command in [line for block in face for line in getattr(block, "lines", ())]
    assert applied(analyse(source)) == []


def test_where_a_manifest_is_applied_its_lines_are_given_and_no_patch(repository):
    source = load_source(str(write(repository).folder))
    met = {**source.provenance, **SHOP, "applied_by": "argocd-controller"}
    command, told = applied(analyse(replace(source, provenance=met)))
    assert yaml.safe_load("\n".join(command.lines)).keys() == {"spec"}
    assert "argocd-controller applies the manifest of deployment/encoder" in str(told)


SHOP = {"workload": "deployment/encoder in the namespace shop", "container": "app"}


def swept_with(run, **provenance):
    """The answer to a run, as if its sweep had met these in the cluster."""
    source = load_source(str(run.folder))
    met = {**source.provenance, **SHOP, **provenance}
    return consequences(analyse(replace(source, provenance=met)))


def test_for_how_many_pods_it_was_measured_is_said(repository):
    said = swept_with(write(repository), pods_at_level=["a", "b"])
    assert said == ["The setting is for one pod; 2 pods were at it at once."]
