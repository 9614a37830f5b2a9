"""The workflows run the README's commands and the gates, and may do no more than they need."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / ".github/workflows").iterdir())
WORKFLOWS = {each.stem: yaml.safe_load(each.read_text()) for each in FILES}
JOBS = WORKFLOWS["tests"]["jobs"]
EVERY_JOB = [
    pytest.param(job, id=f"{flow}-{name}")
    for flow, content in WORKFLOWS.items()
    for name, job in content["jobs"].items()
]
Job = dict[str, Any]


def _commands(job: Job) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def _matrix(job: Job, key: str) -> list[str]:
    found: list[str] = job["strategy"]["matrix"][key]
    return found


def test_a_newcomers_commands_are_those_of_the_readme() -> None:
    shown = re.findall(r"^(\./dev \w+) +#", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert shown[:2] == ["./dev demo", "./dev test"]
    assert _commands(JOBS["newcomer"])[1:] == shown[:2]


def test_the_systems_are_those_of_test_fresh() -> None:
    (known,) = re.findall(r"suites:-([a-z ]+)\}", (ROOT / "tests/fresh/run.sh").read_text())
    assert _matrix(JOBS["newcomer"], "suite") == known.split()


def test_the_gates_are_those_of_ci() -> None:
    assert _commands(JOBS["gates"])[-1] == "bash .ci/run"
    assert "bash .ci/run" in _commands(WORKFLOWS["release"]["jobs"]["build"])


def test_the_pythons_are_those_that_dev_looks_for() -> None:
    (known,) = re.findall(r"for name in ((?:python3\.\d+ )+)", (ROOT / "dev").read_text())
    versions = [each.removeprefix("python") for each in known.split()]
    assert _matrix(JOBS["gates"], "python") == versions[::-1]
    assert f'requires-python = ">={versions[-1]}"' in (ROOT / "pyproject.toml").read_text()
    assert {each.split("-")[0] for each in _matrix(JOBS["gates"], "os")} == {"ubuntu", "macos"}


def test_the_oldest_tmux_is_the_one_that_is_promised() -> None:
    oldest = _matrix(JOBS["tmux"], "tmux")[0]
    assert f"needs tmux {oldest} or newer" in (ROOT / "README.md").read_text()
    assert _commands(JOBS["tmux"])[-1] == "./dev test"


def test_what_needs_the_history_has_it() -> None:
    for job in (JOBS["gates"], WORKFLOWS["release"]["jobs"]["build"]):
        (checkout,) = [each for each in job["steps"] if "checkout" in each.get("uses", "")]
        assert checkout["with"]["fetch-depth"] == 0


def test_the_site_that_is_put_online_is_the_one_that_the_gate_builds() -> None:
    build = WORKFLOWS["docs"]["jobs"]["build"]
    assert _commands(build) == ["./dev docs"]
    assert f"site_dir: {build['steps'][-1]['with']['path']}\n" in (ROOT / "mkdocs.yml").read_text()


@pytest.mark.parametrize("job", EVERY_JOB)
def test_a_job_runs_commands_that_dev_has_and_ends_some_day(job: Job) -> None:
    has = subprocess.run(["sh", ROOT / "dev", "help"], check=True, capture_output=True, text=True)
    known = re.findall(r"^  ([a-z-]+)(?= |$)", has.stdout, re.MULTILINE)
    used = re.findall(r"\./dev ([a-z-]+)", "\n".join(_commands(job)))
    assert [each for each in used if each not in known] == []
    assert job["timeout-minutes"] <= 40


def test_what_is_published_is_what_was_built_and_tried() -> None:
    build, publish = WORKFLOWS["release"]["jobs"].values()
    assert _commands(build)[-1] == './dev dist "${GITHUB_REF_NAME#v}"'
    assert publish["needs"] == "build"
    assert _commands(publish) == []
    left, taken = build["steps"][-1]["with"], publish["steps"][0]["with"]
    assert {key: left[key] for key in taken} == taken == {"name": "dist", "path": "dist/"}


@pytest.mark.parametrize(
    ("owner", "urls", "may"),
    [
        ("@OWNER/maintainers", 'Source = "https://forge.example/a/b"', False),
        ("@people/maintainers", 'Homepage = "https://pypi.example"', False),
        ("@people/maintainers", 'Source = "https://forge.example/a/b"', True),
    ],
)
def test_nothing_is_published_before_the_forge_is_set_up(
    tmp_path: Path, owner: str, urls: str, may: bool
) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github/CODEOWNERS").write_text(f"* {owner}\n")
    (tmp_path / "pyproject.toml").write_text(f"[project.urls]\n{urls}\n")
    (guard,) = [each for each in _commands(WORKFLOWS["release"]["jobs"]["build"]) if "grep" in each]
    argv = ["bash", "-e", "-c", guard]
    assert (subprocess.run(argv, cwd=tmp_path, check=False).returncode == 0) is may


def test_only_the_two_jobs_that_give_something_away_may_say_who_they_are() -> None:
    for flow in WORKFLOWS.values():
        assert flow["permissions"] == {"contents": "read"}
    more = {
        name: job["permissions"]
        for flow in WORKFLOWS.values()
        for name, job in flow["jobs"].items()
        if "permissions" in job
    }
    assert more == {
        "deploy": {"pages": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
    }


def test_no_secret_is_used_and_every_action_is_pinned_with_its_version() -> None:
    text = "".join(each.read_text() for each in FILES)
    assert "secrets." not in text
    uses = re.findall(r"uses: (.*)", text)
    pinned = [re.fullmatch(r"([\w/-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in uses]
    assert all(pinned), uses
    assert len(set(uses)) == len({each[1] for each in pinned if each})


def test_the_linter_finds_what_is_wrong(tmp_path: Path) -> None:
    linter = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("./dev check installs zizmor")
    argv = [linter, "--offline", "--quiet"]
    assert (
        subprocess.run([*argv, ROOT / ".github"], check=False, capture_output=True).returncode == 0
    )
    text = (ROOT / ".github/workflows/docs.yml").read_text()
    wrong = tmp_path / "docs.yml"
    wrong.write_text(re.sub(r"checkout@\w+ # .*", "checkout@v7", text))
    found = subprocess.run([*argv, wrong], check=False, capture_output=True, text=True)
    assert found.returncode != 0
    assert "unpinned-uses" in found.stdout
