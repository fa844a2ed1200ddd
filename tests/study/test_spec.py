from deadzone.study.levels import NONE
from deadzone.study.loading import parse_study


def study(more=""):
    return parse_study(
        f"study: s\nworkload: {{kind: ffmpeg}}\nfactors: {{cpu_limit: [1, 2]}}\n{more}", "s.yaml"
    )


def test_what_is_not_written_has_a_default():
    plain = study()
    assert (plain.design.replicates, plain.design.warmup, plain.design.cooldown_s) == (5, 1, 0)
    assert (plain.response.name, plain.response.goal) == ("wall_s", "min")
    assert plain.trust.max_foreign_cpu == 0.15
    assert plain.target.mechanism == "auto"
    assert plain.target.cpu_limit == NONE


def test_the_knob_is_the_first_factor_unless_named():
    assert study().knob_name == "cpu_limit"
    two = "study: s\nworkload: {kind: ffmpeg}\nfactors: {threads: [1], cpu_limit: [1]}\n"
    assert parse_study(two, "s").knob_name == "threads"
    assert parse_study(two + "knob: cpu_limit\n", "s").knob_name == "cpu_limit"


def test_units_are_as_declared_or_as_the_name_says():
    assert study().unit_of("cpu_limit") == "cores"
    declared = (
        "study: s\nworkload: {kind: ffmpeg}\nfactors: {cpu_limit: {levels: [1], unit: vCPU}}\n"
    )
    assert parse_study(declared, "s").unit_of("cpu_limit") == "vCPU"
    assert study().unit_of("colour") is None


def test_arguments_are_what_they_are_in_a_terminal():
    """YAML 1.1 takes 0755 for 493, and 22:22 for 1342."""
    text = (
        "study: s\nworkload: {kind: command, argv: [dd, -1, 0.5, 0755, 22:22, 1:30.5, 0x10, "
        "'{threads}'], setup: [dd, 8], env: {N: 3}}\n"
    )
    workload = parse_study(text + "factors: {threads: [1]}\n", "s").workload
    assert workload.argv == ("dd", "-1", "0.5", "0755", "22:22", "1:30.5", "0x10", "{threads}")
    assert workload.setup == ("dd", "8")
    assert workload.env == {"N": "3"}


def test_the_unit_in_which_the_workload_reads_a_response_says_which_way_is_better():
    read = "{kind: command, argv: [x, '{n}'], responses: {score: {regex: '(.*)', unit: %s}}}"
    text = f"study: s\nworkload: {read}\nfactors: {{n: [1, 2]}}\nresponse: {{name: score%s}}\n"
    for unit, own, goal in (
        ("req/s", "", "max"),
        ("ms", "", "min"),
        ("req/s", ", unit: ms", "min"),
    ):
        response = parse_study(text % (unit, own), "s").response
        assert (response.goal, response.goal_from) == (goal, "unit")
        assert response.unit == (own[-2:] or unit)
