"""A repository that is named by a URL is cloned once on a host, whoever needs it first."""

import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentmux.core.fleet.repositories import clone_name
from agentmux.fleet.host.repository import fetch_base, named_repository, project_at
from tests.e2e.conftest import Project
from tests.e2e.conftest import project as project  # noqa: PLC0414 (the fixture, for this file)
from tests.fleet.conftest import FleetHost

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
        return made, fetch_base(made, URL, "", environ)

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


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_bare_repository_is_cloned_and_a_checkout_is_worked_on_in_place(
    project: Project, tmp_path: Path, scheme: str
) -> None:
    bare, clones = project.root / "bare.git", tmp_path / "clones"
    project.git("clone", "-q", "--bare", str(project.path), str(bare))
    named = named_repository(f"{scheme}{bare}", project.path, project.env)
    assert named == f"{scheme}{bare}"
    made = project_at(named, clones, project.env)
    assert made.parent == clones
    assert fetch_base(made, named, "", project.env) == "origin/main"
    (project.path / ".agentmux").mkdir()  # what is around it does not count

    place = named_repository(".", project.path, project.env)
    assert place == str(project.path)
    assert project_at(place, clones, project.env) == project.path
    assert fetch_base(project.path, place, "", project.env) == ""


def test_a_person_names_a_repository_from_where_they_are(project: Project) -> None:
    (project.path / "src").mkdir()
    assert named_repository("src", project.path, project.env) == str(project.path)
    assert named_repository("../calc", project.path, project.env) == str(project.path)
    assert named_repository("./a:b", project.path, project.env) == f"{project.path}/a:b"
    for url in ("file:///srv/r.git", "box:r.git", "git@box:r.git", "https://box/r"):
        assert named_repository(url, project.path, project.env) == url


@pytest.mark.rare("CI builds in clones of ordinary repositories")
@pytest.mark.long
def test_a_feature_of_a_bare_repository_is_built_in_a_clone_and_merged_there(
    host: FleetHost,
) -> None:
    bare = host.project.root / "bare.git"
    host.project.git("clone", "-q", "--bare", str(host.project.path), str(bare))
    host.allow(str(bare))
    feature = host.submit("--repo", str(bare))
    host.worker()
    host.until(feature, "waiting")
    host.ok("approve", feature[:8], "--yes", "--push")
    done = host.until(feature, "done", "failed")
    assert done["status"] == "done", f"{done}\n{host.log()}"
    assert done["result"]["commit"] in host.project.git_at(bare, "log", "--all", "--format=%H")
