"""The Snakefile refuses bad input before any work, and two workflows in one folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from networks.files import hold_lock
from tests.conftest import ROOT

PARTS = (
    "Snakefile common config controllers environment.yml mahimahi networks profiles reports "
    "requirements.txt rules search"
).split()
TARGET = "build/networks/constant-12mbps/network.json"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything that the workflow reads."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part)
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


def snakemake(checkout: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", *arguments],
        cwd=checkout,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("seed: 1\nstudy: []\n", "unknown key 'study'; did you mean 'studies'?"),
        ("seed: 1\nstudies: [absent]\n", "absent"),
        ("seed: none\n", "seed: 'none' is refused"),
        (
            "seed: 1\nshowcase: {controller: fixed_window, network: absent}\n",
            "no network is called 'absent'",
        ),
    ],
)
def test_snakefile_refuses_a_configuration(checkout: Path, wrong: str, message: str) -> None:
    config = checkout / "config" / "wrong.yaml"
    config.write_text(wrong)
    result = snakemake(checkout, "--configfile", "config/wrong.yaml", "--", TARGET)
    assert result.returncode == 2
    assert "\nerror: config/" in result.stderr
    assert message in result.stderr
    assert not (checkout / "build").exists()


def test_snakefile_refuses_settings_that_programs_would_not_see(checkout: Path) -> None:
    result = snakemake(checkout, "--config", "seed=3", "--", TARGET)
    assert result.returncode != 0
    assert "error: give one --configfile and no --config" in result.stderr
    assert not (checkout / "build").exists()


def test_snakefile_refuses_a_second_workflow_while_one_lives(checkout: Path) -> None:
    with hold_lock(checkout / ".snakemake" / "kneepoint.lock"):
        result = snakemake(checkout, TARGET)
        assert result.returncode == 2
        assert f"error: .snakemake/kneepoint.lock: process {os.getpid()}" in result.stderr
        assert not (checkout / TARGET).exists()
    assert snakemake(checkout, TARGET).returncode == 0
    assert (checkout / TARGET).exists()
    assert "Nothing to be done" in snakemake(checkout, TARGET).stderr
