"""Runs a scenario on the kernel's own TCP, in real time.

    python -m kneepoint.engines.kernel.run SCENARIO.json

prints one JSON object, as `build/emulate --scenario SCENARIO.json` does in virtual time.
"""

import argparse
import json
import signal
import sys
from pathlib import Path

from kneepoint.common.errors import run_command_line
from kneepoint.common.places import BUILT
from kneepoint.engines.base import MachineFaultError
from kneepoint.engines.kernel.engine import KernelSettings
from kneepoint.engines.kernel.scenario import read_scenario


def main() -> None:
    """Reads the command line; prints the answer, or ends with status 2 (1: a machine fault)."""
    parser = argparse.ArgumentParser(
        prog="python -m kneepoint.engines.kernel.run", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("scenario", type=Path, help="see build/emulate --scenario-schema")
    content = read_scenario(parser.parse_args().scenario)
    engine = KernelSettings.of(BUILT).open()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        print(json.dumps(engine.answer(content)))
    except MachineFaultError as fault:
        print(f"error: {fault}; run it again", file=sys.stderr)
        sys.exit(1)
    finally:
        engine.close()


if __name__ == "__main__":
    run_command_line(main)
