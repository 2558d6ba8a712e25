"""The rig's traffic: iperf3, downloads over HTTP, ping."""

import fcntl
import http.client
import http.server
import re
import signal
import socket
import socketserver
import struct
import subprocess
import tempfile
import termios
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from kneepoint.common.errors import KneepointError
from kneepoint.engines.kernel.netlink import LISTEN, Netlink, tcp_info
from kneepoint.engines.kernel.rig import CLIENT, SERVER, Rig, data_port
from kneepoint.engines.kernel.scenario import HEADERS_BYTES, LONGEST_S, Flow, Probe
from kneepoint.engines.supervision import RunEndedError, StopListener

_FIRST_CONTROL_PORT = 5201
_START_LIMIT_S = 10.0
_POLL_S = 0.01
_TCP_INFO_BYTES = 256
_CHUNK = bytes(1 << 16)
_COUNTED = (0, 1)
"""Exit statuses of ping(8) after its count: with and without answers."""
_REPLY = re.compile(r"icmp_seq=(\d+) .*time=([\d.]+) ms")


class Iperf:
    """An endless flow by iperf3, whose client sends the data."""

    completion_s: None = None
    last: None = None

    def __init__(self, rig: Rig, flow: Flow, number: int) -> None:
        self._rig, self._flow, self._number = rig, flow, number
        self._port = _FIRST_CONTROL_PORT + number
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this)
        self._client: subprocess.Popen[bytes] | None = None
        self._is_stopped = False
        server = ["iperf3", "--server", "--one-off", "-4", "--port", str(self._port)]
        self._server = rig.client.start(server, stdout=subprocess.DEVNULL, stderr=self._output)

    def wait_until_ready(self, client: Netlink, stopped: StopListener) -> None:
        """Waits for the server; raises RunEndedError if it does not listen."""

        def listens() -> bool:
            sockets = client.tcp_sockets()
            return any(s.state == LISTEN and s.local_port == self._port for s in sockets)

        stopped.wait(listens, _START_LIMIT_S, "iperf3's server does not listen", self.check)

    def start(self) -> None:
        """Starts sending."""
        words = iperf_words(self._flow, CLIENT, self._port, self._number)
        self._client = self._rig.server.start(words, stdout=subprocess.DEVNULL, stderr=self._output)

    def check(self) -> None:
        """Raises RunEndedError if it has ended before `stop`."""
        if self._is_stopped:
            return
        if self._client is not None and self._client.poll() is not None:
            raise RunEndedError(f"iperf3 ended during the run: {self._last_words()}")
        if self._server.poll() is not None:
            raise RunEndedError(f"iperf3's server ended during the run: {self._last_words()}")

    def stop(self) -> None:
        """Ends the client and the server."""
        self._is_stopped = True
        for process in (self._client, self._server):
            if process is not None:
                process.kill()
                process.wait()

    def _last_words(self) -> str:
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("iperf3: error - ") if lines else "no reason given"


class Download:
    """A download of one object over HTTP; each end is a thread in its namespace.

    `bytes` is the object's length; `last` has the sender's final metrics once it has ended.
    """

    def __init__(self, rig: Rig, flow: Flow, number: int) -> None:
        assert flow.bytes is not None
        self.completion_s: float | None = None
        self.last: dict[str, Any] | None = None
        self._rig, self.bytes, self._port = rig, flow.bytes, data_port(number)
        self._failure = ""
        with rig.server.entered():
            # Not http.server.HTTPServer, which looks up its own name: the namespace has no DNS.
            self._server = socketserver.TCPServer((SERVER, self._port), _handler_of(self))
        # Connections inherit the listening socket's congestion control.
        self._server.socket.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow.controller.encode()
        )
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def start(self) -> None:
        """Requests the object."""
        threading.Thread(target=self._fetch, daemon=True).start()

    def check(self) -> None:
        """Raises RunEndedError if it has failed."""
        if self._failure:
            raise RunEndedError(f"the HTTP server does not answer: {self._failure}")

    def send(self, connection: socket.socket) -> None:
        """Sends the object, and waits until all is acknowledged."""
        left = self.bytes
        while left > 0:
            connection.sendall(_CHUNK[:left])
            left -= len(_CHUNK)
        while struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]:
            time.sleep(_POLL_S)
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        self.last = tcp_info(info)

    def _fetch(self) -> None:
        begun_s = time.monotonic()
        try:
            with self._rig.client.entered():
                connection = http.client.HTTPConnection(SERVER, self._port, timeout=LONGEST_S)
                connection.request("GET", "/")
                content = connection.getresponse().read()
                ended_s = time.monotonic()
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            self._failure = str(error)
            return
        if len(content) != self.bytes:
            self._failure = f"{len(content)} of {self.bytes} bytes arrived"
        self.completion_s = ended_s - begun_s


