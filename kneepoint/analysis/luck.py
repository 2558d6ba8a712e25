"""The variation of power by chance."""

from collections.abc import Sequence

import pandas as pd

from kneepoint.analysis import statistics
from kneepoint.analysis.frames import select
from kneepoint.analysis.metrics import POWER
from kneepoint.analysis.results import Repeats, StudyRuns
from kneepoint.stats.intervals import Chance


class Luck:
    """The variation of power by chance, from repeated runs of one engine."""

    def __init__(
        self, studies: Sequence[StudyRuns], repeats: Sequence[Repeats], best: pd.DataFrame | None
    ) -> None:
        frames = (
            [each.runs for each in repeats],
            [] if best is None else [best.drop_duplicates("run_id")],
            [each.runs for each in studies if not each.config.fit and each.is_alone],
        )
        columns = ["controller", "network", "study", "parameters", "status", POWER]
        self._runs = [pd.concat([runs[columns] for runs in every]) for every in frames if every]

    def of(self, controller: str, network: str) -> Chance:
        """Returns the variation of a controller on a network, from its repeats.

        Without repeats, it is estimated from runs of its best settings, or from trials of a study.
        """
        for runs in self._runs:
            there = select(runs, controller=controller, network=network)
            chance = statistics.chance(there, ["study", "parameters"])
            if chance.degrees:
                return chance
        return Chance()
