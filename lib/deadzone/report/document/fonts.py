"""Finding a font with Korean letters, for figures and for the PDF; both draw letters themselves.

Neither matplotlib's nor Typst's own fonts have Korean, and a letter without a font is an empty box.
A font of the system is taken first, then the one that a dependency brings; should that be missing
too, a report in Korean is written in English with a warning.
"""

import re
from base64 import b64encode
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

KNOWN_NAMES = (
    "NotoSansCJK-Regular.ttc", "NotoSansCJKkr-Regular.otf", "NotoSansKR-Regular.otf",
    "NotoSansKR-Regular.ttf", "NotoSansKR[wght].ttf", "NanumGothic.ttf", "AppleSDGothicNeo.ttc",
    "malgun.ttf", "UnDotum.ttf", "Baekmuk-Gulim.ttf",
)  # fmt: skip
"""Sans-serif fonts with Korean letters that systems bring, the best first."""

KNOWN_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip

FONT_PACKAGE, FONT_IN_PACKAGE = "koreanize_matplotlib", "fonts/NanumGothic.ttf"
"""The dependency that carries a Korean font (NanumGothic, SIL Open Font License); its code is never
imported."""

SOURCE_TABLES = [f"TSI{n}" for n in range(6)]
"""What the font's makers left in it of their tools, which no reader needs."""

KOREAN = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
"""Korean letters, in any text: a study may have a Korean title in an English report."""

SAMPLE = "한글"
"""Letters a font must have to be taken."""

REMEDY = "`pip install koreanize-matplotlib`, or install fonts-noto-cjk (Debian, Ubuntu)"
"""What a person can do where no Korean font is found."""


@cache
def korean_font() -> Path | None:
    """A font file with Korean letters, or None where there is none: of the system, else of an
    installed package."""
    for path in (*_from_known_folders(), _from_package()):
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


def with_korean_letters(page: str) -> str:
    """An HTML page with the Korean letters that it uses, for readers whose system has no font with
    them.

    What it brings is the dependency's font, cut down to those letters. It stands first: as a last
    resort, Chromium keeps boxes in what it drew before the font was read.
    """
    letters, font = "".join(sorted(set(KOREAN.findall(page)))), _from_package()
    if not letters or font is None:
        return page
    from fontTools import subset

    options, written = subset.Options(flavor="woff", hinting=False), BytesIO()
    options.drop_tables += SOURCE_TABLES
    with subset.load_font(str(font), options) as cut:
        cutter = subset.Subsetter(options)
        cutter.populate(text=letters)
        cutter.subset(cut)
        subset.save_font(cut, written, options)
    source = f"url(data:font/woff;base64,{b64encode(written.getvalue()).decode()})"
    rule = (
        f'@font-face {{ font-family: "Deadzone Korean"; unicode-range: U+1100-D7A3; src: '
        f"{source}; }}"
    )
    return page.replace("</style>", f"{rule}\n</style>", 1)


def _from_known_folders() -> list[Path]:
    folders = [Path(folder).expanduser() for folder in KNOWN_FOLDERS]
    paths = {path.name: path for folder in folders for path in sorted(folder.rglob("*.[to]t[fc]"))}
    return [paths[name] for name in KNOWN_NAMES if name in paths]


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
