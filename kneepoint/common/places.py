"""Paths of the tool, and of the files that are made for a project.

The tool is a checkout, or the read-only folder `data` of an installed package, which has the same
layout. A project is the folder of a config.yaml or of config/config.yaml; it is the current folder
of every command and job.
"""

from pathlib import Path

VERSION = "0.1.0"
PACKAGE = Path(__file__).parent.parent
_DATA = PACKAGE / "data"
IS_INSTALLED = _DATA.is_dir()
TOOL = _DATA if IS_INSTALLED else PACKAGE.resolve().parent
"""The folder of Snakefile, config, controllers and build."""
BUILT = TOOL / "build"
"""The built programs and shipped controllers."""
SHIPPED = TOOL / "config"
"""The shipped configuration."""

STATE = Path(".kneepoint")
"""The folder of files that are made for a project besides its results."""
NETWORKS = STATE / "networks"
TRACES = STATE / "traces"
OWN_CONTROLLERS = STATE / "controllers"
"""The built controllers of a project."""
LOGS = STATE / "logs"
BENCHMARKS = STATE / "benchmarks"
"""Duration and memory of each job, as Snakemake's `benchmark` writes them."""
