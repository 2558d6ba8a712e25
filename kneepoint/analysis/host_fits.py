"""Hosts of networks that were fitted to published tables, and the ranges that the fits leave."""

import math
from collections.abc import Iterable, Iterator, Mapping

from kneepoint.analysis.frames import CONSTANT, records
from kneepoint.analysis.recovery import recovery
from kneepoint.analysis.results import Results, StudyRuns

Hosts = Mapping[str, Mapping[str, float | str]]
"""Of each network every setting of its host."""
COPIED = 1e-3
"""Settings that differ relatively by no more are the same: a report prints four digits of them."""


def fitted_host(
    table: str, network: str, studies: Iterable[StudyRuns], hosts: Hosts
) -> tuple[str, ...]:
    """The settings of the host that a fit to the table found and the network has.

    A fit counts only if every host setting of the network equals that of the best fit.
    """
    found = [
        name
        for study in _fits(network, studies, hosts)
        if table in study.config.fit
        for name in _at_best(study)
    ]
    return tuple(dict.fromkeys(found))


def host_ends(network: str, results: Results) -> list[dict[str, float]]:
    """The ends of the interval that a fit leaves each setting of a network's host: one a setting.

    Nothing where the host was not fitted, or where one row cannot tell.
    """
    ends: list[dict[str, float]] = []
    for study in _fits(network, results.audited, results.hosts):
        for line in records(recovery(study, results.published)):
            values = dict.fromkeys((line["pinned_low"], line["pinned_high"]))
            ends += [{line["constant"]: end} for end in values if end not in (line["best"], None)]
    return [end for end in ends if all(value == value for value in end.values())]


def _fits(network: str, studies: Iterable[StudyRuns], hosts: Hosts) -> Iterator[StudyRuns]:
    """The fits of a host that have come out as the network's host is."""
    for study in studies:
        if study.config.fit and not study.config.space and study.trials["value"].notna().any():
            best = _at_best(study)
            fitted = [{**hosts.get(each, {}), **best} for each in study.config.networks]
            if any(_is_alike(each, hosts.get(network, {})) for each in fitted):
                yield study


def _at_best(study: StudyRuns) -> dict[str, float]:
    """The values searched by a fit, at its best."""
    best = records(study.trials.sort_values("value", kind="stable"))[0]
    return {each.name: float(best[CONSTANT + each.name]) for each in study.searched}


def _is_alike(one: Mapping[str, float | str], other: Mapping[str, float | str]) -> bool:
    """Whether two hosts have the same settings, to as many digits as a person would copy."""
    if one.keys() != other.keys():
        return False
    return all(
        math.isclose(value, there, rel_tol=COPIED)
        if isinstance(value, float) and isinstance(there := other[name], float | int)
        else value == other[name]
        for name, value in one.items()
    )
