"""``git clean -fdx`` spares the sessions, and nothing else of git notices what keeps them."""

import os
from pathlib import Path

import pytest

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.adapters.git.clean_protection import PATTERN
from agentmux.adapters.git.repository import Git
from agentmux.core.journal.events import JournalCreated, SessionStarted
from agentmux.core.journal.state import SessionState
from agentmux.core.journal.state import encode as encode_state
from agentmux.core.names.phase import Phase
from tests.app.driver import git, make_project
from tests.core.builders import event

SESSION = ".agentmux/.sessions/20260101-101500-x"


def with_session(project: Path) -> Path:
    """Return the folder of the sessions of a project, with one in it."""
    session = project / SESSION
    session.mkdir(parents=True)
    (session / "state.json").write_text("{}")
    (session.parent / ".gitignore").write_text("*\n")
    return session.parent


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def protect(project: Path, sessions: Path) -> bool:
    return Git(project, dict(os.environ)).protect_from_clean(sessions)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture(params=["checkout", "folder", "linked worktree", "submodule", "tracked"])
def place(project: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Each kind of place that a project may be in."""
    where: str = request.param
    match where:
        case "folder":
            (project / "part [1]").mkdir()
            return project / "part [1]"
        case "linked worktree":
            git(project, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
            return tmp_path / "other"
        case "submodule":
            outer = make_project(tmp_path / "outer")
            allow = ("-c", "protocol.file.allow=always")
            git(outer, *allow, "submodule", "add", "-q", str(project), "inner")
            return outer / "inner"
        case "tracked":
            (project / ".agentmux").mkdir(exist_ok=True)
            (project / ".agentmux" / "config.yaml").write_text("version: 1\n")
            git(project, "add", "-A")
            git(project, "commit", "-qm", "Configure")
        case _:
            pass
    return project


def test_git_spares_the_sessions_and_shows_nothing_of_them(place: Path) -> None:
    sessions = with_session(place)
    before = git(place, "status", "--porcelain")
    assert protect(place, sessions)
    assert git(place, "status", "--porcelain") == before
    git(place, "add", "-A")
    assert "sessions" not in git(place, "diff", "--cached", "--name-only")
    (place / "new.txt").write_text("new\n")
    git(place, "stash", "-a")
    assert (place / SESSION / "state.json").exists()
    git(place, "stash", "pop", "-q")
    git(place, "clean", "-fdxq")
    git(place, "clean", "-fdxq", ".agentmux")
    git(place, "clean", "-fdXq")
    assert (place / SESSION / "state.json").exists()
    assert not (place / "new.txt").exists()


def test_without_protection_git_deletes_them(project: Path) -> None:
    with_session(project)
    git(project, "clean", "-fdxq")
    assert not (project / SESSION).exists()


def test_a_line_that_is_gone_is_put_back(place: Path) -> None:
    sessions = with_session(place)
    assert protect(place, sessions)
    told = git(place, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
    exclude = Path(told.removesuffix("\n"))
    assert exclude.read_text().count(PATTERN) == 1
    exclude.write_text("*.mine")  # without a newline at its end
    assert protect(place, sessions)
    assert exclude.read_text().startswith("*.mine\n#")
    assert exclude.read_text().splitlines()[-1] == PATTERN
    git(place, "add", "-A")


def test_a_second_call_writes_nothing(project: Path) -> None:
    sessions = with_session(project)
    assert protect(project, sessions)
    exclude = project / ".git" / "info" / "exclude"
    before = exclude.stat(), names(sessions)
    assert protect(project, sessions)
    assert (exclude.stat(), names(sessions)) == before
    assert before[1] == [".git", ".gitignore", "20260101-101500-x"]


def test_a_line_in_a_large_file_is_found(project: Path) -> None:
    sessions, exclude = with_session(project), project / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("some/path\n" * 200_000 + "no end of line")
    for _ in range(2):
        assert protect(project, sessions)
        assert exclude.read_text().count(PATTERN) == 1
    assert "no end of line\n" in exclude.read_text()


def test_who_keeps_git_from_ignoring_them_gets_no_repository_inside(project: Path) -> None:
    """Where git does not ignore the folder, a repository in it makes ``git add -A`` fail."""
    (project / ".gitignore").write_text("!.agentmux/\n!.agentmux/**\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Show all")
    sessions = with_session(project)
    assert not protect(project, sessions)
    assert names(sessions) == [".gitignore", "20260101-101500-x"]
    git(project, "add", "-A")


def test_a_repository_inside_that_is_in_the_way_is_taken_back(project: Path) -> None:
    sessions = with_session(project)
    assert protect(project, sessions)
    (project / ".git" / "info" / "exclude").write_text("")
    (project / ".gitignore").write_text("!.agentmux/\n!.agentmux/**\n")
    assert not protect(project, sessions)
    assert not (sessions / ".git").exists()
    git(project, "add", "-A")


def test_sessions_that_are_in_the_index_stay_as_they_are(project: Path) -> None:
    sessions = with_session(project)
    git(project, "add", "-f", SESSION)
    assert not protect(project, sessions)
    assert not (sessions / ".git").exists()


def test_who_may_not_write_the_line_gets_no_repository_inside(project: Path) -> None:
    sessions = with_session(project)
    exclude = project / ".git" / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.mkdir(parents=True)  # root may write into a file without rights
    assert not protect(project, sessions)
    assert not (sessions / ".git").exists()


def test_outside_of_a_repository_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert not protect(tmp_path, with_session(tmp_path))
    assert not (tmp_path / ".agentmux" / ".sessions" / ".git").exists()


def test_a_folder_behind_a_link_out_of_the_work_tree_is_left_alone(
    project: Path, tmp_path: Path
) -> None:
    """Git removes the link, and nothing behind it."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".sessions").mkdir(parents=True)
    (project / ".agentmux").symlink_to(elsewhere)
    assert not protect(project, project / ".agentmux" / ".sessions")
    assert names(elsewhere / ".sessions") == []


def test_commands_in_the_folder_do_not_touch_the_repository_around(project: Path) -> None:
    """An agent that commits in its session's folder commits nothing."""
    sessions = with_session(project)
    assert protect(project, sessions)
    (sessions / ".gitignore").unlink()
    inside = sessions / "20260101-101500-x"
    assert "agentmux-sessions" in git(inside, "status", "--branch", "--short")
    git(inside, "add", "-A")
    assert git(inside, "ls-files") == ""


def test_a_session_that_never_began_leaves_nothing(project: Path) -> None:
    session = FileSession(project / SESSION)
    began = encode_state(SessionState(phase=Phase.ARCHITECTING))
    first = event(JournalCreated(journal_id="j")), event(SessionStarted(state=began))
    session.make(first, {})
    assert protect(project, session.path.parent)
    session.discard()
    assert not (project / ".agentmux").exists()
