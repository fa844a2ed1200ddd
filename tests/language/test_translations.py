import gettext
from string import Formatter

import pytest
import translations

from deadzone.language.messages import DOMAIN, LANGUAGES, LOCALE

PATHS = translations.translations()


def identity(message):
    return message.context or "", message.id


def values(text):
    return {name.split(".")[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_every_language_has_translations():
    assert [path.parent.parent.name for path in PATHS] == [one for one in LANGUAGES if one != "en"]
    assert {path.stem for path in PATHS} == {DOMAIN}
    assert all(LOCALE in path.parents for path in PATHS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parent.parent.name)
class TestTranslation:
    """What `python scripts/translations.py` would change, and what only a reader can fill in."""

    def test_no_text_is_missing_and_none_is_left_over(self, path):
        said = {identity(one) for one in translations.template() if one.id}
        known = {identity(one) for one in translations.read(path) if one.id}
        assert known - said == set() and said - known == set()

    def test_every_text_is_translated(self, path):
        every = [one for one in translations.read(path) if one.id]
        assert not [one.id for one in every if not one.string or one.fuzzy]

    def test_a_translation_names_the_same_values(self, path):
        wrong = []
        for one in translations.read(path):
            if one.id:
                english = one.id if isinstance(one.id, tuple) else (one.id,)
                ours = one.string if isinstance(one.string, tuple) else (one.string,)
                # How many there are may go without saying where a language has no plural.
                if any((values(english[-1]) ^ values(text)) - {"n"} for text in ours):
                    wrong.append(one.id)
        assert not wrong

    def test_gettext_reads_what_stands_there(self, path):
        known = gettext.translation(DOMAIN, LOCALE, [path.parent.parent.name])
        for one in translations.read(path):
            if one.id and isinstance(one.id, str):
                said = known.pgettext(one.context, one.id) if one.context else known.gettext(one.id)
                assert said == one.string

    def test_it_is_written_as_the_script_writes_it(self, path, tmp_path):
        translations.write(translations.read(path), tmp_path / "again.po")
        assert (tmp_path / "again.po").read_text() == path.read_text()


def test_texts_are_found_wherever_a_call_stands():
    source = (
        'x = _("outer {a}", a=join([_("in a list"), f(N_("deep", context="column"))]))\n'
        'y = f"{_(\'in an f-string\')}" + say(N_("one", "many") if x else N_("other"))\n'
        'z = pgettext("here", "long "\n    "text"), ngettext("{n} a", "{n} b", n=2)\n'
    )
    assert sorted(translations.texts(source)) == [
        ("deep", "", "column"), ("in a list", "", ""), ("in an f-string", "", ""),
        ("long text", "", "here"), ("one", "many", ""), ("other", "", ""), ("outer {a}", "", ""),
        ("{n} a", "{n} b", ""),
    ]  # fmt: skip


def test_a_text_that_is_no_literal_is_an_error_with_its_place():
    with pytest.raises(ValueError, match="line 2"):
        [*translations.texts("x = 1\ny = _(x)")]


def test_the_script_adds_what_is_new_and_takes_out_what_is_left_over(tmp_path):
    """On a copy of the translations, from which a text was taken and to which one was added."""
    [path] = PATHS
    catalog = translations.read(path)
    catalog.delete("disk")
    catalog.add("no code says this", "아무도")
    translations.write(catalog, tmp_path / "deadzone.po")
    translations.merge(tmp_path / "deadzone.po", "ko")
    merged = translations.read(tmp_path / "deadzone.po", "ko")
    assert merged.get("no code says this") is None and not any(merged.get("disk").string)
