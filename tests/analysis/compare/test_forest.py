from analysis.compare.tables import samples, table
from deadzone.analysis.compare.comparing import compare_tables


def drawn(result):
    figure = result.plot()
    figure.draw_without_rendering()
    return figure


def test_the_title_says_the_finding_and_each_row_its_verdict():
    b = table(seed=2)
    b.loc[b["threads"] == 4, "wall_s"] *= 1.2
    (left,) = drawn(compare_tables(table(), b, "wall_s")).axes
    assert left.get_title(loc="left") == "wall time: worse at 1 of 3"
    rows = [label.get_text() for label in left.get_yticklabels()]
    assert rows == ["1 thread", "2 threads", "4 threads", "overall"]
    assert left.texts[2].get_text() == "worse"


def test_every_response_is_a_panel():
    a, b = (table(seed=s).assign(fps=10.0) for s in (1, 2))
    assert len(drawn(compare_tables(a, b, ["wall_s", "fps"])).axes) == 2
    drawn(compare_tables(*samples([0, 0], [1, 2], "errors"), "errors"))
    drawn(compare_tables(*samples([1], [1]), "wall_s"))


def test_of_many_treatments_the_largest_changes_are_shown():
    a, b = (table(levels=range(1, 42), n=2, seed=seed) for seed in (1, 2))
    figure = drawn(compare_tables(a, b, "wall_s"))
    assert "40 largest changes of 41" in figure.axes[0].get_title(loc="left")
