"""Merging into a branch, with real git: conflicts, kills, and what users have in their checkout."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from agentmux.adapters.git.program import GitProgram, GitReply
from agentmux.adapters.trees.merging import Merges
from agentmux.core.names.words import git_commands
from agentmux.overriding import override
from agentmux.ports.git.merging import (
    BaseMovedError,
    CheckoutDirtyError,
    MergeConflictError,
    MergePlan,
)
from agentmux.ports.git.repository import GitError, IndexBusyError
from tests.app.driver import git, make_project

TRAILER = ("Agentmux-Event", "6f1c1a52-6a51-5d53-9d31-0a4ff2f8a001")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project on `main`, with a branch `work` that changes, adds and deletes a file."""
    made = make_project(tmp_path / "project")
    (made / "gone.txt").write_text("gone\n")
    (made / "run.sh").write_text("#!/bin/sh\n")
    (made / ".gitignore").write_text("*.env\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "More")
    git(made, "checkout", "-q", "-b", "work")
    (made / "README.md").write_text("# Better\n")
    (made / "new").mkdir()
    (made / "new" / 'näme "x".txt').write_text("new\n")
    (made / "link").symlink_to("README.md")
    (made / "run.sh").chmod(0o755)
    (made / "gone.txt").unlink()
    git(made, "add", "-A")
    git(made, "commit", "-qm", "Work")
    git(made, "checkout", "-q", "main")
    return made


def merges(project: Path, **environ: str) -> Merges:
    return Merges(GitProgram(project, {**os.environ, **environ}))


def tip(project: Path, name: str) -> str:
    return git(project, "rev-parse", name).strip()


def planned(project: Path, **environ: str) -> MergePlan:
    result = tip(project, "work")
    return merges(project, **environ).plan("main", result, branch="work", trailer=TRAILER)


def on_main(project: Path, path: str, text: str) -> None:
    (project / path).write_text(text)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Mine")


def leave_main(project: Path) -> None:
    git(project, "checkout", "-q", "-b", "elsewhere")


def files(project: Path) -> dict[str, str]:
    """Return the content of every file that git does not own."""
    found = (path for path in project.rglob("*") if ".git" not in path.parts)
    return {
        str(path.relative_to(project)): str(path.readlink())
        if path.is_symlink()
        else path.read_text()
        for path in found
        if path.is_symlink() or path.is_file()
    }


def racing(tmp_path: Path, command: str, first: str) -> str:
    """Return a PATH with a git that runs ``first`` right before one of its commands."""
    script, real = tmp_path / "racing/git", shutil.which("git")
    script.parent.mkdir()
    script.write_text(
        f"#!/bin/sh\nPATH=${{PATH#*:}}\n"
        f'case " $* " in *\' {command} \'*) {first};; esac\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    return f"{script.parent}{os.pathsep}{os.environ['PATH']}"


# -- computing -----------------------------------------------------------------------------------


def test_what_was_put_aside_is_named_at_the_top_of_a_bare_repository(
    project: Path, tmp_path: Path
) -> None:
    bare, main = tmp_path / "bare" / ".bare", tmp_path / "bare" / "main"
    git(project, "clone", "-q", "--bare", ".", str(bare))
    (bare.parent / ".git").write_text("gitdir: ./.bare\n")
    git(bare.parent, "worktree", "add", "-q", "main", "main")
    (main / "README.md").write_text("mine\n")
    git(main, "stash", "push", "-q", "--message", git_commands.FOR_MERGE)
    back, _ = merges(bare.parent).stash_hints("main")
    command = f"git -C {main} stash pop --index stash@{{0}}"
    assert back == f"put back what was put aside on main: {command}"


def test_a_base_with_nothing_else_gets_the_result_itself(project: Path) -> None:
    before = git(project, "for-each-ref")
    plan = planned(project)
    assert plan == MergePlan(base="main", old=tip(project, "main"), new=tip(project, "work"))
    assert git(project, "for-each-ref") == before
    assert not merges(project).is_merged(plan)


def test_a_result_that_is_merged_already_moves_nothing(project: Path) -> None:
    git(project, "merge", "-q", "--no-ff", "-m", "By hand", "work")
    plan = planned(project)
    assert plan.old == plan.new == tip(project, "main")
    assert merges(project).is_merged(plan)


def test_a_base_with_commits_of_its_own_gets_a_merge_commit_of_the_user(project: Path) -> None:
    on_main(project, "mine.txt", "mine\n")
    leave_main(project)
    plan = planned(project)
    merges(project).move(plan)
    assert tip(project, "main") == plan.new
    shown = git(project, "log", "-1", "--format=%P|%an <%ae>|%cn|%B", "main").split("|")
    assert shown[0].split() == [plan.old, tip(project, "work")]
    assert shown[1:3] == ["Test <test@example.com>", "Test"]
    assert shown[3].startswith("Merge branch 'work' into main\n\nAgentmux-Event: 6f1c1a52")
    assert git(project, "show", "main:mine.txt") == "mine\n"
    assert git(project, "show", "main:README.md") == "# Better\n"
    assert git(project, "status", "--porcelain") == ""


def test_a_conflict_changes_nothing_and_names_the_paths(project: Path) -> None:
    on_main(project, "README.md", "# Other\n")
    before = git(project, "for-each-ref")
    with pytest.raises(
        MergeConflictError, match=r"conflicts with branch `main` in README\.md"
    ) as it:
        planned(project)
    assert it.value.paths == ("README.md",)
    assert it.value.said == "CONFLICT (content): Merge conflict in README.md"
    assert git(project, "for-each-ref") == before
    assert git(project, "status", "--porcelain") == ""


def test_an_older_git_only_moves_forward(project: Path, tmp_path: Path) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    real = shutil.which("git")
    old.write_text(
        f'#!/bin/sh\ncase " $* " in *" version "*) exec echo git version 2.37.1;; esac\n'
        f'exec {real} "$@"\n'
    )
    old.chmod(0o755)
    path = f"{old.parent}{os.pathsep}{os.environ['PATH']}"
    assert planned(project, PATH=path).new == tip(project, "work")
    on_main(project, "mine.txt", "mine\n")
    with pytest.raises(GitError, match=r"needs git 2\.38") as caught:
        planned(project, PATH=path)
    assert [hint.partition(": ")[2] for hint in caught.value.hints] == [
        "agentmux approve --pr",
        "agentmux approve --keep",
    ]


def test_without_an_identity_no_merge_commit_is_made(project: Path) -> None:
    on_main(project, "mine.txt", "mine\n")
    for name in ("user.name", "user.email"):
        git(project, "config", "--unset", name)
    git(project, "config", "user.useConfigOnly", "true")
    with pytest.raises(GitError, match="no name or e-mail is configured"):
        planned(project)


def test_a_merge_commit_is_signed_where_commits_are(project: Path, tmp_path: Path) -> None:
    on_main(project, "mine.txt", "mine\n")
    signer = tmp_path / "signer"
    signer.write_text(
        "#!/bin/sh\ncat >/dev/null\nprintf '[GNUPG:] SIG_CREATED \\n' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\nours\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    signer.chmod(0o755)
    git(project, "config", "gpg.program", str(signer))
    git(project, "config", "commit.gpgSign", "true")
    made = git(project, "cat-file", "-p", planned(project).new)
    assert "gpgsig -----BEGIN PGP SIGNATURE-----\n ours" in made


def test_a_base_that_is_gone_is_named(project: Path) -> None:
    leave_main(project)
    git(project, "branch", "-D", "main")
    with pytest.raises(GitError, match="branch `main`, on which the session began, does not exist"):
        planned(project)


# -- a base that is checked out nowhere ----------------------------------------------------------


def test_the_loser_of_a_race_merges_on_top(project: Path) -> None:
    leave_main(project)
    plan = planned(project)
    git(
        project,
        "branch",
        "-f",
        "main",
        git(project, "commit-tree", "-m", "x", "-p", plan.old, f"{plan.old}^{{tree}}").strip(),
    )
    theirs = tip(project, "main")
    with pytest.raises(BaseMovedError):
        merges(project).move(plan)
    assert tip(project, "main") == theirs
    again = planned(project)
    assert again.old == theirs
    merges(project).move(again)
    merges(project).move(again)  # after a kill
    assert tip(project, "main") == again.new
    assert merges(project).is_merged(again)


def test_a_commit_between_the_look_and_the_move_is_not_lost(project: Path, tmp_path: Path) -> None:
    leave_main(project)
    plan = planned(project)
    tree = f"{plan.old}^{{tree}}"
    theirs = git(project, "commit-tree", "-m", "Theirs", "-p", plan.old, tree).strip()
    path = racing(tmp_path, "update-ref", f"git branch -f main {theirs}")
    with pytest.raises(BaseMovedError):
        merges(project, PATH=path).move(plan)
    assert tip(project, "main") == theirs


def test_a_base_that_was_just_checked_out_is_not_moved_under_its_files(project: Path) -> None:
    plan = planned(project)
    with pytest.raises(BaseMovedError):
        merges(project).move(plan)
    assert tip(project, "main") == plan.old


def test_a_base_that_is_being_rebased_is_left_alone(project: Path) -> None:
    on_main(project, "README.md", "# Other\n")
    done = subprocess.run(["git", "rebase", "work"], cwd=project, capture_output=True, check=False)
    assert done.returncode != 0
    with pytest.raises(GitError, match="branch `main` is being rebased in"):
        merges(project).checkout_of("main")


def test_a_base_in_a_worktree_that_was_deleted_is_checked_out_nowhere(
    project: Path, tmp_path: Path
) -> None:
    leave_main(project)
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", str(place), "main")
    assert merges(project).checkout_of("main") == place
    git(project, "worktree", "lock", str(place))
    shutil.move(place, tmp_path / "away")
    with pytest.raises(GitError, match=r"is checked out in .* which is not there"):
        merges(project).checkout_of("main")
    git(project, "worktree", "unlock", str(place))
    assert merges(project).checkout_of("main") is None


# -- a base that is checked out ------------------------------------------------------------------


def test_a_clean_checkout_goes_along(project: Path) -> None:
    (project / "mine.txt").write_text("untracked\n")
    (project / ".git/hooks").mkdir(exist_ok=True)
    hook = project / ".git/hooks/post-merge"
    hook.write_text("#!/bin/sh\ntouch .git/hook-ran\n")
    hook.chmod(0o755)
    plan = planned(project)
    merges(project).fast_forward(plan, project)
    assert tip(project, "HEAD") == plan.new
    assert git(project, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert git(project, "status", "--porcelain") == "?? mine.txt\n"
    assert (project / "README.md").read_text() == "# Better\n"
    assert (project / "run.sh").stat().st_mode & 0o100
    assert (project / ".git/hook-ran").exists()
    merges(project).fast_forward(plan, project)  # after a kill


def write(path: str, text: str) -> Callable[[Path], object]:
    def do(project: Path) -> object:
        (project / path).parent.mkdir(exist_ok=True)
        return (project / path).write_text(text)

    return do


def staged(path: str, text: str) -> Callable[[Path], object]:
    def do(project: Path) -> object:
        (project / path).write_text(text)
        git(project, "add", path)
        return (project / path).write_text("# A project\n")

    return do


def hidden(path: str, text: str) -> Callable[[Path], object]:
    def do(project: Path) -> object:
        git(project, "update-index", "--assume-unchanged", path)
        return (project / path).write_text(text)

    return do


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(write("README.md", "# Mine\n"), "README.md", id="changed"),
        pytest.param(hidden("README.md", "# Mine\n"), "README.md", id="changed, and not shown"),
        pytest.param(staged("README.md", "# Mine\n"), "README.md", id="only staged"),
        pytest.param(
            write("run.sh", "mine\n"), "run.sh", id="changed, where only the mode differs"
        ),
        pytest.param(write(".gitignore", "*.env\n*.o\n"), ".gitignore", id="changed elsewhere"),
        pytest.param(write("link", "mine\n"), "link", id="untracked"),
        pytest.param(write("gone.txt", "mine\n"), "gone.txt", id="to be deleted"),
        pytest.param(write('new/näme "x".txt', "mine\n"), 'new/näme "x".txt', id="odd name"),
        pytest.param(write("link/inside.txt", "mine\n"), "link", id="a folder in the way"),
        pytest.param(write("new", "mine\n"), "new", id="a file in the way of a folder"),
        pytest.param(lambda p: (p / "README.md").unlink(), None, id="deleted"),
    ],
)
def test_what_users_have_not_committed_is_never_touched(
    project: Path, change: Callable[[Path], object], named: str | None
) -> None:
    plan = planned(project)
    change(project)
    before, index = files(project), git(project, "ls-files", "--stage")
    with pytest.raises(CheckoutDirtyError) as caught:
        merges(project).fast_forward(plan, project)
    assert caught.value.paths == ((named or "README.md"),)
    assert (files(project), git(project, "ls-files", "--stage")) == (before, index)
    assert tip(project, "main") == plan.old


@pytest.mark.parametrize("like_theirs", ["", "# pkg\n", "# pkg\nmore\n"])
def test_deletions_and_cuts_of_users_are_theirs_beside_a_file_like_the_results(
    project: Path, like_theirs: str
) -> None:
    on_work(project, "pkg.txt", "# pkg\nmore\n")
    on_work(project, "README.md", "# A project\nand more\n")
    plan = planned(project)
    (project / "pkg.txt").write_text(like_theirs)
    (project / "gone.txt").unlink()
    (project / "README.md").write_text("# A proj")
    before = files(project)
    with pytest.raises(CheckoutDirtyError) as caught:
        merges(project).fast_forward(plan, project)
    assert "README.md" in caught.value.paths
    assert files(project) == before
    (project / "README.md").unlink()
    with pytest.raises(CheckoutDirtyError) as caught:
        merges(project).fast_forward(plan, project)
    assert "README.md" in caught.value.paths


def test_an_ignored_file_in_the_way_is_not_overwritten(project: Path) -> None:
    git(project, "checkout", "-q", "work")
    (project / "local.env").write_text("THEIRS=1\n")
    git(project, "add", "-f", "local.env")
    git(project, "commit", "-qm", "Oops")
    git(project, "checkout", "-q", "main")
    (project / "local.env").write_text("SECRET=1\n")
    plan = planned(project)
    with pytest.raises(CheckoutDirtyError, match=r"local\.env"):
        merges(project).fast_forward(plan, project)
    assert (project / "local.env").read_text() == "SECRET=1\n"
    assert tip(project, "main") == plan.old


def test_an_ignored_file_that_is_made_meanwhile_is_not_overwritten(
    project: Path, tmp_path: Path
) -> None:
    git(project, "checkout", "-q", "work")
    (project / "local.env").write_text("THEIRS=1\n")
    git(project, "add", "-f", "local.env")
    git(project, "commit", "-qm", "Oops")
    git(project, "checkout", "-q", "main")
    plan = planned(project)
    path = racing(tmp_path, "merge", f"echo SECRET=1 >'{project}/local.env'")
    with pytest.raises(GitError):
        merges(project, PATH=path).fast_forward(plan, project)
    assert (project / "local.env").read_text() == "SECRET=1\n"
    assert tip(project, "main") == plan.old


def refusing(project: Path, ref: str) -> Path:
    """Make a hook that refuses each move of a ref."""
    hook = project / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    refuse = f'[ "$1" = prepared ] && grep -q "{ref}$" && echo not today >&2 && exit 1'
    hook.write_text(f"#!/bin/sh\n{refuse}\nexit 0\n")
    hook.chmod(0o755)
    return hook


def test_a_move_that_a_hook_refuses_leaves_nothing_of_the_result(project: Path) -> None:
    plan, before = planned(project), files(project)
    (project / "mine.txt").write_text("mine\n")
    hook = refusing(project, "refs/heads/main")
    with pytest.raises(GitError, match="not today") as caught:
        merges(project).fast_forward(plan, project)
    assert "stays" not in str(caught.value)
    assert files(project) == {**before, "mine.txt": "mine\n"}
    assert git(project, "status", "--porcelain") == "?? mine.txt\n"
    assert tip(project, "HEAD") == plan.old
    hook.unlink()
    merges(project).fast_forward(plan, project)
    assert tip(project, "main") == plan.new


def test_what_a_user_changed_before_a_hook_refused_stays_and_is_named(project: Path) -> None:
    plan = planned(project)
    hook = refusing(project, "refs/heads/main")
    hook.write_text(hook.read_text().replace("echo", f"echo mine >'{project}/README.md' && echo"))
    with pytest.raises(GitError, match=r"what it wrote stays there, uncommitted: .*run\.sh"):
        merges(project).fast_forward(plan, project)
    assert (project / "README.md").read_text() == "mine\n"
    assert (project / "link").is_symlink()


def test_files_become_folders_and_folders_files(project: Path) -> None:
    (project / "dir").mkdir()
    on_main(project, "dir/x", "x\n")
    on_main(project, "flat", "x\n")
    git(project, "checkout", "-q", "-B", "work")
    git(project, "rm", "-qr", "dir", "flat")
    (project / "flat").mkdir()
    (project / "flat" / "y").write_text("y\n")
    on_main(project, "dir", "a file now\n")
    git(project, "checkout", "-q", "main")
    merges(project).fast_forward(planned(project), project)
    assert git(project, "status", "--porcelain") == ""
    assert (project / "dir").is_file()


def test_another_git_at_work_in_the_checkout_is_waited_for(project: Path) -> None:
    (project / ".git/index.lock").touch()
    with pytest.raises(IndexBusyError):
        merges(project).fast_forward(planned(project), project)
    (project / ".git/index.lock").unlink()
    (project / ".git/MERGE_HEAD").write_text(tip(project, "work") + "\n")
    with pytest.raises(GitError, match="a merge is in progress"):
        merges(project).fast_forward(planned(project), project)


def test_another_branch_in_the_checkout_is_not_moved(project: Path) -> None:
    plan = planned(project)
    leave_main(project)
    with pytest.raises(BaseMovedError):
        merges(project).fast_forward(plan, project)
    assert tip(project, "elsewhere") == plan.old


# -- looking before it is committed ---------------------------------------------------------------


def everything(project: Path) -> tuple[object, ...]:
    """Return what a look must not change: files, refs, the index, and the objects of git."""
    objects = sorted(str(path) for path in (project / ".git/objects").rglob("*"))
    return files(project), git(project, "for-each-ref"), git(project, "ls-files", "-s"), objects


def foreseen(
    project: Path, place: Path, home: Path, leave_out: tuple[str, ...] = ()
) -> GitError | None:
    """Return why the files at ``place`` could not be merged now; looking changes nothing."""
    home.mkdir(exist_ok=True)
    before, there = everything(project), git(place, "status", "--porcelain")
    try:
        session = "00000000-0000-4000-8000-000000000000"
        merges(project).check_mergeable("main", place, home, session, leave_out=leave_out)
    except GitError as error:
        return error
    finally:
        assert (everything(project), git(place, "status", "--porcelain")) == (before, there)
    return None


def test_what_a_merge_would_meet_is_known_before_anything_is_committed(
    project: Path, tmp_path: Path
) -> None:
    place, home = tmp_path / "place", tmp_path / "home"
    git(project, "worktree", "add", "-q", str(place), "work")
    (place / "more.txt").write_text("more\n")
    assert foreseen(project, place, home) is None
    (project / "more.txt").write_text("mine\n")
    found = foreseen(project, place, home)
    assert isinstance(found, CheckoutDirtyError)
    assert found.paths == ("more.txt",)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Mine")
    found = foreseen(project, place, home)
    assert isinstance(found, MergeConflictError)
    assert found.paths == ("more.txt",)
    git(project, "rm", "-q", "more.txt")
    on_main(project, "other.txt", "mine\n")
    assert foreseen(project, place, home) is None
    (project / ".git/MERGE_HEAD").write_text(tip(project, "work") + "\n")
    assert "a merge is in progress" in str(foreseen(project, place, home))
    (project / ".git/MERGE_HEAD").unlink()
    (project / "more.txt").write_text("in the way\n")
    assert isinstance(foreseen(project, place, home), CheckoutDirtyError)
    leave_main(project)
    assert foreseen(project, place, home) is None


def test_what_the_setup_made_is_not_committed_and_so_meets_nothing(
    project: Path, tmp_path: Path
) -> None:
    place, home = tmp_path / "place", tmp_path / "home"
    git(project, "worktree", "add", "-q", str(place), "work")
    (place / "generated.txt").write_text("here\n")
    (project / "generated.txt").write_text("the same setup, in the checkout\n")
    assert isinstance(foreseen(project, place, home), CheckoutDirtyError)
    assert foreseen(project, place, home, ("generated.txt",)) is None
    (place / "run.sh").write_text("rewritten by the setup\n")
    on_main(project, "run.sh", "newer\n")
    assert isinstance(foreseen(project, place, home, ("generated.txt",)), MergeConflictError)
    assert foreseen(project, place, home, ("generated.txt", "run.sh")) is None


# -- killed in the middle ------------------------------------------------------------------------


def half_done(project: Path, plan: MergePlan, *, count: int, index: bool) -> None:
    """Leave what a killed fast-forward leaves: ``count`` files, then perhaps the index."""
    paths = git(project, "diff", "--name-only", "-z", "--no-renames", plan.old, plan.new).split(
        "\0"
    )[:-1]
    for path in paths[:count]:
        there = git(project, "ls-tree", "--name-only", plan.new, "--", path)
        if there:
            git(
                project,
                "--literal-pathspecs",
                "restore",
                "--worktree",
                f"--source={plan.new}",
                "--",
                path,
            )
        else:
            (project / path).unlink()
    if index:
        git(project, "read-tree", plan.new)


@pytest.mark.parametrize(
    ("count", "index"), [(0, False), (1, False), (2, False), (3, False), (5, False), (5, True)]
)
def test_a_killed_fast_forward_is_finished(project: Path, count: int, index: bool) -> None:
    plan = planned(project)
    (project / "mine.txt").write_text("untracked\n")
    half_done(project, plan, count=count, index=index)
    merges(project).fast_forward(plan, project)
    assert git(project, "status", "--porcelain") == "?? mine.txt\n"
    assert tip(project, "HEAD") == plan.new


@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_killed_fast_forward_is_not_finished_over_the_users_bytes(
    project: Path, count: int
) -> None:
    plan = planned(project)
    half_done(project, plan, count=count, index=False)
    (project / "README.md").write_text("# Mine since then\n")
    before = files(project)
    with pytest.raises(CheckoutDirtyError, match=r"README\.md") as caught:
        merges(project).fast_forward(plan, project)
    assert caught.value.paths == ("README.md",)
    assert files(project) == before
    assert tip(project, "main") == plan.old


@pytest.mark.parametrize("dies_at", ["README.md", 'new/näme "x".txt', "run.sh"])
@pytest.mark.parametrize("mine", [False, True])
def test_git_itself_is_killed_in_the_middle_of_the_checkout(
    project: Path, dies_at: str, mine: bool
) -> None:
    on_work(project, "run.sh", "#!/bin/sh\necho better\n")
    plan = planned(project)
    (project / "scratch").mkdir()
    (project / "scratch" / "mine.env").write_text("MINE=1\n")
    before = files(project)
    (project / ".git/info").mkdir(exist_ok=True)
    quoted = f'"{dies_at}"'.replace('e "x"', 'e \\"x\\"') if '"' in dies_at else dies_at
    (project / ".git/info/attributes").write_text(f"{quoted} filter=die\n")
    git(project, "config", "filter.die.smudge", "kill -9 $PPID")
    with pytest.raises(GitError):
        merges(project).fast_forward(plan, project)
    assert tip(project, "main") == plan.old
    lock = project / ".git/index.lock"
    with pytest.raises(IndexBusyError):
        merges(project).fast_forward(plan, project)
    lock.unlink()
    git(project, "config", "--unset", "filter.die.smudge")

    if mine:
        (project / "README.md").write_text("# Mine since then\n")
        left = files(project)
        with pytest.raises(CheckoutDirtyError, match=r"README\.md"):
            merges(project).fast_forward(plan, project)
        assert files(project) == left
        return
    merges(project).fast_forward(plan, project)
    assert tip(project, "HEAD") == plan.new
    assert git(project, "status", "--porcelain", "--ignored") == "!! scratch/\n"
    after = files(project)
    assert after["README.md"] == "# Better\n"
    touched = set(
        git(project, "diff", "--name-only", "-z", "--no-renames", plan.old, plan.new).split("\0")
    )
    assert {n: t for n, t in after.items() if n not in touched} == {
        n: t for n, t in before.items() if n not in touched
    }


@pytest.mark.parametrize("lack", ["disk", "process"])
@pytest.mark.parametrize("others", [False, True])
def test_files_that_git_could_not_write_completely_are_not_the_users(
    project: Path, tmp_path: Path, lack: str, others: bool
) -> None:
    if not others:  # nothing else is written completely, which would show that it was git
        git(project, "branch", "-qf", "work", "main")
    on_main(project, "A big.txt", "old\n" * 9000)
    git(project, "checkout", "-q", "work")
    git(project, "merge", "-q", "main")
    (project / "big").mkdir()
    (project / "big" / "new.txt").write_text("new\n" * 9000)
    on_main(project, "A big.txt", "newer\n" * 9000)
    git(project, "checkout", "-q", "main")
    plan, before = planned(project), files(project)
    # A write beyond the limit ends like one on a full disk, or kills git.
    limit = ("trap '' XFSZ; " if lack == "disk" else "") + "ulimit -f 8"
    path = racing(tmp_path, "merge", limit)
    lock = project / ".git" / "index.lock"
    with pytest.raises(GitError) as caught:
        merges(project, PATH=path).fast_forward(plan, project)
    assert tip(project, "main") == plan.old
    assert lock.exists() is (lack == "process")
    if lack == "disk":
        assert "unable to write file" in str(caught.value)
        assert "stays" not in str(caught.value)
        assert files(project) == before
        assert not (project / "big").exists()
        assert git(project, "status", "--porcelain") == ""
    else:
        assert "what it wrote stays there, uncommitted: A big.txt" in str(caught.value)
        assert 0 < (project / "A big.txt").stat().st_size < 9000
        lock.unlink()
    merges(project).fast_forward(plan, project)
    assert tip(project, "main") == plan.new
    assert git(project, "status", "--porcelain") == ""
    assert not (project / ".git" / "agentmux-merging").exists()


def test_a_file_that_only_looks_as_if_git_had_begun_it_is_the_users(project: Path) -> None:
    on_main(project, "list.txt", "one\n")
    git(project, "checkout", "-q", "work")
    git(project, "merge", "-q", "main")
    on_main(project, "list.txt", "one\ntwo\nthree\n")
    git(project, "checkout", "-q", "main")
    (project / "list.txt").write_text("one\ntwo\n")
    with pytest.raises(CheckoutDirtyError, match=r"list\.txt"):
        merges(project).fast_forward(planned(project), project)
    assert (project / "list.txt").read_text() == "one\ntwo\n"


def on_work(project: Path, path: str, text: str) -> None:
    git(project, "checkout", "-q", "work")
    on_main(project, path, text)
    git(project, "checkout", "-q", "main")


class Killed(BaseException):
    """This process is killed."""


class MortalGit(GitProgram):
    """Is killed before, or right after, one of its commands that may change something."""

    calls = 0
    last = -1
    after = False

    @override
    def at(self, folder: Path) -> Self:
        return self

    @override
    def run(self, *argv: str, **more: Any) -> GitReply:
        self.calls += 1
        if self.calls == self.last and not self.after:
            raise Killed
        reply = super().run(*argv, **more)
        if self.calls == self.last:
            raise Killed
        return reply


def deliver(project: Path, program: GitProgram, record: list[MergePlan]) -> None:
    """Do what the step does: plan once, then finish what the plan says."""
    if not record:
        result = tip(project, "work")
        record.append(Merges(program).plan("main", result, branch="work", trailer=TRAILER))
    top = Merges(program).checkout_of("main")
    if Merges(program).is_merged(record[0]):
        return
    if top is None:
        Merges(program).move(record[0])
    else:
        Merges(program).fast_forward(record[0], top)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("checked_out", [False, True])
def test_a_kill_around_a_command_of_git_changes_nothing_in_the_end(
    project: Path, tmp_path: Path, checked_out: bool, after: bool
) -> None:
    on_main(project, "mine.txt", "mine\n")
    if not checked_out:
        leave_main(project)
    (project / "scratch.txt").write_text("mine\n")
    kept = tmp_path / "kept"
    shutil.copytree(project, kept, symlinks=True)
    wanted, last = "", 0
    while True:
        last += 1
        shutil.rmtree(project)
        shutil.copytree(kept, project, symlinks=True)
        dying, record = MortalGit(project, os.environ), list[MergePlan]()
        dying.last, dying.after = last, after
        died = False
        try:
            deliver(project, dying, record)
        except Killed:
            died = True
            deliver(project, GitProgram(project, os.environ), record)
        done = git(project, "log", "--format=%T %s", "main") + str(sorted(files(project).items()))
        assert git(project, "status", "--porcelain") == "?? scratch.txt\n"
        wanted = wanted or done
        assert done == wanted, f"killed at call {last}"
        if not died:
            break
    assert last > 3


@pytest.mark.follows("git -C … stash apply --index …")
def test_what_was_put_aside_last_is_put_back_first(project: Path) -> None:
    (project / "other.txt").write_text("before\n")
    git(project, "add", "other.txt")
    git(project, "commit", "-qm", "Other")
    for name in ("README.md", "other.txt"):
        (project / name).write_text(f"an edit of {name}\n")
        git(project, "stash", "push", "-qm", git_commands.FOR_MERGE)
    back, look, older, older_look = merges(project).stash_hints("main")
    assert look.endswith("stash@{0}")
    assert older_look.endswith(git(project, "rev-parse", "stash@{1}").strip()[:12])
    subprocess.run(back.partition(": ")[2], shell=True, check=True, capture_output=True)
    assert git(project, "diff", "--name-only") == "other.txt\n"
    assert older.startswith("another one, maybe of an earlier time, on main: ")
    subprocess.run(older.partition(": ")[2], shell=True, check=True, capture_output=True)
    assert git(project, "diff", "--name-only") == "README.md\nother.txt\n"


def test_only_what_was_put_aside_on_the_base_is_named(project: Path) -> None:
    def put_aside(text: str) -> None:
        (project / "README.md").write_text(text)
        git(project, "stash", "push", "-qm", git_commands.FOR_MERGE)

    put_aside("# On main\n")
    leave_main(project)
    put_aside("# Elsewhere\n")
    git(project, "checkout", "-q", "main")
    back, look = merges(project).stash_hints("main")
    assert back.endswith(f"git -C {project} stash pop --index stash@{{1}}")
    assert look.endswith("stash@{1}")
