"""Reads JSON without silent loss: Python's own reader keeps the last of equal keys."""

import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

Json = dict[str, Any]
"""A JSON object."""
_Pairs = list[tuple[str, Any]]
_BRACE = re.compile(r"^\{", re.MULTILINE)
_TRIES = 16


def parse_json(text: str | bytes, reader: json.JSONDecoder | None = None) -> Any:
    """Returns the value of a JSON text; `reader` decides about equal keys.

    Raises ValueError if the text is not JSON, is nested too deeply, or repeats a key of an object.
    """
    try:
        return json.loads(text, object_pairs_hook=(reader or UNIQUE).object_pairs_hook)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def decoder(second: Mapping[str, str]) -> json.JSONDecoder:
    """Returns a decoder for the output of a tool that repeats keys with different meanings.

    Args:
        second: by key, the name under which its second value is kept; if that is the key itself,
            only the first value is kept.
    """

    def renamed(pairs: _Pairs) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            name = second.get(key) if key in found else key
            if name is None or (name in found and name != key):
                raise _twice(key)
            found.setdefault(name, value)
        return found

    return json.JSONDecoder(object_pairs_hook=renamed, parse_constant=_no_number)


def first_object(text: str, reader: json.JSONDecoder) -> tuple[Any, tuple[str, str]]:
    """Returns the first complete JSON value of a text, and the text before and after it.

    The value begins the text, or is an object that begins a line. Raises ValueError, like
    `parse_json`, if the text has no such value.
    """
    begin = len(text) - len(text.lstrip())
    places = [begin, *(each.start() for each in islice(_BRACE.finditer(text, begin + 1), _TRIES))]
    mistake: ValueError | None = None
    for place in places:
        try:
            found, end = reader.raw_decode(text, place)
            return found, (text[:place], text[end:])
        except json.JSONDecodeError as error:
            mistake = mistake or error
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
    raise mistake or ValueError("it is empty")


def first_twice(names: Iterable[str]) -> str | None:
    """Returns the first repeated name; None if all are unique."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _object(pairs: _Pairs) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _twice(first_twice(key for key, _ in pairs))
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _twice(key: str | None) -> ValueError:
    return ValueError(f"key {key!r} appears twice")


UNIQUE = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
"""Reads as `parse_json` does, but without NaN and Infinity, which JSON lacks."""
