"""Aliases of authors on a public leaderboard; a key file maps authors to aliases."""

import csv
import io
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_text, sha256_of, write_whole
from kneepoint.common.json_text import Json
from kneepoint.entries.config import ENTRY_NAMES, is_entry_name
from kneepoint.entries.names import plain

_COLUMNS = ["author", "alias"]
_MAX_BYTES = 2**20
_KINDS = ("ranking", "apart", "earlier", "failed", "history")
_NAMES = ("name", "replaced_by", "a", "b", "better")


def read_key(path: Path) -> dict[str, str]:
    """Returns aliases by author; empty if the file does not exist yet.

    Raises:
        KneepointError: it is not a CSV file with these columns, or a name is duplicate or invalid.
    """
    if not path.exists():
        return {}
    key: dict[str, str] = {}
    lines = list(csv.reader(io.StringIO(read_text(path, _MAX_BYTES))))
    if not lines or lines[0] != _COLUMNS:
        raise KneepointError(f"{path}, line 1: must be {','.join(_COLUMNS)}; add it")
    for number, line in enumerate(lines[1:], 2):
        where = f"{path}, line {number}"
        if len(line) != len(_COLUMNS):
            raise KneepointError(f"{where}: {','.join(line)!r} is not AUTHOR,ALIAS; correct it")
        author, alias = plain(line[0]), line[1]
        for what, name, others in (("author", author, key), ("alias", alias, key.values())):
            if name in others:
                raise KneepointError(f"{where}: {what} {name!r} appears twice; remove one")
        if not is_entry_name(alias):
            raise KneepointError(f"{where}: alias {alias!r} must be {ENTRY_NAMES}; rename it")
        key[author] = alias
    return key


def complete_key(path: Path, authors: Iterable[str]) -> dict[str, str]:
    """Returns the key with an alias for every author; new aliases are drawn and added to the file.

    Raises:
        KneepointError: see read_key.
    """
    key = read_key(path)
    new = sorted(set(authors) - key.keys())
    free = [f"entry {number}" for number in range(100, 1000 + 2 * len(key) + 2 * len(new))]
    free = sorted(set(free) - set(key.values()))
    for author in new:
        key[author] = free.pop(secrets.randbelow(len(free)))
    if new:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *key.items()])
        write_whole(path, text.getvalue())
    return key


def authors_in(found: Json) -> set[str]:
    """Returns all authors of a verdict with its history."""
    return {row["author"] for kind in _KINDS for row in found[kind]}


def _marks_of(names: Collection[str]) -> dict[str, str]:
    """Returns digests of an author's entry names, as long as needed to be distinct."""
    for length in range(4, 65):
        marks = {name: f"@{sha256_of(name.encode())[:length]}" for name in names}
        if len(set(marks.values())) == len(names):
            break
    return marks


def anonymous(found: Json, key: Mapping[str, str]) -> tuple[Json, dict[str, str]]:
    """Returns a verdict without names, and its entries' aliases by their names.

    The compiler's message is left out, because it quotes the source.
    """
    names: dict[str, set[str]] = {}
    for kind in _KINDS:
        for row in found[kind]:
            names.setdefault(row["author"], set()).add(row["name"])
    aliases: dict[str, str] = {}
    for author, own in names.items():
        marks = dict.fromkeys(own, "") if len(own) == 1 else _marks_of(own)
        aliases |= {name: key[author] + mark for name, mark in marks.items()}

    def hide(row: Json) -> Json:
        hidden = row | {name: aliases.get(row[name]) for name in _NAMES if name in row}
        if "author" in row:
            hidden["author"] = key[row["author"]]
        if "remark" in row:
            hidden["remark"] = ""  # remarks quote names
        if "reason" in row:
            quotes_source = bool(row.get("message", "number" in row))
            reason = row["reason"].partition(": ")[0] if quotes_source else row["reason"]
            for name in (row["name"], row["author"]):
                reason = re.sub(re.escape(name), hidden["name"], reason, flags=re.IGNORECASE)
            hidden["reason"] = reason
        return hidden | ({"message": ""} if "message" in row else {})

    return found | {
        kind: [hide(row) for row in found[kind]] for kind in (*_KINDS, "pairs")
    }, aliases
