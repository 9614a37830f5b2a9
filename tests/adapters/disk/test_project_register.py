"""The register of projects: one line each, also if several processes write it."""

import os
from pathlib import Path

from agentmux.adapters.disk.project_register import known_projects, remember


def test_a_project_is_known_once_and_only_while_it_exists(tmp_path: Path) -> None:
    register, one, two = tmp_path / "state" / "projects", tmp_path / "one", tmp_path / "two"
    assert known_projects(register) == ()
    for each in (one, two):
        each.mkdir()
    for each in (one, two, one):
        remember(register, each)
    assert known_projects(register) == (one, two)
    assert register.read_text().count("\n") == 2
    assert register.stat().st_mode & 0o777 == 0o600
    one.rmdir()
    assert known_projects(register) == (two,)


def test_a_line_that_was_cut_off_does_not_take_the_next_one_with_it(tmp_path: Path) -> None:
    register, project = tmp_path / "projects", tmp_path / "project"
    project.mkdir()
    register.write_text("/half of a pa")
    remember(register, project)
    assert known_projects(register) == (project,)


def test_strange_paths_and_files_are_harmless(tmp_path: Path) -> None:
    register = tmp_path / "projects"
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff odd"))
    odd.mkdir()
    remember(register, odd)
    remember(register, tmp_path / "a\nb")
    assert known_projects(register) == (odd,)
    register.unlink()
    register.mkdir()
    remember(register, odd)
    assert known_projects(register) == ()
