"""What a fork does first (see forked.py): `python -m tests.elsewhere FOLDER ENVIRONMENT MODULE ...`

It becomes `python -m MODULE ...` with that folder as the current one and that environment, which is
an object of JSON. Modules of which the folder has its own are imported from there.
"""

import json
import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """The command line."""
    folder, environment, module, *words = sys.argv[1:]
    os.environ.clear()
    os.environ.update(json.loads(environment))
    os.chdir(folder)
    sys.path[:1] = [folder, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    for name in list(sys.modules):
        if Path(name.partition(".")[0], "__init__.py").exists():
            del sys.modules[name]
    if not hasattr(sys.modules.get(module), "__path__"):
        sys.modules.pop(module, None)  # runpy warns of a module that is imported already
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
