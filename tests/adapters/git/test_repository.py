"""Git operations in real temporary repositories, without any git configuration in the home."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.git.repository import Git
from agentmux.core.documents.diff_comments import diff_places
from agentmux.errors import MissingError, UsageError
from agentmux.ports.git.repository import (
    ChangeRange,
    GitError,
    GitRefusedError,
    Head,
    HeadMovedError,
    IndexBusyError,
)
from tests.conftest import WaitUntil

TRAILER = ("Agentmux-Event", "6f1c1a52-6a51-5d53-9d31-0a4ff2f8a001")
AWKWARD = (
    "with space.txt",
    "new\nline.txt",
    "-leading.txt",
    ":(glob)*.txt",
    "*.txt",
    'quote".txt',
    "naïve-日本.txt",
    os.fsdecode(b"not-utf8-\xff.txt"),
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "git home"
    home.mkdir()
    settings = {"user.name": "Tess", "user.email": "tess@example.com", "user.useConfigOnly": "true"}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
    } | as_environment(settings)


def as_environment(settings: dict[str, str]) -> dict[str, str]:
    made = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        made |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return made


Run = Callable[..., str]


@pytest.fixture
def repo(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A repository on branch `main` before its first commit."""
    path = tmp_path / "a repo"
    path.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=path, env=environment, check=True)
    return path


@pytest.fixture
def run(repo: Path, environment: dict[str, str]) -> Run:
    def git(*argv: str) -> str:
        done = subprocess.run(
            ["git", *argv], cwd=repo, env=environment, check=True, capture_output=True
        )
        return os.fsdecode(done.stdout)

    return git


@pytest.fixture
def git(repo: Path, environment: dict[str, str]) -> Git:
    return Git(repo, environment)


@pytest.fixture
def started(repo: Path, run: Run) -> Path:
    """The repository with one commit of `kept.txt` and `mine.txt`."""
    (repo / "kept.txt").write_text("kept\n")
    (repo / "mine.txt").write_text("mine\n")
    run("add", "-A")
    run("commit", "-q", "-m", "first")
    return repo


def write_hook(repo: Path, name: str, body: str) -> None:
    hook = repo / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n" + body)
    hook.chmod(0o755)


def committed(run: Run, commit: str = "HEAD") -> set[str]:
    listed = run("diff-tree", "--root", "-r", "-z", "--no-commit-id", "--name-only", commit)
    return set(filter(None, listed.split("\0")))


# --- finding the repository -------------------------------------------------------------------


def test_outside_a_repository_there_is_no_top_level(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    git = Git(tmp_path, environment)
    assert git.top_level() is None
    with pytest.raises(GitError, match="not in a git repository"):
        git.dirty()


def test_a_bare_repository_has_no_top_level(tmp_path: Path, environment: dict[str, str]) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], env=environment, check=True)
    assert Git(bare, environment).top_level() is None


def test_the_top_level_of_a_folder_inside(repo: Path, environment: dict[str, str]) -> None:
    inside = repo / "src/deep"
    inside.mkdir(parents=True)
    assert Git(inside, environment).top_level() == repo


