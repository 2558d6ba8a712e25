"""The settings of queues and impairments: the configuration refuses exactly the settings that the
emulator refuses."""

import itertools
import json
import subprocess

import pytest

from kneepoint.networks.declared import FILE, declaration_of, declared, read_notation
from tests.controllers.emulator import EMULATE

QUEUES = declared("queues")
VALUES = ("0", "1", "2", "0.2", "1.5", "1000", "1001", "70000", "86400001", "many", "1e3")


def candidates(which: str) -> list[str]:
    """Returns notations of every kind: complete, and with one setting changed or left out."""
    texts = [
        "sfq",
        "infinite:packets=3",
        "infinite:",
        "droptail:packets",
        "droptail:packets=9,",
        "red:min=5,max=4",
    ]
    for kind, queue in declared(which).items():
        base = dict.fromkeys(
            [each.name for each in queue.parameters.values() if each.required], "2"
        )
        if kind == "red":
            base = {"min": "2", "max": "7"}
        if kind == "policer":
            base = {"rate_mbps": "2", "burst": "3008"}
        if kind == "reordering":
            base = {"share": "0.5", "delay": "7"}
        for bound in ({}, {"packets": "9"}, {"bytes": "9000"}, {"packets": "9", "bytes": "9000"}):
            texts.append(notation(kind, {**base, **bound}))
        whole = {**base, "packets": "9"} if "packets" in queue.parameters else base
        texts += [
            notation(kind, {name: value for name, value in whole.items() if name != left_out})
            for left_out in whole
        ]
        others = (*QUEUES["red"].parameters, *QUEUES["drr"].parameters, *queue.parameters, "packet")
        texts += [
            notation(kind, {**whole, name: value})
            for name, value in itertools.product(dict.fromkeys(others), VALUES)
        ]
    return texts


def notation(kind: str, settings: dict[str, str]) -> str:
    pairs = ",".join(f"{name}={value}" for name, value in settings.items())
    return f"{kind}:{pairs}" if pairs else kind


def is_accepted_here(which: str, text: str) -> bool:
    try:
        read_notation(which, text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("which", ["queues", "impairments"])
def test_the_configuration_refuses_what_the_emulator_refuses(which: str) -> None:
    lines = []
    texts = candidates(which)
    for text in texts:
        link = {"rate_mbps": 10, "delay_ms": 1}
        stated = {"queue": text} if which == "queues" else {"impairments": [text]}
        scenario = {
            "uplink": {**link, **stated},
            "downlink": link,
            "flows": [{"controller": "fixed_window", "transport": "tcp"}],
            "duration_s": 0.01,
        }
        lines.append(json.dumps({"scenario": scenario}))
    answers = subprocess.run(
        [EMULATE, "--batch"], input="\n".join(lines), check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for text, answer in zip(texts, map(json.loads, answers), strict=True):
        # A class without a flow is an error of the scenario: a network alone has no traffic.
        is_accepted = answer["status"] != "error" or "no flow is in it" in answer["reason"]
        assert is_accepted_here(which, text) == is_accepted, (text, answer)
    assert len(texts) > 500


def test_the_committed_declaration_is_the_emulators() -> None:
    """`python -m kneepoint.networks.declared` writes the declaration anew."""
    assert FILE.read_text() == declaration_of(EMULATE)


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        ("fq_codel", "fq_codel needs target=NUMBER,interval=NUMBER; add it"),
        ("drr:classes=2", "drr needs packets=NUMBER or bytes=NUMBER; add one"),
        ("codel:target=5,interval=100,limit=9", "codel has no parameter 'limit'; it has: target, "),
        (
            "pie:qdelay_ref=1.5,max_burst=9",
            "at least 1 and at most 86400000, not 1.5",
        ),
        ("red:min=9,max=3", "red: min 9 must be below max 3; lower min"),
        ("droptail:packets=1,packets=2", "has packets twice; remove one"),
    ],
)
def test_a_queue_says_what_to_change(queue: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_notation("queues", queue)
