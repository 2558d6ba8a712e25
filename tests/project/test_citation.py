"""CITATION.cff agrees with pyproject.toml and LICENSE."""

import tomllib

import yaml

from tests.conftest import ROOT


def test_citation_agrees_with_the_project() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()  # required by CFF 1.2
    assert cited["authors"] == [{"name": author["name"]} for author in project["authors"]]
    assert f"Copyright (c) 2026 {cited['authors'][0]['name']}" in (ROOT / "LICENSE").read_text()
    assert (cited["title"].lower(), cited["license"]) == (project["name"], project["license"])
