"""Names of entries and authors: their normal form, and warnings about confusable names.

Names are compared by their skeletons (Unicode Technical Standard 39, section 4), which are equal
for names that readers confuse. The table is smaller than the standard's, and maps more characters
to the same letter: a match only adds a remark for people; no name is refused.
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
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1cd0-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2de0-\u2dff"
    "\ua66f-\ua67d\ufe20-\ufe2f]"
)
"""Combining marks of any script, and marks that names do not need (liturgical, Vedic); other marks
distinguish the words of their script."""
_LIKE = {
    "a": "аαɑա", "b": "вьβ", "c": "сϲ", "d": "ԁđɖ", "e": "еεєҽ", "f": "ƒք",  # noqa: RUF001
    "g": "ɡԍց", "h": "һհнħ", "j": "јϳյ", "k": "кκқ", "l": "1iіιıɩӏłƚ|", "n": "пηող",  # noqa: RUF001
    "o": "0оοօσøө", "p": "рρ", "q": "ԛզ", "r": "гɾ", "rn": "mмɱ", "s": "ѕꜱ",  # noqa: RUF001
    "t": "тτŧ", "u": "υսʋц", "v": "νѵ", "vv": "wԝωѡ", "x": "хχ", "y": "уγүʏ",  # noqa: RUF001
    "z": "ζʐ", "3": "зʒӡ", "6": "б", "4": "ч", "ae": "æӕ", "oe": "œ", " ": "_",  # noqa: RUF001
    "'": "\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\ua78c",
}  # fmt: skip
"""Small letters by the one or two Latin letters that they resemble, after the standard's table."""
_LIKE_CAPITALS = {
    "a": "Ꭺꓮ", "b": "Ᏼꓐ", "c": "Ꮯꓚ", "d": "Ꭰꓓ", "e": "Ꭼꓰ", "f": "ꓝ", "g": "Ꮐꓖ", "h": "Ꮋꓧ",  # noqa: RUF001
    "j": "Ꭻꓙ", "k": "Ꮶꓗ", "l": "Ꮮꓡ", "m": "Ꮇꓟ", "n": "ꓠ", "o": "ꓳ", "p": "Ꮲꓑ", "r": "Ꭱꮢꓣ",  # noqa: RUF001
    "s": "Ꮥꓢ", "t": "Ꭲꓔ", "u": "ꓴ", "v": "Ꮩꓦ", "w": "Ꮃꓪ", "x": "ꓫ", "y": "Ꮍꓬ", "z": "Ꮓꓜ",  # noqa: RUF001
}  # fmt: skip
"""Letters of Cherokee and Lisu that look like Latin capitals."""
_OF_LATIN = re.compile(
    r"LATIN (?:SMALL LETTER|LETTER SMALL CAPITAL) (?:DOTLESS |SCRIPT )?([A-Z])(?: WITH .+)?"
)


def _latin_of(sign: str) -> str:
    """The basic letter of a Latin letter with a bar, a hook or the like, or of a small capital."""
    found = _OF_LATIN.fullmatch(unicodedata.name(sign, ""))
    return found[1].lower() if found else sign


def _folded() -> dict[str, str]:
    alike = {sign: like for like, own in _LIKE.items() for sign in own}
    capitals = {
        sign.casefold(): like for like, own in _LIKE_CAPITALS.items() for sign in own.casefold()
    }
    latin = {sign: _latin_of(sign) for sign in map(chr, range(0x80, 0x2000))}
    latin = {sign: alike.get(plain, plain) for sign, plain in latin.items() if sign != plain}
    return {**latin, **capitals, **alike}


_FOLDED = str.maketrans(_folded())
_SIMILAR_SCRIPTS = frozenset("LATIN CYRILLIC GREEK ARMENIAN CHEROKEE COPTIC LISU".split())
"""Scripts whose letters can replace each other."""


def plain(name: str) -> str:
    """Returns a name in NFKC: ligatures and full-width letters become plain letters."""
    return unicodedata.normalize("NFKC", name)


def has_invisible(name: str) -> bool:
    """Returns whether a name has invisible characters."""
    return _INVISIBLE.search(name) is not None


def skeleton(name: str) -> str:
    """Returns the skeleton of a name, which is equal for names that look alike."""
    apart = unicodedata.normalize("NFKD", _INVISIBLE.sub("", name)).casefold()
    return " ".join(_MARKS.sub("", apart).translate(_FOLDED).split()).strip("-.,' ")


def remarks_on(names: Collection[str], others: Collection[str] = ()) -> dict[str, str]:
    """Returns remarks, by name, on names that look like another name or mix scripts.

    Both of two similar names get a remark, because no program knows which name imitates the other;
    names of `others` get no remark.
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
    """The scripts of the first word that mixes letters of similar scripts; [] without one."""
    for word in re.findall(r"\w+", name):
        scripts = {unicodedata.name(each, "").partition(" ")[0] for each in word}
        if len(found := sorted(scripts & _SIMILAR_SCRIPTS)) > 1:
            return found
    return []
