"""A whole sender in Python: a loop of its own, which keeps five datagrams in flight."""

import select
import socket
import struct
import sys
import time

HEADER = struct.Struct(">6Q")


def main() -> None:
    host, port = sys.argv[1:]
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.setblocking(False)
    start = time.time()
    sent = acknowledged = 0
    while True:
        while sent - acknowledged < 5:
            sent_ms = int((time.time() - start) * 1000)
            header = HEADER.pack(sent, sent_ms, *[2**64 - 1] * 4)
            link.sendto(header + b"x" * 1424, (host, int(port)))
            sent += 1
        readable, _, _ = select.select([link], [], [], 1.0)
        if not readable:
            acknowledged = sent - 4
            continue
        datagram, _ = link.recvfrom(2000)
        acknowledged = max(acknowledged, HEADER.unpack_from(datagram)[2] + 1)


if __name__ == "__main__":
    main()
