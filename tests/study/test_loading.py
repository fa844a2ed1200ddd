from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import StudyError
from deadzone.study.design import resolve
from deadzone.study.loading import dump_study, find_study, load_study, parse_study
from deadzone.study.spec import Study

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "notebooks" / "studies"

GOOD = """\
study: good
workload:
  kind: command
  argv: [xz, "-T{threads}"]
factors:
  threads: [1, 2]
design:
  replicates: 3
"""


def refusal(text, **overrides):
    with pytest.raises(StudyError) as refused:
        resolve(parse_study(text, "file.yaml", overrides), 2)
    return str(refused.value)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_studies_of_the_repository_are_read(path):
    study = resolve(load_study(path), 2)
    assert study.study == path.stem
    assert study.question.endswith("?")


def replaced(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [(replaced("replicates: 3", "replicate: 3"),
      "file.yaml:8: Unknown key `design.replicate`. Did you mean `replicates`? "
      "Allowed keys here: kind, treatments, replicates, warmup, rehearsal, seed, timeout_s, "
      "cooldown_s, batch, until, budget_s, trials, along, gain, where, when, baseline."),
     (replaced("design:", "desing:"), "file.yaml:7: Unknown key `desing`. Did you mean `design`?"),
     (replaced("  kind: command", "  kind: comand"),
      "file.yaml:2: workload is 'comand'; allowed: ffmpeg, command, python, disk, load, "
      "http. Did you mean `command`?"),
     (replaced("  kind: command\n", ""), "file.yaml:2: workload.kind is missing."),
     (replaced('  argv: [xz, "-T{threads}"]\n', ""), "file.yaml:2: workload.argv is missing."),
     (replaced('[xz, "-T{threads}"]', "xz -T2"),
      'file.yaml:4: workload.argv is "xz -T2"; it must be a list.'),
     (replaced('[xz, "-T{threads}"]', "[]"),
      "file.yaml:4: workload.argv is a list; it must not be empty."),
     (replaced('"-T{threads}"', '"-T{threads"'),
      "file.yaml:4: workload.argv[1] is '-T{threads', with a single brace; a placeholder is "
      "{name}, and braces for the program are doubled: {{ and }}."),
     (replaced("argv:", "clip: {duration_s: 1}\n  argv:"),
      "file.yaml:4: Unknown key `workload.clip`."),
     (replaced("replicates: 3", "replicates: 5000"),
      "file.yaml:8: design.replicates is 5000; it must be less than or equal to 1000."),
     (replaced("replicates: 3", "replicates: many"),
      'file.yaml:8: design.replicates is "many"; it must be a whole number.'),
     (replaced("replicates: 3", "timeout_s: .inf"),
      "file.yaml:8: design.timeout_s is Infinity; it must be a finite"),
     (replaced("replicates: 3", "kind: lists"),
      "file.yaml:8: design.kind is 'lists'; allowed: factorial, paired, list"),
     (replaced("replicates: 3", "kind: list"),
      "file.yaml:7: design treatments are given for kind: list"),
     (replaced("study: good", "study: Not Good"),
      "file.yaml:1: study is 'Not Good'; it must match ^[a-z0-9]"),
     (replaced("study: good\n", ""), "file.yaml: study is missing."),
     (GOOD + "design: {}\n",
      "file.yaml: this is not YAML: line 9: the key 'design' is given twice."),
     (replaced("design:\n  replicates: 3", "design: fast"),
      'file.yaml:7: design is "fast"; it must be a mapping'),
     (replaced("  threads: [1, 2]", "  {}"),
      "file.yaml: the study has no factors: nothing is varied"),
     (GOOD + "knob: thread\n",
      "file.yaml: the study knob is 'thread', which is no factor; factors are threads."),
     (GOOD + "title: [a, b]\n", "file.yaml:9: title is a list; it must be text."),
     (GOOD + "title: &loop [*loop]\n", "file.yaml:9: title is a list; it must be text."),
     (GOOD + "? [a, b]\n: 1\n", "file.yaml: this is not YAML: line 9: found unhashable key"),
     (GOOD + "title: !!int x\n",
      "file.yaml: this is not YAML: a value cannot be read: invalid literal for int()"),
     (GOOD + "title: " + "[" * 1500 + "\n", "file.yaml: this is not YAML"),
     (GOOD + "title: 'unfinished\n",
      "file.yaml: this is not YAML: line 10: found unexpected end of stream."),
     (GOOD + "title: \x07\n", "file.yaml: this is not YAML"),
     ("", "file.yaml: a study is a mapping of keys such as study, workload and factors."),
     (replaced("argv:", "responses: {ratio: {regex: '('}}\n  argv:"),
      "file.yaml:4: workload.responses.ratio.regex is '(', which is no regular expression: "
      "missing ), unterminated"),
     (replaced("argv:", "responses: {ratio: {json_path: 'a['}}\n  argv:"),
      "file.yaml:4: workload.responses.ratio.json_path is 'a[', which is no JMESPath"),
     (replaced("argv:", "responses: {ratio: {}}\n  argv:"),
      "file.yaml:4: workload.responses.ratio needs exactly one of regex and json_path."),
     (replaced("argv:", "responses: {Ratio: {regex: x}}\n  argv:"), "Ratio")],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text, message):
    said = refusal(text)
    assert said.startswith(message) or (message == "Ratio" and "Ratio" in said)
    assert "pydantic" not in said
    assert "instance" not in said


