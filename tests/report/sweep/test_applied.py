import pytest

from deadzone.report.sweep.recommended import commands
from deadzone.study.loading import parse_study

REST = "response: {name: wall_s, unit: s, goal: min}\n"
THREADS = "factors: {threads: [1, 2, 4]}\n"
LIMITS = "factors: {cpu_limit: [0.5, 1, none]}\n"


@pytest.mark.parametrize(
    ("study", "levels", "lines"),
    [
        (
            "workload: {kind: command, argv: [xz, '-T{threads}', -k, '{inputs}/a file']}\n"
            + THREADS,
            {"threads": 2},
            ["xz -T2 -k '{inputs}/a file'"],
        ),
        (
            "workload: {kind: command, argv: [./solve], "
            "env: {OMP_NUM_THREADS: '{threads}', A: b}}\n" + THREADS,
            {"threads": 2},
            ["OMP_NUM_THREADS=2 ./solve"],
        ),
        (
            "workload: {kind: command, argv: [./solve]}\n" + LIMITS,
            {"cpu_limit": 0.5},
            ["systemd-run --scope -p CPUQuota=50% ./solve"],
        ),
        ("workload: {kind: command, argv: [./solve]}\n" + LIMITS, {"cpu_limit": "none"}, []),
        (
            "workload: {kind: ffmpeg}\nfactors: {threads: [1, 2]}\n",
            {"threads": 2},
            ["ffmpeg -threads 2 -i INPUT"],
        ),
        (
            "workload: {kind: http, url: '{service_url}/'}\n"
            "service: {argv: [serve, '{port}', --pool, '{pool}']}\nfactors: {pool: [4, 8]}\n",
            {"pool": 8},
            ["serve '{port}' --pool 8"],
        ),
        (
            "workload: {kind: http, url: '{service_url}/'}\n"
            "service: {url: 'http://127.0.0.1:80', hook: [set, pool, '{pool}'], "
            "restore: [set, pool, '4']}\nfactors: {pool: [4, 8]}\n",
            {"pool": 8},
            ["set pool 8"],
        ),
        (
            "workload: {kind: http, url: '{service_url}/'}\n"
            "service: {port: 80}\ntarget: {kind: container, image: web, port: 80}\n" + LIMITS,
            {"cpu_limit": 0.5},
            ["docker update --cpus=0.5 CONTAINER"],
        ),
    ],
)
def test_each_kind_of_knob_has_the_command_that_sets_it(study, levels, lines):
    assert (
        list(commands(parse_study(f"study: probe\n{study}{REST}", "probe.yaml"), levels)) == lines
    )


def test_the_report_of_a_run_names_the_command_under_its_limit(analysed):
    from deadzone.report.sweep.recommended import applied

    (block,) = applied(analysed().analysis)
    assert block.lines == ("systemd-run --scope -p CPUQuota=200% true",)
