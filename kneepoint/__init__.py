"""The `kneepoint` command; in Python, `open_results`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kneepoint.analysis.opened import open_results as open_results

__all__ = ["open_results"]


def __getattr__(name: str) -> Any:
    """Imports pandas and scipy only on demand, because the command must start fast."""
    if name == "open_results":
        from kneepoint.analysis.opened import open_results

        return open_results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
