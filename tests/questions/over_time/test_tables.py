"""Reading the run that is shown over time."""

import shutil
from pathlib import Path

import pytest

from kneepoint.analysis.results import Results
from kneepoint.common.errors import KneepointError
from kneepoint.common.made_by import sign
from kneepoint.questions.over_time.tables import real_showcase, showcase

CONFIG = Path("config/config.yaml")


@pytest.mark.usefixtures("workspace")
def test_example_is_read() -> None:
    found = showcase(Results.of(CONFIG))
    assert found is not None and 9_900 < found.log["time_ms"].iloc[-1] <= 10_000


def test_a_real_log_that_has_changed_is_not_read(workspace: Path) -> None:
    config = workspace / CONFIG
    study = workspace / "config/studies/windows.yaml"
    study.write_text(f"{study.read_text()}\n        engine: mahimahi")
    assert real_showcase(Results.of(config)) is None
    shutil.copytree(workspace / "results/showcase", workspace / "results/real_showcase")
    log = workspace / "results/real_showcase/uplink.log"
    sign(log.parent, "kneepoint.questions.over_time.plan", [log.name])
    assert real_showcase(Results.of(config)) is not None
    log.write_text(log.read_text() + "900 + 1504\n")
    with pytest.raises(KneepointError, match=r"real_showcase/uplink\.log"):
        real_showcase(Results.of(config))
