"""Finds the published rule nearest to a sender's behaviour, and tests its prediction of power."""

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from kneepoint.common.files import private_folder
from kneepoint.common.json_text import Json
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.entries import Sender
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.search.behaviour import Known, Likeness, identify, log_runs, require_ran
from kneepoint.stats.paired import paired_ratio


def watch(
    sender: Sender,
    known: Sequence[Known],
    watched: Sequence[PreparedNetwork],
    unseen: Sequence[PreparedNetwork],
    seeds: Sequence[int],
    engine: EmulatorSettings,
    executor: LocalExecutor,
) -> Json:
    """Identifies a sender's rule on networks, and predicts its power on others by that rule.

    Args:
        sender: the sender.
        known: the rules.
        watched: networks on which the sender is observed.
        unseen: networks for the prediction.
        seeds: seeds of the runs.
        engine: the engine.
        executor: executes the runs.

    Returns:
        See `describe`, with `prediction`: the ratio of the nearest rule's power to the sender's,
        with its 95 % interval over seeds, for each unseen network and for all together.

    Raises:
        NoSenderError: a run failed, or a log has ambiguous packets.
        KneepointError: a fault of the machine prevented a run.
    """
    with private_folder("behaviour") as folder:
        specs = [sender.spec(engine, network, seeds[0]) for network in watched]
        found = identify(log_runs(engine, specs, folder), known, seeds[0])
    nearest = next((each for each in found if each.is_near), found[0])
    rule = Sender("", controller=(nearest.family.controller, dict(nearest.parameters)))
    specs = [
        side.spec(engine, network, seed)
        for network in unseen
        for side in (rule, sender)
        for seed in seeds
    ]
    powers = {}
    for record in chain.from_iterable(executor.execute(specs)):
        require_ran(record, sender.name)
        powers[record.run_id] = record.power
    values = np.reshape([powers[spec.run_id] for spec in specs], (len(unseen), 2, len(seeds)))
    pairs = {network.name: [(a, b)] for network, (a, b) in zip(unseen, values, strict=True)}
    if unseen:
        pairs["all"] = [(a, b) for a, b in values]
    prediction = {name: _ratio(each, seeds[0]) for name, each in pairs.items()}
    return {**describe(found), "prediction": prediction}


def describe(found: Sequence[Likeness]) -> Json:
    """Returns all families for JSON; `behaves_like` is the first family that is near, or None."""
    near = next((each.words for each in found if each.is_near), None)
    return {
        "behaves_like": near,
        "families": [
            {
                "family": each.family.name,
                "distance": each.distance,
                "explained": each.explained,
                "parameters": each.parameters,
                "words": each.words,
            }
            for each in found
        ],
    }


def _ratio(pairs: Sequence[tuple[ArrayLike, ArrayLike]], seed: int) -> Json:
    found = paired_ratio(pairs, seed)
    return {
        name: None if math.isnan(value := getattr(found, name)) else value
        for name in ("ratio", "low", "high")
    }
