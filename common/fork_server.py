"""Starts programs by forking a process that has imported what they need.

Some sixty jobs of a workflow would each spend more time on imports than on their work.
`start_fork_server` starts the process; `python -IS common/forked.py MODULE ARGUMENT...` then does
what `python -m MODULE ARGUMENT...` does, and runs that command if there is no server.

A request is one message: the client's standard output and error, as file descriptors, and the words
of the command line, each terminated by NUL. The answer is one byte, the exit status. When the
client closes the connection, the program ends.
"""

import argparse
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

SOCKET = Path("build/fork_server.sock")
"""Relative, because an absolute path may be too long."""

_LONGEST_REQUEST = 2**16
_POLL_S = 0.5
_PATIENCE_S = 10.0
"""Time limit for a connected client to send its request."""


def start_fork_server(
    modules: Sequence[str], log: Path, path: Path = SOCKET, late: Sequence[str] = ()
) -> None:
    """Starts the server, which imports these modules, and returns at once.

    It imports those of `late` when a client first requests one of them, once for all clients. It
    ends with this process. It has a session of its own, so that Ctrl-C reaches only the
    workflow, which ends its jobs.
    """
    path.unlink(missing_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, log.open("wb") as output:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(128)  # queues clients while the server still imports
        options = [f"--owner={os.getpid()}", f"--listener={listener.fileno()}", *modules]
        options += [f"--late={module}" for module in late]
        subprocess.Popen(
            [sys.executable, "-m", "common.fork_server", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )


def _serve(owner: int, listener: socket.socket, late: set[str]) -> None:
    """Forks for each request until the process that started this one has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # lets the kernel reap children
    listener.settimeout(_POLL_S)
    while os.getppid() == owner:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(_PATIENCE_S)
            try:
                request, descriptors, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 2)
            except OSError:  # the client ended before its request
                continue
            module, *arguments = request.decode(errors="surrogateescape").split("\0")[:-1] or [""]
            if module in late:
                late.remove(module)
                with suppress(Exception):  # the fork reports it
                    import_module(module)
            if module and os.fork() == 0:
                listener.close()
                _run(connection, descriptors, module, arguments)
            for descriptor in descriptors:
                os.close(descriptor)


def _run(
    connection: socket.socket, descriptors: Sequence[int], module: str, arguments: Sequence[str]
) -> None:
    """Body of the forked process: runs the requested module and exits."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        connection.settimeout(None)
        for standard, descriptor in enumerate(descriptors, start=1):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        threading.Thread(target=_end_when_alone, args=(connection,), daemon=True).start()
        sys.argv = [module, *arguments]
        status = _exit_status_of(module)
        sys.stdout.flush()
        sys.stderr.flush()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the client may leave once it has the status
        connection.send(bytes([status & 0xFF]))
    finally:
        os._exit(status)


def _exit_status_of(module: str) -> int:
    """Runs a module to its end, as the interpreter would."""
    sys.modules.pop(module, None)  # runpy warns about modules imported before
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end_when_alone(connection: socket.socket) -> None:
    """Ends this process when its client ends."""
    connection.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--owner", type=int, required=True, help="process with which this one ends")
    parser.add_argument("--listener", type=int, required=True, help="descriptor of a socket")
    parser.add_argument("modules", nargs="*", help="modules to import in advance")
    parser.add_argument("--late", action="append", default=[], help="module to import on request")
    arguments = parser.parse_args()
    for module in arguments.modules:
        import_module(module)
    _serve(arguments.owner, socket.socket(fileno=arguments.listener), set(arguments.late))


if __name__ == "__main__":
    main()
