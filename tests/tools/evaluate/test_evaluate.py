"""`kneepoint evaluate`: its answers to candidates of every kind, and its errors."""

import io
import json
import queue
import re
import shutil
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import Json
from kneepoint.entries.build import Compiler
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from kneepoint.entries.tree import KIT
from kneepoint.tools.evaluate import Evaluator
from tests.conftest import ROOT
from tests.entries.trees import PYTHON_CLASS
from tests.experiments.wire import prepare_named, write
from tests.kneepoint.conftest import NETWORK, answer, ask, refused

CLASS = """
#include "algorithms/registry.hh"
namespace kneepoint {
class Mine final : public Controller {
 public:
  explicit Mine(Parameters& parameters)
      : Controller(parameters, 1000),
        window_(parameters.integer("window", 12, {.low = 1, .high = 50, .min = 1}, "packets",
                                  "the window")) {}
  double window() const override { return WINDOW; }
  GAP
  void on_ack(const Ack& ack) override { ACK; }
 private:
  double window_;
};
const Registration<Mine> registration{"mine", "keeps a window", "a test"};
}
"""


def source(window: str = "window_", gap: str = "", ack: str = "") -> str:
    return CLASS.replace("WINDOW", window).replace("GAP", gap).replace("ACK", ack)


@pytest.fixture(scope="module", autouse=True)
def _split(workspace: Path) -> None:
    """A configuration that tunes on the network wire, and holds out a secret network."""
    study = {
        **{"title": "Tuned", "controller": "fixed_window", "networks": ["wire"]},
        **{"space": {"window": {"low": 1, "high": 50}}, "sampler": {"kind": "tpe", "trials": 5}},
    }
    held = {"training": "wire", "networks": ["secret"]}
    write(workspace / "config/studies/tuned.yaml", study)
    write(
        workspace / "config/config.yaml",
        {"seed": 1, "results": "results", "studies": ["tuned"], "hold_out": held},
    )
    link = {"constant_mbps": 2}
    write(
        workspace / "config/networks/secret.yaml",
        {**NETWORK, "title": "Hidden", "uplink": link, "downlink": link},
    )
    prepare_named(workspace, "secret", workspace / ".kneepoint/networks/secret")


@pytest.fixture(scope="module")
def evaluator(workspace: Path) -> Iterator[Evaluator]:
    with chdir(workspace), Evaluator(split="train") as made:
        yield made


def one(evaluator: Evaluator, **candidate: Any) -> Json:
    (found,) = evaluator.evaluate([{"id": "c", "seeds": [1, 2], **candidate}])
    assert found["id"] == "c"
    return found


def test_a_shipped_controller_has_the_figures_of_its_runs(
    evaluator: Evaluator, workspace: Path
) -> None:
    setting = {"controller": "fixed_window", "parameters": {"window": 20}}
    found = one(evaluator, **setting, metrics=["2 * power"])
    words = ("run", "fixed_window", "--set", "window=20", "--network", "wire", "--seed")
    powers = [answer(workspace, *words, str(seed))["power"] for seed in (1, 2)]
    assert found["status"] == "ok"
    assert found["score"] == pytest.approx((powers[0] * powers[1]) ** 0.5)
    figure = found["networks"]["wire"]["2 * power"]
    assert figure["mean"] == pytest.approx(sum(powers))
    half = 12.706 * abs(powers[0] - powers[1])  # t of one degree of freedom
    assert figure["high"] - figure["mean"] == pytest.approx(half, rel=1e-3)
    assert one(evaluator, **setting, seeds=[1], score="10 * power")["score"] == 10 * powers[0]


def test_a_class_is_its_controller_in_a_process_of_its_own(evaluator: Evaluator) -> None:
    shipped = one(evaluator, controller="fixed_window", parameters={"window": 20})["score"]
    mine = source()
    assert one(evaluator, source=mine, parameters={"window": 20})["score"] == pytest.approx(
        shipped, rel=0.02
    )
    assert one(evaluator, source=PYTHON_CLASS, language="python")["score"] == pytest.approx(
        one(evaluator, source=mine)["score"], rel=0.02
    )
    paced = source(gap="double pacing_us() const override { return 20000; }")
    rate = one(evaluator, source=paced)["networks"]["wire"]["throughput_mbps"]["mean"]
    assert rate == pytest.approx(1504 * 8 / 20000, rel=0.1)


@pytest.mark.slow
def test_classes_build_with_another_compiler(tmp_path: Path) -> None:
    if shutil.which("clang++") is None:
        pytest.skip("NOT TESTED with clang++: it is not installed")
    compiler = Compiler(tmp_path, Confined(ROOT / "build/confine"), "clang++")
    for text in (source(), source("window_ + 1")):
        made = EntryBuilder(compiler).make_class("mine", text, "c++", {})
        assert made.built, made.reason + made.message


