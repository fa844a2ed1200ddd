"""Input as no program writes it: an answer or a sentence, never a defect. Ten thousand of each:
`make torture OF=input`."""

import gzip
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from shell import own_shell

from deadzone.errors import COMMAND_VARIABLE, PhaseError
from deadzone.report.sweep.source import load_source
from torture import inputs
from torture.inputs import KINDS, check, said_by

FEW = {"run": 3, "run to resume": 2, "notebook parameter": 1}
"""Cases of a kind that takes longer."""

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def _patient(monkeypatch, deadzone):
    """Neighbours may take the time of this process; how long a command takes is what `make torture`
    looks at. What commands and notebooks leave in this process, no other test sees."""
    monkeypatch.setattr(inputs, "MOST_S", inputs.HANGS_S)
    monkeypatch.setenv(COMMAND_VARIABLE, "1")
    with own_shell():
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_damaged_anyhow_is_answered_or_refused(kind, tmp_path_factory, monkeypatch):
    # is given back after what the repository of the cases sets
    monkeypatch.setenv("DEADZONE_HOME", "")

    # Nothing is made smaller: a command takes too long for the hundreds of tries.
    @settings(
        max_examples=FEW.get(kind, 12),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def case(data):
        KINDS[kind](partial(data.draw), tmp_path_factory.mktemp("case"))

    case()


@pytest.mark.parametrize(
    "arguments",
    [("sweep", "{file}.yaml", "--dry-run"),
     ("sweep", "xz-threads", "--dry-run", "-f", "{file}.yaml"),
     ("fit", "{file}.csv", "--knob", "a", "--response", "b"), ("import", "vegeta", "{file}.json"),
     ("profile", "{file}", "{file}")],
)  # fmt: skip
def test_a_device_is_read_by_no_command_for_it_may_have_no_end(arguments, tmp_path):
    for ending in ("", ".yaml", ".csv", ".json"):
        (tmp_path / f"zero{ending}").symlink_to("/dev/zero")
    said = said_by(*(one.format(file=tmp_path / "zero") for one in arguments))
    check(said, {2})
    refusal = "there is no such table" if arguments[0] == "fit" else "it is a device"
    assert "zero" in said.err and refusal in said.err


@pytest.mark.night
def test_a_small_file_that_stands_for_more_than_memory_holds_is_refused(tmp_path, monkeypatch):
    """Zipped, a thousandth of what it is. Up to the 256 MB that a profile may have it is read,
    which takes that twice."""
    monkeypatch.setattr(inputs, "MOST_BYTES", 700_000_000)
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * (120 * MEGABYTE), 1))
    said = said_by("import", "vegeta", str(bomb))
    check(said, {2})
    assert "holds more than 100,000,000 characters" in said.err
    profile = tmp_path / "bomb.pb.gz"
    profile.write_bytes(gzip.compress(b"\0" * (270 * MEGABYTE), 1))
    said = said_by("profile", str(profile), str(profile))
    check(said, {2})
    assert "it is over 256 MB uncompressed" in said.err


def test_a_study_is_no_novel(tmp_path):
    (tmp_path / "long.yaml").write_text("# " + "x" * 2 * MEGABYTE)
    said = said_by("sweep", str(tmp_path / "long.yaml"), "--dry-run")
    check(said, {2})
    assert "larger than 1 MB" in said.err


def test_a_report_of_a_table_asked_for_a_column_that_is_not_there_says_so():
    with pytest.raises(PhaseError, match="no column 'nothing'"):
        load_source(table=str(inputs.A_TABLE), knob="cpu_limit", response="wall_s", by="nothing")


@pytest.mark.parametrize(
    ("levels", "responses", "words"),
    [([56, 22, 14, 13, 69, -1e308], [4, 8, 16, 32, 4, 8], "13 and 14 cannot be told apart"),
     ([4, 5, 6, 7, 8], [16.9, 12.1, -7.1, -24, -9.6], "compared by its amount")],
    ids=["one level far away makes others one", "a response below zero at the largest level"],
)  # fmt: skip
def test_what_is_odd_about_a_table_is_said_with_its_fit(levels, responses, words, tmp_path):
    rows = "".join(f"{one},{other}\n" for one, other in zip(levels, responses, strict=True))
    (tmp_path / "t.csv").write_text(f"knob,change\n{rows}")
    said = said_by("fit", str(tmp_path / "t.csv"), "--knob=knob", "--response=change")
    assert said.code == 0 and words in " ".join(said.out.split())
