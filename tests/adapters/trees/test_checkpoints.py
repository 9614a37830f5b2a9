"""Work-tree checkpoints, with real git: all files are saved, and nothing of the user's changes."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.errors import MissingError
from agentmux.ports.git.checkpoints import SavedTree
from tests.app.driver import git, make_project
from tests.fakes.hanging_git import hanging_git

SESSION = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture
def home(project: Path) -> Path:
    home = project / ".agentmux" / ".sessions" / "20260101-101500-x"
    home.mkdir(parents=True)
    (home.parent / ".gitignore").write_text("*\n")
    return home


def checkpoints(top: Path, home: Path, **more: Any) -> GitCheckpoints:
    environ = {**os.environ, **more.pop("environ", {})}
    return GitCheckpoints(GitProgram(top, environ), home, SESSION, **more)


def taken(top: Path, home: Path, **more: Any) -> SavedTree:
    saved = checkpoints(top, home, **more).take("a checkpoint", limit_s=60)
    assert saved is not None
    return saved


def inside(top: Path, home: Path, *argv: str) -> str:
    """Run git where it sees the session's objects, too."""
    environ = {**os.environ, **session_objects.variables_to_read(home)}
    done = subprocess.run(
        ["git", *argv], cwd=top, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(top: Path, home: Path, saved: SavedTree) -> list[str]:
    return inside(top, home, "ls-tree", "-r", "--name-only", saved.commit).splitlines()


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of every file, except those of a session."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and ".sessions" not in path.parts
    }


def dirty(project: Path) -> None:
    """Change the work tree in every way that git knows."""
    for name in ("gone", "staged", "both", "kept"):
        (project / f"{name}.txt").write_text(f"{name}\n")
    (project / ".gitignore").write_text("*.secret\n")
    git(project, "add", "-A", "--", ":!.agentmux")
    git(project, "commit", "-qm", "More")
    (project / "gone.txt").unlink()
    (project / "staged.txt").write_text("staged now\n")
    (project / "both.txt").write_text("staged\n")
    git(project, "add", "staged.txt", "both.txt")
    (project / "both.txt").write_text("and changed\n")
    (project / "sub").mkdir()
    (project / "sub" / "né w\n.txt").write_text("new\n")
    (project / "run.sh").write_text("true\n")
    (project / "run.sh").chmod(0o755)
    (project / "link").symlink_to("kept.txt")
    (project / "key.secret").write_text("secret\n")
    (project / ".agentmux" / "own.txt").write_text("ours\n")
    git(project, "add", "-N", "run.sh")


def test_a_commit_needs_four_commands_of_git(project: Path, home: Path, tmp_path: Path) -> None:
    log, program = tmp_path / "log", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    ours = checkpoints(project, home, environ={"PATH": path})
    ours.take("the first one also asks where the repository is", limit_s=60)
    log.unlink()
    (project / "changed.txt").write_text("changed\n")
    assert ours.take("another one", limit_s=60) is not None
    assert len(log.read_text().splitlines()) == 4


def test_everything_is_saved_and_nothing_of_the_user_changes(project: Path, home: Path) -> None:
    dirty(project)
    hook = project / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\ntouch hooked\n")
    hook.chmod(0o755)
    before = digests(project)
    saved = taken(project, home)
    assert digests(project) == before
    assert saved.head == git(project, "rev-parse", "HEAD").strip()
    assert (saved.branch, saved.missing) == ("main", ())
    found = inside(project, home, "ls-tree", "-r", "-z", "--name-only", saved.commit)
    assert found.split("\0")[:-1] == [
        ".gitignore", "README.md", "both.txt", "kept.txt", "link", "run.sh", "staged.txt",
        "sub/né w\n.txt",
    ]  # fmt: skip
    assert inside(project, home, "show", f"{saved.commit}:both.txt") == "and changed\n"
    assert inside(project, home, "show", f"{saved.commit}:staged.txt") == "staged now\n"
    said = inside(project, home, "log", "-1", "--format=%an %ae %cn %P %s", saved.commit)
    assert said == f"AgentMux agentmux@localhost AgentMux {saved.head} a checkpoint\n"
    with pytest.raises(AssertionError):
        git(project, "cat-file", "-e", saved.commit)  # only the session has it
    assert not list((home / "work-tree").glob("taking-*"))


