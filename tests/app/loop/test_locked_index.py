"""A commit while the user's own git runs, with real git, locks and file events."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.adapters.disk.session import session_folders
from agentmux.adapters.wake.file_changes import wait_until_gone
from agentmux.adapters.wake.pipe import STOP, poke
from agentmux.core.fleet.lease import LeaseLapsedError
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
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


def lock_of(studio: Studio) -> Path:
    return studio.project / ".git" / "index.lock"


def kinds(studio: Studio) -> list[str]:
    return [event.fact.kind for event, _ in studio.events()]


def delayed(studio: Studio) -> bool:
    return "commit_delayed" in kinds(studio)


def meanwhile(act: Callable[[], object]) -> threading.Thread:
    """Call ``act`` in a thread, while the orchestrator runs in the main thread."""
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def check_done(studio: Studio) -> None:
    """Check that there is one commit, and that the user's next commit does not undo any of it."""
    assert studio.state().phase == Phase.DONE
    assert git(studio.project, "status", "--porcelain") == ""
    (studio.project / "next.txt").write_text("next\n")
    git(studio.project, "add", "next.txt")
    git(studio.project, "commit", "-q", "-m", "next")
    changed = git(studio.project, "show", "--format=", "--name-status").split()
    assert changed == ["A", "next.txt"]
    assert git(studio.project, "log", "--format=%s") == "next\nAdd a calculator\nBegin\n"
    assert kinds(studio).count("commit_started") == 1
    assert kinds(studio).count("commit_made") == 1


@pytest.mark.parametrize(("wait_s", "told"), [(30.0, False), (0.2, True)])
def test_a_commit_waits_for_the_index(studio: Studio, wait_s: float, told: bool) -> None:
    """The lock goes away either during the wait or after it."""
    lock, waits = lock_of(studio), threading.Event()
    lock.touch()

    async def noted(path: Path) -> None:
        waits.set()
        await wait_until_gone(path)

    studio.index_wait_s, studio.gone = wait_s, noted

    problems = []

    def release() -> None:
        assert waits.wait(60)
        problems.append(session_folders.runtime(studio.session)["problem"])
        if told:
            _wait_until(lambda: delayed(studio))
        lock.unlink()

    thread = meanwhile(release)
    assert studio.drive("start") is ExitCode.OK
    thread.join()
    assert delayed(studio) is told
    if not told:
        assert f"the commit waits until {lock} is gone: another git" in problems[0]
    assert session_folders.runtime(studio.session)["problem"] is None
    check_done(studio)


def test_a_commit_that_has_waited_asks_for_the_lease_again(
    studio: Studio, caplog: pytest.LogCaptureFixture
) -> None:
    """While it waits for the index, the feature may be given to another host."""
    lock, waits, lapsed = lock_of(studio), threading.Event(), threading.Event()
    lock.touch()

    async def noted(path: Path) -> None:
        waits.set()
        await wait_until_gone(path)

    def require_lease() -> None:
        if lapsed.is_set():
            raise LeaseLapsedError

    studio.gone, studio.require_lease = noted, require_lease
    seen = []

    def release() -> None:
        assert waits.wait(60)
        lapsed.set()
        lock.unlink()
        _wait_until(lambda: "commit failed" in caplog.text or "commit_made" in kinds(studio))
        seen.append(git(studio.project, "log", "--format=%s"))
        lapsed.clear()

    thread = meanwhile(release)
    assert studio.drive("start") is ExitCode.OK
    thread.join()
    assert seen == ["Begin\n"]
    assert "commit_failed" not in kinds(studio)
    check_done(studio)


def test_while_it_waits_the_session_says_why(studio: Studio) -> None:
    lock_of(studio).touch()
    studio.index_wait_s = 0.0
    seen = []

    def look() -> None:
        _wait_until(lambda: delayed(studio))
        _wait_until(lambda: studio.state().commit is not None)
        _wait_until(lambda: studio.state().commit.status == "delayed")  # type: ignore[union-attr]
        seen.append(studio.state())
        lock_of(studio).unlink()

    thread = meanwhile(look)
    studio.drive("start")
    thread.join()
    (state,) = seen
    assert state.commit is not None
    assert state.phase == Phase.COMPLETING
    assert state.approval is not None
    assert str(lock_of(studio)) in state.commit.reason
    assert "rm " in state.commit.reason


@pytest.mark.parametrize("still", [False, True], ids=["gone", "still there"])
def test_every_resume_tries_again(studio: Studio, still: bool) -> None:
    lock = lock_of(studio)
    lock.touch()
    studio.index_wait_s = 0.0

    def stop() -> None:
        _wait_until(lambda: delayed(studio))
        poke(studio.session, STOP)

    thread = meanwhile(stop)
    studio.drive("start")
    thread.join()
    assert studio.state().phase == Phase.COMPLETING
    assert git(studio.project, "log", "--format=%s") == "Begin\n"

    if not still:
        lock.unlink()
    assert studio.resume() == Phase.COMPLETING
    count = len(kinds(studio))
    if still:

        def release() -> None:
            _wait_until(lambda: kinds(studio)[count:] == ["resumed"])
            lock.unlink()

        thread = meanwhile(release)
    assert studio.drive("resume") is ExitCode.OK
    thread.join()
    assert kinds(studio).count("commit_delayed") == 1
    check_done(studio)


def test_a_lock_that_comes_during_the_commit_is_waited_for(studio: Studio) -> None:
    hook, lock = studio.project / ".git/hooks/post-commit", lock_of(studio)
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch .git/index.lock\n")
    hook.chmod(0o755)

    def release() -> None:
        _wait_until(lock.exists)
        hook.unlink()
        lock.unlink()

    thread = meanwhile(release)
    assert studio.drive("start") is ExitCode.OK
    thread.join()
    check_done(studio)


def test_an_index_that_git_refuses_is_right_after_the_next_resume(studio: Studio) -> None:
    hook, index = studio.project / ".git/hooks/post-commit", studio.project / ".git/index"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ncp .git/index .git/kept; echo broken >.git/index\n")
    hook.chmod(0o755)

    def stop() -> None:
        _wait_until(lambda: delayed(studio))
        poke(studio.session, STOP)

    thread = meanwhile(stop)
    studio.drive("start")
    thread.join()
    assert studio.state().phase == Phase.COMPLETING
    hook.unlink()
    index.with_name("kept").rename(index)
    studio.resume()
    assert studio.drive("resume") is ExitCode.OK
    check_done(studio)
