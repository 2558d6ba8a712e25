"""The lock, environment.yml and pyproject.toml say the same."""

import re
import tomllib

import pytest
import yaml

from tests.conftest import ROOT

LOCK = (ROOT / "requirements.txt").read_text()
SITE_LOCK = (ROOT / "docs/requirements.txt").read_text()
LOCKS = pytest.mark.parametrize("lock", [LOCK, SITE_LOCK], ids=["all", "site"])
REMEDY = "run `make lock`"


def locked(lock: str = LOCK) -> list[str]:
    """Returns the requirements of a lock, with their markers and without their hashes."""
    lines = (line.rstrip("\\ ") for line in lock.splitlines())
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


@LOCKS
def test_lock_has_one_version_of_each_package_and_its_hashes(lock: str) -> None:
    names = [name_of(requirement) for requirement in locked(lock)]
    assert len(names) == len(set(names))
    for requirement in locked(lock):
        assert re.match(r"[a-z0-9.-]+==\S+( ; |$)", requirement), requirement
    blocks = re.split(r"\n(?=\w)", lock)[1:]
    assert len(blocks) == len(names)
    assert all("--hash=sha256:" in block for block in blocks)


@LOCKS
def test_lock_names_no_host(lock: str) -> None:
    assert "://" not in lock
    assert not re.search(r"^--", lock, flags=re.MULTILINE)


def test_what_the_site_needs_agrees_with_the_lock() -> None:
    """Both are installed in one environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    of_site = {name_of(requirement): requirement for requirement in locked(SITE_LOCK)}
    wanted = {name_of(requirement) for requirement in project["dependency-groups"]["site"]}
    assert wanted <= of_site.keys(), REMEDY
    for requirement in locked():
        if (name := name_of(requirement)) in of_site:
            assert requirement.partition(" ")[0] == of_site[name].partition(" ")[0], REMEDY


def test_wheels_for_other_systems_are_built_by_the_tested_compiler() -> None:
    (compiler,) = locked((ROOT / "tests/controllers/requirements.txt").read_text())
    assert f'"{compiler}"' in (ROOT / "setup.py").read_text()
