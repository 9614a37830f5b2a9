"""Reads the process's environment and the clock, and finds the folders and programs of AgentMux.

No other module reads the environment or the clock.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git.work_tree import is_top, marker_of, work_tree
from agentmux.core.names import layout
from agentmux.errors import ConfigError, UsageError, data_error_from

PACKAGE: Final = Path(__file__).resolve().parent.parent
"""The folder of the package ``agentmux``."""


def environment() -> Mapping[str, str]:
    """Return a copy of the environment of this process."""
    return dict(os.environ)  # noqa: TID251 (the only place that may)


def tell_libraries(*, colours: bool) -> None:
    """Change variables of this process's environment that libraries read: colours and size.

    ``NO_COLOR`` is set, or unset if colours are allowed. ``COLUMNS`` and ``LINES`` are unset: a
    shell may export an outdated terminal size; without it, libraries ask the terminal.

    Args:
        colours: Whether libraries may use colours.
    """
    theirs = os.environ  # noqa: TID251 (libraries look there)
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        theirs.pop(name, None)
    if not colours:
        theirs["NO_COLOR"] = "1"


def locate(text: str, project: Path | None, here: Path | None = None) -> str:
    """Return a message with ``--project`` added to its commands, which then work anywhere.

    Args:
        text: The message.
        project: The project that the message is about; None if it is about no project.
        here: The project of the directory in which the reader types commands; None if unknown.

    Returns:
        The message; unchanged if ``project`` is None or is ``here``.
    """
    if project is None or project == here:
        return text
    from agentmux.core.names.words.located_commands import at_project

    return at_project(text, project, _command_names())


def locate_git(text: str, here: Path, environ: Mapping[str, str]) -> str:
    """Return a message with ``-C`` in its git commands if they are typed in another work tree.

    In a session's worktree, commands for the user's checkout would change the session's files.

    Args:
        text: The message, about the project that ``here`` belongs to.
        here: The directory in which the reader types commands.
        environ: As for `project_of`.

    Returns:
        The message; unchanged if ``here`` and its project are in the same work tree.

    Raises:
        UsageError: The directory ``here`` does not exist or cannot be entered.
    """
    project = project_of(here, environ)
    own, meant = work_tree(here.resolve()), work_tree(project)
    if own is None or meant is None or own.top == meant.top:
        return text
    from agentmux.core.names.words.located_commands import at_project

    return at_project(text, project, ())


def call_sessions(text: str, project: Path) -> str:
    """Return the message ``text`` with sessions of ``project`` called by their short names.

    Names in paths and in commands that cannot be undone, such as ``agentmux remove NAME``, stay as
    they are.

    Raises:
        FileNotFoundError: The project has no folder of sessions.
    """
    from agentmux.core.names.words import located_commands

    folder = project / layout.SESSIONS_DIR
    return located_commands.call_sessions(text, _short_names(folder, folder.stat().st_mtime_ns))


@functools.lru_cache(maxsize=2)
def _short_names(folder: Path, _changed_ns: int) -> Mapping[str, str]:
    from agentmux.adapters.disk.session import session_folders

    return layout.short_names(session_folders.names(folder))


@functools.cache
def _command_names() -> frozenset[str]:
    described = json.loads((PACKAGE / "shell" / "commands.json").read_bytes())
    return frozenset(each["name"] for each in described["commands"])


def project_of(folder: Path, environ: Mapping[str, str]) -> Path:
    """Return the directory of the project that ``folder`` belongs to, without symbolic links.

    Inside a session, or in the worktree of one, that is the session's project. Otherwise it is the
    first directory upwards that has ``.agentmux/`` or is the top level of a git work tree, else
    ``folder``. The result may be a directory that `holds_all`.

    Args:
        folder: A directory.
        environ: Says where the user's home directory is. That directory and ``/`` contain all
            other projects, so each is returned only if it is ``folder`` itself.

    Raises:
        UsageError: The directory does not exist or cannot be entered.
    """
    try:
        problem = None if folder.is_dir() else f"`{folder}` is not a directory"
    except OSError as error:
        problem = data_error_from(error).message
    if problem is not None:
        raise UsageError(problem, hints=("check the path after --project",))
    start = folder.resolve()
    upwards = (start, *start.parents)
    inside = f"/{layout.SESSIONS_DIR}/"
    if inside in f"{start}/":
        return Path(f"{start}/".partition(inside)[0] or "/")
    session = session_of_worktree(start)
    if session is not None:
        return session.parents[2]
    for each in upwards:
        if is_top(each) or os.path.isdir(each / layout.PROJECT_FOLDER):  # noqa: PTH112 (raises nothing)
            return start if holds_all(each, environ) else each
    return start


def no_project(folder: Path) -> ConfigError:
    """Return the error that ``folder`` is no project because it is ``/`` or the home directory.

    Nothing is checked or raised here; `holds_all` is the check.
    """
    what = "the root directory `/`" if folder == Path("/") else f"your home directory `{folder}`"
    return ConfigError(
        f"{what} is no project, because it contains all others",
        hints=(
            "go to your project: cd PROJECT",
            f"or, if you mean all of it: agentmux --project {shlex.quote(str(folder))} …",
        ),
    )


def holds_all(folder: Path, environ: Mapping[str, str]) -> bool:
    """Return whether ``folder`` holds all projects: whether it is ``/`` or the home directory.

    Such a directory is a project only if ``--project`` names it. ``folder`` is a path without
    symbolic links; ``environ`` says where the home directory is.
    """
    home = environ.get("HOME", "")
    return folder == Path("/") or (bool(home) and folder == Path(home).resolve())


def session_of_worktree(folder: Path) -> Path | None:
    """Return the directory of the session whose own worktree contains ``folder``, else None.

    ``folder`` is absolute. A worktree whose session was removed does not count.
    """
    for top in (folder, *folder.parents):
        if not (top / ".git").is_file():
            continue
        tree = work_tree(top)
        marker = marker_of(tree.git_dir) if tree is not None else None
        if marker is not None and marker.home.is_dir():
            return marker.home
    return None


def state_dir(environ: Mapping[str, str]) -> Path:
    """Return ``$XDG_STATE_HOME/agentmux``, the folder for what AgentMux keeps on this host.

    It has the locks of conversations, the record of trust, crash reports and more. Here and in the
    functions below, ``environ`` is the user's environment. A variable that is unset has the default
    of the XDG specification, and the folder or file need not exist.
    """
    return _xdg(environ, "XDG_STATE_HOME", ".local/state")


def project_register(environ: Mapping[str, str]) -> Path:
    """Return ``$XDG_STATE_HOME/agentmux/projects``, which lists the projects used on this host."""
    return state_dir(environ) / "projects"


def fleet_dir(environ: Mapping[str, str]) -> Path:
    """Return ``$XDG_STATE_HOME/agentmux/fleet``, the folder for this host's fleet files."""
    return state_dir(environ) / "fleet"


