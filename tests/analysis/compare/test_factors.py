import pytest

from analysis.compare.tables import table, warns
from deadzone.analysis.compare.comparing import compare_tables
from deadzone.errors import CompareError


def test_settings_are_told_from_measurements_by_their_repeated_values():
    def measured(seed, warm, user_s):
        frame = table(seed=seed)
        return frame.assign(codec="h264", host_temperature=warm + frame.index * 0.1, user_s=user_s)

    a, b = measured(1, 40, 1.0), measured(2, 50, 1.1)
    assert compare_tables(a, b, "wall_s").factors == ("threads",)


def test_words_are_levels_too():
    a, b = (table(seed=s).assign(codec=lambda t: ["h264", "vp9"] * (len(t) // 2)) for s in (1, 2))
    assert compare_tables(a, b, "wall_s").factors == ("threads", "codec")
    assert compare_tables(a, b, "wall_s", factors=["codec"]).factors == ("codec",)


def test_a_factor_that_the_other_table_lacks_may_not_vary():
    a = table().assign(limit=2)
    result = compare_tables(a, table(seed=2), "wall_s", factors=["threads", "limit"])
    assert result.factors == ("threads",)
    with pytest.raises(CompareError, match="several levels"):
        compare_tables(a.assign(limit=range(len(a))), table(seed=2), "wall_s", factors=["limit"])


def test_what_was_changed_between_the_tables_is_named_and_not_matched_by():
    a = table().assign(version="old", cpu_limit=2)
    result = compare_tables(a, table(1.2, seed=2).assign(version="new", cpu_limit=4), "wall_s")
    assert result.factors == ("threads",)
    assert warns(result, "differ in version (old in A, new in B) and cpu limit (2 in A, 4 in B)")
