"""How do settings compare under the same traffic, in virtual time and on the kernel's TCP?"""

import itertools
from collections.abc import Iterator

from kneepoint.common.errors import KneepointError
from kneepoint.config.workflow import FOLDERS, Workflow
from kneepoint.engines.base import FLOW_METRICS, LINK_METRICS, PROBE_METRICS
from kneepoint.engines.kernel.scenario import LONGEST_S
from kneepoint.engines.registry import LOADS
from kneepoint.reports.parts import BEHAVES, TRUSTED, WORKS
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Question,
    Section,
    Stage,
)

_COMPARISON = ExperimentKind(
    "compare_settings", (), "Running the comparison", f"{__name__}.plan:plan"
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    config = workflow.path.parent
    for name, comparison in workflow.comparisons.items():
        under_study = [setting.controller for setting in comparison.settings]
        beside = [c for each in comparison.traffic for c in workflow.controllers_beside(each)]
        traffic = [config / f"traffic/{each}.yaml" for each in comparison.traffic]
        for engine in comparison.engines:
            yield Experiment(
                f"{FOLDERS[engine]}/{name}",
                _COMPARISON,
                engine,
                [*under_study, *beside],
                comparison.networks_on(engine),
                config_files=[config / f"comparisons/{name}.yaml", *traffic],
                group=FOLDERS[engine],
            )


def _check(workflow: Workflow) -> None:
    """Refuses published figures that nothing measures, and flows that an engine cannot send."""
    _check_published_figures(workflow)
    _check_real_flows(workflow)


def _check_real_flows(workflow: Workflow) -> None:
    """Refuses flows that an engine with the kernel's TCP cannot send."""
    for comparison in workflow.comparisons.values():
        under_study = comparison.settings[0].controller
        loads = [LOADS[engine] for engine in comparison.engines if engine in LOADS]
        for load, name in itertools.product(loads, comparison.traffic):
            flows = []
            for flow in workflow.traffic[name].flows.values():
                started = {k: v for k, v in flow.options.items() if k != "start_spread_s"}
                flows.append(started | {"controller": flow.controller or under_study})
            load.of({"flows": flows}, LONGEST_S, workflow.file("traffic", name))


def _check_published_figures(workflow: Workflow) -> None:
    """Refuses published metrics that no flow or probe of the traffic measures."""
    for name, comparison in workflow.comparisons.items():
        for number, printed in enumerate(comparison.published):
            traffic = workflow.traffic[printed.traffic or comparison.traffic[0]]
            source, _, metric = printed.figure.partition(".")
            known = {
                **dict.fromkeys(traffic.flows, FLOW_METRICS),
                **dict.fromkeys(traffic.probes, PROBE_METRICS),
                "link": LINK_METRICS,
            }
            if metric not in known.get(source, ()):
                choice = ", ".join(known.get(source, [f"{each}.METRIC" for each in known]))
                raise KneepointError(
                    f"{workflow.file('comparisons', name)}: published {number}: unknown figure "
                    f"{printed.figure}; known: {choice}"
                )


QUESTION = Question(
    sections=(Section(BEHAVES, 20), Section(TRUSTED, 60, "kernel"), Section(WORKS, 10, "works")),
    experiments=_experiments,
    check=_check,
    folders=("comparisons", "kernel"),
    stages=(
        Stage(
            groups=("comparisons", "kernel", "studies"),
            tables=(
                "traffic_figures",
                "comparison_published",
                "comparison_shares",
                "comparison_runs",
            ),
        ),
    ),
    figures=(
        *("comparison-figures", "comparison-flows", "comparison-shares", "comparison-windows"),
        "network-sweep",
    ),
    counts=(CountedRuns(30, ("comparisons", "kernel")),),
    order=40,
)
