"""Scenarios of many kinds, always the same: all controllers, queues, hosts and impairments."""

import json
import random
from typing import Any

from kneepoint.engines.catalogue import load_catalogue
from kneepoint.search.language import parse
from tests.controllers.emulator import EMULATE
from tests.search.test_rules import LAW

MARKING = (
    "abc",
    "codel:target=5,interval=100,ecn=1",
    "dualpi2",
    "fq_codel:target=5,interval=100,ecn=1",
    "pie:qdelay_ref=15,max_burst=150,ecn=1",
    "red:min=5,max=30,packets=100,ecn=1",
)
QUEUES = (
    *MARKING,
    "codel:target=5,interval=100,packets=200",
    "codel-mahimahi:target=10,interval=100,packets=100",
    "drophead:packets=40",
    "droptail:packets=40",
    "droptail:bytes=60000",
    "drr:packets=30",
    "fq_codel:target=5,interval=100",
    "infinite",
    "pie:qdelay_ref=15,max_burst=150",
    "pie-mahimahi:qdelay_ref=20,max_burst=100,packets=200",
    "policer:rate_mbps=4,burst=30000",
    "red:min=5,max=30,packets=100",
)
HOSTS = (
    "ideal",
    "event-loop",
    "event-loop:wake_us=20,wake_mean_us=300,wake_spread=1.5",
    "event-loop:delays_us=0+20+80+400,delay_scale=2",
)
IMPAIRMENTS = (
    "jitter-normal:mean=5,deviation=3,correlation=0.5",
    "jitter-pareto:mean=5,deviation=2",
    "jitter-uniform:mean=4,deviation=4,ordered=1",
    "reordering:delay=10,share=0.02",
    "on_off:on=2000,off=100",
)
TRACES = 12

Scenario = dict[str, Any]


def synthetic_traces() -> dict[str, str]:
    """Returns the options of `synthesize` of each trace, by its name."""
    return {
        f"trace-{seed}": f"--seed {seed} --duration-s {3 + seed % 4} --start-rate-mbps {1 + seed} "
        f"--max-rate-mbps {4 + 2 * seed} --sigma-packets-per-s {50 + 60 * seed}"
        for seed in range(TRACES)
    }


def delay_trace(seed: int) -> str:
    """Returns a text of delays that change."""
    draw = random.Random(seed)
    return "".join(f"{time} {draw.randint(5, 80)}\n" for time in range(0, 5000, 250))


def link(draw: random.Random, queues: tuple[str, ...]) -> Scenario:
    """Returns a link with a trace or a rate, and random impairments."""
    options: Scenario = {"queue": draw.choice(queues)}
    if draw.random() < 0.6:
        options["trace"] = f"trace-{draw.randrange(TRACES)}"
    else:
        options |= {"rate_mbps": draw.choice((0.7, 3, 12, 48.5)), "by_packets": draw.random() < 0.3}
    match draw.randrange(4):
        case 0:
            options["delay_trace"] = f"delays-{draw.randrange(3)}"
        case 1:
            options |= {"delay_ms": 10, "delay_step_ms": 30, "delay_period_s": 1.5}
        case 2:
            options["delay_ms"] = draw.randint(0, 90)
    match draw.randrange(5):
        case 0:
            options |= {"loss_probability": 0.01, "loss_after_link": draw.random() < 0.5}
        case 1:
            options |= {"loss_period": 150, "loss_first": 20}
        case 2:
            options["impairments"] = draw.sample(IMPAIRMENTS, draw.randint(1, 2))
    return options


def scenarios(count: int) -> list[Scenario]:
    """Returns scenarios, each with another controller of the first flow."""
    controllers = list(load_catalogue(EMULATE).controllers.values())
    made = []
    for number in range(count):
        draw = random.Random(number)
        first = controllers[number % len(controllers)]
        chosen = [first, *draw.choices(controllers, k=draw.choice((0, 0, 0, 1, 2, 4)))]
        marks = any("counted_marks" in each.needs for each in chosen)
        flows = []
        for place, controller in enumerate(chosen):
            flow: Scenario = {"controller": controller.name}
            if controller.name == "rule":
                flow["parameters"] = dict(parse(LAW).parameters)
            elif draw.random() < 0.5:
                flow["parameters"] = {
                    each.name: round(draw.uniform(each.low, each.high))
                    if each.is_integer
                    else draw.uniform(each.low, each.high)
                    for each in controller.parameters.values()
                    if draw.random() < 0.5
                }
            flow["transport"] = draw.choice(controller.transports)
            if flow["transport"] == "tcp":
                flow["tcp"] = {
                    "ecn": marks or draw.random() < 0.5,
                    "rack": draw.random() < 0.5,
                    "prr": draw.random() < 0.5,
                    "undo": draw.random() < 0.5,
                    "delayed_ack_ms": draw.choice((0, 40)),
                }
            if place > 0:
                flow["start_s"] = draw.choice((0, 0.5, 1))
            if draw.random() < 0.1:
                flow["bytes"] = 400_000
            flows.append(flow)
        made.append(
            {
                "uplink": link(draw, MARKING if marks else QUEUES),
                "downlink": link(draw, QUEUES),
                "flows": flows,
                "probes": [{"interval_ms": 100}] if draw.random() < 0.3 else [],
                "host_model": draw.choice(HOSTS),
                "host_latency_us": draw.choice((0, 150)),
                "duration_s": draw.choice((2.5, 4, 6)),
                "interval_s": draw.choice((0.1, 0.5)),
                "measure_from_s": draw.choice((0, 0, 1)),
                "seed": number,
            }
        )
    return made


def requests(count: int) -> list[str]:
    """Returns lines of a batch; the run of line n writes flow-n.log and, with a trace,
    link-n.log."""
    lines = []
    for number, scenario in enumerate(scenarios(count)):
        request = {"scenario": scenario, "flows": True, "flow_log": f"flow-{number}.log"}
        if "trace" in scenario["uplink"]:
            request["uplink_log"] = f"link-{number}.log"
        lines.append(json.dumps(request))
    return lines
