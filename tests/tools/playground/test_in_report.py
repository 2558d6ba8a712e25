"""The playground in a report: which runs open it, and with which settings."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.common.programs import run_built
from kneepoint.config.report import Report
from kneepoint.engines.base import RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.networks.scenario import ALONE, PreparedLink, PreparedNetwork, Traffic
from kneepoint.reports import build
from kneepoint.tools.playground import in_report as playground_in_report
from kneepoint.tools.playground.in_report import address, in_report
from kneepoint.tools.playground.links import shipped_links
from tests.browser.devtools import Page
from tests.controllers.emulator import EMULATE
from tests.tools.playground.page_steps import POWER, STATUS, show

LINK = PreparedLink("slow.trace", "a" * 64)
PIE = "pie:qdelay_ref=15,max_burst=150"
RATE = PreparedLink(rate_mbps=20, queue="droptail:packets=60")
NETWORK = PreparedNetwork(
    "synthetic-slow", replace(LINK, queue="droptail:packets=9"), LINK, None, "event-loop", 600
)
PAIR = Traffic(
    "pair",
    {"own": {}, "other": {"controller": "reno", "parameters": {}, "start_s": 1}},
    {"probe": {"interval_ms": 100}},
    {"measure_from_s": 2, "interval_s": 0.5},
)


def run_on(network: PreparedNetwork = NETWORK, traffic: Traffic = ALONE) -> RunSpec:
    known = load_catalogue(EMULATE).controllers
    flows = {
        name: {**flow, **({"controller_sha256": known["reno"].sha256} if flow else {})}
        for name, flow in traffic.flows.items()
    }
    engine, own, parameters = "emulator", known["fixed_window"], {"window": 11.0}
    return RunSpec(
        *(engine, "", own.name, own.sha256, parameters, network, 7), replace(traffic, flows=flows)
    )


def test_address_has_setting_network_and_digests() -> None:
    found = address(run_on(), is_offered=False)
    assert found.startswith("#controller=fixed_window&") and "set.window=11" in found
    assert f"uplink=synthetic-slow-uplink:{'a' * 64}" in found
    assert "queue=droptail:packets=9" in found and "further" not in found


def test_address_of_links_that_the_page_has_needs_no_file() -> None:
    found = address(run_on(), is_offered=True)
    assert "link=synthetic-slow" in found and "uplink" not in found


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Returns a function that returns what a report gets, with one run."""

    def added(page: str, spec: RunSpec | None) -> str:
        def spec_of(*_: Any) -> RunSpec:
            if spec is None:
                raise KneepointError("changed since")
            return spec

        workflow = SimpleNamespace(results=tmp_path, networks={}, own_sources=tmp_path)
        job = SimpleNamespace(workflow=workflow, network=lambda _: NETWORK)
        monkeypatch.setattr(playground_in_report, "spec_of", spec_of)
        monkeypatch.setattr(playground_in_report, "Job", lambda *_, **_more: job)
        row: dict[str, Any] = {
            "engine": spec.engine if spec else "emulator",
            "run_id": "0123456789abcdef",
        }
        row |= {"controller": "fixed_window", "network": "synthetic-slow", "traffic": None}
        tables = {"settings_run": pd.DataFrame([row])}
        results: Any = SimpleNamespace(workflow=workflow)
        return in_report(page, results, tables)

    return added


def test_report_without_runs_that_the_page_can_repeat_stays_as_it_is(
    opens: Any, tmp_path: Path
) -> None:
    page = '<tr id="run-0123456789ab"><td>0123456789ab</td></tr>'
    assert opens(page, replace(run_on(), engine="mahimahi")) == ""
    assert opens(page, None) == ""
    assert opens("", run_on()) == ""
    (tmp_path / "fixed_window.cc").write_text("// the project's own")
    assert opens(page, run_on()) == ""


@pytest.mark.parametrize(("asked", "ends"), [(True, "<i></i></body>"), (False, "<b></b></body>")])
def test_a_report_gets_it_only_if_it_asks(
    asked: bool, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground_in_report, "in_report", lambda *_: "<i></i>")
    own = Report(title="T", playground=asked)
    results = SimpleNamespace(workflow=SimpleNamespace(settings=SimpleNamespace(report=own)))
    page = build._with_additions("<body><b></b></body>", results, {})  # type: ignore[arg-type]
    assert page.endswith(ends)


