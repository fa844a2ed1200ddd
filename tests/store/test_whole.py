import pytest

from deadzone.contents import DRAFT_SUFFIX, written_whole

pytestmark = pytest.mark.kept


def test_a_file_is_replaced_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with written_whole(path) as draft:
        draft.write_text("new")
        assert draft.name.startswith(".") and draft.name.endswith(DRAFT_SUFFIX)
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_there_stays_where_writing_fails(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="disk"), written_whole(path) as draft:
        draft.write_text("ne")
        raise OSError("disk is full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
