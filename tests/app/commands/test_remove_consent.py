"""A removal names what goes, and a no leaves everything as it is."""

import os
from functools import partial
from pathlib import Path

import pytest

from agentmux.app.commands.end.remove_consent import forget_with_consent, remove_with_consent
from agentmux.app.commands.resume.resume_consent import Survivors
from agentmux.app.session.search.lookup import entry_at, sessions_dir
from agentmux.app.session.search.lost_sessions import LostSessionError, lost_sessions
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.session_trace import SessionTrace
from agentmux.core.names.phase import Phase
from agentmux.errors import BlockedError, DeclinedError, UsageError
from agentmux.wiring import build
from tests.app.driver import make_project
from tests.app.on_disk import OnDisk
from tests.app.scene import Scene
from tests.fakes.bench import Bench as TmuxTerminal
from tests.fakes.conversation import Conversation

NAME = "20260101-101500-add-auth"
QUESTION = (
    f"Remove session {NAME} (not done: implementing) with its history and conversations; what it"
    " left running is ended: coder (process 7, demo)?"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = make_project(tmp_path / "p")
    values = {"tmux_socket": "/no/s", "session_name": "x"}
    OnDisk(sessions_dir(folder) / NAME, Phase.IMPLEMENTING, **values)
    return folder


def remove(project: Path, talk: Conversation, ended: list[str], *, is_there: bool = True) -> None:
    environ = {**os.environ, "HOME": str(project.parent)}
    site = build.site(project, config=None, environ=environ)
    alive = Survivors(words="coder (process 7, demo)", end=lambda: ended.append("coder"))
    remove_with_consent(
        *(site, talk.person(is_there=is_there), entry_at(site, sessions_dir(project) / NAME)),
        force=False,
        world=partial(build.world, project, environ=environ),
        left_behind=lambda _: alive,
    )


def test_what_goes_is_named_before_it_goes(project: Path) -> None:
    talk, ended = Conversation(agrees=True), list[str]()
    remove(project, talk, ended)
    question, removed = talk.lines
    assert (question, ended) == (QUESTION, ["coder"])
    assert removed.startswith(f"removed {sessions_dir(project) / NAME}")
    assert not (sessions_dir(project) / NAME).exists()


def test_a_no_removes_and_ends_nothing(project: Path) -> None:
    talk, ended = Conversation(agrees=False), list[str]()
    with pytest.raises(DeclinedError):
        remove(project, talk, ended)
    with pytest.raises(UsageError, match="cannot ask without a terminal: Remove session"):
        remove(project, talk, ended, is_there=False)
    assert (talk.lines, ended) == ([QUESTION], [])
    assert (sessions_dir(project) / NAME).is_dir()


def test_work_that_begins_while_the_question_is_open_stays(
    tmp_path: Path, tmux: TmuxTerminal
) -> None:
    scene = Scene(tmp_path, tmux)
    scene.session()
    scene.make()
    (scene.place / "new.txt").unlink()
    late = scene.place / "late.txt"

    def agree(question: str) -> bool:
        assert "lost would be" not in question
        return late.write_text("mine\n") > 0

    with pytest.raises(BlockedError, match="has work that is nowhere else: "):
        remove_with_consent(
            *(scene.world, replace(Conversation(agrees=True).person(), consents=agree)),
            entry_at(scene.world, scene.path),
            force=False,
            world=lambda: scene.world,
            left_behind=lambda _: None,
        )
    assert late.read_text() == "mine\n"


def test_a_session_whose_directory_is_gone_is_named_until_a_yes(project: Path) -> None:
    site = build.site(project, config=None, environ={**os.environ, "HOME": str(project.parent)})
    gone = sessions_dir(project) / "20260101-101501-other"
    trace = SessionTrace(session="other", path=str(gone), phase="planning", repository="")
    site.traces.keep(trace)
    no, yes = Conversation(agrees=False), Conversation(agrees=True)
    with pytest.raises(DeclinedError):
        forget_with_consent(site, no.person(), LostSessionError(trace))
    assert no.lines[-1:] == ["Do not name it any more? What is left of it stays."]
    assert lost_sessions(site) == (trace,)
    forget_with_consent(site, yes.person(), LostSessionError(trace))
    assert (lost_sessions(site), yes.lines) == ((), no.lines)
