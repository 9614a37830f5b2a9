"""Fixtures for the tests of files on disk."""

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty directory; ``tmp_path`` itself contains the test's home."""
    made = tmp_path / "here"
    made.mkdir()
    return made
