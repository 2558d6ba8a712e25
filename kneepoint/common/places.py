"""Where the tool is, and where a project keeps what is made for it.

The tool is a checkout, or the folder `data` of an installed package, which has the same layout and
into which nothing is written. A project is the folder of a config.yaml or of config/config.yaml; it
is the current folder of every command and job.
"""

from pathlib import Path

VERSION = "0.1.0"
PACKAGE = Path(__file__).parent.parent
_DATA = PACKAGE / "data"
IS_INSTALLED = _DATA.is_dir()
TOOL = _DATA if IS_INSTALLED else PACKAGE.resolve().parent
"""The folder of Snakefile, config, controllers and build."""
BUILT = TOOL / "build"
"""The programs, and the controllers that the tool ships."""
SHIPPED = TOOL / "config"
"""The configuration that the tool ships."""

STATE = Path(".kneepoint")
"""What is made for a project besides its results."""
NETWORKS = STATE / "networks"
TRACES = STATE / "traces"
OWN_CONTROLLERS = STATE / "controllers"
"""The project's own, as they are built."""
LOGS = STATE / "logs"
BENCHMARKS = STATE / "benchmarks"
"""How long each job took."""
