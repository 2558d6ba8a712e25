"""The command's output, plots and errors, with the real emulator."""

import json
import os
import re
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from kneepoint.cli import commands, trace
from kneepoint.cli.runs import is_prepared
from kneepoint.common.files import hold_lock
from kneepoint.reports import over_time
from kneepoint.runs.progress import Progress
from tests.conftest import ROOT
from tests.experiments.wire import prepare_named, write
from tests.kneepoint.conftest import NETWORK, answer, ask, refused

RUN = ("run", "fixed_window", "--network", "wire", "--set", "window=12")


def test_run_prints_its_figures(workspace: Path) -> None:
    result = ask(workspace, *RUN)
    assert (result.returncode, result.stderr) == (0, "")
    found = answer(workspace, *RUN)
    assert found["status"] == "ok"
    assert found["parameters"] == {"keepalive_ms": 1000, "window": 12}
    assert f"{found['throughput_mbps']:.3f} Mbit/s" in result.stdout
    assert f"{found['packets_sent']} sent" in result.stdout


@pytest.mark.parametrize("command", ["list", "compare"])
def test_without_its_packages_it_says_what_to_do(command: str) -> None:
    words = [sys.executable, "-S", "-m", "kneepoint", command]  # -S: without site-packages
    result = subprocess.run(words, capture_output=True, check=False, text=True)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ") and sys.executable in line and "make setup" in line


@pytest.mark.parametrize(
    "link",
    [{"constant_mbps": 6}, {"rate_mbps": 6, "loss_probability": 0.01}, {"rate_mbps": 6}],
)
def test_emulator_on_a_prepared_network_gives_the_same_figures(
    workspace: Path, link: dict[str, float]
) -> None:
    network = {**NETWORK, "uplink": link, "host_latency_us": 700, "duration_s": 1.5}
    network |= {"uplink_queue": "droptail:packets=20", "host_model": "event-loop:packet_us=9"}
    write(workspace / "config/networks/odd.yaml", network)
    prepare_named(workspace, "odd", workspace / ".kneepoint/networks/odd")
    found = answer(workspace, *RUN[:2], "--network", "odd", "--set", "window=40", "--seed", "3")
    words = ["--controller", "fixed_window", "--set", "window=40", "--seed", "3", "--network"]
    for name in ("odd", str(workspace / ".kneepoint/networks/odd/network.json")):
        emulated = subprocess.run(
            [ROOT / "build/emulate", *words, name],
            cwd=workspace if name == "odd" else "/",  # traces lie beside the file
            capture_output=True,
            check=True,
        )
        result = json.loads(emulated.stdout)
        assert result == {key: found[key] for key in result}
        assert result["packets_dropped"] > 0
    (workspace / "config/networks/odd.yaml").unlink()


