"""Senders in Python that try what entries may not: ATTACK names what."""

import ctypes
import mmap
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

secret = os.environ["SECRET"]


def open_file() -> None:
    print(Path(secret).read_text())


def list_folder() -> None:
    print(list(Path(secret).parent.iterdir()))


def look_up() -> None:
    print(Path(secret).stat())


def look_up_by_place() -> None:
    print(os.fstat(os.open(secret, os.O_PATH)))


def look_up_by_system_call() -> None:
    status = ctypes.create_string_buffer(b"\x5a" * 256)
    ctypes.CDLL(None).syscall(262, -100, secret.encode(), status, 0)
    print("unseen" if status.raw[:8] == b"\x5a" * 8 else "seen: the secret", file=sys.stderr)
    sys.exit(1)


def times_of_output() -> None:
    times = [os.fstat(descriptor).st_mtime for descriptor in range(3)]
    raise RuntimeError(f"times {sum(times):g}")


def number() -> None:
    raise RuntimeError(f"numbers {os.getpid()} {os.getppid()} {os.getuid()}")


def hidden_clock() -> None:
    ctypes.CDLL("libc.so.6").clock_gettime(0, ctypes.create_string_buffer(16))


def own_filter() -> None:
    ctypes.CDLL(None).syscall(317, 1, 0, 0)


def write_file() -> None:
    Path(secret).write_text("changed")
    raise RuntimeError("written")


def kill_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)


def start_program() -> None:
    subprocess.run(["/bin/true"], check=True)


def fork() -> None:
    os.fork()


def remove_file() -> None:
    Path(secret).unlink()


def thread() -> None:
    threading.Thread(target=print).start()


def second_socket() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def small_datagram() -> None:
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.connect((sys.argv[1], int(sys.argv[2])))
    own.send(b"x" * 48)


def own_code() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


def own_code_in_a_file() -> None:
    everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    with Path(__file__).open("rb") as file:
        mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=everything)


def null_pointer() -> None:
    ctypes.string_at(0)


def memory() -> None:
    kept = []
    while True:
        kept.append(bytes(10_000_000))  # untouched: the limit is of space, and CPU time has its own


def endless_loop() -> None:
    while True:
        pass


def prints_without_end() -> None:
    while True:
        print("x" * 1000)


def sleeps() -> None:
    while True:
        time.sleep(1000)


def clocks() -> None:
    """Not an attack: what it sees depends on the seed alone."""
    date = f"{time.time()} {random.random()} {os.urandom(4).hex()}"
    raise RuntimeError(f"{date} {hash('seed')} {id(date)} {time.process_time()}")


class Controller:
    def __init__(self) -> None:
        globals()[os.environ["ATTACK"]]()

    def window_size(self) -> int:
        return 5

    def timeout_ms(self) -> int:
        return 1000

    def datagram_was_sent(self, *_: object) -> None:
        pass

    def ack_received(self, *_: object) -> None:
        pass
