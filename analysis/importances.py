"""Which parameters decided a search's value: Optuna's PED-ANOVA importances.

Watanabe, Bansal, Hutter: PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
Subspaces, IJCAI 2023.
"""

from collections.abc import Sequence

import optuna
import pandas as pd
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import create_trial

from analysis.frames import CONSTANT
from analysis.results import Searched

LEAST_TRIALS = 50
"""With fewer, the best tenth says nothing."""


def importances(
    trials: pd.DataFrame, searched: Sequence[Searched], minimised: bool
) -> dict[str, float]:
    """Each constant's share of what distinguishes the best tenth of the trials; shares sum to 1.

    Args:
        trials: columns value (NaN: failed) and constant_<name> of each searched constant.
        searched: the constants and their ranges.
        minimised: whether a smaller value is better.

    Returns:
        By constant; empty for a single constant or fewer than LEAST_TRIALS trials.
    """
    done = trials.dropna(subset=["value"])
    if len(searched) < 2 or len(done) < LEAST_TRIALS:
        return {}
    space: dict[str, BaseDistribution] = {
        constant.name: FloatDistribution(constant.low, constant.high, log=constant.logarithmic)
        for constant in searched
    }
    study = optuna.create_study(direction="minimize" if minimised else "maximize")
    study.add_trials(
        create_trial(
            params={name: float(row[CONSTANT + name]) for name in space},
            distributions=space,
            value=float(row["value"]),
        )
        for _, row in done.iterrows()
    )
    return get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
