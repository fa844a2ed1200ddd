import sys

import pytest

from deadzone.store.programs import NO_ANSWER, NOT_STARTED, answer_of, last_words, program_version


def test_an_answer_is_what_was_printed_and_the_exit_code(tmp_path):
    program = "import os; print(os.getcwd()); raise SystemExit(3)"
    answer = answer_of((sys.executable, "-c", program), cwd=tmp_path)
    assert (answer.stdout.strip(), answer.returncode) == (str(tmp_path), 3)
    assert last_words(answer) == str(tmp_path)


def test_a_program_that_is_missing_or_silent_is_an_answer_too():
    missing = answer_of(("no-such-program-anywhere",))
    assert (missing.returncode, last_words(missing)) == (NOT_STARTED, "No such file or directory")
    silent = answer_of((sys.executable, "-c", "import time; time.sleep(60)"), timeout_s=0.2)
    assert (silent.returncode, last_words(silent)) == (NO_ANSWER, "no answer within 0.2 s")
    assert last_words(answer_of(("false",))) == "exit code 1"


@pytest.mark.parametrize(
    ("argv", "said"),
    [((sys.executable, "-c", "print('tool 1.2'); print('more')"), "tool 1.2"),
     ((sys.executable, "-c", "import sys; print('tool 1.3', file=sys.stderr)"), "tool 1.3"),
     ((sys.executable, "-c", "print('usage: ...'); raise SystemExit(2)"), None), (("true",), None),
     (("no-such-program-anywhere",), None)],
)  # fmt: skip
def test_a_programs_version_is_its_first_line(argv, said):
    assert program_version(argv) == said
