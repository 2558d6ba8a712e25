"""Damaged files are made again, or refused in one line."""

import random
from pathlib import Path

import pytest

from tests.programs import run_kneepoint, run_module
from tests.workflow.conftest import PATH, Checkout, Finished

pytestmark = pytest.mark.long

ROUNDS = 20
DAMAGES = ("emptied", "cut", "flipped", "longer", "another's")
KINDS = (
    *("results/one/*/study.json", "results/one/*/trials.parquet", "results/one/*/runs.parquet"),
    *("results/one/*/runs.jsonl", "results/one/*/made_by.json", "results/one/showcase/*.log"),
    *(
        ".kneepoint/networks/*/*",
        "build/sources/*",
        ".kneepoint/written/**/*.json",
    ),
)
RUN = ("run", "fixed_window", "--network", "mini", "--config", "config/one.yaml", "--json")
COMMANDS = (
    ("results", "results/one"),
    ("verify", "--config", "config/one.yaml"),
    ("status", "--config", "config/one.yaml"),
    RUN,
)


def damaged(content: bytes, damage: str, other: bytes, chance: random.Random) -> bytes:
    """Returns a file's damaged content; `other` is the content of another file of its kind."""
    place = chance.randrange(len(content))
    made = {
        "emptied": b"",
        "cut": content[:place],
        "flipped": content[:place] + bytes([content[place] ^ 0x11]) + content[place + 1 :],
        "longer": content + content[-20:],
        "another's": other,
    }
    return made[damage]


def damage_one(
    checkout: Checkout, kind: str, damage: str, chance: random.Random
) -> tuple[Path, bytes]:
    """Damages one file of a kind; returns its path and its former content."""
    found = [path for path in sorted(checkout.folder.glob(kind)) if path.is_file()]
    path = chance.choice([each for each in found if each.stat().st_size])
    other = chance.choice([each for each in found if each != path])
    content = path.read_bytes()
    path.write_bytes(damaged(content, damage, other.read_bytes(), chance))
    return path, content


def test_many_damaged_files_are_made_again_or_refused(finished_workflow: Finished) -> None:
    """Each round damages nine files, one of each kind; the workflow repairs them in twenty
    rounds."""
    checkout, right = finished_workflow.checkout, finished_workflow.results
    result = run_kneepoint(*RUN, cwd=checkout.folder).stdout
    chance = random.Random(1)
    for number in range(ROUNDS):
        what = [
            damage_one(checkout, kind, DAMAGES[(number + k) % len(DAMAGES)], chance)
            for k, kind in enumerate(KINDS)
        ]
        for words in COMMANDS:
            done = run_kneepoint(*words, cwd=checkout.folder)
            assert "Traceback" not in done.stderr, (what, words, done.stderr)
            if done.returncode == 2:
                assert done.stderr.count("error: ") == 1, (what, words, done.stderr)
            elif words == RUN:
                assert done.stdout == result, what
        command = ("--cores", "2", *finished_workflow.command)
        done = run_module("snakemake", *command, cwd=checkout.folder, PATH=PATH)
        if done.returncode != 0:
            output = done.stdout + done.stderr
            assert "Traceback" not in output and "; rebuild it: " in output, (what, output)
            for path, content in reversed(what):  # a file may belong to two kinds
                path.write_bytes(content)
            checkout.run(*command)
        assert checkout.results("one") == right, what
