"""The errors that users can correct, and how command lines report them."""

import errno
import os
import re
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from pwd import getpwuid
from typing import NoReturn

_NO_ROOM = "free some space and run the command again"
_IN_THE_WAY = "move the existing file away or choose another folder"
_REMEDIES: Mapping[int, str] = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _NO_ROOM),
    errno.EFBIG: "raise the limit of file size (ulimit -f)",
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "raise the limit of open files (ulimit -n)"),
    errno.ENOMEM: "free some memory, or raise the limit of address space (ulimit -v)",
    errno.EAGAIN: "end some processes, or raise their limit (ulimit -u)",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make it writable"),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST), _IN_THE_WAY),
    **dict.fromkeys((errno.ENAMETOOLONG, errno.ELOOP), "choose another path"),
}
"""Remedies for file errors outside the program's control."""

_MAX_CHARACTERS = 2000
_MAX_OF_LINE = 300


def printable(text: str) -> str:
    """Returns the text with control characters escaped, so that no terminal obeys them."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class KneepointError(Exception):
    """A mistake that the user can correct.

    The message is one line that names the file, the value and the remedy. Line breaks in quoted
    values are removed, and an overlong message loses its middle.
    """

    def __init__(self, message: object) -> None:
        line = printable(" ".join(str(message).splitlines()))
        if len(line) > _MAX_CHARACTERS:
            line = f"{line[: _MAX_CHARACTERS // 2]} ... {line[-_MAX_CHARACTERS // 2 :]}"
        super().__init__(line)


def fault_of(error: Exception) -> str:
    """Returns the text of an unexpected error with its file and line, for a bug report."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return printable(f"{type(error).__name__}: {error}{place}")


class MachineError(KneepointError):
    """The machine lacks a resource or is misconfigured; the files it reads are not at fault."""


def unusable(path: Path, why: object) -> KneepointError:
    """Returns the error for an unusable file that a job of the workflow makes.

    The remedy forces the job: Snakemake does not remake even a removed file as long as all files
    made from it exist.
    """
    return KneepointError(
        f"{path}: cannot be used ({why}); rebuild it: snakemake --cores all --force "
        f"{shlex.quote(str(path))} (and your --configfile, if you have one)"
    )


def suggestion(name: str, known: Iterable[str]) -> str:
    """Returns the remedy for an unknown name: the most similar known name, or all of them."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names) or 'none'}"


def require_known(name: str, known: Iterable[str], problem: str) -> None:
    """Raises KneepointError with `problem` and a suggestion unless a name is known."""
    names = list(known)
    if name not in names:
        raise KneepointError(f"{problem}; {suggestion(name, names)}")


def of_file(error: OSError) -> MachineError | None:
    """Returns the error for an inaccessible file; None if the user cannot correct it."""
    if error.errno is None or error.errno not in _REMEDIES:
        return None
    path = error.filename2 or error.filename
    said = f"{f'{path}: ' if path else ''}{error.strerror}"
    return MachineError(f"{said}; {_remedy(error.errno, path)}")


def _remedy(code: int, path: object) -> str:
    if code in (errno.EACCES, errno.EPERM) and (owner := _other_owner(path)):
        return f"it belongs to {owner}: ask them, or use another folder"
    return _REMEDIES[code]


@contextmanager
def our_files() -> Iterator[None]:
    """Raises errors of Kneepoint's own files as MachineError (see of_file)."""
    try:
        yield
    except OSError as error:
        raise of_file(error) or error from None


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Adds the path of the written file to OSErrors: errors of write(2) itself name no file."""
    try:
        yield
    except FileNotFoundError:  # as in /proc
        raise MachineError(f"{path}: no file can be made there; choose another folder") from None
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


_LACKS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    *(errno.EAGAIN, errno.EACCES),
)
_SIGNS_OF_LACK: Mapping[int, tuple[str, ...]] = {
    errno.ENOMEM: ("MemoryError", "std::bad_alloc", "failed to map segment", "OpenBLAS error"),
}
"""Messages of programs that lack a resource, besides the text of strerror(3)."""
_DENIED = re.escape(os.strerror(errno.EACCES))
_NAMED_FILE = re.compile(
    rf"{_DENIED}: '(?P<after>[^']+)'|(?P<before>[^\s:'\"\u2018\u2019]+)['\"\u2019]?: {_DENIED}"
)
"""The file that a denied permission concerns, as Python and as other programs print it."""


def lack_in(log: str) -> str | None:
    """Returns the line of a program's log that names a resource the machine lacks, and a remedy."""
    for code in _LACKS:
        words = (os.strerror(code), *_SIGNS_OF_LACK.get(code, ()))
        line = next((each for each in log.splitlines() if any(w in each for w in words)), None)
        if line is not None:
            named = _NAMED_FILE.search(line)
            path = named and (named["before"] or named["after"])
            return f"{line.strip()[-_MAX_OF_LINE:]}; {_remedy(code, path)}"
    return None


def of_signal(number: int) -> str:
    """Returns the name of the signal that ended a program, with a remedy if a limit sent it."""
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    code = errno.EFBIG if number == signal.SIGXFSZ else errno.ENOMEM
    if number in (signal.SIGXFSZ, signal.SIGKILL):
        return f"ended by {name}; {_REMEDIES[code]}"
    return f"ended by {name}"


def _other_owner(path: object) -> str | None:
    """Returns the owner of a file or its nearest existing folder; None if that is this user."""
    if not isinstance(path, str | os.PathLike):
        return None
    for each in (Path(path), *Path(path).absolute().parents):
        try:
            owner = each.stat().st_uid
        except OSError:
            continue
        if owner == os.geteuid():
            return None
        try:
            return f"user {getpwuid(owner).pw_name}"
        except KeyError:
            return f"user {owner}"
    return None


_reporting = threading.Lock()
_is_reported = threading.Event()


def refuse(mistake: object) -> NoReturn:
    """Prints `error: ...` and exits with status 2."""
    with _reporting:
        print(f"error: {mistake}", file=sys.stderr, flush=True)
        _is_reported.set()
    sys.exit(2)


def end_with_error(error: object) -> NoReturn:
    """Ends this process at once, from any thread, with one `error: ...` and status 2."""
    with _reporting:
        if not _is_reported.is_set():
            print(f"error: {error}", file=sys.stderr, flush=True)
        os._exit(2)


def run_command_line(main: Callable[[], None]) -> None:
    """Runs a program's `main`; user errors become `error: ...` and exit status 2.

    User errors are KneepointErrors and inaccessible files. On Ctrl-C the process ends by SIGINT,
    as other programs do.
    """
    try:
        main()
    except KneepointError as error:
        refuse(error)
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError:
        refuse(f"there is not enough memory; {_REMEDIES[errno.ENOMEM]}")
    except OSError as error:
        mistake = of_file(error)
        if mistake is None:
            raise
        refuse(mistake)
    except KeyboardInterrupt:
        print("error: interrupted; run the same command again", file=sys.stderr, flush=True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
