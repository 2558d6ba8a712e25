"""A controller's class, as a file of controllers/algorithms has it, built into a whole sender.

Our sender is compiled once, into an archive. The class sees the headers of controllers/algorithms;
class_sender/ replaces those that bring in half of the standard library, and the rest of it that
most classes need is precompiled.
"""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

from kneepoint.common.errors import MachineError
from kneepoint.common.files import private_folder, write_whole
from kneepoint.common.places import BUILT, TOOL
from kneepoint.common.programs import complaint, run_program
from kneepoint.entries.build import (
    LEAN,
    Budget,
    Compiler,
)
from kneepoint.entries.tree import Tree

ARCHIVE = BUILT / "libclass_sender.a"
SOURCE = "candidate.cc"
_STANDARD = "-std=gnu++20"
_PRECOMPILED = ("algorithm", "cmath", "cstdint", "limits")
"""What nearly every class includes, and what most of the rest of a build's time goes into."""
_REPLACED = ("adapter.hh",)
_BUDGET = Budget(cpu_s=20, object_bytes=8_000_000, commands=4)


def compiler_of(compiler: Compiler) -> Compiler:
    """Returns a compiler of classes with the sandbox and the cache of another one.

    Raises:
        KneepointError: there is no compiler, or it fails.
    """
    text = "".join(f"#include <{header}>\n" for header in _PRECOMPILED)
    words = [compiler.command, *LEAN, _STANDARD, "-x", "c++-header"]
    place = compiler.folder / f"{compiler.digest(*words, text)}.hh"
    precompiled = place.with_name(f"{place.name}.gch")
    if not (place.is_file() and precompiled.is_file()):
        write_whole(place, text)
        with private_folder("headers") as work:
            part = work / "headers.gch"
            result = run_program([*words, str(place), "-o", str(part)], work)
            if result.returncode != 0:
                raise MachineError(f"{compiler.command}: {complaint(result)}; install another")
            write_whole(precompiled, part.read_bytes())
    for path in (place, precompiled):
        os.utime(path)  # the cache forgets what is unused
    return replace(
        compiler,
        flags=(*LEAN, "-include", str(place)),
        otherwise=(),
        reads=(place, precompiled),
        standards=(_STANDARD,),
        budget=_BUDGET,
    )


def write_tree(source: str, folder: Path) -> Tree:
    """Writes a class with its headers into an empty folder."""
    (folder / "algorithms").mkdir()
    for name, text in _headers().items():
        (folder / "algorithms" / name).write_text(text)
    path = folder / SOURCE
    path.write_text(source, encoding="utf-8")
    return Tree(folder, "c++", sources=(path,), includes=(folder,), archives=(ARCHIVE.resolve(),))


@cache
def _headers() -> dict[str, str]:
    own, light = (TOOL / "controllers" / name for name in ("algorithms", "class_sender/algorithms"))
    found = {path.name: path for path in (*own.glob("*.h*"), *light.glob("*.hh"))}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in sorted(found.items())
        if name not in _REPLACED
    }
