"""Runs or resumes one experiment of the configuration.

    python -m kneepoint.workflow.experiment --config config/config.yaml NAME

The name is that of the experiment's folder in the results: a study's, repeats/NAME, hold_out,
showcase, probe, confirm and so on.
"""

from collections.abc import Callable, Mapping

from kneepoint.analysis import added_runs
from kneepoint.common.errors import run_command_line
from kneepoint.runs import registry
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan
from kneepoint.runs.planners import (
    confirmation,
    example,
    held_out,
    probe,
    replicates,
)
from kneepoint.runs.run import run
from kneepoint.search import (
    calibration,
    guided,
    hardening,
    study,
)

PLANNERS: Mapping[registry.Kind, Callable[[Job, str], Plan]] = {
    registry.STUDY: study.plan,
    registry.WORST_CASE: study.plan,
    registry.GUIDED: guided.plan,
    registry.HARDENING: hardening.plan,
    registry.REPLICATES: replicates.plan,
    registry.COMPARISON: replicates.plan_comparison,
    registry.MORE_RUNS: added_runs.plan,
    registry.HELD_OUT: held_out.plan,
    registry.EXAMPLE: example.plan,
    registry.REAL_EXAMPLE: example.plan,
    registry.PROBE: probe.plan,
    registry.CONFIRMATION: confirmation.plan,
    registry.CALIBRATION: calibration.plan,
    registry.AGREEMENT: confirmation.plan_agreement,
    registry.FURTHER_RUNS: confirmation.plan_further_runs,
}


def main() -> None:
    """The command line."""
    run((__doc__ or "").partition("\n")[0], PLANNERS)


if __name__ == "__main__":
    run_command_line(main)
