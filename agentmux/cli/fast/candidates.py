"""Candidates for shell completion: sessions, seats, phases, agents, pipelines and other values.

Completion must be quick, so sessions are listed by the names of their folders, and configuration
files are scanned line by line, not parsed. No content of a file makes a function here raise.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agentmux.cli.fast.commands import COMMAND, FILE, FOLDER
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.core.names.agent_names import is_for_tests
from agentmux.core.names.phase import ROLES, Phase
from agentmux.errors import AgentmuxError
from agentmux.wiring.machine import PACKAGE, config_dir, project_of

Candidate = tuple[str, str]
"""A word that can be completed, and its description, which may be empty."""

_STATE_MAX: Final = 8 << 20
_TEXT_MAX: Final = 1 << 20
_LOOKED_INTO: Final = 10
"""How many of the newest sessions are read if the command line names no session."""

_GOING: Final = frozenset(
    {
        *("answer", "approve", "attach", "request-changes", "restart"),
        *("export", "resume", "rewind", "stop", "tell", "unpark"),
    }
)
"""The commands that do not accept a session that is done."""

_DONE: Final = re.compile(r'"phase": ?"done"|"moved": ?\{')
"""Matches the state of a session that is done or was moved; decoding the JSON would be too slow."""

_ASKED: Final = 100
"""How many of the newest sessions are checked for being done; checking 1000 takes too long."""

_KEY: Final = re.compile(r"( *)([A-Za-z0-9_][\w.-]*):(?:\s|$)")
_AGENTS_FILE: Final = "agents.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionContext:
    """The command line whose last word is to be completed, and where it is typed.

    Attributes:
        environ: Environment of this process.
        project: Value of ``--project``, else the current directory.
        config: Value of ``--config``; empty without this option.
        session: The session that the command line names; empty if it names none.
        word: The word to be completed, as far as it is typed.
        command: The command that the command line names; empty if it names none.
    """

    environ: Mapping[str, str]
    project: str
    config: str
    session: str
    word: str
    command: str = ""

    def project_dir(self) -> Path:
        """Return the directory of the project that ``project`` belongs to, without symbolic links.

        In no project, it is the directory ``project`` itself.

        Raises:
            UsageError: The directory does not exist or cannot be entered.
        """
        return project_of(Path(self.project), self.environ)

    def sessions_dir(self) -> Path:
        """Return the folder of the project's sessions."""
        return self.project_dir() / layout.SESSIONS_DIR


