"""The workflows run the README's commands on the same systems as `./dev test-fresh`."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
JOBS = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]


def _commands(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_a_newcomers_commands_are_those_of_the_readme() -> None:
    shown = re.findall(r"^(\./dev \w+) +#", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert shown[:2] == ["./dev demo", "./dev test"]
    assert _commands("newcomer")[1:] == shown[:2]


def test_the_systems_are_those_of_test_fresh() -> None:
    (known,) = re.findall(r"suites:-([a-z ]+)\}", (ROOT / "tests/fresh/run.sh").read_text())
    assert JOBS["newcomer"]["strategy"]["matrix"]["suite"] == known.split()


def test_the_gates_are_those_of_ci() -> None:
    assert _commands("gates")[1:] == ["bash .ci/run"]


def test_the_gates_have_the_history_from_which_an_older_version_is_taken() -> None:
    (checkout,) = [step for step in JOBS["gates"]["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["with"]["fetch-depth"] == 0
