"""`make kernel-rig`: installs the programs that the kernel's rig lacks, and nothing else.

python3 -B -m engines.kernel.install
"""

import shutil

from common.errors import KneepointError, run_command_line
from engines.kernel.diagnosis import Facts, diagnose, missing_packages, read_facts
from engines.mahimahi.install import install_packages, require_root
from engines.mahimahi.system import Changes, System


def main() -> None:
    """Reads no arguments. Changes nothing, and needs no root, where the rig works."""
    facts = read_facts()
    if facts.missing:
        require_root("make kernel-rig")
        install(System(), facts)
    try:
        diagnose()
    except KneepointError as error:
        raise KneepointError(f"the kernel's rig does not work here: {error}") from None
    done = "; `make mahimahi-remove` removes these packages" if facts.missing else ""
    print(f"The kernel's rig works here{done or '; nothing to change'}")


def install(system: System, facts: Facts) -> None:
    """Installs the packages of missing programs, after finishing interrupted work.

    Raises:
        KneepointError: apt cannot install them.
    """
    interrupted = Changes.read(system).installing
    if interrupted:
        install_packages(system, interrupted)
    for package in missing_packages(facts):
        if [package] != interrupted:
            install_packages(system, [package])
    shutil.rmtree(system.package_cache, ignore_errors=True)


if __name__ == "__main__":
    run_command_line(main)
