"""The leaderboard as one self-contained page: tables, figures, and a run of each entry."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from analysis import labels
from contest.figures import Figures
from contest.hold import Json
from contest.standing import RESAMPLES
from reports import render
from reports.document import document
from reports.templating import NO_XML, templates_in

TEMPLATES = Path(__file__).parent / "templates"
_MOST_REASON = 400
_WORDS = {
    "power": "power: throughput over the 95th percentile of the signal delay, in Mbit/s per "
    "second, averaged geometrically over runs and networks",
    "log_power": "the logarithm of power, throughput over the 95th percentile of the signal delay",
    "transhub": "Transhub's: 35 points for utilization, 35 for delay, 30 for delivered packets",
}


def write_page(found: Json, over_time: Mapping[str, Path], figures: Figures, made_of: str) -> str:
    """Returns the page.

    Args:
        found: the verdict (see contest.hold) with its `history`.
        over_time: figures of a run by the names of entries.
        figures: draws the others.
        made_of: the header's text: commit and seed.
    """
    drawn = figures.draw(found)
    slugs = slugs_of(found)
    drawn |= {slugs[name]: path for name, path in over_time.items()}
    lines = sorted(found["ranking"] + found["yardsticks"], key=lambda row: -row["score"])
    xml = (
        _environment(found, slugs, set(over_time))
        .get_template("leaderboard.xml.jinja")
        .render(
            **{key: value for key, value in found.items() if key != "score"},
            **{"lines": lines, "slugs": slugs, "figures": drawn, "resamples": f"{RESAMPLES:,}"},
            over_time=[row["name"] for row in lines + found["apart"] if row["name"] in over_time],
            score_word=found["score"]["name"].replace("_", " "),
            score_words=_WORDS.get(found["score"]["name"], found["score"]["expression"]),
        )
    )
    return render.to_html(document(NO_XML.sub("\ufffd", xml), made_of), drawn)


def slugs_of(found: Json) -> dict[str, str]:
    """Returns an anchor for each contender's name."""
    names = [
        row["name"] for kind in ("ranking", "yardsticks", "apart", "earlier") for row in found[kind]
    ]
    return {name: f"run-{at}" for at, name in enumerate(dict.fromkeys(names))}


def _environment(found: Json, slugs: Mapping[str, str], with_run: set[str]) -> jinja2.Environment:
    environment = templates_in(TEMPLATES)

    def linked(row: Json) -> str | Markup:
        name = row["name"]
        if name not in with_run:
            return str(name)
        return Markup('<run of="{}">{}</run>').format(slugs[name].removeprefix("run-"), name)

    def others(name: str, wanted: Sequence[str | None]) -> list[str]:
        return [
            pair["b"] if pair["a"] == name else pair["a"]
            for pair in found["pairs"]
            if name in (pair["a"], pair["b"]) and pair["better"] in wanted
        ]

    environment.filters |= {
        "percent": lambda share: f"{100 * share:.0f}",
        "signed": lambda places: f"{places:+d}".replace("-", "\u2212") if places else "0",
        "score": lambda row: labels.number(row["score"]),
        "interval": _interval,
        "ranks": _ranks,
        "linked": linked,
        "shortened": lambda text: (
            text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON]}..."
        ),
        "beaten": lambda name: others(name, [name]),
        "untold": lambda name: others(name, [None]),
    }
    return environment


def _interval(row: Json) -> str:
    if row["low"] is None:
        return ""
    return f"{labels.number(row['low'])} to {labels.number(row['high'])}"


def _ranks(row: dict[str, Any]) -> str:
    best, worst = row["best_rank"], row["worst_rank"]
    return str(best) if best == worst else f"{best} to {worst}"
