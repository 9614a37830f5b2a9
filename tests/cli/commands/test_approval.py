"""`approve` when a part of the result cannot be committed: an error, and nothing is decided."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.journal.events import Approved, ChangesRequested
from agentmux.core.journal.results import PhaseResult
from agentmux.core.journal.state import Base, Commit, Options
from agentmux.core.names.phase import Phase
from agentmux.core.names.words import git_commands
from agentmux.errors import ExitCode
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk
from tests.cli.test_commands import in_terminal
from tests.fakes.pseudo_terminal import read_to_end

NAME = "20260101-101500-add-auth"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = make_project(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def session(project: Path) -> OnDisk:
    """A session that was stopped at the decision, with one new file to commit."""
    (project / "agent.py").write_text("x\n")
    return deciding(project)


def deciding(project: Path, **options: Any) -> OnDisk:
    head = git(project, "rev-parse", "HEAD").strip()
    return OnDisk(
        sessions_dir(project) / NAME,
        Phase.COMPLETING,
        summary_submitted=True,
        branch="main",
        options=Options(**{"commit": True, "base": head, **options}),
    )


def nested(project: Path, name: str = "app") -> Path:
    folder = project / name
    folder.mkdir()
    git(folder, "init", "-q", "--template=")
    (folder / "code.py").write_text("x\n")
    return folder


def run(*words: str) -> int:
    return main(words, os.environ)


@pytest.mark.usefixtures("project")
def test_the_answer_names_the_command_as_it_is_typed(session: OnDisk, capsys: Capture) -> None:
    assert run("request-changes", "More.") == ExitCode.OK
    assert capsys.readouterr().out.startswith("request-changes: accepted")
    assert "request_changes" in session.kinds


def test_everything_that_a_decision_needs_is_shown(project: Path, capsys: Capture) -> None:
    (project / "agent.py").write_text("x\n")
    session = OnDisk(
        sessions_dir(project) / NAME,
        Phase.COMPLETING,
        summary_submitted=True,
        branch="main",
        results={
            "reviewing": PhaseResult(
                verdicts={"reviewer_logic": "pass"},
                reviews={"reviewer_logic": {"verdict": "pass", "summary": "Sound.\nReally."}},
            )
        },
        options=Options(commit=True, base=git(project, "rev-parse", "HEAD").strip()),
    )
    session.leave("08_completion/summary.md", "# What changed\n\n- It **greets**.\n")
    git(project, "remote", "add", "origin", "/nowhere")
    assert run("approve", "--push") == ExitCode.OK
    shown = capsys.readouterr().out.splitlines()
    assert shown[:10] == [
        "What changed:",
        "",
        "• It greets.",
        "",
        "nothing was verified; to find the tests for next time: agentmux init --checks",
        "review logic: pass: Sound.",
        "on branch main",
        "to be committed: 1 file, with the message “Apply the feature”",
        "  agent.py | 1 +",
        "  1 file changed, 1 insertion(+)",
    ]
    assert "then pushed to origin, branch main" in shown


@pytest.mark.usefixtures("project")
def test_ways_that_exclude_each_other_or_do_not_exist_are_usage_errors(
    session: OnDisk, capsys: Capture
) -> None:
    for words, says in (
        (("--keep", "--merge"), "--keep and --merge exclude each other"),
        (("--merge",), "nothing is to be merged"),
        (("--push",), "has no remote"),
        (("--timeout", "inf"), "--timeout must be a finite number"),
    ):
        assert run("approve", *words) == ExitCode.USAGE
        assert says in capsys.readouterr().err
    assert run("request-changes") == ExitCode.USAGE
    assert run("request-changes", "--from", "fixing") == ExitCode.USAGE
    assert "no merge conflict" in capsys.readouterr().err
    assert {"approve", "request_changes"}.isdisjoint(session.kinds)


@pytest.mark.parametrize(
    ("remotes", "push"),
    [
        ((), ""),
        (("mine",), ", or: git push mine agentmux/x"),
        (("a", "b"), ", or: git push REMOTE agentmux/x"),
    ],
)
def test_what_was_kept_is_not_delivered_later_but_git_can(
    project: Path, capsys: Capture, remotes: tuple[str, ...], push: str
) -> None:
    for each in remotes:
        git(project, "remote", "add", each, "/nowhere")
    git(project, "branch", "agentmux/x")
    OnDisk(
        sessions_dir(project) / NAME,
        Phase.DONE,
        branch="agentmux/x",
        worktree=str(project),
        base=Base(commit="b0", branch="main"),
        commit=Commit(status="made", commit="c0"),
    )
    assert run("approve", NAME, "--merge") == ExitCode.BLOCKED
    said = capsys.readouterr().err
    way = f"{git_commands.merge('agentmux/x')} (with main checked out){push}"
    assert f"its result is on branch agentmux/x: {way}\n" in said
    assert "takes no such decision now: the session is done" in said
    assert run("status", NAME) == ExitCode.OK
    assert f"  get it with   {way}\n" in capsys.readouterr().out


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_what_was_kept_on_a_branch_that_is_gone_is_merged_by_its_commit(
    project: Path, capsys: Capture, packed: bool
) -> None:
    git(project, "switch", "-qc", "agentmux/x")
    (project / "a.py").write_text("")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add a")
    made = git(project, "rev-parse", "HEAD").strip()
    git(project, "switch", "-q", "main")
    if packed:
        git(project, "pack-refs", "--all")
    OnDisk(
        sessions_dir(project) / NAME,
        Phase.DONE,
        branch="agentmux/x",
        worktree=str(project / "gone"),
        base=Base(commit="b0", branch="main"),
        commit=Commit(status="made", commit=made),
    )
    assert run("status", NAME) == ExitCode.OK
    there = git_commands.merge("agentmux/x")
    assert f"  get it with   {there} (with main" in capsys.readouterr().out
    git(project, "branch", "-qm", "agentmux/x", "mine")
    assert run("status", NAME) == ExitCode.OK
    said = capsys.readouterr().out
    assert "  branch        agentmux/x (gone), from main at b0\n" in said
    merge = git_commands.merge(made[:12])
    way = f"{merge} (with main checked out)"
    assert f"  get it with   {way}\n" in said
    assert run("approve", NAME, "--merge") == ExitCode.BLOCKED
    assert f"its result is in commit {made[:12]}: {way}\n" in capsys.readouterr().err
    subprocess.run(["sh", "-c", merge], cwd=project, check=True)
    assert (project / "a.py").exists()


# -- what was shown ------------------------------------------------------------------------------


def shown(capsys: Capture) -> dict[str, Any]:
    """Return the decision that the session waits for, as a face is told."""
    assert run("status", NAME, "--json") == ExitCode.OK
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["sessions"][0]["decision"]
    return found


def test_a_decision_is_about_what_was_shown(
    project: Path, session: OnDisk, capsys: Capture
) -> None:
    decision = shown(capsys)
    assert (decision["phase"], decision["cycle"]) == ("completing", 1)
    digest = decision["digest"]
    (project / "agent.py").write_text("y\n")
    for words in (("approve",), ("request-changes", "More.", "-s", NAME)):
        assert run(*words, "--digest", digest, "--json") == ExitCode.BLOCKED
        answer = json.loads(capsys.readouterr().out)
        assert (answer["result"], answer["event_id"]) == ("ignored", None)
        assert answer["reason"].startswith("the result is not what was shown with the digest")
    assert {"approve", "request_changes"}.isdisjoint(session.kinds)

    assert run("approve", "--digest", shown(capsys)["digest"]) == ExitCode.OK
    (approved,) = [each.fact for each in session.events if isinstance(each.fact, Approved)]
    assert approved.of_phase == "completing"
    assert approved.digest != digest
    (project / "agent.py").unlink()
    git(project, "checkout", "-q", "-b", "tree")
    (project / "agent.py").write_text("y\n")
    git(project, "add", "agent.py")
    assert git(project, "write-tree").strip() == approved.tree


def test_a_session_that_waits_for_nothing_shows_no_decision(project: Path, capsys: Capture) -> None:
    OnDisk(sessions_dir(project) / NAME, Phase.PLANNING)
    assert shown(capsys) is None


@pytest.mark.usefixtures("project")
def test_what_changes_while_a_person_is_asked_is_not_approved(
    project: Path, session: OnDisk
) -> None:
    master, slave = pty.openpty()
    argv = [sys.executable, "-m", "agentmux", "approve"]
    process = subprocess.Popen(argv, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    told = b""
    while b"Approve?" not in told:
        told += os.read(master, 1000)
    (project / "late.py").write_text("x\n")
    os.write(master, b"y\n")
    assert process.wait(60) == ExitCode.BLOCKED
    assert "the result is not what was shown" in read_to_end(master)
    assert "approve" not in session.kinds


@pytest.mark.usefixtures("project")
def test_where_a_cycle_begins_is_chosen_or_asked(session: OnDisk, capsys: Capture) -> None:
    assert run("request-changes", "More.", "--from", "reviewing") == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "no cycle of this session can begin in `reviewing`" in said
    assert "choose one of: architecting, planning, implementing, fixing" in said
    code, _, told = in_terminal("request-changes", "More.", typed="planning\n")
    assert code == ExitCode.OK
    assert "a small change: one coder, then the reviews and the summary" in told
    (asked,) = [each.fact for each in session.events if isinstance(each.fact, ChangesRequested)]
    assert (asked.phase, asked.of_phase) == ("planning", "completing")


@pytest.mark.parametrize("phase", ["fixing", "planning"])
@pytest.mark.usefixtures("project")
def test_a_script_says_where_a_cycle_begins(session: OnDisk, capsys: Capture, phase: str) -> None:
    assert run("request-changes", "More.", "--from", phase) == ExitCode.OK
    assert run("request-changes", "Again.") == ExitCode.BLOCKED
    capsys.readouterr()
    asked = [each.fact for each in session.events if isinstance(each.fact, ChangesRequested)]
    assert [fact.phase for fact in asked] == [phase, ""]


# -- nested repositories -------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--yes",), ("--json",)])
def test_a_nested_repository_is_not_left_out_in_silence(
    project: Path, session: OnDisk, capsys: Capture, words: tuple[str, ...]
) -> None:
    nested(project)
    assert run("approve", *words) == ExitCode.BLOCKED
    said = capsys.readouterr().err
    assert "`app/` is a git repository of its own" in said
    assert f"agentmux approve {NAME} --leave-nested" in said
    assert "approve" not in session.kinds
    assert run("approve", *words, "--leave-nested") == ExitCode.OK
    assert "approve" in session.kinds


def test_in_a_terminal_a_nested_repository_is_named_before_the_question(
    project: Path, session: OnDisk
) -> None:
    nested(project)
    code, said, _ = in_terminal("approve", typed="n\n")
    assert code == ExitCode.INTERRUPTED
    assert "`app/` is a git repository of its own: the commit leaves it out" in said
    assert in_terminal("approve", typed="y\n")[0] == ExitCode.OK
    assert "approve" in session.kinds


def test_status_names_a_nested_repository_while_the_decision_is_open(
    project: Path, session: OnDisk, capsys: Capture
) -> None:
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["sessions"][0]["warnings"] == []
    nested(project)
    run("status", "--json")
    (seen,) = json.loads(capsys.readouterr().out)["sessions"]
    assert len(seen["warnings"]) == 1
    assert "app/" in seen["warnings"][0]
    run("status")
    assert f"warning       {seen['warnings'][0]}" in capsys.readouterr().out
    run("approve", "--leave-nested")
    capsys.readouterr()
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["sessions"][0]["warnings"] == []


def test_a_nested_repository_of_the_user_is_none_of_our_business(
    project: Path, capsys: Capture
) -> None:
    nested(project, "mine")
    deciding(project, dirty=("mine/",))
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["sessions"][0]["warnings"] == []
    assert run("approve") == ExitCode.OK


def test_a_session_that_makes_no_commit_leaves_nothing_out(project: Path, capsys: Capture) -> None:
    nested(project)
    deciding(project, commit=False)
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["sessions"][0]["warnings"] == []
    assert run("approve") == ExitCode.OK


# -- another HEAD --------------------------------------------------------------------------------


def commit_mine(project: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "mine")


def switch(project: Path) -> None:
    git(project, "checkout", "-q", "-b", "elsewhere")


def merge(project: Path) -> None:
    (project / ".git" / "MERGE_HEAD").write_text(git(project, "rev-parse", "HEAD"))


@pytest.mark.parametrize(
    ("move", "says"),
    [
        (commit_mine, ("HEAD moved", "git log --oneline")),
        (switch, ("HEAD moved", "git switch --no-recurse-submodules --no-overwrite-ignore main")),
        (merge, ("a merge is in progress", "git merge --continue")),
    ],
)
@pytest.mark.parametrize("words", [("--yes",), ("--json",)])
def test_an_approval_whose_commit_cannot_be_made_is_refused_with_the_way_back(
    project: Path,
    session: OnDisk,
    capsys: Capture,
    move: Callable[[Path], None],
    says: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    move(project)
    assert run("approve", *words) == ExitCode.BLOCKED
    told = capsys.readouterr()
    assert [part for part in says if part not in told.err] == []
    assert "accepted" not in told.out
    assert "approve" not in session.kinds


def test_a_session_that_makes_no_commit_is_approved_wherever_head_is(project: Path) -> None:
    session = deciding(project, commit=False)
    switch(project)
    assert run("approve") == ExitCode.OK
    assert "approve" in session.kinds


def test_an_approval_says_that_its_commit_waits_for_the_index(
    project: Path, session: OnDisk, capsys: Capture
) -> None:
    lock = project / ".git" / "index.lock"
    lock.touch()
    assert run("approve") == ExitCode.OK
    assert f"{lock} exists" in capsys.readouterr().err
