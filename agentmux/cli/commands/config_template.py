"""The configuration that ``agentmux init`` writes: every key, as a comment, with its value."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk import files
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.core.agents.spec import AgentSpec

_PATH: Final = ".agentmux/config.yaml"
_MODE: Final = 0o644

_TEXT: Final = """\
# How AgentMux works in this project. Every key may be left out; what stands behind a # here is the
# built-in value. A mistake is refused with its file and line.
version: 1

defaults:
  # Who plays every role without an agent of its own: a name from `agentmux agents`, or a command.
  agent: {agent}
  # model: null                 # null: the agent chooses
  # max_review_iterations: 3    # after so many failed reviews it is left to you

# roles:
  # One entry for each role that differs: product-manager, architect, code-researcher,
  # web-researcher, planner, designer, coder, reviewer_logic, reviewer_quality, reviewer_expert.
  # coder: {{agent: null, model: null, args: [], single: false}}

# agents:
  # Changes to the agents that AgentMux knows, and new ones. What lets an agent work without asking
  # for permissions is yours to grant; nothing of the kind is built in. For example:
  # claude: {{permission_args: [--permission-mode, acceptEdits]}}

# resume:
  # native: true                # false: conversations never come back
  # policy: null                # never | confirm | auto; null: confirm in a terminal, else auto
  # max_age: 7d
  # reject_after: 15s
  # commands: {{}}                # resume arguments by command, such as {{claude: [--continue]}}

# snapshots: {{interval: 5s}}
# tmux: {{socket_name: null, size: [220, 60]}}
# stall: {{turn_ended_after: 10s, nudge_after: 10m, report_after: 20m}}
# completion: {{require_approval: true, commit: true}}
"""


def require_free(project: Path) -> Path:
    """Return where the configuration goes.

    Raises:
        UsageError: There is one; it is never written over.
    """
    path = project / _PATH
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already", hints=(f"edit it: {path}",))
    return path


def write(path: Path, agent: str) -> None:
    """Write the configuration; only ``agent`` differs from the built-in values.

    Raises:
        DataError: It cannot be written; nothing was changed.
    """
    files.make_dir(path.parent)
    # JSON texts are YAML texts, whatever is in them.
    files.replace(path, _TEXT.format(agent=json.dumps(agent)).encode(), _MODE)


def unattended(spec: AgentSpec) -> Iterator[str]:
    """Say what a run that nobody watches needs; nothing of it is written."""
    if spec.permission_args:
        yield f"{spec.name} runs with {shlex.join(spec.permission_args)}, as you configured it"
    elif spec.unattended_args:
        words = ", ".join(map(json.dumps, spec.unattended_args))
        yield f"{spec.name} asks before it acts: a run that nobody watches would wait for you."
        entry = f"{{{spec.name}: {{permission_args: [{words}]}}}}"
        yield f"To let it act by itself, write into that file: agents: {entry}"
    elif spec.known:
        yield f"nothing is known that {spec.name} needs for a run that nobody watches"
    else:
        yield f"`{spec.name}` is not in the agent registry: it runs exactly as typed"
