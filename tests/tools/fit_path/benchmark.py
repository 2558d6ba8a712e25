"""How often the intervals of `kneepoint fit-path` contain the measured network.

    python -m tests.tools.fit_path.benchmark [[FIRST:]END [SETTING...]]
    python -m tests.tools.fit_path.benchmark real

The second command fits one network to runs of four controllers in real mahimahi, which must be
installed, and prints the error for each controller in a fit without it. It takes seven minutes on a
quiet machine; runs that a busy host disturbed are repeated.
"""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from kneepoint.config.study import Range
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.expression import Expression
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.tools.fit_path.path import Asked, PathDescription, Scheme, fit_path

RATE = "network.rate_mbps", Range(low=1, high=50, log=True)
DELAY = "network.delay_ms", Range(low=2, high=100, log=True)
WHOLE_DELAY = "network.delay_ms", Range(low=2, high=100)
PACKETS = "network.queue.packets", Range(low=5, high=500, log=True)
LOSS = "network.loss_probability", Range(low=0, high=0.03)
LATENCY = "host_latency_us", Range(low=0, high=5000)
SETTINGS: Mapping[str, Sequence[tuple[tuple[str, Range], float]]] = {
    "slow": [(RATE, 2.5), (DELAY, 40), (PACKETS, 30)],
    "fast": [(RATE, 24), (DELAY, 8), (PACKETS, 120)],
    "lossy": [(RATE, 8), (DELAY, 25), (PACKETS, 60), (LOSS, 0.008)],
    "shallow": [(RATE, 12), (DELAY, 50), (PACKETS, 12), (LOSS, 0.001)],
    "cellular": [(WHOLE_DELAY, 20), (PACKETS, 100), (LOSS, 0.002)],
    "host": [(WHOLE_DELAY, 30), (PACKETS, 60), (LATENCY, 1500)],
    "real": [(WHOLE_DELAY, 20), (PACKETS, 100), (LATENCY, 0)],
}
TRACED = ("cellular", "host", "real")
SCHEMES: Sequence[tuple[str, Mapping[str, float]]] = (
    ("fixed_window", {"window": 10}),
    ("fixed_window", {"window": 100}),
    *((name, {}) for name in ("timely", "reno", "copa")),
)
FIGURES = ("throughput_mbps", "signal_delay_p95_ms + delay_ms", "loss")
RUNS = 3
REAL: Sequence[tuple[str, Mapping[str, float]]] = (
    ("fixed_window", {"window": 150}),
    *((name, {}) for name in ("delay_threshold", "cubic", "copa")),
)
BUSY_US = 2000


def start_of(name: str) -> PreparedNetwork:
    """Returns the initial network of a setting's fit."""
    queue = "droptail:packets=100"
    if name in TRACED:
        network = PreparedNetwork.load(Path(".kneepoint/networks/contest/network.json"))
        return replace(network, uplink=replace(network.uplink, queue=queue), duration_s=30)
    uplink, downlink = PreparedLink(rate_mbps=10, queue=queue), PreparedLink(rate_mbps=100)
    return PreparedNetwork(name, uplink, downlink, 20, "event-loop", 0)


class Runs:
    """Runs schemes in an engine."""

    def __init__(self, workers: int, engine: EngineSettings | None = None) -> None:
        self._engine = engine or EmulatorSettings.of(EMULATE)
        self._catalogue = load_catalogue(EMULATE)
        self._executor = LocalExecutor(self._engine, workers)

    def __call__(self, asked: Sequence[Asked]) -> list[RunRecord]:
        """Returns the records of runs, in order."""
        specs = []
        for scheme, network, seed in asked:
            controller = self._catalogue.controller(scheme.controller, "here")
            parameters = controller.complete(scheme.parameters, "here")
            placed = self._engine.place(network)
            specs.append(RunSpec.on(self._engine, controller, parameters, placed, seed))
        found = {each.run_id: each for some in self._executor.execute(specs) for each in some}
        return [found[spec.run_id] for spec in specs]

    def close(self) -> None:
        """Ends the emulators."""
        self._executor.close()


def measured(
    name: str, run: Runs, seed: int, of: Sequence[tuple[str, Mapping[str, float]]] = SCHEMES
) -> PathDescription:
    """Returns the figures of schemes on a setting's true network, of RUNS runs each."""
    network = start_of(name)
    for (parameter, _), value in SETTINGS[name]:
        _, _, of_network = parameter.partition("network.")
        network = (
            network.with_value(of_network, value)
            if of_network
            else network.with_host(parameter, value)
        )
    random = np.random.default_rng([seed, 1])
    schemes = []
    for controller, parameters in of:
        scheme = Scheme(
            controller=controller,
            parameters=parameters,
            measured=dict.fromkeys(FIGURES, 1),
            runs=RUNS,
        )
        records: list[RunRecord] = []
        while missing := RUNS - len(records):
            asked = [(scheme, network, int(random.integers(2**31))) for _ in range(missing)]
            records += [each for each in run(asked) if each.status == "ok"]
        means = {
            figure: float(np.mean([Expression(figure).of_run(each, network) for each in records]))
            for figure in FIGURES
        }
        schemes.append(scheme.model_copy(update={"measured": means}))
    space = dict(known for known, _ in SETTINGS[name])
    return PathDescription(title=name, network="here", space=space, schemes=tuple(schemes))


def main_real() -> None:
    """Prints a fit to real runs, each figure beside its prediction without its scheme."""
    real = MahimahiSettings.of(Path("build"), BUSY_US, keep_awake=True)
    with closing(Runs(1, real)) as run:
        path = measured("real", run, 0, REAL)
    with closing(Runs(2)) as run:
        found = fit_path(path, start_of("real"), run, 0)
    print(found.parameters, f"p {found.misfit_p:.2g}")
    for each in found.figures:
        off = each.left_out / each.measured - 1 if each.measured else 0
        figures = f"{each.measured:8.4g} {each.left_out:8.4g} {off:+.1%}"
        print(f"{each.controller:16} {each.metric:31} {figures}")


def main() -> None:
    """Prints, for each setting, how often each interval and all of them contain the truth."""
    start, _, stop = (sys.argv[1] if len(sys.argv) > 1 else "100").rpartition(":")
    first, end = int(start or 0), int(stop)
    repetitions = end - first
    print(f"{'setting':10} {'all':>5} {'seconds':>8} {'left out':>9}  each")
    with closing(Runs(2)) as run:
        for name in sys.argv[2:] or [each for each in SETTINGS if each != "real"]:
            hits: Counter[str] = Counter()
            errors, start_s = [], time.monotonic()
            for seed in range(first, end):
                path = measured(name, run, seed)
                found = fit_path(path, start_of(name), run, seed)
                inside = {}
                for (parameter, _), value in SETTINGS[name]:
                    estimate = found.parameters[parameter]
                    inside[parameter] = estimate.low <= value <= estimate.high
                hits.update(parameter for parameter, is_inside in inside.items() if is_inside)
                hits["all"] += all(inside.values())
                errors += [
                    abs(each.left_out / each.measured - 1)
                    for each in found.figures
                    if each.metric == "throughput_mbps"
                ]
            seconds = (time.monotonic() - start_s) / repetitions
            shares = {each: f"{hits[each] / repetitions:.0%}" for each in ("all", *inside)}
            off = f"{np.median(errors):.1%}"
            print(f"{name:10} {shares.pop('all'):>5} {seconds:8.1f} {off:>9}  {shares}", flush=True)


if __name__ == "__main__":
    (main_real if sys.argv[1:] == ["real"] else main)()
