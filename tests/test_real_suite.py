"""``./dev test-real``: a run in which nothing could be shown is no success."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.real.clis import CLIS
from tests.real.run import FOUND_VARIABLE

ROOT = Path(__file__).parent.parent


def test_a_run_that_skips_every_test_fails() -> None:
    found = {name: {"missing": "npm and node are not on PATH"} for name in CLIS}
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/real/test_real_probes.py")
    done = subprocess.run(
        (sys.executable, *words),
        cwd=ROOT,
        env={**os.environ, FOUND_VARIABLE: json.dumps(found)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "skipped" in done.stdout
    assert "passed" not in done.stdout
    assert done.returncode != 0
    assert "every test was skipped, so that nothing was shown" in done.stdout
