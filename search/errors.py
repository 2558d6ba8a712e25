"""The one error that a user may cause, and how command lines report it."""

import errno
import sys
from collections.abc import Callable

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class KneepointError(Exception):
    """A mistake that its reader can put right.

    The message is one line that names the file, the value and the remedy.
    """


def run_command_line(main: Callable[[], None]) -> None:
    """Runs a program's `main`; what its user can put right becomes `error: ...` and exit status 2.

    That is a KneepointError, and a disk that is full.
    """
    try:
        main()
    except KneepointError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror}; make room and start it again", file=sys.stderr)
        sys.exit(2)