def test_all_problems_are_told_at_once():
    said = refusal(replaced("replicates: 3", "replicates: 0\n  warmup: -1")).splitlines()
    told = [line.split(" is ")[0] for line in said]
    assert told == ["file.yaml:8: design.replicates", "file.yaml:9: design.warmup"]


def test_anchors_and_merge_keys_work():
    text = GOOD.replace("study:", "x-note: &more {seed: 5}\nstudy:")
    assert "Unknown key `x-note`" in refusal(text.replace("  replicates: 3", "  <<: *more"))
    text = GOOD.replace("  replicates: 3", "  <<: {seed: 5}\n  replicates: 4")
    design = parse_study(text, "file.yaml").design
    assert (design.seed, design.replicates) == (5, 4)


def test_values_are_replaced_by_key_path_and_by_short_name():
    changes = {"replicates": 9, "design.seed": 4, "factors.threads": [4, 8], "title": "x"}
    changed = parse_study(GOOD, "f", changes)
    assert (changed.design.replicates, changed.design.seed, changed.title) == (9, 4, "x")
    assert changed.factors["threads"].levels == (4, 8)


def test_the_levels_of_a_factor_can_be_set_by_its_name():
    text = replaced("threads: [1, 2]", "pause: [1, 2]").replace("{threads}", "{pause}")
    short, long = (parse_study(text, "f", {key: [0.1]}) for key in ("pause", "factors.pause"))
    assert short == long
    assert "no parameter 'puase'" in refusal(text, puase=[0.1])
    apart = parse_study(text, "file.yaml", {"factors.pause.at.2": "apart"}).factors["pause"]
    assert (apart.levels, apart.at) == ((1, 2), {"2": "apart"})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [({"replicate": 3}, "A study has no parameter 'replicate'. Did you mean `replicates`?"),
     ({"quux": 3}, "A study has no parameter 'quux'."),
     ({"design.replicate": 3}, "Unknown key `design.replicate`. Did you mean `replicates`?"),
     ({"study.name": 3}, "Cannot set study.name: study holds no keys of its own."),
     ({"replicates": -1}, "design.replicates is -1; it must be greater than or equal to 1."),
     ({"replicates": None}, "design.replicates is null; it must be a whole number."),
     ({"design": "fast"}, 'design is "fast"; it must be a mapping of keys.'),
     ({"factors": {}}, "has no factors")],
)  # fmt: skip
def test_a_wrong_override_is_refused(overrides, message):
    assert message in refusal(GOOD, **overrides)


def test_a_study_is_found_by_path_and_by_name(tmp_path):
    (tmp_path / "one.yaml").write_text(GOOD)
    assert find_study("one", (tmp_path,)) == tmp_path / "one.yaml"
    assert find_study(str(tmp_path / "one.yaml"), ()) == tmp_path / "one.yaml"


def test_a_folder_of_the_same_name_does_not_hide_a_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ffmpeg-cpu-limit").mkdir()
    assert find_study("ffmpeg-cpu-limit", (STUDIES,)).parent == STUDIES


@pytest.mark.parametrize(
    ("name", "message"),
    [("ffmpeg-cpu-limt",
      "There is no study 'ffmpeg-cpu-limt'. Did you mean `ffmpeg-cpu-limit`? Known studies:"),
     ("quux", "There is no study 'quux'. Known studies:"),
     (str(STUDIES / "ffmpeg-cpu-limits.yaml"),
      "no such study file. Did you mean `ffmpeg-cpu-limit.yaml`?"),
     ("no/folder/study.yaml", "there is no such study file."),
     (str(STUDIES), "is a folder; give the study file in it."),
     ("x" * 300, "There is no study 'xxx"),
     ("x" * 300 + ".yaml", "there is no such study file")],
)  # fmt: skip
def test_a_study_that_is_not_there_is_named_with_the_nearest(name, message):
    with pytest.raises(StudyError) as refused:
        find_study(name, (STUDIES,))
    assert message in str(refused.value)