def test_a_rule_is_the_controller_that_it_describes(evaluator: Evaluator, workspace: Path) -> None:
    shipped = one(evaluator, controller="fixed_window", parameters={"window": 20}, seeds=[1])
    rule = {"rule": "window = 20; keepalive = 1000", "parameters": {"initial_window": 20}}
    assert one(evaluator, **rule, seeds=[1]) == shipped
    words = ("--set", "rule=window = 20", "--set", "initial_window=20", "--network", "wire")
    assert answer(workspace, "run", "rule", *words)["power"] == pytest.approx(shipped["score"])
    assert "--set rule=w = x: x is neither" in refused(
        workspace, "run", "rule", "--set", "rule=w = x", "--network", "wire"
    )


@pytest.mark.slow
def test_an_entry_takes_its_declared_parameters(evaluator: Evaluator, workspace: Path) -> None:
    shutil.copytree(KIT, workspace / "kit")
    (workspace / "kit/kneepoint.yaml").write_text(
        "parameters:\n  window: {macro: WINDOW, default: 50, range: [1, 50], integer: true}\n"
    )
    text = (workspace / "kit/datagrump/controller.cc").read_text()
    (workspace / "kit/datagrump/controller.cc").write_text(
        text.replace("#define WINDOW 50", "#ifndef WINDOW\n#define WINDOW 50\n#endif")
    )
    shipped = one(evaluator, controller="fixed_window", parameters={"window": 20})["score"]
    found = one(evaluator, entry="kit", parameters={"window": 20})
    assert found["score"] == pytest.approx(shipped, rel=0.02)
    assert "window = 90" in one(evaluator, entry="kit", parameters={"window": 90})["reason"]
    assert "'windo'" in one(evaluator, entry="kit", parameters={"windo": 9})["reason"]


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("{no JSON", "refused", ["line 2:", "not a JSON object", "column 2"]),
        ("[" * 100_000, "refused", ["not a JSON object", "nested too deeply"]),
        ("[1]", "refused", ["line 2:", "not a JSON object"]),
        ({}, "refused", ["controller, rule, source and entry"]),
        ({"controler": "reno"}, "refused", ["controler", "controller"]),
        ({"controller": "ren"}, "refused", ["'ren'", "reno"]),
        ({"controller": "../x.so"}, "refused", ["../x.so"]),
        ({"controller": "reno", "seeds": [1, 1]}, "refused", ["seeds", "twice"]),
        ({"controller": "reno", "seeds": ["x"]}, "refused", ["seeds.0: 'x'", "whole number"]),
        ({"controller": "reno", "seeds": []}, "refused", ["seeds"]),
        ({"controller": "reno", "score": "powr"}, "refused", ["score", "'powr'"]),
        ({"controller": "reno", "metrics": ["1 +"]}, "refused", ["metrics"]),
        ({"controller": "reno", "score": "1 / (power - power)"}, "failed", ["no score"]),
        ({"controller": "reno", "parameters": {"nix": 1}}, "refused", ["nix"]),
        ({"controller": "abc"}, "refused", ["marks"]),
        ({"rule": "w = w + x"}, "refused", ["rule", "x is neither"]),
        ({"rule": "w = 1" + "+1" * 2**20}, "refused", ["rule", "characters"]),
        ({"rule": "w = w * ((rtt - rtt) / (rtt - rtt))"}, "failed", ["window"]),
        ({"entry": "nowhere"}, "refused", ["nowhere"]),
        ({"source": "1" + "+1" * 2**20}, "refused", ["source"]),
        ({"source": "\ud800"}, "refused", ["source"]),
        ({"source": ""}, "failed", ["Registration"]),
        ({"source": source("nothing")}, "failed", ["candidate.cc:10", "nothing"]),
        ({"source": '#include "/etc/passwd"\n'}, "failed", ["does not build"]),
        ({"source": source(ack="while (true) { }")}, "failed", ["CPU time"]),
        ({"source": source(ack="__builtin_trap()")}, "failed", ["SIGILL"]),
        ({"source": source("0.0 / 0.0")}, "failed", ["window"]),
        ({"source": source(), "parameters": {"window": 0}}, "failed", ["window = 0", "[1, inf]"]),
        ({"source": source(), "parameters": {"window": 1.5}}, "failed", ["1.5", "whole"]),
        ({"source": source(), "parameters": {"w": 1}}, "failed", ["no parameter w"]),
        ({"source": "class A: pass", "language": "python"}, "failed", ["no sender"]),
        (
            {"source": PYTHON_CLASS.replace("pass", "open('/etc/passwd')"), "language": "python"},
            "failed",
            ["FileNotFoundError"],
        ),
    ],
)
def test_what_is_wrong_with_a_candidate_is_its_answer(
    evaluator: Evaluator, line: Any, status: str, words: list[str]
) -> None:
    good = {"id": 2, "controller": "fixed_window", "seeds": [1]}
    bad, after = evaluator.evaluate(["\n", line, json.dumps(good)])
    assert (bad["status"], bad["score"], bad["networks"]) == (status, None, {})
    assert all(word in bad["reason"] for word in words), bad["reason"]
    assert "\n" not in bad["reason"]
    assert ("return nothing;" in bad.get("message", "")) == ("nothing" in words)
    assert (after["id"], after["status"]) == (2, "ok")