@pytest.mark.slow
def test_a_run_of_a_report_opens_with_its_seed(
    opens: Any, opened: Page, playground: str, tmp_path: Path
) -> None:
    rows = '<tr id="run-0123456789ab"><td>0123456789ab</td><td>7</td></tr><tr id="run-99"></tr>'
    page = f'<html><body><table>{rows}</table><p data-run="0123456789ab">point</p></body></html>'
    added = opens(page, run_on())
    assert len(added) < 500_000
    report = tmp_path / "report.html"
    report.write_text(page.replace("</body>", f"{added}</body>"), encoding="utf-8")
    opened.open(report.as_uri())
    opened.wait_for("document.querySelectorAll('button').length === 1")
    opened.evaluate("window.open = () => ({ set location(url) { window.went = url; } }); null")
    opened.evaluate("document.querySelector('[data-run]').click()")
    url = opened.wait_for("window.went")
    assert url.startswith("blob:") and url.endswith("&seed=7")
    opened.follow(url)
    power = opened.wait_for("document.querySelector('#numbers td')?.title")
    opened.evaluate("Object.defineProperty(navigator, 'clipboard', {}); null")
    opened.evaluate("document.getElementById('copy').click()")
    link = opened.evaluate(f"{STATUS}.textContent")
    assert link.startswith(f"{report.as_uri()}#controller=")
    opened.open(link, pages=2)  # the report, which opens the playground
    assert opened.wait_for("document.querySelector('#numbers td')?.title") == power
    alone = tmp_path / "playground.html"
    alone.write_text(playground, encoding="utf-8")
    show(opened, f"{alone.as_uri()}#{url.partition('#')[2]}")
    assert opened.evaluate(POWER) == power


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uplink", "downlink", "duration_s", "traffic"),
    [
        ({}, {}, None, PAIR),
        ({"loss_probability": 0.02, "loss_after_link": True}, {"loss_period": 30}, None, ALONE),
        (
            {"impairments": ("jitter-normal:mean=5,deviation=3",)},
            {"queue": PIE},
            70,
            ALONE,
        ),
        ({"delay_step_ms": 20, "delay_period_s": 10}, {"delay_ms": 45}, 20, PAIR),
        (vars(RATE), vars(replace(RATE, queue="codel:target=5,interval=100")), 20, ALONE),
        (vars(RATE), {}, 20, PAIR),
    ],
)
def test_any_run_has_the_digits_of_the_emulator(
    uplink: dict[str, Any],
    downlink: dict[str, Any],
    duration_s: float | None,
    traffic: Traffic,
    opened: Page,
    url: str,
    tmp_path: Path,
) -> None:
    ends: dict[str, Any] = {}
    words = next(each for each in shipped_links() if each["name"] == NETWORK.name)
    for name, changes in (("uplink", uplink), ("downlink", downlink)):
        path = tmp_path / f"{name}.trace"
        path.write_bytes(run_built(EMULATE.with_name("synthesize"), *words[name].split())[0])
        link = replace(LINK, trace=str(path), trace_sha256=sha256_of(path.read_bytes()))
        ends[name] = replace(link, **changes)
    has_trace = any(link.trace for link in ends.values())
    spec = run_on(replace(NETWORK, **ends, duration_s=duration_s), traffic)
    asked = json.dumps({"scenario": spec.scenario(), "flows": True})
    said = json.loads(run_built(EMULATE, "--batch", content=asked.encode())[0])
    show(opened, f"{url}{address(spec, is_offered=has_trace)}&seed=7")
    assert has_trace or "rate_mbps=20&" in address(spec, is_offered=False)
    assert opened.evaluate(POWER) == opened.evaluate(f"String({said['power']!r})")
    names = " and ".join(each["controller"] for each in said["flows"])
    assert opened.evaluate("document.querySelector('#numbers tbody th').textContent") == names
    assert opened.problems == []
