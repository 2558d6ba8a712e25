"""Rules in the module: the language of search/language.py, and the same digits in C++."""

import json
import re
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kneepoint.entries.tree import KIT
from kneepoint.search.language import RuleError, parse
from tests.conftest import ROOT
from tests.controllers.emulator import emulate, write_small_link
from tests.entries.building import build_entry, run_batch, scenario_of
from tests.search.test_rules import LAW
from tests.wasm.module import answers_in_node, needs_module

pytestmark = needs_module

PACED = "x = change(rtt) - (owd - -(-3)); double = x - (x - 1) / (x / (x + 9)) * 2; \
w = w + (1 if double > 3 else 0.2 if (1 if rtt < 9 else -1) > 0 else -0.2); \
window = (-(-w)) ** 1.01 - w / (-2 - 1) / 4; pace = 0.4 + 0.001 * (w / flight) * rate(1)"
LATE = """late = max(silence, min_rtt / 2) - 3 # a fixed span
w = max(w, 4) if late < 5 else min(w - 1 + (flight - w), 0.9 * w)
w = w + ewma(2 * w ** -0.5, 0.3); keepalive = 20 + late"""
SOURCES = [LAW, PACED, LATE]

_SIGNS = "+ - * / ** ( ) , ; = < > if else # \n \r\n \r \t ' % : . \\ \f \0 é == -- // -> += := <="
_NAMES = "w owd rtt min_rtt silence flight window pace keepalive x _ print match True not lambda"
_FUNCTIONS = "min max abs exp log clip ewma change rate"
_NUMBERS = "1 0.5 1e-3 1_000 007 00 0x1f 1. 1.5.2 .5 1e400 1e-400 1__0 1j 1if \uff12 " + "9" * 30
_FORMS = [
    *(f"_ {sign} _" for sign in ("+", "-", "*", "/", "**")),
    *("-_", "(_)", "_ if _ > _ else _", "_ if _ < _ else _", "clip(_, _, _)", "min(_, _)"),
    *("ewma(_, _)", "abs(_)", "exp(_)", "rate(_)", "change(_)"),
]
_PIECES = [" ", *f"{_SIGNS} {_NAMES} {_FUNCTIONS} {_NUMBERS}".split(" ")]


def broken(text: str, rng: Random) -> str:
    """Returns the text with some of its words removed, exchanged or replaced."""
    words = re.findall(r"\w+|\*\*|\s|.", text)
    for _ in range(rng.randint(1, 3)):
        place, other = rng.randrange(len(words)), rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words.insert(place, rng.choice(_PIECES))
            case 1:
                words[place] = rng.choice(_PIECES)
            case 2:
                words[place], words[other] = words[other], words[place]
            case 3:
                words[place] = ""
    return "".join(words)


def grown(rng: Random, depth: int = 0) -> str:
    """Returns an expression of the language, of any dimension."""
    if depth > 4 or rng.random() < 0.3:
        return rng.choice(["w", "owd", "rtt", "flight", "x", "y", "1", "0.5", "-2", "min_rtt"])
    return re.sub("_", lambda _: grown(rng, depth + 1), rng.choice(_FORMS))


def written(rng: Random) -> str:
    """Returns assignments of such expressions."""
    names = [rng.choice(["x", "y", "w", "pace", "keepalive"]) for _ in range(rng.randint(0, 3))]
    lines = [*(f"{name} = {grown(rng)}" for name in names), "w = w + 1"]
    return rng.choice(["\n", "; ", " ;\n  "]).join(lines)


def answers(texts: list[str], settings: str = "") -> list[dict[str, Any]]:
    """Returns the module's answers about rules."""
    return [json.loads(said) for said in answers_in_node([("rule", settings, t) for t in texts])]


def python_says(text: str) -> dict[str, float] | None:
    """Returns all parameters of a rule; None if refused."""
    names = [*(f"code_{k}" for k in range(16)), *(f"number_{k}" for k in range(40))]
    try:
        return {**dict.fromkeys(names, 0), **parse(text).parameters}
    except RuleError:
        return None


