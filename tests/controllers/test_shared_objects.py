"""Controllers as shared objects: invalid, crashing or hanging objects, and objects by path."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.catalogue import Catalogue
from tests.conftest import ROOT
from tests.controllers.emulator import EMULATE, Link

BUILT = ROOT / "build/controllers"
COMPILER = os.environ.get("CXX", "c++").split()

# A whole controller in C; the braces are filled in.
IN_C = """
#include "algorithms/interface.h"
{before}
static const struct kneepoint_parameter window = {{"window", "packets", "in flight",
    5, {low}, 100, 1, 1000, 1, 0}};
static const struct kneepoint_parameter* const parameters[] = {{&window}};
static const struct kneepoint_declaration declared = {{"{name}", "in C", "a test",
    1, parameters{needs}}};
static double cwnd;
static const struct kneepoint_declaration* declare(void) {{ {declare} return &declared; }}
static void* create(const double* values, size_t count) {{
  cwnd = count == 1 ? values[0] : 0;
  return &cwnd;
}}
static void destroy(void* controller) {{ (void)controller; }}
static double get_window(const void* controller) {{
  {when_asked} return {window} + 0 * *(const double*)controller;
}}
static double get_keepalive_ms(const void* controller) {{
  (void)controller;
  return {keepalive_ms};
}}
static int failed;
static const struct kneepoint_failure failure = {{KNEEPOINT_FAILED, "no\\nidea"}};
static const struct kneepoint_failure* get_failure(void) {{ return failed ? &failure : 0; }}
static int on_ack(void* controller, const struct kneepoint_ack* event) {{
  (void)controller;
  failed = event->rtt_us < 0 || {fails};
  return failed;
}}
static double get_pacing_us(const void* controller) {{ (void)controller; return {gap_us}; }}
static const struct kneepoint_interface interface = {{{version}, declare, create,
    destroy, get_window, get_keepalive_ms, get_failure, 0, on_ack, 0, 0, get_pacing_us}};
const struct kneepoint_interface* {symbol}(void) {{ return &interface; }}
"""
PLAIN = {
    "before": "",
    "low": "1",
    "declare": "",
    "fails": "0",
    "needs": "",
    "window": "cwnd",
    "when_asked": "",
    "keepalive_ms": "1000",
    "gap_us": "0",
    "version": "KNEEPOINT_INTERFACE_VERSION",
    "symbol": "kneepoint_controller",
}
HANG = "for (volatile int forever = 1; forever;) {}"
CRASH = "__builtin_trap();"


def compile_shared(source: Path, *options: str) -> Path:
    shared = source.with_suffix(".so")
    command = [*COMPILER, "-shared", "-fPIC", "-I", str(ROOT / "controllers"), *options]
    subprocess.run([*command, "-o", shared, source], check=True)
    return shared


def in_c(folder: Path, name: str, **changes: str) -> Path:
    source = folder / f"{name}.c"
    source.write_text(IN_C.format(**{**PLAIN, "name": name, **changes}))
    return compile_shared(source, "-x", "c")


def run(link: Link, controller: str | Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command: list[str | Path] = [EMULATE, "--controller", controller, "--uplink", link.uplink]
    return subprocess.run(
        [*command, "--downlink", link.downlink, *options], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Shared objects that are not valid controllers, by name."""
    folder = tmp_path_factory.mktemp("broken")
    made = {
        "version": in_c(folder, "version", version="KNEEPOINT_INTERFACE_VERSION + 1"),
        "symbol": in_c(folder, "symbol", symbol="another"),
        "nonsense": in_c(folder, "nonsense", low="100"),
        "crashes": in_c(folder, "crashes", declare=CRASH),
        "crashes_early": in_c(
            folder,
            "crashes_early",
            before=f"__attribute__((constructor)) static void early(void) {{ {CRASH} }}",
        ),
        "hangs": in_c(folder, "hangs", declare=HANG),
        "needs_more": in_c(folder, "needs_more", needs=", 64"),
        "exits": in_c(folder, "exits", before="#include <stdlib.h>", declare="exit(0);"),
        "text": folder / "text.so",
        "cut": folder / "cut.so",
        "other_name": folder / "other_name.so",
    }
    made["text"].write_text("a text\n")
    made["cut"].write_bytes((BUILT / "timely.so").read_bytes()[:5000])
    shutil.copy(BUILT / "timely.so", made["other_name"])
    return made


REASONS = {
    "version": "has version 3 of the interface, not 2; build it again",
    "symbol": "has no symbol kneepoint_controller; include algorithms/registry.hh",
    "nonsense": "declares the parameter window, but its low is not below its high",
    "needs_more": "has a need that this program does not know; build a newer program",
    "crashes": "when loaded, crashes (SIG",
    "crashes_early": "when loaded, crashes (SIG",
    "hangs": "when loaded, hangs",
    "exits": "when loaded, ends the program with status 0",
    "text": "is not a shared object for this program: ",
    "cut": "when loaded, crashes (SIG",
    "other_name": "declares the name timely; call the file timely.so, or register other_name",
}


