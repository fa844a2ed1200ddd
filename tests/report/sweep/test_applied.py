import pytest

from deadzone.report.sweep.recommended import applied, commands
from deadzone.study.loading import parse_study

REST = "response: {name: wall_s, unit: s, goal: min}\n"
THREADS = "factors: {threads: [1, 2, 4]}\n"
LIMITS = "factors: {cpu_limit: [0.5, 1, none]}\n"


XZ = "workload: {kind: command, argv: [xz, '-T{threads}', -k, '{inputs}/a file']}\n"
IN_ENV = "workload: {kind: command, argv: [./solve], env: {OMP_NUM_THREADS: '{threads}', A: b}}\n"
SOLVE = "workload: {kind: command, argv: [./solve]}\n"
FFMPEG = "workload: {kind: ffmpeg}\n"
WEB = "workload: {kind: http, url: '{service_url}/'}\n"
STARTED = "service: {argv: [serve, '{port}', --pool, '{pool}']}\nfactors: {pool: [4, 8]}\n"
HOOKED = """service:
  {url: 'http://127.0.0.1:80', hook: [set, pool, '{pool}'], restore: [set, pool, '4']}
factors: {pool: [4, 8]}
"""
CONTAINER = "service: {port: 80}\ntarget: {kind: container, image: web, port: 80}\n"


@pytest.mark.parametrize(
    ("study", "levels", "lines"),
    [(XZ + THREADS, {"threads": 2}, ["xz -T2 -k '{inputs}/a file'"]),
     (IN_ENV + THREADS, {"threads": 2}, ["OMP_NUM_THREADS=2 ./solve"]),
     (SOLVE + LIMITS, {"cpu_limit": 0.5}, ["systemd-run --scope -p CPUQuota=50% ./solve"]),
     (SOLVE + LIMITS, {"cpu_limit": "none"}, []),
     (FFMPEG + THREADS, {"threads": 2}, ["ffmpeg -threads 2 -i INPUT"]),
     (WEB + STARTED, {"pool": 8}, ["serve '{port}' --pool 8"]),
     (WEB + HOOKED, {"pool": 8}, ["set pool 8"]),
     (WEB + CONTAINER + LIMITS, {"cpu_limit": 0.5}, ["docker update --cpus=0.5 CONTAINER"])],
)  # fmt: skip
def test_each_kind_of_knob_has_the_command_that_sets_it(study, levels, lines):
    parsed = parse_study(f"study: probe\n{study}{REST}", "probe.yaml")
    assert list(commands(parsed, levels)) == lines


def test_the_report_of_a_run_names_the_command_under_its_limit(sound):
    (block,) = applied(sound.analysis)
    assert block.lines == ("systemd-run --scope -p CPUQuota=200% true",)
