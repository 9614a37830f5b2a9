"""Commits with hooks that say much, fail oddly, wait, or need what the approver has."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.git.repository import Git
from agentmux.adapters.wake.pipe import STOP, poke
from agentmux.app.loop.background_tasks import TRIES
from agentmux.core.journal.events import CommitFailed
from agentmux.core.journal.failures import REASON_MAX
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.delivery import failure
from agentmux.errors import ExitCode
from agentmux.overriding import override
from tests.app.driver import Studio, git, make_project
from tests.conftest import _wait_until


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    made = Studio(
        make_project(tmp_path / "project"), dict(os.environ), cycles=1, real_git=True, short=True,
        checkpoints=False,
    )  # fmt: skip
    made.start()
    return made


def write_hook(studio: Studio, script: str, name: str = "pre-commit") -> None:
    hook = studio.project / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


def has_failed(state: SessionState) -> bool:
    return bool(failure(state))


def reasons(studio: Studio) -> list[str]:
    return [e.fact.reason for e, _ in studio.events() if isinstance(e.fact, CommitFailed)]


def subjects(studio: Studio) -> list[str]:
    return git(studio.project, "log", "--format=%s").splitlines()


def test_a_hook_that_refuses_with_endless_words_runs_once_and_its_last_ones_are_told(
    studio: Studio, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    write_hook(
        studio,
        f"echo run >> {runs}; head -c 9000000 /dev/zero | tr '\\0' 'x' | fold -w 100 >&2\n"
        "echo 'the reason' >&2; exit 1",
    )
    studio.ends_when = has_failed
    studio.drive("start", deadline_s=60)
    assert runs.read_text() == "run\n"
    (reason,) = reasons(studio)
    assert reason.startswith("git refused the commit: ")
    assert reason.endswith("the reason")
    assert len(reason) <= REASON_MAX
    assert subjects(studio) == ["Begin"]


class Strange(Git):
    """Raises what nobody foresees, as after AgentMux was replaced under its process."""

    tries = 0

    @override
    def commit(self, *args: object, **more: object) -> str:
        Strange.tries += 1
        raise ModuleNotFoundError("No module named 'agentmux.gone'")


def test_an_unexpected_error_is_tried_three_times_and_then_a_failure(studio: Studio) -> None:
    Strange.tries = 0
    studio.world = replace(studio.world, repository=Strange(studio.project, os.environ))
    studio.ends_when = has_failed
    studio.drive("start", deadline_s=60)
    assert Strange.tries == TRIES
    (reason,) = reasons(studio)
    name = studio.session.name
    assert "ModuleNotFoundError: No module named 'agentmux.gone'" in reason
    assert f"agentmux stop {name} && agentmux resume {name}" in reason


def test_a_failure_that_cannot_be_recorded_is_not_tried_again(
    studio: Studio, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The journal is made unwritable by the hook itself, just before it refuses.

    That the loop cannot read it, either, does not hide what was given up.
    """
    runs, journal = tmp_path / "runs", studio.session / "tool_events.jsonl"
    write_hook(studio, f"echo run >> {runs}; mv {journal} {journal}.away; mkdir {journal}; exit 1")

    def problem() -> str:
        note = studio.world.folders.runtime(studio.session) or {}
        return str(note.get("problem"))

    shown: list[str] = []

    def stop() -> None:
        _wait_until(lambda: "is not tried again" in caplog.text)
        poke(studio.session)
        _wait_until(lambda: "a step failed: cannot open the journal" in caplog.text)
        _wait_until(lambda: "not tried again" in problem())
        shown.append(problem())
        journal.rmdir()
        Path(f"{journal}.away").rename(journal)
        poke(studio.session, STOP)

    thread = threading.Thread(target=stop)
    thread.start()
    studio.drive("start", deadline_s=60)
    thread.join()
    assert runs.read_text() == "run\n"
    assert "agentmux stop add-a-calculator && agentmux resume add-a-calculator" in shown[0]
    assert reasons(studio) == []


def test_a_commit_that_waits_for_its_hook_ends_with_the_session(
    studio: Studio, tmp_path: Path
) -> None:
    """Else the commit would land later, in a session that is stopped."""
    waits, goes = tmp_path / "waits", tmp_path / "goes"
    write_hook(studio, f"touch {waits}; while [ ! -e {goes} ]; do sleep 0.05; done")

    def stop() -> None:
        _wait_until(waits.exists)
        poke(studio.session, STOP)

    thread = threading.Thread(target=stop)
    thread.start()
    studio.drive("start", deadline_s=60)
    thread.join()
    assert not (studio.project / ".git" / "index.lock").exists()
    goes.touch()
    assert subjects(studio) == ["Begin"]
    studio.resume()
    assert studio.drive("resume", deadline_s=60) is ExitCode.OK
    assert studio.state().phase == Phase.DONE
    assert subjects(studio) == ["Add a calculator", "Begin"]


def test_hooks_and_signing_have_the_environment_of_who_approved(
    studio: Studio, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    write_hook(studio, f'echo "$GPG_TTY $SSH_AUTH_SOCK" > {seen}')
    theirs = {**os.environ, "GPG_TTY": "/dev/pts/new", "SSH_AUTH_SOCK": "/new.sock"}
    studio.approver = lambda _: theirs
    assert studio.drive("start", deadline_s=60) is ExitCode.OK
    assert seen.read_text() == "/dev/pts/new /new.sock\n"
