"""The configuration file that ``agentmux init`` writes.

It sets the agent. Every other key is in a comment, with its built-in value.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.config.config_schema import EDITOR_LINE, SCHEMA_FILE, config_schema_text
from agentmux.adapters.disk import files
from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.config.commands import VerifyCommand
from agentmux.core.config.settings import WorktreeMode
from agentmux.core.names import layout
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.core.agents.spec import AgentSpec

_MODE: Final = 0o644

_TEXT: Final = """\
{editor}# How AgentMux works in this project. Every key is optional; a key that is commented
# out has the value shown. AgentMux reports a mistake with its file and line.
version: 1

defaults:
  # The agent of every role that names none: a name from `agentmux agents`, or a command.
  agent: {agent}
  # model: null                 # null: the agent chooses
  # max_review_iterations: 3    # failed reviews per cycle, after which you decide

{roles}
  # One entry for each role that differs: product-manager, architect, code-researcher,
  # web-researcher, planner, designer, coder, reviewer_logic, reviewer_quality, reviewer_expert.
  # coder: {{agent: null, model: null, args: [], single: false}}

{agents}
  # Changes to built-in agents, and new agents. By default every agent asks for permissions. Only
  # you can let one work without asking: `agentmux agents show NAME` names the arguments.
  # claude: {{permission_args: [--permission-mode, acceptEdits]}}

# resume:
  # native: true                # false: every agent starts a new conversation
  # policy: null                # never | confirm | auto; null: asks once in a terminal
  # max_age: 7d
  # reject_after: 15s
  # commands: {{}}                # resume arguments by command, such as {{claude: [--continue]}}

# snapshots: {{interval: 5s}}
# tmux: {{socket_name: null, size: [220, 60]}}
# stall: {{turn_ended_after: 10s, nudge_after: 10m, report_after: 20m}}
# limits: {{retry: 30m}}          # when to try again if an agent does not say when its limit ends
{git}
  {worktree:<30}# never | auto | always: whether a session gets its own worktree
  # root: null                  # null: <repository>-worktrees beside the repository
  # branch_prefix: agentmux/
  # base: null                  # null: a worktree begins on what is checked out
  # copy: .worktreeinclude      # patterns of the ignored files that a new worktree gets
  # setup: []                   # steps that prepare it: {{name: install, run: [npm, ci]}}
  # checkpoints: true           # save the work tree at the end of each phase
  # timeout: 10m                # how long git may look at a large repository

{verify}

# completion: {{require_approval: true, commit: true, then: keep, draft: true}}
#   then: keep | merge | push | pr
"""


_NO_VERIFY: Final = (
    "# verify: []                    # what checks a result: {name: tests, run: [pytest, -q]}"
)


def require_free(project: Path) -> Path:
    """Return the path of the project's configuration file, after a check that no file is there.

    Raises:
        UsageError: The file exists; ``agentmux init`` never overwrites it.
    """
    path = project / layout.PROJECT_CONFIG
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} exists already", hints=(f"edit it: {path}",))
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The answers of a person, which the file sets; every other key is in a comment.

    Attributes:
        agent: The agent of all roles that are not in ``roles``.
        roles: The other agents, by role.
        permissions: The ``permission_args`` of agents, by the agent's name.
        worktree: Whether a session gets a worktree of its own; None leaves the built-in value.
        verify: The commands that check results.
    """

    agent: str
    roles: Mapping[str, str] = field(default_factory=dict)
    permissions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    worktree: WorktreeMode | None = None
    verify: tuple[VerifyCommand, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The dotted keys that these answers set and that need trust, such as ``roles.coder``.

        ``defaults.agent`` and ``verify`` are always among them.
        """
        roles = (f"roles.{role}" for role in self.roles)
        agents = (f"agents.{name}" for name in self.permissions)
        return ("defaults.agent", *roles, *agents, "verify")


def config_text(chosen: Choices, *, with_schema: bool = False) -> str:
    """Return the text of the configuration file that sets what was chosen; writes nothing.

    With ``with_schema``, the first line of the text names a schema file beside the configuration,
    which `write` then writes, too.
    """
    # JSON is valid YAML, so this quotes any name.
    roles = (f"  {role}: {{agent: {json.dumps(name)}}}" for role, name in chosen.roles.items())
    agents = (
        f"  {name}: {{permission_args: {json.dumps([*words])}}}"
        for name, words in chosen.permissions.items()
    )
    mode = chosen.worktree or WorktreeMode.AUTO
    is_set = mode is not WorktreeMode.AUTO
    return _TEXT.format(
        editor=f"{EDITOR_LINE}\n" if with_schema else "",
        agent=json.dumps(chosen.agent),
        roles="\n".join(["roles:" if chosen.roles else "# roles:", *roles]),
        agents="\n".join(["agents:" if chosen.permissions else "# agents:", *agents]),
        git="git:" if is_set else "# git:",
        worktree=f"{'' if is_set else '# '}worktree: {mode.value}",
        verify=verify_lines(chosen.verify),
    )


def write(path: Path, text: str) -> None:
    """Write ``text`` into the configuration file ``path``, over any file that is there.

    The folder is created if it is missing. If the first line of ``text`` names the schema, as
    `config_text` does on request, the JSON Schema of the configuration is written beside the file.

    Raises:
        DataError: A file cannot be written.
    """
    files.make_dir(path.parent)
    if text.startswith(EDITOR_LINE):
        files.replace(path.parent / SCHEMA_FILE, config_schema_text().encode(), _MODE)
    files.replace(path, text.encode(), _MODE)


def verify_lines(commands: Iterable[VerifyCommand]) -> str:
    """Return the part of a configuration file, as one text, that lists these commands.

    Without commands, it is a comment that shows how to list them.
    """
    lines = (f"  - {{name: {each.name}, run: {json.dumps(each.run)}}}" for each in commands)
    listed = "\n".join(lines)
    return f"verify: # what checks a result\n{listed}" if listed else _NO_VERIFY


def explain_unattended(spec: AgentSpec) -> Iterator[str]:
    """Yield lines that tell the user which arguments let the agent run unattended.

    The lines are for the terminal; the configuration file does not get these arguments.
    """
    if spec.permission_args:
        yield f"{spec.name} runs with {shlex.join(spec.permission_args)}, as you configured it"
    elif spec.unattended_args:
        yield f"{spec.name} asks for permission before it acts, and waits until you answer"
        if spec.edit_args:
            yield (
                "to let it edit files without asking, write into that file: "
                f"{_entry(spec.name, spec.edit_args)}"
            )
        yield (
            "to let it do everything without asking, write into that file: "
            f"{_entry(spec.name, spec.unattended_args)}"
        )
    elif spec.known:
        yield f"AgentMux knows of no arguments that {spec.name} needs to run unattended"
    else:
        yield f"`{spec.name}` is not in the agent registry: it runs exactly as typed"


def _entry(name: str, words: Iterable[str]) -> str:
    listed = ", ".join(map(json.dumps, words))
    return f"agents: {{{name}: {{permission_args: [{listed}]}}}}"
