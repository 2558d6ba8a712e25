"""Senders in Python that try forbidden actions; ATTACK names the action."""

import ctypes
import fcntl
import hashlib
import mmap
import os
import random
import resource
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
        kept.append(bytes(10_000_000))  # untouched: the limit is on address space, not on CPU time


def endless_loop() -> None:
    while True:
        pass


def prints_without_end() -> None:
    while True:
        print("x" * 1000)


def sleeps() -> None:
    while True:
        time.sleep(1000)


def resident_pages() -> None:
    with Path(__file__).open("rb") as file:
        pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        place = ctypes.c_void_p.from_buffer_copy(ctypes.string_at(id(pages) + 16, 8))
        ctypes.CDLL(None).mincore(place, 1, ctypes.create_string_buffer(8))


def evicted_pages() -> None:
    library = ctypes.CDLL(None)
    code = ctypes.cast(library.getpid, ctypes.c_void_p).value or 0
    page = ctypes.c_void_p(code & ~4095)
    pageout, cold, willneed, populate = 21, 20, 3, 22
    done = [library.madvise(page, 4096, advice) for advice in (pageout, cold, willneed, populate)]
    raise RuntimeError(f"moved {done}")


def pages_by_another_read() -> None:
    own = os.open(__file__, os.O_RDONLY)
    os.preadv(own, [bytearray(8)], 0, os.RWF_NOWAIT)


def read_past_the_cache() -> None:
    os.open(__file__, os.O_RDONLY | os.O_DIRECT)


def advised_pages() -> None:
    os.posix_fadvise(os.open(__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)


def own_file() -> None:
    status = Path(__file__).stat()
    words = [status.st_mode, status.st_uid, status.st_gid, status.st_dev, status.st_nlink]
    times_ns = [status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns]
    raise RuntimeError(f"own {words} {sum(times_ns)}")


def own_file_by_system_call() -> None:
    status = ctypes.create_string_buffer(b"\x5a" * 256)
    ctypes.CDLL(None).syscall(5, os.open(__file__, os.O_RDONLY), status)
    raise RuntimeError(f"own {status.raw[28:36].hex()} {status.raw[72:120].hex()}")


def own_file_by_statx() -> None:
    status = ctypes.create_string_buffer(b"\x5a" * 256)
    ctypes.CDLL(None).syscall(332, -100, __file__.encode(), 0, 0xFFF, status)
    print("unseen" if status.raw[:8] == b"\x5a" * 8 else "seen", file=sys.stderr)
    sys.exit(1)


def own_folder() -> None:
    raise RuntimeError(f"folder {os.getcwd()}")  # noqa: PTH109 - as the system tells it


def packages() -> None:
    there = [name for name in sys.path for each in Path(name).glob("*-packages")]
    raise RuntimeError(f"packages {there}")


def processes() -> None:
    print(list(Path("/proc").iterdir()))


def host_name() -> None:
    print(os.uname())


def large_pages() -> None:
    mmap.mmap(-1, 2**21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)


def own_report() -> None:
    os.write(29, bytes(16) + b"\x00\x00\x00\x00\xff\xff\xff\xff" + b"\x01" * 64)
    raise RuntimeError(f"heard {len(os.read(30, 4096)) >= 56}")


def order_without_waiting() -> None:
    os.set_blocking(30, False)


def order_by_its_size() -> None:
    fcntl.ioctl(30, 0x541B, bytes(4))


def orders_by_select() -> None:
    print(ctypes.CDLL("libc.so.6").poll(ctypes.create_string_buffer(8), 1, 0))


def timer() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.01)


def signal_of_its_own() -> None:
    signal.signal(signal.SIGALRM, print)
    ctypes.CDLL(None).syscall(37, 1)


def wait_with_a_limit() -> None:
    lock = threading.Lock()
    while lock.acquire():
        lock.acquire(timeout=0.005)
        lock.release()


def priority() -> None:
    os.nice(5)


def processor() -> None:
    os.sched_setaffinity(0, {0})


def limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (99, 99))


def shared_memory() -> None:
    ctypes.CDLL(None).syscall(29, 0, 4096, 0o1777)


def library_of_the_system() -> None:
    print(ctypes.CDLL("libcrypto.so.3"))


def compiled_code_of_its_own() -> None:
    with Path("own.so").open("wb") as file:
        file.write(b"\x7fELF")
    ctypes.CDLL("./own.so")


def module_that_is_left_out() -> None:
    import asyncio

    asyncio.run(asyncio.sleep(1))


def descriptors() -> None:
    kept = []
    while True:
        kept.append(os.open(__file__, os.O_RDONLY))


def end_of_the_emulator() -> None:
    os.close(29)
    time.sleep(1)


def everything() -> None:
    """Reports everything that a sender can observe of its host."""
    seen = hashlib.sha256()
    for folder, folders, names in os.walk("/"):
        seen.update(f"{folders} {names} {[each.inode() for each in os.scandir(folder)]}".encode())
        for path in (Path(folder, name) for name in names):
            seen.update(f"{path} {path.stat()}".encode() + path.read_bytes())
    output = [os.fstat(descriptor) for descriptor in range(3)]
    seen.update(f"{output} {Path.cwd()} {os.getuid()} {os.getpid()} {os.environ}".encode())
    memory = [os.sysconf(name) for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES")]
    seen.update(f"{memory} {os.cpu_count()} {os.times()} {os.getgid()}".encode())
    seen.update(f"{sys.flags} {sys.path} {time.time()} {time.monotonic()} {id(seen)}".encode())
    raise RuntimeError(f"sees {seen.hexdigest()}")


def clocks() -> None:
    """Not an attack: its observations depend on the seed alone."""
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