def require_same(texts: list[str]) -> int:
    """Fails unless both parsers take the same rules, with the same parameters; returns how many."""
    taken = 0
    for text, answer in zip(texts, answers(texts), strict=True):
        own = answer.get("parameters")
        assert own == python_says(text), (text, answer.get("reason"))
        taken += own is not None
    return taken


@pytest.mark.parametrize(
    ("seed", "count"), [(1, 500), pytest.param(2, 5000, marks=pytest.mark.slow)]
)
def test_both_parsers_take_and_refuse_the_same(seed: int, count: int) -> None:
    rng = Random(seed)
    texts = [written(rng) for _ in range(count)]
    texts += [broken(rng.choice([*texts, *SOURCES]), rng) for _ in range(2 * count)]
    assert count // 4 < require_same(texts) < 2 * count


def test_numbers_are_parameters_at_their_places() -> None:
    text = "q = owd - -0.5 # 😀 9\nw = w + (1 if q > 20 else 0)"
    (answer,) = answers([text])
    shown = text.encode("utf-16-le")
    found = [
        shown[2 * a : 2 * b].decode("utf-16-le")
        for a, b in (each["place"] for each in answer["numbers"])
    ]
    assert found == ["-0.5", "20", "1", "0"]
    defaults = [each["default"] for each in answer["numbers"]]
    assert defaults == [answer["parameters"][each["name"]] for each in answer["numbers"]]
    assert all(each["low"] < each["default"] < each["high"] for each in answer["numbers"])
    assert ["line 1" in each["meaning"] for each in answer["numbers"]] == [True, *[False] * 3]


def test_a_mistake_is_one_line_with_its_place() -> None:
    for text, place in (
        ("w = w + delay", [8, 13]),
        ("# 😀\nw = 😀", [9, 11]),
        ("", [0, 0]),
        ("w = " + "w + " * 10**6 + "1", [0, 0]),
        ("(" * 10**6, [0, 0]),
    ):
        (answer,) = answers([text])
        assert answer["place"] == place and answer["status"] == "error"
        assert answer["reason"] and "\n" not in answer["reason"]
    assert "no parameter 'pace'" in answers(["w = w"], "pace=3")[0]["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("text", SOURCES)
def test_its_source_gives_the_digits_of_the_rule(text: str, tmp_path: Path) -> None:
    link = write_small_link(tmp_path)
    (answer,) = answers([text], "initial_window=7 widest_window=150")
    source, made = tmp_path / "my_rule.cc", tmp_path / "my_rule.so"
    source.write_text(answer["controller"])
    flags = "-std=c++20 -O2 -ffp-contract=off -shared -fPIC -fvisibility=hidden -Icontrollers"
    subprocess.run(["c++", *flags.split(), source, "-o", made], check=True, cwd=ROOT)
    parameters = {**parse(text).parameters, "initial_window": 7, "widest_window": 150}
    for seed in ("1", "2"):
        figures = emulate(link, "rule", parameters, "--seed", seed)
        assert figures == emulate(link, str(made), {}, "--seed", seed)


@pytest.mark.slow
@pytest.mark.parametrize("text", SOURCES)
def test_its_entry_gives_the_digits_of_the_rule(text: str, tmp_path: Path) -> None:
    link = write_small_link(tmp_path)
    (answer,) = answers([text], "initial_window=7")
    source, datagrump = tmp_path / "controller.cc", KIT / "datagrump"
    source.write_text(answer["entry"])
    parts = [datagrump / "sender.cc", datagrump / "contest_message.cc", *(KIT / "src").glob("*.cc")]
    options = (f"-I{datagrump}", f"-I{KIT / 'src'}", "-std=c++11", "-pedantic-errors")
    built = build_entry(source, tmp_path, *parts, *options)
    entry = scenario_of(link, built, host_model="ideal")
    flow = {"controller": "rule", "parameters": {**parse(text).parameters, "initial_window": 7}}
    of_entry, of_rule = run_batch([entry, {**entry, "flows": [flow]}])
    paces = "pace" in text
    assert ("pace has no effect" in answer["entry"]) == paces
    assert of_entry["status"] == "ok" and (of_entry == of_rule) != paces
