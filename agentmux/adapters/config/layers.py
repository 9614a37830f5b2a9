"""Reads the configuration: built-in values, then the files of user, project and ``--config``.

`SCHEMA` below lists every key; ``docs/reference/configuration.md`` explains the keys.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from agentmux.adapters.config.notify_rules import notify_rules
from agentmux.adapters.config.own_keys import DESK
from agentmux.adapters.yaml import schema
from agentmux.core.agents.spec import SCREENS, HookFormat, PromptBy, StrategyKind, TurnEnd
from agentmux.core.codec.frozen import DataclassInstance, dataclass, fields, replace
from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.config.settings import Policy, RoleSettings, Settings, WorktreeMode
from agentmux.core.names import layout
from agentmux.core.names.phase import CODER, REVIEWERS, ROLES
from agentmux.core.names.statuses import DELIVERY_WAYS
from agentmux.errors import ConfigError

S = TypeVar("S", bound=DataclassInstance)

BUILT_IN: Final = "built-in"
LARGEST: Final = 1_000_000
"""The size limit of a configuration file in bytes; a larger one is refused."""

_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_SEAT_PART: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}"
_VERIFY_MAX: Final = 16
"""The maximum number of ``verify`` commands. More would fill the screen with panes; a single script
can run any number."""
_OWN_ROLE: Final = r"(?!(check|setup|user|orchestrator|decision)$)(?!check-)[a-z][a-z0-9_-]{0,31}"
"""Matches the name of a role that a configuration may add.

