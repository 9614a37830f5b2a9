"""What the tests of files on disk share."""

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty directory; the one of pytest holds the test's home."""
    made = tmp_path / "here"
    made.mkdir()
    return made
