"""An approval shows the result before it asks, and records only what was agreed to."""

import os
from pathlib import Path

import pytest

from agentmux.app.commands.end.approval import ApprovalRequest, approve_with_consent
from agentmux.app.session.search.lookup import entry_at, sessions_dir
from agentmux.app.signals.submission import SubmitAnswer
from agentmux.core.fold.acceptance import Answer
from agentmux.core.journal.events import Approved
from agentmux.core.journal.state import Options
from agentmux.core.names.phase import Phase
from agentmux.core.terminal.text.folding import fold
from agentmux.errors import BlockedError, DeclinedError
from agentmux.overriding import override
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk
from tests.fakes.conversation import Conversation

NAME = "20260101-101500-add-auth"
RECORDED: list[Approved] = []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a session that waits for its approval, and one new file to commit."""
    RECORDED.clear()
    folder = make_project(tmp_path / "project")
    (folder / "agent.py").write_text("x\n")
    OnDisk(
        sessions_dir(folder) / NAME,
        Phase.COMPLETING,
        summary_submitted=True,
        branch="main",
        options=Options(commit=True, base=git(folder, "rev-parse", "HEAD").strip()),
    )
    return folder


def approve(
    project: Path, talk: Conversation, request: ApprovalRequest, *, is_there: bool = True
) -> tuple[SubmitAnswer, list[Approved]]:
    """Return the answer to an approval, and what was recorded."""

    def record(approval: Approved, _: int) -> SubmitAnswer:
        RECORDED.append(approval)
        return SubmitAnswer(result=Answer.ACCEPTED, event_id="a")

    world = build.world(project, environ={**os.environ, "HOME": str(project.parent)})
    entry = entry_at(world, sessions_dir(project) / NAME)
    person = talk.person(is_there=is_there)
    return approve_with_consent(world, person, entry, request, record), RECORDED


def test_the_result_is_shown_before_the_question(project: Path) -> None:
    talk = Conversation(agrees=True)
    _, (approval,) = approve(project, talk, ApprovalRequest(approval=Approved()))
    assert "  agent.py | 1 +" in talk.lines
    assert talk.lines[-2:] == [f"see every change: agentmux diff {NAME}", "Approve?"]
    assert approval.digest


@pytest.mark.parametrize("rows", [12, 16, 200])
def test_a_long_summary_leaves_room_for_what_is_decided_on(project: Path, rows: int) -> None:
    summary = sessions_dir(project) / NAME / "08_completion/summary.md"
    summary.parent.mkdir(parents=True, exist_ok=True)
    summary.write_text("\n\n".join(f"The change number {place}." for place in range(20)))
    shown: list[str] = []
    request = ApprovalRequest(approval=Approved(), show=shown.append, size=(80, rows))
    approve(project, Conversation(agrees=True), request)
    lines = [each for line in shown for each in fold(line, 80)]
    is_short = rows < 200
    assert len(lines) < rows
    assert lines[0] == "The change number 0."
    assert any(str(summary) in line for line in shown) is is_short
    assert ("The change number 19." in lines) is not is_short
    assert any("agent.py | 1 +" in line for line in lines)


def test_a_no_records_nothing(project: Path) -> None:
    with pytest.raises(DeclinedError):
        approve(project, Conversation(agrees=False), ApprovalRequest(approval=Approved()))
    assert RECORDED == []


def test_who_cannot_be_asked_is_shown_what_they_want_to_see(project: Path) -> None:
    talk, shown = Conversation(agrees=False), list[str]()
    silent = ApprovalRequest(approval=Approved())
    assert len(approve(project, talk, silent, is_there=False)[1]) == 1
    assert talk.lines == []
    shows = ApprovalRequest(approval=Approved(), show=shown.append)
    assert len(approve(project, talk, shows, is_there=False)[1]) == 2
    assert (talk.lines, shown[-1]) == ([], f"see every change: agentmux diff {NAME}")


def test_another_digest_is_not_asked_about(project: Path) -> None:
    talk = Conversation(agrees=True)
    answer, recorded = approve(project, talk, ApprovalRequest(approval=Approved(digest="d")))
    assert (answer.result, recorded, talk.lines) == (Answer.IGNORED, [], [])


def test_a_result_that_changes_while_the_question_is_open_is_not_approved(project: Path) -> None:
    class Slow(Conversation):
        @override
        def answer(self, question: str) -> bool:
            (project / "agent.py").write_text("changed meanwhile\n")
            return super().answer(question)

    answer, recorded = approve(project, Slow(agrees=True), ApprovalRequest(approval=Approved()))
    assert (answer.result, recorded) == (Answer.IGNORED, [])
    assert "the result is not what was shown" in answer.reason


def test_only_who_is_asked_sees_what_the_commit_leaves_out(project: Path) -> None:
    (project / "app").mkdir()
    git(project / "app", "init", "-q", "--template=")
    (project / "app" / "code.py").write_text("x\n")
    talk = Conversation(agrees=True)
    with pytest.raises(BlockedError, match="`app/` is a git repository of its own"):
        approve(project, talk, ApprovalRequest(approval=Approved()), is_there=False)
    _, recorded = approve(project, talk, ApprovalRequest(approval=Approved()))
    assert len(recorded) == 1
    assert any("`app/` is a git repository of its own" in each for each in talk.lines)
