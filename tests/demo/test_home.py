"""A home of a demo: what its programs find there, and what they leave."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from agentmux.demo.home import make_home
from tests.conftest import SCRATCH


def test_temporary_files_are_made_in_the_home_which_is_deleted() -> None:
    with tempfile.TemporaryDirectory(prefix="amx-", dir=SCRATCH) as folder:
        home = make_home(Path(folder).resolve(), os.environ, Path("/usr/bin/agentmux"))
        line = "import tempfile; print(tempfile.gettempdir())"
        argv = (sys.executable, "-c", line)
        said = subprocess.run(
            argv, env=home.environment, check=True, capture_output=True, text=True
        )
        assert Path(said.stdout.strip()).parent == home.folder
