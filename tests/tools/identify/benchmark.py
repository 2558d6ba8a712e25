"""Whether `kneepoint identify` names the rule of each report, and no rule for other senders.

    python -m tests.tools.identify.benchmark [SENDER...]

Each sender has its defaults, which were not chosen for this test, and runs on three links; the
identified rule predicts its power on three others. `nearest` is the next family, which shows how
certain the identification is.
"""

import argparse
import os
from collections.abc import Sequence
from contextlib import closing

from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.engines.built import EMULATE, REPLAY
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.behaviour import watch
from kneepoint.entries.entries import Sender
from kneepoint.runs.executor import LocalExecutor
from kneepoint.search.behaviour import known_families
from kneepoint.search.language import parse
from tests.conftest import ROOT

WATCHED = ("contest", "verizon-lte-driving-1", "tmobile-umts-driving-1")
UNSEEN = ("att-lte-driving-1", "tmobile-lte-driving", "verizon-lte-driving-2")
OTHERS = ("copa", "vivace", "dalida", "rule")
"""Senders of no known family; the rule is from docs/how-to/evolve-a-rule.md."""
SEEDS = range(1, 9)


def law() -> dict[str, float]:
    """Returns the parameters of the rule in the how-to."""
    page = (ROOT / "docs/how-to/evolve-a-rule.md").read_text(encoding="utf-8")
    lines = [line.strip() for line in page.splitlines() if line.startswith("    ")]
    return parse("\n".join(lines)).parameters


def main(senders: Sequence[str]) -> None:
    """Prints a line for each sender."""
    make_what_is_missing(ROOT / "config/config.yaml", [*WATCHED, *UNSEEN], [], [REPLAY])
    catalogue = load_catalogue(EMULATE)
    known = known_families(catalogue)
    engine = EmulatorSettings.of(EMULATE)
    watched, unseen = ([prepared_network(name) for name in some] for some in (WATCHED, UNSEEN))
    print("| sender | behaves like | distance | explained | nearest other | predicted power |")
    print("| --- | --- | --- | --- | --- | --- |")
    with closing(LocalExecutor(engine, os.cpu_count() or 1)) as executor:
        for name in senders or [*(each.name for each in known), *OTHERS]:
            controller = catalogue.controller(name, "benchmark")
            parameters = controller.complete(law() if name == "rule" else {}, name)
            found = watch(
                Sender(name, controller=(controller, parameters)),
                [(each, None) for each in known],
                *(watched, unseen, SEEDS, engine, executor),
            )
            first, second = found["families"][:2]
            power = found["prediction"]["all"]
            print(
                f"| {name} | {first['family'] if found['behaves_like'] else 'none'} "
                f"| {first['distance']:.4f} | {100 * first['explained']:.0f} % "
                f"| {second['family']}, {second['distance']:.3f} "
                f"| {power['ratio']:.3f} [{power['low']:.3f}, {power['high']:.3f}] |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("senders", nargs="*", help="controllers; otherwise all")
    main(parser.parse_args().senders)