def test_the_id_of_the_files_is_that_of_their_tree_and_keeps_nothing(
    project: Path, home: Path
) -> None:
    dirty(project)
    before, store = digests(project), checkpoints(project, home)
    found = store.tree(limit_s=60)
    assert digests(project) == before
    assert not session_objects.objects(home).exists()
    assert (
        found
        == inside(project, home, "rev-parse", f"{taken(project, home).commit}^{{tree}}").strip()
    )
    (project / "x.secret").write_text("ignored\n")
    assert store.tree(limit_s=60) == found
    (project / "kept.txt").write_text("changed\n")
    assert store.tree(limit_s=60) != found
    (project / "kept.txt").write_text("kept\n")
    assert store.tree(limit_s=60) == found


def test_a_change_in_the_same_moment_as_the_index_is_seen(project: Path, home: Path) -> None:
    """Git finds it by the time of the index, which the copy has to keep."""
    # Otherwise git would see it by the time of the inode, which nobody can set.
    git(project, "config", "core.trustctime", "false")
    git(project, "config", "core.checkStat", "minimal")
    path, moment = project / "README.md", (1_600_000_000, 1_600_000_000)
    os.utime(path, moment)
    git(project, "update-index", "--refresh")
    os.utime(project / ".git" / "index", moment)
    path.write_text("# A PROJECT\n")
    os.utime(path, moment)
    saved = taken(project, home)
    assert inside(project, home, "show", f"{saved.commit}:README.md") == "# A PROJECT\n"


def test_a_checkpoint_is_written_back_any_number_of_times(project: Path, home: Path) -> None:
    dirty(project)
    first = taken(project, home)
    before = digests(project)
    (project / "both.txt").unlink()
    shutil.rmtree(project / "sub")
    (project / "sub").write_text("a file now\n")
    (project / "link").unlink()
    (project / "link").mkdir()
    (project / "link" / "inside.txt").write_text("x\n")
    (project / "run.sh").chmod(0o644)
    (project / "more" / "below").mkdir(parents=True)
    (project / "more" / "below" / "new.txt").write_text("new\n")
    second = taken(project, home)
    store = checkpoints(project, home)
    assert "link/inside.txt" in store.differing(first.commit, second.commit)
    after = digests(project)
    for _ in range(2):
        assert store.write_files(second.commit, first.commit, leave=()) == ()
        assert digests(project) == before
        assert os.access(project / "run.sh", os.X_OK)
        assert (project / "link").is_symlink()
        assert not (project / "more").exists()
    assert store.write_files(first.commit, second.commit, leave=()) == ()
    assert digests(project) == after
    (project / "both.txt").write_text("mine\n")
    store.write_files(second.commit, first.commit, leave=("both.txt", "sub/"))
    assert (project / "both.txt").read_text() == "mine\n"
    assert not (project / "sub").is_dir()


def test_neither_repositories_inside_nor_our_own_files_are_written_back(
    project: Path, home: Path
) -> None:
    nested, config = make_project(project / "nested"), project / ".agentmux" / "config.yaml"
    config.write_text("version: 1\n")
    git(project, "add", "-f", "nested", ".agentmux/config.yaml")
    git(project, "commit", "-qm", "More")
    first = taken(project, home)
    git(nested, "commit", "-q", "--allow-empty", "-m", "Later")
    config.write_text("version: 1 # later\n")
    later = git(nested, "rev-parse", "HEAD")
    git(project, "commit", "-qam", "Later")
    second = taken(project, home)
    store = checkpoints(project, home)
    trees = (f"{each.commit}^{{tree}}" for each in (first, second))
    named = inside(project, home, "diff-tree", "-r", "--name-only", *trees).split()
    assert named == [".agentmux/config.yaml", "nested"]
    assert store.differing(first.commit, second.commit) == ()
    assert store.write_files(second.commit, first.commit, leave=()) == ()
    assert git(nested, "rev-parse", "HEAD") == later
    assert config.read_text() == "version: 1 # later\n"


def test_nothing_is_deleted_behind_a_link_out_of_the_work_tree(
    project: Path, home: Path, tmp_path: Path
) -> None:
    first = taken(project, home)
    (project / "sub" / "deep").mkdir(parents=True)
    (project / "sub" / "new.txt").write_text("new\n")
    (project / "sub" / "deep" / "new.txt").write_text("new\n")
    second = taken(project, home)
    outside = tmp_path / "outside"
    shutil.move(project / "sub", outside)
    (project / "sub").symlink_to(outside)
    before = digests(outside)
    checkpoints(project, home).write_files(second.commit, first.commit, leave=())
    assert before.keys() == {"new.txt", "deep/new.txt"}
    assert digests(outside) == before
    assert (project / "sub").is_symlink()


