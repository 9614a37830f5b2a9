"""What the words of a command line can be completed to: sessions, seats, phases, agents, pipelines.

A Tab has to be quick: sessions are known by the names of their folders, agents and roles of the
configuration by the lines of its files. Nothing here raises for what is in a file.
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
"""A word and what it means; the meaning may be empty."""

_STATE_MAX: Final = 8 << 20
_TEXT_MAX: Final = 1 << 20
_LOOKED_INTO: Final = 10
"""In how many sessions, the newest, seats are looked for if no session is given."""

_GOING: Final = frozenset(
    {
        *("answer", "approve", "attach", "request-changes", "restart"),
        *("export", "resume", "rewind", "stop", "tell", "unpark"),
    }
)
"""The commands that take no session that is done."""

_DONE: Final = re.compile(r'"phase": ?"done"|"moved": ?\{')
"""What the state of a session that is done has; to read all of a large one takes too long."""

_ASKED: Final = 100
"""Of how many sessions, the newest, it is asked whether they are done; 1000 take too long."""

_KEY: Final = re.compile(r"( *)([A-Za-z0-9_][\w.-]*):(?:\s|$)")
_AGENTS_FILE: Final = "agents.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionContext:
    """Where the command line is typed, and what it says already.

    Attributes:
        environ: Environment of this process.
        project: Value of ``--project``, else the current directory.
        config: Value of ``--config``; empty without it.
        session: The session that the command line names; empty if it names none.
        word: The word that is completed.
        command: The command that the command line names; empty if it names none.
    """

    environ: Mapping[str, str]
    project: str
    config: str
    session: str
    word: str
    command: str = ""

    def project_dir(self) -> Path:
        """Return the project's directory."""
        return project_of(Path(self.project), self.environ)

    def sessions_dir(self) -> Path:
        """Return the folder of the project's sessions."""
        return self.project_dir() / layout.SESSIONS_DIR


def sessions(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the sessions, newest first: by slug, or by whole name if a digit was typed.

    Of the newest, those that are done are left out where the command takes none of them.
    """
    names = _newest(place)
    slugs = [layout.slug_of(name) for name in names]
    latest = dict(zip(reversed(slugs), reversed(names), strict=True))
    first = dict(zip(slugs, names, strict=True))
    whole, going = place.word[:1].isdigit(), place.command in _GOING
    folder = place.sessions_dir() if going and names else Path()
    for number, (name, slug) in enumerate(zip(names, slugs, strict=True)):
        # A slug that several sessions have means none of them.
        typed = name if whole or latest[slug] != first[slug] else slug
        asked = going and number < _ASKED
        if typed.startswith(place.word) and not (asked and _is_done(folder / name)):
            yield typed, _began(name) if slug != name else ""


def _is_done(session: Path) -> bool:
    return bool(_DONE.search(_text(session / layout.STATE, _STATE_MAX)))


def seats(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the seats of the session given; without one, those of the newest sessions."""
    yield from _of_states(place, lambda state: _keys(state.get("seats")))


def phases(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the phases of the session given, else those of the built-in pipeline."""
    of_session = tuple(_of_states(place, _phases)) if place.session else ()
    ends = {str(Phase.DONE), str(Phase.FAILED)}
    yield from of_session or ((each, "") for each in Phase if each not in ends)


def points(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the phases, and the numbers of the work-tree checkpoints of the session given."""
    yield from phases(place)
    if place.session:
        yield from _of_states(place, _checkpoints)


def beginnings(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the phases in which the next cycle of the session given can begin.

    Without a session these are the phases of the newest one that waits for a decision, as
    ``request-changes`` takes the only one.
    """
    # Slow to import, and the one rule of what the command takes.
    from agentmux.core.fold.acceptance import takes_decision
    from agentmux.core.journal.state import decode
    from agentmux.core.pipeline import registry

    for name in _match_sessions(place):
        try:
            state = decode(_state(place.sessions_dir() / name), where=name)
        except AgentmuxError:
            continue
        if place.session or takes_decision(state):
            yield from ((each, "") for each in registry.beginnings(state))
            return


def moments(place: CompletionContext) -> Iterator[Candidate]:
    """Yield what ``wait`` can wait for: phases, ends and the user's decision."""
    yield from phases(place)
    yield from ((each, "") for each in ("decision", Phase.DONE, Phase.FAILED))


def agents(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the agents: built in, and of the configuration."""
    built_in = _top_keys(PACKAGE / _AGENTS_FILE)
    yield from ((name, "") for name in built_in if not is_for_tests(name))
    yield from ((name, "configured") for name in _read_config_keys(place, "agents"))


def role_agents(place: CompletionContext) -> Iterator[Candidate]:
    """Yield ``ROLE=``, and after it ``ROLE=AGENT``."""
    role, equals, _ = place.word.partition("=")
    if equals:
        yield from ((f"{role}={name}", says) for name, says in agents(place))
    else:
        yield from ((f"{each}=", "") for each in (*ROLES, *_read_config_keys(place, "roles")))


def pipelines(place: CompletionContext) -> Iterator[Candidate]:
    """Yield the pipelines: built in, of the project and of the user."""
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
    "point": points,
    "beginning": beginnings,
    "moment": moments,
    "agent": agents,
    "role_agent": role_agents,
    "pipeline": pipelines,
}
"""What gives the candidates of each kind of value; the shell itself completes the other kinds."""

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
"""The metavars of each kind of value: an option or argument with such a metavar is completed."""


def _began(name: str) -> str:
    """Return when a session began, as the stamp in its name says."""
    return f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:{name[11:13]}"


def _newest(place: CompletionContext) -> list[str]:
    """Return the folders of sessions, newest first; none is looked into."""
    try:
        with os.scandir(place.sessions_dir()) as entries:
            names = [each.name for each in entries if each.is_dir()]
    except (AgentmuxError, OSError):
        return []
    return sorted((name for name in names if not name.startswith(".")), reverse=True)


def _match_sessions(place: CompletionContext) -> list[str]:
    """Return the sessions that the session given can mean; the newest few without one."""
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
    """Yield the keys below ``section:`` in the configuration files, as its lines show them."""
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
