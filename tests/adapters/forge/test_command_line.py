import json
import os
import subprocess
from pathlib import Path

import pytest

from agentmux.adapters.config.forge_registry import load_forges
from agentmux.adapters.forge import command_line
from agentmux.adapters.forge.command_line import ForgeCommandLine
from agentmux.adapters.system.processes.processes import is_alive
from agentmux.core.codec.frozen import replace
from agentmux.core.forges.spec import RepoRef
from agentmux.ports.forge import ForgeError, IssueComment, NewRequest
from tests.conftest import WaitUntil
from tests.fakes.forge import HIDDEN, FakeForge

PLACE = RepoRef(forge="github", host="github.com", repo="o/r")
FORK = RepoRef(forge="github", host="github.com", repo="me/r")


@pytest.fixture
def forge(tmp_path: Path) -> FakeForge:
    return FakeForge(tmp_path / "forge")


def asked(forge: FakeForge, **more: str) -> ForgeCommandLine:
    path = f"{forge.bin}:{os.environ['PATH']}"
    environment = {"PATH": path, **forge.environment, **more}
    return ForgeCommandLine(lambda: load_forges(None), environment, forge.folder)


def git_repository(path: Path, branch: str) -> Path:
    def git(*words: str) -> None:
        subprocess.run(("git", "-C", str(path), *words), check=True, capture_output=True)

    path.mkdir()
    git("init", "-q", "-b", branch)
    git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "x", "--allow-empty")
    return path


def test_an_issue(forge: FakeForge) -> None:
    forge.issue(42, "Title; $(x) `y`", "body\r\nmore", ("bob", "not read"))
    found = asked(forge).issue(PLACE, 42, comments=False)
    assert (found.title, found.body) == ("Title; $(x) `y`", "body\r\nmore")
    assert found.url == "https://github.com/o/r/issues/42"
    assert (found.comments, found.left_out) == ((), 0)
    assert len(forge.calls) == 1


def test_only_comments_of_people_who_may_write(forge: FakeForge) -> None:
    hidden = ("ann", HIDDEN)
    comments = [hidden, *((who, who) for who in ("ann", "bob", "reader", "gone", "../x", "ann"))]
    forge.issue(42, "t", "b", *comments)
    forge.permissions(ann="admin", bob="write", reader="read")
    found = asked(forge).issue(PLACE, 42, comments=True)
    assert found.comments == tuple(
        IssueComment(author=who, text=who) for who in ("ann", "bob", "ann")
    )
    assert found.left_out == 3
    assert not any("../x" in word for words in forge.calls for word in words)


def test_an_empty_body_is_an_empty_text(forge: FakeForge) -> None:
    forge.issue(1, "t", None)  # type: ignore[arg-type]  # as the forge answers
    assert asked(forge).issue(PLACE, 1, comments=False).body == ""


def test_not_logged_in_is_said_in_the_programs_own_words(forge: FakeForge) -> None:
    forge.log_out()
    with pytest.raises(ForgeError) as error:
        asked(forge).issue(PLACE, 42, comments=False)
    assert "please run: gh auth login" in error.value.message
    assert error.value.hints == ("if it is not logged in: gh auth login --hostname github.com",)
    assert error.value.exit_code == 6


def test_an_issue_that_does_not_exist(forge: FakeForge) -> None:
    with pytest.raises(ForgeError, match="Could not resolve to an issue") as error:
        asked(forge).issue(PLACE, 43, comments=False)
    assert error.value.hints == (f"there is no such number in {PLACE.repo}: check it",)


def test_a_request_that_does_not_exist(forge: FakeForge) -> None:
    with pytest.raises(ForgeError, match="Could not resolve to a PullRequest") as error:
        asked(forge).request(PLACE, 43)
    assert error.value.hints == (f"there is no such number in {PLACE.repo}: check it",)


def test_a_repository_that_is_not_shown_may_need_a_login(forge: FakeForge) -> None:
    with pytest.raises(ForgeError, match="Could not resolve to a Repository") as error:
        asked(forge).issue(replace(PLACE, repo="ada/secret"), 43, comments=False)
    assert error.value.hints == ("if it is not logged in: gh auth login --hostname github.com",)


def test_a_program_that_is_not_installed(forge: FakeForge, tmp_path: Path) -> None:
    with pytest.raises(ForgeError) as error:
        asked(forge, PATH=str(tmp_path)).issue(PLACE, 42, comments=False)
    assert error.value.message == "`gh` is not installed; github.com is asked by it"
    assert error.value.hints == ("install it: https://cli.github.com",)


@pytest.mark.parametrize("said", ["", "no", "{}", "[]", '{"title": [], "body": ""}'])
def test_a_strange_answer(forge: FakeForge, said: str) -> None:
    (forge.bin / "gh").write_text(f"#!/bin/sh\necho '{said}'\n")
    with pytest.raises(ForgeError, match="answered something unexpected"):
        asked(forge).issue(PLACE, 42, comments=False)


def test_a_program_that_does_not_end_is_ended_with_its_children(
    forge: FakeForge, monkeypatch: pytest.MonkeyPatch, wait_until: WaitUntil
) -> None:
    monkeypatch.setattr(command_line, "TIMEOUT_S", 0.5)
    child = forge.folder / "child"
    (forge.bin / "gh").write_text(f"#!/bin/sh\nsleep 1000 & echo $! > {child}; wait\n")
    with pytest.raises(ForgeError, match="did not end within"):
        asked(forge).issue(PLACE, 42, comments=False)
    wait_until(lambda: not is_alive(int(child.read_text()), 0))


