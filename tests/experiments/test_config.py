"""Mistakes in the configuration: each names its file, its value and a remedy."""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from common.errors import KneepointError
from experiments.config import load_workflow
from experiments.models.study import Study
from experiments.published import PublishedTable, TableDescription, load_table
from experiments.workflow import Workflow
from networks.config import load_network, load_trace_catalogue
from tests.experiments.listing import CATALOGUE

CONFIG: dict[str, Any] = {"seed": 1, "studies": ["windows"], "repeats": ["again"]}
STUDY: dict[str, Any] = {
    "title": "Windows",
    "controller": "fixed_window",
    "networks": ["wire"],
    "table": "printed",
}
REPEAT: dict[str, Any] = {
    "title": "Again",
    "network": "wire",
    "repeats": 3,
    "settings": [{"controller": "fixed_window", "constants": {"window": 12}}],
}
NETWORK: dict[str, Any] = {
    "title": "Wire",
    "uplink": {"constant_mbps": 12},
    "downlink": {"constant_mbps": 12},
    "duration_s": 10,
}
TABLE: dict[str, Any] = {
    "source": "Report 9, Table 1",
    "controller": "fixed_window",
    "network": "wire",
    "columns": {
        "window": {"constant": "window", "unit": "packets"},
        "kbps": {"metric": "throughput_mbps", "unit": "kbit/s"},
        "power": {"metric": "power", "unit": "Mbit/s/s"},
    },
    "ignore": ["note"],
}
CSV = "window,kbps,power,note\n5,1050,9.63,\n,,12.5,no constants\n10,1930,,no power\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a configuration; each argument replaces keys of one file (None removes a key)."""

    def write_files(csv: str = CSV, **changes: dict[str, Any]) -> Path:
        files = {
            "config": ("config.yaml", CONFIG),
            "study": ("studies/windows.yaml", STUDY),
            "repeat": ("repeats/again.yaml", REPEAT),
            "network": ("networks/wire.yaml", NETWORK),
            "other_network": ("networks/radio.yaml", {}),
            "table": ("published/printed.yaml", TABLE),
        }
        for name, (path, content) in files.items():
            if not content and name not in changes:
                continue
            merged = {**content, **changes.get(name, {})}
            kept = {key: value for key, value in merged.items() if value is not None}
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(yaml.safe_dump(kept))
        (tmp_path / "published/printed.csv").write_text(csv)
        return tmp_path / "config.yaml"

    return write_files


def _check(config: Path) -> Workflow:
    workflow = load_workflow(config)
    workflow.check_against(CATALOGUE)
    return workflow


def test_a_sound_configuration_is_read_whole(write: Write) -> None:
    workflow = _check(write())
    rows = workflow.tables["printed"].rows
    assert [dict(row.constants) for row in rows] == [{"window": 5}, {}, {"window": 10}]
    assert dict(rows[0].metrics) == pytest.approx({"throughput_mbps": 1.05, "power": 9.63})
    assert rows[0].steps == pytest.approx({"throughput_mbps": 0.001, "power": 0.01})
    assert [row.number for row in workflow.tables["printed"].replayable] == [0, 2]
    assert list(workflow.networks) == ["wire"]


SPACE = {"table": None, "space": {"window": {"low": 1, "high": 100}}}
TUNED = {**SPACE, "sampler": {"kind": "ternary"}}
FIT = {
    "table": None,
    "host": {"host_latency_us": {"values": [0, 9]}},
    "objective": {"fit": "printed"},
}
RADIO = {"other_network": NETWORK}
SYNTHETIC: dict[str, Any] = {
    "uplink": {"synthetic": {"seed": 1, "duration_s": 2, "start_rate_mbps": 5, "max_rate_mbps": 9}}
}
HARD = {"title": "Hard", "tune": "windows", "worst_case": "windows"}


