"""Networks of trials that search network parameters, with their synthetic traces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kneepoint.common.files import sha256_of, write_whole
from kneepoint.networks.config import OF_SYNTHETIC, Network, changed
from kneepoint.networks.omniscient import Bound
from kneepoint.networks.prepare import bound_of, make_trace
from kneepoint.networks.scenario import PreparedNetwork


@dataclass(frozen=True)
class SearchedNetworks:
    """Variants of a configuration's networks with searched parameters.

    Traces are files named by their SHA-256: equal parameters give equal bytes, so that no result
    depends on which files exist.

    Args:
        described: the networks of the configuration, by name.
        build: folder of the program that makes synthetic traces (see make_trace).
        folder: folder of the traces.
    """

    described: Mapping[str, Network]
    build: Path
    folder: Path
    _known: dict[str, tuple[Path, Bound]] = field(default_factory=dict, repr=False)

    def with_value(self, network: PreparedNetwork, values: Mapping[str, float]) -> PreparedNetwork:
        """Returns a prepared network with these values of its parameters (see `changed`)."""
        of_trace = {name: value for name, value in values.items() if name.startswith(OF_SYNTHETIC)}
        if of_trace:
            network = self._with_trace(network, of_trace)
        for name, value in values.items():
            if name not in of_trace:
                network = network.with_value(name, value)
        return network

    def forget_all_but(self, kept: Iterable[PreparedNetwork]) -> None:
        """Removes all trials' traces except the traces of `kept`; they can be made again."""
        digests = {network.uplink.trace_sha256 for network in kept}
        for path in self.folder.glob("*.trace"):
            if path.stem not in digests:
                path.unlink(missing_ok=True)
        self._known.clear()

    def _with_trace(self, network: PreparedNetwork, values: Mapping[str, float]) -> PreparedNetwork:
        described = changed(self.described[network.name], values)
        key = described.model_dump_json()
        if key not in self._known:
            where = f"network {network.name}: uplink"
            content = make_trace(described.uplink, where, described.duration_s, self.build)
            path = self.folder / f"{sha256_of(content)}.trace"
            if not path.exists():
                write_whole(path, content)
            downlink = network.downlink.trace
            bound = bound_of(described, content, Path(downlink).read_bytes() if downlink else b"")
            self._known[key] = path, bound
        path, bound = self._known[key]
        uplink = replace(network.uplink, trace=str(path), trace_sha256=path.stem)
        return replace(network, uplink=uplink, omniscient=bound)
