"""Made-up runs over time, in the shape of real ones."""

from typing import Any

from kneepoint.questions.over_time import Showcase
from kneepoint.questions.over_time.tables import ShowcaseRun
from tests.analysis.synthetic import NETWORK, flow_log, link_log

SHOWCASE = Showcase(controller="fixed_window", parameters={"window": 12}, network=NETWORK)


def keys() -> dict[str, Any]:
    """The keys of config.yaml that request it."""
    return {"showcase": SHOWCASE.model_dump()}


def parts() -> dict[str, Any]:
    """The shown run."""
    return {"showcase": ShowcaseRun(SHOWCASE, link_log(), flow_log())}


def real_parts() -> dict[str, Any]:
    """The same run in real mahimahi."""
    return {"real_showcase": ShowcaseRun(SHOWCASE, link_log())}
