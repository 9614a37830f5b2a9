"""CONTRIBUTING stays short enough to be read, and every file that it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FOLDERS = (ROOT, ROOT / "agentmux")


def test_it_has_at_most_1500_words() -> None:
    assert len(TEXT.split()) <= 1500, "what is reference belongs in docs/"


def test_every_file_that_it_names_is_there() -> None:
    named = re.findall(r"`((?:[\w.-]+/)+(?:\w+\.\w+)?)`", TEXT)
    assert "core/fold/apply.py" in named
    missing = [each for each in named if not any((folder / each).exists() for folder in FOLDERS)]
    assert missing == []
