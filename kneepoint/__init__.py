"""The `kneepoint` command; in Python, `open_results` and `Evaluator`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kneepoint.analysis.opened import open_results as open_results
    from kneepoint.tools.evaluate.evaluator import Evaluator as Evaluator

__all__ = ["Evaluator", "open_results"]
_PLACES = {
    "open_results": "kneepoint.analysis.opened",
    "Evaluator": "kneepoint.tools.evaluate.evaluator",
}


def __getattr__(name: str) -> Any:
    """Imports pandas and scipy only for those who need them: the command must start fast."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
