"""The wheel: the package, and in kneepoint/data its programs and other files of this folder.

The programs are built for $KNEEPOINT_TARGET, such as x86_64-linux-gnu.2.28, or for this machine.
A wheel for a target contains the emulator's WebAssembly module, whose compiler also compiles for
targets; any other wheel contains the module after `make wasm`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

DATA = (
    *("Snakefile", "profiles", "config", "controllers", "environment.yml", "requirements.txt"),
    *("LICENSE", "CITATION.cff"),
)
NOT_DATA = ("tests", "__pycache__", ".clang-format")
PROGRAMS = {"apps", "emulation", "entries", "host", "links", "queues", "wasm"}
"""Folders of controllers whose sources are parts of programs only: users never compile them."""
TARGET = os.environ.get("KNEEPOINT_TARGET", "")
PLATFORMS = {
    "x86_64-linux-gnu.2.28": "manylinux_2_28_x86_64",
    "aarch64-linux-gnu.2.28": "manylinux_2_28_aarch64",
}
MODULE = Path(__file__).parent / "build/kneepoint.wasm"


def left_out(folder: str, names: list[str]) -> set[str]:
    """Returns the names in a folder of data that an installation does not need."""
    found = shutil.ignore_patterns(*NOT_DATA)(folder, names)
    is_of_programs = Path(folder).name in PROGRAMS
    return found | {name for name in names if is_of_programs and name.endswith(".cc")}


def has_module() -> bool:
    """Returns whether the WebAssembly module was built from the present sources."""
    noted = MODULE.parent / "sources" / MODULE.name  # by controllers/build.sh, with the module
    command = ["sha256sum", "--check", "--status", noted]
    done = subprocess.run(command, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL)
    return done.returncode == 0


class BuildWithData(build_py):
    """Adds the folder `data` to the package."""

    def run(self) -> None:
        """Copies the package and its data, and builds the programs."""
        here, data = Path(__file__).parent, Path(self.build_lib) / "kneepoint/data"
        # it may contain modules that no longer exist
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        data.mkdir(parents=True)
        for name in DATA:
            if (here / name).is_dir():
                shutil.copytree(here / name, data / name, ignore=left_out)
            else:
                shutil.copy(here / name, data / name)
        locked = data / "requirements.txt"
        versions = [line for line in locked.read_text().splitlines() if "--hash=" not in line]
        locked.write_text("\n".join(versions).replace(" \\", "") + "\n")
        built = here / "build" / (f"target-{TARGET}" if TARGET else "")
        for command in (
            ["controllers/build.sh", "--", "programs", "controllers"],
            ["cmake", "--install", built, "--prefix", data.absolute() / "build"],
        ):
            subprocess.run(command, cwd=here, check=True)
        if TARGET:
            subprocess.run(
                ["controllers/build.sh", "--", "module"],
                cwd=here,
                env=os.environ | {"KNEEPOINT_TARGET": "wasm32-wasi"},
                check=True,
            )
            fetch = [sys.executable, "-m", "kneepoint.tools.playground.library"]
            subprocess.run(fetch, cwd=here, check=True)
        if has_module():
            shutil.copy(MODULE, data / "build")
            for library in (here / "build").glob("uplot-*/"):
                shutil.copytree(library, data / "build" / library.name)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on one platform."""

    def get_tag(self) -> tuple[str, str, str]:
        """Returns the tags of Python, its ABI and the platform."""
        _, _, platform = super().get_tag()
        return "py3", "none", PLATFORMS.get(TARGET, platform)


class WithPrograms(Distribution):
    """A package with programs of one platform."""

    def has_ext_modules(self) -> bool:
        """Returns whether the package depends on the platform."""
        return True


setup(
    distclass=WithPrograms,
    cmdclass={"build_py": BuildWithData, "bdist_wheel": PlatformWheel},
    setup_requires=["ziglang==0.17.1"] if TARGET else [],  # what compiles for a target
)
