"""One run on the kernel's rig, from its namespaces to its metrics.

    unshare -Urnpf --kill-child python -m kneepoint.engines.kernel.supervisor < REQUEST

The request is {"scenario": ..., "delay_line": PATH}.

The supervisor is the first process of a PID namespace, and holds the network namespaces: however it
ends, the kernel then ends all its descendants and removes the namespaces with their devices, queues
and settings.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kneepoint.engines.kernel.answer import FlowSamples, LinkSamples, answer_of
from kneepoint.engines.kernel.diagnosis import SEARCH_PATH
from kneepoint.engines.kernel.netlink import Netlink
from kneepoint.engines.kernel.rig import Rig, data_port, leaves
from kneepoint.engines.kernel.scenario import SAMPLE_S, Scenario, scenario_of
from kneepoint.engines.kernel.traffic import Download, Iperf, Ping, require_control
from kneepoint.engines.supervision import StopListener, serve

_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_ESTABLISHED = 1
_POLL_S = 0.01


class Run:
    """A scenario's traffic on its rig, and samples of the kernel's state."""

    def __init__(self, scenario: Scenario, rig: Rig, stopped: StopListener) -> None:
        self._scenario, self._rig, self._stopped = scenario, rig, stopped
        self._router, self._server, self._client = (
            Netlink(each) for each in (rig.router, rig.server, rig.client)
        )
        self._flows: list[Iperf | Download] = []
        for number, flow in enumerate(scenario.flows):
            if flow.bytes is None:
                iperf = Iperf(rig, flow, number)
                iperf.wait_until_ready(self._client, stopped)
                self._flows.append(iperf)
            else:
                self._flows.append(Download(rig, flow, number))
        self._probes = [Ping(rig, probe) for probe in scenario.probes]
        self._links = (LinkSamples(), LinkSamples())
        self._leaves = (leaves(scenario.uplink), leaves(scenario.downlink))
        self._samples = [FlowSamples() for _ in scenario.flows]

    def run(self) -> dict[str, Any]:
        """Executes the run; returns the answer.

        Raises:
            RunEndedError: the run was stopped, or cannot continue.
        """
        begun_s = time.monotonic()
        agenda = self._agenda()
        next_sample_s = 0.0
        while (now_s := time.monotonic() - begun_s) < self._scenario.duration_s:
            self._stopped.check()
            while agenda and agenda[0][0] <= now_s:
                agenda.pop(0)[1]()
            if now_s >= next_sample_s:
                self._sample(now_s)
                next_sample_s = now_s + SAMPLE_S
            self._check()
            time.sleep(_POLL_S)
        self._sample(now_s)
        return self._answer()

    def _agenda(self) -> list[tuple[float, Callable[[], object]]]:
        """Returns the run's actions with their times (s), sorted by time."""
        planned: list[tuple[float, Callable[[], object]]] = []
        for flow, traffic in zip(self._scenario.flows, self._flows, strict=True):
            planned.append((flow.start_s, traffic.start))
            if flow.stop_s is not None and isinstance(traffic, Iperf):
                planned.append((flow.stop_s, traffic.stop))
        for probe, ping in zip(self._scenario.probes, self._probes, strict=True):
            planned.append((probe.start_s, ping.start))
        return sorted(planned, key=lambda entry: entry[0])

    def _check(self) -> None:
        for each in (self._rig, *self._flows, *self._probes):
            each.check()

    def _sample(self, now_s: float) -> None:
        # The data's port is the sender's local port and the receiver's remote port.
        ports = {data_port(number): number for number in range(len(self._samples))}
        for sender in self._server.tcp_sockets():
            if sender.state == _ESTABLISHED and sender.local_port in ports:
                self._samples[ports[sender.local_port]].sender.append((now_s, sender))
        for receiver in self._client.tcp_sockets():
            if receiver.state == _ESTABLISHED and receiver.remote_port in ports:
                self._samples[ports[receiver.remote_port]].receiver.append((now_s, receiver))
        ends = (self._router, self._client)
        for link, end, parents in zip(self._links, ends, self._leaves, strict=True):
            states = [state for state in end.queues() if state.parent in parents]
            held_packets = sum(state.held_packets for state in states)
            link.held.append((now_s, held_packets, sum(state.held_bytes for state in states)))
            link.bytes = sum(state.bytes for state in states)
            link.packets = sum(state.packets for state in states)
            link.drops = sum(state.drops for state in states)

    def _answer(self) -> dict[str, Any]:
        answers = [ping.stop() for ping in self._probes]
        for traffic, samples in zip(self._flows, self._samples, strict=True):
            samples.completion_s, samples.last = traffic.completion_s, traffic.last
        answer = answer_of(self._scenario, self._links, self._samples, answers)
        return answer | self._rig.end_wire()


def supervise(request: Mapping[str, Any], stopped: StopListener) -> dict[str, Any]:
    """Executes a request and returns the answer."""
    os.environ["PATH"] = SEARCH_PATH
    scenario = scenario_of(request["scenario"], "the scenario")
    available = _CONTROLS.read_text()
    for flow in scenario.flows:
        require_control(flow.controller, available)
    return Run(scenario, Rig(scenario, Path(request["delay_line"])), stopped).run()


if __name__ == "__main__":
    serve(supervise)
