"""Sessions that record no pipeline answer as they always have.

They are hand-made ones, those of the original AgentMux, and those of 0.1.0. A directory of each is
in `tests/golden/hand-made` as data: its files (a journal may be the first lines of a recorded one),
and what ``resume --dry-run``, ``list`` and ``status`` answer. A changed answer needs a decision in
docs/decisions/. To add a session, write its files, and run this file as a program.
"""

import contextlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname
from typing import Any, Final

import pytest

from agentmux.cli.main import main
from tests.conftest import SCRATCH

GOLDEN: Final = Path(__file__).resolve().parents[2] / "golden"
CASES: Final = sorted((GOLDEN / "hand-made").glob("*.json"))
NAME: Final = "20250101-101500-made"
PATH_LENGTH: Final = 60
"""Of the project's path: prompts contain it, and answers their sizes."""

_ASKED: Final = {
    "dry run": ("resume", "--dry-run", "--json", NAME),
    "list": ("list", "--json"),
    "status": ("status", "--json", NAME),
}
_VARYING: Final = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r'"age_s": \d+(\.\d+)?'), '"age_s": 0'),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"launches/[0-9a-f]{12}"), "launches/LAUNCH"),
)


@contextlib.contextmanager
def made(files: dict[str, Any]) -> Iterator[Path]:
    """Make a project with one session of these files; its path always has the same length."""
    root = Path(tempfile.mkdtemp(prefix="amx-", dir=SCRATCH))
    project = root / ("p" * (PATH_LENGTH - len(str(root)) - 1))
    session = project / ".agentmux" / ".sessions" / NAME
    session.mkdir(parents=True)
    (project / ".agentmux" / "config.yaml").write_text("version: 1\ndefaults: {agent: demo}\n")
    for path, text in files.items():
        (session / path).parent.mkdir(parents=True, exist_ok=True)
        (session / path).write_text(_text(text).replace("{PROJECT}", str(project)))
    for each in session.rglob("*"):
        os.utime(each, (1_735_726_500, 1_735_726_500))
    try:
        yield project
    finally:
        shutil.rmtree(root)


def _text(given: Any) -> str:
    if isinstance(given, str):
        return given
    lines = (GOLDEN / given["of"]).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(lines[: given["lines"]]) + str(given["then"])


def answers(files: dict[str, Any]) -> dict[str, Any]:
    """Return exit code, output and errors of each command; times and paths are left out."""
    with made(files) as project:
        before = _tree(project)
        found: dict[str, Any] = {n: _answer(project, words) for n, words in _ASKED.items()}
        assert _tree(project) == before, "to look writes nothing"
    if found["list"] == found["status"]:
        found["list"] = "as status"
    return found


def _answer(project: Path, words: tuple[str, ...]) -> dict[str, Any]:
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        code = main(["--project", str(project), *words], os.environ)
    return {"code": code, "said": _plain(said.getvalue(), project), "told": told.getvalue()}


def _plain(said: str, project: Path) -> Any:
    text = said.replace(str(project), "{PROJECT}").replace(f"this is `{gethostname()}`", "HERE")
    for varying, name in _VARYING:
        text = varying.sub(name, text)
    return json.loads(text) if text else None


def _tree(project: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() if each.is_file() else b"" for each in project.rglob("*")}


def test_there_are_sessions_of_every_kind() -> None:
    assert len(CASES) >= 60
    names = {case.stem.partition("-")[0] for case in CASES}
    assert names >= {"bare", "made", "review", "fix", "original", "of", "state", "no"}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_session_without_a_record_answers_as_before(
    case: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))  # no server runs there
    recorded = json.loads(case.read_text(encoding="utf-8"))
    assert answers(recorded["files"]) == recorded["answers"]


def _record() -> None:
    """Record the answers of the sessions that have none yet, far from the user's files."""
    with tempfile.TemporaryDirectory(prefix="amx-", dir=SCRATCH) as home:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        os.environ.clear()
        os.environ.update(kept, HOME=home, TMUX_TMPDIR=home)
        for case in CASES:
            recorded = json.loads(case.read_text(encoding="utf-8"))
            if "answers" not in recorded:
                recorded["answers"] = answers(recorded["files"])
                case.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
