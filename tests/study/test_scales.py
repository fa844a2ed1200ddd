import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.study.scales import level_name, scale_of


@pytest.mark.parametrize(
    ("levels", "kind", "positions", "apart"),
    [(["gzip", "zstd", "xz"], "words", [], ["gzip", "zstd", "xz"]),
     ([True, False], "words", [], ["true", "false"]),
     (["7z", "gzip", "xz"], "words", [], ["7z", "gzip", "xz"]),
     ([0, 1, 2, 3], "ratio", [1, 2, 3], ["0"]),
     ([1, 2, "auto", "off"], "ratio", [1, 2], ["auto", "off"]),
     ([-10, 0, 10, 19], "interval", [-10, 0, 10, 19], []), ([1, 2], "ratio", [1, 2], []),
     ([1, 2, 4, "none"], "ratio", [1, 2, 4, 8], []), (["4KiB", "64MB"], "ratio", [4096, 64e6], []),
     (["250ms", "1s", "2 min"], "ratio", [0.25, 1, 120], []),
     (["1/8", "1/4", "1"], "ratio", [0.125, 0.25, 1], []), (["50%", "75%"], "ratio", [50, 75], []),
     (["10fps", "30fps"], "ratio", [10, 30], []),
     (["128", "1 024", "4 096"], "ratio", [128, 1024, 4096], []),
     (["1", "1,000", "10,000"], "ratio", [1, 1000, 10000], []),
     (["1,000", "2,500"], "ratio", [1000, 2500], []),
     (["2,128", "4,256"], "words", [], ["2,128", "4,256"]),
     (["1 Thread", "2 Threads", "4 Threads"], "ratio", [1, 2, 4], []),
     (["256", "512 †"], "ratio", [256, 512], []), (["QD=1", "QD=4"], "ratio", [1, 4], []),
     (["a=1", "a=2", "b=2"], "words", [], ["a=1", "a=2", "b=2"]),
     (["gzip=6", "lz4=1", "zstd=3"], "words", [], ["gzip=6", "lz4=1", "zstd=3"]),
     (["1,024", "2,048", "4,096"], "ratio", [1024, 2048, 4096], []),
     (["1 100", "2 100", "4"], "words", [], ["1 100", "2 100", "4"]),
     (["0*", "1*", "2*"], "words", [], ["0*", "1*", "2*"]),
     (["No Pool", "Pool size = 1", "Pool size=1,000"], "ratio", [1, 1000], ["No Pool"]),
     (["1s", "2MB", "3fps"], "words", [], ["1s", "2MB", "3fps"])],
)  # fmt: skip
def test_the_levels_say_their_scale(levels, kind, positions, apart):
    scale = scale_of(levels)
    assert scale.kind == kind
    assert sorted(scale.positions.values()) == pytest.approx(sorted(positions))
    assert list(scale.apart) == apart


def test_a_study_may_say_the_scale_and_where_single_levels_lie():
    assert scale_of([0, 1, 2], "interval").positions == {"0": 0, "1": 1, "2": 2}
    assert scale_of([1, 2, 4], "words").apart == ("1", "2", "4")
    placed = scale_of([1, 2, "none", "off"], None, {"none": "apart", "off": 0.5})
    assert placed.positions == {"1": 1, "2": 2, "off": 0.5} and placed.apart == ("none",)
    assert scale_of([0, 10, "all"], "interval", {"all": "beyond"}).positions["all"] == 20


def test_a_scale_that_the_levels_do_not_fit_is_refused():
    with pytest.raises(ValueError, match="no level is a number"):
        scale_of(["a", "b"], "ratio")
    with pytest.raises(ValueError, match="no negative levels such as -1"):
        scale_of([-1, 1], "ratio")


@given(st.lists(st.integers(1, 10**6), min_size=1, unique=True))
def test_positive_numbers_lie_where_they_are_whatever_their_type(levels):
    scale = scale_of([float(level) for level in levels])
    assert scale.positions == {str(level): level for level in levels}
    amounts = {f"{level}KiB": 1024 * level for level in levels}
    assert scale_of([*amounts]).positions == amounts


def test_a_level_reads_as_it_is_written():
    assert [level_name(v) for v in (4.0, 0.25, None, float("nan"), True, " 64MB ", "None")] == [
        "4", "0.25", "", "", "true", "64MB", "none",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "kind", "apart"),
    [([-1, 50, 100, 200], "ratio", ("-1",)), (["-1", "50", "100", "200", "400"], "ratio", ("-1",)),
     ([-1, 0, 1, 2], "interval", ()),
     ([-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "ratio", ("-1", "0")),
     ([-5, -1, 1, 3, 9], "interval", ()), ([-1, 1], "interval", ())],
)  # fmt: skip
def test_a_lone_minus_one_beside_other_levels_is_a_word(levels, kind, apart):
    found = scale_of(levels)
    assert (found.kind, found.apart) == (kind, apart)
    assert -1 in scale_of([-1, 50, 100, 200], "interval").positions.values()


def test_a_study_may_make_minus_one_a_level_and_zero_a_word():
    assert scale_of([-1, 50, 100, 200], places={"-1": -1}).kind == "interval"
    assert scale_of([0, 1, 2, 4]).lowest == "0"
    assert scale_of([0, 1, 2, 4], places={"0": "apart"}).lowest is None
    assert scale_of([-20, -5, 0, 5], places={"0": "apart"}).apart == ("0",)
    assert scale_of([-1, 0, 1, 2, 4], places={"0": "apart"}).apart == ("-1", "0")


@pytest.mark.parametrize(
    ("levels", "thousand", "positions"),
    [(["512", "1K", "1536", "2K", "4K"], 1024, [512, 1024, 1536, 2048, 4096]),
     (["100K", "500K", "1M", "5M"], 1000, [1e5, 5e5, 1e6, 5e6]),
     (["100", "1k", "2.5k"], 1000, [100, 1000, 2500]), (["1K", "2K", "4K"], 0, [1, 2, 4])],
)  # fmt: skip
def test_a_letter_alone_beside_others_is_an_amount(levels, thousand, positions):
    scale = scale_of(levels)
    assert (scale.kind, scale.thousand) == ("ratio", thousand)
    assert [scale.positions[level] for level in levels] == positions


def test_what_a_letter_is_taken_for_is_said_and_sizes_of_the_work_are_known(fit_of):
    rows = [("100K", 0.004), ("500K", 0.021), ("1M", 0.0456), ("5M", 0.268), ("10M", 0.6)]
    said = fit_of(rows, "size", "time_per_call_s").out
    assert "size says how much work there is" in said
    assert "K in the levels of size is taken as 1000." in said
