"""How many real-time slots a host offers."""

import json
from pathlib import Path

import pytest

from search.errors import KneepointError
from search.slots import probe_file, slots_of


def write(results: Path, content: str) -> None:
    probe_file(results).parent.mkdir()
    probe_file(results).write_text(content)


def test_host_that_was_never_probed_offers_one_slot_a_core(tmp_path: Path) -> None:
    assert slots_of(tmp_path, 3) == 3


def test_probed_host_offers_what_the_probe_found(tmp_path: Path) -> None:
    write(tmp_path, json.dumps({"slots": 16, "cores": 4, "levels": []}))
    assert slots_of(tmp_path, 3) == 16


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "{}", '{"slots": 0}', '{"slots": "4"}', '{"slots": 2.5}']
)
def test_damaged_probe_is_named_with_its_remedy(tmp_path: Path, content: str) -> None:
    write(tmp_path, content)
    path = tmp_path / "probe/probe.json"
    with pytest.raises(KneepointError) as caught:
        slots_of(tmp_path, 3)
    assert str(caught.value) == (
        f"{path}: cannot be used (it has no number of slots); make it again: snakemake "
        f"--cores all --force {path} (and your --configfile, if you have one)"
    )
