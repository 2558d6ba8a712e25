"""Code of results calls no function that differs between C libraries in the last bit."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path("build")
SOURCES = Path("controllers")
DIFFERENT = (
    r"(?:a?(?:cos|sin|tan)h?|atan2|cbrt|cyl_\w+|erfc?|exp(?:2|10|m1)?|hypot|lerp|lgamma(?:_r)?"
    r"|log(?:2|10|1p)?|pow|tgamma)[fl]?"
)
CALL = re.compile(rf"std::{DIFFERENT}\b|(?<!\w)::{DIFFERENT}\(|std::\w+_distribution\b")
NO_CALL = re.compile(r"//[^\n]*|/\*.*?\*/|R\"\(.*?\)\"", re.DOTALL)
"""Comments, and the text of programs that a program writes."""


def calls_of(text: str) -> list[str]:
    """Returns the calls of a source."""
    return CALL.findall(NO_CALL.sub("", text))


def imports_of(binary: Path) -> set[str]:
    """Returns the names that a program or a shared object imports from libraries."""
    command = ["nm", "--dynamic", "--undefined-only", "--format=posix", str(binary)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[0].partition("@")[0] for line in lines}


def test_sources_call_none() -> None:
    sources = [
        path
        for path in SOURCES.rglob("*")
        if path.suffix in {".cc", ".hh", ".h"} and not path.is_relative_to(SOURCES / "tests")
    ]
    found = {str(path): calls for path in sources if (calls := calls_of(path.read_text()))}
    assert sources
    assert found == {}


@pytest.mark.parametrize(
    "text", ["x = std::pow(x, 2);", "f(std::expf);", "::lgamma(3)", "std::normal_distribution<> d;"]
)
def test_a_call_is_seen(text: str) -> None:
    assert calls_of(text)
    assert not calls_of(f"// {text}\nportable::pow(x, std::sqrt(2)); std::ofstream log(name);")


def test_programs_import_none() -> None:
    if not shutil.which("nm"):
        pytest.skip("NOT TESTED without nm: apt-get install binutils")
    programs = [BUILD / name for name in ("emulate", "replay", "synthesize")]
    binaries = [*programs, *(BUILD / "controllers").glob("*.so")]
    found = {
        str(path): names
        for path in binaries
        if path.exists()
        and (names := set(filter(re.compile(DIFFERENT).fullmatch, imports_of(path))))
    }
    assert (BUILD / "emulate").exists()
    assert found == {}
