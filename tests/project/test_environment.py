"""The lock, environment.yml, pyproject.toml and CITATION.cff agree."""

import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

LOCK = (ROOT / "requirements.txt").read_text()
SITE_LOCK = (ROOT / "docs/requirements.txt").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
REMEDY = "run `make lock`"


def locked(lock: str) -> list[str]:
    """Returns the requirements of a lock, with their markers and without their hashes."""
    lines = (line.rstrip("\\ ") for line in lock.splitlines())
    return [line for line in lines if line and line[0] not in "# "]


def versions(requirements: list[str]) -> dict[str, Requirement]:
    """Returns requirements by the normalised names of their packages."""
    parsed = map(Requirement, requirements)
    return {canonicalize_name(requirement.name): requirement for requirement in parsed}


def test_environment_has_the_locked_packages_and_the_toolchain() -> None:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    assert pip == locked(LOCK), REMEDY
    others = {entry.split("=")[0] for entry in dependencies if isinstance(entry, str)}
    assert others == {"python", "pip", "cxx-compiler", "git", "make"}


@pytest.mark.parametrize("group", ["project", "dev", "site"])
def test_lock_pins_what_is_asked_for(group: str) -> None:
    pinned = versions(locked(SITE_LOCK if group == "site" else LOCK))
    asked = PROJECT["dependency-groups"].get(group, PROJECT["project"]["dependencies"])
    for name, requirement in versions(asked).items():
        (pin,) = pinned[name].specifier
        assert pin.operator == "==" and requirement.specifier.contains(pin.version), REMEDY


def test_locks_name_no_host() -> None:
    """`pip install` would use such a host instead of the user's index."""
    for lock in (LOCK, SITE_LOCK):
        assert "://" not in lock
        assert not [line for line in lock.splitlines() if line.startswith("--")]


def test_what_the_site_needs_agrees_with_the_lock() -> None:
    """Both are installed in one environment."""
    of_site = versions(locked(SITE_LOCK))
    for name, requirement in versions(locked(LOCK)).items():
        assert of_site.get(name, requirement).specifier == requirement.specifier, REMEDY


def test_wheels_for_other_systems_are_built_by_the_tested_compiler() -> None:
    (compiler,) = locked((ROOT / "tests/controllers/requirements.txt").read_text())
    assert f'"{compiler}"' in (ROOT / "setup.py").read_text()


def test_citation_agrees_with_the_project() -> None:
    cited, project = yaml.safe_load((ROOT / "CITATION.cff").read_text()), PROJECT["project"]
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()  # required by CFF 1.2
    assert cited["authors"] == [{"name": author["name"]} for author in project["authors"]]
    assert f"Copyright (c) 2026 {cited['authors'][0]['name']}" in (ROOT / "LICENSE").read_text()
    assert (cited["title"].lower(), cited["license"]) == (project["name"], project["license"])