@pytest.mark.parametrize("name", REASONS)
def test_what_is_no_controller_is_refused_in_one_line(
    small_link: Link, broken: dict[str, Path], name: str
) -> None:
    result = run(small_link, broken[name])
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(rf"error: controller {broken[name]}\b.*\n", result.stderr)
    assert REASONS[name] in result.stderr


@pytest.fixture(scope="module")
def listed(
    broken: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """The listing of an emulator with good and broken controllers beside it."""
    folder = tmp_path_factory.mktemp("build")
    shutil.copy(EMULATE, folder)
    shutil.copytree(BUILT, folder / "controllers")
    for path in broken.values():
        shutil.copy(path, folder / "controllers")
    answer = subprocess.run([folder / "emulate", "--list"], check=False, capture_output=True)
    assert answer.returncode == 0, answer.stderr
    yield json.loads(answer.stdout)


def test_broken_ones_disturb_no_other(listed: dict[str, Any]) -> None:
    sound = json.loads(subprocess.run([EMULATE, "--list"], capture_output=True).stdout)
    assert listed["controllers"] == sound["controllers"]
    assert sound["broken"] == []
    reasons = {Path(each["path"]).stem: each["reason"] for each in listed["broken"]}
    assert set(reasons) == set(REASONS)
    assert all(REASONS[name] in reason for name, reason in reasons.items())


def test_broken_one_is_an_error_only_for_who_names_it(listed: dict[str, Any]) -> None:
    catalogue = Catalogue(listed)
    assert catalogue.controller("timely", "study.yaml").name == "timely"
    with pytest.raises(KneepointError, match=r"^study.yaml: controller \S*/hangs.so, when loaded"):
        catalogue.controller("hangs", "study.yaml")


def test_controller_in_c_runs_by_its_path_beside_one_of_the_same_name(
    small_link: Link, tmp_path: Path
) -> None:
    """Two shared objects of one name in one process share no state."""
    mine = in_c(tmp_path, "fixed_window")
    traces = f"--uplink {small_link.uplink} --downlink {small_link.downlink}"
    wanted = [f"{mine} --set window=7", "fixed_window --set window=7", str(mine)]
    lines = "".join(f"--controller {each} {traces}\n" for each in wanted)
    batch = subprocess.run([EMULATE, "--batch"], input=lines, capture_output=True, text=True)
    first, second, third = (json.loads(line) for line in batch.stdout.splitlines())
    assert first == second
    assert third["power"] != first["power"]


TCP = '"transport": "tcp"'
WITH_ECN = '"transport": "tcp", "tcp": {"ecn": true}'


@pytest.mark.parametrize(
    ("needs", "flow", "reason"),
    [
        ("KNEEPOINT_NEEDS_RECEIVER_CLOCK", "", None),
        ("KNEEPOINT_NEEDS_RECEIVER_CLOCK", TCP, "the receiver's clock in acknowledgments, which"),
        ("KNEEPOINT_NEEDS_TIMEOUTS", TCP, None),
        ("KNEEPOINT_NEEDS_TIMEOUTS", "", "retransmission timeouts, which transport datagrams does"),
        (
            "KNEEPOINT_NEEDS_MARKS",
            TCP,
            "marks of congestion (ECN), which transport tcp without ecn",
        ),
        ("KNEEPOINT_NEEDS_MARKS", WITH_ECN, None),
        ("KNEEPOINT_NEEDS_MARKS", f'{WITH_ECN}, "from": "far"', "marks, and queue infinite makes "),
        ("KNEEPOINT_NEEDS_COUNTED_MARKS", "", None),
        ("KNEEPOINT_NEEDS_COUNTED_MARKS", TCP, None),
    ],
)
def test_controller_on_a_transport_that_it_declares_unfit_is_refused(
    tmp_path: Path, needs: str, flow: str, reason: str | None
) -> None:
    mine = in_c(tmp_path, "needy", needs=f", {needs}")
    link = {"rate_mbps": 5, "delay_ms": 20}
    flows = [json.loads(f'{{"controller": "{mine}"{", " if flow else ""}{flow}}}')]
    file = tmp_path / "scenario.json"
    uplink = {**link, "queue": "codel:target=5,interval=100,ecn=1"}
    scenario = {"uplink": uplink, "downlink": link, "flows": flows, "duration_s": 1}
    file.write_text(json.dumps(scenario))
    result = subprocess.run([EMULATE, "--scenario", file], capture_output=True, text=True)
    if reason is None:
        assert json.loads(result.stdout)["status"] == "ok"
    else:
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("error: controller ") and "needy" in result.stderr
        assert reason in result.stderr and result.stderr.count("\n") == 1


def test_list_says_what_a_controller_needs_and_where_it_runs(tmp_path: Path) -> None:
    shutil.copy(EMULATE, tmp_path)
    folder = tmp_path / "controllers"
    folder.mkdir()
    kinds = {"any": "", "clock": ", 1", "marks": ", KNEEPOINT_NEEDS_MARKS", "counts": ", 8"}
    kinds["beats"] = ", KNEEPOINT_NEEDS_HEARTBEATS"
    for name, needs in kinds.items():
        in_c(folder, name, needs=needs)
    answer = subprocess.run([tmp_path / "emulate", "--list"], check=True, capture_output=True)
    said = {
        each["name"]: (each["needs"], each["transports"])
        for each in json.loads(answer.stdout)["controllers"]
    }
    assert said == {
        "any": ([], ["datagrams", "tcp"]),
        "clock": (["receiver_clock"], ["datagrams"]),
        "marks": (["marks"], ["tcp"]),
        "counts": (["counted_marks"], ["datagrams", "tcp"]),
        "beats": (["heartbeats"], ["datagrams"]),
    }
    catalogue = Catalogue(json.loads(answer.stdout))
    catalogue.controller("clock", "study.yaml").require("datagrams", "study.yaml")
    with pytest.raises(KneepointError, match=r"^study.yaml: controller marks .* runs on tcp only"):
        catalogue.controller("marks", "study.yaml").require("datagrams", "study.yaml")


def test_a_paced_controller_keeps_its_gap_to_the_microsecond(
    small_link: Link, tmp_path: Path
) -> None:
    mine = in_c(tmp_path, "paced", gap_us="2500.5")
    log = tmp_path / "flow.log"
    options = ["--host-model", "ideal", "--flow-log", str(log), "--set", "window=100"]
    assert run(small_link, mine, *options).returncode == 0
    words = [line.split() for line in log.read_text().splitlines() if not line.startswith("#")]
    sent_us = [int(word[0]) for word in words if word[2] == "sent"]
    assert len(sent_us) >= 100
    assert sent_us[:100] == [-(-5001 * i // 2) for i in range(100)]


def test_failure_of_a_controller_is_its_own_in_its_words(small_link: Link, tmp_path: Path) -> None:
    result = run(small_link, in_c(tmp_path, "fails", fails="event->ack_received_ms > 500"))
    assert result.returncode == 3
    reason = "the controller failed: no?idea"
    assert json.loads(result.stdout) == {"status": "failed", "reason": reason}


@pytest.mark.parametrize("transport", ["datagrams", "tcp"])
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"window": "0.0 / 0"}, "the window became nan packets; it must stay in"),
        ({"window": "-1e-9"}, "the window became -1e-09 packets"),
        ({"window": "1.0 / 0"}, "the window became inf packets"),
        ({"keepalive_ms": "0.0 / 0"}, "the keepalive became nan ms; it must be at least 1"),
        ({"keepalive_ms": "-5"}, "the keepalive became -5 ms"),
        ({"gap_us": "0.0 / 0"}, "the pacing became nan us; it must stay in"),
        ({"gap_us": "-1"}, "the pacing became -1 us"),
        ({"gap_us": "1e300"}, "the pacing became 1e+300 us"),
    ],
)
def test_nonsense_is_the_controllers_failure_in_one_line(
    small_link: Link, tmp_path: Path, changes: dict[str, str], reason: str, transport: str
) -> None:
    if transport == "tcp" and "keepalive_ms" in changes:
        pytest.skip("TCP has timeouts in place of keepalives")
    flow = {"controller": str(in_c(tmp_path, "nonsense", **changes)), "transport": transport}
    links = {"uplink": {"trace": str(small_link.uplink)}, "downlink": {"rate_mbps": 10}}
    request = json.dumps({"scenario": {**links, "flows": [flow]}})
    answer = subprocess.run([EMULATE, "--batch"], input=request, capture_output=True, text=True)
    (line,) = map(json.loads, answer.stdout.splitlines())
    assert line["status"] == "failed"
    assert line["reason"].startswith(reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"when_asked": HANG},
        {"gap_us": "gap()", "before": f"static double gap(void) {{ {HANG} return 0; }}"},
    ],
)
def test_a_call_that_never_returns_ends_the_run_with_its_reason(
    small_link: Link, tmp_path: Path, changes: dict[str, str]
) -> None:
    """After 30 s of CPU time."""
    result = run(small_link, in_c(tmp_path, "endless", **changes))
    assert result.returncode == 3
    assert json.loads(result.stdout)["status"] == "failed"
    assert json.loads(result.stdout)["reason"].startswith("hangs: ")