def test_an_unreadable_study_is_refused(tmp_path):
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("study: caf\xe9".encode("latin-1"))
    said = r"latin\.yaml: cannot read the study file: it is not UTF-8 text"
    with pytest.raises(StudyError, match=said):
        load_study(latin)
    with pytest.raises(StudyError, match="cannot read the study file: Is a directory"):
        load_study(tmp_path)


LEVELS = (
    st.integers(1, 10**15)
    | st.floats(0.01, 1e6)
    | st.text("abcdef0123456789eE+-. :#", min_size=1, max_size=8)
)
WORDS = st.text(max_size=30)


@st.composite
def documents(draw):
    levels = st.lists(LEVELS, min_size=1, max_size=5)
    ranges = st.fixed_dictionaries(
        {"from": st.integers(0, 9), "to": st.integers(9, 20), "step": st.sampled_from([0.5, 1, 3])},
        optional={"plus": levels, "times": st.sampled_from(["host_cores", 0.5]), "unit": WORDS},
    )
    factor = levels | ranges | st.fixed_dictionaries({"levels": levels}, optional={"unit": WORDS})
    return {
        "study": "any", "title": draw(WORDS), "question": draw(WORDS),
        "workload": {"kind": "command", "argv": ["echo", "{size}"],
                     "env": {"NOTE": draw(st.sampled_from(["", "{size}"]))}},
        "factors": {"size": draw(factor), "other": draw(factor), "same": {"equals": "size"}},
        "design": {"replicates": draw(st.integers(1, 1000)), "seed": draw(st.integers(0, 2**63)),
                   "timeout_s": draw(st.floats(0.001, 1e6))},
        "response": {"name": draw(st.sampled_from(["wall_s", "user_s"])),
                     "unit": draw(st.none() | WORDS)},
    }  # fmt: skip


@given(documents(), st.integers(1, 256))
def test_a_resolved_study_written_out_is_read_as_itself(document, cores):
    study = resolve(parse_study(yaml.safe_dump(document, default_style='"'), "any.yaml"), cores)
    text = dump_study(study)
    again = parse_study(text, "study.yaml")
    assert again == study
    assert resolve(again, cores + 1) == study, "a resolved study no longer depends on the host"
    assert dump_study(again) == text


@given(
    st.text()
    | st.builds(lambda text: GOOD + text, st.text("abc:[]{}&*!|>-?'\"#%@, \n\t0123456789.~<="))
)
def test_any_text_is_a_study_or_a_refusal_that_names_the_file(text):
    try:
        parse_study(text, "file.yaml")
    except StudyError as refused:
        assert str(refused).startswith("file.yaml")


@given(
    st.dictionaries(
        st.sampled_from([*Study.model_fields]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["kind", "argv", "levels", "from", "to", "step", "a"]),
                    inner,
                    max_size=3,
                )
            ),
            max_leaves=8,
        ),
    )
)
def test_any_document_of_wrong_kinds_is_refused_in_words(document):
    try:
        resolve(parse_study(yaml.safe_dump(document), "file.yaml"), 2)
    except StudyError as refused:
        assert "Traceback" not in str(refused)
        assert "validation error" not in str(refused)


def test_aliases_that_stand_for_more_than_memory_holds_are_refused_before_they_are_written_out():
    parts = [["x"] * 9, *([f"*k{n}"] * 9 for n in range(8))]
    text = "".join(f"k{n}: &k{n} [{', '.join(part)}]\n" for n, part in enumerate(parts))
    with pytest.raises(StudyError, match=r"bomb\.yaml: .* more than 30 YAML aliases"):
        parse_study(text, "bomb.yaml")


GONE = """study: s
workload: {kind: command, argv: [sleep, 0]}
factors: {n: [1, 2]}
profiles: {profiler: py-spy, PROFILES}
"""


@pytest.mark.parametrize(
    ("keys", "says"),
    [("causes: {a: b}", "profiles has causes, which is gone: give them to the report"),
     ("rule: shapley", "profiles has rule, which is gone"),
     ("change: {alone: {a: 3}}", "profiles.change has alone, which is gone"),
     ("load: {column: n, unit: stream, project_to: 9}", "give it to the report: -p project_to"),
     ("kinds: [cpu]}\ngates: {wall_s: {margin: 0.1}", "the study has gates, which is gone: write")],
)  # fmt: skip
def test_a_key_that_is_gone_is_refused_with_what_to_do_and_left_out_of_a_stored_study(keys, says):
    text = GONE.replace("PROFILES", keys)
    with pytest.raises(StudyError, match=says):
        parse_study(text, "s.yaml")
    stored = parse_study(text, "s.yaml", is_stored=True)
    assert stored.profiles and "gone" not in dump_study(stored)
    assert parse_study(dump_study(stored), "s.yaml") == stored
