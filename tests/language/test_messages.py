import copy
import pickle

import pytest

from deadzone.errors import ReportError
from deadzone.language.messages import N_, _, join, ngettext, pgettext, say, speak, speaking, spoken


def failed(**values):
    """A sentence with a plural."""
    return ngettext(
        "Phases moved since run {previous} of {date}: the step {steps} of {knob} is in another "
        "phase now.",
        "Phases moved since run {previous} of {date}: the steps {steps} of {knob} are in another "
        "phase now.", previous="1", date="May", steps="2", knob="n", **values,
    )  # fmt: skip


def test_a_message_reads_in_the_language_spoken_and_keeps_its_numbers():
    english = _("Undecided: {names}.", names="disk")
    with speaking("ko"):
        korean = _("Undecided: {names}.", names="disk")
        assert spoken() == "ko"
    assert spoken() == "en"
    assert english == "Undecided: disk." and korean == "미정: disk."
    assert english.translated("ko") == korean and korean.translated("en") == english
    assert (english.text, english.values) == (N_("Undecided: {names}."), {"names": "disk"})


def test_joined_and_nested_messages_are_translated_with_their_parts():
    why = _("Undecided: {names}.", names=_("disk"))
    assert join([why, "", why]) == "Undecided: disk. Undecided: disk."
    assert join([why, why]).translated("ko") == "미정: 디스크. 미정: 디스크."


@pytest.mark.parametrize("made", [copy.deepcopy, lambda said: pickle.loads(pickle.dumps(said))])
def test_a_message_survives_pickling_and_copying(made):
    said = failed(n=1)
    twin = made(said)
    assert twin == said and twin.translated("ko") == said.translated("ko") != said


def test_a_count_chooses_the_plural():
    assert "the step 2 of" in failed(n=1) and "the steps 2 of" in failed(n=2)
    assert say(N_("core", "cores")) == "cores" and say(N_("core", "cores"), n=1) == "core"
    assert "the steps 2 of" in failed(n=1.5) and "the step 2 of" in failed(n=1.0)


def test_one_english_text_is_translated_by_its_context():
    assert _("per {load}", load="GB").translated("ko") == "(GB당)"
    assert pgettext("axis", "per {load}", load="GB").translated("ko") == "/GB"


def test_a_text_without_a_translation_is_shown_in_english():
    said = say(N_("{n} zebra", "{n} zebras"), n=2)
    assert said.translated("ko") == "2 zebras"


def test_an_unknown_language_is_an_error_with_the_nearest_one():
    with pytest.raises(ReportError, match="Languages are `en`, `ko`"):
        speak("kr")
    assert spoken() == "en"
