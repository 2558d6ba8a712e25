"""A controller's class, as a file of controllers/algorithms has it, built into a whole sender.

Our sender is compiled once, by the same compiler. The class sees the headers of
controllers/algorithms; class_sender/ replaces those that bring in half of the standard library, and
the rest of it that most classes need is precompiled.
"""

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from kneepoint.common.errors import MachineError
from kneepoint.common.files import private_folder, sha256_of, write_whole
from kneepoint.common.places import TOOL
from kneepoint.common.programs import complaint, run_program
from kneepoint.entries.build import (
    LEAN,
    Budget,
    Compiler,
)
from kneepoint.entries.tree import Tree

SOURCE = "candidate.cc"
_CONTROLLERS = TOOL / "controllers"
_SENDER = tuple(
    f"{name}.cc"
    for name in (
        *("class_sender/main", "common/text", "loader/handle", "measure/flow_log"),
        *("realtime/stop_signal", "realtime/udp_sender", "realtime/udp_socket"),
        "transport/contest_datagram",
    )
)
_STANDARD = "-std=gnu++20"
_PRECOMPILED = ("algorithm", "cmath", "cstdint", "limits")
"""What nearly every class includes, and what most of the rest of a build's time goes into."""
_REPLACED = ("adapter.hh",)
_BUDGET = Budget(cpu_s=20, object_bytes=8_000_000, commands=4)
_LATEST_S = 2**31 - 1
"""Of a header: clang refuses one whose time has changed since it was precompiled, and the cache
forgets the oldest files."""
_MAKING = threading.Lock()
"""Of what all classes share, which takes seconds."""


def compiler_of(compiler: Compiler) -> Compiler:
    """Returns a compiler of classes with the sandbox and the cache of another one.

    Raises:
        KneepointError: there is no compiler, or it fails.
    """
    text = "".join(f"#include <{header}>\n" for header in _PRECOMPILED)
    words = [*LEAN, _STANDARD, "-x", "c++-header"]
    place = compiler.folder / f"{compiler.digest(*words, text)}.hh"
    precompiled = place.with_name(f"{place.name}.gch")
    with _MAKING:
        if not place.is_file():
            write_whole(place, text)
        os.utime(place, (_LATEST_S, _LATEST_S))
        _make(compiler, [*words, str(place)], precompiled)
    return replace(
        compiler,
        flags=(*LEAN, "-include", str(place)),
        otherwise=(),
        reads=(place, precompiled),
        standards=(_STANDARD,),
        budget=_BUDGET,
    )


def sender_of(compiler: Compiler) -> Path:
    """Returns our sender as one object of the compiler's cache.

    Raises:
        KneepointError: there is no compiler, or it fails.
    """
    words = [
        *(*LEAN, _STANDARD, "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
        *(f"-I{folder}" for folder in (_CONTROLLERS / "class_sender", _CONTROLLERS)),
        *("-r", "-nostdlib", *(str(_CONTROLLERS / name) for name in _SENDER)),
    ]
    place = compiler.folder / f"{compiler.digest(*words, _digest_of_sender())}.o"
    with _MAKING:
        _make(compiler, words, place)
    return place


def _make(compiler: Compiler, words: Sequence[str], place: Path) -> None:
    """Compiles what is ours, unless the cache has it; the cache forgets what is unused."""
    if not place.is_file():
        with private_folder("ours") as work:
            part = work / "part"
            result = run_program([compiler.command, *words, "-o", str(part)], work)
            if result.returncode != 0:
                raise MachineError(f"{compiler.command}: {complaint(result)}; install another")
            write_whole(place, part.read_bytes())
    os.utime(place)


@cache
def _digest_of_sender() -> str:
    """The digest of its sources and of all headers that they may include."""
    paths = [*(_CONTROLLERS / name for name in _SENDER), *sorted(_CONTROLLERS.rglob("*.hh"))]
    return sha256_of("".join(sha256_of(path.read_bytes()) for path in paths).encode())


def write_tree(source: str, sender: Path, folder: Path) -> Tree:
    """Writes a class with its headers into an empty folder; our sender is `sender_of`'s."""
    (folder / "algorithms").mkdir()
    for name, text in _headers().items():
        (folder / "algorithms" / name).write_text(text)
    path = folder / SOURCE
    path.write_text(source, encoding="utf-8")
    return Tree(folder, "c++", sources=(path,), includes=(folder,), objects=(sender,))


@cache
def _headers() -> dict[str, str]:
    own, light = (_CONTROLLERS / name for name in ("algorithms", "class_sender/algorithms"))
    found = {path.name: path for path in (*own.glob("*.h*"), *light.glob("*.hh"))}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in sorted(found.items())
        if name not in _REPLACED
    }