def test_a_window_below_a_packet_is_a_segment_each_rtt_over_cwnd_on_tcp(
    tmp_path: Path,
) -> None:
    """A quarter of a packet in 101.3 ms is one packet in 405 ms: Swift, Kumar et al. 2020,
    algorithm 1."""
    quarter = str(in_c(tmp_path, "quarter", window="0.25"))
    flow = {"controller": quarter, "transport": "tcp", "tcp": {"delayed_ack_ms": 0}}
    link = {"rate_mbps": 10, "delay_ms": 50}
    scenario = {"uplink": link, "downlink": link, "flows": [flow], "duration_s": 60}
    request = json.dumps({"scenario": scenario, "flows": True})
    answer = subprocess.run([EMULATE, "--batch"], input=request, capture_output=True, text=True)
    (figures,) = json.loads(answer.stdout)["flows"]
    assert figures["rtt_mean_ms"] == pytest.approx(101.3, abs=0.2)
    assert figures["packets_received"] == pytest.approx(60 / 0.4052, rel=0.02)


def test_what_a_class_throws_is_its_failure(small_link: Link, tmp_path: Path) -> None:
    source = tmp_path / "throws.cc"
    source.write_text(
        """#include <stdexcept>
        #include "algorithms/registry.hh"
        struct Throws final : kneepoint::Controller {
          explicit Throws(kneepoint::Parameters& parameters) : Controller(parameters, 1000) {}
          double window() const override {
            if (acknowledged) throw std::runtime_error("enough");
            return 3;
          }
          void on_ack(const kneepoint::Ack&) override { acknowledged = true; }
          bool acknowledged = false;
        };
        const kneepoint::Registration<Throws> registration{"throws", "", ""};
        """
    )
    result = run(small_link, compile_shared(source, "-std=c++20"))
    assert result.returncode == 3
    reason = "the controller failed: enough"
    assert json.loads(result.stdout) == {"status": "failed", "reason": reason}