def test_answers_come_in_order_and_before_the_next_candidate(evaluator: Evaluator) -> None:
    lines: queue.Queue[Json | None] = queue.Queue()
    answers = evaluator.evaluate(iter(lines.get, None))
    for number in range(3):
        lines.put({"id": number, "controller": "fixed_window"})
        assert next(answers)["id"] == number
    lines.put(None)
    assert list(answers) == []
    slow, fast = (
        {"id": at, "controller": "reno", "seeds": [*range(runs)]} for at, runs in ((1, 30), (2, 1))
    )
    assert [each["id"] for each in evaluator.evaluate([slow, fast])] == [1, 2]


def test_training_tells_nothing_of_what_is_held_out(workspace: Path) -> None:
    lines: list[Json] = [
        {"networks": ["secret"]},
        {"networks": ["secre"]},
        {"networks": ["none"]},
        {},
    ]
    with chdir(workspace), Evaluator(split="train") as made:
        found = list(made.evaluate({"controller": "reno", **each} for each in lines))
    assert [each["status"] for each in found] == ["refused"] * 3 + ["ok"]
    assert list(found[3]["networks"]) == ["wire"]
    told = [each["reason"].replace("network 'secret'", "").replace("'secre'", "") for each in found]
    assert "secret" not in json.dumps(told) and "Hidden" not in json.dumps(told)


def test_the_test_needs_its_key_and_writes_down_each_candidate(workspace: Path) -> None:
    log = workspace / "results/evaluations/test.jsonl"
    for name, text in (("key", "k" * 32), ("other", "o" * 32), ("short", "s")):
        (workspace / name).write_text(text)
    with chdir(workspace):
        with Evaluator(split="test", key="key") as made:
            candidates: list[Json] = [
                {"controller": "reno"},
                {"controller": "reno", "networks": ["wire"]},
            ]
            first, second = made.evaluate(candidates)
        assert list(first["networks"]) == ["secret"]
        assert second["status"] == "refused"
        noted = [json.loads(line) for line in log.read_text().splitlines()]
        assert [sorted(each) for each in noted] == [
            ["at", "key_sha256"],
            ["at", "candidate_sha256"],
        ]
        for key, words in (
            (None, "--test"),
            ("missing", "missing: No such file"),
            ("short", "short: .*16 bytes"),
            ("other", "other: .*test.jsonl"),
        ):
            with pytest.raises(KneepointError, match=words):
                Evaluator(split="test", key=key)
    assert len(log.read_text().splitlines()) == 2


def test_the_command_refuses_what_it_cannot_serve(workspace: Path) -> None:
    assert "--train --test" in refused(workspace, "evaluate", "--train", "--test", "key")
    write(workspace / "config/bare.yaml", {"seed": 1, "studies": ["tuned"]})
    bare = ("evaluate", "--train", "--config", "config/bare.yaml")
    assert "config/bare.yaml: has no hold_out" in refused(workspace, *bare)


@pytest.mark.parametrize(
    ("lines", "status"),
    [("", 0), ('{"rule": "w = w * ((rtt - rtt) / (rtt - rtt))"}', 0), ("{no JSON", 1)],
)
def test_the_exit_status_tells_that_a_line_was_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, lines: str, status: int
) -> None:
    good = '{"controller": "fixed_window", "seeds": [1]}'
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{lines}\n{good}\n"))
    result = ask(workspace, "evaluate")
    assert result.returncode == status
    assert json.loads(result.stdout.splitlines()[-1])["status"] == "ok"


def test_the_page_s_search_improves_on_where_it_begins(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/how-to/search-for-a-controller.md").read_text()
    (text,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert text.count("\n") <= 100
    search: dict[str, Any] = {"__name__": "search"}
    exec(text, search)
    monkeypatch.chdir(workspace)
    assert search["main"](2, 3) > 0
    scores = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert len(scores) == 2 and scores[0] <= scores[1]
