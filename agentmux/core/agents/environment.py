"""What of a command's environment its session gets, whose tmux server may have an older one; pure.

A pane has the environment of the tmux server, which is that of whoever started it first: a login
exported since, or another config home, would be missing in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass

# What tells of one terminal, pane or shell, and not of what is to run in others.
_OF_A_TERMINAL: Final = frozenset(
    {
        "COLORTERM", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "STY", "TERM", "TERM_PROGRAM",
        "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "WINDOWID", "_",
    }
)  # fmt: skip
# Who calls, in the panes of a session; those of the demo agent are its user's.
_OURS: Final = "AGENTMUX_"
_OF_USERS: Final = "AGENTMUX_DEMO_"
_LAUNCH: Final = "AGENTMUX_LAUNCH_ID"
MODE: Final = "AGENTMUX_MODE"
"""The variable that says how a pane's launch is played: `resume_choice.Rung`."""

SHELL: Final = "shell"
"""The mode of a pane in which a person plays the role."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to be set, and what is to be taken away."""

    values: Mapping[str, str]
    unset: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.values or self.unset)

    def applied(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment with the change."""
        kept = {name: value for name, value in environ.items() if name not in self.unset}
        return {**kept, **self.values}


def agent_launch(environ: Mapping[str, str]) -> str:
    """Return the launch of the agent that has this environment; empty where a person has it."""
    return "" if environ.get(MODE) == SHELL else environ.get(_LAUNCH, "")


def handed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what of a command's environment is meant for others too."""
    return {name: value for name, value in environ.items() if _is_meant(name)}


def change(own: Mapping[str, str], given: Mapping[str, str]) -> Change:
    """Return what makes of ``own`` what was given; names that are not handed on stay."""
    return Change(
        values={name: value for name, value in given.items() if own.get(name) != value},
        unset=tuple(sorted(name for name in own if _is_meant(name) and name not in given)),
    )


def _is_meant(name: str) -> bool:
    ours = name.startswith(_OURS) and not name.startswith(_OF_USERS)
    return not ours and name not in _OF_A_TERMINAL and _NAME.fullmatch(name) is not None
