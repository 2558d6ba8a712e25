"""Feedback for each entrant: a page, and results.json in Gradescope's format."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kneepoint.common.files import write_whole
from kneepoint.common.json_text import Json
from kneepoint.tools.contest.page import moment, render_page

PAGE, RESULTS = "feedback.html", "results.json"
_KINDS = {"ranking": "ranked", "apart": "not ranked", "earlier": "replaced", "failed": "not scored"}
_MAX_LINES = 60


def write_feedback(found: Json, over_time: Mapping[str, Path], folder: Path, made_of: str) -> None:
    """Writes a folder for each entry, without information on other entries.

    Args:
        found: the leaderboard.
        over_time: figures of a run, by the names of entries.
        folder: of the feedback.
        made_of: commit and seed, for the pages.
    """
    for kind, state in _KINDS.items():
        for row in found[kind]:
            own = folder / row["name"]
            about = list(_about(row, state, found))
            results = _results(row, about, found)
            write_whole(own / RESULTS, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
            drawn = {"run": over_time[row["name"]]} if row["name"] in over_time else {}
            lines = row.get("message", "").splitlines()[:_MAX_LINES]
            page = render_page(
                "feedback.md.jinja", found, drawn, made_of, entry=row, about=about, lines=lines
            )
            write_whole(own / PAGE, page)


def _results(row: Json, about: Sequence[str], found: Json) -> Json:
    """Returns the contents of Gradescope's results.json: score, messages, leaderboard."""
    output = "\n".join([*about, *_by_network(row, found)])
    results = {"score": row.get("score", 0), "output": output, "visibility": "visible"}
    if "score" not in row:
        return results
    board = [{"name": found["score"]["name"], "value": row["score"]}]
    if "rank" in row:
        board.append({"name": "rank", "value": row["rank"], "order": "asc"})
    return results | {
        "leaderboard": board,
        "extra_data": {key: row[key] for key in ("name", "digest", "arrived", "late")},
    }


def _about(row: Json, state: str, found: Json) -> Iterator[str]:
    if "score" in row:
        name = found["score"]["name"].replace("_", " ")
        rank = f", rank {row['rank']} of {len(found['ranking'])}" if "rank" in row else ""
        yield f"{state}: {name} {row['score']:.4g}{rank}"
    else:
        yield f"{state}: {row['reason']}"
    if "replaced_by" in row:
        yield f"a later submission counts: {row['replaced_by']}"
    if row["late"]:
        yield f"late: arrived at {moment(row['arrived'])}"


def _by_network(row: Json, found: Json) -> Iterator[str]:
    for network in found["networks"] if "networks" in row else ():
        its = row["networks"][network["name"]]
        yield (
            f"{network['title']}: {its['throughput_mbps']:.2f} of "
            f"{network['omniscient']['capacity_mbps']:.2f} Mbit/s, signal delay "
            f"{its['signal_delay_p95_ms']:.0f} ms (omniscient: "
            f"{network['omniscient']['signal_delay_p95_ms']} ms), power {its['power']:.2f}"
        )
        if its["outcomes"]:
            low, high = its["outcomes"]
            yield (
                f"{network['title']}: two outcomes, {high['score']:.4g} in {high['runs']} runs and "
                f"{low['score']:.4g} in {low['runs']}, depending on the seed"
            )
