"""What `start` and `approve` say in repositories that are unlike most, from the command line."""

import os
import shutil

from tests.e2e.conftest import Project


def test_an_older_git_with_submodules_and_hooks_that_git_ignores(project: Project) -> None:
    stub = project.root / "older" / "git"
    stub.parent.mkdir()
    said = '[ "$1" = version ] && exec echo git version 2.37.1'
    stub.write_text(f'#!/bin/sh\n{said}\nexec {shutil.which("git")} "$@"\n')
    stub.chmod(0o755)
    older = {"PATH": f"{stub.parent}{os.pathsep}{project.env['PATH']}"}
    (project.path / ".gitmodules").write_text("")
    (project.path / ".gitignore").write_text("_/\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "Modules")
    project.git("config", "core.hooksPath", ".husky/_")
    (project.path / ".husky" / "_").mkdir(parents=True)

    words = ("start", "--agent", "demo", "--worktree", "add a greeting")
    refusal = project.fails(6, *words, env=older)
    assert "a repository with submodules needs git 2.38; this one is 2.37" in refusal
    assert "agentmux start --no-worktree" in refusal
    assert not (project.root / "calc-worktrees").exists()

    session = project.start("add a greeting", "--worktree").wait()
    approved = project.ok("approve", session.name, "--yes", "--keep")
    hooks = "no hooks will run: `core.hooksPath` is .husky/_, which the worktree does not have"
    assert hooks in approved
