"""In which project a command works, and what it says where that is not the one that is meant."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.wiring import machine
from tests.app.driver import make_project
from tests.app.on_disk import OnDisk
from tests.house.messages import commands_of

Run = Callable[..., int]
Capture = pytest.CaptureFixture[str]
NAME = "20260101-101500-add-auth"


@pytest.fixture
def home(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = tmp_path / "a home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(folder: Path, *argv: str) -> int:
        monkeypatch.chdir(folder)
        return main(argv, os.environ)

    return run


START = ("start", "--agent", "demo", "--yes", "--dry-run", "add auth")


@pytest.mark.parametrize(
    "words",
    [
        START,
        ("list",),
        ("list", "--json"),
        ("resume",),
        ("status", "add-auth"),
        ("remove",),
        ("init", "--defaults"),
        ("prune",),
        ("import", "x.agentmux"),
        ("--json",),
    ],
)
def test_home_and_the_root_are_no_projects(
    run: Run, home: Path, capsys: Capture, words: tuple[str, ...]
) -> None:
    for folder, what in ((home, "your home directory"), (Path("/"), "the root directory")):
        assert run(folder, *words) == 7
        said = capsys.readouterr()
        assert what in said.err
        named = f"'{folder}'" if folder == home else "/"
        assert f"agentmux --project {named} …" in said.err
    assert list(home.iterdir()) == []


def test_they_are_where_the_command_names_them(run: Run, home: Path, capsys: Capture) -> None:
    assert run(home, "--project", str(home), *START) == 0
    assert "would start" in capsys.readouterr().out
    assert run(home, "--project", ".", "list") == 0
    assert run(Path("/"), "--project", "/", *START) == 0
    assert "the session works in" not in capsys.readouterr().err


def test_inside_a_session_there_no_option_is_needed(
    run: Run, home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = OnDisk(sessions_dir(home) / NAME).path
    assert run(path, "status") == 0
    assert NAME in capsys.readouterr().out
    assert run(home, "status") == 7
    monkeypatch.setenv("AGENTMUX_SESSION_DIR", str(path))
    assert run(home, "status") == 0
    assert NAME in capsys.readouterr().out


def test_a_session_is_named_by_its_path_from_there(run: Run, home: Path, capsys: Capture) -> None:
    path = OnDisk(sessions_dir(home / "p") / NAME).path
    assert run(home, "status", str(path)) == 0
    assert run(Path("/"), "status", str(path)) == 0
    (home / "link").symlink_to(home / "p")
    assert run(home, "status", str(sessions_dir(home / "link") / NAME)) == 0
    assert capsys.readouterr().out.count(f"{NAME}\n  feature") == 3


@pytest.mark.parametrize("words", [("agents",), ("config", "path"), ("pipelines",), ("notify",)])
def test_what_is_about_the_user_works_at_home(run: Run, home: Path, words: tuple[str, ...]) -> None:
    assert run(home, *words) == 0


def test_a_start_in_a_repository_below_another_project_works_in_the_repository(
    run: Run, home: Path, capsys: Capture
) -> None:
    for above in (home, home / "code"):
        (above / ".agentmux").mkdir(parents=True)
    top = make_project(home / "code/app")
    assert run(top, *START) == 0
    said = capsys.readouterr()
    assert "not a git repository" not in said.err
    assert "the session works in" not in said.err  # it is where the user is
    (top / "src").mkdir()
    assert run(top / "src", *START) == 0
    assert f"the session works in {top}, not {top / 'src'}\n" in capsys.readouterr().err
    assert run(top / "src", *START, "--worktree") == 0
    assert f"belongs to the project {top}, not {top / 'src'}\n" in capsys.readouterr().err
    other = home / "code/other"
    other.mkdir()
    assert run(other, *START) == 0
    assert f"the session works in {home / 'code'}, not {other}\n" in capsys.readouterr().err


def test_a_start_in_the_repository_of_home_says_whose_it_is(
    run: Run, home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_project(home / "me")
    monkeypatch.setenv("HOME", str(top))
    (top / "idea").mkdir()
    assert run(top / "idea", *START) == 0
    assert f"the git repository of your home directory, {top}" in capsys.readouterr().err


def test_sessions_further_up_are_named_with_their_project(
    run: Run, home: Path, capsys: Capture
) -> None:
    top = make_project(home / "code/app")
    OnDisk(sessions_dir(home / "code") / NAME)
    OnDisk(sessions_dir(home) / "20260101-101500-done", Phase.DONE)
    code = f"agentmux --project '{home / 'code'}'"

    assert run(top, "list") == 0
    listed = capsys.readouterr().err
    assert f"1 session in {home / 'code'}: {code} list\n" in listed
    assert f"1 session in {home}: agentmux --project '{home}' list\n" in listed
    assert run(top) == 0
    assert f"{code} list\n" in capsys.readouterr().err

    assert run(top, "resume") == 4
    nothing = capsys.readouterr().err
    assert f"hint: in {home / 'code'}: {code} resume\n" in nothing
    assert f"--project '{home}' resume" not in nothing  # all is done there

    assert run(top, "resume", "add-auth") == 4
    assert f"hint: in {home / 'code'}: {code} resume add-auth\n" in capsys.readouterr().err
    assert run(home, "--project", str(home / "code"), "status", "add-auth") == 0


def test_the_last_session_takes_the_folder_that_holds_nothing_else(
    run: Run, home: Path, capsys: Capture
) -> None:
    project = home / "p"
    for name in (NAME, "20260101-101500-other"):
        OnDisk(sessions_dir(project) / name)
    (sessions_dir(project) / ".gitignore").write_text("*\n")
    assert run(project, "remove", NAME, "--yes") == 0
    assert sessions_dir(project).is_dir()
    assert "held nothing else" not in capsys.readouterr().err
    assert run(project, "remove", "--yes") == 0
    assert list(project.iterdir()) == []
    assert f", and {project / '.agentmux'}, which held nothing else" in capsys.readouterr().err


def test_who_reads_elsewhere_is_told_commands_that_work_there(
    run: Run, home: Path, capsys: Capture, tmp_path: Path
) -> None:
    project = make_project(tmp_path / "a project")
    folder = sessions_dir(project) / NAME
    OnDisk(folder, Phase.PLANNING)
    place = ("--project", str(project))
    for words in (("status",), ("status", "nowhere"), ("list", "--all"), (), ("rewind", NAME)):
        run(project, *words)
        there = capsys.readouterr()
        run(home, *place, *words)
        here = capsys.readouterr()
        shown = [each.text for each in commands_of(here.out + here.err)]
        assert len(shown) == len(list(commands_of(there.out + there.err)))
        assert all(f"--project '{project}'" in each for each in shown), shown
        assert f"--project '{project}'" not in there.out + there.err
    run(home, *place, "status")
    (step,) = (each.text for each in commands_of(capsys.readouterr().out))
    assert step.startswith("agentmux ")
    assert run(home, *shlex.split(step)[1:], "--dry-run") == 0
    assert layout.slug_of(NAME) in capsys.readouterr().out
    run(project, "--project", str(project), "status")
    assert "--project" not in capsys.readouterr().out


def test_a_program_that_asks_elsewhere_is_told_commands_that_work_there(
    run: Run, home: Path, capsys: Capture, tmp_path: Path
) -> None:
    project = make_project(tmp_path / "a project")
    asked = "as I said: git commit it"
    folder = sessions_dir(project) / NAME
    OnDisk(folder, Phase.PLANNING, feature=asked)
    named = 0
    for words in ((), ("resume", NAME, "--dry-run"), ("status", "nowhere"), ("rewind", NAME)):
        run(project, *words, "--json")
        there = json.loads(capsys.readouterr().out)
        run(home, "--project", str(project), *words, "--json")
        here = json.loads(capsys.readouterr().out)
        known = {each: machine.locate(each, project) for each in strings(there)}
        assert {*strings(here)} <= {*known.values(), *known}
        shown = [each.text for text in strings(here) for each in commands_of(text)]
        found = [each for each in shown if each != "git commit it"]
        named += len(found)
        assert all(f"'{project}'" in each for each in found), found
        assert (asked in strings(here)) == (asked in strings(there))
    assert named > 2


def strings(answer: object) -> list[str]:
    """Return all texts in a JSON answer."""
    if isinstance(answer, str):
        return [answer]
    inside = [*answer.values()] if isinstance(answer, dict) else answer
    return [each for part in inside for each in strings(part)] if isinstance(inside, list) else []
