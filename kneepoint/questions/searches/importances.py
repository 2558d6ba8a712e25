"""Importances of parameters in a search by Optuna's PED-ANOVA and fANOVA.

Watanabe, Bansal, Hutter: PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
Subspaces, IJCAI 2023. Hutter, Hoos, Leyton-Brown: An Efficient Approach for Assessing
Hyperparameter Importance, ICML 2014.
"""

import math
from collections.abc import Sequence

import pandas as pd

from kneepoint.analysis.frames import PARAMETER, records
from kneepoint.analysis.results import Searched

MIN_TRIALS = 50
"""The minimum number of trials, so that the best tenth has at least five."""
TREES, DEPTH = 16, 4
"""Size of fANOVA's forest: shares differ by 0.02 on average from the shares by 48 full trees, which
take 50 times as long."""


def importances(
    trials: pd.DataFrame, searched: Sequence[Searched], minimised: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Returns each parameter's importance for the best trials, and for the variance of the value.

    Args:
        trials: columns value (NaN: failed) and parameter_<name> of each searched parameter.
        searched: the parameters and their ranges.
        minimised: whether a smaller value is better.

    Returns:
        For each parameter, its importance for reaching the best tenth (PED-ANOVA; the sum is 1),
        and the share of the variance over all ranges that it explains alone (fANOVA; the sum is at
        most 1). Both are empty for a single parameter or fewer than MIN_TRIALS trials, the second
        also if all values are equal.
    """
    done = trials.dropna(subset=["value"])
    if len(searched) < 2 or len(done) < MIN_TRIALS:
        return {}, {}
    import optuna  # a slow import
    from optuna.distributions import BaseDistribution, FloatDistribution
    from optuna.importance import (
        FanovaImportanceEvaluator,
        PedAnovaImportanceEvaluator,
        get_param_importances,
    )
    from optuna.trial import create_trial

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="minimize" if minimised else "maximize")
    # Optuna's fANOVA weighs a range by its width, so logarithmic ranges are passed as logarithms.
    scales = {each.name: math.log if each.logarithmic else float for each in searched}
    space: dict[str, BaseDistribution] = {
        each.name: FloatDistribution(scales[each.name](each.low), scales[each.name](each.high))
        for each in searched
    }
    study.add_trials(
        create_trial(
            params={name: scale(row[PARAMETER + name]) for name, scale in scales.items()},
            distributions=space,
            value=float(row["value"]),
        )
        for row in records(done)
    )
    best = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
    if done["value"].nunique() < 2:
        return best, {}
    forest = FanovaImportanceEvaluator(n_trees=TREES, max_depth=DEPTH, seed=0)
    return best, forest.evaluate(study)
