"""Scores candidate controllers for an external search."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kneepoint.tools.evaluate.evaluator import Evaluator as Evaluator

__all__ = ["Evaluator"]
COMMANDS = {
    "evaluate": ("command", "score the candidate controllers of a search"),
}
PAGES = ("how-to/search-for-a-controller",)


def __getattr__(name: str) -> Any:
    """Imports the evaluator, and with it scipy, only on demand: the command must start fast."""
    if name == "Evaluator":
        from kneepoint.tools.evaluate.evaluator import Evaluator

        return Evaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
