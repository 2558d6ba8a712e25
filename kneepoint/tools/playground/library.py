"""The page's plotting library, fetched by npm and verified by digests.

python -m kneepoint.tools.playground.library     puts the library into build/

The library is uPlot, because it is made for time series: it has 50 kB, and draws new data in a
millisecond at each change of a slider. Libraries of general charts are five to twenty times as
large.
"""

import subprocess
import tarfile
import tempfile
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import read_bytes, sha256_of, write_whole
from kneepoint.common.places import BUILT

_VERSION = "1.6.32"
_SHA256 = {
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}
"""The files of the package that a page needs; the whole is three times as large."""
_LONGEST_S = 60
FOLDER = f"uplot-{_VERSION}"


def _verified(name: str, content: bytes, where: object) -> bytes:
    if sha256_of(content) != _SHA256[name]:
        raise KneepointError(
            f"{where} has SHA-256 {sha256_of(content)}, not {_SHA256[name]}; remove it and run "
            "make wasm"
        )
    return content


def read_library(build: Path) -> tuple[str, str]:
    """Returns the library's script, with its license, and its styles.

    Raises KneepointError if `build` lacks a file of the library, or has another in its place.
    """

    def text(name: str) -> str:
        path = build / FOLDER / name
        return _verified(name, read_bytes(path, "run make wasm"), path).decode()

    return f"/*\n{text('LICENSE')}*/\n{text('uPlot.iife.min.js')}", text("uPlot.min.css")


def main() -> None:
    """Fetches the library unless build/ already has its files."""
    if all((BUILT / FOLDER / name).is_file() for name in _SHA256):
        return
    for name, content in _fetched().items():
        write_whole(BUILT / FOLDER / name, _verified(name, content, f"npm's {name}"))


def _fetched() -> dict[str, bytes]:
    """Returns the files of the package, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", f"uplot@{_VERSION}", f"--pack-destination={folder}"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_LONGEST_S)
        except FileNotFoundError:
            raise KneepointError("npm, which fetches uPlot, is missing; install Node.js") from None
        except subprocess.TimeoutExpired:
            raise KneepointError(f"{' '.join(command[:3])}: no answer; check the network") from None
        except subprocess.CalledProcessError as error:
            said = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise KneepointError(f"{' '.join(command[:3])}: {said}; check the network") from None
        with tarfile.open(Path(folder) / f"{FOLDER}.tgz") as package:
            files = {Path(each.name).name: package.extractfile(each) for each in package}
            return {name: file.read() for name in _SHA256 if (file := files.get(name))}


if __name__ == "__main__":
    run_command_line(main)
