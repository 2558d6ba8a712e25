"""The scored submissions in order, in an append-only file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of, write_whole
from kneepoint.common.json_text import Json, parse_json
from kneepoint.tools.contest.config import Contest


def with_history(found: Json, contest: Contest, path: Path) -> Json:
    """Appends new submissions to the history; returns the leaderboard with the history.

    A submission is new if the history has no submission with its author, name and content in this
    contest; a different scoring rule, network or number of runs makes a different contest. The file
    has one line of JSON per submission.

    Raises:
        KneepointError: the file is damaged.
    """
    others = {"title", "baselines", "deadline", "other_host_latency_us"}
    rules = sha256_of(contest.model_dump_json(exclude=others).encode())[:16]
    kept = list(_read(path)) if path.is_file() else []
    known = {(each["rules"], each["author"], each["name"], each["digest"]) for each in kept}
    for row in _scored(found):
        if (rules, row["author"], row["name"], row["digest"]) not in known:
            kept.append({"rules": rules, **row})
    write_whole(path, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in kept))
    counts: dict[str, int] = {}
    history = []
    for each in kept:
        if each["rules"] == rules:
            counts[each["author"]] = number = counts.get(each["author"], 0) + 1
            history.append({key: each[key] for key in each if key != "rules"} | {"number": number})
    history.sort(key=lambda row: (row["author"], row["number"]))
    return found | {"history": history}


def _read(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            row = parse_json(line)
            if not all(isinstance(row[key], str) for key in ("rules", "author", "name", "digest")):
                raise ValueError("it is not text")
        except (ValueError, KeyError, TypeError):
            raise KneepointError(
                f"{path}, line {number}: is damaged; restore the file, or remove the line: its "
                "submission then counts as new"
            ) from None
        yield row


def _scored(found: Json) -> Iterator[Json]:
    """Yields the submissions of this leaderboard, earlier versions first."""
    for kind in ("earlier", "ranking", "apart", "failed"):
        for row in found[kind]:
            if row.get("is_disturbed"):
                continue  # not scored
            yield {
                **{key: row[key] for key in ("author", "name", "digest", "arrived", "late")},
                **{key: row.get(key) for key in ("score", "practice_score", "rank")},
                "reason": row.get("reason", ""),
            }
