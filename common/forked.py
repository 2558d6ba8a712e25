"""Does what `python -m MODULE ARGUMENT...` does, forked by the server (see fork_server.py), if any.

    python -IS common/forked.py MODULE ARGUMENT...

It imports next to nothing, because the server exists to save its start-up time.
"""

import os
import socket
import sys

SOCKET = "build/fork_server.sock"


def main() -> None:
    """The command line."""
    words = sys.argv[1:]
    request = "".join(f"{word}\0" for word in words).encode(errors="surrogateescape")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        try:
            connection.connect(SOCKET)
            socket.send_fds(connection, [request], [1, 2])
        except OSError:
            os.execv(sys.executable, [sys.executable, "-m", *words])  # noqa: S606
        status = connection.recv(1)
    if not status:
        print("error: the process of this job was killed; run the command again", file=sys.stderr)
    sys.exit(status[0] if status else 2)


if __name__ == "__main__":
    main()