def sessions(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the sessions that the word may mean, newest first.

    A candidate is a pair: the session, and the time when it began; the time is empty if it is not
    known. A session is given by its slug, i.e. its name without the time stamp, or by its whole
    name if the typed word begins with a digit or the slug is not unique. If the command does not
    accept finished sessions, they are left out; only the newest hundred are looked at for that.
    """
    names = _newest(place)
    slugs = [layout.slug_of(name) for name in names]
    latest = dict(zip(reversed(slugs), reversed(names), strict=True))
    first = dict(zip(slugs, names, strict=True))
    whole, going = place.word[:1].isdigit(), place.command in _GOING
    folder = place.sessions_dir() if going and names else Path()
    for number, (name, slug) in enumerate(zip(names, slugs, strict=True)):
        # A slug that several sessions have does not identify any of them.
        typed = name if whole or latest[slug] != first[slug] else slug
        asked = going and number < _ASKED
        if typed.startswith(place.word) and not (asked and _is_done(folder / name)):
            yield typed, _began(name) if slug != name else ""


def _is_done(session: Path) -> bool:
    return bool(_DONE.search(_text(session / layout.STATE, _STATE_MAX)))


def seats(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the seats of the named session; if none is named, those of the ten newest sessions.

    A candidate is a pair: the seat, such as ``coder-2``, and a description, which is empty.
    """
    yield from _of_states(place, lambda state: _keys(state.get("seats")))


def phases(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the phases of the named session; if none is named, those of the pipeline `feature`.

    A candidate is a pair: the phase, and a description, which is empty.
    """
    of_session = tuple(_of_states(place, _phases)) if place.session else ()
    ends = {str(Phase.DONE), str(Phase.FAILED)}
    yield from of_session or ((each, "") for each in Phase if each not in ends)


def rewind_points(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the phases, then the numbers of the named session's work-tree checkpoints.

    A candidate is a pair: the phase or number, and a description, which is empty.
    """
    yield from phases(place)
    if place.session:
        yield from _of_states(place, _checkpoints)


def beginnings(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the phases in which the named session's next cycle can begin, with descriptions.

    A candidate is a pair: the phase and its description.

    Fix phases come first, then the phases after which the fewest others run. If no session is
    named, these are the phases of the newest session that waits for a decision.
    """
    # These imports are slow, but have the only rule about which phases the command accepts.
    from agentmux.core.fold.acceptance import takes_decision
    from agentmux.core.journal.state import decode
    from agentmux.core.pipeline.beginnings import beginning_choices

    for name in _match_sessions(place):
        try:
            state = decode(_state(place.sessions_dir() / name), where=name)
        except AgentmuxError:
            continue
        if place.session or takes_decision(state):
            yield from beginning_choices(state)
            return


def wait_targets(place: CompletionContext) -> Iterator[Candidate]:
    """Yield what ``agentmux wait`` can wait for: a phase, the user's decision, or the end.

    A candidate is a pair: the word to type, and a description, which is empty.
    """
    yield from phases(place)
    yield from ((each, "") for each in ("decision", Phase.DONE, Phase.FAILED))


def agents(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the built-in agents, then those under ``agents:`` in the configuration files.

    A candidate is a pair: the agent's name, and a description, which is ``configured`` or empty.
    """
    built_in = _top_keys(PACKAGE / _AGENTS_FILE)
    yield from ((name, "") for name in built_in if not is_for_tests(name))
    yield from ((name, "configured") for name in _read_config_keys(place, "agents"))


def role_agents(place: CompletionContext) -> Iterator[Candidate]:
    """Yield ``ROLE=`` for every role or, once the word contains ``=``, ``ROLE=AGENT``.

    A candidate is a pair: this text, and a description, which is ``configured`` or empty.
    """
    role, equals, _ = place.word.partition("=")
    if equals:
        yield from ((f"{role}={name}", says) for name, says in agents(place))
    else:
        yield from ((f"{each}=", "") for each in (*ROLES, *_read_config_keys(place, "roles")))


def pipelines(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the built-in pipelines, then the project's, then the user's.

    A candidate is a pair: the pipeline's name, and a description that says whose pipeline it is.
    """
    project = place.project_dir() / layout.PROJECT_FOLDER
    for folder, says in (
        (PACKAGE, "built in"),
        (project, "of this project"),
        (config_dir(place.environ), "yours"),
    ):
        try:
            names = sorted(os.listdir(folder / "pipelines"))
        except OSError:
            continue
        for name in names:
            if name.endswith(".yaml"):
                yield name.removesuffix(".yaml"), says


SOURCES: Final[Mapping[str, Callable[[CompletionContext], Iterable[Candidate]]]] = {
    "session": sessions,
    "seat": seats,
    "phase": phases,
    "point": rewind_points,
    "beginning": beginnings,
    "moment": wait_targets,
    "agent": agents,
    "role_agent": role_agents,
    "pipeline": pipelines,
}
"""The function that yields the candidates for each kind of value.

Kinds that are missing here are completed by the shell or from the table of commands.
"""

KINDS: Final[Mapping[str, frozenset[str]]] = {
    "session": frozenset({"SESSION"}),
    "seat": frozenset({"SEAT"}),
    "phase": frozenset({"PHASE"}),
    "point": frozenset({"PHASE|N"}),
    "beginning": frozenset({"START_PHASE"}),
    "moment": frozenset({"PHASE|END"}),
    "agent": frozenset({"AGENT", "AGENT[:MODEL]"}),
    "role_agent": frozenset({"ROLE=AGENT[:MODEL]"}),
    "pipeline": frozenset({"PIPELINE"}),
    FILE: frozenset({"FILE", "PATH"}),
    FOLDER: frozenset({"DIR"}),
    COMMAND: frozenset({"COMMAND"}),
}
"""The metavars in the help that denote each kind of value.

An option or argument is completed if its metavar is listed here.
"""


def _began(name: str) -> str:
    """Return when a session began, according to the time stamp in its name."""
    return f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:{name[11:13]}"


def _newest(place: CompletionContext) -> list[str]:
    """Return the names of the sessions' folders, newest first, without reading the folders."""
    try:
        with os.scandir(place.sessions_dir()) as entries:
            names = [each.name for each in entries if each.is_dir()]
    except (AgentmuxError, OSError):
        return []
    return sorted((name for name in names if not name.startswith(".")), reverse=True)


def _match_sessions(place: CompletionContext) -> list[str]:
    """Return the sessions to which the typed name may refer; the newest few if none was typed."""
    names = _newest(place)
    word = Path(place.session).name
    if not word:
        return names[:_LOOKED_INTO]
    exact = [name for name in names if word in {name, layout.slug_of(name)}]
    return exact or [name for name in names if _begins(name, word)]


def _begins(name: str, word: str) -> bool:
    return name.startswith(word) or layout.slug_of(name).startswith(word)


def _of_states(
    place: CompletionContext, part: Callable[[Mapping[str, Any]], Iterable[str]]
) -> Iterator[Candidate]:
    folder = place.sessions_dir()
    parts = (part(_state(folder / name)) for name in _match_sessions(place))
    yield from ((each, "") for each in dict.fromkeys(each for part in parts for each in part))


def _state(session: Path) -> Mapping[str, Any]:
    try:
        state = json.loads(_text(session / layout.STATE, _STATE_MAX))
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def _keys(value: object) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, dict) else ()


def _items(state: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = state.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _phases(state: Mapping[str, Any]) -> Iterable[str]:
    pipeline = state.get("pipeline")
    listed = _items(pipeline, "phases") if isinstance(pipeline, dict) else []
    return [str(each.get("phase", "")) for each in listed]


def _checkpoints(state: Mapping[str, Any]) -> Iterable[str]:
    return [str(each.get("number", "")) for each in _items(state, "tree_checkpoints")]


def _read_config_keys(place: CompletionContext, section: str) -> Iterator[str]:
    """Yield the keys below ``section:`` in the configuration files, found by their indentation."""
    try:
        project = place.project_dir() / layout.PROJECT_CONFIG
    except AgentmuxError:
        project = Path(os.devnull)
    files = (config_dir(place.environ) / "config.yaml", project, Path(place.config or os.devnull))
    for file in files:
        yield from _keys_below(_text(file, _TEXT_MAX), section)


def _keys_below(text: str, section: str) -> Iterator[str]:
    inside, indent = False, 0
    for line in text.splitlines():
        key = _KEY.match(line)
        if key is None:
            continue
        depth = len(key[1])
        if not depth:
            inside, indent = key[2] == section, 0
        elif inside:
            indent = indent or depth
            if depth == indent:
                yield key[2]


def _top_keys(path: Path) -> list[str]:
    matches = map(_KEY.match, _text(path, _TEXT_MAX).splitlines())
    return [key[2] for key in matches if key is not None and not key[1]]


def _text(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