The excluded names are AgentMux's own.
"""
_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_PREFIX: Final = r"([A-Za-z0-9][A-Za-z0-9_./-]*)?"
_CONVERSATION: Final = ("session_id", "checkpoint_dir", "checkpoint")
_SERVER: Final = ("mcp_file", "mcp_json", "mcp_command", "mcp_args")
_LINE: Final = schema.text()


def _template(*places: str) -> schema.Reader:
    """Return a reader of a list of words, in which only the placeholders ``places`` may be used.

    A placeholder is a name in braces (``{session_id}``); any other name is a `ConfigError`.
    """

    @schema.describe_as(lambda: schema.WORDS)
    def reader(node: schema.Node, path: str) -> object:
        for item in node.value if isinstance(node.value, list) else ():
            schema.require_places(item, places)
        return schema.words(node, path)

    return reader


_ARGV: Final = {**schema.WORDS, "minItems": 1}


@schema.describe_as(lambda: {"anyOf": [{"type": "string"}, _ARGV]})
def _command(node: schema.Node, path: str) -> object:
    """Read one program, or a list of words that begins with a program; return a tuple of words."""
    if not isinstance(node.value, list):
        return (_LINE(node, path),)
    return schema.words(node, path) or schema.wrong(node, path, "a program, or a list with one")


@schema.describe_as(lambda: _ARGV)
def _argv(node: schema.Node, path: str) -> object:
    """Read a command line; return a tuple of words, of which the first is the program."""
    return schema.words(node, path) or schema.wrong(node, path, "a list that begins with a program")


_COMMAND: Final[Mapping[str, schema.Schema]] = {
    "name": schema.text(_NAME, "a name of letters, digits, `.`, `-` and `_`"),
    "run": _argv,
    "timeout": schema.duration(least_s=1),
}


_CHECK: Final[Mapping[str, schema.Schema]] = {
    **_COMMAND,
    "name": schema.text(_SEAT_PART, "at most 32 letters, digits, `-` and `_`"),
    "required": schema.flag,
}


def _described_commands(command: schema.Schema, **bounds: int) -> schema.JsonSchema:
    items = {**schema.described_schema(command), "required": ["name", "run"]}
    return {"type": "array", "items": items, **bounds}


@schema.describe_as(lambda: _described_commands(_COMMAND))
def _setup(node: schema.Node, path: str) -> object:
    """Read the steps that prepare a worktree; each must have a command."""
    return _commands(node, path, _COMMAND, "step")


@schema.describe_as(lambda: _described_commands(_CHECK, maxItems=_VERIFY_MAX))
def _verify(node: schema.Node, path: str) -> object:
    """Read the commands that check a result; their names become names of seats."""
    checks = _commands(node, path, _CHECK, "command")
    if len(checks) > _VERIFY_MAX:
        schema.fail(node.at, f"`{path}` has {len(checks)} commands, at most {_VERIFY_MAX} are run")
    return checks


def _commands(
    node: schema.Node, path: str, command: schema.Schema, what: str
) -> tuple[dict[str, Any], ...]:
    """Read a list of named commands; error messages call one of them ``what``."""
    commands = schema.listing(command, unique="name")(node, path)
    items = node.value if isinstance(node.value, list) else []
    for item, each in zip(items, commands, strict=True):
        if "run" not in each:
            schema.fail(item.at, f"{what} `{each['name']}` in `{path}` has no `run`")
    return commands


@schema.describe_as(lambda: schema.described_schema(_LINE))
def _place_text(node: schema.Node, path: str) -> object:
    schema.require_places(node, _CONVERSATION)
    return _LINE(node, path)


def _agents(pattern: schema.Reader) -> schema.Each:
    """Return the schema of an agent registry; ``pattern`` reads its regular expressions."""
    pattern_or_none = schema.optional(pattern)
    agent: schema.Schema = {
        "like": schema.text(_NAME, "the name of another agent"),
        "match": schema.words,
        "command": _command,
        "args": schema.words,
        "model_flag": schema.optional(_LINE),
        "prompt": schema.choice(*PromptBy),
        "prompt_flag": schema.optional(_LINE),
        "resume_prompt": schema.optional(schema.choice(*PromptBy)),
        "permission_args": schema.words,
        "edit_args": schema.words,
        "unattended_args": schema.words,
        "mcp": schema.optional({"args": _template(*_SERVER)}, required="args"),
        "add_dir": schema.optional(
            {"args": _template("dir"), "probe": pattern_or_none}, required="args"
        ),
        "hooks": schema.optional(
            {"flag": _LINE, "format": schema.choice(*HookFormat), "unless": _LINE}, required="flag"
        ),
        "turn_end": schema.choice(*TurnEnd),
        "ready": pattern_or_none,
        "commands": pattern_or_none,
        "busy": pattern_or_none,
        "waiting": pattern_or_none,
        "trust": pattern_or_none,
        "limit": pattern_or_none,
        "limit_menu": pattern_or_none,
        "trouble": pattern_or_none,
        "login": pattern_or_none,
        "rejected": pattern_or_none,
        "switched": pattern_or_none,
        "probe": {"argv": schema.words, "version": pattern_or_none},
        "home_env": schema.optional(schema.text(_VARIABLE, "the name of a variable")),
        "model_bound": schema.flag,
        "env": schema.Each(_LINE, pattern=_VARIABLE),
        "unset": schema.words,
        "keep": schema.words,
        "screens": schema.optional(
            {
                "version": _LINE,
                "recorded": schema.words,
                "none": schema.Each(_LINE, pattern="|".join(SCREENS)),
            },
            required="version",
        ),
        "install": _LINE,
        "former": schema.words,
        "notes": schema.prose,
        "strategies": _strategies(pattern),
    }
    return schema.Each(agent, pattern=_NAME)


def _strategies(pattern: schema.Reader) -> schema.Reader:
    """Return a reader of a list of resume strategies; ``pattern`` reads the regular expressions.

    Each strategy must have the keys that its kind needs.
    """
    strategy: schema.Schema = {
        "kind": schema.choice(*StrategyKind),
        "launch": _template(*_CONVERSATION),
        "resume": _template(*_CONVERSATION),
        "resume_first": schema.flag,
        "probe": schema.Each(pattern),
        "learn": schema.text(f"hook|{_VARIABLE}", "`hook` or the name of a variable"),
        "env": schema.Each(_place_text, pattern=_VARIABLE),
    }
    listed = schema.listing(strategy, unique="kind")

    @schema.describe_as(listed.describe)
    def reader(node: schema.Node, path: str) -> object:
        strategies = listed(node, path)
        items = node.value if isinstance(node.value, list) else []
        for item, each in zip(items, strategies, strict=True):
            kind = each["kind"]
            if kind != StrategyKind.NONE and not each.get("resume"):
                schema.fail(item.at, f"`{kind}` in `{path}` has no `resume` words")
            if kind == StrategyKind.LEARN and not each.get("learn"):
                schema.fail(item.at, f"`learn` in `{path}` does not say where: `learn`")
        return strategies

    return reader


AGENTS: Final = _agents(schema.pattern)
"""The schema of the agent registry in a configuration; see `spec.AgentSpec` for the fields."""

BUILT_IN_AGENTS: Final = _agents(schema.prose)
"""The schema of the built-in registry. To save time, it does not compile the regular expressions;
tests do."""

_ROLE: Final[Mapping[str, schema.Schema]] = {
    "agent": schema.optional(_LINE),
    "model": schema.optional(_LINE),
    "args": schema.words,
}
_OTHER_SPELLINGS: Final = {
    **{role.replace("-", "_"): role for role in ROLES},
    **{role.removeprefix("reviewer_"): role for role in REVIEWERS},
}


@schema.describe_as(lambda: {"const": 1})
def _version(node: schema.Node, path: str) -> object:
    if node.value != "1":
        schema.fail(node.at, f"`{path}` must be 1: this agentmux reads no other")
    return 1


_ROLES: Final = {
    role: {**_ROLE, "single": schema.flag} if role == CODER else _ROLE for role in ROLES
}

SCHEMA: Final[Mapping[str, schema.Schema]] = {
    "version": _version,
    "defaults": {
        "agent": _LINE,
        "model": schema.optional(_LINE),
        "pipeline": schema.text(r"[a-z][a-z0-9-]{0,31}", "the name of a pipeline"),
        "session_name": schema.text(r"[A-Za-z0-9_-]+", "letters, digits, `-` and `_`"),
        "max_review_iterations": schema.whole(0, 100),
    },
    "roles": schema.Renamed(_ROLES, _OTHER_SPELLINGS, others=schema.Each(_ROLE, pattern=_OWN_ROLE)),
    "agents": AGENTS,
    "resume": {
        "native": schema.flag,
        "policy": schema.optional(schema.choice(*Policy)),
        "max_age": schema.duration(),
        "reject_after": schema.duration(),
        "commands": schema.Each(_template("session_id")),
    },
    "snapshots": {"interval": schema.duration(least_s=0.1)},
    "tmux": {
        "socket_name": schema.optional(schema.text(_NAME, "a name as for `tmux -L`")),
        "size": schema.pair(schema.whole(40, 1000), schema.whole(10, 1000)),
    },
    "stall": {
        "turn_ended_after": schema.duration(),
        "nudge_after": schema.duration(),
        "report_after": schema.duration(),
    },
    "limits": {"retry": schema.duration(least_s=1)},
    "git": {
        "worktree": schema.choice(*WorktreeMode),
        "root": schema.optional(_LINE),
        "branch_prefix": schema.text(_PREFIX, "the beginning of a branch name, or nothing"),
        "base": schema.optional(_LINE),
        "copy": schema.optional(_LINE),
        "setup": _setup,
        "checkpoints": schema.flag,
        "timeout": schema.duration(least_s=1),
    },
    "verify": _verify,
    "notify": notify_rules,
    "completion": {
        "require_approval": schema.flag,
        "commit": schema.flag,
        "then": schema.choice(*DELIVERY_WAYS),
        "draft": schema.flag,
    },
    "fleet": {"repos": schema.words, "lease": schema.duration(least_s=2)},
    "desk": DESK,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """The configuration, and the place that sets each of its values.

    Attributes:
        settings: The configuration.
        sources: Maps a dotted key (``roles.coder.model``) to ``file:line`` or ``built-in``.
        files: The configuration files that exist; a later one overrides an earlier one.
    """

    settings: Settings
    sources: Mapping[str, str]
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One file of the configuration.

    Attributes:
        path: The file.
        values: The values that the file sets, checked: plain data in nested mappings, as in YAML.
        sources: Maps the dotted key of each of these values to ``file:line``.
    """

    path: Path
    values: Mapping[str, Any]
    sources: Mapping[str, str]


