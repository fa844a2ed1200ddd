"""The report of a run with profiles: what changed, why, what it means, and what must not get worse."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from deadzone.errors import ReportError, UnknownRunError
from deadzone.language.catalogue import speak
from deadzone.reports.document.display import Figure, Prose, Table
from deadzone.reports.document.document import document_of
from deadzone.reports.document.page import page
from deadzone.reports.document.pdf import pdf
from deadzone.reports.profile_diff import run as profile_diff
from deadzone.reports.profile_diff.run import ProfileRun
from reports.profile_diff.profiled_run import STUDY, TRIALS, profiled_run

SECTIONS = ("title", "totals", "parts", "flames", "heap_parts", "projection", "gates", "limits", "origin")


def repository(folder: Path) -> Path:
    """A repository of the test's own; its folder of runs."""
    (folder / "notebooks" / "studies").mkdir(parents=True)
    return folder / "data" / "runs"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder of runs, the one in force."""
    monkeypatch.setenv("DEADZONE_HOME", str(tmp_path))
    return repository(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The recorded Go server before and after, with ablations and further loads, as a run."""
    home = tmp_path_factory.mktemp("repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEADZONE_HOME", str(home))
        profiled_run(repository(home))
        study = profile_diff.load("relay/latest")
    assert isinstance(study, ProfileRun)
    return study


def tables(blocks) -> dict[str, Table]:
    return {block.id: block for block in blocks if isinstance(block, Table)}


def words(blocks) -> str:
    return "\n".join(map(repr, blocks))


def column(table: Table, name: str) -> list[str]:
    return [row[table.columns.index(name)] for row in table.rows]


def test_totals_are_per_unit_of_the_load_measured_alongside(made):
    comparison = made.comparisons["cpu"]
    assert comparison.pair.unit == "nanoseconds per stream"
    assert len(comparison.pair.before.profiles) == len(comparison.pair.after.profiles) == 3
    assert comparison.total["before"].iloc[0] == pytest.approx((3.45e9 + 3.39e9 + 3.35e9) / 3 / 64, rel=0.01)
    table = tables(made.totals())["totals"]
    assert column(table, "profile") == [
        "CPU time per stream",
        "heap in use per stream",
        "goroutines per stream",
    ]
    assert "Welch" in words(made.totals())
    assert "3 trials before and 3 after, at streams 64" in words(made.totals())


def test_causes_add_up_exactly_and_ablations_stand_beside_them(made):
    attribution = made.attribution("cpu")
    assert sum(attribution.exact.values()) == attribution.total
    shown = tables(made.parts())
    assert column(shown["causes"], "cause") == ["NACK", "mDNS", "system calls", "other"]
    assert column(shown["ablations"], "option alone") == ["NACK", "mDNS"]
    assert "the interaction is" in words(made.parts()) and "counted more than once" in words(made.parts())


def test_functions_show_shares_and_amounts_and_name_the_vanished(made):
    functions = tables(made.parts())["functions"]
    assert column(functions, "share")[0] == "64 % → 49 %"
    assert any("(vanished)" in name for name in column(functions, "function"))


def test_one_load_is_projected_in_proportion_with_a_warning_and_several_by_a_line(made):
    before, after = (made.projections()[when][0] for when in ("before", "after"))
    assert before.method == "proportional" and before.low is None
    assert after.method == "line" and after.low < after.amount < after.high and len(after.loads) == 4
    assert "an assumption, not a measurement" in words(made.projection())


def test_gates_are_judged_with_the_claims_and_the_verdict_cites_them(made):
    assert made.shipping.verdict == "undecided"
    table = tables(made.claims())["claims"]
    assert column(table, "verdict") == ["supported", "not measured"]
    assert "Undecided, for these are not decided: frames lost." in words(made.gates())


def test_what_got_worse_forbids_shipping(runs):
    study = STUDY.replace("latency_p99_ms: {margin: 0.1}", "latency_p99_ms: {margin: 0.0001}")
    profiled_run(runs, study.replace("  frames_lost: {margin: 1, absolute: true}\n", ""))
    made = profile_diff.load("relay/latest")
    assert made.shipping.verdict == "do not ship", str(made.shipping)
    assert "worse by more than their margin" in made.title()[0].verdict
    assert made.title()[0].verdict.endswith("(p99) (ms).")


def test_the_flame_graph_zooms_on_the_page_and_stands_still_in_the_pdf(made):
    (graph,) = [block for block in made.flames() if isinstance(block, Figure)]
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    blocks = [*made.title(), graph]
    outputs = [new_output("display_data", data=block._repr_mimebundle_()) for block in blocks]
    document = document_of(new_notebook(cells=[new_code_cell("", outputs=outputs)]))
    shown = page(document)
    assert shown.count("<script>") == 1 and "deadzone-flame" in shown
    written = pdf(document)
    assert written.startswith(b"%PDF") and b"JavaScript" not in written


def test_further_kinds_of_profile_have_their_own_figures(made):
    ids = [block.id for block in made.heap_parts() if isinstance(block, Figure)]
    assert ids == ["waterfall-heap", "packages-heap", "waterfall-goroutine", "packages-goroutine"]
    warned = [block for block in made.heap_parts() if isinstance(block, Prose) and block.style == "warnings"]
    assert "all counted, not sampled" in words(warned)


def test_a_single_pair_of_trials_is_judged_by_its_samples(runs):
    alone = ("without-nack", 64, ("without-nack",))
    profiled_run(runs, trials=[("before", 64, ("before-1",)), ("after", 64, ("after-1",)), alone])
    made = profile_diff.load("relay/latest")
    assert made.comparisons["cpu"].method == "sampling"
    assert "Without a trial of mDNS alone" in words(made.parts())
    assert "Poisson" in words(made.totals())


def test_a_report_in_korean_has_the_same_blocks(runs):
    small = {"trials": [("before", 64, ("before-1",)), ("after", 64, ("after-1",))]}
    profiled_run(runs, **small)
    try:
        english, korean = (
            [block for name in SECTIONS for block in getattr(study, name)()]
            for study in (profile_diff.load("relay/latest", lang) for lang in ("en", "ko"))
        )
        assert [type(block) for block in korean] == [type(block) for block in english]
        if korean[0].language == "ko":
            assert "원인들과 기타를 더하면" in words(korean)
    finally:
        speak("en")


def test_what_cannot_be_compared_is_said(runs):
    without = STUDY[: STUDY.index("profiles:")]
    profiled_run(runs, without, TRIALS[:2])
    with pytest.raises(ReportError, match="took no profiles"):
        profile_diff.load("relay/latest")
    with pytest.raises(UnknownRunError):
        profile_diff.load("no-such-run")


def test_a_run_without_a_side_is_said(runs):
    profiled_run(runs, trials=TRIALS[:1])
    with pytest.raises(ReportError, match="no trial at build = after"):
        profile_diff.load("relay/latest")
