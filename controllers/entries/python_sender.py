"""Runs a sender in Python, in the interpreter that an entry is given.

A module with a class `Controller` runs in the loop of the contest's kit, any other module as a
whole program. Arguments: FILE ... -- HOST PORT [ARGUMENT]...
"""

import ast
import select
import socket
import struct
import sys
import time
import types
from typing import Any

_HEADER = struct.Struct(">6Q")
_NONE = 2**64 - 1
_PAYLOAD = b"x" * 1424
_STAMP = struct.Struct("@qq")
_LIMIT = struct.Struct("@qq")
_SO_TIMESTAMPNS = 35


class Sender:
    """The kit's sender.

    Args:
        controller: has window_size(), in packets; timeout_ms(); datagram_was_sent(sequence_number,
            send_timestamp, after_timeout) and ack_received(sequence_number_acked,
            send_timestamp_acked, recv_timestamp_acked, timestamp_ack_received), with times in ms.
        host: the receiver's address, in numbers.
        port: the receiver's port.
    """

    def __init__(self, controller: Any, host: str, port: int) -> None:
        self._controller = controller
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.connect((host, port))
        self._start_ms = _now_ms()
        self._timeout_ms = 0  # of the socket; 0: none
        self._sequence_number = 0
        self._next_ack_expected = 0  # an acknowledgment covers all earlier datagrams

    def run(self) -> None:
        """Sends until the process ends."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN | select.POLLOUT)
        while True:
            timeout_ms = int(self._controller.timeout_ms())
            if not self._window_is_open():
                if not self._hear(timeout_ms):
                    self._send(True)
                continue
            ((_, ready),) = poller.poll()  # returns at once: the socket can always be written to
            while self._window_is_open():
                self._send(False)
            if ready & select.POLLIN:
                self._hear(0)

    def _window_is_open(self) -> bool:
        in_flight = self._sequence_number - self._next_ack_expected
        return in_flight < int(self._controller.window_size())

    def _send(self, after_timeout: bool) -> None:
        number = self._sequence_number
        self._sequence_number += 1
        sent_ms = _now_ms() - self._start_ms
        self._socket.send(_HEADER.pack(number, sent_ms, _NONE, _NONE, _NONE, _NONE) + _PAYLOAD)
        self._controller.datagram_was_sent(number, sent_ms, after_timeout)

    def _hear(self, timeout_ms: int) -> bool:
        """Returns whether an acknowledgment came in time.

        The socket itself waits: Python's own timeouts would also read the clock.
        """
        if timeout_ms != self._timeout_ms and timeout_ms > 0:
            limit = _LIMIT.pack(timeout_ms // 1000, timeout_ms % 1000 * 1000)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
            self._timeout_ms = timeout_ms
        try:
            flags = 0 if timeout_ms > 0 else socket.MSG_DONTWAIT
            datagram, extra, _, _ = self._socket.recvmsg(2048, 64, flags)
        except BlockingIOError:
            return False
        seconds, nanoseconds = _STAMP.unpack(extra[0][2])
        received_ms = seconds * 1000 + nanoseconds // 1_000_000 - self._start_ms
        _, _, number, sent_ms, arrived_ms, _ = _HEADER.unpack_from(datagram)
        self._next_ack_expected = max(self._next_ack_expected, number + 1)
        self._controller.ack_received(number, sent_ms, arrived_ms, received_ms)
        return True


def _now_ms() -> int:
    return time.clock_gettime_ns(time.CLOCK_REALTIME) // 1_000_000


def main(words: list[str]) -> None:
    """Runs the entry that the arguments name."""
    file = words[0]
    sys.argv = [file, *words[words.index("--") + 1 :]]
    with open(file, "rb") as source:  # noqa: PTH123 - pathlib takes as long as all the rest
        tree = ast.parse(source.read(), file)
    classes = [each.name for each in tree.body if isinstance(each, ast.ClassDef)]
    is_class = "Controller" in classes
    module = types.ModuleType("entry" if is_class else "__main__")
    module.__file__ = file
    sys.modules[module.__name__] = module
    try:
        exec(compile(tree, file, "exec"), vars(module))  # noqa: S102 - confined
    except ModuleNotFoundError as error:
        error.msg += ": a sender in Python is one file and can import only the standard library"
        raise
    if is_class:
        Sender(vars(module)["Controller"](), sys.argv[1], int(sys.argv[2])).run()


if __name__ == "__main__":
    main(sys.argv[1:])