def load_settings(
    user_dir: Path | None, project_dir: Path | None, explicit: Path | None
) -> LoadedSettings:
    """Return the configuration from all layers: mappings are merged, other values are replaced.

    A missing file is not an error, unless it is ``explicit``.

    Args:
        user_dir: The folder of the user's ``config.yaml``: ``$XDG_CONFIG_HOME/agentmux``; None to
            read no file of the user.
        project_dir: The project's folder, which may have ``.agentmux/config.yaml``; None to read no
            file of a project.
        explicit: The file given with ``--config``; None if the option is not used.

    Raises:
        ConfigError: A file has a mistake; the message names file and line.
    """
    return combine_layers(read_layers(user_dir, project_dir, explicit))


def names_an_agent(user_dir: Path | None, project_dir: Path, explicit: Path | None) -> bool:
    """Read the configuration files; return whether one sets an agent, for all roles or for one.

    Args:
        user_dir: The folder of the user's ``config.yaml``; None to read no file of the user.
        project_dir: The project's folder, which may have ``.agentmux/config.yaml``.
        explicit: The file given with ``--config``; None if the option is not used.

    Raises:
        ConfigError: A file has a mistake, or ``explicit`` does not exist.
    """
    return any(
        source != BUILT_IN
        for key, source in load_settings(user_dir, project_dir, explicit).sources.items()
        if key == "defaults.agent" or (key.startswith("roles.") and key.endswith(".agent"))
    )


