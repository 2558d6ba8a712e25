"""The effect of single settings on Vegas and CUBIC, on the network of figure 2b of ABC.

    python -m tests.benchmarks.figure_2b

Each line changes one setting of the queue, the run, TCP or Vegas; everything else is as in the
studies abc-vegas and abc-cubic. It has the utilization, and 100 ms plus the 95th percentile of the
queueing delay, as means and ranges of 30 runs: Vegas through 100 and 250 packets, CUBIC through
100.
"""

import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.networks.scenario import Traffic, scenario_of
from kneepoint.networks.traffic import LINUX, Tcp
from tests.benchmarks.downloads import PARAMETERS, emulated

RUNS = 30
NETWORK = "abc-droptail"
VEGAS = {"whole_packets": 1}
OF_RUN: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "150 packets": {"packets": 150},
    "200 packets": {"packets": 200},
    "300 packets": {"packets": 300},
    "twice as long": {"duration_s": 280},
    "an ideal host": {"host_model": "ideal"},
    "starts within a second": {"start_spread_s": 1},
    "receive buffer of 416 KiB": {"receive_buffer_bytes": 425_984},
    "no undo": {"undo": False},
    "no RACK": {"rack": False},
    "no delayed ACKs": {"delayed_ack_ms": 0},
    "no quick ACKs": {"quick_acks": 0},
    "initial window 3": {"initial_window": 3},
}
OF_VEGAS: Mapping[str, Mapping[str, Any]] = {
    "gamma 4": {"gamma": 4},
    "alpha 20, beta 40": {"alpha": 20, "beta": 40},
    "the paper's diff": {"divide_by_rtt": 1},
    "the paper's slow start": {"every_other_round": 1},
}


def scenario(controller: str, setting: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Returns the scenario of one run; the setting may change any of its parts."""
    rest = {"packets": 100, "start_spread_s": 0.05} | dict(setting)
    network = prepared_network(NETWORK).with_value("queue.packets", rest.pop("packets"))
    network = replace(network, **{k: rest.pop(k) for k in setting if hasattr(network, k)})
    tcp = {k: rest.pop(k) for k in setting if k in Tcp.model_fields}
    tcp = LINUX.model_dump(exclude_none=True) | tcp
    flow = {"transport": "tcp", "tcp": tcp, "start_spread_s": rest.pop("start_spread_s")}
    parameters = (VEGAS if controller == "vegas" else PARAMETERS[controller]) | rest
    subject = {"controller": controller, "parameters": parameters}
    return scenario_of(network, Traffic(flows={"first": flow}), subject, seed)


def told(controller: str, setting: Mapping[str, Any]) -> str:
    """Runs a setting; returns a cell of the table."""
    found = [*emulated([scenario(controller, setting, seed) for seed in range(RUNS)])]
    used = statistics.fmean(each["utilization"] for each in found)
    delays_ms = [100 + each["queueing_delay_p95_ms"] for each in found]
    low_ms, high_ms = min(delays_ms), max(delays_ms)
    return f"{used:.3f}, {statistics.fmean(delays_ms):.0f} ({low_ms:.0f} to {high_ms:.0f}) ms"


def main() -> None:
    """Prints a row for each setting."""
    make_what_is_missing(Path("config/field.yaml"), [NETWORK], ["vegas", "cubic"])
    for text, setting in {**OF_RUN, **OF_VEGAS}.items():
        deep = "" if "packets" in setting else told("vegas", {"packets": 250, **setting})
        cubic = "" if text in OF_VEGAS else told("cubic", setting)
        print("|", text, "|", told("vegas", setting), "|", deep, "|", cubic, "|", flush=True)


if __name__ == "__main__":
    main()
