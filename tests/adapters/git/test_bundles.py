"""Bundles of what no remote has, with real git."""

import os
from pathlib import Path

import pytest

from agentmux.adapters.git.bundles import GitBundles
from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.core.moving.manifest import BASE_REF, CHECKPOINT_REFS, HEAD_REF
from agentmux.errors import DataError, MissingError
from tests.app.driver import git, make_project

KNOWN = frozenset({HEAD_REF, BASE_REF, f"{CHECKPOINT_REFS}1"})


def commit(project: Path, name: str) -> str:
    (project / name).write_text(f"{name}\n")
    git(project, "add", name)
    git(project, "commit", "-qm", name)
    return git(project, "rev-parse", "HEAD").strip()


class There:
    """A repository with a remote, a commit that is not there, and uncommitted work."""

    def __init__(self, root: Path) -> None:
        self.project = make_project(root / "there")
        self.base = git(self.project, "rev-parse", "HEAD").strip()
        git(root, "clone", "-q", "--bare", str(self.project), "remote.git")
        git(self.project, "remote", "add", "origin", str(root / "remote.git"))
        git(self.project, "fetch", "-q", "origin")
        git(self.project, "switch", "-qc", "agentmux/x")
        self.head = commit(self.project, "made.py")
        (self.project / "open.py").write_text("open\n")
        self.home = root / "session"
        self.home.mkdir()
        self.git = GitProgram(self.project, dict(os.environ))
        saved = GitCheckpoints(self.git, self.home, "id").take("x", limit_s=30)
        assert saved is not None
        self.saved = saved.commit
        self.refs = {HEAD_REF: self.head, BASE_REF: self.base, f"{CHECKPOINT_REFS}1": self.saved}
        self.bundles = GitBundles(self.git)

    def bundle(self, target: Path) -> Path:
        with self.bundles.make_bundle(self.home, self.refs) as made:
            assert made is not None
            target.write_bytes(made.read_bytes())
        return target


def clone(root: Path, name: str = "here") -> tuple[GitBundles, Path, Path]:
    git(root, "clone", "-q", "remote.git", name)
    home = root / f"{name}-session"
    home.mkdir()
    return GitBundles(GitProgram((root / name).resolve(), dict(os.environ))), root / name, home


def refs(project: Path) -> str:
    return git(project, "for-each-ref")


def test_a_bundle_has_what_the_remote_has_not(tmp_path: Path) -> None:
    there = There(tmp_path)
    before = refs(there.project)
    file = there.bundle(tmp_path / "bundle")
    assert refs(there.project) == before
    assert not list((there.home / "work-tree").glob("taking-*"))
    listed = file.read_bytes().partition(b"PACK")[0].decode()
    assert f"-{there.base}" in listed
    assert {line.split()[1] for line in listed.splitlines() if " refs/" in line} == {
        *(HEAD_REF, f"{CHECKPOINT_REFS}1")
    }

    bundles, project, home = clone(tmp_path)
    before = refs(project)
    assert not bundles.has(home, there.saved)
    bundles.unpack(home, file, KNOWN)
    assert bundles.has(home, there.saved)
    assert bundles.share_history(home, there.head)
    assert "+open" in bundles.diff(home, there.base, there.saved, 1 << 20)
    assert len(bundles.diff(home, there.base, there.saved, 40)) < 60
    bundles.bring(home, there.head)
    assert git(project, "show", f"{there.head}:made.py") == "made.py\n"
    assert refs(project) == before
    found = GitProgram(project, dict(os.environ)).read("cat-file", "-e", there.saved)
    assert found.status != 0, "a checkpoint is only in the session"
    assert git(project, "fsck", "--no-dangling") == ""


def test_without_a_remote_all_comes_along(tmp_path: Path) -> None:
    there = There(tmp_path)
    git(there.project, "remote", "remove", "origin")
    file = there.bundle(tmp_path / "bundle")
    empty = tmp_path / "empty"
    git(tmp_path, "init", "-q", str(empty))
    home = tmp_path / "home-of-it"
    home.mkdir()
    bundles = GitBundles(GitProgram(empty.resolve(), dict(os.environ)))
    bundles.unpack(home, file, KNOWN)
    assert bundles.share_history(home, there.head)
    bundles.bring(home, there.head)
    assert git(empty, "log", "--format=%s", there.head).split() == ["made.py", "Begin"]


