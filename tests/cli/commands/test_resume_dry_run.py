"""A dry run of many sessions: what it asks other programs."""

import os
import shlex
import shutil
from pathlib import Path

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.journal.state import Options
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk


def test_git_is_asked_once_what_is_checked_out_however_many_sessions_there_are(
    tmp_path: Path,
    isolated: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = make_project(tmp_path / "p")
    head = git(project, "rev-parse", "HEAD").strip()
    for number in range(3):
        options = Options(commit=True, base=head)
        path = sessions_dir(project) / f"2026010{number + 1}-101500-x"
        OnDisk(path, Phase.ARCHITECTING, branch="gone", options=options).commit()
    calls, programs = tmp_path / "calls", tmp_path / "programs"
    programs.mkdir()
    real = shutil.which("git") or "git"
    (programs / "git").write_text(
        f'#!/bin/sh\necho "$@" >> {calls}\nexec {shlex.quote(real)} "$@"\n'
    )
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.chdir(project)
    assert main(("resume", "--dry-run", "--all"), os.environ) == ExitCode.MISSING  # no tmux here
    assert capsys.readouterr().out.count("but the session began on branch gone") == 3
    asked = [line for line in calls.read_text().splitlines() if "HEAD^{commit}" in line]
    assert len(asked) == 1
