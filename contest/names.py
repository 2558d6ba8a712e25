"""Names of entries and authors: one form of each, and which of them look alike.

A name is compared by its skeleton (Unicode Technical Standard 39, section 4): the same for names
that a reader takes for one. The table is smaller than the standard's, and joins rather more: what
is found is looked at by people, and refuses nobody.
"""

import re
import unicodedata
from collections.abc import Collection

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of the Unicode Character Database."""
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Above and below letters of any script; those of one script tell its words apart."""
_LIKE = {
    "a": "аαɑա", "b": "вьβ", "c": "сϲ", "d": "ԁđɖ", "e": "еεєҽ", "f": "ƒք",  # noqa: RUF001
    "g": "ɡԍց", "h": "һհнħ", "j": "јϳյ", "k": "кκқ", "l": "1iіιıɩӏłƚ|", "n": "пηող",  # noqa: RUF001
    "o": "0оοօσøө", "p": "рρ", "q": "ԛզ", "r": "гɾ", "rn": "mмɱ", "s": "ѕꜱ",  # noqa: RUF001
    "t": "тτŧ", "u": "υսʋц", "v": "νѵ", "vv": "wԝωѡ", "x": "хχ", "y": "уγүʏ",  # noqa: RUF001
    "z": "ζʐ", "3": "зʒӡ", "6": "б", "4": "ч", "ae": "æӕ", "oe": "œ", " ": "_",  # noqa: RUF001
}  # fmt: skip
"""Small letters by what they look like, alone or side by side; after the standard's table."""
_FOLDED = str.maketrans({each: like for like, own in _LIKE.items() for each in own})
_SIMILAR_SCRIPTS = frozenset("LATIN CYRILLIC GREEK ARMENIAN CHEROKEE COPTIC LISU".split())
"""Whose letters one finds in another's place."""


def plain(name: str) -> str:
    """Returns a name in NFKC: ligatures and full-width letters become plain ones."""
    return unicodedata.normalize("NFKC", name)


def has_invisible(name: str) -> bool:
    """Whether a name has signs that nobody sees."""
    return _INVISIBLE.search(name) is not None


def skeleton(name: str) -> str:
    """Returns what names that look alike have in common."""
    apart = unicodedata.normalize("NFKD", _INVISIBLE.sub("", name)).casefold()
    return " ".join(_MARKS.sub("", apart).translate(_FOLDED).split())


def remarks_on(names: Collection[str], others: Collection[str] = ()) -> dict[str, str]:
    """Returns what is odd about names: that one looks like another or mixes scripts.

    Of two alike both are named, but for `others`: no program knows which of them is an imitation.
    """
    every = sorted({*names, *others})
    alike: dict[str, list[str]] = {}
    for name in every:
        alike.setdefault(skeleton(name), []).append(name)
    found = {}
    for name in every:
        same = [each for each in alike[skeleton(name)] if each != name]
        if same:
            odd = sorted(set(name) - set("".join(same))) or sorted(set("".join(same)) - set(name))
            letters = ", ".join(unicodedata.name(each, f"U+{ord(each):04X}") for each in odd[:3])
            found[name] = f"looks like {same[0]!r}" + (f": {letters}" if letters else "")
        elif scripts := _mixed_scripts(name):
            found[name] = f"mixes {' and '.join(scripts)} letters"
    return {name: found[name] for name in names if name in found}


def _mixed_scripts(name: str) -> list[str]:
    """The scripts of a word's letters, if there are several that look alike."""
    for word in re.findall(r"\w+", name):
        scripts = {unicodedata.name(each, "").partition(" ")[0] for each in word}
        if len(found := sorted(scripts & _SIMILAR_SCRIPTS)) > 1:
            return found
    return []
