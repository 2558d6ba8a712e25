"""A sender of the tests in Python: a fixed window or AIMD by silences, by the environment."""

import os


class Controller:
    def __init__(self) -> None:
        self._alpha = float(os.environ.get("ALPHA", 0))
        self._beta = float(os.environ.get("BETA", 1))
        self._window = float(os.environ["WINDOW"])

    def window_size(self) -> float:
        return self._window

    def timeout_ms(self) -> int:
        return int(os.environ["KEEPALIVE_MS"])

    def datagram_was_sent(self, number: int, sent_ms: int, after_timeout: bool) -> None:
        if after_timeout:
            self._window = max(1.0, self._window / self._beta)

    def ack_received(self, number: int, sent_ms: int, arrived_ms: int, received_ms: int) -> None:
        assert 0 <= sent_ms <= received_ms and arrived_ms >= 0
        self._window += self._alpha / self._window
