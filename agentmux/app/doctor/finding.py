"""A finding of `agentmux doctor`: its level, its text, and how to repair it."""

from __future__ import annotations

from enum import StrEnum

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError


class Level(StrEnum):
    """How bad a finding is: ``ok``, ``warning`` or ``problem``.

    Only a problem keeps AgentMux from working.
    """

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Repair(StrEnum):
    """What ``agentmux doctor --fix`` can repair; each touches only what AgentMux made.

    ``removals`` and ``half_made`` are what interrupted removals and killed starts have left;
    ``pipes`` are those of killed commands; ``schema`` is an outdated schema of the configuration.
    """

    REMOVALS = "removals"
    HALF_MADE = "half_made"
    PIPES = "pipes"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One finding of `agentmux doctor`, as a sentence about one thing.

    Attributes:
        check: The name of the check, such as ``tmux``.
        level: How bad it is.
        text: The sentence, in lower case and without a full stop.
        mend: The command to paste that repairs it, or what else to do; empty if there is nothing.
        repair: What ``--fix`` does about it; None if that is left to the user.
    """

    check: str
    level: Level
    text: str
    mend: str = ""
    repair: Repair | None = None

    def as_json(self) -> dict[str, object]:
        """Return this finding as one entry of a JSON answer.

        Its keys are ``check``, ``level``, ``text``, ``mend`` (None if there is nothing to do) and
        ``fixable``, which says whether ``--fix`` does something about it.
        """
        return {
            "check": self.check,
            "level": self.level.value,
            "text": self.text,
            "mend": self.mend or None,
            "fixable": self.repair is not None,
        }


def fine(check: str, text: str) -> DoctorFinding:
    """Return a finding of the level ``ok``: the check ``check`` found nothing wrong.

    ``text`` is the sentence of the finding, in lower case and without a full stop.
    """
    return DoctorFinding(check=check, level=Level.OK, text=text)


def warning(check: str, text: str, mend: str = "", repair: Repair | None = None) -> DoctorFinding:
    """Return a finding of the level ``warning``: something works, but could be better.

    Nothing is shown or repaired.

    Args:
        check: The name of the check, such as ``tmux``.
        text: The sentence of the finding, in lower case and without a full stop.
        mend: The command that repairs it, or what else to do; empty if there is nothing.
        repair: What ``--fix`` does about it; None if that is left to the user.
    """
    return DoctorFinding(check=check, level=Level.WARNING, text=text, mend=mend, repair=repair)


def problem(check: str, text: str, mend: str = "") -> DoctorFinding:
    """Return a finding of the level ``problem``: something keeps AgentMux from working.

    Nothing is raised.

    Args:
        check: The name of the check, such as ``tmux``.
        text: The sentence of the finding, in lower case and without a full stop.
        mend: The command that repairs it, or what else to do; empty if there is nothing.
    """
    return DoctorFinding(check=check, level=Level.PROBLEM, text=text, mend=mend)


def to_finding(check: str, error: AgentmuxError) -> DoctorFinding:
    """Return the finding, a problem, for an error that the check ``check`` met.

    Its ``mend`` is the first hint of the error; empty if there is none.
    """
    return problem(check, error.message, next(iter(error.hints), ""))
