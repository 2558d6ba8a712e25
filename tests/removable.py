"""Removes one question or tool from a clone, and tries what is left.

    python tests/removable.py sweeps

deletes the folder of kneepoint/questions or kneepoint/tools and its tests in a temporary clone of
the last commit. What is left must pass the type checker, list the experiments of the shipped
configuration, pass the tests of the other questions and tools, and write a report of made-up
results.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("questions", "tools")


def folders() -> dict[str, list[str]]:
    """What belongs to each question and each tool, relative to the repository."""
    return {
        folder.name: [f"kneepoint/{kind}/{folder.name}", f"tests/{kind}/{folder.name}"]
        for kind in KINDS
        for folder in sorted((ROOT / "kneepoint" / kind).iterdir())
        if (folder / "__init__.py").is_file()
    }


def main() -> int:
    """The command line."""
    name, known = (sys.argv[1:] or [""])[0], folders()
    if name not in known:
        print(f"{name!r} is no question and no tool; one of {', '.join(known)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary) / "kneepoint"
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        (clone / "build").symlink_to(ROOT / "build")
        for folder in known[name]:
            shutil.rmtree(clone / folder, ignore_errors=True)
        python = [sys.executable, "-m"]
        tests = [f"tests/{kind}" for kind in KINDS if (clone / "tests" / kind).is_dir()]
        tried = (
            [*python, "mypy", "--package", "kneepoint"],
            [*python, "kneepoint", "list"],
            [*python, "pytest", "-q", "-m", "not slow and not long", *tests],
            [sys.executable, "-c", "from tests.removable import tell; tell()"],
        )
        for command in tried:
            status = subprocess.run(command, cwd=clone, check=False).returncode
            if status:
                print(f"without {name}: {' '.join(map(str, command))} failed", file=sys.stderr)
                return status
    return 0


def tell() -> None:
    """Composes the report of made-up results with all tables and figures that are there."""
    from kneepoint.analysis.derived import with_derived
    from kneepoint.reports import draw, words
    from tests.analysis import synthetic
    from tests.reports.told import PROVENANCE

    tables = with_derived(synthetic.analysed(synthetic.results()))
    figures = draw.available(tables)
    written = words.compose(tables, PROVENANCE, figures)
    assert len(written.headings) > 10
    assert figures


if __name__ == "__main__":
    sys.exit(main())
