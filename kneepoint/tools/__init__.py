"""Self-contained tools, one folder each, whose commands the command line finds.

The `__init__` of a tool declares

- COMMANDS: by the command's name, the module with its function `command`, and a one-line help;
- SCHEMAS, if the tool has configuration files: their module, model and file names;
- IN_REPORTS, if a report asks for it by `playground`: the module and the function that returns the
  HTML at the end of the report's page;
- PAGES and CONFIGURATION: pages of docs/ and files of the repository that belong to the tool.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def declared(name: str) -> dict[str, Any]:
    """Returns the declarations of this name, by the packages of the tools."""
    packages = [each.name for each in iter_modules(__path__, f"{__name__}.") if each.ispkg]
    found = {package: getattr(import_module(package), name, None) for package in packages}
    return {package: value for package, value in found.items() if value is not None}
