"""Filters messages of compilers and linkers for lines about the entry's own files."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from kneepoint.common.errors import printable

_PROGRAM = re.compile(
    r"(?:/\S*/)?(?:[\w.]+-)*(?P<name>ld|collect2|c\+\+|g\+\+|gcc|cc1plus|as|clang\+\+|clang|confine"
    r"|virtual memory exhausted)(?:[-.\d]*): "
)
_SYSTEM = ("/usr/", "/lib", "/opt/")
_ASSEMBLED = re.compile(r"(?<!\S)/\S*/cc\w+\.s(?=:)")
"""The compiler's temporary file for the assembler, whose name varies."""
_ERROR = re.compile(r"(?i)\b(fatal )?error:.*")
_MARKS = ("error:", "undefined reference", "undefined symbol", "multiple definition", "confine:")
_MAX_MESSAGE = 4000


def own_part(message: str, own: Collection[str], names: Mapping[str, str]) -> str:
    """Returns the lines of a message about an entry's files, with control characters escaped.

    Lines of other files are never quoted, because `#line` can name any file. An error in a system
    header keeps only its text.

    Args:
        message: message of a compiler or linker.
        own: paths of the entry's files.
        names: replacements of our own paths in the message.
    """
    for path, name in names.items():
        message = message.replace(path, name)
    message = _ASSEMBLED.sub("as", message)
    return "\n".join(map(printable, _own_lines(message, own)))[:_MAX_MESSAGE]


def reason_of(message: str) -> str:
    """Returns the first line of a message that states an error, or else its first line."""
    lines = [line.strip() for line in message.splitlines()]
    found = [line for line in lines if any(mark in line.lower() for mark in _MARKS)]
    return (found or lines or ["the compiler's message names none of its files"])[0]


def errors_in(message: str) -> int:
    """Returns the number of errors in a message."""
    return sum(any(mark in line.lower() for mark in _MARKS) for line in message.splitlines())


def _own_lines(message: str, own: Collection[str]) -> Iterator[str]:
    is_shown = False
    for line in message.expandtabs().splitlines():
        if line.startswith(" "):  # belongs to the line before: code, or "from FILE"
            if is_shown:
                yield line
            continue
        program = _PROGRAM.match(line)
        prefix = f"{program['name']}: " if program else ""
        text = line[program.end() :] if program else line
        place = text.removeprefix("In file included from ").partition(":")[0]
        is_shown = posixpath.normpath(place) in own
        if is_shown:
            yield prefix + text.removeprefix("./")
        elif program:
            yield prefix + re.sub(r"/\S*/", "", text)
        elif (place == "as" or place.startswith(_SYSTEM)) and (error := _ERROR.search(text)):
            yield f"{posixpath.basename(place)}: {error[0]}"
