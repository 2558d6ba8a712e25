"""`kneepoint field`: its output under the headings of RFC 9743, for planted tables."""

import itertools

import pandas as pd

from kneepoint.common.code import ROOT
from kneepoint.runs.load import load_workflow
from kneepoint.tools.field.command import CONFIG, by_rfc9743
from tests.programs import run_kneepoint

METRICS = {"ping": ["rtt_mean_ms"], "first": ["goodput_mbps", "loss"]}


def test_a_controller_is_told_by_the_headings_of_rfc_9743() -> None:
    """All numbers are distinct, so that another setting, network or flow would be noticed."""
    workflow = load_workflow(ROOT / CONFIG)
    numbers = itertools.count(1)

    def line(**place: object) -> dict[str, object]:
        mean = next(numbers)
        return {**place, "mean": mean, "low": mean - 0.25, "high": mean + 0.25, "n": 3}

    conditions = workflow.comparisons["field-conditions"]
    figures = [
        line(comparison="field-conditions", trial=i, network=n, source=source, metric=metric)
        for i, n in itertools.product(range(2), conditions.networks)
        for source, metrics in METRICS.items()
        for metric in metrics
    ]
    shares = [
        line(trial=i, traffic=traffic, network=network, flow=flow)
        for name in ("field-friendliness", "field-convergence")
        for traffic in workflow.comparisons[name].traffic
        for network in workflow.comparisons[name].networks
        for i, flow in itertools.product(range(2), ("first", "second"))
    ]
    held = [
        {"controller": c, "origin": o, "best": True, "held_out": next(numbers) / 1e4}
        for c, o in itertools.product(("one", "other"), ("published", "tuned"))
    ]
    networks: list[dict[str, object]] = [
        {"is_training": True},
        {"is_training": False},
        {"is_training": False},
    ]
    tables = {"traffic_figures": figures, "comparison_shares": shares}
    tables |= {"held_out_settings": held, "held_out_networks": networks}
    text = by_rfc9743("other", 1, lambda name: pd.DataFrame(tables[name]))

    def mean_of(rows: list[dict[str, object]], **place: object) -> float:
        (mean,) = [row["mean"] for row in rows if place.items() <= row.items()]
        assert isinstance(mean, int)
        return mean

    ping = mean_of(figures, trial=1, network="field-infinite", source="ping")
    assert f"ping through a queue without a limit {ping} ({ping - 0.25:.0f} to " in text
    share = mean_of(shares, trial=1, traffic="beside-cubic", network="pair-8-4bdp", flow="first")
    assert f"{100 * share:.0f} ({100 * share - 25:.0f} to {100 * share + 25:.0f}) % |" in text
    late = mean_of(shares, trial=1, traffic="field-second", network="field-codel", flow="second")
    assert f"{100 * late:.0f} ({100 * late - 25:.0f} to {100 * late + 25:.0f}) % (CoDel)" in text
    published, tuned = (f"{100 * float(str(row['held_out'])):.1f} %" for row in held[2:])
    assert f"on 2 traces: {published} of" in text and f"on others {tuned}" in text
    assert text.count("not measured") == 8


def test_a_controller_that_is_not_compared_is_refused() -> None:
    result = run_kneepoint("field", "--rfc9743", "coppa", cwd=ROOT)
    assert (result.returncode, result.stdout) == (2, "")
    assert all(word in result.stderr for word in ("--rfc9743 coppa", "field.yaml", "'copa'?"))
