"""What modules use whose sentences stand under a key still: those of the rooms `phases` and `settings` and of the reports of
sweeps. All others stand in the code, see `deadzone.language.messages`."""

from deadzone.language.keys import catalogue as catalogue
from deadzone.language.messages import LANGUAGES as LANGUAGES
from deadzone.language.messages import Message as Message
from deadzone.language.messages import join as join
from deadzone.language.messages import say as say
from deadzone.language.messages import speak as speak
from deadzone.language.messages import speaking as speaking
from deadzone.language.messages import spoken as spoken


def term(section: str, word: str, default: str | None = None, n: float | None = None) -> str:
    """A word by itself, such as the name of a phase, or `default` (the word) where none is known."""
    entry = catalogue(spoken()).get(f"{section}.{word}")
    if entry is None:
        return word if default is None else default
    return entry if isinstance(entry, str) else entry["one" if n == 1 and "one" in entry else "other"]
