"""What `remove` says of a session that worked in the user's own checkout."""

import os
import shlex
from pathlib import Path

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.journal.state import Commit, Options
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk

NAME = "20260101-101500-add-auth"


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = make_project(tmp_path / "p")
    (folder / "mine.txt").write_text("mine")
    monkeypatch.chdir(folder)
    return folder


def make(project: Path, phase: Phase) -> Path:
    values = {"options": Options(dirty=("mine.txt",)), "tmux_socket": "/no/s", "session_name": "x"}
    return OnDisk(sessions_dir(project) / NAME, phase, **values).path


@pytest.mark.parametrize("phase", [Phase.IMPLEMENTING, Phase.COMPLETING, Phase.FAILED])
def test_what_an_undecided_session_leaves_in_the_checkout_is_named(
    project: Path, phase: Phase, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(project, phase)
    (project / "README.md").write_text("changed")
    for number in range(6):
        (project / f"new_{number}.py").write_text("")
    assert main(("remove", "--yes"), os.environ) == 0
    said = capsys.readouterr().err
    assert not path.exists()
    assert (
        "it leaves 7 files that were changed since it began: README.md, new_0.py, new_1.py, "
        f"new_2.py, new_3.py, and 2 more, in {project}\n" in said
    )
    assert "mine.txt" not in said
    assert (project / "new_5.py").is_file()


@pytest.mark.parametrize(
    "case", ["done", "nothing changed", "no repository", "wrong configuration"]
)
def test_where_nothing_is_left_or_nobody_can_look_nothing_is_said(
    project: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(project, Phase.DONE if case == "done" else Phase.IMPLEMENTING)
    if case != "nothing changed":
        (project / "README.md").write_text("changed")
    if case == "no repository":
        (project / ".git").rename(project.parent / "away")
    if case == "wrong configuration":
        (project / ".agentmux/config.yaml").write_text("nonsense: [")
    assert main(("remove", "--yes"), os.environ) == 0
    assert "it leaves" not in capsys.readouterr().err


def test_a_commit_on_no_branch_is_kept_until_it_has_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused() -> str:
        assert main(("remove", "--yes"), os.environ) == ExitCode.BLOCKED
        return capsys.readouterr().err

    git(project, "switch", "-q", "--detach")
    (project / "a.py").write_text("")
    git(project, "add", "a.py")
    git(project, "commit", "-qm", "Add a")
    made = git(project, "rev-parse", "HEAD").strip()
    git(project, "update-ref", "refs/agentmux/x", made)  # as that of a session's checkpoints
    git(project, "switch", "-q", "main")
    session = OnDisk(
        sessions_dir(project) / NAME,
        Phase.DONE,
        options=Options(commit=True, base="a" * 40),
        commit=Commit(status="made", commit=made),
        feature_dir=NAME,
    )
    git(project, "branch", "-q", "agentmux/add-auth")  # the name is taken
    error, keep, force = refused().splitlines()
    assert error.endswith(f"nowhere else: 1 commit on no branch ({made[:7]} Add a)")
    assert force == f"hint: or lose all of it: agentmux remove --force {NAME}"
    git(project, *shlex.split(keep.removeprefix("hint: keep it on a branch: git ")))
    assert made in git(project, "rev-parse", "agentmux/add-auth-2")
    git(project, "branch", "-qD", "agentmux/add-auth-2")
    assert refused()
    git(project, "switch", "-q", "--detach", made)  # git itself names it at the next switch
    assert main(("remove", "--yes"), os.environ) == ExitCode.OK
    assert not session.path.exists()


def test_the_question_names_it_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make(project, Phase.IMPLEMENTING)
    (project / "a.py").write_text("")
    assert main(("remove",), os.environ) == 2  # nobody can be asked
    assert path.is_dir()
    git(project, "add", "a.py")
    assert main(("remove", "--yes"), os.environ) == 0
    assert "it leaves 1 file that was changed since it began: a.py, in" in capsys.readouterr().err
