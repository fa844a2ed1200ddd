import json

from deadzone.language.messages import speaking
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.report import SweepReport, chosen_trials
from deadzone.report.sweep.source import load_source

LEVELS = [{"cpu_limit": level} for level in (0.5, 1, "none")]
BATCHES = [
    {"batch": 1, "trials": [{"trial": 1, "replicate": 1, "levels": one} for one in LEVELS],
     "gain": [0.0] * 3, "reason": {"en": "To begin with.", "ko": "시작."}, "until": None,
     "budget_s": None},
    {"stopped": {"en": "It is known.", "ko": "알았습니다."},
     "open": [{"en": "Where it ends.", "ko": "끝이 어디인지."}]},
]  # fmt: skip


def test_batches_and_the_end_are_said_with_their_reasons(make_run):
    run = make_run()
    (run.folder / "batches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in BATCHES))
    source = load_source(str(run.folder))
    (said,) = SweepReport(analyse(source)).adaptive()
    of_trials, ended, left_open = map(str, said.paragraphs)
    assert of_trials == "3 trials in 1 batch, in random order."
    assert (ended, left_open) == ("It is known.", "Still open: Where it ends.")
    with speaking("ko"):
        (said,) = chosen_trials(source)
    assert "3회" in said.paragraphs[0] and "알았습니다." in str(said.paragraphs[1])


def test_a_sweep_whose_plan_was_made_beforehand_shows_nothing(make_run):
    assert chosen_trials(load_source(str(make_run().folder))) == []