def test_run_is_on_the_network_of_its_own_configuration(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both configurations have a network of this name; the other's network is prepared."""
    write(workspace / "mine/config.yaml", {"seed": 1})
    write(workspace / "mine/networks/wire.yaml", {**NETWORK, "uplink": {"constant_mbps": 2}})
    os.utime(workspace / "mine/networks/wire.yaml", (0, 0))
    monkeypatch.chdir(workspace)
    assert is_prepared(Path("config/config.yaml"), "wire")
    assert not is_prepared(Path("mine/config.yaml"), "wire")


def test_run_takes_a_shared_object_by_its_path(workspace: Path) -> None:
    by_path = ("run", str(ROOT / "build/controllers/fixed_window.so"), *RUN[2:])
    paths, names = answer(workspace, *by_path), answer(workspace, *RUN)
    metrics = ("throughput_mbps", "signal_delay_p95_ms", "packets_sent")
    assert [paths[name] for name in metrics] == [names[name] for name in metrics]


def test_run_is_drawn(workspace: Path, tmp_path: Path) -> None:
    path = tmp_path / "figures/run.png"
    assert ask(workspace, *RUN, "--plot", str(path)).returncode == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_plot_has_rate_delay_window_and_rtt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    link, flow = tmp_path / "uplink.log", tmp_path / "flow.log"
    link.write_text(
        "# base timestamp: 0\n0 + 1504\n5 + 1504\n1000 # 1504\n1000 - 1504 1000\n2000 # 1504\n"
    )
    flow.write_text(
        "# kneepoint flow log, version 1: ...\n1000000 0 ack 0 50 4\n1500000 0 ack 1 90 2\n"
    )
    over_time.draw(link, flow, "a run", tmp_path / "run.png")
    over_time.draw(link, None, "a real run", tmp_path / "run.png")
    with_flow, without = drawn
    labels = [axes.get_ylabel() for axes in with_flow.axes]
    assert labels == ["Rate (Mbit/s)", "Delay (ms)", "Window (packets)", "RTT (ms)"]
    assert [axes.get_ylabel() for axes in without.axes] == labels[:2]
    _, _, window, rtt = with_flow.axes
    assert np.asarray(window.lines[0].get_xydata()).tolist() == [[1, 4], [1.5, 2]]
    assert window.get_legend_handles_labels()[1] == [
        "in the uplink's queue",
        "window, mean 3.0 packets",
    ]
    assert np.asarray(rtt.lines[0].get_xydata()).tolist() == [[1, 50], [1.5, 90]]


def test_run_that_fails_says_why(workspace: Path) -> None:
    result = ask(workspace, *RUN, "--duration-s", "0.01")
    assert result.returncode == 1
    assert "\nfailed: " in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "fixed_windw", "--network", "wire"), "did you mean 'fixed_window'?"),
        ((*RUN, "--set", "widow=3"), "has no parameter 'widow'; did you mean 'window'?"),
        ((*RUN, "--set", "window"), "--set window: not NAME=VALUE"),
        ((*RUN, "--set", "window=0"), "window = 0 is outside [1, inf]"),
        ((*RUN[:2], "--network", "wires"), "unknown network 'wires'; did you mean 'wire'?"),
        ((*RUN, "--plot", "run.gif"), "run.gif: unknown figure format; use"),
        (
            (*RUN, "--plot", "config/config.yaml/a.svg"),
            "config.yaml/a.svg: the folder config/config.yaml cannot be created",
        ),
        (
            ("compare", "a", "b", "--plot", "/proc/x/a.svg"),
            "--plot /proc/x/a.svg: the folder /proc/x cannot be created",
        ),
        (
            ("plot", "plane", "--out", "/proc/x/a.svg"),
            "--out /proc/x/a.svg: the folder /proc/x cannot be created",
        ),
        ((*RUN, "--seed", "x"), "'--seed': 'x' is not a whole number"),
        ((*RUN, "--duration-s", "x"), "'--duration-s': 'x' is not a number"),
        (("report", "--cores", "-1"), "--cores -1: not a number of cores; give all"),
        (("study", "windows", "--cores", "two"), "--cores two: not a number of cores"),
        (("runs",), "'runs'"),
        (("run",), "CONTROLLER"),
        (("run", "timely", "--sed", "3"), "'--seed'"),
        (("list", "--config", "config"), "--config config: is a folder; name the file in it"),
        (("list", "--config", "lab/config.yaml"), "no folder lab; known: config/config.yaml"),
        (("run", "./mine.so", "--network", "wire"), "mine.so: No such file or directory"),
        (("run", "./mine.so", "--engine", "mahimahi"), "real runs accept no path"),
        (("study", "window"), "lists no study 'window'; did you mean 'windows'?"),
    ],
)
def test_mistake_is_one_line(workspace: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refused(workspace, *words)


@pytest.mark.parametrize("words", [("run", "timely"), ("list",), ("plot",), ("status",)])
def test_missing_configuration_is_named(workspace: Path, words: tuple[str, ...]) -> None:
    error = refused(workspace, *words, "--config", "config/confg.yaml")
    assert "config/confg.yaml" in error and "config/config.yaml'" in error


def test_list_knows_what_there_is(workspace: Path) -> None:
    found = answer(workspace, "list")
    assert {"name": "wire", "title": NETWORK["title"]} in found["networks"]
    assert [each["name"] for each in found["experiments"]] == ["windows"]
    (fixed,) = [each for each in found["controllers"] if each["name"] == "fixed_window"]
    assert [each["name"] for each in fixed["parameters"]] == ["keepalive_ms", "window"]
    result = ask(workspace, "list", "networks").stdout
    first, *shipped = result.removeprefix("networks\n\n").splitlines()
    assert first.split(maxsplit=1) == ["wire", NETWORK["title"]]
    assert "contest" in [line.split()[0] for line in shipped]


def test_status_follows_an_experiment(workspace: Path) -> None:
    folder = workspace / "results/windows"
    (waiting,) = answer(workspace, "status")
    assert (waiting["name"], waiting["state"]) == ("windows", "waiting")
    with hold_lock(folder / ".lock"):
        with chdir(workspace):
            progress = Progress("windows", 30)
            progress.add(6)
        (running,) = answer(workspace, "status")
        assert (running["state"], running["runs"], running["total"]) == ("running", 6, 30)
        assert running["rate"] is None  # all six were in the journal
        assert "6 of 30" in ask(workspace, "status").stdout
        with chdir(workspace):
            progress.end("30 runs")
    (folder / "made_by.json").write_text("{}")
    assert ask(workspace, "status").stdout == "1 done, 0 running, 0 waiting\n"
    (folder / "made_by.json").unlink()


def test_doctor_finds_what_is_missing(workspace: Path) -> None:
    found = {each["what"]: each for each in answer(workspace, "doctor")}
    assert found["C++ compiler"]["verdict"] == found["git"]["verdict"] == "good"
    assert found["configuration"]["found"] == "config/config.yaml: 1 studies"
    result = ask(workspace, "doctor", "--config", "config/none.yaml")
    assert result.returncode == 1
    assert re.search(r"!!  configuration +config/none.yaml: No such file", result.stdout)


@pytest.mark.parametrize(
    "name", [*commands(), *(f"trace {each}" for each in trace.command.commands)]
)
def test_help_has_examples(workspace: Path, name: str) -> None:
    result = ask(workspace, *name.split(), "--help")
    assert result.returncode == 0
    examples = [line for line in result.stdout.splitlines() if f"  kneepoint {name}" in line]
    assert len(examples) >= 2
    assert "--json" in result.stdout or name == "evaluate"  # evaluate prints only JSON


def test_every_command_is_listed(workspace: Path) -> None:
    result = ask(workspace, "--help")
    assert all(f"  {name} " in result.stdout for name in commands())
