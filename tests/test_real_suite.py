"""``./dev test-real`` fails if it has tested nothing, and says why."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real import test_real_pipeline, test_real_probes
from tests.real.clis import CLIS, of
from tests.real.conftest import COLUMNS
from tests.real.run import CACHE_VARIABLE, FOUND_VARIABLE

ROOT = Path(__file__).parent.parent


def marks(thing: object) -> dict[str, pytest.Mark]:
    found = getattr(thing, "pytestmark", [])
    return {each.name: each for each in (found if isinstance(found, list) else [found.mark])}


def shown() -> dict[str, list[str]]:
    """Return for each column the agents that are tested for it."""
    found: dict[str, list[str]] = {}
    for module in (test_real_pipeline, test_real_probes):
        for thing in vars(module).values():
            held = {**marks(module), **marks(thing)}
            if "proves" in held:
                found[held["proves"].args[0]] = list(held["parametrize"].args[1])
    return found


def test_every_column_is_shown_of_every_agent_or_says_why_not() -> None:
    assert shown() == {column: of(column) for column in COLUMNS}
    assert all(reason for cli in CLIS.values() for reason in cli.without.values())


@pytest.mark.rare("it is about ./dev test-real, which CI does not run")
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


def test_help_installs_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = subprocess.run(
        (sys.executable, "-m", "tests.real.run", "--help"),
        cwd=ROOT,
        env={**os.environ, CACHE_VARIABLE: str(cache), "PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "--install-only" in done.stdout
    assert "--record" in done.stdout
    assert not cache.exists()
