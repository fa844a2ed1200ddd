"""The build compiles the translations of each language, `.po`, to what gettext reads, `.mo`; of an
editable install too."""

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Translations(BuildHookInterface[Any]):
    """Compiles before anything is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile every `.po` of the library."""
        for path in Path(self.root, "lib", "deadzone", "locale").glob("*/LC_MESSAGES/*.po"):
            with path.open("rb") as source, path.with_suffix(".mo").open("wb") as made:
                write_mo(made, read_po(source, locale=path.parent.parent.name))
