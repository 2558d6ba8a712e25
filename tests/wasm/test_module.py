"""The emulator as a WebAssembly module: its inputs, answers and errors."""

import json
import random
import subprocess
from pathlib import Path

from tests.controllers.emulator import EMULATE, write_small_link
from tests.wasm.module import Call, answers_in_node, needs_module

pytestmark = needs_module

RUN = "--controller cubic --uplink up --downlink down --seed 3"


def link_in(folder: Path) -> list[Call]:
    """Returns the calls that hand over a link's traces."""
    link = write_small_link(folder)
    return [("write", "up", link.uplink.read_text()), ("write", "down", link.downlink.read_text())]


def test_lists_what_the_program_lists() -> None:
    (said,) = answers_in_node([("catalogue",)])
    listed = json.loads(subprocess.check_output([EMULATE, "--list"]))
    for controller in listed["controllers"]:
        del controller["sha256"]  # the module has no files of controllers
    assert json.loads(said) == listed


def test_log_of_a_link_becomes_a_summary_over_time(tmp_path: Path) -> None:
    run = f"{RUN} --uplink-log log"
    *_, log, said = answers_in_node(
        [*link_in(tmp_path), ("run", run), ("read", "log"), ("overTime", "log")]
    )
    measured = subprocess.run(
        [EMULATE.with_name("measure"), "--over-time"], input=log.encode(), capture_output=True
    )
    assert said == measured.stdout.decode().rstrip("\n")
    assert max(json.loads(said)["over_time"]["queue_packets"]) > 10


def test_synthetic_trace_is_the_program_s() -> None:
    options = "--seed 7 --duration-s 30 --start-rate-mbps 8 --max-rate-mbps 20"
    *_, trace = answers_in_node([("synthesize", "up", options), ("read", "up")])
    assert trace == subprocess.check_output(
        [EMULATE.with_name("synthesize"), *options.split()], text=True
    )


def test_trace_can_change_under_its_name(tmp_path: Path) -> None:
    calls = link_in(tmp_path)
    steady = "".join(f"{time}\n" for time in range(1, 3001))
    *_, before, _, after, _, again = answers_in_node(
        [*calls, ("run", RUN), ("write", "up", steady), ("run", RUN), calls[0], ("run", RUN)]
    )
    assert before == again != after


def test_bad_input_is_one_line_and_the_module_goes_on(tmp_path: Path) -> None:
    bad = [
        ("run", "{"),
        ("run", RUN.replace("cubic", "cubit")),
        ("run", RUN.replace("up ", "nowhere ")),
        ("run", f"{RUN} --set beta=7"),
        ("run", f"{RUN} --entry x.so"),
        ("synthesize", "x", "--seed 1"),
        ("overTime", "up"),
        ("read", "nowhere"),
    ]
    calls = link_in(tmp_path)
    *_, first = answers_in_node([*calls, ("run", RUN)])
    _, _, *answers, last = answers_in_node([*calls, *bad, ("run", RUN)])
    assert last == first
    for call, answer in zip(bad, answers, strict=True):
        said = json.loads(answer)
        assert said["status"] == "error" and said["reason"] and "\n" not in said["reason"], call


def test_large_numbers_have_the_program_s_digits() -> None:
    draw = random.Random(1)
    numbers = [draw.uniform(1, 10) * 10 ** draw.uniform(0.1, 40) for _ in range(2000)]
    numbers += [2.0**k * sign for k in range(50, 110) for sign in (1, -1)]
    lines = [f"{RUN} --set beta={number!r}" for number in numbers]  # named where it is refused
    asked = "".join(f"{line}\n" for line in lines)
    said = subprocess.run([EMULATE, "--batch"], input=asked, capture_output=True, text=True)
    assert answers_in_node([("run", line) for line in lines]) == said.stdout.splitlines()
    assert said.stdout.count(" is outside ") == len(numbers)


def test_bad_traces_are_named_with_their_lines(tmp_path: Path) -> None:
    texts = {"": "empty", "1\n2\nthree\n": "line 3", "1\r\n2\r\n": "line 1", "5\n4\n": "line 2"}
    down = link_in(tmp_path)[1]
    calls = [call for text in texts for call in (("write", "up", text), ("run", RUN))]
    answers = answers_in_node([down, *calls])[2::2]
    for answer, part in zip(answers, texts.values(), strict=True):
        said = json.loads(answer)
        assert said["status"] == "error" and "trace up" in said["reason"] and part in said["reason"]


def test_trap_is_one_line_and_texts_stay(tmp_path: Path) -> None:
    options = "--seed 7 --duration-s 3 --start-rate-mbps 8 --max-rate-mbps 20"
    calls = [*link_in(tmp_path), ("synthesize", "up", options)]
    *_, before, trap, after = answers_in_node([*calls, ("run", RUN), ("trap", RUN), ("run", RUN)])
    assert json.loads(trap)["status"] == "fault" and "\n" not in json.loads(trap)["reason"]
    assert json.loads(after)["status"] == "ok" and before == after


def test_memory_does_not_grow(tmp_path: Path) -> None:
    some = [call for _ in range(50) for call in (("run", RUN), ("run", f"{RUN} --uplink-log log"))]
    calls = [*link_in(tmp_path), *some, ("bytesOfMemory",), *(10 * some), ("bytesOfMemory",)]
    answers = answers_in_node(calls)
    assert answers[-1] == answers[2 + len(some)] > 0
