import json


def test_without_reports_the_index_says_how_to_make_one(home, deadzone):
    index = home / "reports" / "index.html"
    assert json.loads(deadzone("publish", "--json", code=0).out) == {"index": str(index)}
    assert "deadzone run STUDY" in index.read_text()


def test_the_index_speaks_korean_too(home, deadzone):
    assert deadzone("publish", "--lang", "ko").code == 0
    assert '<html lang="ko">' in (home / "reports" / "index.html").read_text()


def test_a_broken_entry_is_named(home, deadzone):
    folder = home / "reports" / "probe" / "run-1"
    folder.mkdir(parents=True)
    (folder / "report.json").write_text("{")
    assert "report.json" in deadzone("publish", code=3).err
