"""A controller that does not compile fails only its own studies, with the compiler's message."""

from pathlib import Path

import pytest

from tests.workflow.conftest import make_checkout

pytestmark = pytest.mark.slow

BROKEN = """#include "algorithms/registry.hh"
struct Broken final : kneepoint::Controller {
  double window() const override { return cwnd; }
};
"""


def test_controller_that_does_not_compile_fails_its_own_studies_only(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path)
    arguments, _ = checkout.configure("whole")
    (tmp_path / "controllers/algorithms/broken.cc").write_text(BROKEN)
    gone = tmp_path / "build/controllers/gone.so"  # its source was removed
    gone.parent.mkdir(parents=True, exist_ok=True)
    gone.write_bytes(b"")
    study = {"title": "Broken", "controller": "broken", "networks": ["mini"]}
    space = {"space": {"window": {"values": [2]}}}
    checkout.write("config/studies/its_own.yaml", study | space)
    config = tmp_path / "config/whole.yaml"
    config.write_text(config.read_text().replace("- grid\n", "- its_own\n- grid\n"))
    results = tmp_path / "results/whole"
    targets = [f"results/whole/{name}/study.json" for name in ("its_own", "grid")]
    process = checkout.start("--cores", "1", *arguments, "--", *targets)
    output, _ = process.communicate()
    assert process.returncode == 2, output
    last = output.splitlines()[-1]
    assert "controllers/algorithms/broken.cc:3:43: error: " in last and "cwnd" in last
    assert (results / "grid/study.json").exists()
    assert not (results / "its_own").exists()
    assert not gone.exists()