def test_a_repository_named_by_the_environment_is_not_ours(
    repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    other = environment | {"GIT_DIR": str(tmp_path / "other"), "GIT_INDEX_FILE": "nope"}
    assert Git(repo, other).top_level() == repo


def test_no_git_is_said(repo: Path, environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="git is not installed"):
        Git(repo, environment | {"PATH": str(tmp_path)}).head()


def test_head_before_the_first_commit(git: Git) -> None:
    head = git.head()
    assert head == Head(commit=None, branch="main")
    assert head.describe() == "no commit on main"


def test_head_on_a_branch_and_detached(started: Path, git: Git, run: Run) -> None:
    commit = run("rev-parse", "HEAD").strip()
    assert git.head() == Head(commit=commit, branch="main")
    run("checkout", "-q", "--detach")
    assert git.head() == Head(commit=commit, branch=None)


def test_a_branch_is_there_if_a_switch_would_find_it(started: Path, git: Git, run: Run) -> None:
    run("branch", "one/two")
    run("tag", "three")
    run("update-ref", "refs/stash", "HEAD")
    run("update-ref", "refs/remotes/origin/far/away", "HEAD")
    names = ("one/two", "far/away", "two", "away", "origin/far/away", "three", "stash", "-q")
    assert [name for name in names if git.has_branch(name)] == ["one/two", "far/away"]


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick", "revert"])
def test_an_operation_in_progress_is_named(
    started: Path, git: Git, run: Run, operation: str
) -> None:
    run("checkout", "-q", "-b", "side")
    (started / "kept.txt").write_text("side\n")
    run("commit", "-qam", "side")
    run("checkout", "-q", "main")
    (started / "kept.txt").write_text("main\n")
    run("commit", "-qam", "main")
    base = git.head()
    target = {"revert": "HEAD~1"}.get(operation, "side")
    with pytest.raises(subprocess.CalledProcessError):
        run(operation, target)
    assert git.head().in_progress == operation
    with pytest.raises(GitRefusedError, match=f"a {operation} is in progress"):
        git.require_head(base)


# --- changed files ----------------------------------------------------------------------------


def test_dirty_holds_staged_unstaged_untracked_and_both_ends_of_a_rename(
    started: Path, git: Git, run: Run
) -> None:
    assert git.dirty() == ()
    (started / ".gitignore").write_text("*.log\n")
    (started / "x.log").write_text("")
    (started / "new").mkdir()
    (started / "new/file.txt").write_text("")
    (started / "mine.txt").write_text("changed\n")
    run("mv", "kept.txt", "renamed.txt")
    assert git.dirty() == (".gitignore", "kept.txt", "mine.txt", "new/file.txt", "renamed.txt")


def test_a_file_that_is_not_tracked_any_more_and_still_there_is_dirty_once(
    started: Path, git: Git, run: Run
) -> None:
    name = run("ls-files").split()[0]
    run("rm", "-q", "--cached", name)
    assert (started / name).exists()
    assert git.dirty() == (name,)
    assert git.changes() == (name,)


def test_what_was_committed_in_our_own_folder_is_part_of_the_changes(
    started: Path, git: Git, run: Run
) -> None:
    since = run("rev-parse", "HEAD").strip()
    ours = started / ".agentmux"
    (ours / ".sessions/x").mkdir(parents=True)
    for path in ("config.yaml", "later.yaml", ".sessions/x/state.json"):
        (ours / path).write_text("COMMITTED\n")
    run("add", "--force", ".agentmux/config.yaml", ".agentmux/.sessions")
    run("commit", "-qm", "Configuration")
    assert git.committed_since(since) == (".agentmux/config.yaml",)
    assert "+++ b/.agentmux/config.yaml" in git.patch(ChangeRange(since=since))
    assert ".agentmux/config.yaml" in "".join(git.stat(ChangeRange(since=since, until="HEAD")))
    for found in (ChangeRange(since=since), ChangeRange(since=since, until="HEAD")):
        assert git.patch(found).count("+COMMITTED") == 1
    (ours / "config.yaml").write_text("mine\n")
    assert git.patch(ChangeRange(since="HEAD")) == ()


def test_our_own_folder_and_nested_repositories_are_not_dirty(
    started: Path, git: Git, run: Run
) -> None:
    (started / ".agentmux").mkdir()
    (started / ".agentmux/config.yaml").write_text("version: 1\n")
    (started / ".agentmux.example").write_text("")
    run("worktree", "add", "-q", "--detach", "tree")
    run("init", "-q", "--template=", "new/app")
    run("init", "-q", "--template=", ".agentmux/x")
    (started / "new/app/code.py").write_text("x\n")
    assert git.dirty() == (".agentmux.example",)
    assert git.list_nested() == ("new/app/", "tree/")
    assert git.changes() == (*git.dirty(), *git.list_nested())


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names_survive_the_way_into_a_commit(
    started: Path, git: Git, run: Run, name: str
) -> None:
    (started / "bystander.txt").write_text("not this one\n")
    run("add", "bystander.txt")
    (started / name).write_text("x\n")
    assert name in git.dirty()
    git.commit("Add one", [name], trailer=TRAILER)
    assert committed(run) == {name}
    assert run("status", "--porcelain") == "A  bystander.txt\n"


def test_what_was_dirty_at_start_is_left_out(started: Path, git: Git) -> None:
    (started / "mine.txt").write_text("the user's\n")
    (started / "notes.txt").write_text("the user's\n")
    before = git.dirty()
    (started / "agent.txt").write_text("the agent's\n")
    assert git.changed_since(before) == ("agent.txt",)


@pytest.fixture
def rewritten(started: Path, run: Run) -> str:
    """The name of a file that was changed in the moment in which git had written it and the index.

    Nothing but its content shows that, and git compares it because the index is no younger.
    """
    run("config", "core.trustctime", "false")
    file, index = started / "kept.txt", started / ".git" / "index"
    moment = (10**9, 10**9)
    os.utime(file, moment)
    run("update-index", "--refresh")
    os.utime(index, moment)
    file.write_text("KEPT\n")
    os.utime(file, moment)
    return file.name


def test_a_change_in_the_moment_of_the_last_look_is_shown(git: Git, rewritten: str) -> None:
    assert "+KEPT" in git.patch(ChangeRange(since="HEAD"))


def test_a_change_in_the_moment_of_the_last_look_is_committed(
    git: Git, run: Run, rewritten: str
) -> None:
    tree = git.result_tree([rewritten])
    git.commit("Change it", [rewritten], trailer=TRAILER, tree=tree)
    assert run("show", f"HEAD:{rewritten}") == "KEPT\n"


def test_a_change_in_the_moment_of_the_last_look_is_shown_after_a_commit_of_others(
    started: Path, git: Git, run: Run, rewritten: str
) -> None:
    (started / "mine.txt").write_text("other\n")
    git.commit("Change another", ["mine.txt"], trailer=TRAILER)
    assert run("status", "--porcelain") == f" M {rewritten}\n"


# --- committing -------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["noprefix", "mnemonicPrefix", "external"])
def test_a_patch_names_whole_paths_whatever_the_user_has_set(
    started: Path, git: Git, run: Run, setting: str
) -> None:
    """Comments on its lines say where they are by these paths."""
    run("config", f"diff.{setting}", "true")
    (started / "süß").mkdir()
    (started / "süß" / "a b.py").write_text("x\n")
    lines = git.patch(ChangeRange(since="HEAD"))
    assert lines[-4:-1] == ("--- /dev/null", "+++ b/süß/a b.py\t", "@@ -0,0 +1 @@")
    assert [each for each in diff_places(lines) if each] == ["süß/a b.py:1"]


def test_the_first_commit_of_a_repository(repo: Path, git: Git, run: Run) -> None:
    (repo / "a.txt").write_text("a\n")
    (repo / "b.txt").write_text("b\n")
    run("add", "b.txt")
    made = git.commit("First", ["a.txt"], trailer=TRAILER)
    assert git.head() == Head(commit=made, branch="main")
    assert committed(run) == {"a.txt"}
    assert run("status", "--porcelain") == "A  b.txt\n"


def test_what_the_user_staged_stays_staged(started: Path, git: Git, run: Run) -> None:
    (started / "mine.txt").write_text("staged\n")
    run("add", "mine.txt")
    (started / "mine.txt").write_text("staged and more\n")
    (started / "gone.txt").write_text("")
    run("add", "gone.txt")
    (started / "agent.txt").write_text("x\n")
    before = run("diff", "--cached")
    git.commit("Add agent.txt", ["agent.txt"], trailer=TRAILER)
    assert committed(run) == {"agent.txt"}
    assert run("diff", "--cached") == before
    assert run("status", "--porcelain") == "A  gone.txt\nMM mine.txt\n"


def test_deletions_renames_links_and_modes_are_committed(started: Path, git: Git, run: Run) -> None:
    (started / "kept.txt").rename(started / "moved.txt")
    (started / "mine.txt").unlink()
    (started / "mine.txt").mkdir()
    (started / "mine.txt/inner").write_text("a file became a folder\n")
    (started / "link").symlink_to("moved.txt")
    (started / "tool").write_text("#!/bin/sh\n")
    (started / "tool").chmod(0o755)
    git.commit("Move things", git.dirty(), trailer=TRAILER)
    assert git.dirty() == ()
    listed = [line.split("\t") for line in run("ls-tree", "-r", "HEAD").splitlines()]
    assert {path: entry[:6] for entry, path in listed} == {
        "moved.txt": "100644",
        "mine.txt/inner": "100644",
        "link": "120000",
        "tool": "100755",
    }


def test_a_folder_that_became_a_file_is_committed(started: Path, git: Git, run: Run) -> None:
    (started / "thing").mkdir()
    (started / "thing/inner").write_text("x\n")
    git.commit("Add a folder", git.dirty(), trailer=TRAILER)
    (started / "thing/inner").unlink()
    (started / "thing").rmdir()
    (started / "thing").write_text("a file now\n")
    assert git.dirty() == ("thing", "thing/inner")
    git.commit("Make it a file", git.dirty(), trailer=TRAILER)
    assert git.dirty() == ()
    assert run("show", "HEAD:thing") == "a file now\n"


def test_a_path_that_came_and_went_is_no_obstacle(started: Path, git: Git, run: Run) -> None:
    (started / "agent.txt").write_text("x\n")
    git.commit("Add", ["agent.txt", "went-again.txt"], trailer=TRAILER)
    assert committed(run) == {"agent.txt"}


@pytest.mark.parametrize(
    "message", ["One line", "feat: one\n\nBody.\n# kept\n---\nmore", "One\n\nCloses: 7"]
)
def test_the_trailer_ends_the_message_and_finds_the_commit(
    started: Path, git: Git, run: Run, message: str
) -> None:
    base = git.head().commit
    (started / "agent.txt").write_text("x\n")
    made = git.commit(message, ["agent.txt"], trailer=TRAILER)
    body = run("log", "-1", "--format=%B").rstrip("\n")
    assert body.startswith(message)
    assert body.splitlines()[-1] == f"{TRAILER[0]}: {TRAILER[1]}"
    run("commit", "-q", "--allow-empty", "-m", "later")
    assert git.find_commit(TRAILER, since=base) == made
    assert git.find_commit(TRAILER, since=None) == made
    assert git.find_commit(TRAILER, since=made) is None
    assert git.find_commit((TRAILER[0], "another"), since=base) is None


def test_a_message_that_only_quotes_the_trailer_is_not_found(
    started: Path, git: Git, run: Run
) -> None:
    quote = f"Talk\n\nSomebody wrote `{TRAILER[0]}: {TRAILER[1]}` here.\n\nThe end."
    run("commit", "-q", "--allow-empty", "-m", quote)
    assert git.find_commit(TRAILER, since=None) is None


def test_before_the_first_commit_nothing_is_found(git: Git) -> None:
    assert git.find_commit(TRAILER, since=None) is None


def test_a_failing_hook_leaves_everything_as_it_was(started: Path, git: Git, run: Run) -> None:
    write_hook(started, "pre-commit", "echo 'tests are red'; exit 1\n")
    (started / "mine.txt").write_text("staged\n")
    run("add", "mine.txt")
    (started / "agent.txt").write_text("x\n")
    before = git.head(), run("status", "--porcelain")
    with pytest.raises(GitRefusedError, match="tests are red") as caught:
        git.commit("Add", ["agent.txt"], trailer=TRAILER)
    assert "tests are red" in caught.value.output
    assert (git.head(), run("status", "--porcelain")) == before
    assert [path.name for path in (started / ".git").glob("agentmux-*")] == []


def test_hooks_see_what_is_committed_and_may_change_it(started: Path, git: Git, run: Run) -> None:
    write_hook(
        started,
        "pre-commit",
        "git diff --cached --name-only -- '*.txt' >seen\n"
        "echo formatted >agent.txt; git add agent.txt\n",
    )
    (started / "mine.txt").write_text("staged\n")
    run("add", "mine.txt")
    (started / "agent.txt").write_text("x\n")
    git.commit("Add", ["agent.txt"], trailer=TRAILER)
    assert (started / "seen").read_text() == "agent.txt\n"
    assert run("show", "HEAD:agent.txt") == "formatted\n"
    assert run("status", "--porcelain") == "M  mine.txt\n?? seen\n"


def test_what_a_hook_leaves_running_is_neither_waited_for_nor_ended(
    started: Path, git: Git, tmp_path: Path, wait_until: WaitUntil
) -> None:
    go, written = tmp_path / "go", tmp_path / "written"
    later = f"until [ -e '{go}' ]; do sleep 0.05; done; echo late; echo late >'{written}'"
    write_hook(started, "post-commit", f"({later}) &\n")
    (started / "kept.txt").write_text("changed\n")
    git.commit("Change it", ["kept.txt"], trailer=TRAILER)
    assert not written.exists()
    go.touch()
    wait_until(written.exists)


def test_a_hook_says_all_that_it_says_however_it_does(started: Path, git: Git) -> None:
    said = "echo one >&2; echo two >/dev/stderr; echo three >&2; echo four >/dev/stdout; exit 1\n"
    write_hook(started, "pre-commit", said)
    (started / "kept.txt").write_text("changed\n")
    with pytest.raises(GitRefusedError) as caught:
        git.commit("Change it", ["kept.txt"], trailer=TRAILER)
    assert sorted(caught.value.output.split()) == ["four", "one", "three", "two"]


def test_a_missing_identity_is_said_before_anything_happens(
    started: Path, environment: dict[str, str]
) -> None:
    nobody = environment | as_environment({"user.useConfigOnly": "true"})
    (started / "agent.txt").write_text("x\n")
    with pytest.raises(GitRefusedError, match="git has no author") as caught:
        Git(started, nobody).commit("Add", ["agent.txt"], trailer=TRAILER)
    assert any("user.email" in hint for hint in caught.value.hints)


def test_signing_as_configured_is_tried(started: Path, environment: dict[str, str]) -> None:
    signing = {"user.name": "T", "user.email": "t@example.com", "commit.gpgSign": "true"}
    signing["gpg.program"] = str(started.parent / "no-such-gpg")
    (started / "agent.txt").write_text("x\n")
    with pytest.raises(GitRefusedError, match="no-such-gpg"):
        Git(started, environment | as_environment(signing)).commit(
            "Add", ["agent.txt"], trailer=TRAILER
        )


@pytest.mark.parametrize(("message", "path"), [("Add", "mine.txt"), ("  \n", "agent.txt")])
def test_nothing_to_say_or_to_commit_is_refused(
    started: Path, git: Git, message: str, path: str
) -> None:
    (started / "agent.txt").write_text("x\n")
    before = git.head()
    with pytest.raises(GitRefusedError):
        git.commit(message, [path], trailer=TRAILER)
    assert git.head() == before


@pytest.fixture(params=["commit", "branch"])
def moved(request: pytest.FixtureRequest, started: Path, git: Git, run: Run) -> Head:
    before = git.head()
    if request.param == "commit":
        run("commit", "-q", "--allow-empty", "-m", "somebody else")
    else:
        run("checkout", "-q", "-b", "elsewhere")
    return before


def test_a_moved_head_stops_the_commit(started: Path, git: Git, moved: Head) -> None:
    (started / "agent.txt").write_text("x\n")
    now = git.head()
    with pytest.raises(HeadMovedError) as caught:
        git.commit("Add", ["agent.txt"], trailer=TRAILER, onto=moved)
    assert (caught.value.expected, caught.value.found) == (moved, now)
    assert git.head() == now
    git.commit("Add", ["agent.txt"], trailer=TRAILER, onto=now)


def test_an_index_left_behind_by_a_crash_is_settled(started: Path, git: Git, run: Run) -> None:
    (started / "mine.txt").write_text("staged\n")
    run("add", "mine.txt")
    (started / "agent.txt").write_text("x\n")
    made = git.commit("Add", ["agent.txt"], trailer=TRAILER)
    run("rm", "-q", "--cached", "agent.txt")  # as if killed before the index was written
    for _ in range(2):
        git.settle_index(made)
        assert run("status", "--porcelain") == "M  mine.txt\n"


def test_while_the_index_is_locked_no_commit_is_made(started: Path, git: Git, run: Run) -> None:
    before, lock = git.head(), started / ".git/index.lock"
    (started / "agent.txt").write_text("x\n")
    lock.touch()
    with pytest.raises(IndexBusyError) as caught:
        git.commit("Add", ["agent.txt"], trailer=TRAILER)
    assert caught.value.lock == lock
    assert str(lock) in caught.value.message
    assert git.head() == before
    assert lock.exists(), "it is the user's"
    lock.unlink()
    git.commit("Add", ["agent.txt"], trailer=TRAILER)
    assert run("status", "--porcelain") == ""


def test_an_index_that_cannot_be_settled_is_said(started: Path, git: Git, run: Run) -> None:
    lock = started / ".git/index.lock"
    write_hook(started, "post-commit", "touch .git/index.lock\n")
    (started / "agent.txt").write_text("x\n")
    with pytest.raises(IndexBusyError) as caught:
        git.commit("Add", ["agent.txt"], trailer=TRAILER)
    made = git.head().commit
    assert (caught.value.lock, git.find_commit(TRAILER, since=None)) == (lock, made)
    assert made is not None
    with pytest.raises(IndexBusyError):
        git.settle_index(made)
    lock.unlink()
    git.settle_index(made)
    assert run("status", "--porcelain") == ""


def test_an_index_that_nobody_locks_and_git_refuses_is_said(
    started: Path, git: Git, run: Run
) -> None:
    write_hook(started, "post-commit", "echo broken >.git/index\n")
    (started / "agent.txt").write_text("x\n")
    with pytest.raises(IndexBusyError, match="index") as caught:
        git.commit("Add", ["agent.txt"], trailer=TRAILER)
    assert caught.value.lock is None


SETTLE = """
import os, sys, pathlib
from agentmux.adapters.git.repository import Git
Git(pathlib.Path(sys.argv[1]), os.environ).settle_index(sys.argv[2])
"""


def test_a_lock_that_a_killed_process_of_ours_left_is_in_nobodys_way(
    started: Path,
    git: Git,
    environment: dict[str, str],
    run: Run,
    tmp_path: Path,
    wait_until: WaitUntil,
) -> None:
    (started / "agent.txt").write_text("x\n")
    made = git.commit("Add", ["agent.txt"], trailer=TRAILER)
    run("rm", "-q", "--cached", "agent.txt")
    (started / "mine.txt").write_text("staged\n")
    run("add", "mine.txt")
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    reached, go_on = tmp_path / "reached", tmp_path / "go on"
    os.mkfifo(go_on)
    (stubs / "git").write_text(
        f"#!/bin/sh\nPATH=${{PATH#*:}}\n"
        f"case \" $* \" in *' reset '*) touch '{reached}'; read line <'{go_on}';; esac\n"
        'exec git "$@"\n'
    )
    (stubs / "git").chmod(0o755)
    slow = {**environment, "PATH": f"{stubs}:{environment['PATH']}"}
    argv = (sys.executable, "-c", SETTLE, str(started), made)
    with subprocess.Popen(argv, env=slow) as child:
        wait_until(reached.exists)
        assert git.index_lock() == started / ".git/index.lock", "it is held"
        with pytest.raises(IndexBusyError):
            git.settle_index(made)
        child.kill()
    assert (started / ".git/index.lock").exists()
    assert git.index_lock() is None
    go_on.write_text("go\n")
    git.settle_index(made)
    assert run("status", "--porcelain") == "M  mine.txt\n"
    assert not (started / ".git/index.lock").exists()


def test_a_lock_of_the_user_stays_beside_what_a_killed_process_of_ours_left(
    started: Path, git: Git
) -> None:
    (started / "agent.txt").write_text("x\n")
    made = git.commit("Add", ["agent.txt"], trailer=TRAILER)
    left, lock = started / ".git/agentmux-commit-killed", started / ".git/index.lock"
    left.mkdir()
    (left / "lock").touch()
    lock.touch()
    assert git.index_lock() == lock
    with pytest.raises(IndexBusyError):
        git.settle_index(made)
    assert not left.exists(), "it was swept"
    assert lock.exists()


def test_a_git_that_is_killed_leaves_no_index_behind(
    started: Path, environment: dict[str, str], run: Run, tmp_path: Path
) -> None:
    stubs, killed = tmp_path / "stubs", tmp_path / "killed"
    stubs.mkdir()
    (stubs / "git").write_text(
        f"#!/bin/sh\nPATH=${{PATH#*:}}\n"
        f"case \" $* \" in *' reset '*) mkdir '{killed}' 2>/dev/null && kill -9 $$;; esac\n"
        'exec git "$@"\n'
    )
    (stubs / "git").chmod(0o755)
    (started / "agent.txt").write_text("x\n")
    git = Git(started, {**environment, "PATH": f"{stubs}:{environment['PATH']}"})
    git.commit("Add", ["agent.txt"], trailer=TRAILER)
    assert killed.exists()
    assert run("status", "--porcelain") == ""


def left_behind(repo: Path) -> list[str]:
    return [path.name for path in (repo / ".git").glob("agentmux-*")]


COMMIT = """
import os, sys, pathlib
from agentmux.adapters.git.repository import Git
Git(pathlib.Path(sys.argv[1]), os.environ).commit("Add", ["agent.txt"], trailer=sys.argv[2:4])
"""


def test_what_a_killed_commit_leaves_goes_when_its_git_has_gone(
    started: Path, git: Git, environment: dict[str, str], run: Run, wait_until: WaitUntil
) -> None:
    go, base = started / ".git/go", git.head().commit
    os.mkfifo(go)
    write_hook(started, "pre-commit", "touch .git/at-work; read line <.git/go\n")
    (started / "agent.txt").write_text("x\n")
    argv = (sys.executable, "-c", COMMIT, str(started), *TRAILER)
    with subprocess.Popen(argv, env=environment) as child:
        wait_until((started / ".git/at-work").exists)
        child.kill()

    assert base is not None
    git.settle_index(base)
    assert len(left_behind(started)) == 1, "its git lives on, and uses it"

    go.write_text("go\n")
    wait_until(lambda: git.find_commit(TRAILER, since=base))

    def is_tidy() -> bool:
        git.settle_index(str(git.head().commit))
        return left_behind(started) == []

    wait_until(is_tidy)
    assert committed(run) == {"agent.txt"}


@pytest.mark.parametrize("made", [True, False])
def test_the_next_commit_removes_what_an_earlier_one_left(
    started: Path, git: Git, made: bool
) -> None:
    (started / ".git/agentmux-commit-x").mkdir()
    (started / ".git/agentmux-commit-x/index.lock").touch()
    (started / ".git/agentmux-of-the-user").touch()
    (started / "agent.txt").write_text("x\n")
    if made:
        git.commit("Add", ["agent.txt"], trailer=TRAILER)
    else:
        with pytest.raises(GitRefusedError):
            git.commit("Add", [], trailer=TRAILER)
    assert left_behind(started) == ["agentmux-of-the-user"]


# --- branches ---------------------------------------------------------------------------------


def test_a_branch_is_made_and_checked_out(started: Path, git: Git, run: Run) -> None:
    (started / "mine.txt").write_text("dirty\n")
    run("add", "mine.txt")
    commit = git.head().commit
    git.create_branch("agentmux/add-auth")
    assert git.head() == Head(commit=commit, branch="agentmux/add-auth")
    assert run("status", "--porcelain") == "M  mine.txt\n"
    with pytest.raises(UsageError, match="branch `main` exists already"):
        git.create_branch("main")


def test_a_branch_before_the_first_commit(git: Git) -> None:
    git.create_branch("side")
    assert git.head() == Head(commit=None, branch="side")


@pytest.mark.parametrize("detached", [False, True])
def test_a_branch_is_taken_back(started: Path, git: Git, run: Run, detached: bool) -> None:
    if detached:
        run("checkout", "-q", "--detach")
    before = git.head()
    (started / "mine.txt").write_text("dirty\n")
    run("add", "mine.txt")
    git.create_branch("agentmux/add-auth")
    git.take_back_branch("agentmux/add-auth", before)
    assert git.head() == before
    assert run("branch", "--format=%(refname:lstrip=2)", "--list", "main", "agentmux/*") == "main\n"
    assert run("status", "--porcelain") == "M  mine.txt\n"


def test_a_branch_before_the_first_commit_is_taken_back(git: Git) -> None:
    before = git.head()
    git.create_branch("side")
    git.take_back_branch("side", before)
    assert git.head() == before


def test_a_branch_with_work_on_it_stays(started: Path, git: Git, run: Run) -> None:
    before = git.head()
    git.create_branch("side")
    run("commit", "-q", "--allow-empty", "-m", "work")
    worked = git.head()
    git.take_back_branch("side", before)
    assert git.head() == worked
    run("checkout", "-q", "main")
    git.take_back_branch("side", before)
    assert run("rev-parse", "side") == f"{worked.commit}\n"


@pytest.mark.parametrize("name", ["", "-f", "a b", "a..b", "@{-1}", "x.lock", "a\nb", "HEAD"])
def test_names_no_branch_can_have_are_refused(started: Path, git: Git, run: Run, name: str) -> None:
    run("checkout", "-q", "-b", "before")  # so that `@{-1}` has a meaning
    run("checkout", "-q", "main")
    with pytest.raises(UsageError, match="is not a valid branch name"):
        git.create_branch(name)
    assert git.head().branch == "main"


# -- a branch that is moved forward to HEAD ------------------------------------------------------


def test_a_branch_is_moved_forward_to_head_and_nothing_else(
    started: Path, git: Git, run: Run
) -> None:
    run("checkout", "-q", "-b", "theirs")
    (started / "new.txt").write_text("new\n")
    (started / "kept.txt").write_text("changed\n")
    run("add", "new.txt")
    run("commit", "-q", "--allow-empty", "-m", "second", "--only")
    before, head = run("status", "--porcelain"), git.head()
    assert git.take_branch("main", head) == git.head()
    assert git.head() == replace(head, branch="main")
    assert run("rev-parse", "theirs").strip() == head.commit
    assert run("status", "--porcelain") == before
    assert git.take_branch("main", git.head()) == git.head()  # after a crash


def test_a_branch_with_other_commits_is_never_moved(started: Path, git: Git, run: Run) -> None:
    run("commit", "-q", "--allow-empty", "-m", "second")
    main = run("rev-parse", "main")
    run("checkout", "-q", "--detach", "HEAD^")
    run("commit", "-q", "--allow-empty", "-m", "other")
    head = git.head()
    with pytest.raises(GitRefusedError, match="has commits that HEAD does not have"):
        git.take_branch("main", head)
    run("checkout", "-q", "--detach", "main")
    with pytest.raises(HeadMovedError):
        git.take_branch("main", head)
    assert run("rev-parse", "main") == main
