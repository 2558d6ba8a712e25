"""Builds a controller's class, like the classes in controllers/algorithms, into a complete sender.

Our sender is compiled once, by the same compiler. The class sees the headers of
controllers/algorithms; class_sender/ replaces headers that include much of the standard library,
and the standard headers that most classes need are precompiled.
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
from kneepoint.entries.build import LEAN, Budget, Compiler
from kneepoint.entries.tree import Tree

SOURCE = "candidate.cc"
_CONTROLLERS = TOOL / "controllers"
_SENDER = tuple(
    f"{name}.cc"
    for name in (
        *("class_sender/main", "common/output_file", "common/text", "loader/handle"),
        *("measure/flow_log", "realtime/stop_signal", "realtime/udp_sender"),
        *("realtime/udp_socket", "transport/contest_datagram"),
    )
)
_STANDARD = "-std=gnu++20"
_PRECOMPILED = ("algorithm", "cmath", "cstdint", "limits")
"""Headers that nearly every class includes, whose parsing dominates the build time."""
_REPLACED = ("adapter.hh",)
_BUDGET = Budget(cpu_s=20, object_bytes=8_000_000, commands=4)
_LATEST_S = 2**31 - 1
"""Time of a precompiled header's source: clang refuses a header whose time has changed, and the
cache removes the oldest files."""
_MAKING = threading.Lock()
"""The lock on compiling the files that all classes share; compiling takes seconds."""


def compiler_of(compiler: Compiler) -> Compiler:
    """Returns a compiler of classes with the sandbox and the cache of another compiler.

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
    """Returns our sender as an object file of the compiler's cache.

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
    """Compiles our own code unless the cache has it; marks the cache's file as used."""
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
    """Returns the digest of our sender's sources and of all headers that they may include."""
    paths = [*(_CONTROLLERS / name for name in _SENDER), *sorted(_CONTROLLERS.rglob("*.hh"))]
    return sha256_of("".join(sha256_of(path.read_bytes()) for path in paths).encode())


def write_tree(source: str, sender: Path, folder: Path) -> Tree:
    """Writes a class with its headers into an empty folder; `sender` is from `sender_of`."""
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
