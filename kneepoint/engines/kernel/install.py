"""`make kernel-rig`: installs the missing programs of the kernel's rig.

python3 -B -m kneepoint.engines.kernel.install
"""

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.engines.kernel.diagnosis import diagnose, missing_packages
from kneepoint.engines.system import install_packages, require_root


def main() -> None:
    """Installs missing packages; changes nothing, and needs no root, if the rig works."""
    missing = missing_packages()
    if missing:
        require_root("make kernel-rig")
    for package in missing:
        install_packages(package)
    try:
        diagnose()
    except KneepointError as error:
        raise KneepointError(f"the kernel's rig does not work here: {error}") from None
    done = "`make mahimahi-remove` removes these packages" if missing else "nothing to change"
    print(f"The kernel's rig works here; {done}")


if __name__ == "__main__":
    run_command_line(main)