def rewound(top: Path, home: Path, to: str, **more: Any) -> tuple[SavedTree, tuple[str, ...]]:
    """Rewind as `app.commands.resume.rewind` does; return what was saved, and what stayed."""
    store = checkpoints(top, home, **more)
    expected = set(store.changed_since(to))
    before = store.take("before", limit_s=60, replaced_by=to)
    assert before is not None
    was = digests(top)
    left = store.write_files(before.commit, to, leave=before.missing)
    now = digests(top)
    assert {path for path in {*was, *now} if was.get(path) != now.get(path)} <= expected
    return before, (*before.missing, *left)


def test_what_a_rewind_replaces_is_saved_even_if_git_ignores_it(project: Path, home: Path) -> None:
    """A file that is ignored by now, files below a folder that was one, and one that is above."""
    (project / ".gitignore").write_text("*.log\n")
    for name in ("cfg", "out", "up/down", "same"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("v1\n")
    first, was = taken(project, home), digests(project)
    (project / ".gitignore").write_text("*.log\ncfg\nsame\nup\n")
    (project / "cfg").write_text("precious\n")
    (project / "out").unlink()
    (project / "out" / "deep").mkdir(parents=True)
    (project / "out" / "p.log").write_text("precious\n")
    (project / "out" / "deep" / "link.log").symlink_to("nowhere")
    shutil.rmtree(project / "up")
    (project / "up").write_text("precious\n")
    (project / "other.log").write_text("stays\n")
    mine = digests(project)
    saved, left = rewound(project, home, first.commit)
    assert left == ()
    assert digests(project) == {**was, "other.log": mine["other.log"]}
    assert rewound(project, home, saved.commit)[1] == ()
    assert digests(project) == mine
    assert (project / "out" / "deep" / "link.log").readlink() == Path("nowhere")
    assert "other.log" not in names(project, home, saved)


def test_a_file_that_the_checkpoint_ignored_is_not_deleted(project: Path, home: Path) -> None:
    """The checkpoint does not have it for this reason, whether it was there or not."""
    first = taken(project, home)
    (project / "sub").mkdir()
    for name in ("sub/.gitignore", ".gitignore"):
        (project / name).write_text("cfg\nkeys/\n")
    (project / "sub" / "keys").mkdir()
    for name in ("cfg", "sub/cfg", "sub/keys/own"):
        (project / name).write_text("precious\n")
    mine = digests(project)
    before, _ = rewound(project, home, first.commit)
    assert (project / "sub" / "keys" / "own").exists()
    assert not (project / ".gitignore").exists()
    assert "cfg" not in names(project, home, before)
    again, _ = rewound(project, home, before.commit)
    assert "cfg" in names(project, home, again)
    assert digests(project) == mine


def test_a_file_of_the_index_is_deleted_though_a_rule_ignores_it(project: Path, home: Path) -> None:
    (project / ".gitignore").write_text("cfg\n")
    first = taken(project, home)
    (project / "cfg").write_text("of the index\n")
    git(project, "add", "-f", "cfg")
    rewound(project, home, first.commit)
    assert not (project / "cfg").exists()


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_what_git_was_told_to_take_for_unchanged_is_saved_before_it_is_replaced(
    flag: str, project: Path, home: Path
) -> None:
    (project / "cfg").write_text("v1\n")
    git(project, "add", "cfg")
    git(project, "commit", "-qm", "One")
    first = taken(project, home)
    (project / "cfg").write_text("v2\n")
    git(project, "commit", "-qam", "Two")
    git(project, "update-index", flag, "cfg")
    (project / "cfg").write_text("precious\n")
    before, _ = rewound(project, home, first.commit)
    assert (project / "cfg").read_text() == "v1\n"
    assert inside(project, home, "show", f"{before.commit}:cfg") == "precious\n"
    rewound(project, home, before.commit)
    assert (project / "cfg").read_text() == "precious\n"


@pytest.mark.parametrize("held", ["repository", "bare", "large", "ours", "above"])
def test_what_cannot_be_saved_is_not_replaced(held: str, project: Path, home: Path) -> None:
    """A repository or a large file in a folder that was a file, or a file that was a folder."""
    (project / ".gitignore").write_text("*.log\nlib/\n*.git/\n")
    (project / "out").mkdir()
    (project / "out" / "more").write_text("v1\n")
    first, name = taken(project, home), "out/more"
    if held == "above":
        shutil.rmtree(project / "out")
        (project / "out").write_text("large" * 100)
    else:
        (project / "out" / "more").unlink()
        (project / "out" / "more").mkdir()
    match held:
        case "repository":
            make_project(project / "out" / "more" / "lib")
            (project / "out" / "more" / "lib" / "new").write_text("precious\n")
        case "bare":
            git(project, "init", "-q", "--bare", "out/more/x.git")
        case "large":
            (project / "out" / "more" / "x.log").write_text("large" * 100)
        case "ours":
            (project / "out" / "more" / ".agentmux").mkdir()
            (project / "out" / "more" / ".agentmux" / "own").write_text("ours\n")
        case _:
            pass
    mine = digests(project)
    before, left = rewound(project, home, first.commit, file_max=100)
    assert digests(project) == mine
    assert name in left
    assert name not in names(project, home, before)


@pytest.mark.parametrize("known", ["untracked", "ignored", "in the index", "linked"])
def test_a_repository_of_its_own_in_the_way_stays(known: str, project: Path, home: Path) -> None:
    lib = project / "lib"
    lib.mkdir()
    for name in ("f", "g", "gone"):
        (lib / name).write_text("theirs\n")
    first = taken(project, home)
    (lib / "gone").unlink()
    if known == "linked":
        shutil.rmtree(lib)
        git(make_project(project.parent / "other"), "worktree", "add", "-q", "--detach", str(lib))
        (lib / "f").write_text("theirs\n")
    else:
        git(lib, "init", "-q")
    git(lib, "add", "f")
    # Newer git tidies up in the background after a commit, which would change files here.
    quiet = ("-c", "maintenance.auto=false", "-c", "user.name=x", "-c", "user.email=x@x")
    git(lib, *quiet, "commit", "-qm", "Begin")
    if known == "in the index":
        git(project, "add", "lib")
    elif known != "untracked":
        (project / ".gitignore").write_text("lib/\n")
    for name in ("f", "g"):
        (lib / name).write_text("ours\n")
    before = digests(lib)

    changed = checkpoints(project, home).changed_since(first.commit)
    saved, _ = rewound(project, home, first.commit)

    assert digests(lib) == before
    assert saved.missing == ("lib/",)
    assert not [name for name in changed if name.startswith("lib/")]


def test_a_folder_with_files_of_the_index_is_no_repository_of_its_own(
    project: Path, home: Path
) -> None:
    """Git itself looks for changes in it, though it has a repository."""
    lib = project / "lib"
    lib.mkdir()
    for name in ("f", "g"):
        (lib / name).write_text("theirs\n")
    git(project, "add", "lib/f")
    first = taken(project, home)
    git(lib, "init", "-q")
    (project / ".gitignore").write_text("lib/\n")
    for name in ("f", "g"):
        (lib / name).write_text("ours\n")

    saved, _ = rewound(project, home, first.commit)

    assert [(lib / name).read_text() for name in ("f", "g")] == ["theirs\n"] * 2
    assert saved.missing == ()
    rewound(project, home, saved.commit)
    assert [(lib / name).read_text() for name in ("f", "g")] == ["ours\n"] * 2


def test_what_cannot_be_saved_is_named(project: Path, home: Path) -> None:
    (project / ".gitattributes").write_text("*.big filter=lfs\n*.odd filter=odd\n")
    git(project, "config", "filter.lfs.clean", "no-such-program clean %f")
    git(project, "config", "filter.lfs.required", "true")
    git(project, "config", "filter.odd.clean", "false")
    (project / "some.odd").write_text("not required\n")
    (project / "data.big").write_text("pointer\n")
    (project / "other.big").write_text("pointer\n")
    (project / "huge.bin").write_bytes(b"0" * 5000)
    (project / "fine.txt").write_text("fine\n")
    make_project(project / "nested")
    saved = taken(project, home, file_max=4000)
    assert saved.missing == ("data.big", "huge.bin", "nested/", "other.big")
    assert names(project, home, saved) == [".gitattributes", "README.md", "fine.txt", "some.odd"]
    (project / "README.md").write_text("x" * 3000)
    saved = taken(project, home, total_max=2000)
    assert "README.md" in saved.missing
    assert inside(project, home, "show", f"{saved.commit}:README.md") == "# A project\n"


def test_a_pointer_of_lfs_that_is_unchanged_needs_no_filter(project: Path, home: Path) -> None:
    (project / ".gitattributes").write_text("*.big filter=lfs\n")
    (project / "data.big").write_text("version https://git-lfs.github.com/spec/v1\n")
    git(project, "add", "-A", "--", ":!.agentmux")
    git(project, "commit", "-qm", "Pointer")
    git(project, "config", "filter.lfs.clean", "no-such-program clean %f")
    git(project, "config", "filter.lfs.required", "true")
    (project / "data.big").touch()  # git has to compare the content
    (project / "new.txt").write_text("new\n")
    saved = taken(project, home)
    assert "new.txt" in names(project, home, saved)
    assert saved.missing in {(), ("data.big",)}
    assert "lfs" in inside(project, home, "show", f"{saved.commit}:data.big")


def test_many_missing_files_are_named_by_their_directories(project: Path, home: Path) -> None:
    (project / "data").mkdir()
    for number in range(300):
        (project / "data" / f"{number}.bin").write_text("12345")
    saved = taken(project, home, file_max=4)
    assert saved.missing == ("data/",)


def test_a_file_that_cannot_be_read_is_named(project: Path, home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every file")
    (project / "closed.txt").write_text("x")
    (project / "closed.txt").chmod(0)
    assert taken(project, home).missing == ("closed.txt",)


def test_a_sparse_checkout_keeps_what_it_leaves_out(project: Path, home: Path) -> None:
    for name in ("in", "out"):
        (project / name).mkdir()
        (project / name / "file.txt").write_text(f"{name}\n")
    git(project, "add", "in", "out")
    git(project, "commit", "-qm", "Two")
    git(project, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    (project / "in" / "file.txt").write_text("changed\n")
    before = digests(project)
    saved = taken(project, home)
    assert digests(project) == before
    assert not (project / "out").exists()
    assert names(project, home, saved) == ["README.md", "in/file.txt", "out/file.txt"]
    assert inside(project, home, "show", f"{saved.commit}:in/file.txt") == "changed\n"


def test_a_split_index_stays_as_it_is(project: Path, home: Path) -> None:
    git(project, "config", "core.splitIndex", "true")
    git(project, "update-index", "--split-index")
    (project / "new.txt").write_text("new\n")
    before = digests(project)
    assert "new.txt" in names(project, home, taken(project, home))
    assert digests(project) == before


def test_before_the_first_commit_and_outside_of_git(tmp_path: Path) -> None:
    empty, home = tmp_path / "empty", tmp_path / "session"
    home.mkdir()
    empty.mkdir()
    assert checkpoints(empty, home).take("x", limit_s=60) is None
    assert checkpoints(empty, home).tree(limit_s=60) is None
    git(empty, "init", "-q", "-b", "main")
    (empty / "new.txt").write_text("new\n")
    saved = taken(empty, home)
    assert (saved.head, saved.branch) == (None, "main")
    assert names(empty, home, saved) == ["new.txt"]


def test_a_merge_in_progress(project: Path, home: Path) -> None:
    git(project, "switch", "-qc", "other")
    (project / "README.md").write_text("other\n")
    git(project, "commit", "-qam", "Other")
    git(project, "switch", "-q", "main")
    (project / "README.md").write_text("main\n")
    git(project, "commit", "-qam", "Main")
    with pytest.raises(AssertionError):
        git(project, "merge", "-q", "other")
    before = digests(project)
    saved = taken(project, home)
    assert "<<<<<<<" in inside(project, home, "show", f"{saved.commit}:README.md")
    assert digests(project) == before


def test_a_commit_that_no_branch_has_gets_the_one_ref(project: Path, home: Path) -> None:
    before = git(project, "for-each-ref")
    git(project, "switch", "-q", "--detach")
    assert taken(project, home).branch is None
    assert git(project, "for-each-ref") == before  # a branch has it
    git(project, "commit", "-q", "--allow-empty", "-m", "Detached")
    saved = taken(project, home)
    refs = git(project, "for-each-ref", "--format=%(refname) %(objectname)", "refs/agentmux")
    assert refs == f"refs/agentmux/{SESSION} {saved.head}\n"
    for _ in range(2):
        checkpoints(project, home).forget()
        assert git(project, "for-each-ref") == before


def test_a_path_with_a_colon(tmp_path: Path) -> None:
    project = make_project(tmp_path / "a:b")
    home = tmp_path / 'ho"m:e'
    home.mkdir()
    (project / "new.txt").write_text("new\n")
    assert "new.txt" in names(project, home, taken(project, home))


def test_a_git_that_hangs_is_ended_in_time(project: Path, home: Path, tmp_path: Path) -> None:
    (project / "new.txt").write_text("new\n")
    store = checkpoints(project, home, environ=hanging_git(tmp_path, "write-tree"))
    began = time.monotonic()
    with pytest.raises(MissingError, match="took too long"):
        store.take("x", limit_s=1)
    assert time.monotonic() - began < 60