def read_layers(
    user_dir: Path | None, project_dir: Path | None, explicit: Path | None
) -> tuple[Layer, ...]:
    """Read the existing configuration files of user, project and ``--config``, in this order.

    Missing files are left out, so the result may be empty.

    Args:
        user_dir: The folder of the user's ``config.yaml``; None to read no file of the user.
        project_dir: The project's folder, which may have ``.agentmux/config.yaml``.
        explicit: The file given with ``--config``; None if the option is not used.

    Raises:
        ConfigError: A file has a mistake, or ``explicit`` does not exist.
    """
    layers: list[Layer] = []
    for path in _layers(user_dir, project_dir, explicit):
        content = read_text(path, name := _shorten_path(path, project_dir))
        if content is None and path == explicit:
            raise ConfigError(f"{name}: no such file", hints=("check the path after --config",))
        if content is None:
            continue
        node = schema.parse(content, name)
        if node is not None and (user_dir is None or path != user_dir / "config.yaml"):
            _refuse_users_keys(node, user_dir)
        values = {} if node is None else _mapping(schema.read(node, SCHEMA))
        sources = {} if node is None else dict(schema.leaves(node, SCHEMA))
        layers.append(Layer(path=path, values=values, sources=sources))
    return tuple(layers)


_OF_THE_USER: Final = {
    "notify": "who is told of your features",
    "fleet": "which repositories this host runs",
    "desk": "what your keys do",
}
"""Keys that only the user's own file may set, with what another file would decide by them."""


def _refuse_users_keys(node: schema.Node, user_dir: Path | None) -> None:
    """Raise an error if this file sets a key that only the user's own file may set."""
    for key, would in _OF_THE_USER.items():
        entry = node.value.get(key) if isinstance(node.value, dict) else None
        if entry is not None:
            own = user_dir / "config.yaml" if user_dir is not None else "your own configuration"
            schema.fail(
                entry.at,
                f"`{key}` may stand in your own configuration only: whoever wrote this file would"
                f" choose {would}",
                f"move it to {own}",
            )


