"""The leaderboard as one self-contained HTML page, and the pages of its entries."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from kneepoint.analysis import labels
from kneepoint.common.json_text import Json
from kneepoint.entries.score import SCORES
from kneepoint.reports import blocks, render
from kneepoint.reports.document import document
from kneepoint.reports.templating import element, plain_text, templates_in
from kneepoint.tools.contest.figures import MAX_IN_MATRIX
from kneepoint.tools.contest.standing import RESAMPLES

TEMPLATES = Path(__file__).parent / "templates"
_MAX_LISTED = 5


def write_page(
    found: Json, over_time: Mapping[str, Path], figures: Mapping[str, Path], made_of: str
) -> str:
    """Returns the page of a leaderboard with its history.

    Args:
        found: the leaderboard.
        over_time: figures of a run, by the names of entries.
        figures: the other figures, by their names.
        made_of: commit and seed.
    """
    kinds = ("ranking", "baselines", "apart", "earlier")
    names = dict.fromkeys(row["name"] for kind in kinds for row in found[kind])
    slugs = {name: f"run-{at}" for at, name in enumerate(names)}
    rule = SCORES.get(found["score"]["name"])
    drawn = {**figures} | {slugs[name]: path for name, path in over_time.items()}
    lines = sorted(found["ranking"] + found["baselines"], key=lambda row: -row["score"])
    rows = [row for kind in ("ranking", "apart", "earlier", "failed") for row in found[kind]]
    return render_page(
        "leaderboard.md.jinja",
        found,
        drawn,
        made_of,
        "find an entry",
        lines=lines,
        slugs=slugs,
        resamples=f"{RESAMPLES:,}",
        first_lines=next((at for at, row in enumerate(lines, 1) if row.get("rank", 0) >= 10), 10),
        matrix_entries=MAX_IN_MATRIX,
        is_dated=found["deadline"] is not None or any(row["late"] for row in rows),
        is_ratio=found["score"]["is_ratio"],
        over_time=[row["name"] for row in lines + found["apart"] if row["name"] in over_time],
        score_words=rule.words if rule else found["score"]["expression"],
    )


def render_page(
    template: str,
    found: Json,
    drawn: Mapping[str, Path],
    made_of: str,
    search: str = "",
    **values: Any,
) -> str:
    """Returns a page from a template, a leaderboard, figures by name, and further `values`."""
    environment = _environment(found, values.get("slugs", {}), set(values.get("over_time", ())))
    context = {key: value for key, value in found.items() if key != "score"}
    score_word = found["score"]["name"].replace("_", " ")
    written = environment.get_template(template).make_module(
        {
            **blocks.functions(drawn),
            **context,
            **values,
            "figures": drawn,
            "score_word": score_word,
        }
    )
    heading, subtitle = (plain_text(vars(written)[name]) for name in ("heading", "subtitle"))
    page = document(str(written), heading, subtitle=subtitle, made_of=made_of, search=search)
    return render.to_html(page, drawn)


def _environment(found: Json, slugs: Mapping[str, str], with_run: set[str]) -> jinja2.Environment:
    environment = templates_in(TEMPLATES)

    def linked(row: Json) -> str | Markup:
        name = row["name"]
        if name not in with_run:
            return str(name)
        return element("a", name, class_="run", href=f"#{slugs[name]}")

    order = {row["name"]: at for at, row in enumerate(found["ranking"])}

    def others(name: str, wanted: Sequence[str | None]) -> list[str]:
        """Returns entries with these verdicts, the nearest in the ranking first."""
        names = [
            pair["b"] if pair["a"] == name else pair["a"]
            for pair in found["pairs"]
            if name in (pair["a"], pair["b"]) and pair["better"] in wanted
        ]
        return sorted(names, key=lambda other: abs(order[other] - order[name]))

    environment.filters |= {
        "percent": lambda share: "" if share is None else f"{100 * share:.0f}",
        "named": lambda network: (
            network["title"] + (", practice" if network["is_practice"] else "")
        ),
        "signed": lambda places: f"{places:+d}".replace("-", "\u2212") if places else "0",
        "moment": moment,
        "scattered": lambda value: _scattered(value, is_ratio=found["score"]["is_ratio"]),
        "listed": _listed,
        "score": lambda row: labels.number(row["score"]),
        "interval": _interval,
        "ranks": _ranks,
        "linked": linked,
        "authored": lambda row: (
            f"{row['author']} ({row['remark']})" if row["remark"] else row["author"]
        ),
        "beaten": lambda name: others(name, [name]),
        "undecided": lambda name: others(name, [None]),
    }
    return environment


def _interval(row: Json) -> str:
    if row["low"] is None:
        return ""
    return f"{labels.number(row['low'])} to {labels.number(row['high'])}"


def _ranks(row: dict[str, Any]) -> str:
    best, worst = row["best_rank"], row["worst_rank"]
    return str(best) if best == worst else f"{best}\u00a0to\u00a0{worst}"


def moment(iso: str | None) -> str:
    """Returns a time in UTC, formatted for a page."""
    return f"{datetime.fromisoformat(iso).astimezone(UTC):%Y-%m-%d %H:%M} UTC" if iso else ""


def _scattered(value: float | None, *, is_ratio: bool) -> str:
    if value is None:
        return ""
    return labels.number(100 * value if is_ratio else value)


def _listed(names: Sequence[str]) -> str:
    """Returns the first names and the number of further names."""
    more = len(names) - _MAX_LISTED
    shown = ", ".join(names[:_MAX_LISTED])
    return f"{shown}, and {more} more" if more > 0 else shown
