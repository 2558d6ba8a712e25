"""The playground in a report: which runs open, and where they lead."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kneepoint.config.report import Report
from kneepoint.reports import build
from kneepoint.tools.playground import in_report as playground_in_report
from kneepoint.tools.playground.in_report import address, in_report
from tests.browser import chromium
from tests.browser.devtools import browser

LINK = {"trace": "t", "trace_sha256": "a" * 64, "delay_ms": 20, "queue": "infinite"}
NETWORK: Mapping[str, Any] = {
    "uplink": {**LINK, "queue": "droptail:packets=9"},
    "downlink": LINK,
    "duration_s": None,
    "host_model": "event-loop",
    "host_latency_us": 600,
}
RUN: Mapping[str, Any] = {
    "run_id": "0123456789abcdef",
    "engine": "emulator",
    "controller": "fixed_window",
    "parameters": '{"window":11}',
    "network": "lab",
    "traffic": None,
    "seed": 7,
}
SHIPPED = {"synthetic-slow"}


def test_address_has_setting_network_and_digests() -> None:
    found = address(dict(RUN), {"lab": NETWORK}.get, SHIPPED)
    assert found.startswith("#controller=fixed_window&") and "set.window=11" in found
    assert f"uplink=lab-uplink:{'a' * 64}" in found and "queue=droptail:packets=9" in found


def test_address_of_a_shipped_synthetic_link_needs_no_file() -> None:
    found = address({**RUN, "network": "synthetic-slow"}, {"synthetic-slow": NETWORK}.get, SHIPPED)
    assert "link=synthetic-slow" in found and "uplink" not in found


@pytest.mark.parametrize(
    ("run", "network"),
    [
        ({"engine": "mahimahi"}, {}),
        ({"traffic": "web"}, {}),
        ({"network": "unknown"}, {}),
        ({}, {"duration_s": 30}),
        ({}, {"uplink": {**LINK, "loss_probability": 0.1}}),
        ({}, {"uplink": {**LINK, "delay_ms": 30}}),
        ({}, {"downlink": {**LINK, "queue": "codel:target=5,interval=100"}}),
    ],
)
def test_what_the_page_cannot_run_has_no_address(
    run: dict[str, Any], network: dict[str, Any]
) -> None:
    assert address({**RUN, **run}, {"lab": {**NETWORK, **network}}.get, SHIPPED) == ""


def test_report_without_such_runs_stays_as_it_is(tmp_path: Path) -> None:
    tables = {"settings_run": pd.DataFrame([RUN])}
    page = '<tr id="run-0123456789ab"><td>0123456789ab</td></tr>'
    assert in_report(page, tables, tmp_path) == ""


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
def test_a_run_of_a_report_opens_with_its_seed(playground: str, tmp_path: Path) -> None:
    chromium.program()
    network = tmp_path / "synthetic-slow/network.json"
    network.parent.mkdir()
    network.write_text(json.dumps(NETWORK))
    rows = '<tr id="run-0123456789ab"><td>0123456789ab</td><td>7</td></tr><tr id="run-99"></tr>'
    page = f'<html><body><table>{rows}</table><p data-run="0123456789ab">point</p></body></html>'
    tables = {"settings_run": pd.DataFrame([{**RUN, "network": "synthetic-slow"}])}
    added = in_report(page, tables, tmp_path)
    assert len(added) < 500_000
    report = tmp_path / "report.html"
    report.write_text(page.replace("</body>", f"{added}</body>"), encoding="utf-8")
    with browser(tmp_path) as opened:
        opened.open(report.as_uri())
        opened.wait_for("document.querySelectorAll('button').length === 1")
        opened.evaluate("window.open = () => ({ set location(url) { window.went = url; } }); null")
        opened.evaluate("document.querySelector('[data-run]').click()")
        url = opened.wait_for("window.went")
        assert url.startswith("blob:") and url.endswith("&seed=7")
        opened.follow(url)
        power = opened.wait_for("document.querySelector('#numbers td')?.title")
        alone = tmp_path / "playground.html"
        alone.write_text(playground, encoding="utf-8")
        opened.open(f"{alone.as_uri()}#{url.partition('#')[2]}")
        assert opened.wait_for("document.querySelector('#numbers td')?.title") == power
