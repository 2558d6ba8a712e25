"""The page's plotting library, fetched by npm and verified by digests.

python -m kneepoint.tools.playground.library     puts the library into build/

The library is uPlot, because it is made for time series: it has 50 kB, and draws new data in a
millisecond at each change of a slider. Libraries of general charts are five to twenty times as
large.
"""

import tarfile
import tempfile
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import read_bytes, sha256_of, write_whole
from kneepoint.common.places import BUILT
from kneepoint.common.programs import complaint, find_program, run_program

_VERSION = "1.6.32"
_SHA256 = {
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}
"""The files of the package that a page needs; the whole is three times as large."""
FOLDER = f"uplot-{_VERSION}"


def read_library() -> tuple[str, str]:
    """Returns the library's script, with its license, and its styles.

    Raises KneepointError if a file of the library is missing, or differs from its digest.
    """

    def text(name: str) -> str:
        path = BUILT / FOLDER / name
        content = read_bytes(path, "run make wasm")
        if sha256_of(content) != _SHA256[name]:
            raise KneepointError(
                f"{path} has SHA-256 {sha256_of(content)}, not {_SHA256[name]}; remove it and run "
                "make wasm"
            )
        return content.decode()

    return f"/*\n{text('LICENSE')}*/\n{text('uPlot.iife.min.js')}", text("uPlot.min.css")


def main() -> None:
    """Fetches the library unless build/ already has its files."""
    if not all((BUILT / FOLDER / name).is_file() for name in _SHA256):
        _fetch(BUILT / FOLDER)
    read_library()


def _fetch(into: Path) -> None:
    npm = str(find_program("npm", "install Node.js, which fetches uPlot"))
    with tempfile.TemporaryDirectory() as folder:
        done = run_program([npm, "pack", f"uplot@{_VERSION}"], Path(folder))
        if done.returncode != 0:
            raise KneepointError(f"npm pack uplot: {complaint(done)}; check the network")
        with tarfile.open(Path(folder) / f"{FOLDER}.tgz") as package:
            for member in package:
                name = Path(member.name).name
                if name in _SHA256 and (file := package.extractfile(member)):
                    write_whole(into / name, file.read())


if __name__ == "__main__":
    run_command_line(main)
