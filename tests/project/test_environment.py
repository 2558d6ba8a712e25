"""The lock, environment.yml and pyproject.toml say the same."""

import re
import tomllib

import yaml

from tests.conftest import ROOT

LOCK = (ROOT / "requirements.txt").read_text()
REMEDY = "run `make lock`"


def locked() -> list[str]:
    """Returns the requirements of the lock, with their markers and without their hashes."""
    lines = (line.rstrip("\\ ") for line in LOCK.splitlines())
    return [line for line in lines if line and line[0] not in "# "]


def name_of(requirement: str) -> str:
    """Returns the normalised name of the package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def test_environment_has_the_locked_packages() -> None:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    assert pip == locked(), REMEDY


def test_environment_has_the_toolchain() -> None:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    names = {name_of(entry) for entry in dependencies if isinstance(entry, str)}
    assert names == {"python", "pip", "cxx-compiler", "git", "make"}
    assert not names & {name_of(requirement) for requirement in locked()}


def test_lock_pins_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    assert {name_of(requirement) for requirement in wanted} <= set(map(name_of, locked())), REMEDY


def test_lock_has_one_version_of_each_package_and_its_hashes() -> None:
    names = [name_of(requirement) for requirement in locked()]
    assert len(names) == len(set(names))
    for requirement in locked():
        assert re.match(r"[a-z0-9.-]+==\S+( ; |$)", requirement), requirement
    blocks = re.split(r"\n(?=\w)", LOCK)[1:]
    assert len(blocks) == len(names)
    assert all("--hash=sha256:" in block for block in blocks)


def test_lock_names_no_host() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^--", LOCK, flags=re.MULTILINE)
