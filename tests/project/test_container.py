"""The Containerfile does what .ci/run does, and CITATION.cff says what pyproject.toml says."""

import re
import tomllib

import yaml

from tests.conftest import ROOT

CI = (ROOT / ".ci/run").read_text()
CONTAINER = (ROOT / "Containerfile").read_text()


def test_its_steps_are_those_of_ci() -> None:
    """But for what CI goes on without, as namespaces, which the building of an image lacks."""
    runs = re.findall(r"^run (make .*)$", CI, re.MULTILINE)
    assert "make setup" in runs
    assert re.findall(r"^RUN (make .*)$", CONTAINER, re.MULTILINE) == runs


def test_its_packages_are_those_of_ci() -> None:
    pairs = [
        pair
        for loop in re.findall(r"^for pair in (.*); do$", CI, re.MULTILINE)
        for pair in loop.split()
    ]
    wanted = {pair.partition(":")[2] for pair in pairs}
    wanted |= set(re.search(r"packages\+=\((python3 .*?)\)", CI)[1].split())  # type: ignore[index]
    installed = re.search(r"--no-install-recommends \\\n(.*?) && rm", CONTAINER, re.DOTALL)
    assert installed
    assert set(installed[1].replace("\\", " ").split()) == wanted
    system = re.search(r"For (Debian) (\d+) as root", CI)
    assert system
    assert f"\nFROM {system[1].lower()}:{system[2]}\n" in CONTAINER


def test_citation_agrees_with_the_project() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()  # what CFF 1.2 requires
    assert cited["authors"] == [{"name": author["name"]} for author in project["authors"]]
    assert f"Copyright (c) 2026 {cited['authors'][0]['name']}" in (ROOT / "LICENSE").read_text()
    assert (cited["title"].lower(), cited["license"]) == (project["name"], project["license"])