@pytest.mark.parametrize("program", ["emulate", "sender"])
def test_controller_of_another_digest_is_refused(small_link: Link, program: str) -> None:
    options = ["--controller", "timely", "--controller-sha256", "0" * 64]
    traces = ["--uplink", str(small_link.uplink), "--downlink", str(small_link.downlink)]
    words = traces if program == "emulate" else ["localhost", "9"]
    if program == "sender":
        options = [*words, *options]
    else:
        options += words
    result = subprocess.run([EMULATE.with_name(program), *options], capture_output=True, text=True)
    digest = hashlib.sha256((BUILT / "timely.so").read_bytes()).hexdigest()
    assert (result.returncode, result.stdout) == (2, "")
    assert f"timely.so has SHA-256 {digest}, not {'0' * 64}" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "name", "setting"),
    [
        ("how-to/add-a-controller.md", "half_window", "limit_ms=120"),
        ("tutorial.md", "small_queue", "queue=20"),
    ],
)
def test_a_pages_controller_is_formatted_builds_and_runs(
    small_link: Link, tmp_path: Path, page: str, name: str, setting: str
) -> None:
    block = re.search(r"```cpp\n(.*?)```", (ROOT / f"docs/{page}").read_text(), re.DOTALL)
    assert block
    source = tmp_path / f"{name}.cc"
    source.write_text(block[1])
    shutil.copy(ROOT / "controllers/.clang-format", tmp_path)
    subprocess.run(["clang-format", "--dry-run", "--Werror", source], check=True)
    warnings = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror".split()
    shared = compile_shared(source, "-std=c++20", "-O2", *warnings)
    result = run(small_link, shared, "--set", setting)
    assert json.loads(result.stdout)["status"] == "ok", result.stderr


@pytest.mark.slow
def test_its_bytes_are_those_of_its_code_in_any_folder(tmp_path: Path) -> None:
    """A comment or the folder of the build changes no byte; the value of a parameter does."""

    def digest_in(folder: Path, old: str, new: str) -> str:
        shutil.copytree(ROOT / "controllers", folder / "controllers")
        source = folder / "controllers/algorithms/timely.cc"
        source.write_text(source.read_text().replace(old, new, 1))
        build = folder / "build"
        options = "-G Ninja -DCMAKE_BUILD_TYPE=Release -DKNEEPOINT_PRECOMPILE=OFF".split()
        for command in (
            ["cmake", "-S", str(folder / "controllers"), "-B", str(build), *options],
            ["ninja", "-C", str(build), "controller_timely"],
        ):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return hashlib.sha256((build / "controllers/timely.so").read_bytes()).hexdigest()

    plain = digest_in(tmp_path / "a", "#include", "#include")
    assert digest_in(tmp_path / "b/c", "#include", "// A comment.\n#include") == plain
    assert digest_in(tmp_path / "d", '"beta", 0.3,', '"beta", 0.4,') != plain