def worst_case(bounds: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Returns keys of a study that searches a synthetic trace within bounds."""
    return {
        "table": None,
        "space": {
            f"network.synthetic.{name}": {"low": low, "high": high}
            for name, (low, high) in bounds.items()
        },
        "objective": {"worst_case": {}},
        "sampler": {"kind": "random", "trials": 9},
    }


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": (
        {"study": {"contoller": "x"}},
        "windows.yaml: unknown key 'contoller'; did you mean 'controller'?",
    ),
    "missing key": ({"study": {"title": None}}, "title: is missing"),
    "unknown study": (
        {"config": {"studies": ["window"]}},
        "studies lists 'window', but",
    ),
    "study twice": ({"config": {"studies": ["windows", "windows"]}}, "'windows' appears twice"),
    "unknown network of a table": (
        {"table": {"network": "wirre"}},
        "published/printed.yaml: unknown network 'wirre'; did you mean 'wire'?",
    ),
    "unknown network of a table that no study names": (
        {"study": TUNED, "table": {"network": "wirre"}},
        "published/printed.yaml: unknown network 'wirre'; did you mean 'wire'?",
    ),
    "fit of a single value of the host": (
        {"study": {**FIT, "host": {"host_latency_us": {"values": [600]}}}},
        "windows.yaml: a fit compares values, and host_latency_us has a single one; give several",
    ),
    "fit of a single value of a parameter": (
        {"study": {**FIT, "space": {"keepalive_ms": {"values": [600]}}}},
        "keepalive_ms has a single one; give several, or set it in constants",
    ),
    "unknown network": (
        {"study": {"networks": ["air"]}},
        "studies/windows.yaml: unknown network 'air'",
    ),
    "unknown table": ({"study": {"table": "print"}}, "no such table; did you mean 'printed'?"),
    "unknown controller": (
        {"repeat": {"settings": [{"controller": "fixed_windw"}]}},
        "again.yaml: unknown controller 'fixed_windw'; did you mean 'fixed_window'?",
    ),
    "unknown constant": (
        {"study": {"constants": {"windwo": 3}}},
        "windows.yaml: controller fixed_window has no parameter 'windwo'; did you mean 'window'?",
    ),
    "constant out of range": (
        {"repeat": {"settings": [{"controller": "fixed_window", "constants": {"window": 0}}]}},
        "again.yaml: window = 0 is outside [1, inf]",
    ),
    "constant not whole": (
        {"study": {"constants": {"keepalive_ms": 1.5}}},
        "keepalive_ms = 1.5 must be a whole number",
    ),
    "space out of range": (
        {
            "study": {
                **SPACE,
                "space": {"window": {"low": 0, "high": 9}},
                "sampler": {"kind": "ternary"},
            }
        },
        "windows.yaml, space: window = 0 is outside",
    ),
    "queue's space out of range": (
        {
            "network": {"uplink_queue": "droptail:packets=9"},
            "study": {
                **SPACE,
                "space": {"network.queue.packets": {"low": 0, "high": 9}},
                "sampler": {"kind": "ternary"},
            },
        },
        "windows.yaml: space: network.queue.packets 0 on network wire: uplink_queue: "
        "'droptail:packets=0' is invalid: packets must be a whole number of at least 1",
    ),
    "bounds that hold no network": (
        {
            "network": SYNTHETIC,
            "study": worst_case({"start_rate_mbps": (1, 8), "max_rate_mbps": (4, 7)}),
        },
        "windows.yaml: space: network.synthetic.max_rate_mbps 4, "
        "network.synthetic.start_rate_mbps 8 on network wire: uplink.synthetic: max_rate_mbps 4 "
        "must be at least start_rate_mbps 8",
    ),
    "bounds below zero": (
        {"network": SYNTHETIC, "study": worst_case({"sigma_packets_per_s": (-1, 8)})},
        "uplink.synthetic.sigma_packets_per_s: -1.0 is invalid: it must be greater than or equal",
    ),
    "trace of a network that has none": (
        {"study": worst_case({"max_rate_mbps": (6, 8)})},
        "network.synthetic.max_rate_mbps 6 on network wire: its uplink is not synthetic",
    ),
    "fractional delay of a trace": (
        {
            "network": SYNTHETIC,
            "study": {
                **worst_case({}),
                "space": {"network.delay_ms": {"low": 0.5, "high": 9}},
            },
        },
        "space: network.delay_ms 0.5 on network wire: delay_ms: 0.5 must be whole",
    ),
    "step of the delay without a period": (
        {
            "network": SYNTHETIC,
            "study": {
                **worst_case({}),
                "space": {"network.delay_step_ms": {"low": 0, "high": 9}},
            },
        },
        "space: network.delay_step_ms 0 on network wire: delay_step_ms and delay_period_s belong "
        "together; give both or neither",
    ),
    "delay that changes in mahimahi": (
        {
            "study": {
                **SPACE,
                "engine": "mahimahi",
                "space": {
                    "network.delay_step_ms": {"values": [0, 9]},
                    "network.delay_period_s": {"values": [1]},
                },
                "sampler": {"kind": "grid"},
            }
        },
        "network.delay_period_s 1, network.delay_step_ms 9 on network wire: uplink.delay_step_ms: "
        "mahimahi cannot run it: its delay is constant",
    ),
    "network whose delay changes in mahimahi": (
        {
            "network": {"delay_step_ms": 9, "delay_period_s": 1},
            "study": {"engine": "mahimahi"},
        },
        "network wire: uplink.delay_step_ms: mahimahi cannot run it: its delay is constant",
    ),
    "worst case of a controller's constants": (
        {"study": {**SPACE, "objective": {"worst_case": {}}, "sampler": {"kind": "ternary"}}},
        "worst_case searches the network, but space has window; move that to constants",
    ),
    "worst case against an unknown controller": (
        {
            "network": SYNTHETIC,
            "study": {
                **worst_case({"max_rate_mbps": (6, 8)}),
                "objective": {"worst_case": {"against": {"controller": "vegas"}}},
            },
        },
        "windows.yaml: unknown controller 'vegas'",
    ),
    "hardening of no study": (
        {"config": {"hardening": {"hard": {**HARD, "worst_case": "none"}}}},
        "hardening: hard: worst_case names 'none', which is not among studies; known: windows",
    ),
    "hardening that tunes nothing": (
        {"config": {"hardening": {"hard": HARD}}},
        "hardening: hard: study windows does not tune a controller for power",
    ),
    "hardening without a worst case": (
        {
            "study": {**SPACE, "sampler": {"kind": "ternary"}},
            "config": {"hardening": {"hard": HARD}},
        },
        "hardening: hard: study windows does not search for a worst case",
    ),
    "unknown setting of a queue": (
        {
            "network": {"uplink_queue": "droptail:packets=9"},
            "study": {
                **SPACE,
                "space": {"network.queue.limit": {"low": 1, "high": 9}},
                "sampler": {"kind": "ternary"},
            },
        },
        "droptail has no parameter 'limit'; it has: packets, bytes",
    ),
    "space upside down": (
        {
            "study": {
                **SPACE,
                "space": {"window": {"low": 9, "high": 1}},
                "sampler": {"kind": "ternary"},
            }
        },
        "low 9 must be less than high 1",
    ),
    "held and searched": (
        {"study": {**SPACE, "sampler": {"kind": "ternary"}, "constants": {"window": 3}}},
        "window is both fixed (constants) and searched (space)",
    ),
    "grid without values": ({"study": SPACE}, "sampler grid needs values for window"),
    "cmaes with values": (
        {
            "study": {
                **SPACE,
                "space": {"window": {"values": [1, 2]}},
                "sampler": {"kind": "cmaes", "trials": 9},
            }
        },
        "sampler cmaes needs low and high for window, not values",
    ),
    "results that read as an option": (
        {"config": {"results": "-r"}},
        "results: '-r' is invalid: it must not begin with -",
    ),
    "results with a brace": (
        {"config": {"results": "r{x}"}},
        "or contain a brace, tab or line break",
    ),
    "results of nobody": (
        {"config": {"results": "~nobody-of-this-name/r"}},
        "no such user; give the full path",
    ),
    "tpe without an end": ({"study": {**SPACE, "sampler": {"kind": "tpe"}}}, "add trials"),
    "ternary with trials": (
        {"study": {**SPACE, "sampler": {"kind": "ternary", "trials": 9}}},
        "trials is 9, but sampler ternary stops on its own at the peak; remove trials",
    ),
    "table with trials": (
        {"study": {"sampler": {"kind": "grid", "trials": 2}}},
        "trials is 2, but sampler grid stops on its own at the end of its grid or table; remove",
    ),
    "table and space": (
        {"study": {"space": {"window": {"low": 1, "high": 9}}}},
        "table defines every trial; remove space",
    ),
    "nothing searched": ({"study": {"table": None}}, "searches nothing"),
    "host without fit": (
        {"study": {**SPACE, "host": {"host_latency_us": {"low": 0, "high": 9}}}},
        "host needs the objective fit",
    ),
    "table fitted twice": (
        {"study": {**SPACE, "objective": {"fit": ["printed", "printed"]}}},
        "fit lists a table twice; remove one",
    ),
    "fitted to no table": (
        {"study": {**SPACE, "objective": {"fit": 3}}},
        "3 is not a table name; name one or more files of published/",
    ),
    "power and fit": (
        {"study": {**SPACE, "objective": {"power": "mean", "fit": "printed"}}},
        "needs exactly one of power, throughput, expression, front, flows, least, worst_case "
        "and fit",
    ),
    "throughput without a bound": (
        {"study": {**SPACE, "objective": {"throughput": "mean"}}},
        "throughput and delay_ms belong together; give both or neither",
    ),
    "tail of a mean": (
        {"study": {**SPACE, "objective": {"power": "mean", "tail": 0.1}}},
        "tail applies to cvar only; remove it",
    ),
    "generations for one objective": (
        {"study": {**SPACE, "sampler": {"kind": "nsga2", "trials": 9}}},
        "sampler nsga2 is for several objectives; give objective front",
    ),
    "a front by CMA-ES": (
        {
            "study": {
                **SPACE,
                "sampler": {"kind": "cmaes", "trials": 9},
                "objective": {"front": "mean"},
            }
        },
        "sampler cmaes supports one objective only; use tpe, nsga2 or nsga3 for a front",
    ),
    "population of TPE": (
        {"study": {**SPACE, "sampler": {"kind": "tpe", "trials": 9, "population": 8}}},
        "sampler tpe has no population; remove population",
    ),
    "race without pairs": (
        {"study": {**SPACE, "sampler": {"kind": "tpe", "trials": 9}, "race": {}}},
        "a race saves nothing; raise runs_per_trial or add networks",
    ),
    "race for a front": (
        {
            "study": {
                **SPACE,
                "sampler": {"kind": "tpe", "trials": 9},
                "objective": {"front": "mean"},
                "race": {},
            }
        },
        "race needs one objective, a power; remove race",
    ),
    "race with an unknown pruner": (
        {
            "study": {
                **SPACE,
                "sampler": {"kind": "tpe", "trials": 9},
                "race": {"pruner": "wilcox"},
            }
        },
        "race.pruner: 'wilcox'",
    ),
    "start of a grid": (
        {"study": {**SPACE, "start": {"studies": ["other"]}}},
        "chooses every trial; remove start",
    ),
    "start with an unknown study": (
        {
            "study": {
                **SPACE,
                "sampler": {"kind": "tpe", "trials": 9},
                "start": {"studies": ["other"]},
            }
        },
        "start names the study 'other', which",
    ),
    "table of another controller": (
        {"study": {"controller": "delay_threshold"}},
        "controller is delay_threshold, but table printed describes fixed_window",
    ),
    "unknown unit": (
        {
            "table": {
                "columns": {**TABLE["columns"], "kbps": {"metric": "throughput_mbps", "unit": "kb"}}
            }
        },
        "unit 'kb' is unknown for throughput_mbps; known: Mbit/s, kbit/s, bit/s",
    ),
    "unknown unit of a constant": (
        {
            "table": {
                "columns": {**TABLE["columns"], "window": {"constant": "window", "unit": "bytes"}}
            }
        },
        "printed.yaml: columns.window: unit 'bytes' is unknown for window; known: packets",
    ),
    "table's constant out of range": (
        {"table": {"constants": {"keepalive_ms": -1}}},
        "printed.yaml: keepalive_ms = -1 is outside",
    ),
    "fitted but stated": (
        {"table": {"constants": {"keepalive_ms": 80}, "fitted": ["keepalive_ms"]}},
        "fitted lists 'keepalive_ms', which is not in unstated",
    ),
    "unexplained column": ({"table": {"ignore": []}}, "column 'note' of"),
    "published setting": (
        {"repeat": {"published": [{"setting": 1, "metric": "power", "mean": 1, "source": "s"}]}},
        "published names setting 1, but the last one is 0",
    ),
    "held-out network unknown": (
        {"config": {"hold_out": {"training": "wire", "networks": ["air"]}}, "study": TUNED},
        "unknown network 'air'; known: wire",
    ),
    "held out without a tuning": (
        {"config": {"hold_out": {"training": "wire", "networks": ["radio"]}}, **RADIO},
        "config.yaml: hold_out: no study tunes a controller on wire; add one to studies",
    ),
    "held out and tuned on": (
        {
            "config": {"hold_out": {"training": "wire", "networks": ["radio"]}},
            "study": {**TUNED, "networks": ["wire", "radio"]},
            **RADIO,
        },
        "config.yaml: hold_out: study windows tunes on the held-out network radio",
    ),
    "held out and training": (
        {"config": {"hold_out": {"training": "wire", "networks": ["wire"]}}},
        "hold_out: networks lists wire, which is the training network; remove it",
    ),
    "held out twice": (
        {"config": {"hold_out": {"training": "wire", "networks": ["radio", "radio"]}}},
        "hold_out: networks lists radio twice; remove one",
    ),
    "nothing held out": (
        {"config": {"hold_out": {"training": "wire", "networks": []}}},
        "hold_out.networks: [] is invalid",
    ),
    "host from no study": (
        {"network": {"host_from": "windos"}},
        "wire.yaml: host_from: 'windos' is not a study of",
    ),
    "host from a study that fits no host": (
        {"network": {"host_from": "windows"}},
        "that searches the host; known: none",
    ),
    "host from a study on the network itself": (
        {"study": FIT, "network": {"host_from": "windows"}},
        "wire.yaml: host_from: study windows itself runs on wire, so neither could come first",
    ),
    "host of an ideal network": (
        {"network": {"host_from": "windows", "host_model": "ideal"}},
        "host_from: an ideal host has nothing to fit; remove host_model",
    ),
    "endless wire": ({"network": {"duration_s": None}}, "duration_s: is missing"),
}


@pytest.mark.parametrize(("changes", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_named(write: Write, changes: dict[str, Any], message: str) -> None:
    config = write(**changes)
    with pytest.raises(KneepointError) as error:
        _check(config)
    assert message in str(error.value)
    assert str(config.parent) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("csv", "message"),
    [
        ("window,power,note\n5,9.63,\n", "column 'kbps' of"),
        ("window,kbps,power,note\n", "has no rows"),
        ("window,kbps,power,note\n5,x,9.63,\n", "line 2, column kbps: 'x' is not a number"),
        ("window,kbps,power,note\n5,-1,9.63,\n", "line 2, column kbps: -1 is out of range"),
        (
            "window,kbps,power,note\n0,1,9.63,\n",
            "printed.csv, line 2: window = 0 is outside [1, inf]",
        ),
        ("window,kbps,power,note\n5,1,9.63,,2\n", "line 2: has 5 cells, but the header has 4"),
        ("window,kbps,power,note\n5,1,9,\n6,1,9\n", "line 3: has 3 cells, but the header has 4"),
        ("window,kbps,power,note\n,1,9.63,\n", "no row of table printed has all its parameters"),
    ],
)
def test_a_bad_table_is_refused(write: Write, csv: str, message: str) -> None:
    with pytest.raises(KneepointError) as error:
        _check(write(csv=csv))
    assert message in str(error.value)


def test_the_shipped_configurations_are_sound() -> None:
    for config in ("config/config.yaml", "config/offline.yaml"):
        assert load_workflow(Path(config)).studies


def test_what_was_recovered_from_a_table_is_declared_fitted_to_it() -> None:
    for path in Path("config/published").glob("*.yaml"):
        table = load_table(Path("config/config.yaml"), path.stem).description
        recovered = {
            name for name, why in table.unstated.items() if re.search("this (table|row)", why)
        }
        assert recovered == set(table.fitted), path


def test_published_repeatability_is_the_papers() -> None:
    """What a repeat quotes inline is what the report's own table says."""
    published = load_workflow(Path("config/config.yaml")).repeats["window-12"].published
    lines = Path("config/published/000-best-window-repeatability.csv").read_text().splitlines()[1:]
    table = {line.split(",")[0]: line.split(",")[2:] for line in lines}
    names = {"throughput_mbps": "throughput", "signal_delay_p95_ms": "signal_delay_p95"}
    for spread in published:
        deviation, mean = table[names.get(spread.metric, spread.metric)]
        assert (spread.standard_deviation, spread.mean) == (float(deviation), float(mean))


def test_controller_that_cannot_run_on_the_workflows_transport_is_refused(write: Write) -> None:
    controllers = {
        name: replace(controller, needs=("marks",), transports=("tcp",))
        for name, controller in CATALOGUE.controllers.items()
    }
    catalogue = copy(CATALOGUE)
    catalogue.controllers = controllers
    with pytest.raises(KneepointError) as caught:
        load_workflow(write()).check_against(catalogue)
    assert "studies/windows.yaml: controller fixed_window needs marks" in str(caught.value)
    assert "which transport datagrams lacks; it runs on tcp only" in str(caught.value)


@pytest.mark.parametrize(
    ("flow", "refusal"),
    [
        ({"transport": "tcp", "tcp": {"ecn": True}}, None),
        ({"transport": "tcp"}, "controller fixed_window needs marks; give its flow tcp: {ecn: "),
        ({}, "which transport datagrams lacks; it runs on tcp only"),
    ],
)
def test_controller_runs_on_the_transport_of_its_traffic(
    write: Write, flow: dict[str, Any], refusal: str | None
) -> None:
    catalogue = copy(CATALOGUE)
    catalogue.controllers = {
        name: replace(controller, needs=("marks",), transports=("tcp",))
        for name, controller in CATALOGUE.controllers.items()
    }
    config = write(config={"studies": [], "repeats": [], "comparisons": ["pair"]})
    for folder, name, content in (
        ("traffic", "pair", {"title": "One", "flows": {"one": flow}}),
        (
            "comparisons",
            "pair",
            {
                "title": "One",
                "traffic": "pair",
                "networks": ["wire"],
                "settings": [{"controller": "fixed_window"}],
                "engines": {"emulator": {"repeats": 1}},
            },
        ),
    ):
        (config.parent / folder).mkdir(exist_ok=True)
        (config.parent / folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    workflow = load_workflow(config)
    if refusal is None:
        workflow.check_against(catalogue)
    else:
        with pytest.raises(KneepointError) as caught:
            workflow.check_against(catalogue)
        assert "comparisons/pair.yaml: " in str(caught.value) and refusal in str(caught.value)


THREE = {name: {"values": [1, 2]} for name in ("alpha", "beta", "rtt_threshold_ms")}


@pytest.mark.parametrize(
    ("changes", "is_search", "tunes"),
    [
        ({}, True, True),
        ({"space": {name: THREE[name] for name in ("alpha", "beta")}}, False, False),
        ({"space": {**THREE, "beta": {"values": [1]}}}, False, False),
        ({"compare": ["printed"]}, False, False),
        ({"traffic": "busy"}, True, False),
        ({"space": {**THREE, "network.delay_ms": {"values": [1, 2]}}}, True, False),
        ({"objective": {"fit": "printed"}}, False, False),
    ],
)
def test_a_grid_over_three_parameters_is_a_search(
    changes: dict[str, Any], is_search: bool, tunes: bool
) -> None:
    content = {"title": "A grid", "controller": "delay_threshold", "networks": ["wire"]}
    study = Study.model_validate({**content, "space": THREE, **changes})
    assert (study.is_grid_search, study.tunes) == (is_search, tunes)


@pytest.mark.parametrize(
    ("name", "changes", "report"),
    [
        ("001-windows", {}, "Report 001"),
        ("001-windows", {"report": "Nguyen 2024"}, "Nguyen 2024"),
        ("windows", {"report": "Nguyen 2024"}, "Nguyen 2024"),
        ("windows", {}, "Report 9, Table 1"),
        ("2019results", {}, "Report 9, Table 1"),
        ("bench", {"kind": "measured"}, "bench"),
    ],
)
def test_a_table_is_cited_by_its_report(name: str, changes: dict[str, Any], report: str) -> None:
    description = TableDescription.model_validate({**TABLE, **changes})
    assert PublishedTable(name, description, []).report == report


@pytest.mark.parametrize(
    ("report", "text", "parts"),
    [
        ({"subtitle": "S"}, "# T\n", ("config.yaml", "report.title", "missing")),
        ({"title": ""}, "# T\n", ("config.yaml", "report.title", "at least 1 character")),
        ({"title": "T", "sections": ["intr"]}, "# T\n", ("config.yaml", "'intr'", "'intro'")),
        ({"title": "T", "closing": ["intro"]}, "Words\n", ("text/intro.md", "# Introduction")),
        ({"title": "T", "sections": ["intro", "intro"]}, "# T\n", ("'intro'", "twice")),
    ],
)
def test_own_words_without_a_title_or_a_file_are_refused(
    write: Write, report: dict[str, Any], text: str, parts: tuple[str, ...]
) -> None:
    config = write(config={"report": report})
    (config.parent / "text").mkdir()
    (config.parent / "text/intro.md").write_text(text)
    with pytest.raises(KneepointError) as caught:
        load_workflow(config)
    assert all(part in str(caught.value) for part in parts)


def test_shipped_networks_and_their_traces_need_no_files(write: Write) -> None:
    config = write(study={"networks": ["wire", "contest"]})
    shipped = load_workflow(config).networks["contest"]
    assert shipped == load_network(Path("config/config.yaml"), "contest")
    assert set(shipped.trace_names) <= set(load_trace_catalogue(config))


def test_own_network_and_trace_come_before_shipped_ones(write: Write) -> None:
    config = write(study={"networks": ["wire"]})
    (config.parent / "networks/contest.yaml").write_text(yaml.safe_dump(NETWORK))
    assert load_network(config, "contest").title == NETWORK["title"]
    (config.parent / "traces.yaml").write_text(f"Verizon-LTE-short.up: {{sha256: {'a' * 64}}}\n")
    assert load_trace_catalogue(config)["Verizon-LTE-short.up"].sha256 == "a" * 64


def test_unknown_network_is_answered_with_a_shipped_one(write: Write) -> None:
    with pytest.raises(KneepointError) as caught:
        load_workflow(write(study={"networks": ["contst"]}))
    assert all(part in str(caught.value) for part in ("windows.yaml", "'contst'", "'contest'"))


@pytest.mark.parametrize(
    ("objective", "sampler", "parts"),
    [
        ({"expression": "log(thruput_mbps)"}, "tpe", ("'thruput_mbps'", "'throughput_mbps'")),
        ({"expression": "log(power - 1)"}, "tpe", ("log(power - 1)", "delivers nothing")),
        ({"expression": "power", "power": "mean"}, "tpe", ("exactly one", "expression")),
        ({"power": "mean", "over": "worst"}, "tpe", ("over", "remove")),
        ({"expression": "power"}, "grid", ("grid", "expression")),
    ],
)
def test_expressions_that_cannot_be_maximised_are_refused(
    write: Write, objective: dict[str, Any], sampler: str, parts: tuple[str, ...]
) -> None:
    found = {"kind": sampler, **({"trials": 9} if sampler == "tpe" else {})}
    window = {"values": [1, 2]} if sampler == "grid" else {"low": 1, "high": 9}
    study = {"table": None, "space": {"window": window}, "sampler": found, "objective": objective}
    with pytest.raises(KneepointError) as caught:
        load_workflow(write(study=study))
    assert all(part in str(caught.value) for part in ("studies/windows.yaml", *parts))


@pytest.mark.parametrize(
    ("networks", "on", "parts"),
    [
        (["wire", "contest"], None, ("2 networks", "objective.on", "printed")),
        (["wire", "contest"], {"printed": "wire"}, ("use all networks",)),
        (["wire"], {"printed": "wire"}, ("objective.on", "remove")),
    ],
)
def test_fit_on_several_networks_knows_where_each_table_ran(
    write: Write, networks: list[str], on: dict[str, str] | None, parts: tuple[str, ...]
) -> None:
    objective = {"fit": "printed", **({"on": on} if on else {})}
    space = {"keepalive_ms": {"values": [80, 1000]}}
    study = {"table": None, "networks": networks, "space": space, "objective": objective}
    with pytest.raises(KneepointError) as caught:
        load_workflow(write(study=study))
    assert all(part in str(caught.value) for part in ("studies/windows.yaml", *parts))
