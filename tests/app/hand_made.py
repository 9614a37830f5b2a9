"""Directories of sessions that record no pipeline, as data in ``tests/golden/hand-made``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

GOLDEN: Final = Path(__file__).resolve().parents[1] / "golden"
CASES: Final = sorted((GOLDEN / "hand-made").glob("*.json"))


def recorded(name: str) -> dict[str, Any]:
    """Return the files of a session, and what the program answers."""
    found: dict[str, Any] = json.loads((GOLDEN / "hand-made" / f"{name}.json").read_text("utf-8"))
    return found


def write_files(session: Path, files: Mapping[str, Any], project: str = "/nowhere") -> None:
    """Write the files of a session, whose paths are in the folder ``project``."""
    for path, given in files.items():
        (session / path).parent.mkdir(parents=True, exist_ok=True)
        (session / path).write_text(_text(given).replace("{PROJECT}", project))


def _text(given: Any) -> str:
    """Return the text of a file; that of a journal may be the first lines of a recorded one."""
    if isinstance(given, str):
        return given
    lines = (GOLDEN / given["of"]).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(lines[: given["lines"]]) + str(given["then"])
