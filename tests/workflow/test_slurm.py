"""Studies as jobs of a real Slurm, by the profile that users have."""

from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Slurm, lacking
from tests.workflow.conftest import Finished

pytestmark = pytest.mark.slow

STUDIES = ("grid", "tpe")
QUICKLY = (  # instead of a cluster's waiting time of a minute
    "--slurm-init-seconds-before-status-checks=1 --seconds-between-status-checks=1"
).split()


@pytest.fixture
def slurm() -> Iterator[Slurm]:
    if missing := lacking():
        pytest.skip(f"NOT TESTED: no {', '.join(missing)}; run `make cluster-tools` as root")
    with Slurm() as running:
        yield running


def test_studies_that_are_jobs_have_the_same_bytes(
    finished_workflow: Finished, slurm: Slurm
) -> None:
    checkout = finished_workflow.checkout
    arguments, _ = checkout.configure("slurm")
    targets = [f"results/slurm/{study}/study.json" for study in STUDIES]
    output = checkout.run(
        *("--profile", "profiles/slurm", *arguments, *QUICKLY),
        *("--slurm-status-command", "squeue", "--set-threads", "search_study=2"),
        *("--", *targets),
        **slurm.environment,
    )
    assert output.count("SLURM jobid") == len(STUDIES), output
    found = checkout.results("slurm")
    assert len(found) == 4 * len(STUDIES)
    for path, content in found.items():
        assert content == finished_workflow.results[path], path
