"""Text that must not be committed. The patterns are written so that they do not match
themselves."""

import re
import subprocess

import pytest

from tests.conftest import ROOT

LARGEST_BYTES = 600_000
REGISTRY_HOSTS = re.compile(
    r"deb[.]debia[n]|security[.]debia[n]|pyp[i][.]org|pythonhoste[d]|crate[s][.]io|npmj[s][.]"
    r"|proxy[.]golan[g]|maven[.](org|apache)|anacond[a][.]org"
)
OTHER_MACHINES = re.compile(r"/hom[e]/\w|/roo[t]/|/User[s]/\w")


def committed() -> list[str]:
    try:
        command = ["git", "ls-files", "-z"]
        result = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("NOT TESTED: this is no git checkout")
    return [name for name in result.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("pattern", [REGISTRY_HOSTS, OTHER_MACHINES], ids=["registry", "machine"])
def test_no_committed_line_names(pattern: re.Pattern[str]) -> None:
    found = [
        f"{name}:{number}: {line[:120]}"
        for name in committed()
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_no_committed_file_is_large() -> None:
    sizes = {name: (ROOT / name).stat().st_size for name in committed()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_BYTES} == {}


def test_no_link_is_committed() -> None:
    """On another machine a link has another target, unless it stays within the package."""
    committed()
    command = ["git", "ls-files", "--stage"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    links = {line.split("\t")[1] for line in listed.splitlines() if line.startswith("120000")}
    assert links == {"kneepoint/reports", "kneepoint/search"}
