"""A repository that is named by a URL is cloned once on a host, whoever needs it first."""

import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentmux.core.fleet.repositories import clone_name
from agentmux.fleet.repository import fetched_base, project_at
from tests.e2e.conftest import Project
from tests.e2e.conftest import project as project  # noqa: PLC0414 (the fixture, for this file)

URL = "https://git.invalid/team/calc.git"


@pytest.fixture
def environ(project: Project) -> Mapping[str, str]:
    """An environment in which git takes `URL` from the project."""
    with (project.home / ".gitconfig").open("a") as file:
        file.write(f'[url "{project.path}"]\n\tinsteadOf = {URL}\n')
    return project.env


def test_features_that_begin_at_the_same_time_share_one_clone(
    project: Project, environ: Mapping[str, str], tmp_path: Path
) -> None:
    def begin(_: int) -> tuple[Path, str]:
        made = project_at(URL, tmp_path / "clones", environ)
        return made, fetched_base(made, URL, "", environ)

    with ThreadPoolExecutor(8) as pool:
        found = {*pool.map(begin, range(8))}
    ((folder, base),) = found
    assert base == "origin/main"
    assert project.git_at(folder, "log", "--format=%s", base) == "Begin\n"
    assert [each.name for each in (tmp_path / "clones").glob("[!.]*")] == [folder.name]


def test_what_a_killed_worker_has_left_is_in_nobodys_way(
    project: Project, environ: Mapping[str, str], tmp_path: Path
) -> None:
    left = tmp_path / f".making-{clone_name(URL)}-x"
    left.mkdir()
    (left / "half").touch()
    made = project_at(URL, tmp_path, environ)
    assert project.git_at(made, "status", "--porcelain") == ""
    assert not left.exists()
    subprocess.run(["git", "-C", made, "fsck", "--strict"], check=True, capture_output=True)
