"""The page's plotting library, fetched by npm and verified by its digest.

python -m kneepoint.tools.playground.library     puts the library into build/

The library is uPlot, because it is made for time series: it has 50 kB, and draws new data in a
millisecond at each change of a slider. Libraries of general charts are five to twenty times as
large.
"""

import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import read_bytes, sha256_of, write_whole
from kneepoint.common.places import BUILT

_VERSION = "1.6.32"
_SHA256 = "4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d"
_LONGEST_S = 60
FILE = f"uplot-{_VERSION}.tgz"


def _verified(content: bytes, where: object) -> bytes:
    if sha256_of(content) != _SHA256:
        raise KneepointError(
            f"{where} has SHA-256 {sha256_of(content)}, not {_SHA256}; remove it and run make wasm"
        )
    return content


def read_library(build: Path) -> tuple[str, str]:
    """Returns the library's script, with its license, and its styles.

    Raises KneepointError if `build` lacks the library or has a file with another digest.
    """
    content = _verified(read_bytes(build / FILE, "run make wasm"), build / FILE)
    with tarfile.open(fileobj=io.BytesIO(content)) as package:

        def text(name: str) -> str:
            member = package.extractfile(f"package/{name}")
            assert member, name
            return member.read().decode()

        script = f"/*\n{text('LICENSE')}*/\n{text('dist/uPlot.iife.min.js')}"
        return script, text("dist/uPlot.min.css")


def main() -> None:
    """Fetches the library unless build/ already has the file."""
    if (BUILT / FILE).is_file():
        return
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
        write_whole(BUILT / FILE, _verified((Path(folder) / FILE).read_bytes(), f"npm's {FILE}"))


if __name__ == "__main__":
    run_command_line(main)
