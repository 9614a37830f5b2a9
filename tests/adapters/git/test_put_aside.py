"""Changes are put aside and put back by the commands of our hints, in real repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.git.put_aside import aside_hints
from agentmux.adapters.git.put_back import stash_hints, transfer_hints
from agentmux.core.names.words.git_commands import FOR_TRIAL, IN_TRIAL
from tests.adapters.trees.test_odd_repositories import with_submodule
from tests.app.driver import git, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = make_project(tmp_path / "a project")
    for name in ("a.txt", "b.txt", "big/one.txt", "small/two.txt"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(f"{name}\n")
    (project / ".gitignore").write_text("*.log\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Files")
    return project


def program(project: Path) -> GitProgram:
    return GitProgram(project, dict(os.environ))


def follow(hint: str) -> None:
    """Type what stands behind the colon, but not yet what is said for later."""
    line = hint.partition("; after")[0].partition(": ")[2]
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stderr}"


def status(project: Path) -> str:
    """Return what git says of each file, and what is in those on the disk."""
    listed = git(project, "status", "--porcelain", "--untracked-files=all", "--ignored")
    files = (path for path in sorted(project.rglob("*")) if ".git" not in path.parts)
    texts = [f"{path}: {path.read_text()}" for path in files if path.is_file()]
    return "\n".join((listed, git(project, "ls-files", "-v"), *texts))


def put_aside(project: Path, *paths: str) -> list[str]:
    """Follow the hints; return what they say to do after the trial."""
    hints = list(aside_hints(program(project), paths, FOR_TRIAL, is_all=True))
    for hint in hints:
        follow(hint)
    assert git(project, "status", "--porcelain", "--untracked-files=no") == ""
    return [hint.partition("; after")[2] for hint in hints if "; after" in hint]


def put_back(project: Path) -> None:
    follow(next(stash_hints(program(project), project, FOR_TRIAL)))


@pytest.mark.follows(
    "git -C … update-index --no-… -- …",
    "git -C … update-index --… -- …",
)
def test_flags_are_put_back_with_the_edits_that_they_hid(project: Path) -> None:
    git(project, "update-index", "--assume-unchanged", "a.txt")
    git(project, "update-index", "--skip-worktree", "b.txt")
    for name in ("a.txt", "b.txt"):
        (project / name).write_text("a password\n")
    before = status(project)
    put_aside(project, "a.txt", "b.txt")
    assert "h a.txt" not in git(project, "ls-files", "-v")
    put_back(project)
    assert status(project) == before


@pytest.mark.follows("git -C …… reset --quiet -- …")
def test_what_is_outside_of_a_sparse_checkout_is_on_the_disk_again(project: Path) -> None:
    git(project, "sparse-checkout", "set", "--no-cone", "/small", "/*.txt")
    changes = ("a.txt", "big/one.txt", "small/two.txt", "small/new.txt", "tests/new[1].txt")
    for name in changes:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("changed\n")
    (project / "b.txt").write_text("staged\n")
    git(project, "add", "b.txt")
    before = status(project)
    put_aside(project, *changes, "b.txt")
    put_back(project)
    assert status(project) == before


def test_what_is_staged_outside_of_a_sparse_checkout_is_on_the_disk_again(project: Path) -> None:
    git(project, "sparse-checkout", "set", "--no-cone", "/small", "/*.txt")
    changes = ("a.txt", "b.txt", "big/one.txt", "big/new.txt", "small/two.txt")
    for name in changes:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("staged\n")
        git(project, "add", "--sparse", name)
    (project / "b.txt").write_text("staged, and then changed\n")
    before = status(project)
    put_aside(project, *changes)
    assert not (project / "big" / "new.txt").exists()
    put_back(project)
    assert status(project) == before


def test_an_ignored_file_in_the_way_is_put_aside_in_a_sparse_checkout(project: Path) -> None:
    git(project, "sparse-checkout", "set", "--no-cone", "/small", "/*.txt")
    in_way = ("small/x[1].log", "big/y.log", "small/folder")
    for name in (*in_way[:2], "small/folder/z.log", "small/folder/new.txt", "small/other.log"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("mine\n")
    before = status(project)
    hints = tuple(aside_hints(program(project), in_way, FOR_TRIAL))
    for hint in hints:
        follow(hint)
    assert not any((project / each).exists() for each in in_way)
    assert (project / "small" / "other.log").exists()
    put_back(project)
    assert status(project) == before


@pytest.mark.parametrize("sparse", [False, True])
def test_a_repository_without_a_commit_is_left_where_it_is(project: Path, *, sparse: bool) -> None:
    for name in ("small/a new[1]", "small/it's new", "small/other"):
        git(project, "init", "-q", name)
        (project / name / "in.txt").write_text("new\n")
    other = project / "small/other"
    git(other, "add", "-A")
    git(other, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "One")
    if sparse:
        git(project, "sparse-checkout", "set", "--no-cone", "/small", "/*.txt")
    for name in ("a.txt", "small/new.txt"):
        (project / name).write_text("changed\n")
    before = status(project)
    put_aside(project, "a.txt", "small/new.txt")
    assert not (project / "small" / "new.txt").exists()
    put_back(project)
    assert status(project) == before


@pytest.mark.follows("mv … …")
def test_a_folder_with_repositories_in_place_of_a_new_file_is_moved(project: Path) -> None:
    git(project, "init", "-q", "data/in/it")
    (project / "data" / "in" / "it" / "x.txt").write_text("new\n")
    (project / "data" / "x.log").write_text("ignored\n")
    before = status(project)
    for hint in (hints := tuple(aside_hints(program(project), ("data",), FOR_TRIAL))):
        follow(hint)
    assert not (project / "data").exists()
    for hint in hints:
        follow(hint.partition("; after")[2])
    assert status(project) == before


@pytest.mark.follows("mv … …")
def test_a_folder_in_place_of_a_file_is_moved_away_and_back(project: Path) -> None:
    put_folder(project / "a.txt")
    before = status(project)
    later = put_aside(project, "a.txt", "a.txt/in.txt")
    assert (project / "a.txt").read_text() == "a.txt\n"
    put_back(project)
    for hint in later:
        follow(hint)
    assert status(project) == before


def test_of_a_folder_whose_files_are_staged_nothing_is_lost(project: Path) -> None:
    put_folder(project / "b.txt")
    git(project, "add", "b.txt")
    before = git(project, "ls-files", "--stage")
    put_aside(project, "b.txt", "b.txt/in.txt")
    assert (project / "b.txt").read_text() == "b.txt\n"
    put_back(project)
    assert git(project, "ls-files", "--stage") == before
    assert (project / "b.txt.old" / "in.log").read_text() == "ignored\n"


def put_folder(place: Path) -> None:
    """Put a folder in the place of a file, with a new file in it and one that git ignores."""
    place.unlink()
    place.mkdir()
    (place / "in.txt").write_text("new\n")
    (place / "in.log").write_text("ignored\n")


@pytest.mark.follows(
    "git -C … commit --message … -- …",
    "git -C … reset --soft 'HEAD~' && git -C … restore --staged -- …",
)
def test_the_commit_of_a_submodule_is_taken_back_after_a_trial(project: Path) -> None:
    with_submodule(project)
    git(project / "lib", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q",
        "--allow-empty", "-m", "Mine")  # fmt: skip
    (project / "a.txt").write_text("staged\n")
    git(project, "add", "a.txt")
    before, head = git(project, "status", "--porcelain"), git(project, "rev-parse", "HEAD")
    later = put_aside(project, "lib", "a.txt")
    assert git(project, "rev-parse", "HEAD") != head
    put_back(project)
    for hint in later:
        follow(hint)
    assert git(project, "status", "--porcelain") == before
    assert git(project, "rev-parse", "HEAD") == head


@pytest.mark.follows("… | git -C … apply --whitespace=nowarn")
@pytest.mark.parametrize("is_new", [False, True])
def test_what_was_changed_in_a_trial_is_made_in_the_worktree(
    project: Path, *, is_new: bool
) -> None:
    place = project.parent / "the worktree"
    git(project, "worktree", "add", "-q", "-b", "side", str(place))
    (place / "a.txt").write_text("of the session\n")
    git(place, "stash", "-q")
    git(project, "switch", "-q", "--detach", "stash@{0}")
    git(place, "stash", "apply", "-q")
    git(project, "stash", "drop", "-q")
    git(project, "config", "diff.noprefix", "true")
    git(project, "config", "color.ui", "always")
    git(project, "config", "apply.whitespace", "error")
    with (project / "a.txt").open("a") as file:
        file.write("a fix \n")
    if is_new:
        (project / "new.bin").write_bytes(b"\0new")
    (hint,) = aside_hints(program(project), ("a.txt", "new.bin"), IN_TRIAL, is_all=True)
    follow(hint)
    trial = git(project, "rev-parse", "HEAD").strip()
    git(project, "switch", "-q", "main")
    forth, look = transfer_hints(program(project), trial, place)
    follow(forth)
    assert (place / "a.txt").read_text() == "of the session\na fix \n"
    assert (place / "new.bin").exists() == is_new
    follow(look)
    assert git(project, "status", "--porcelain") == ""
    assert tuple(transfer_hints(program(project), trial, None)) == (look,)
    assert tuple(transfer_hints(program(project), "another", place)) == (look,)


def test_a_stash_of_another_branch_stays_when_it_is_put_back(project: Path) -> None:
    git(project, "worktree", "add", "-q", "-b", "side", str(project.parent / "side"))
    (project / "a.txt").write_text("changed on main\n")
    put_aside(project, "a.txt")
    there = program(project.parent / "side")
    hint, _ = stash_hints(there, there.root(), FOR_TRIAL)
    assert hint.startswith("another one, maybe of an earlier time, on main: ")
    follow(hint)
    put_back(project)
    assert (project / "a.txt").read_text() == "changed on main\n"


def test_a_stash_with_another_message_is_not_named(project: Path) -> None:
    for text in (f"{FOR_TRIAL} later", f"{FOR_TRIAL} -2", f'{FOR_TRIAL} {{"staged": 1}}'):
        (project / "a.txt").write_text(f"{text}\n")
        git(project, "stash", "push", "-q", "--message", text)
    assert not list(stash_hints(program(project), project, FOR_TRIAL))