def test_what_the_remote_has_needs_no_bundle(tmp_path: Path) -> None:
    there = There(tmp_path)
    with there.bundles.make_bundle(there.home, {HEAD_REF: there.base}) as made:
        assert made is None


def test_commits_that_are_missing_are_named(tmp_path: Path) -> None:
    there = There(tmp_path)
    git(there.project, "push", "-q", "origin", "agentmux/x")
    file = there.bundle(tmp_path / "bundle")
    url = f"file://{tmp_path}/remote.git"  # by path it would have all objects
    git(tmp_path, "clone", "-q", "--single-branch", "-b", "main", url, "here")
    home = tmp_path / "home-of-it"
    home.mkdir()
    bundles = GitBundles(GitProgram((tmp_path / "here").resolve(), dict(os.environ)))
    with pytest.raises(MissingError, match=there.head[:12]) as caught:
        bundles.unpack(home, file, KNOWN)
    assert caught.value.hints == ("get them, then import again: git fetch --all",)


def test_another_repository_is_recognised(tmp_path: Path) -> None:
    there = There(tmp_path)
    git(there.project, "remote", "remove", "origin")
    file = there.bundle(tmp_path / "bundle")
    other = make_project(tmp_path / "other")
    (other / "x").write_text("x")
    git(other, "add", "x")
    git(other, "commit", "-q", "--amend", "-m", "Another beginning")
    home = tmp_path / "home-of-it"
    home.mkdir()
    bundles = GitBundles(GitProgram(other, dict(os.environ)))
    bundles.unpack(home, file, KNOWN)
    assert not bundles.share_history(home, there.head)


@pytest.mark.parametrize("part", ["header", "pack", "end"])
def test_a_damaged_bundle_is_refused(part: str, tmp_path: Path) -> None:
    there = There(tmp_path)
    file = there.bundle(tmp_path / "bundle")
    data = bytearray(file.read_bytes())
    place = {"header": 3, "pack": data.index(b"PACK") + 40, "end": len(data) - 1}[part]
    data[place] ^= 0xFF
    file.write_bytes(data)
    bundles, project, home = clone(tmp_path)
    before = refs(project)
    with pytest.raises(DataError):
        bundles.unpack(home, file, KNOWN)
    assert refs(project) == before


def test_names_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    there = There(tmp_path)
    file = there.bundle(tmp_path / "bundle")
    file.write_bytes(file.read_bytes().replace(HEAD_REF.encode(), b"refs/heads/main-evil"))
    bundles, project, home = clone(tmp_path)
    before = refs(project)
    with pytest.raises(DataError):
        bundles.unpack(home, file, KNOWN)
    assert refs(project) == before


def test_a_tree_that_would_write_into_git_is_refused(tmp_path: Path) -> None:
    there = There(tmp_path)
    git(there.project, "remote", "remove", "origin")
    blob = git(there.project, "rev-parse", "HEAD:made.py").strip()
    tree = there.git.run("mktree", stdin=f"100644 blob {blob}\t.git\n".encode())
    evil = there.git.run("commit-tree", tree.out.decode().strip(), "-m", "evil")
    there.refs[HEAD_REF] = evil.out.decode().strip()
    file = there.bundle(tmp_path / "bundle")
    bundles, _, home = clone(tmp_path)
    with pytest.raises(DataError):
        bundles.unpack(home, file, KNOWN)


def test_a_shallow_clone_has_a_bundle(tmp_path: Path) -> None:
    there = There(tmp_path)
    commit(there.project, "second.py")
    git(there.project, "push", "-q", "origin", "agentmux/x:main")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/remote.git", "shallow")
    project = (tmp_path / "shallow").resolve()
    git(project, "config", "user.name", "Test")
    git(project, "config", "user.email", "test@example.com")
    head = commit(project, "third.py")
    home = tmp_path / "home-of-it"
    home.mkdir()
    bundles = GitBundles(GitProgram(project, dict(os.environ)))
    with bundles.make_bundle(home, {HEAD_REF: head}) as made:
        assert made is not None
