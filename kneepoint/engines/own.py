"""Builds one controller of a project.

python -m kneepoint.engines.own config/controllers/mine.cc
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import private_folder, sha256_of, write_whole
from kneepoint.common.places import OWN_CONTROLLERS, TOOL
from kneepoint.engines.built import built_of, shared_object

_FLAGS = (
    *("-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden"),
    *("-fvisibility-inlines-hidden", "-ffp-contract=off", "-ffunction-sections"),
    *("-fdata-sections", "-Wall", "-Wextra"),
)
"""The flags of controllers/CMakeLists.txt that may change a controller's results, and warnings."""
_LINKED = ("-shared", "-Wl,--gc-sections", "-Wl,--strip-all")


def compiler() -> list[str]:
    """Returns the command of the C++ compiler: $CXX, or c++.

    Raises:
        KneepointError: there is no compiler.
    """
    command = shlex.split(os.environ.get("CXX") or "c++")
    if not command or shutil.which(command[0]) is None:
        named = command[0] if command else "c++"
        raise KneepointError(
            f"there is no C++ compiler {named}, which a controller of your own needs; install one "
            "(Debian: sudo apt-get install g++), or name yours in CXX"
        )
    return command


def build_own(source: Path) -> None:
    """Builds a controller into OWN_CONTROLLERS, and lists the digests of all files that it needs.

    Raises:
        KneepointError: there is no compiler, or it refuses the source.
    """
    name, own, headers = source.stem, source.parent.resolve(), TOOL / "controllers"
    command = [
        *compiler(),
        *_FLAGS,
        f"-frandom-seed={name}",
        f"-ffile-prefix-map={own}=controllers",
        f"-I{headers}",
        str(own / source.name),
    ]
    with private_folder("own") as work:
        rule, made = work / "rule", work / f"{name}.so"
        exports = headers / "algorithms/exports.map"
        _compile(source, [*command, "-MM", "-MF", str(rule)])
        needed = [*_needed(rule.read_text()), exports]
        noted = "".join(f"{sha256_of(path.read_bytes())}  {path}\n" for path in needed)
        linked = [*_LINKED, "-Xlinker", f"--version-script={exports}", "-o", str(made)]
        _compile(source, [*command, *linked])
        built, place = made.read_bytes(), shared_object(name, own)
        write_whole(place, built)
    noted += f"{sha256_of(built)}  {place.absolute()}\n"
    write_whole(built_of(name, own), noted)


def _compile(source: Path, command: Sequence[str]) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        lines = [line for line in answer.stderr.splitlines() if "error" in line]
        ended = f"`{shlex.join(compiler())}` ended with exit status {answer.returncode}"
        said = answer.stderr.strip().rpartition("\n")[2]
        other = ": ".join(filter(None, (f"{source}: {ended}", said)))
        raise KneepointError(lines[0].strip() if lines else other)


def _needed(rule: str) -> list[Path]:
    """Returns the files that a rule of make needs, in its order."""
    _, _, needed = rule.replace("\\\n", " ").partition(": ")
    words = re.split(r"(?<!\\)\s+", needed.strip())
    return [Path(re.sub(r"\\([ #])", r"\1", word).replace("$$", "$")) for word in words]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path, help=f"the source; built into {OWN_CONTROLLERS}")
    build_own(parser.parse_args().source)


if __name__ == "__main__":
    run_command_line(main)
