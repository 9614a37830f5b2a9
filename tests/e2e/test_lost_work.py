"""A git that goes on when its orchestrator is killed is ended before anything else is done."""

import os
import signal

import pytest

from agentmux.adapters.system.processes.processes import is_alive, start_time
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

HOOK = """\
#!/bin/sh
[ -e {held} ] || exit 0
setsid sleep 4321 < /dev/null > /dev/null 2>&1 &
echo $! > {root}/daemon
echo $$ > {root}/new; mv {root}/new {root}/hook
while [ -e {held} ]; do sleep 0.1; done
"""


class Waiting:
    """A session whose orchestrator is killed while its commit waits for a hook."""

    def __init__(self, project: Project, wait_until: WaitUntil) -> None:
        self.project, self.held = project, project.root / "held"
        self.held.touch()
        hook = project.path / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK.format(held=self.held, root=project.root))
        hook.chmod(0o755)
        self.session: Session = project.start("add a greeting", "--quick").wait()
        project.fails(9, "approve", self.session.name, "--yes", "--timeout", "0.1")
        wait_until((project.root / "hook").exists, 20)
        self.hook = self._process("hook")
        self.daemon = self._process("daemon")
        pid = self.session.runtime["orchestrator_pid"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), 10)
        assert is_alive(*self.hook)

    def _process(self, name: str) -> tuple[int, int]:
        pid = int((self.project.root / name).read_text())
        return pid, start_time(pid)

    def has_ended(self) -> bool:
        """Whether the git and its hook have ended; what the hook has detached has not."""
        assert is_alive(*self.daemon)
        return not is_alive(*self.hook)

    def subjects(self) -> list[str]:
        return self.project.git("log", "--format=%s").splitlines()


@pytest.fixture
def waiting(project: Project, wait_until: WaitUntil) -> Waiting:
    return Waiting(project, wait_until)


@pytest.mark.long
def test_a_stop_ends_it(waiting: Waiting) -> None:
    before, name = waiting.subjects(), waiting.session.name
    assert (
        ", which was killed: orchestrator (process " in waiting.project.run("status", name).stderr
    )
    said = waiting.project.run("stop", name)
    assert "ended what its orchestrator had left at work: git (process " in said.stderr
    assert waiting.has_ended()
    waiting.held.unlink()
    assert waiting.subjects() == before
    waiting.project.ok("resume", name, "--yes", "--detach")
    waiting.session.wait("done")
    assert len(waiting.subjects()) == len(before) + 1
    os.kill(waiting.daemon[0], signal.SIGKILL)


@pytest.mark.rare("CI ends it by a stop")
@pytest.mark.long
def test_a_resume_ends_it(waiting: Waiting) -> None:
    before, name = waiting.subjects(), waiting.session.name
    said = waiting.project.run("resume", name, "--reattach", "--detach")
    assert "had left at work: git (process " in said.stderr
    assert waiting.has_ended()
    waiting.held.unlink()
    waiting.session.wait("done")
    assert len(waiting.subjects()) == len(before) + 1
    os.kill(waiting.daemon[0], signal.SIGKILL)


@pytest.mark.long
def test_a_removal_ends_it(waiting: Waiting) -> None:
    before, name = waiting.subjects(), waiting.session.name
    waiting.project.tmux("kill-server")
    assert "what it left running is ended: orchestrator (process " in waiting.project.fails(
        2, "remove", name
    )
    assert is_alive(*waiting.hook)
    waiting.project.ok("remove", name, "--yes")
    assert waiting.has_ended()
    assert waiting.subjects() == before
    os.kill(waiting.daemon[0], signal.SIGKILL)
