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

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.session.writer import Session
from agentmux.cli.main import main
from agentmux.core.codec.frozen import fields
from agentmux.core.definitions.definition import definition_fields
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.events import OLDER_VERSION, VERSION, ResearchDone, SeatTold
from agentmux.core.journal.state import SessionState
from agentmux.wiring import build
from tests.app.hand_made import CASES, recorded, write_files
from tests.conftest import SCRATCH
from tests.core.builders import event

pytestmark = pytest.mark.long

NAME: Final = "20250101-101500-made"
PATH_LENGTH: Final = 60
"""Of the project's path: prompts contain it, and answers their sizes."""

FIELDS: Final = {each.name for each in fields(SessionState)} - {"extra"}
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
    (re.compile(r'"digest": "[0-9a-f]{8}"'), '"digest": "DIGEST"'),  # of the agent's path, too
)


@contextlib.contextmanager
def made(files: dict[str, Any]) -> Iterator[Path]:
    """Make a project with one session of these files; its path always has the same length."""
    root = Path(tempfile.mkdtemp(prefix="amx-", dir=SCRATCH))
    project = root / ("p" * (PATH_LENGTH - len(str(root)) - 1))
    session = project / ".agentmux" / ".sessions" / NAME
    session.mkdir(parents=True)
    (project / ".agentmux" / "config.yaml").write_text("version: 1\ndefaults: {agent: demo}\n")
    write_files(session, files, str(project))
    for each in session.rglob("*"):
        os.utime(each, (1_735_726_500, 1_735_726_500))
    try:
        yield project
    finally:
        shutil.rmtree(root)


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
    with (
        contextlib.chdir(project),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(told),
    ):
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
    found = recorded(case.stem)
    assert answers(found["files"]) == found["answers"]


READABLE: Final = [case for case in CASES if recorded(case.stem)["answers"]["dry run"]["code"] == 0]


@pytest.mark.parametrize("case", READABLE, ids=lambda path: path.stem)
def test_a_resume_writes_the_one_form_and_goes_on_in_the_same_phase(
    case: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    found = recorded(case.stem)
    (before,) = found["answers"]["dry run"]["said"]["sessions"]
    with made(found["files"]) as project:
        world = build.world(project, environ=os.environ)
        files = world.files(project / ".agentmux" / ".sessions" / NAME)
        Session(files, now=world.now, new_id=world.new_id).take_over()

        written = json.loads((files.path / "state.json").read_text())
        assert written.keys() >= FIELDS
        assert not written.keys() & {"review_iteration", "review_outcome", "verdicts", "reviews"}
        assert written["pipeline"] == definition_fields(FEATURE)
        assert not files.load().older
        with files.transact() as held:
            held.append(event(SeatTold(text="go on"), "user", cycle=1))
        last = (files.path / "tool_events.jsonl").read_text().splitlines()[-1]
        assert json.loads(last)["v"] == VERSION

        answer = _answer(project, _ASKED["dry run"])
    (after,) = answer["said"]["sessions"]
    assert after["phase"] == before["phase"]
    assert [pane["seat"] for pane in after["panes"]] == [pane["seat"] for pane in before["panes"]]


@pytest.mark.parametrize("name", ["of-0.1.0-fixing", "of-0.1.0-reviewing-pending"])
def test_a_signal_to_a_session_of_an_older_form_is_a_line_that_its_orchestrator_reads(
    name: str,
) -> None:
    with made(recorded(name)["files"]) as project:
        path = project / ".agentmux" / ".sessions" / NAME
        before = (path / "state.json").read_bytes()
        with FileSession(path).transact() as held:
            held.append(event(ResearchDone(research="code", topic="x"), "coder", "l"))
        lines = (path / "tool_events.jsonl").read_text().splitlines()
        assert {json.loads(line)["v"] for line in lines} == {OLDER_VERSION}
        assert (path / "state.json").read_bytes() == before


def _record() -> None:
    """Record the answers of the sessions that have none yet, far from the user's files."""
    with tempfile.TemporaryDirectory(prefix="amx-", dir=SCRATCH) as home:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        os.environ.clear()
        os.environ.update(kept, HOME=home, TMUX_TMPDIR=home)
        for case in CASES:
            found = recorded(case.stem)
            if "answers" not in found:
                found["answers"] = answers(found["files"])
                case.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
