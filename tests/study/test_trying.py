import itertools
import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StudyError
from deadzone.study.levels import chosen_levels, fill
from deadzone.study.loading import parse_study
from deadzone.study.trying import levels_in, study_of_line, study_text


def study(*command, **asked):
    """The study of a line, which is the same as that of the file that is saved."""
    document = study_of_line(command, asked, 2)
    made = parse_study(document, "try")
    assert parse_study(study_text(document, "deadzone try ...", "my.yaml"), "my.yaml") == made
    return made


def levels(made, name):
    return made.factors[name].levels


def test_a_list_a_scan_and_limits_are_factors_in_the_order_of_a_grid():
    made = study(
        "make", "-j{threads}", "-O{level}", scans=[("threads", "1", "16")], steps=["5"],
        lists=[("level", "1,6")], cpu_limit="0.5,none",
    )  # fmt: skip
    assert made.factor_names() == ("threads", "cpu_limit", "level")
    assert levels(made, "threads") == (1, 6, 11, 16)
    assert levels(made, "level") == (1, 6) and levels(made, "cpu_limit") == (0.5, "none")
    assert made.study == "make-threads-cpu_limit-level"


def test_levels_are_numbers_or_words_and_a_comma_may_be_escaped():
    made = study("cc", "{options}", lists=[("options", r"-O2,-O3\,x,1e3,007a")])
    assert levels(made, "options") == ("-O2", "-O3,x", 1000, "007a")


def test_what_is_said_of_the_first_parameter_stands_beside_its_levels():
    lists = [("n", "-1,1,2"), ("m", "0,1")]
    made = study("x", "{n}", "{m}", lists=lists, at={"-1": -1}, role="setting")
    assert (made.factors["n"].at, made.factors["n"].role) == ({"-1": -1}, "setting")
    assert made.factors["m"].at == {}


def test_a_range_of_cores_has_parts_of_them():
    assert levels(study("xz", cpu_limit="1..4"), "cpu_limit")[1] < 2


@pytest.mark.parametrize(
    ("span", "chosen"),
    [("1..64", (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)),
     ("1..128", (1, 2, 4, 8, 16, 32, 64, 128)),
     ("1..65536", (1, 2, 4, 16, 64, 256, 1024, 4096, 16384, 65536)),
     ("1..1000", (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)), ("1..9", tuple(range(1, 10)))],
)  # fmt: skip
def test_the_levels_of_a_range_are_steps_of_about_one_ratio(span, chosen):
    assert levels(study("xz", "-T{n}", lists=[("n", span)]), "n") == chosen


@given(st.integers(1, 1000), st.integers(13, 10**6), st.integers(1, 256))
def test_no_two_levels_of_a_range_are_near_each_other(start, more, cores):
    """30 and 32 of 1 to 64 are: an eighth of a mean step apart."""
    made = chosen_levels(start, start + more, True, cores)
    assert (made[0], made[-1]) == (start, start + more) and 7 <= len(made) <= 14
    if start < cores < start + more:  # which may lie near an end
        assert cores in made
        return
    steps = [math.log(b / a) for a, b in itertools.pairwise(made)]
    assert min(steps) > 0.15 * sum(steps) / len(steps)


def test_one_text_is_split_as_hyperfine_does_without_a_shell():
    assert study("true {n}", lists=[("n", "1,2")]).workload.argv == ("true", "{n}")
    made = study("seq {n} | sort -R", lists=[("n", "1,2")], shell="bash")  # noqa: S604 - no process is started
    assert made.workload.argv == ("bash", "-c", "seq {n} | sort -R")


def test_braces_of_the_program_stay_its_own():
    made = study("awk", "-v", "n={n}", "{ print $1; x{}y }", lists=[("n", "1,2")])
    assert made.workload.argv[-1] == "{{ print $1; x{{}}y }}"


@pytest.mark.parametrize(
    "typed", ['{"size":%s,"query":{"match_all":{}}}', '{"a":{"b":%s}}', "{for(i=0;i<%s;i++){x+=i}}"]
)
def test_nested_braces_reach_the_program_as_they_were_typed(typed):
    (part,) = study("curl", typed % "{n}", lists=[("n", "1,2")]).workload.argv[1:]
    assert fill(part, {"n": 2}) == typed % 2