def fleet_url(environ: Mapping[str, str]) -> Path:
    """Return the path of the file with the URL of the fleet's database.

    The file exists if a fleet is set up on this host.
    """
    return fleet_dir(environ) / "url"


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Return ``$XDG_CACHE_HOME/agentmux``, the folder for cached probes of installed agents.

    A probe says what an installed program can do.
    """
    return _xdg(environ, "XDG_CACHE_HOME", ".cache")


def config_dir(environ: Mapping[str, str]) -> Path:
    """Return ``$XDG_CONFIG_HOME/agentmux``, the folder for the user's configuration."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def data_home(environ: Mapping[str, str]) -> Path:
    """Return ``$XDG_DATA_HOME``, the folder in which shells look for programs' completions."""
    return _xdg(environ, "XDG_DATA_HOME", ".local/share").parent


def _xdg(environ: Mapping[str, str], name: str, default: str) -> Path:
    value = environ.get(name, "")
    # The XDG specification says to ignore a relative path.
    base = Path(value) if value.startswith("/") else Path(environ.get("HOME", "/"), default)
    return base / "agentmux"


def now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


def program() -> tuple[str, ...]:
    """Return the words of a command line that runs ``agentmux`` from any directory.

    The caller appends the arguments of ``agentmux``. The command line runs Python with ``-P``,
    which keeps it from importing a project's own ``json.py`` instead of its library's.
    """
    return (sys.executable, "-P", "-m", "agentmux")


def scripts(package: Path = PACKAGE) -> Path:
    """Return the folder with the script ``agentmux``, which is put on the PATH of agents.

    If the script is not found, it is the folder of the running Python.

    Args:
        package: The folder of the package ``agentmux``; if it is installed, that is in
            ``lib/pythonX.Y/site-packages`` beside ``bin``.
    """
    beside = Path(sys.executable).parent
    # With `pip install --user`, Python is elsewhere, and an orchestrator is not called by a script.
    installed = Path(os.path.normpath(package / "../../../../bin"))
    for each in (beside, installed):
        if (each / "agentmux").is_file():
            return each
    called = Path(sys.argv[0]).absolute().parent
    return called if (called / "agentmux").is_file() else beside


def crash_report(trace: str, environ: Mapping[str, str]) -> Path:
    """Write the traceback ``trace`` of a bug into a private file, and return its path.

    The command line is not written, because it may contain private text. ``environ`` says where the
    folder for crash reports is.

    Raises:
        DataError: The file cannot be written.
    """
    path = state_dir(environ) / "crashes" / f"{now():%Y%m%dT%H%M%SZ}-{os.getpid()}.txt"
    head = f"python {sys.version.split()[0]} on {sys.platform}\n\n"
    files.make_dir(path.parent)
    files.replace(path, (head + trace).encode("utf-8", "backslashreplace"))
    return path
