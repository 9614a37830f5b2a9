"""What tools beside the program read: lock, requirements, marks of generated files, owners."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from docs import generate

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
GENERATED = [
    *(f"docs/reference/{each}" for each in generate.PAGES),
    *(f"agentmux/shell/{each}" for each in generate.FILES),
    "docs/pictures/list.svg",
    "uv.lock",
]


def requirements() -> Iterator[str]:
    """Yield each requirement of the project, of its extras and of its groups."""
    yield from PROJECT["project"]["dependencies"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        yield from extra
    for group in PROJECT["dependency-groups"].values():
        yield from (each for each in group if isinstance(each, str))


@pytest.mark.parametrize("line", sorted(set(requirements())))
def test_a_requirement_has_a_lower_bound_and_excludes_the_next_major_version(line: str) -> None:
    if line == "pip>=23":  # its versions are years
        return
    bounds = re.fullmatch(r"[\w\[\]-]+>=([\d.]+),<(\d+)(\.\d+)?", line.partition(";")[0])
    assert bounds, line
    _, major, minor = bounds.groups()
    assert (major == "0") is (minor is not None)  # below 1.0, a minor version may be excluded


def test_the_lock_names_the_files_of_pypi_alone() -> None:
    """A lock made behind a mirror or a proxy would name that."""
    text = (ROOT / "uv.lock").read_text("utf-8")
    hosts = set(re.findall(r"\b[a-z+]+://[^/\"]+", text))
    assert hosts == {"https://pypi.org", "https://files.pythonhosted.org"}
    sources = {name for each in LOCK["package"] for name in each["source"]}
    assert sources == {"editable", "registry"}


def test_uv_and_dev_install_the_same_tools() -> None:
    (ours,) = [each for each in LOCK["package"] if "editable" in each["source"]]
    assert ours["name"] == PROJECT["project"]["name"]
    assert ours["dev-dependencies"].keys() == PROJECT["dependency-groups"].keys()
    assert " dev browser;" in (ROOT / "dev").read_text("utf-8")


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_file_is_marked(path: str) -> None:
    assert (ROOT / path).exists()
    marks = subprocess.run(
        ["git", "check-attr", "linguist-generated", path],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert marks.stdout == f"{path}: linguist-generated: set\n"


def test_each_place_that_has_an_owner_is_there() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text("utf-8").splitlines()
    rules = [line.split() for line in lines if line and not line.startswith("#")]
    assert rules[0][0] == "*"
    assert [rule[0] for rule in rules[1:] if not (ROOT / rule[0].lstrip("/")).exists()] == []
    assert all(owner.startswith("@") for rule in rules for owner in rule[1:])


def test_what_is_pinned_is_moved_on() -> None:
    """Actions are pinned by hash, and packages by uv.lock: without this, nothing renews them."""
    content = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text("utf-8"))
    assert {each["package-ecosystem"] for each in content["updates"]} == {"github-actions", "uv"}


@pytest.mark.parametrize("form", ["bug-report", "feature-request"])
def test_a_form_of_the_forge_has_what_the_forge_wants(form: str) -> None:
    content = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{form}.yml").read_text("utf-8"))
    assert content["name"]
    assert content["description"]
    asked = [each for each in content["body"] if each["type"] != "markdown"]
    assert len({each["id"] for each in asked}) == len(asked)
    assert all(each["attributes"]["label"] for each in asked)
