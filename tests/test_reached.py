import json

import reached


def written(path, executed, missing):
    file = {"executed_lines": executed, "missing_lines": missing}
    other = {"executed_lines": [1], "missing_lines": [2]}
    path.write_text(json.dumps({"files": {"lib/a.py": file, "lib/b.py": other}}))
    return str(path)


def test_several_runs_are_added_up_and_the_worst_module_comes_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    one = written(tmp_path / "1.json", [1, 2], [3, 4, 5, 7, 8])
    two = written(tmp_path / "2.json", [5], [1, 2, 3, 4, 7, 8])
    reached.main("out.txt", one, two, "no-such-run.json")
    head, first, second = (tmp_path / "out.txt").read_text().splitlines()
    assert head.startswith("5 of 9 lines")
    assert first.split() == ["4", "of", "7", "lib/a.py:", "3-4,", "7-8"]
    assert second.split() == ["1", "of", "2", "lib/b.py:", "2"]
    assert head in capsys.readouterr().out


def test_without_a_count_that_is_said(tmp_path, capsys):
    reached.main(str(tmp_path / "out.txt"), str(tmp_path / "none.json"))
    assert "was not counted" in capsys.readouterr().out
