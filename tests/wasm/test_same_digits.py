"""The module's answers and logs are the program's, byte for byte."""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from kneepoint.engines.catalogue import load_catalogue
from tests.browser import chromium
from tests.controllers.emulator import EMULATE
from tests.wasm.module import Call, answers_in_chromium, answers_in_node, needs_module
from tests.wasm.scenarios import delay_trace, requests, scenarios, synthetic_traces

MANY = 500


def native_answers(lines: list[str], folder: Path) -> list[list[tuple[Call, str]]]:
    """Returns, for each line, the calls of the module with the program's answers."""
    for name, options in synthetic_traces().items():
        with (folder / name).open("wb") as file:
            command = [str(EMULATE.with_name("synthesize")), *options.split()]
            subprocess.run(command, stdout=file, check=True)
    for seed in range(3):
        (folder / f"delays-{seed}").write_text(delay_trace(seed))
    said = subprocess.run(
        [EMULATE, "--batch"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    ).stdout.splitlines()
    answers = []
    for line, answer in zip(lines, said, strict=True):
        pairs: list[tuple[Call, str]] = [(("run", line), answer)]
        if json.loads(answer)["status"] == "ok":
            names = [json.loads(line).get(key) for key in ("flow_log", "uplink_log")]
            for name in filter(None, names):
                pairs.append((("digest", name), sha256((folder / name).read_bytes()).hexdigest()))
        answers.append(pairs)
    return answers


def differences(
    answers_of: Callable[[list[Call]], list[Any]], count: int, folder: Path
) -> list[str]:
    """Returns the requests that the program and the module answer differently, logs included.

    Args:
        answers_of: returns the answers of the module's methods, in Node.js or in a browser.
    """
    given: list[Call] = [("synthesize", *each) for each in synthetic_traces().items()]
    given += [("write", f"delays-{seed}", delay_trace(seed)) for seed in range(3)]
    expected = native_answers(requests(count), folder)
    said = answers_of([*given, *(call for pairs in expected for call, _ in pairs)])
    assert set(said[: len(given)]) == {""}
    rest = said[len(given) :]
    assert len(rest) == sum(map(len, expected))
    different = []
    for pairs in expected:
        if [answer for _, answer in pairs] != [rest.pop(0) for _ in pairs]:
            different.append(pairs[0][0][1])
    return different


def test_scenarios_are_of_every_kind() -> None:
    text = json.dumps(scenarios(MANY))
    listed = json.loads(subprocess.check_output([EMULATE, "--list"]))
    kinds = (listed[key] for key in ("queues", "host_models", "impairments"))
    names = [each["name"] for each in chain(*kinds)]
    for name in [*load_catalogue(EMULATE).controllers, *names, "tcp", "datagrams", "rack"]:
        assert f'"{name}' in text, name


def test_most_scenarios_run(tmp_path: Path) -> None:
    answers = [pairs[0][1] for pairs in native_answers(requests(70), tmp_path)]
    assert sum(json.loads(answer)["status"] == "ok" for answer in answers) > 60


@needs_module
@pytest.mark.parametrize("count", [20, pytest.param(MANY, marks=pytest.mark.slow)])
def test_node_answers_as_the_program_does(count: int, tmp_path: Path) -> None:
    assert not differences(answers_in_node, count, tmp_path)


@needs_module
@pytest.mark.slow
def test_a_browser_answers_as_the_program_does(tmp_path: Path) -> None:
    chromium.program()
    assert not differences(partial(answers_in_chromium, folder=tmp_path), MANY, tmp_path)
