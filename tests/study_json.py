"""A study's record, made up."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from kneepoint.common.study_record import BestTrial, StudyRecord


def study_json(seed: int = 1, trial: int = 0, searched: Mapping[str, float] | None = None) -> str:
    best = BestTrial(trial, 1.0, searched or {}, {})
    return json.dumps(asdict(StudyRecord("A", "power", seed, 1, best)))
