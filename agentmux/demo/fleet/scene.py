"""Creates the scene of the fleet demo: a shared repository, a backlog, and homes for all.

There is a home for each of the two hosts, and one for the demo's user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.demo import calculator as calc
from agentmux.demo.home import SOCKET_NAME, DemoHome, Scene, git, make_home, put
from agentmux.demo.project import first_commit

HOSTS: Final = ("one", "two")
"""The names of the demo's hosts."""
CHANGED: Final = "median"
"""The key of the feature for which the demo's user requests changes."""
CHANGE: Final = "of an even number of values, return the mean of the two in the middle"
"""The changes that the demo's user requests."""
URL: Final = "https://git.example/calc.git"
"""The URL of the shared repository. Git is configured to use `repository` in its place."""

_CODE: Final[Mapping[str, tuple[str, str]]] = {
    CHANGED: (calc.MEDIAN, calc.TEST_MEDIAN),
    "mean": (calc.MEAN, calc.TEST_MEAN),
    "mode": (calc.MODE, calc.TEST_MODE),
    "spread": (calc.SPREAD, calc.TEST_SPREAD),
    "squares": (calc.SQUARES, calc.TEST_SQUARES),
    "clamp": (calc.CLAMP, calc.TEST_CLAMP),
}
FEATURES: Final[Mapping[str, str]] = {key: f"Add {key}" for key in _CODE}
"""The text of each feature, by its key."""
_THINK_S: Final = 2.0
"""How many seconds each coder works: long enough to be seen at work even on a busy machine."""


def make_scene(root: Path, environ: Mapping[str, str], argv0: Path) -> Scene:
    """Create the shared repository, the homes, and the user's clone with the backlog; return them.

    Args:
        root: The demo's folder: empty, as an absolute path without symbolic links.
        environ: The user's environment variables; each home gets an adapted copy.
        argv0: The path of this program. If the offline agent's program is in the same folder, that
            folder is added to ``PATH``.

    Raises:
        MissingError: git is missing or fails, or ``root`` is too long for a tmux socket.
    """
    homes = tuple(_home(root, name, environ, argv0) for name in ("me", *HOSTS))
    for key in FEATURES:
        put(_scenario_file(root, key), json.dumps(scenario(key), indent=1) + "\n")
    first, mine = root / "first", homes[0].environment
    for name, text in calc.BEGINNING.items():
        put(first / name, text)
    first_commit(first, mine)
    git(root, mine, "clone", "-q", "--bare", str(first), str(repository(root)))
    git(root, mine, "clone", "-q", URL, str(root / "calc"))
    put(root / "calc" / "backlog.yaml", backlog())
    put(url_file(root), f"sqlite:///{database(root)}\n")
    url_file(root).chmod(0o600)
    database(root).parent.mkdir()
    look = "agentmux fleet list; git log --oneline --all"
    return Scene(root=root, project=root / "calc", homes=homes, look=look)


def repository(root: Path) -> Path:
    """Return the path in the demo's folder ``root`` of the repository that the hosts share."""
    return root / "calc.git"


def database(root: Path) -> Path:
    """Return the path in the demo's folder ``root`` of the fleet's SQLite database.

    Its folder contains only files of the database.
    """
    return root / "fleet" / "fleet.sqlite"


def url_file(root: Path) -> Path:
    """Return the path in the demo's folder ``root`` of the file with the database's URL."""
    return root / "database-url"


def backlog() -> str:
    """Return the text of the demo's backlog file, which is YAML; nothing is written."""
    lines = []
    for key, feature in FEATURES.items():
        first = ", priority: 1" if key == CHANGED else ""
        words = f"key: {key}, feature: {feature}, agent: {key}, pipeline: quick, then: push{first}"
        lines.append(f"- {{{words}}}\n")
    return "".join(lines)


def scenario(key: str) -> dict[str, object]:
    """Return the scenario of a feature's agents, in the format of docs/reference/demo-agent.md.

    It is a mapping with the keys ``default`` and ``roles``; nothing is written.

    Args:
        key: The feature's key, one of `FEATURES`.
    """
    coder: dict[str, object] = {"think": _THINK_S, "files": calc.files_of(key, *_CODE[key])}
    if key == CHANGED:
        mended = calc.files_of(key, calc.MEDIAN_MENDED, calc.TEST_MEDIAN_MENDED)
        coder["attempts"] = [{"when": {"cycle": 2}, "files": mended}]
    reviewer = {"commit_message": FEATURES[key]}
    return {
        "default": {"think": 0.1},
        "roles": {"coder": coder, "reviewer_logic": reviewer},
    }


def _scenario_file(root: Path, key: str) -> Path:
    return root / "scenarios" / f"{key}.json"


def _home(root: Path, name: str, environ: Mapping[str, str], argv0: Path) -> DemoHome:
    """Create a home with a user configuration that names one agent for each feature."""
    folder = root / name
    folder.mkdir(mode=0o700)
    home = make_home(folder, environ, argv0)
    agents = {
        key: {"like": "demo", "args": ["--scenario", str(_scenario_file(root, key))]}
        for key in FEATURES
    }
    settings = {
        "version": 1,
        "agents": agents,
        "tmux": {"socket_name": SOCKET_NAME},
        "fleet": {"repos": [URL]},
    }
    # JSON is YAML.
    put(folder / "config" / "agentmux" / "config.yaml", json.dumps(settings, indent=1) + "\n")
    instead = f'[url "{repository(root)}"]\n\tinsteadOf = {URL}\n'
    put(folder / "home" / ".gitconfig", instead)
    return home
