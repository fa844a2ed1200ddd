import pandas as pd
from matplotlib.axes import Axes

from deadzone.language.messages import speaking
from deadzone.report.document.display import Figure, Table
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source


def report_of(tmp_path, rows, columns, response="wall_s", **asked):
    path = tmp_path / "trials.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return SweepReport(analyse(load_source(table=str(path), response=response, **asked)))


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
    assert isinstance(figure, Figure) and figure.id == "response" and "zstd" in figure.description
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
    times, noise = ((0, 4), (1, 8), (2, 4), (4, 2), (8, 2)), (0.99, 1, 1.01)
    rows = [(d, wall * n) for d, wall in times for n in noise]
    report = report_of(tmp_path, rows, ["depth", "wall_s"], knob="depth")
    curve, settings = report.figures()
    assert (curve.id, settings.id) == ("response", "settings-figure")
    listed = report.treatments()[0].frame.iloc[:, 0].tolist()
    assert listed == [f"depth {d}" for d in (0, 1, 2, 4, 8)]


def test_trials_are_drawn_at_their_setting_where_one_in_the_middle_is_barred(tmp_path, monkeypatch):
    rows = [
        (depth, wall * (1 + i / 100), "timeout" if depth == 2 and i % 2 else "ok")
        for depth, wall in ((0, 4), (1, 8), (2, 9), (4, 2), (8, 1))
        for i in range(8)
    ]
    report = report_of(tmp_path, rows, ["depth", "wall_s", "status"], knob="depth")
    points, scatter, errorbar = {}, Axes.scatter, Axes.errorbar

    def drawn(self, x, y, *given, **how):
        points.update({round(float(at)): [*x] for at in y[:1]} if len(x) == 8 else {})
        return scatter(self, x, y, *given, **how)

    estimates = {}

    def estimated(self, x, y, *given, **how):
        estimates.update({y: x} if isinstance(y, int) else {})
        return errorbar(self, x, y, *given, **how)

    with monkeypatch.context() as patched:
        patched.setattr(Axes, "scatter", drawn)
        patched.setattr(Axes, "errorbar", estimated)
        [*_, settings] = report.figures()
    assert [*report.analysis.advice.table["setting"]] == [0, 1, 4, 8]
    assert settings.id == "settings-figure" and sorted(estimates) == [0, 1, 2, 3]
    for row, estimate in estimates.items():
        assert min(points[row]) <= estimate <= max(points[row])


def test_a_rate_in_bytes_is_said_in_gigabytes_everywhere(tmp_path, monkeypatch):
    rows = [(n, 4e9 * min(n, 3) * noise) for n in (1, 2, 3, 4) for noise in (0.99, 1, 1.01)]
    columns = ["n", "throughput_bytes_s"]
    report = report_of(tmp_path, rows, columns, "throughput_bytes_s", knob="n")
    assert "Set n 3: 12.0 GB/s" in report.title().verdict
    frame = report.treatments()[0].frame
    assert "throughput (GB/s)" in frame.columns[2] and frame.iloc[0, 2].startswith("4.0")
    drawn, of = [], Figure.of
    keep = lambda drawing, *given, **how: (drawn.append(drawing), of(drawing, *given, **how))[1]  # noqa: E731
    monkeypatch.setattr(Figure, "of", keep)
    report.figures()
    [ax] = drawn[0].axes
    assert ax.get_ylabel() == "throughput (GB/s)"
    assert {tick.get_text() for tick in ax.get_yticklabels()} >= {"4", "12"}