def test_a_name_may_have_capitals_inside():
    made = study("java", "-DpoolSize={poolSize}", lists=[("poolSize", "1,2")])
    assert made.workload.argv == ("java", "-DpoolSize={poolSize}")


def test_a_script_behind_c_is_read_by_its_own_shell_and_stays_one_word():
    asked = ("bash", "-c", "./b --n={n} --out=$(mktemp)")
    made = study(*asked, lists=[("n", "1,2")])
    assert made.workload.argv == asked
    made = study(*asked, lists=[("n", "1,2")], shell="sh")  # noqa: S604 - no process is started
    assert made.workload.argv[-1] == "bash -c './b --n={n} --out=$(mktemp)'"


def test_a_response_is_an_expression_or_a_column():
    of_line = partial(study, "x", "{n}", lists=[("n", "1,2")])
    made = of_line(response=r"tps = ([\d.]+)", goal="max")
    assert (made.response.name, made.response.goal) == ("tps", "max")
    assert made.workload.responses["tps"].stream == "both"
    assert of_line(response="max_rss_bytes").response.name == "max_rss_bytes"
    assert of_line(response=r"(\d+)").response.name == "result"
    units = [of_line(response=rf"([\d.]+) {unit}").response.unit for unit in ("ops/s", "pages")]
    assert units == ["ops/s", None]
    assert of_line(response=r"(?i)throughput: ([\d.]+)").response.name == "throughput"


@pytest.mark.parametrize(
    ("command", "asked", "said"),
    [(("xz", "-T{threads}"), {"lists": [("threads", "1"), ("level", "1,2")]},
      "level stands nowhere in the command"), (("xz",), {}, "Nothing is varied"),
     (("seq {n}; sort",), {"lists": [("n", "1,2")]}, "';' means"),
     (("seq", "{n}", ">", "x"), {"lists": [("n", "1,2")]}, "'>' means"),
     (("xz", "{n}"), {"lists": [("n", "1,,2")]}, "a level is empty"),
     (("xz", "{n}"), {"lists": [("n", "8..1")]}, "a range begins above 0 and ends higher"),
     (("xz", "{n}"), {"lists": [("n", "1")], "scans": [("n", "1", "2")]}, "n is given twice"),
     (("xz", "{n}"), {"scans": [("n", "1", "x")]},
      "-P n 1 x -D 1: could not convert string to float: 'x'"),
     (("xz", "{n}"), {"lists": [("n", "1,2")], "steps": ["2"]}, "-D 2 has no `-P NAME"),
     (("xz", "{n}"), {"lists": [("n", "1-8")]}, r"or `1\.\.8`"),
     (("xz", "{n}"), {"lists": [("n", "1,2,8..32")]}, r"8\.\.32: a range is of plain numbers"),
     (("xz", "{n}"), {"lists": [("n", "64k..1M")]}, r"write all levels, such as `64KiB"),
     (("N=${n} ./x",), {"lists": [("n", "1,2")], "shell": "sh"}, "n stands nowhere"),
     (("xz",), {"memory_limit": "64M..1GiB"}, "memory_limit 64M..1GiB: is '64M'; a size is"),
     (("xz", "{n-1}"), {"lists": [("n-1", "1,2")]}, "write letters, digits and _"),
     (("A=1 B={n} node",), {"lists": [("n", "1,2")]}, "'A=1' means something to a shell only"),
     (("xz", "{n}"), {"lists": [("n=1,2", "xz")]}, "levels apart from it: `-L threads 1,2,4`"),
     (("xz", "{n}"), {"lists": [("n", "1 2 4")]}, "write `1,2,4` or"),
     (("ulimit", "-v", "{n}"), {"lists": [("n", "1,2")]}, "'ulimit' means something to a shell"),
     (("xz '{n}",), {"lists": [("n", "1,2")]}, "cannot be read: no closing quotation"),
     (("xz", "{n}"), {"scans": [("n", "1", "4"), ("n", "8", "16")]}, "n is given twice"),
     (("xz", "{n}"), {"scans": [("n", "1", "inf")]}, "are finite numbers"),
     (("xz", "{n}"), {"scans": [("n", "1", "4")], "steps": ["0"]}, "must be a positive number"),
     (("xz {n}",), {"lists": [("n", "1,2")], "shell": "sh '"}, "--shell sh ': No closing")],
)  # fmt: skip
def test_what_cannot_be_meant_is_said_in_a_sentence(command, asked, said):
    with pytest.raises(StudyError, match=said) as error:
        study_of_line(command, asked, 2)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("word", "is_refused"), [
    ("--password=***", True),
    ("http://***@db/{n}", True),
    ("***:{n}", False),
])  # fmt: skip
def test_a_masked_secret_is_to_be_typed_and_other_stars_are_the_programs(word, is_refused):
    line = partial(study_of_line, ("client", word, "{n}"), {"lists": (("n", "1,2"),)}, 4)
    if is_refused:
        with pytest.raises(StudyError, match="in place of a secret: write the secret"):
            line()
    else:
        assert word in line()["workload"]["argv"]


