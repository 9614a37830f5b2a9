"""The demo's homes: home directories that share no folder and no tmux server with the user."""

from __future__ import annotations

import os
import shlex
import site
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes.child import Child
from agentmux.adapters.tmux.server import SOCKET_PATH_MAX, socket_path
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import MissingError

TRACE: Final = "demo_trace.jsonl"
"""The path of the agents' trace file, relative to the session's directory."""

SOCKET_NAME: Final = "demo"
"""The name of the tmux socket in each home."""
MARK: Final = "AGENTMUX_DEMO_HOME"
"""The environment variable by which the demo finds its processes.

Each home has its own value, which is also the folder of the offline agent's conversations.
"""
_LIMIT_S: Final = 60.0
_FOLDERS: Final = ("home", "config", "state", "data", "cache", "tmux", "tmp")

# Variables of a session in whose pane the demo may have been started; they are removed.
_PANE: Final = (
    *("SESSION_DIR", "SESSION_ID", "LAUNCH_ID", "ROLE", "SEAT", "CYCLE", "ITERATION", "SUBPLAN"),
    *("TOPIC", "LEARN"),
)
_FOREIGN: Final = frozenset({"TMUX", "TMUX_PANE", *(f"AGENTMUX_{name}" for name in _PANE)})
_FOREIGN_PREFIXES: Final = ("AGENTMUX_DEMO_", "GIT_", "XDG_")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoHome:
    """A home directory for the demo; it shares no folder and no tmux server with the user.

    Attributes:
        folder: The folder that contains everything of this home.
        environment: The environment variables of every command in this home.
        socket: The socket path of the home's own tmux server.
    """

    folder: Path
    environment: Mapping[str, str]
    socket: str

    @property
    def mark(self) -> str:
        """The environment entry ``NAME=value`` by which processes of this home are recognized."""
        return f"{MARK}={self.environment[MARK]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The files and folders that a demo runs with.

    Attributes:
        root: The temporary folder that contains everything of the demo.
        project: The git repository in which the demo's user works.
        homes: The demo's homes; the first one belongs to the demo's user.
        look: Shell commands, to be shown to the real user, that inspect a demo that was kept.
    """

    root: Path
    project: Path
    homes: tuple[DemoHome, ...]
    look: str

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of commands that the demo's user runs."""
        return self.homes[0].environment


def make_home(folder: Path, environ: Mapping[str, str], argv0: Path) -> DemoHome:
    """Create the folders of a home in ``folder``, and return the home; no program is started.

    Args:
        folder: An existing folder, as an absolute path without symbolic links.
        environ: The user's environment variables; the home gets a copy that names its own folders.
        argv0: The path of this program. If the offline agent's program is in the same folder, that
            folder is added to ``PATH``.

    Raises:
        MissingError: ``folder`` is too long for a tmux socket.
    """
    private = {name: folder / name for name in _FOLDERS}
    for each in private.values():
        each.mkdir(mode=0o700)
    socket = socket_path(name=SOCKET_NAME, tmux_tmpdir=str(private["tmux"]))
    if len(os.fsencode(socket)) > SOCKET_PATH_MAX:
        raise MissingError(
            f"the path `{folder}` is too long for the socket of a tmux server",
            hints=("TMPDIR=/tmp agentmux demo",),
        )
    environment = _environment(folder, private, environ, argv0)
    return DemoHome(folder=folder, environment=environment, socket=socket)


def _environment(
    folder: Path, private: Mapping[str, Path], environ: Mapping[str, str], argv0: Path
) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES)
    }
    path = [str(argv0.parent)] if (argv0.parent / "agentmux-demo-agent").is_file() else []
    return {
        **kept,
        "PATH": os.pathsep.join([*path, environ.get("PATH", os.defpath)]),
        # With these two, the user's tmux.conf and git configuration are not read …
        "HOME": str(private["home"]),
        "GIT_CONFIG_NOSYSTEM": "1",
        # … but a package that is installed for this user is still found.
        "PYTHONUSERBASE": environ.get("PYTHONUSERBASE") or site.getuserbase(),
        "XDG_CONFIG_HOME": str(private["config"]),
        "XDG_STATE_HOME": str(private["state"]),
        "XDG_DATA_HOME": str(private["data"]),
        "XDG_CACHE_HOME": str(private["cache"]),
        "TMUX_TMPDIR": str(private["tmux"]),
        # So temporary files that a killed process leaves are deleted with the demo.
        "TMPDIR": str(private["tmp"]),
        MARK: str(folder / "data" / "demo-agent"),
        "AGENTMUX_DEMO_TRACE": TRACE,
        "GIT_AUTHOR_NAME": "AgentMux demo",
        "GIT_AUTHOR_EMAIL": "demo@localhost",
        "GIT_COMMITTER_NAME": "AgentMux demo",
        "GIT_COMMITTER_EMAIL": "demo@localhost",
    }


def git(project: Path, environment: Mapping[str, str], *words: str) -> str:
    """Run a git command in the project, and return its stdout.

    Args:
        project: The project's folder.
        environment: The environment variables of the command.
        words: The arguments after ``git``.

    Raises:
        MissingError: git is not installed, or the command failed.
    """
    try:
        done = Child(argv=["git", *words], cwd=project, env=environment, limit_s=_LIMIT_S).run()
    except FileNotFoundError:
        raise MissingError(
            "git is not installed", hints=("install git, then run this again",)
        ) from None
    if done.status:
        errors = done.err.decode("utf-8", "replace").strip()
        raise MissingError(f"git {words[0]} failed: {errors}")
    return done.out.decode("utf-8", "replace")


def run_tests(scene: Scene) -> tuple[bool, str]:
    """Run the tests of the scene's project, and wait for their end.

    Returns:
        Whether the tests pass; and how many ran, such as ``Ran 4 tests``, or the error output if
        that is unknown.
    """
    done = Child(
        argv=[sys.executable, "-B", "-m", "unittest", "-q"],
        cwd=scene.project,
        env=scene.environment,
        limit_s=_LIMIT_S,
    ).run()
    output = done.err.decode("utf-8", "replace")
    counted = [line for line in output.splitlines() if line.startswith("Ran ")]
    return done.status == 0, counted[0].partition(" in ")[0] if counted else output.strip()


def write_environment(scene: Scene) -> Path:
    """Write the shell script ``env.sh`` into the demo's folder, and return its path.

    It sets the environment of the demo's user and changes to the project's folder. The real user
    can source it to look at a demo that was kept.
    """
    names = ("HOME", "PYTHONUSERBASE", "TMUX_TMPDIR", "PATH")
    chosen = {
        name: value
        for name, value in scene.environment.items()
        if name in names or name.startswith(("XDG_", "AGENTMUX_", "GIT_"))
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(chosen.items())]
    lines.append(f"cd {shlex.quote(str(scene.project))}")
    script = scene.root / "env.sh"
    put(script, "\n".join(lines) + "\n")
    return script


def put(path: Path, text: str) -> None:
    """Write ``text`` to a file, in place of its content; create its folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