def combine_layers(layers: Iterable[Layer]) -> LoadedSettings:
    """Return the built-in values with these layers merged over them, the first layer first.

    The layers must come from `read_layers`; nothing is read or checked here.
    """
    merged: dict[str, object] = {}
    sources = dict.fromkeys((key for key in schema.keys(SCHEMA) if "*" not in key), BUILT_IN)
    ordered_layers = tuple(layers)
    for layer in ordered_layers:
        merged = merge(merged, layer.values)
        sources.update(layer.sources)
    files = tuple(layer.path for layer in ordered_layers)
    return LoadedSettings(settings=_settings(merged), sources=sources, files=files)


def _layers(
    user_dir: Path | None, project_dir: Path | None, explicit: Path | None
) -> Iterator[Path]:
    if user_dir is not None:
        yield user_dir / "config.yaml"
    if project_dir is not None:
        yield project_dir / layout.PROJECT_CONFIG
    if explicit is not None:
        yield explicit


def _shorten_path(path: Path, project_dir: Path | None) -> str:
    is_inside = project_dir is not None and path.is_relative_to(project_dir)
    return str(path.relative_to(project_dir)) if project_dir and is_inside else str(path)


def read_text(path: Path, name: str) -> str | None:
    """Return the text of a regular file of at most `LARGEST` bytes; None if the file is missing.

    ``name`` names the file in messages.

    Raises:
        ConfigError: The file is not regular, too large, unreadable or not UTF-8.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{name}: is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ConfigError(f"{name}: is larger than {LARGEST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: is not UTF-8") from None


def merge(lower: Mapping[str, object], upper: Mapping[str, object]) -> dict[str, object]:
    """Return ``upper`` merged over ``lower``, as a new mapping.

    Mappings in both are merged, at any depth; any other value of ``upper`` replaces that of
    ``lower``.
    """
    merged = dict(lower)
    for key, value in upper.items():
        old = merged.get(key)
        merged[key] = (
            merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return merged


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _settings(values: Mapping[str, Any]) -> Settings:
    """Return the built-in settings, overridden by ``values``, which must have been checked."""
    roles = {
        role: RoleSettings(**_mapping(given))
        for role, given in _mapping(values.get("roles")).items()
    }
    agents = _mapping(values.get("agents"))
    built_in = Settings()
    sections: dict[str, Any] = {
        field.name: _section(getattr(built_in, field.name), _mapping(values.get(field.name)))
        for field in fields(Settings)
        if is_dataclass(getattr(built_in, field.name))
    }
    verify = _verify_commands(values.get("verify") or ())
    notify = values.get("notify", built_in.notify)
    return Settings(roles=roles, agents=agents, verify=verify, notify=notify, **sections)


def _verify_commands(values: Iterable[Mapping[str, Any]]) -> tuple[VerifyCommand, ...]:
    fields = {"timeout": "timeout_s"}
    return tuple(
        VerifyCommand(**{fields.get(key, key): value for key, value in each.items()})
        for each in values
    )


def _steps(values: Sequence[Mapping[str, Any]]) -> tuple[SetupStep, ...]:
    steps = (SetupStep(name=each["name"], run=each["run"]) for each in values)
    return tuple(
        replace(step, timeout_s=each.get("timeout", step.timeout_s))
        for step, each in zip(steps, values, strict=True)
    )


_MADE: Final[Mapping[str, Callable[[Any], object]]] = {
    "policy": Policy,
    "worktree": WorktreeMode,
    "setup": _steps,
}
"""Converts a setting from what the schema returns to its final type, by key."""


def _section(built_in: S, values: Mapping[str, Any]) -> S:
    given = {}
    for field in fields(built_in):
        key = field.name.removesuffix("_s")
        if key not in values:
            given[field.name] = getattr(built_in, field.name)
        else:
            value = values[key]
            given[field.name] = _MADE[key](value) if key in _MADE and value else value
    return type(built_in)(**given)
