"""A forge for tests: a folder that `tests.fakes.gh_program` answers from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HIDDEN = "(hidden by a moderator)"
"""A comment with this text is shown as hidden."""
PROGRAM = Path(__file__).parent / "gh_program.py"


class FakeForge:
    """GitHub with one repository, ``github.com/o/r``, and more if a test adds them.

    Attributes:
        environment: What a process needs, to have this forge's ``gh``; ``PATH`` must begin with
            `bin`.
        bin: The folder with ``gh``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        program = self.bin / "gh"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{PROGRAM}" "$@"\n')
        program.chmod(0o755)
        self.environment = {"FAKE_FORGE": str(folder)}
        self._write({"repositories": {}, "requests": []})
        self.repository("o/r")

    def repository(self, name: str, git: Path | None = None) -> None:
        """Add a repository, or say which git repository it is."""
        state = self.state
        known = state["repositories"].setdefault(
            f"github.com/{name}", {"issues": {}, "permissions": {}, "git": ""}
        )
        known["git"] = str(git or known["git"])
        self._write(state)

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "forge.json").read_text())
        return found

    @property
    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.state["requests"]
        return found

    @property
    def calls(self) -> list[list[str]]:
        """The words of every call so far."""
        path = self.folder / "calls.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def issue(self, number: int, title: str, body: str = "", *comments: tuple[str, str]) -> None:
        """Add an issue to ``o/r``, with comments as pairs of author and text."""
        state = self.state
        state["repositories"]["github.com/o/r"]["issues"][str(number)] = {
            "title": title,
            "body": body,
            "comments": [
                {"author": {"login": who}, "body": text, "isMinimized": text == HIDDEN}
                for who, text in comments
            ],
        }
        self._write(state)

    def permissions(self, **by_login: str) -> None:
        """Say what people may do in ``o/r``: admin, write, read or none."""
        state = self.state
        state["repositories"]["github.com/o/r"]["permissions"] |= by_login
        self._write(state)

    def request(self, **fields: Any) -> None:
        """Add a request for ``o/r``, as somebody else would open it."""
        state = self.state
        number = 100 + len(state["requests"])
        url = f"https://github.com/o/r/pull/{number}"
        plain = {"repo": "github.com/o/r", "source": "github.com/o/r", "state": "OPEN"}
        more = {"base": "main", "title": "t", "body": "b", "draft": False}
        state["requests"].append({"number": number, "url": url, **plain, **more, **fields})
        self._write(state)

    def merge(self, number: int, commit: str) -> None:
        """Merge a request at this commit, as its owner would on the forge's page."""
        state = self.state
        (found,) = (each for each in state["requests"] if each["number"] == number)
        found |= {"state": "MERGED", "commit": commit}
        self._write(state)

    def log_out(self) -> None:
        (self.folder / "logged_out").touch()

    def _write(self, state: dict[str, Any]) -> None:
        (self.folder / "forge.json").write_text(json.dumps(state))
