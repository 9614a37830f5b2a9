"""Which of the caller's environment variables a session inherits; pure.

tmux gives a pane the environment of the tmux server, which another program may have started long
ago. Without this module, a variable that the caller has exported since then would be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass

# Variables that describe one terminal, pane or shell, and have no meaning in another one.
_OF_A_TERMINAL: Final = frozenset(
    {
        "COLORTERM", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "STY", "TERM", "TERM_PROGRAM",
        "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "WINDOWID", "_",
    }
)  # fmt: skip
# AgentMux itself sets the variables `_OURS` in a pane, except `_OF_USERS`: the user sets those to
# control the demo agent.
_OURS: Final = "AGENTMUX_"
_OF_USERS: Final = "AGENTMUX_DEMO_"
_LAUNCH: Final = "AGENTMUX_LAUNCH_ID"
MODE: Final = "AGENTMUX_MODE"
"""The variable that tells the programs in a pane what the pane was started for.

Its value is a `resume_choice.PaneStart`.
"""

IDENTITY: Final = (
    *(_LAUNCH, MODE, "AGENTMUX_SESSION_DIR", "AGENTMUX_SESSION_ID", "AGENTMUX_ROLE"),
    *("AGENTMUX_SEAT", "AGENTMUX_CYCLE", "AGENTMUX_ITERATION", "AGENTMUX_SUBPLAN"),
    *("AGENTMUX_TOPIC", "AGENTMUX_LEARN"),
)
"""The variables that identify the agent in a pane to AgentMux.

They are unset for the commands of a check, which must not act in the name of an agent.
"""

UMASK: Final = "AGENTMUX_UMASK"
"""The variable that passes on the umask of the person who started or approved, in octal digits.

A pane, and so the orchestrator, begins with the umask of the tmux server.
"""

SHELL: Final = "shell"
"""The value of `MODE` in a pane where a person, not an agent, plays the role."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of an environment: it sets the variables ``values`` and removes those in ``unset``.

    ``unset`` contains exact names, no patterns.
    """

    values: Mapping[str, str]
    unset: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether the change sets or removes any variable."""
        return bool(self.values or self.unset)

    def apply_to(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return a copy of ``environ`` with the change applied."""
        kept = {name: value for name, value in environ.items() if name not in self.unset}
        return {**kept, **self.values}


def agent_launch(environ: Mapping[str, str]) -> str:
    """Return the launch id of the agent that runs with the environment variables ``environ``.

    Empty if a person works in this environment: in the shell of a seat, or outside all panes.
    """
    return "" if environ.get(MODE) == SHELL else environ.get(_LAUNCH, "")


def umask_of(environ: Mapping[str, str]) -> int:
    """Return the umask that ``environ`` passes on (`UMASK`); -1 if it passes none."""
    return int(environ.get(UMASK, "-1"), 8)


def inherited_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables in ``environ`` that a new session inherits from the caller.

    These are all except those that belong to the caller's terminal, AgentMux's own (``AGENTMUX_…``,
    but not ``AGENTMUX_DEMO_…``), and those whose names are not names of shell variables.
    """
    return {name: value for name, value in environ.items() if _is_meant(name)}


def environment_change(own: Mapping[str, str], given: Mapping[str, str]) -> Change:
    """Return the change that turns the environment ``own`` into ``given``; changes neither.

    The change does not remove variables that a session never inherits (see `inherited_variables`),
    but it may set such a variable.
    """
    return Change(
        values={name: value for name, value in given.items() if own.get(name) != value},
        unset=tuple(sorted(name for name in own if _is_meant(name) and name not in given)),
    )


def _is_meant(name: str) -> bool:
    ours = name.startswith(_OURS) and not name.startswith(_OF_USERS)
    return not ours and name not in _OF_A_TERMINAL and _NAME.fullmatch(name) is not None
