"""Somebody cleans the checkout with git while sessions are in it."""

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

STAY = {"roles": {"architect": {"silent": True}}}


def clean(project: Project) -> None:
    """Do what deletes all files that git does not track, and keep what a user would."""
    project.git("stash", "-aq")
    project.git("clean", "-fdxq")


def test_a_live_session_survives_it(project: Project) -> None:
    project.scenario(STAY)
    session = project.start().until_seat("architect")
    clean(project)
    assert session.submit("architect", "hello", code=0)
    assert session.state["phase"] == "architecting"
    assert project.git("status", "--porcelain") == ""
    project.git("add", "-A")
    project.ok("stop", session.name)


def test_a_stopped_session_can_be_resumed_after_it(project: Project) -> None:
    project.scenario(STAY)
    session = project.start().until_seat("architect").settled("architect")
    project.ok("stop", session.name)
    clean(project)
    project.ok("resume", "--yes", "--detach")
    session.until_seat("architect")
    project.ok("stop", session.name)


def test_a_line_that_somebody_removed_is_put_back(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(STAY)
    session: Session = project.start().until_seat("architect")
    exclude = project.path / ".git" / "info" / "exclude"
    before = exclude.read_text()
    exclude.write_text("*.mine\n")
    wait_until(lambda: exclude.read_text().endswith(before.splitlines()[-1] + "\n"), 30)
    project.git("add", "-A")
    project.ok("stop", session.name)
