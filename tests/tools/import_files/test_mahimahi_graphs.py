"""mahimahi's own scripts print the imported figures of a log, digit for digit."""

from pathlib import Path

import pytest

from kneepoint.tools.import_files.read import read_measurements
from tests.controllers.test_mahimahi_graphs import expect_printed
from tests.tools.import_files.test_imported import link_log_of


@pytest.mark.parametrize("seed", range(4))
def test_scripts_print_what_import_reads(scripts: Path, tmp_path: Path, seed: int) -> None:
    log = tmp_path / "cubic-1.log"
    log.write_text(link_log_of(seed, with_drops=False))
    (found,) = read_measurements([log])
    expect_printed(scripts, log, found.metrics)
