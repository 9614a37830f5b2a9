"""Worktrees, checkpoints, merges and pushes in repositories that are unlike most, with real git."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git.program import GitProgram, GitReply
from agentmux.adapters.git.remotes import ConfiguredRemotes
from agentmux.adapters.git.repository import Git
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.adapters.trees.merging import Merges
from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.errors import MissingError
from agentmux.overriding import override
from agentmux.ports.git.repository import ChangeRange, GitError, GitRefusedError
from agentmux.ports.git.worktrees import WorktreeSpec
from tests.adapters.trees.test_checkpoints import inside, names, taken
from tests.adapters.trees.test_restoration import saved
from tests.adapters.trees.test_worktrees import SESSION, everything, spec_of, worktrees
from tests.app.driver import git, make_project

TRAILER = ("Agentmux-Event", "6f1c1a52-6a51-5d53-9d31-0a4ff2f8a001")
ALLOWED = ("-c", "protocol.file.allow=always")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def begun(project: Path, **changed: Any) -> WorktreeSpec:
    """Return a worktree that was just made."""
    spec = spec_of(project, **changed)
    assert worktrees(project).make(spec, again=False) == ()
    return spec


def add(top: Path, **contents: str) -> str:
    """Commit files, and return the commit."""
    for name, text in contents.items():
        path = top / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        git(top, "add", str(path))
    git(top, "commit", "-qm", "More")
    return git(top, "rev-parse", "HEAD").strip()


def commit(top: Path, name: str) -> str:
    """Commit a new file as an approval does."""
    (top / name).write_text(f"{name}\n")
    return Git(top, os.environ).commit("Add", (name,), trailer=TRAILER)


def merged(project: Path, spec: WorktreeSpec, base: str) -> str:
    """Merge the session's branch into another one as an approval does; return the new commit."""
    merges = Merges(GitProgram(project, os.environ))
    result = git(project, "rev-parse", spec.branch).strip()
    plan = merges.plan(base, result, branch=spec.branch, trailer=TRAILER)
    top = merges.checkout_of(base)
    merges.move(plan) if top is None else merges.fast_forward(plan, top)
    assert git(project, "rev-parse", base).strip() == plan.new
    return plan.new


def hook(project: Path, name: str, body: str) -> Path:
    path = project / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


# -- nothing of the user's changes ---------------------------------------------------------------


