"""Programs that an agent has detached outlive its pane: they are named, and ended if wanted."""

from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive, start_time
from tests.conftest import WaitUntil
from tests.e2e.conftest import Client, Project, Session

LEAVER = """\
#!/bin/sh
case "$*" in
  *--help*|*--version*) ;;
  *) setsid sh -c 'echo $$ >> "$0"; exec sleep 4321' {pids} </dev/null >/dev/null 2>&1 & ;;
esac
exec agentmux-demo-agent "$@"
"""


class Leaver:
    """A session whose agents each leave a process behind, and the first of these processes."""

    def __init__(self, project: Project, *words: str) -> None:
        self._pids = project.root / "pids"
        agent = project.root / "leaver"
        agent.write_text(LEAVER.format(pids=self._pids))
        agent.chmod(0o755)
        user = project.home / "config" / "agentmux" / "config.yaml"
        user.parent.mkdir(parents=True, exist_ok=True)
        user.write_text(f"version: 1\nagents: {{leaver: {{like: demo, command: {agent}}}}}\n")
        answer = project.json("start", "--agent", "leaver", *words, "--", "add a greeting")
        self.session = Session(project, project.path / answer["path"])

    def left(self) -> tuple[tuple[int, int], ...]:
        """Return pid and start time of each process that was left and still runs."""
        text = self._pids.read_text() if self._pids.exists() else ""
        return tuple((pid, start_time(pid)) for pid in map(int, text.split()) if is_alive(pid))


@pytest.fixture
def leaver(project: Project, wait_until: WaitUntil) -> Leaver:
    project.scenario({"roles": {"architect": {"silent": True}}})
    made = Leaver(project)
    made.session.until_seat("architect")
    wait_until(lambda: len(made.left()) == 1, 20)
    return made


@pytest.mark.long
@pytest.mark.follows("kill …")
def test_stop_names_what_agents_left_and_ends_it_with_consent(
    project: Project, leaver: Leaver
) -> None:
    ((pid, started),) = leaver.left()
    said = project.run("stop", leaver.session.name)
    assert (said.returncode, is_alive(pid, started)) == (0, True)
    assert f"left behind by the session's agents: architect (process {pid}, sleep)" in said.stderr
    assert f"to end them: kill {pid}\n" in said.stderr
    assert f"to end them: kill {pid}\n" in project.run("status", leaver.session.name).stderr
    project.ok("resume", "--yes", "--detach", leaver.session.name)  # ends it, as an agent
    assert not is_alive(pid, started)
    leaver.session.until_seat("architect")
    project.ok("stop", "--yes", leaver.session.name)
    assert leaver.left() == ()


def test_a_person_is_asked(project: Project, leaver: Leaver, wait_until: WaitUntil) -> None:
    ((pid, started),) = leaver.left()
    with Client(project, "agentmux", "stop", leaver.session.name) as person:
        wait_until(lambda: "End them?" in person.said, 30)
        assert is_alive(pid, started)
        person.press("y\n")
        assert "they are ended" in person.ended(0)
    assert not is_alive(pid, started)


@pytest.mark.long
def test_remove_ends_it_with_the_session(project: Project, leaver: Leaver) -> None:
    ((pid, started),) = leaver.left()
    project.ok("stop", leaver.session.name)
    said = project.fails(2, "remove", leaver.session.name)
    assert f"what it left running is ended: architect (process {pid}, sleep)" in said
    assert is_alive(pid, started)
    project.ok("remove", leaver.session.name, "--yes")
    assert not is_alive(pid, started)


@pytest.mark.rare("CI names what is left behind at a stop")
@pytest.mark.long
def test_approve_and_prune_name_it(project: Project) -> None:
    made = Leaver(project, "--quick", "--worktree")
    made.session.wait("decision")
    left = made.left()
    assert left
    said = project.run("approve", made.session.name, "--merge")
    assert said.returncode == 0, said.stderr
    for command in (said, project.run("prune")):
        assert "left behind by the session's agents" in command.stderr
        assert all(f"(process {pid}, sleep)" in command.stderr for pid, _ in left)
    assert made.left() == left
    assert not (Path(made.session.state["worktree"])).exists()
    project.ok("remove", made.session.name, "--yes")
    assert made.left() == ()


@pytest.mark.long
def test_the_consent_to_an_approval_ends_nothing_else(project: Project) -> None:
    made = Leaver(project, "--quick")
    made.session.wait("decision")
    left = made.left()
    said = project.run("approve", made.session.name, "--yes")
    assert all(f"(process {pid}, sleep)" in said.stderr for pid, _ in left)
    assert "to end them: kill " in said.stderr
    assert made.left() == left
    project.ok("remove", made.session.name, "--yes")
    assert made.left() == ()
