"""The one error that a user may cause, and how command lines report it."""

import sys
from collections.abc import Callable


class KneepointError(Exception):
    """A mistake that its reader can put right.

    The message is one line that names the file, the value and the remedy.
    """


def run_command_line(main: Callable[[], None]) -> None:
    """Runs a program's `main`; a KneepointError becomes `error: ...` and exit status 2."""
    try:
        main()
    except KneepointError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
