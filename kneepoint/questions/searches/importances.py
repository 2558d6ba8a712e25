"""Which parameters decided a search's value: importances by PED-ANOVA and by fANOVA, of Optuna.

Watanabe, Bansal, Hutter: PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
Subspaces, IJCAI 2023. Hutter, Hoos, Leyton-Brown: An Efficient Approach for Assessing
Hyperparameter Importance, ICML 2014.
"""

import math
from collections.abc import Sequence

import pandas as pd

from kneepoint.analysis.frames import PARAMETER, records
from kneepoint.analysis.results import Searched

LEAST_TRIALS = 50
"""With fewer, the best tenth says nothing."""
TREES, DEPTH = 16, 4
"""Of fANOVA's forest: on average 0.02 from the shares by 48 full trees, in a 50th of the time."""


def importances(
    trials: pd.DataFrame, searched: Sequence[Searched], minimised: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Each parameter's share of what distinguishes good trials, and of how much the value varies.

    Args:
        trials: columns value (NaN: failed) and parameter_<name> of each searched parameter.
        searched: the parameters and their ranges.
        minimised: whether a smaller value is better.

    Returns:
        By parameter, its share of what distinguishes the best tenth (PED-ANOVA), in all 1; and of
        the variance over all ranges, which it explains alone (fANOVA), in all up to 1. Empty for a
        single parameter or fewer than LEAST_TRIALS trials; the second also for equal values.
    """
    done = trials.dropna(subset=["value"])
    if len(searched) < 2 or len(done) < LEAST_TRIALS:
        return {}, {}
    import optuna  # slow, and the report imports the stage
    from optuna.distributions import BaseDistribution, FloatDistribution
    from optuna.importance import (
        FanovaImportanceEvaluator,
        PedAnovaImportanceEvaluator,
        get_param_importances,
    )
    from optuna.trial import create_trial

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="minimize" if minimised else "maximize")
    # Optuna's fANOVA weighs a range by its width, so that of a logarithmic one is its logarithm's.
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
