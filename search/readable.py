"""All studies of a results folder with readable names, units, and a note on each study."""

import copy
import re
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import optuna
from optuna.study._frozen import FrozenStudy
from optuna.trial import FrozenTrial, TrialState
from optuna_dashboard import save_note  # type: ignore[import-untyped]

from experiments.results import OBJECTIVES
from search.all_studies import AllStudies

METRIC_NAMES = "study:metric_names"
"""Optuna's key for the names of a study's values."""
POWER = "Mbit/s/s"
_UNITS = {
    "_mbps": "Mbit/s",
    "_ms": "ms",
    "_us": "µs",
    "_s": "s",
    "_packets": "packets",
    "_bytes": "bytes",
    "power": POWER,
}
"""Units by the ends of names."""


class ReadableStudies(AllStudies):
    """The studies with titles, units and notes, which are not stored.

    Args:
        results: the folder of the results.
    """

    def __init__(self, results: Path) -> None:
        super().__init__(results)
        self._report = results / "report.html"
        self._anchors: tuple[float, list[str]] = 0.0, []

    def get_all_studies(self) -> list[FrozenStudy]:
        """Returns every study, in the order of their names."""
        return [self._readable(study) for study in super().get_all_studies()]

    def get_study_name_from_id(self, study_id: int) -> str:
        """Returns a study's name and title."""
        return self._readable(self._study(study_id)).study_name

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        """Returns what is known of a study."""
        return self._readable(self._study(study_id)).user_attrs

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        """Returns Optuna's own attributes, with the names of the values and a note."""
        return self._readable(self._study(study_id)).system_attrs

    def get_trial(self, trial_id: int) -> FrozenTrial:
        """Returns a trial; raises KeyError if there is none."""
        study_id = self._study_of(trial_id)
        return _readable_trial(super().get_trial(trial_id), self._units(study_id))

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Returns the trials of a study."""
        units = self._units(study_id)
        trials = super().get_all_trials(study_id, deepcopy, states)
        return [_readable_trial(trial, units) for trial in trials]

    def _units(self, study_id: int) -> Mapping[str, str]:
        units: Mapping[str, str] = self._study(study_id).user_attrs.get("units", {})
        return units

    def _readable(self, study: FrozenStudy) -> FrozenStudy:
        readable = copy.copy(study)
        known = study.user_attrs
        readable.study_name = f"{study.study_name}: {known.get('title', 'untitled')}"
        readable.user_attrs = {
            key: _text(value)
            for key, value in known.items()
            if key not in ("name", "title", "searched", "units") and value not in (None, [], {})
        }
        readable.system_attrs = {
            METRIC_NAMES: value_names(known, len(study.directions)),
            **study.system_attrs,
            **_note(self._text_of(study)),
        }
        return readable

    def _text_of(self, study: FrozenStudy) -> str:
        """The note on a study, in Markdown."""
        known = study.user_attrs
        lines = [f"## {known.get('title', study.study_name)}", ""]
        names = value_names(known, len(study.directions))
        link = f"/report.html{self._anchor(study.study_name)}"
        if self._report.is_file():
            lines += [f"[{study.study_name} in the report]({link})", ""]
        lines += [
            f"- {_text(known.get('controller', ''))} on {_text(known.get('networks', []))}, "
            f"engine {known.get('engine', 'unknown')}",
            "- objective: "
            + " and ".join(
                f"{direction.name.lower()} {name}"
                for direction, name in zip(study.directions, names, strict=True)
            ),
        ]
        return "\n".join(lines)

    def _anchor(self, name: str) -> str:
        """Link to a study's section of the report; "" if there is none."""
        changed = self._report.stat().st_mtime if self._report.is_file() else 0.0
        if changed != self._anchors[0]:
            text = self._report.read_text(encoding="utf-8")
            self._anchors = changed, re.findall(r'id="([\w-]+)"', text)
        return next((f"#{each}" for each in self._anchors[1] if each.endswith(f"-{name}")), "")


def value_names(known: Mapping[str, Any], number: int) -> list[str]:
    """Returns the names of a study's values: throughput and delay for a front."""
    if number == 1:
        return [value_name(known)]
    return [with_unit(name.removeprefix("objective_"), {}) for name in OBJECTIVES]


def value_name(known: Mapping[str, Any]) -> str:
    """Returns the name of a study's value, with its unit."""
    name = str(known.get("objective", "value"))
    return f"{name} ({POWER})" if name.endswith(" power") and "log" not in name else name


def with_unit(name: str, units: Mapping[str, str]) -> str:
    """Returns the name of a parameter or metric with its unit: throughput (Mbit/s).

    Args:
        name: as columns of results have it.
        units: declared ones, by the name; otherwise its suffix gives the unit.
    """
    plain = name.removeprefix("constant_")
    if name in units:
        unit = units[name]
        return f"{_without_end(plain, unit)} ({unit})" if unit else plain
    for end, unit in _UNITS.items():
        if plain.endswith(end):
            return f"{_without_end(plain, unit)} ({unit})"
    return plain


def _without_end(name: str, unit: str) -> str:
    end = next((each for each, of in _UNITS.items() if each[0] == "_" and of == unit), "")
    return name.removesuffix(end)


def _readable_trial(trial: FrozenTrial, units: Mapping[str, str]) -> FrozenTrial:
    readable = copy.copy(trial)
    names = {name: with_unit(name, units) for name in trial.distributions}
    readable._params = {names[name]: value for name, value in trial.params.items()}
    readable._distributions = {names[name]: each for name, each in trial.distributions.items()}
    readable._user_attrs = {with_unit(key, {}): value for key, value in trial.user_attrs.items()}
    return readable


def _note(text: str) -> dict[str, Any]:
    """Returns the attributes in which the dashboard looks for a note."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study()
    save_note(study, text)
    return study._storage.get_study_system_attrs(study._study_id)


def _text(value: object) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
