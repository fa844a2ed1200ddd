import pandas as pd

from deadzone.language.messages import speaking
from deadzone.report.document.display import Figure, Table
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source


def report_of(tmp_path, rows, columns, **asked):
    path = tmp_path / "trials.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return SweepReport(analyse(load_source(table=str(path), response="wall_s", **asked)))


TOOLS = [
    (tool, wall * noise)
    for tool, wall in (("gzip", 3.0), ("zstd", 1.0), ("xz", 9.0))
    for noise in (0.98, 1.0, 1.01, 1.02)
]


def test_words_end_in_a_verdict_a_figure_and_a_table(tmp_path):
    report = report_of(tmp_path, TOOLS, ["tool", "wall_s"], knob="tool")
    assert "Set tool zstd: " in report.title().verdict
    assert "sure to be within" in str(report.verdict())
    (figure,) = report.figures()
    assert isinstance(figure, Figure) and figure.id == "response" and "zstd" in figure.caption
    table = report.treatments()[0]
    assert isinstance(table, Table)
    assert table.frame.iloc[:, 0].tolist() == ["tool zstd", "tool gzip", "tool xz"]
    assert table.frame.iloc[:, -1].tolist() == ["recommended", "worse", "worse"]
    assert "choice among words" in str(report.phases()[0])


def test_the_same_in_korean(tmp_path):
    with speaking("ko"):
        report = report_of(tmp_path, TOOLS, ["tool", "wall_s"], knob="tool")
        assert report.treatments()[0].frame.iloc[:, -1].tolist() == ["권장", "더 나쁨", "더 나쁨"]
        verdict = report.title().verdict
    assert verdict.startswith("설정: tool zstd. ") and "이내일 확률" in verdict


def test_a_level_apart_is_in_a_figure_of_its_own_beside_the_curve(tmp_path):
    rows = [
        (d, wall * noise)
        for d, wall in ((0, 4), (1, 8), (2, 4), (4, 2), (8, 2))
        for noise in (0.99, 1, 1.01)
    ]
    report = report_of(tmp_path, rows, ["depth", "wall_s"], knob="depth")
    curve, settings = report.figures()
    assert (curve.id, settings.id) == ("response", "settings-figure")
    assert report.treatments()[0].frame.iloc[:, 0].tolist() == [
        f"depth {d}" for d in (0, 1, 2, 4, 8)
    ]


def test_words_beside_a_knob_have_a_curve_each_and_one_is_recommended(tmp_path):
    rows = [
        (tool, level, cost * level**0.5 * noise)
        for tool, cost in (("gzip", 3.0), ("zstd", 1.0))
        for level in (1, 2, 4, 8)
        for noise in (0.99, 1.0, 1.01)
    ]
    report = report_of(tmp_path, rows, ["tool", "level", "wall_s"], knob="level", by="tool")
    assert [s.name for s in report.analysis] == ["tool = gzip", "tool = zstd"]
    assert len(report.treatments()) == 1
    assert report.analysis.advice.setting == {"tool": "zstd", "level": 1}