def _handler_of(download: Download) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(download.bytes))
            self.end_headers()
            download.send(self.connection)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


class Ping:
    """A train of pings from the server to the client, in the data's direction."""

    def __init__(self, rig: Rig, probe: Probe) -> None:
        self._rig, self._probe = rig, probe
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the train."""
        words = [*ping_words(self._probe), CLIENT]
        self._process = self._rig.server.start(words, stdout=self._output, stderr=self._output)

    def check(self) -> None:
        """Raises RunEndedError if it has ended before its count."""
        ended = None if self._process is None else self._process.poll()
        if ended is not None and (self._probe.count is None or ended not in _COUNTED):
            raise RunEndedError(f"ping ended during the run: {self._text().strip()[-200:]}")

    def stop(self) -> list[float | None]:
        """Ends the train and returns its RTTs (ms); None for a ping without an answer."""
        if self._process is None:
            return []
        self._process.send_signal(signal.SIGINT)  # ping then prints the number of pings sent
        try:
            self._process.wait(_START_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        return rtts_of(self._text())

    def _text(self) -> str:
        self._output.seek(0)
        return self._output.read().decode(errors="replace")


def iperf_words(flow: Flow, server: str, port: int, number: int) -> list[str]:
    """Returns the command of an endless flow's sender; the flow's number determines its port."""
    words = ["iperf3", "--client", server, "-4", "--port", str(port), "-C", flow.controller]
    words += ["--cport", str(data_port(number)), "--time", str(LONGEST_S), "--interval", "0"]
    buffer_bytes = flow.socket_buffer_bytes
    return words if buffer_bytes is None else [*words, "--window", str(buffer_bytes)]


def ping_words(probe: Probe) -> list[str]:
    """Returns the command of a train of pings, without its destination."""
    words = ["ping", "-n", "-i", f"{probe.interval_ms / 1000:g}"]
    if probe.count is not None:
        words += ["-c", str(probe.count)]
    return [*words, "-s", str(probe.bytes - HEADERS_BYTES - 28)]


def rtts_of(text: str) -> list[float | None]:
    """Parses the RTTs (ms) in ping(8)'s output; duplicate answers count once."""
    replies = {int(number): float(rtt_ms) for number, rtt_ms in _REPLY.findall(text)}
    sent = re.search(r"(\d+) packets transmitted", text)
    count = int(sent[1]) if sent else max(replies, default=0)
    return [replies.get(number) for number in range(1, count + 1)]


_MAX_BUFFER = Path("/proc/sys/net/core")


def require_buffers(flows: Iterable[Flow], settings: Path = _MAX_BUFFER) -> None:
    """Raises KneepointError unless the kernel grants the flows' socket buffers.

    Containers may hide the limits; there iperf3 itself fails if it gets a smaller buffer.
    """
    wanted = max((flow.socket_buffer_bytes or 0 for flow in flows), default=0)
    limits = [path for name in ("rmem_max", "wmem_max") if (path := settings / name).exists()]
    low = [path.name for path in limits if wanted > int(path.read_text())]
    if low:
        raise KneepointError(
            f"receive_buffer_bytes: {2 * wanted} is more than this kernel grants; as root: "
            f"sysctl -w {' '.join(f'net.core.{each}={wanted}' for each in low)}"
        )


def require_control(name: str, available: str) -> None:
    """Raises KneepointError unless the kernel's available congestion controls include the name."""
    if name not in available.split():
        raise KneepointError(
            f"this kernel has no congestion control {name!r}, but {', '.join(available.split())}; "
            f"load it (modprobe tcp_{name}), or use the emulator for our controllers"
        )
