"""Files of any name have the ids that git gives them."""

import os
from pathlib import Path

from agentmux.adapters.git.lost_work.file_hashes import file_hashes
from agentmux.adapters.git.program import GitProgram
from tests.app.driver import git, make_project

NAMES = ("plain.txt", "sp ace.txt", "näme.txt", '"quoted".txt', "two\nlines.txt", "-dash.txt")


def test_a_file_of_any_name_has_its_id(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    for number, name in enumerate(NAMES):
        (project / name).write_text(f"{number}\n")
    git(project, "add", "-A")
    found = file_hashes(GitProgram(project, dict(os.environ)), NAMES)
    assert set(found) == set(NAMES)
    for name in NAMES:
        assert found[name] == git(project, "rev-parse", f":{name}").strip()


def test_nothing_is_asked_about_no_file(tmp_path: Path) -> None:
    assert file_hashes(GitProgram(tmp_path / "missing", dict(os.environ)), ()) == {}
