"""Builds the agent registry of a configuration, and probes what installed agent programs can do.

A probe runs the program with ``--help`` at most once, and caches the output until the program
changes. Modules that only an error or an actual probe needs are imported inside functions, so that
commands that only read stay fast.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from zlib import crc32

from agentmux.adapters.system.processes.child import Child, start
from agentmux.core.agents.spec import (
    ANY_SCREEN,
    PROBE_ANSWER_S,
    AddDir,
    AgentSpec,
    HookFormat,
    Hooks,
    KnownScreens,
    Mcp,
    Probe,
    ProbeResult,
    PromptBy,
    Strategy,
    StrategyKind,
    TurnEnd,
    typed_blind,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.config.settings import Settings
from agentmux.core.names.words.nearest import suggest_name
from agentmux.errors import ConfigError

T = TypeVar("T")

BUILT_IN: Final = Path(__file__).parent.parent.parent / "agents.yaml"
PROBE_TIMEOUT_S: Final = 10.0
_NOT_ASKED: Final = "it was not asked what it can do: this project is not trusted"
_MOST_OUTPUT: Final = 200_000
_MOST_SAID: Final = 160
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08")

Values = Mapping[str, Any]


class _NoAnswerError(Exception):
    """A probed program gave no usable output.

    The text is the reason, to follow the program's name.
    """


def load_registry(settings: Settings) -> Mapping[str, AgentSpec]:
    """Return all agents by name: the built-in ones first, with the configuration merged over them.

    An entry with ``like`` inherits its missing values from the agent that ``like`` names.

    Raises:
        ConfigError: The ``like`` of an entry names no other agent, or leads back to the entry.
    """
    from agentmux.adapters.config.layers import merge

    table: Mapping[str, Any] = merge(_built_in(), settings.agents)
    return {name: _spec(name, _whole(name, table, ())) for name in table}


@functools.cache
def _built_in() -> Mapping[str, Any]:
    from agentmux.adapters.config import layers
    from agentmux.adapters.yaml import schema

    name = f"{BUILT_IN.parent.name}/{BUILT_IN.name}"
    node = schema.parse(layers.read_text(BUILT_IN, name) or "", name)
    agents = schema.read(node, layers.BUILT_IN_AGENTS) if node is not None else {}
    return agents if isinstance(agents, dict) else {}


def _whole(name: str, table: Values, seen: tuple[str, ...]) -> Values:
    """Return the entry ``name`` of ``table``, merged over the entry that its ``like`` names.

    An entry with its own ``command`` does not inherit ``install``. ``match``, the program names
    that an entry describes, is never inherited: if the entry does not set it, it is empty for an
    inherited command; for an own command it is left out, so that the default applies (the command's
    base name).

    Args:
        seen: The entries whose ``like`` led here; naming one of them again is an error.

    Raises:
        ConfigError: A ``like`` names no other agent, or leads back to an entry in ``seen``.
    """
    own: Mapping[str, Any] = table[name]
    base = own.get("like")
    if base is None:
        return own
    if base not in table or base in (*seen, name):
        hints = suggest_name(base, [each for each in table if each != name]) or ("agentmux agents",)
        raise ConfigError(f"`agents.{name}.like`: `{base}` is no other agent", hints=hints)
    taken = {**_whole(base, table, (*seen, name)), "match": ()}
    if "command" in own:
        del taken["match"]
        taken.pop("install", None)
    return {**taken, **own}


def _spec(name: str, values: Values) -> AgentSpec:
    command = values.get("command", (name,))
    parts = {
        "prompt": PromptBy(values.get("prompt", PromptBy.PASTE)),
        "resume_prompt": _or_none(PromptBy, values.get("resume_prompt")),
        "turn_end": TurnEnd(values.get("turn_end", TurnEnd.SCREEN)),
        "match": values.get("match", (Path(command[0]).name,)),
        "mcp": _or_none(lambda given: Mcp(**given), values.get("mcp")),
        "add_dir": _or_none(lambda given: AddDir(**given), values.get("add_dir")),
        "hooks": _or_none(_hooks, values.get("hooks")),
        "probe": Probe(**values.get("probe", {})),
        "screens": _or_none(lambda given: KnownScreens(**given), values.get("screens")),
        "strategies": tuple(
            Strategy(**{**each, "kind": StrategyKind(each["kind"])})
            for each in values.get("strategies", ())
        ),
    }
    plain = {key: value for key, value in values.items() if key != "like"}
    spec = AgentSpec(name=name, **{**plain, "command": command, **parts})
    return typed_blind(spec) if spec.ready == ANY_SCREEN else spec


def _hooks(given: Values) -> Hooks:
    return Hooks(**{**given, "format": HookFormat(given.get("format", HookFormat.CLAUDE))})


def _or_none(make: Callable[[Any], T], value: object) -> T | None:
    return None if value is None else make(value)


def find_program(command: str, path: str) -> Path | None:
    """Return the absolute path of a command; None if it is not found, or is not executable.

    ``path`` is the list of folders to search, in the form of ``$PATH``. A command with a slash is
    itself a path, and is not searched.
    """
    program = shutil.which(command, path=path)
    return Path(program).absolute() if program else None


def probe(
    spec: AgentSpec,
    *,
    path_env: str,
    cache_dir: Path | None,
    keep: bool = True,
    timeout_s: float = PROBE_TIMEOUT_S,
) -> ProbeResult:
    """Ask the installed program of an agent what it can do, and return the answer; never raise.

    If the program is not installed, ``installed`` is false; if it could not be asked, ``problem``
    says why. The program runs at most once, with the arguments in ``spec.probe``, without a
    terminal and with an empty standard input. It is not run if the agent has no features to detect,
    or if a current output is in the cache. A cached output is current as long as the program's
    path, size and modification time are the same.

    Args:
        spec: The agent.
        path_env: The ``PATH`` on which the program is searched, and with which it runs.
        cache_dir: The folder for cached outputs; None for no cache. A cache that cannot be read or
            written is ignored.
        keep: Whether to write to the cache; if false, it is only read.
        timeout_s: Seconds to wait for the output; 0 does not run the program. If the program does
            not end in time, or fails, the cached output of an earlier version at the same path is
            used; if there is none, the result says nothing about the program's features.
    """
    program = find_program(spec.command[0], path_env)
    if program is None:
        return ProbeResult(installed=False, problem=f"`{spec.command[0]}` is not on PATH")
    result = _probe_of(spec, program, path_env, cache_dir, keep=keep, timeout_s=timeout_s)
    return replace(result, former=_former(spec, program)) if spec.former else result


def _former(spec: AgentSpec, program: Path) -> str:
    """Return the superseded package that contains the program; empty if there is none.

    ``spec.former`` lists packages that have a successor.
    """
    place = f"{program.resolve()}"
    return next((each for each in spec.former if f"/node_modules/{each}/" in place), "")


def _probe_of(
    spec: AgentSpec,
    program: Path,
    path_env: str,
    cache_dir: Path | None,
    *,
    keep: bool,
    timeout_s: float,
) -> ProbeResult:
    if not any(strategy.probe for strategy in spec.strategies) and spec.probe.version is None:
        return _judge_output(spec, program, "")
    argv = (str(program), *spec.command[1:], *spec.probe.argv)
    output: str | None = None
    problem = None
    try:
        key = _key(program, argv)
        output, is_current = _recall(cache_dir, key)
        if not is_current:
            output = _ask(argv, path_env, timeout_s)
            _keep(cache_dir if keep else None, key, output)
    except _NoAnswerError as error:
        problem = f"`{' '.join(argv)}` {error}"
        if output is None:
            return ProbeResult(installed=True, path=str(program), problem=problem)
        problem += ": what an earlier version said counts"
    except OSError as error:
        return _judge_output(spec, program, "", f"`{program}` cannot be run: {error.strerror}")
    return _judge_output(spec, program, output or "", problem)


class Prober:
    """Finds out what the programs of agents can do; several threads may ask.

    For each agent, the program runs at most once: later calls return the first answer.
    """

    def __init__(
        self, *, path_env: str, cache_dir: Path, keep: bool = True, runs: bool = True
    ) -> None:
        """Prepare to probe; this runs nothing. For the arguments, see the function `probe`.

        If ``runs`` is false, no program is run: only the cache is read.
        """
        self._runs = runs
        self._look = functools.partial(probe, path_env=path_env, cache_dir=cache_dir, keep=keep)
        self._answers: dict[object, ProbeResult] = {}
        self._asked_at: dict[object, float] = {}
        self._changed = threading.Condition()

    def ask(self, spec: AgentSpec) -> ProbeResult:
        """Return what the program of ``spec`` can do; run it if needed, and wait at most 10 s.

        It differs from `Prober.probe` only in the longer time (`PROBE_TIMEOUT_S`). If another
        thread has started the program already, the time counts from that start. After that time the
        result may come from an earlier version, or say nothing about features.
        """
        return self._answer(spec, PROBE_TIMEOUT_S)

    def probe(self, spec: AgentSpec) -> ProbeResult:
        """Return what the program of ``spec`` can do; run it if needed, and wait at most 1 s.

        It differs from `Prober.ask` only in the shorter time (`PROBE_ANSWER_S`). If another thread
        has started the program already, the time counts from that start. After that time the result
        may come from an earlier version, or say nothing about features.
        """
        return self._answer(spec, PROBE_ANSWER_S)

    def _answer(self, spec: AgentSpec, patience_s: float) -> ProbeResult:
        key = (spec.name, spec.command)
        if not self._runs:
            known = self._look(spec, timeout_s=0)
            return replace(known, problem=_NOT_ASKED) if known.path and known.problem else known
        if not self._is_ours(key, patience_s):
            return self._answers.get(key) or self._look(spec, timeout_s=0)
        try:
            self._answers[key] = self._look(spec, timeout_s=patience_s)
            return self._answers[key]
        finally:
            with self._changed:
                del self._asked_at[key]
                self._changed.notify_all()

    def _is_ours(self, key: object, patience_s: float) -> bool:
        """Return True if this thread must run the probe ``key``; it then counts as running.

        If another thread is probing the program, first wait for the end of that probe, at most
        until ``patience_s`` seconds after its start. Return False if there is a result by then, or
        if the other probe is still running.
        """
        with self._changed:
            if key not in self._answers and key in self._asked_at:
                left = self._asked_at[key] + patience_s - time.monotonic()
                self._changed.wait_for(lambda: key not in self._asked_at, max(0.0, left))
            if key in self._answers or key in self._asked_at:
                return False
            self._asked_at[key] = time.monotonic()
            return True


def _judge_output(
    spec: AgentSpec, program: Path, output: str, problem: str | None = None
) -> ProbeResult:
    missing = {
        strategy.kind: tuple(
            name
            for name, pattern in strategy.probe.items()
            if not re.search(pattern, output, re.MULTILINE)
        )
        for strategy in spec.strategies
    }
    version = re.search(spec.probe.version, output, re.MULTILINE) if spec.probe.version else None
    return ProbeResult(
        installed=True,
        path=str(program),
        version=version[version.lastindex or 0] if version else "",
        strategies={kind: not names for kind, names in missing.items()},
        missing={kind: names for kind, names in missing.items() if names},
        add_dir=_knows_dirs(spec, output),
        problem=problem,
    )


def _knows_dirs(spec: AgentSpec, output: str) -> bool | None:
    pattern = spec.add_dir.probe if spec.add_dir is not None else None
    if pattern is None or not output:
        return None
    return re.search(pattern, output, re.MULTILINE) is not None


def _ask(argv: Sequence[str], path_env: str, timeout_s: float) -> str:
    """Run ``argv``; return what it prints to stdout and stderr, without colours.

    Afterwards its whole process group is killed, since some programs leave children behind.

    Raises:
        _NoAnswerError: The program failed or did not end in time, or ``timeout_s`` is 0.
    """
    late = _NoAnswerError(f"did not end within {timeout_s or PROBE_ANSWER_S:g} s")
    if timeout_s <= 0:
        raise late
    env = {
        **os.environ,  # noqa: TID251 (the program gets the user's environment)
        "PATH": path_env,
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "200",
    }
    child = Child(
        argv=argv, env=env, limit_s=timeout_s, out=start(_MOST_OUTPUT), err=None, leaves_none=True
    )
    try:
        ended = child.run()
    except subprocess.TimeoutExpired:
        raise late from None
    output = _ANSI.sub("", ended.out.decode(errors="replace"))
    if ended.status != 0:
        raise _NoAnswerError(_failure(ended.status, output))
    return output


def _failure(status: int, said: str) -> str:
    """Return how a failed program ended, and the last line that it printed."""
    how = f"was ended by signal {-status}" if status < 0 else f"failed with exit code {status}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"{how}: {lines[-1][:_MOST_SAID]}" if lines else how


def _key(program: Path, argv: Sequence[str]) -> dict[str, object]:
    """Return the cache key for the output of ``argv``.

    It contains ``argv``, and real path, size and modification time of the file ``program``.
    """
    facts = program.stat()
    return {
        "v": 2,
        "argv": list(argv),
        "real": str(program.resolve()),
        "size": facts.st_size,
        "mtime_ns": facts.st_mtime_ns,
    }


def _kept_at(cache_dir: Path, key: Mapping[str, object]) -> Path:
    name = f"{crc32(json.dumps(key['argv']).encode()):08x}"  # the whole key is inside the file
    return cache_dir / "probes" / f"{name}.json"


def _recall(cache_dir: Path | None, key: Mapping[str, object]) -> tuple[str | None, bool]:
    """Return the cached output of the command in ``key``, and whether it is still current.

    The output is None if none is cached; it is current if the program has not changed since.
    """
    if cache_dir is None:
        return None, False
    try:
        kept = json.loads(_kept_at(cache_dir, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None, False
    if not isinstance(kept, dict) or not isinstance(its := kept.get("key"), dict):
        return None, False
    output = kept.get("output")
    same = all(its.get(name) == key[name] for name in ("v", "argv"))
    if not isinstance(output, str) or not same:
        return None, False
    return output, its == key


def _keep(cache_dir: Path | None, key: Mapping[str, object], output: str) -> None:
    if cache_dir is None:
        return
    path = _kept_at(cache_dir, key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps({"key": key, "output": output}), encoding="utf-8")
        fresh.replace(path)