def new(**more: object) -> NewRequest:
    plain: dict[str, object] = {
        "place": PLACE, "source": PLACE, "branch": "agentmux/x", "base": "main", "title": "-t",
        "body": "b\n", "is_draft": True,
    }  # fmt: skip
    return NewRequest(**{**plain, **more})  # type: ignore[arg-type]


def test_open_find_and_look_at_a_request(forge: FakeForge, tmp_path: Path) -> None:
    git = git_repository(tmp_path / "git", "agentmux/x")
    forge.repository("o/r", git)
    forge.request(source="github.com/o/r", branch="agentmux/xyz")
    cli = asked(forge)
    assert cli.requests(PLACE, "agentmux/x") == ()
    assert cli.open(new()).strip() == "https://github.com/o/r/pull/101"
    (found,) = cli.requests(PLACE, "agentmux/x")
    tip = subprocess.run(
        ("git", "-C", str(git), "rev-parse", "HEAD"), capture_output=True, text=True, check=True
    )
    assert (found.number, found.commit, found.base) == (101, tip.stdout.strip(), "main")
    assert (found.source, found.is_open) == (cli.identity(PLACE), True)
    assert cli.request(PLACE, 101) == found
    opened = forge.requests[-1]
    assert (opened["title"], opened["body"], opened["draft"]) == ("-t", "b\n", True)
    with pytest.raises(ForgeError, match="already exists"):
        cli.open(new(is_draft=False))


def test_a_request_from_a_fork_names_its_owner(forge: FakeForge, tmp_path: Path) -> None:
    forge.repository("me/r", git_repository(tmp_path / "git", "agentmux/x"))
    cli = asked(forge)
    cli.open(new(source=FORK, is_draft=False))
    (found,) = cli.requests(PLACE, "agentmux/x")
    assert found.source == "me/r" == cli.identity(FORK)
    assert forge.requests[-1]["draft"] is False


def test_a_request_that_is_merged(forge: FakeForge) -> None:
    forge.request(branch="x", commit="c" * 40, state="MERGED")
    found = asked(forge).request(PLACE, 100)
    assert (found.is_open, found.is_merged) == (False, True)
    assert asked(forge).requests(PLACE, "x") == ()


def test_gitlab_is_asked_by_its_interface(forge: FakeForge) -> None:
    answers = {
        "projects/g%2Fs%2Fr/issues/7": {"title": "t", "description": None},
        "projects/g%2Fs%2Fr/issues/7/notes?sort=asc&order_by=created_at&per_page=100": [
            {"system": True, "author": {"username": "ann", "id": 3}, "body": "moved"},
            {"system": False, "author": {"username": "ann", "id": 3}, "body": "yes"},
            {"system": False, "author": {"username": "bob", "id": 4}, "body": "no"},
        ],
        "projects/g%2Fs%2Fr/members/all/3": {"access_level": 30},
        "projects/g%2Fs%2Fr/members/all/4": {"access_level": 20},
        "projects/g%2Fs%2Fr": {"id": 99},
    }
    (forge.folder / "answers.json").write_text(json.dumps(answers))
    program = (
        "#!/usr/bin/env python3\nimport json, sys\n"
        f"answers = json.load(open({str(forge.folder / 'answers.json')!r}))\n"
        "assert sys.argv[1:4] == ['api', '--hostname', 'gitlab.com'], sys.argv\n"
        "print(json.dumps(answers[sys.argv[4]]))\n"
    )
    (forge.bin / "glab").write_text(program)
    (forge.bin / "glab").chmod(0o755)
    place = RepoRef(forge="gitlab", host="gitlab.com", repo="g/s/r")
    found = asked(forge).issue(place, 7, comments=True)
    assert (found.title, found.body) == ("t", "")
    assert found.comments == (IssueComment(author="ann", text="yes"),)
    assert found.left_out == 1
    assert asked(forge).identity(place) == "99"


def test_only_open_requests_for_exactly_this_branch_count(forge: FakeForge) -> None:
    found = [
        {"number": number, "state": state, "headRefName": branch, "headRefOid": "c",
         "headRepositoryOwner": {"login": "o"}, "headRepository": {"name": "r"},
         "baseRefName": "main"}
        for number, state, branch in ((1, "CLOSED", "x"), (2, "OPEN", "xy"), (3, "OPEN", "x"))
    ]  # fmt: skip
    (forge.bin / "gh").write_text(f"#!/bin/sh\necho '{json.dumps(found)}'\n")
    assert [each.number for each in asked(forge).requests(PLACE, "x")] == [3]


def test_a_program_that_writes_without_end_is_ended(forge: FakeForge) -> None:
    gh = forge.bin / "gh"
    gh.unlink()
    gh.write_text("#!/bin/sh\nexec yes\n")
    gh.chmod(0o755)
    with pytest.raises(ForgeError, match=r"`gh issue` wrote more than \d+ bytes, and was ended"):
        asked(forge).issue(PLACE, 42, comments=False)
