"""Commands by themselves, one folder each, which the command line finds.

The `__init__` of a tool declares

- COMMANDS: their modules, each with a `command`, and what they do, in one line;
- SCHEMAS, if it has files of its own: the module and the name of their model, and what they are
  called;
- PAGES and CONFIGURATION: pages of docs/ and files of the repository that are nothing without it.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def declared(name: str) -> dict[str, Any]:
    """What tools declare by this name, by the tools' packages."""
    packages = [each.name for each in iter_modules(__path__, f"{__name__}.") if each.ispkg]
    found = {package: getattr(import_module(package), name, None) for package in packages}
    return {package: value for package, value in found.items() if value is not None}