def test_names_in_capitals_are_names_and_variables_of_a_shell_are_its_own():
    made = study("xz", "-T{T}", "{0}", lists=[("T", "1,2")], prepare='cp "${HOME}/x" {T}')
    assert made.factor_names() == ("T",)
    assert made.workload.argv == ("xz", "-T{T}", "{{0}}")
    assert made.workload.prepare == ("sh", "-c", 'cp "${{HOME}}/x" {T}')


def test_a_factor_of_one_level_is_a_condition_and_not_the_knob():
    one = {"cpu_limit": "0.5", "lists": [("n", "1,2,4")]}
    assert study("make", "-j{n}", **one).knob_name == "n"
    made = study("make", "-j{n}", **one, role="setting")
    assert made.factors["n"].role == "setting" and made.factors["cpu_limit"].role is None
    assert study("make", cpu_limit="0.5").knob_name == "cpu_limit"


def test_a_range_of_sizes_is_of_whole_mebibytes_between_its_ends():
    chosen = levels(study("xz", memory_limit="64MiB..1GiB"), "memory_limit")
    assert chosen[0] == 64 * 2**20 and chosen[-1] == 2**30
    assert 8 <= len(chosen) <= 12 and not any(level % 2**20 for level in chosen)


@pytest.mark.parametrize(
    ("line", "argv"),
    [("make clean", ("make", "clean")), ("sync", ("sync",)),
     ("rm -f x > y", ("sh", "-c", "rm -f x > y")),
     ("x stop; x start {n}", ("sh", "-c", "x stop; x start {n}")),
     ("awk 'BEGIN {{x; y}}'", ("awk", "BEGIN {{x; y}}")),
     ("A=1 make clean", ("sh", "-c", "A=1 make clean"))],
)  # fmt: skip
def test_what_is_not_measured_may_be_a_line_for_a_shell(line, argv):
    said = {} if "{n}" in line else {"setup": line, "cleanup": line}
    said |= {"lists": [("n", "1,2")], "prepare": line, "ignore_failure": True}
    workload = study("xz {n}", **said).workload
    assert {workload.prepare, *filter(None, (workload.setup, workload.cleanup))} == {argv}
    assert workload.expected_exit_codes == "any"


def test_versions_are_refused_or_left_as_they_are_typed():
    of_line = partial(study, "python{v}", "x.py")
    with pytest.raises(StudyError, match=r"look like versions.*`python3\.10`"):
        of_line(lists=[("v", "3.9,3.10,3.11")])
    assert levels(of_line(lists=[("v", "1.20,1.21")]), "v") == ("1.20", 1.21)


def test_names_of_files_and_quotes_go_through_a_shell():
    of_line = partial(study, lists=[("n", "1,2")])
    made = of_line("make", "-j{n}", prepare="rm -rf out/*").workload
    assert made.prepare == ("sh", "-c", "rm -rf out/*")
    made = of_line("grep", "-c", "foo bar", "f{n}", "|", "cat", shell="sh").workload  # noqa: S604
    assert made.argv[-1] == "grep -c 'foo bar' f{n} | cat"


def test_limits_of_a_server_are_typed_as_those_of_the_command():
    cores = levels_in("db_cpu_limit", "0.25..2", 4)
    assert cores[0] == 0.25 and any(level % 1 for level in levels_in("db_cpu_limit", "1..4", 4))
    assert levels_in("db_memory_limit", "64MiB..1GiB", 4)[0] == 64 * 2**20
