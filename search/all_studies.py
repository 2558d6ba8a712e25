"""All studies of a results folder as one Optuna storage, live and read-only."""

import copy
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from optuna.distributions import BaseDistribution
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.study._frozen import FrozenStudy
from optuna.trial import FrozenTrial, TrialState

_TRIALS = 10**9
"""Above any study's number of trials: a trial's id = its study's id * this + its id in the file."""


@dataclass
class _File:
    """An open journal; `inode` tells whether the file at the path is still the same."""

    inode: int
    storage: JournalStorage


class AllStudies(BaseStorage):
    """The journals results/*/optuna.journal, one study each, whenever they appear or change.

    An id belongs to a path permanently, so that a page of the dashboard stays valid when a study is
    resumed and its file replaced.

    Args:
        results: the folder of the results.
    """

    def __init__(self, results: Path) -> None:
        self._results = results
        self._paths: list[Path] = []
        self._files: dict[Path, _File] = {}

    def get_all_studies(self) -> list[FrozenStudy]:
        """Returns every study, in the order of their names."""
        known = set(self._paths)
        found = sorted(self._results.glob("*/optuna.journal"))
        self._paths += [path for path in found if path not in known]
        studies = []
        for path in found:
            study_id = self._paths.index(path)
            for study in self._open(study_id).get_all_studies()[:1]:
                mapped = copy.copy(study)
                mapped._study_id = study_id
                studies.append(mapped)
        return studies

    def get_study_id_from_name(self, study_name: str) -> int:
        """Returns the id of a study; raises KeyError if there is none."""
        for study in self.get_all_studies():
            if study.study_name == study_name:
                return study._study_id
        raise KeyError(study_name)

    def get_study_name_from_id(self, study_id: int) -> str:
        """Returns the name of a study."""
        return self._study(study_id).study_name

    def get_study_directions(self, study_id: int) -> list[StudyDirection]:
        """Returns the directions of a study, one for each of its values."""
        return self._study(study_id).directions

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        """Returns the user attributes of a study."""
        return self._study(study_id).user_attrs

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        """Returns the system attributes of a study."""
        return self._study(study_id).system_attrs

    def get_trial(self, trial_id: int) -> FrozenTrial:
        """Returns a trial; raises KeyError if there is none."""
        study_id = self._study_of(trial_id)
        return _mapped(study_id, self._open(study_id).get_trial(trial_id % _TRIALS))

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Returns the trials of a study."""
        inner = self._study(study_id, mapped=False)._study_id
        trials = self._open(study_id).get_all_trials(inner, deepcopy=deepcopy, states=states)
        return [_mapped(study_id, trial) for trial in trials]

    def create_new_study(
        self, directions: Sequence[StudyDirection], study_name: str | None = None
    ) -> int:
        """Refuses, as everything below does."""
        _refuse(directions, study_name)

    def delete_study(self, study_id: int) -> None:
        """Refuses."""
        _refuse(study_id)

    def set_study_user_attr(self, study_id: int, key: str, value: Any) -> None:
        """Refuses."""
        _refuse(study_id, key, value)

    def set_study_system_attr(self, study_id: int, key: str, value: Any) -> None:
        """Refuses."""
        _refuse(study_id, key, value)

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        """Refuses."""
        _refuse(study_id, template_trial)

    def set_trial_param(
        self,
        trial_id: int,
        param_name: str,
        param_value_internal: float,
        distribution: BaseDistribution,
    ) -> None:
        """Refuses."""
        _refuse(trial_id, param_name, param_value_internal, distribution)

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        """Refuses."""
        _refuse(trial_id, state, values)

    def set_trial_intermediate_value(
        self, trial_id: int, step: int, intermediate_value: float
    ) -> None:
        """Refuses."""
        _refuse(trial_id, step, intermediate_value)

    def set_trial_user_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Refuses."""
        _refuse(trial_id, key, value)

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Refuses."""
        _refuse(trial_id, key, value)

    def _study_of(self, trial_id: int) -> int:
        return trial_id // _TRIALS

    def _study(self, study_id: int, *, mapped: bool = True) -> FrozenStudy:
        studies = self._open(study_id).get_all_studies()
        if not studies:
            raise KeyError(study_id)
        study = copy.copy(studies[0])
        if mapped:
            study._study_id = study_id
        return study

    def _open(self, study_id: int) -> JournalStorage:
        if not 0 <= study_id < len(self._paths):
            raise KeyError(study_id)
        path = self._paths[study_id]
        try:
            inode = path.stat().st_ino
        except FileNotFoundError:
            raise KeyError(study_id) from None
        file = self._files.get(path)
        if file is None or file.inode != inode:
            file = _File(inode, JournalStorage(JournalFileBackend(str(path))))
            self._files[path] = file
        return file.storage


def _mapped(study_id: int, trial: FrozenTrial) -> FrozenTrial:
    mapped = copy.copy(trial)
    mapped._trial_id = study_id * _TRIALS + trial._trial_id
    return mapped


def _refuse(*_: object) -> NoReturn:
    raise PermissionError("results are read-only here")
