"""Finding a font with Korean letters, for figures and for the PDF; both draw letters themselves.

Neither matplotlib's nor Typst's own fonts have Korean, and a letter without a font is an empty box. So a
report in Korean is written only where a font is found, and in English with a warning otherwise.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

FONTCONFIG_PATIENCE_S = 5.0
"""fontconfig answers in milliseconds; a first call may build its cache [s]."""

KNOWN_NAMES = (
    "NotoSansCJK-Regular.ttc", "NotoSansCJKkr-Regular.otf", "NotoSansKR-Regular.otf", "NotoSansKR-Regular.ttf",
    "NotoSansKR[wght].ttf", "NanumGothic.ttf", "AppleSDGothicNeo.ttc", "malgun.ttf", "UnDotum.ttf", "Baekmuk-Gulim.ttf",
)  # fmt: skip
"""Sans-serif fonts with Korean letters that systems bring, the best first."""

KNOWN_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip

FONT_PACKAGE, FONT_IN_PACKAGE = "koreanize_matplotlib", "fonts/NanumGothic.ttf"
"""A package on PyPI that carries a Korean font, for machines where no system package can be installed."""

KOREAN = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
"""Korean letters, in any text: a study may have a Korean title in an English report."""

SAMPLE = "한글"
"""Letters a font must have to be taken."""

REMEDY = "install fonts-noto-cjk (Debian, Ubuntu), or `pip install koreanize-matplotlib`"
"""What a person can do where no Korean font is found."""


@cache
def korean_font() -> Path | None:
    """A font file with Korean letters, or None where there is none: of the system, else of an installed package."""
    for path in (*_from_known_folders(), _from_fontconfig(), _from_package()):
        if path and path.is_file() and _has_korean(path):
            return path
    return None


def needs_korean(text: str) -> bool:
    """Whether a text has Korean letters in it."""
    return KOREAN.search(text) is not None


def use_in_figures(font: Path) -> None:
    """Let figures draw letters that their usual font lacks with this one."""
    from matplotlib import font_manager

    from deadzone.style import RC_PARAMS

    font_manager.fontManager.addfont(str(font))
    family = family_of(font)
    if family not in RC_PARAMS["font.family"]:
        RC_PARAMS["font.family"] = [*RC_PARAMS["font.family"], family]


def family_of(font: Path) -> str:
    """The name of a font's family."""
    from matplotlib.ft2font import FT2Font

    return str(FT2Font(str(font)).family_name)


def weights_of(font: Path) -> tuple[Path, ...]:
    """The font file and its bold sister, where there is one."""
    names = {font.name, font.name.replace("Regular", "Bold"), font.name.replace(".ttf", "Bold.ttf")}
    return tuple(path for name in sorted(names) if (path := font.with_name(name)).is_file())


def _from_known_folders() -> list[Path]:
    folders = [Path(folder).expanduser() for folder in KNOWN_FOLDERS]
    found = {
        path.name: path
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.rglob("*.[to]t[fc]"))
    }
    return [found[name] for name in KNOWN_NAMES if name in found]


def _from_fontconfig() -> Path | None:
    """What fontconfig would take for Korean; it always names some font, which the caller checks."""
    program = shutil.which("fc-match")
    if not program:
        return None
    try:
        answer = subprocess.run(
            [program, "-f", "%{file}", "sans:lang=ko"],
            capture_output=True, text=True, timeout=FONTCONFIG_PATIENCE_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(answer.stdout.strip()) if answer.stdout.strip() else None


def _from_package() -> Path | None:
    spec = find_spec(FONT_PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) / FONT_IN_PACKAGE if folders else None


def _has_korean(font: Path) -> bool:
    from matplotlib.ft2font import FT2Font

    try:
        return all(FT2Font(str(font)).get_char_index(ord(letter)) for letter in SAMPLE)
    except (OSError, RuntimeError):
        return False
