"""Nothing tells a user to install another project's package, or one that is not published yet.

``agentmux`` on PyPI is a configuration manager of somebody else. Ours is `DISTRIBUTION`. It is not
published yet: who registers the name first could put a program on each machine on which somebody
follows a page that uses it. So every page and message installs from a clone or a wheel.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agentmux.core.names.version import DISTRIBUTION, VERSION

ROOT = Path(__file__).parents[2]
PLACES = (
    "*.md",
    "dev",
    "mkdocs.yml",
    "pyproject.toml",
    ".ci/*",
    ".github/**/*",
    ".agentmux.example/**/*",
)
TREES = ("agentmux", "benchmarks", "docs", "tests")
SUFFIXES = {".fish", ".html", ".js", ".md", ".py", ".sh", ".svg", ".toml", ".yaml", ".yml", ""}

WORDS = r"(?:[^\S\n]+[\w./='\"~@:$*{}\[\]<>-]+)*?"
COMMAND = r"(?:\binstall|\buvx|\b(?:pipx|uv tool) run|\b(?:uv|poetry|pdm|rye) add)"
BY_NAME = re.compile(
    rf"(?<!-){COMMAND}\b{WORDS}[^\S\n]+['\"]?agentmux(?:-cli)?(?=[\[=<>~!'\"`\s,;)]|$)"
    r"|\bagentmux(?:[-_]cli)?\[[a-z]",
    re.MULTILINE,
)


def texts() -> Iterator[tuple[Path, str]]:
    """Yield each text of the project but for this rule, and that of the past, with its path."""
    found = [path for place in PLACES for path in ROOT.glob(place)]
    found += [path for tree in TREES for path in (ROOT / tree).rglob("*")]
    for path in found:
        is_text = path.suffix in SUFFIXES or re.fullmatch(r"\.\d", path.suffix)
        if path.is_file() and is_text and ROOT / "tests/house" not in path.parents:
            yield path, path.read_text("utf-8", errors="replace")


@pytest.mark.parametrize(
    "line",
    [
        "pip install agentmux",
        "python3 -m pip install --upgrade agentmux",
        "`pipx install 'agentmux[fleet]'`",
        'uv tool install --python 3.12 "agentmux>=1"',
        "$ uv tool install agentmux==0.2.0  # then",
        "pip install agentmux-cli",
        "uvx agentmux demo",
        "pipx run agentmux",
        "uv add agentmux",
        "the extra `agentmux[notify]`",
        "install agentmux, then go on",
    ],
)
def test_it_is_refused(line: str) -> None:
    assert BY_NAME.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "uv tool install .",
        "pipx install --force '.[notify]'",
        "~/agentmux/bin/pip install --upgrade .",
        "python3 -m venv ~/agentmux && ~/agentmux/bin/pip install .",
        "uv tool uninstall agentmux-cli",
        "pip uninstall agentmux",
        "uv tool install ./agentmux_cli-0.2.0-py3-none-any.whl",
        "agentmux completion bash --install     # or zsh",
        "Install AgentMux",
        "uv tool install git+https://example.org/agentmux",
    ],
)
def test_it_is_allowed(line: str) -> None:
    assert not BY_NAME.search(line)


def test_nothing_is_installed_by_name() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0].strip()}"
        for path, text in texts()
        for match in BY_NAME.finditer(text)
    ]
    assert found == []


def test_all_that_names_the_distribution_names_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION == "agentmux-cli"
    assert {"agentmux", "agentmux-demo-agent"} == project["scripts"].keys()
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    url = release["jobs"]["publish"]["environment"]["url"]
    assert url == f"https://pypi.org/p/{DISTRIBUTION}"


def test_a_built_file_is_named_as_the_build_names_it() -> None:
    """An installer writes ``_`` where a name has ``-``."""
    stem = DISTRIBUTION.replace("-", "_")
    named = {
        (str(path.relative_to(ROOT)), match[0])
        for path, text in texts()
        for match in re.finditer(r"\bagentmux[\w-]*-(?=[\d.]+-py3|\$1\.tar|\*\.whl)", text)
    }
    assert {name for _, name in named} == {f"{stem}-"}, named
    assert f"{stem}-{VERSION.split('.dev', maxsplit=1)[0]}-py3" in (
        ROOT / "docs/how-to/install.md"
    ).read_text("utf-8")
