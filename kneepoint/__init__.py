"""The `kneepoint` command: see `python -m kneepoint --help`. In Python, `open_results`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.opened import open_results as open_results

__all__ = ["open_results"]


def __getattr__(name: str) -> Any:
    """Imports pandas only for those who open results: the command must start fast."""
    if name == "open_results":
        from analysis.opened import open_results

        return open_results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
