import subprocess
from pathlib import Path

import pytest

from kneepoint.common.files import sha256_of
from kneepoint.reports import provenance
from kneepoint.runs.load import load_workflow
from tests.conftest import ROOT


def test_real_programs_are_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(provenance, "BUILT", tmp_path / "build")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for path in (Path("bin/mm-link"), Path("build/sender")):
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\necho {path}\n")
        path.chmod(0o755)
    assert provenance.digests(provenance._real_programs()) == {
        "build/sender": sha256_of(Path("build/sender").read_bytes()),
        "mm-link": sha256_of(Path("bin/mm-link").read_bytes()),
    }


def test_configuration_elsewhere_names_no_folder_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert provenance.public_path(Path("config/config.yaml")) == "config/config.yaml"
    assert provenance.public_path(tmp_path / "config/config.yaml") == "config/config.yaml"
    elsewhere = tmp_path.parent / "home of somebody/mine/config.yaml"
    assert provenance.public_path(elsewhere) == "mine/config.yaml"


def test_a_report_in_another_repository_has_its_commit_and_a_command_that_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, lab = tmp_path / "kneepoint", tmp_path / "my lab"
    config = lab / "reports/config.yaml"
    config.parent.mkdir(parents=True)
    here.mkdir()
    config.write_text("seed: 1\n")
    for command in (
        ("init", "--quiet"),
        ("add", "."),
        (*("-c", "user.name=A", "-c", "user.email=a@b.c"), "commit", "--quiet", "-m", "lab"),
    ):
        subprocess.run(["git", "-C", str(lab), *command], check=True)
    (lab / "new.yaml").touch()
    monkeypatch.chdir(here)
    monkeypatch.setattr(provenance, "TOOL", here)
    assert provenance.public_path(config) == "my lab/reports/config.yaml"
    found = provenance._beside(config)
    assert found is not None and found["folder"] == "my lab"
    assert len(found["commit"]) == 40 and found["changed_files"] == ["new.yaml"]
    assert provenance._beside(here / "config.yaml") is None


def test_every_source_is_among_the_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    workflow = load_workflow(Path("config/config.yaml"))
    found = provenance._references(workflow)
    names = [name for each in found for name in each["names"]]
    assert len(names) == len(set(names))
    assert {table.report for table in workflow.tables.values()} <= set(names)
    sources = [each.source for each in workflow.comparisons.values() if each.source]
    assert sources and all(any(source.startswith(name) for name in names) for source in sources)
    (measured,) = (each for each in found if "mahimahi-aimd" in each["names"])
    assert measured["source"].startswith("mahimahi") and len(measured["names"]) == 3


def test_inputs_are_the_files_that_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    workflow = load_workflow(Path("config/config.yaml"))
    found = provenance.digests(provenance._files(workflow))
    study, network = next((name, each.networks[0]) for name, each in workflow.studies.items())
    read = ["traces.yaml", f"studies/{study}.yaml", f"networks/{network}.yaml"]
    read += [f"published/{table}.{end}" for table in workflow.tables for end in ("csv", "yaml")]
    names = ["config/config.yaml", *(f"config/{name}" for name in read)]
    names += [f"controllers/algorithms/{name}.cc" for name in workflow.controllers]
    assert {name: found[name] for name in names} == {
        name: sha256_of(Path(name).read_bytes()) for name in names
    }