def bytes_of(folder: Path) -> dict[str, str]:
    """Return a digest of every file, except those of sessions and git's objects."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not {"objects", ".sessions"} & set(path.parts)
    }


def difference(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def test_nothing_of_the_users_changes_but_for_the_branch(project: Path) -> None:
    add(project, one="1\n")
    git(project, "branch", "release")
    add(project, two="2\n")
    (project / "one").write_text("stashed\n")
    git(project, "stash", "-q")
    (project / "two").write_text("staged\n")
    git(project, "add", "two")
    (project / "two").write_text("changed\n")
    (project / "mine.txt").write_text("untracked\n")
    hook(project, "post-index-change", "touch .git/hooked")
    git(project, "status")
    before, refs = bytes_of(project), git(project, "for-each-ref")

    spec = begun(project)
    (spec.path / "new.txt").write_text("new\n")
    found = git(project, "for-each-ref", "--format=%(refname)").splitlines()
    assert {*found} - {each.split()[-1] for each in refs.splitlines()} == {
        f"refs/heads/{spec.branch}"
    }
    git(spec.path, "checkout", "-q", "--detach")
    git(spec.path, "commit", "-q", "--allow-empty", "-m", "On no branch")
    taken(spec.path, spec.home)
    found = git(project, "for-each-ref", "--format=%(refname)").splitlines()
    assert {*found} - {each.split()[-1] for each in refs.splitlines()} == {
        f"refs/heads/{spec.branch}", f"refs/agentmux/{SESSION}"
    }  # fmt: skip
    git(spec.path, "checkout", "-q", spec.branch)
    commit(spec.path, "new.txt")
    new = merged(project, spec, "release")
    GitCheckpoints(GitProgram(spec.path, os.environ), spec.home, SESSION).forget()
    loss = worktrees(project).removal_loss(spec, "release")
    assert not loss
    worktrees(project).remove(spec, loss.tip)

    moved = {".git/refs/heads/release", ".git/logs/refs/heads/release"}
    ours = {".git/agentmux-merge.lock"}
    assert difference(before, bytes_of(project)) == moved | ours
    git(project, "update-ref", "refs/heads/release", f"{new}^", new)
    assert git(project, "show", "--stat", "--format=", new).split()[0] in {"new.txt", ""}


# -- names, and what is left out -----------------------------------------------------------------


def test_names_that_differ_in_case_only(project: Path) -> None:
    add(project, name="small\n", Name="big\n")
    git(project, "branch", "agentmux/X")
    git(project, "config", "branch.agentmux/X.agentmux-session", "another")
    spec = begun(project)
    (spec.path / "Name").write_text("BIG\n")
    (spec.path / "NAME").write_text("new\n")
    spec = saved(spec)
    assert names(spec.path, spec.home, taken(spec.path, spec.home)) == [
        "NAME", "Name", "README.md", "name",
    ]  # fmt: skip
    shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=True)
    assert [(spec.path / each).read_text() for each in ("name", "Name", "NAME")] == [
        "small\n", "BIG\n", "new\n",
    ]  # fmt: skip
    worktrees(project).remove(spec, spec.commit)
    assert git(project, "config", "branch.agentmux/X.agentmux-session").strip() == "another"
    assert git(project, "branch", "--list", "agentmux/*").split() == ["agentmux/X"]


def test_a_sparse_checkout_from_worktree_to_merge(project: Path) -> None:
    add(project, in__file="in\n", out__file="out\n")
    git(project, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    spec = begun(project)
    assert not (spec.path / "out").exists()
    (spec.path / "in" / "file").write_text("changed\n")
    (spec.path / "in" / "new").write_text("new\n")
    spec = saved(spec)
    shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=True)
    assert not (spec.path / "out").exists()
    assert git(spec.path, "status", "--porcelain") == " M in/file\n?? in/new\n"
    made = Git(spec.path, os.environ).commit("Add", ("in/file", "in/new"), trailer=TRAILER)
    assert git(spec.path, "show", "--name-only", "--format=", made).split() == ["in/file", "in/new"]
    assert git(spec.path, "status", "--porcelain") == ""
    merged(project, spec, "main")
    assert (project / "in" / "file").read_text() == "changed\n"
    assert not (project / "out").exists()
    assert git(project, "show", "main:out/file") == "out\n"
    assert git(project, "status", "--porcelain") == ""


@pytest.mark.parametrize("kind", [("--cone", "--sparse-index", "in"), ("--no-cone", "/in/")])
def test_new_files_outside_of_a_sparse_checkout_are_shown_as_they_are_committed(
    project: Path, kind: tuple[str, ...]
) -> None:
    start = add(project, in__file="in\n", out__file="out\n")
    git(project, "sparse-checkout", "set", *kind)
    names = ("in/file", "in/new", "out/file", "out/new")
    for name in names:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("changed\n")
    repository = Git(project, os.environ)
    before = git(project, "ls-files", "--stage")
    now = repository.stat(ChangeRange(since=start))
    assert [line.split()[0] for line in now[:-1]] == list(names)
    assert git(project, "ls-files", "--stage") == before
    made = repository.commit("Add", repository.dirty(), trailer=TRAILER)
    assert repository.stat(ChangeRange(since=start, until=made)) == now
    assert repository.stat(ChangeRange(since=start)) == now
    assert (project / "out" / "new").read_text() == "changed\n"


def test_a_file_whose_filter_is_missing_is_named_when_it_comes_back(project: Path) -> None:
    add(project, **{".gitattributes": "*.big filter=lfs\n", "data.big": "pointer\n"})
    spec = begun(project)
    (spec.path / "data.big").write_text("pointer 2\n")
    (spec.path / "new.txt").write_text("new\n")
    spec = saved(spec)
    shutil.rmtree(spec.path)
    git(project, "config", "filter.lfs.smudge", "no-such-program smudge %f")
    git(project, "config", "filter.lfs.required", "true")
    with pytest.raises(GitError, match=r"data\.big: smudge filter lfs failed"):
        worktrees(project).make(spec, again=True)
    git(project, "config", "filter.lfs.required", "false")
    worktrees(project).make(spec, again=True)
    assert (spec.path / "data.big").read_text() == "pointer 2\n"
    git(project, "config", "filter.lfs.clean", "no-such-program clean %f")
    git(project, "config", "filter.lfs.required", "true")
    (spec.path / "data.big").write_text("pointer 3\n")
    assert taken(spec.path, spec.home).missing == ("data.big",)
    with pytest.raises(GitRefusedError, match=r"data\.big: clean filter 'lfs' failed"):
        Git(spec.path, os.environ).commit("Add", ("data.big",), trailer=TRAILER)


# -- repositories in repositories ----------------------------------------------------------------


def with_submodule(project: Path) -> Path:
    """Give the project the submodule ``lib``; return where it came from."""
    part = make_project(project.parent / "part")
    git(project, *ALLOWED, "submodule", "--quiet", "add", str(part), "lib")
    git(project, "commit", "-qm", "A part")
    return part


def test_submodules_from_worktree_to_merge(project: Path) -> None:
    part = with_submodule(project)
    spec = begun(project)
    assert list((spec.path / "lib").iterdir()) == []
    git(spec.path, *ALLOWED, "submodule", "--quiet", "update", "--init")
    (spec.path / "lib" / "README.md").write_text("changed\n")
    git(spec.path / "lib", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qam", "Theirs")
    (spec.path / "new.txt").write_text("new\n")
    found = taken(spec.path, spec.home)
    assert found.missing == ("lib/",)
    assert inside(spec.path, spec.home, "ls-tree", found.commit, "lib").split()[0] == "160000"

    git(spec.path / "lib", "push", "-q", "origin", "HEAD:refs/heads/theirs")
    result = Git(spec.path, os.environ).commit("Add", ("lib", "new.txt"), trailer=TRAILER)
    assert git(part, "rev-parse", "theirs").strip() in git(spec.path, "ls-tree", result, "lib")
    merged(project, spec, "main")
    assert (project / "new.txt").exists()
    assert (project / "lib" / "README.md").read_text() == "# A project\n"
    assert git(project, "status", "--porcelain") == " M lib\n"
    assert not worktrees(project).removal_loss(spec, "main")
    worktrees(project).remove(spec, result)
    assert not spec.path.exists()
    assert git(project / "lib", "status", "--porcelain") == ""


def test_a_submodule_that_git_is_told_to_ignore_is_shown_delivered_and_not_lost(
    project: Path,
) -> None:
    with_submodule(project)
    git(project, "config", "-f", ".gitmodules", "submodule.lib.ignore", "all")
    git(project, "commit", "-qam", "Ignore it")
    spec = begun(project)
    git(spec.path, *ALLOWED, "submodule", "--quiet", "update", "--init")
    me = ("-c", "user.name=x", "-c", "user.email=x@x")
    git(spec.path / "lib", *me, "commit", "-q", "--allow-empty", "-m", "Theirs")
    git(spec.path / "lib", "push", "-q", "origin", "HEAD:refs/heads/theirs")
    there, made = Git(spec.path, os.environ), git(spec.path / "lib", "rev-parse", "HEAD").strip()
    assert there.changes() == ("lib",)
    assert there.stat(ChangeRange(since="HEAD"))[0].startswith(" lib | ")
    result = there.commit("Add", ("lib",), trailer=TRAILER)
    assert there.committed_since(spec.commit) == ("lib",)
    assert len(worktrees(project).removal_loss(spec, "main").commits) == 1
    merged(project, spec, "main")
    assert made in git(project, "ls-tree", "main", "lib")
    assert git(project, "rev-parse", "main").strip() == result
    assert not worktrees(project).removal_loss(spec, "main")


@pytest.mark.parametrize("work", ["changed", "new", "committed", "stashed"])
def test_work_in_a_submodule_is_not_lost(project: Path, work: str) -> None:
    with_submodule(project)
    spec = begun(project)
    git(spec.path, *ALLOWED, "submodule", "--quiet", "update", "--init")
    assert not worktrees(project).removal_loss(spec, "main")
    lib = spec.path / "lib"
    (lib / ("new.txt" if work == "new" else "README.md")).write_text("mine\n")
    identity = ("-c", "user.name=x", "-c", "user.email=x@x")
    if work == "committed":
        git(lib, *identity, "commit", "-qam", "Mine")
        git(lib, "branch", "mine")
        git(lib, "checkout", "-q", "--detach", "HEAD^")
    if work == "stashed":
        git(lib, *identity, "stash", "-q")
    loss = worktrees(project).removal_loss(spec, "main")
    assert loss.changed == ("lib/",)
    assert loss.modules == (), "it is named once"


@pytest.mark.parametrize("leaves", ["submodule --quiet deinit -f lib", "rm -qf lib"])
@pytest.mark.parametrize("work", ["committed", "stashed"])
def test_work_in_a_submodule_that_is_not_checked_out_any_more_is_not_lost(
    project: Path, leaves: str, work: str
) -> None:
    with_submodule(project)
    spec = begun(project)
    git(spec.path, *ALLOWED, "submodule", "--quiet", "update", "--init")
    lib = spec.path / "lib"
    identity = ("-c", "user.name=x", "-c", "user.email=x@x")
    if work == "committed":
        git(lib, *identity, "commit", "-q", "--allow-empty", "-m", "Mine")
    else:
        (lib / "README.md").write_text("mine\n")
        git(lib, *identity, "stash", "-q")
    git(spec.path, *leaves.split())
    loss = worktrees(project).removal_loss(spec, "main")
    assert loss, "so that nothing is removed"
    (kept,) = loss.modules
    assert kept.name == "lib"
    shown = git(kept, "--work-tree=.", "log", "--all", "--format=%s")
    assert ("Mine" if work == "committed" else "WIP on") in shown


def test_a_submodule_without_work_of_its_own_keeps_nothing(project: Path) -> None:
    with_submodule(project)
    spec = begun(project)
    git(spec.path, *ALLOWED, "submodule", "--quiet", "update", "--init")
    assert not worktrees(project).removal_loss(spec, "main")
    git(spec.path, "submodule", "--quiet", "deinit", "lib")
    assert not worktrees(project).removal_loss(spec, "main")


def test_a_repository_inside_the_worktree_is_not_lost(project: Path) -> None:
    spec = begun(project)
    make_project(spec.path / "nested")
    assert worktrees(project).removal_loss(spec, "main").changed == ("nested/",)


def test_a_project_that_is_a_submodule(project: Path, tmp_path: Path) -> None:
    with_submodule(project)
    lib = project / "lib"
    for name in ("user.name", "user.email"):
        git(lib, "config", name, "x@example.com")
    room = worktrees(lib).root_facts(None)
    assert (room.root, room.inside) == (project / "lib-worktrees", project)
    room = worktrees(lib).root_facts(str(tmp_path / "elsewhere"))
    assert (room.root, room.inside) == (tmp_path / "elsewhere", None)

    branch = git(lib, "symbolic-ref", "--short", "HEAD").strip()
    spec = spec_of(lib, path=room.root / "x")
    before = git(lib, "for-each-ref")
    worktrees(lib).make(spec, again=False)
    assert worktrees(lib).checkout_of(branch) == lib
    commit(spec.path, "new.txt")
    merged(lib, spec, branch)
    assert (lib / "new.txt").exists()
    assert git(project, "status", "--porcelain") == " M lib\n"
    git(lib, "reset", "-q", "--hard", "HEAD^")
    worktrees(lib).remove(spec, git(lib, "rev-parse", spec.branch).strip())
    assert git(lib, "for-each-ref") == before


def test_a_git_directory_that_is_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "gits").mkdir()
    project = make_project(tmp_path / "project")
    git(project, "init", "-q", "--separate-git-dir", str(tmp_path / "gits" / "a.git"))
    assert worktrees(project).root_facts(None).root == tmp_path / "project-worktrees"
    spec = begun(project)
    commit(spec.path, "new.txt")
    merged(project, spec, "main")
    assert (project / "new.txt").exists()


# -- other places and heads ----------------------------------------------------------------------


def test_a_project_in_a_linked_worktree_of_the_user(project: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    git(project, "worktree", "add", "-q", "-b", "topic", str(mine))
    base = worktrees(mine).base(None)
    assert base is not None
    assert base.branch == "topic"
    assert worktrees(mine).root_facts(None).root == tmp_path / "project-worktrees"
    before = everything(project)
    spec = begun(mine)
    commit(spec.path, "new.txt")
    new = merged(mine, spec, "topic")
    assert (mine / "new.txt").exists()
    assert not (project / "new.txt").exists()
    worktrees(mine).remove(spec, new)
    git(mine, "reset", "-q", "--hard", "HEAD^")
    assert everything(project) == before


@pytest.mark.parametrize("layout", ["repo.git", "repo/.bare", "repo/.git"])
def test_a_bare_repository_merges_and_forgets(project: Path, tmp_path: Path, layout: str) -> None:
    bare = tmp_path / layout
    main = (bare if bare.name == "repo.git" else bare.parent).parent / "checkout"
    git(tmp_path, "clone", "-q", "--bare", str(project), str(bare))
    for key in ("name", "email"):
        git(bare, "config", f"user.{key}", "x@example.com")
    git(bare, "branch", "release")
    git(bare, "worktree", "add", "-q", str(main), "main")
    before = git(bare, "for-each-ref")
    room = worktrees(main).root_facts(None)
    assert room.inside is None
    assert room.is_writable
    assert (
        room.root
        == {
            "repo.git": tmp_path / "repo-worktrees",
            "repo/.bare": tmp_path / "repo" / "bare-worktrees",
            "repo/.git": tmp_path / "repo-worktrees",
        }[layout]
    )
    spec = begun(main, path=room.root / "x")
    new = commit(spec.path, "new.txt")
    assert "new.txt" in names(spec.path, spec.home, taken(spec.path, spec.home))
    for base in ("release", "main"):
        assert merged(main, spec, base) == new
    assert (main / "new.txt").exists()
    worktrees(main).remove(spec, new)
    for base in ("release", "main"):
        git(bare, "update-ref", f"refs/heads/{base}", f"{new}^")
    assert git(bare, "for-each-ref") == before


def test_a_detached_head_and_an_unborn_one(project: Path) -> None:
    git(project, "checkout", "-q", "--detach")
    head = add(project, one="1\n")
    base = worktrees(project).base(None)
    assert base is not None
    assert (base.commit, base.branch) == (head, None)
    spec = begun(project)
    assert (spec.path / "one").exists()
    loss = worktrees(project).removal_loss(spec, None)
    worktrees(project).remove(spec, loss.tip)
    git(project, "checkout", "-q", "--orphan", "empty")
    assert worktrees(project).base(None) is None
    assert worktrees(project).base("main") is not None
    assert worktrees(project).make(spec, again=False) == ()
    assert (spec.path / "one").exists()
    assert git(project, "symbolic-ref", "HEAD").strip() == "refs/heads/empty"
    assert taken(project, spec.home).head is None


def test_a_repository_with_longer_hashes(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main", "--object-format=sha256")
    for key in ("name", "email"):
        git(project, "config", f"user.{key}", "x@example.com")
    add(project, one="1\n")
    spec = begun(project)
    (spec.path / "one").write_text("2\n")
    spec = saved(spec)
    shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=True)
    assert (spec.path / "one").read_text() == "2\n"
    commit(spec.path, "one")
    add(project, two="2\n")
    assert len(merged(project, spec, "main")) == 64


# -- hooks ---------------------------------------------------------------------------------------


class ImpatientGit(GitProgram):
    """Waits no longer than a second for any command, and checks that it did not."""

    @override
    def run(self, *argv: str, **more: Any) -> GitReply:
        began = time.monotonic()
        try:
            return super().run(*argv, **{**more, "limit_s": 1.0})
        finally:
            assert time.monotonic() - began < 60


def locks(project: Path) -> list[str]:
    return [path.name for path in (project / ".git").rglob("*.lock") if path.stem[:8] != "agentmux"]


HANG = "exec >/dev/null 2>&1 </dev/null; sleep 300 & wait"


@pytest.mark.parametrize("name", ["post-checkout", "reference-transaction"])
def test_a_hook_that_hangs_while_a_worktree_is_made(project: Path, name: str) -> None:
    before, spec = everything(project), spec_of(project)
    made = hook(project, name, HANG)
    with pytest.raises(MissingError, match=r"git .* did not answer within 1 s in"):
        LinkedWorktrees(ImpatientGit(project, os.environ)).make(spec, again=False)
    assert locks(project) == []
    made.unlink()
    worktrees(project).make(spec, again=False)
    assert worktrees(project).is_made(spec)
    worktrees(project).undo_make(spec)
    assert everything(project) == before


@pytest.mark.parametrize("name", ["pre-commit", "reference-transaction"])
def test_a_hook_that_hangs_at_a_commit(
    project: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "new.txt").write_text("new\n")
    before = everything(project)
    made = hook(project, name, HANG)
    with monkeypatch.context() as context:
        context.setattr("agentmux.adapters.git.repository.GitProgram", ImpatientGit)
        with pytest.raises(MissingError, match="git commit did not answer within 1 s in"):
            commit(project, "new.txt")
    assert everything(project) == before
    assert locks(project) == []
    made.unlink()
    commit(project, "new.txt")


def test_a_hook_that_hangs_at_a_push(project: Path, tmp_path: Path) -> None:
    git(project, "init", "-q", "--bare", str(tmp_path / "there.git"))
    git(project, "remote", "add", "origin", str(tmp_path / "there.git"))
    made = hook(project, "pre-push", HANG)
    head = git(project, "rev-parse", "HEAD").strip()
    impatient = ConfiguredRemotes(ImpatientGit(project, os.environ))
    with pytest.raises(MissingError, match="git push did not answer within 1 s in"):
        impatient.push("origin", "agentmux/x", head)
    assert git(tmp_path / "there.git", "for-each-ref") == ""
    made.unlink()
    impatient.push("origin", "agentmux/x", head)
    assert head in git(tmp_path / "there.git", "for-each-ref")


def refuse(project: Path, ref: str, new: str) -> Path:
    """Let a hook refuse that a ref gets a value, of which ``new`` is the beginning."""
    body = f'[ "$1" = prepared ] || exit 0\n! grep -q " {new}[0-9a-f]* {ref}$" || '
    return hook(project, "reference-transaction", f"{body}{{ echo not here >&2; exit 1; }}")


def test_a_hook_that_refuses_a_branch(project: Path) -> None:
    spec, before = spec_of(project), everything(project)
    made = refuse(project, f"refs/heads/{spec.branch}", "")
    with pytest.raises(GitRefusedError, match=r"could not create branch `agentmux/x`: .*not here"):
        worktrees(project).make(spec, again=False)
    worktrees(project).undo_make(spec)
    assert everything(project) == before

    made.unlink()
    spec = begun(project)
    result = commit(spec.path, "new.txt")
    git(project, "checkout", "-q", "--detach")
    made = refuse(project, "refs/heads/main", "")
    with pytest.raises(GitRefusedError, match=r"could not move branch `main`: (.|\n)*not here"):
        merged(project, spec, "main")
    made.unlink()
    merged(project, spec, "main")

    made = refuse(project, f"refs/heads/{spec.branch}", "0000")
    with pytest.raises(GitRefusedError, match=r"delete branch `agentmux/x`: (.|\n)*not here"):
        worktrees(project).remove(spec, result)
    made.unlink()
    worktrees(project).remove(spec, result)
    assert "agentmux" not in git(project, "for-each-ref") + git(project, "config", "--list")


def test_hooks_in_a_directory_that_the_worktree_does_not_have(project: Path) -> None:
    add(project, **{".gitignore": "_/\n"})
    git(project, "config", "core.hooksPath", ".husky/_")
    place = project / ".husky" / "_"
    place.mkdir(parents=True)
    (place / "pre-commit").write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    (place / "pre-commit").chmod(0o755)
    spec = begun(project)
    assert Git(project, os.environ).missing_hooks() is None
    assert Git(spec.path, os.environ).missing_hooks() == ".husky/_"
    commit(spec.path, "new.txt")
    with pytest.raises(GitRefusedError, match="no"):
        commit(project, "new.txt")


# -- signing -------------------------------------------------------------------------------------


def test_commits_and_merges_are_signed_with_a_key_of_ssh(project: Path, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen")
    key = tmp_path / "key"
    words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(key))
    subprocess.run(words, check=True)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"test@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(allowed)),
        ("commit.gpgSign", "true"),
        ("log.showSignature", "true"),
    ):
        git(project, "config", name, value)
    spec = begun(project)
    result = commit(spec.path, "new.txt")
    add(project, mine="mine\n")
    assert not worktrees(project).removal_loss(spec, "main").changed
    saved_one = taken(spec.path, spec.home)
    new = merged(project, spec, "main")
    for each in (result, new):
        assert git(project, "log", "-1", "--no-show-signature", "--format=%G?", each) == "G\n"
    assert "gpgsig" not in inside(spec.path, spec.home, "cat-file", "-p", saved_one.commit)
    assert Git(spec.path, os.environ).find_commit(TRAILER, since=spec.commit) == result

    key.unlink()
    before = everything(project)
    with pytest.raises(GitRefusedError, match=r"git refused the commit: (.|\n)*" + str(key)):
        commit(spec.path, "more.txt")
    git(spec.path, "add", "-A")
    git(spec.path, "commit", "-q", "--no-gpg-sign", "-m", "More")
    git(project, "commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "Mine")
    before = everything(project)
    with pytest.raises(GitRefusedError, match=r"make the merge commit: (.|\n)*" + str(key)):
        merged(project, spec, "main")
    assert everything(project) == before


# -- an older git --------------------------------------------------------------------------------


def test_an_older_git_does_all_but_merge(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_submodule(project)
    git(project, "init", "-q", "--bare", str(tmp_path / "there.git"))
    stub = tmp_path / "bin" / "git"
    stub.parent.mkdir()
    real = shutil.which("git")
    said = 'case " $* " in *" version "*) echo git version 2.37.1; exit;; esac'
    refuses = f'case "$*" in *merge-tree*) echo usage: git merge-tree >&2; exit 129;; esac\n{said}'
    stub.write_text(f'#!/bin/sh\n{refuses}\nexec {real} "$@"\n')
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}{os.pathsep}{os.environ['PATH']}")
    base = worktrees(project).base(None)
    assert base is not None
    assert base.has_submodules
    assert worktrees(project).root_facts(None).version == (2, 37)

    spec = begun(project)
    (spec.path / "one").write_text("1\n")
    spec = saved(spec)
    shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=True)
    assert (spec.path / "one").read_text() == "1\n"
    result = commit(spec.path, "one")
    merged(project, spec, "main")  # only forward
    add(project, two="2\n")
    commit(spec.path, "three")
    with pytest.raises(GitError, match=r"needs git 2\.38 or newer") as caught:
        merged(project, spec, "main")
    assert any("agentmux approve --keep" in each for each in caught.value.hints)
    ConfiguredRemotes(GitProgram(spec.path, os.environ)).push(
        str(tmp_path / "there.git"), spec.branch, result
    )
    loss = worktrees(project).removal_loss(spec, "main")
    assert len(loss.commits) == 1
    worktrees(project).remove(spec, loss.tip)
    assert "agentmux" not in git(project, "for-each-ref")
