"""The log of a study's trials."""

import subprocess
import sys
from pathlib import Path

from kneepoint.search.trial_log import TRIAL_LOG
from tests.conftest import ROOT

LIMITED = """
import resource, sys
from pathlib import Path
from kneepoint.search.trial_log import open_log
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
try:
    with open_log(Path(sys.argv[1]), "a", {"title": "more than twenty bytes"}):
        print("whole")
except OSError as error:
    print(error)
"""


def test_a_line_of_which_a_part_was_written_is_an_error(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert TRIAL_LOG in said
    assert (tmp_path / TRIAL_LOG).stat().st_size == 20
