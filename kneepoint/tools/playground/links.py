"""The links that the page offers: the shipped networks with synthetic links."""

from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator

from kneepoint.common.config_file import names_in, read_config
from kneepoint.common.errors import suggestion
from kneepoint.common.places import SHIPPED
from kneepoint.networks.config import Network

FURTHER = ("constant", "port", "file")
"""The links that are not shipped networks."""


@cache
def shipped_links() -> tuple[dict[str, Any], ...]:
    """Returns the shipped networks with synthetic links, as the page offers them."""
    names = [name for name in names_in(SHIPPED / "networks") if name.startswith("synthetic")]
    read = {name: read_config(SHIPPED / f"networks/{name}.yaml", Network) for name in names}
    return tuple(filter(None, (as_link(name, network) for name, network in read.items())))


def as_link(name: str, network: Network) -> dict[str, Any] | None:
    """Returns the synthetic links of a network, as the page offers them; None if there are none."""
    up, down = network.uplink.synthetic, network.downlink.synthetic
    if not (up and down):
        return None
    ends = {"uplink": " ".join(up.options), "downlink": " ".join(down.options)}
    return {"name": name, "title": network.title, **ends, "duration_s": up.duration_s}


def _known(link: str) -> str:
    known = [*(each["name"] for each in shipped_links()), *FURTHER]
    if link not in known:
        raise ValueError(f"the page has no such link; {suggestion(link, known)}")
    return link


Link = Annotated[str, AfterValidator(_known)]
