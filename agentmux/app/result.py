"""What an operation returns: its data, its problems, and the exit code of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.errors import AgentmuxError, ExitCode

SCHEMA: Final = 1
"""The version of the format that all JSON answers share."""

T = TypeVar("T")

_WORST_FIRST: Final = (
    ExitCode.FAILED,
    ExitCode.DATA,
    ExitCode.MISSING,
    ExitCode.BLOCKED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProblem:
    """Something that went wrong with one session, while work on the others went on.

    Attributes:
        session: The name of the session's directory; empty where the problem concerns all of them.
        code: The exit code of this problem alone.
        lasting: Whether a new try fails again until a person changes something.
    """

    session: str
    code: ExitCode
    message: str
    hints: tuple[str, ...] = ()
    lasting: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the fields of this problem for a JSON answer."""
        return {
            "session": self.session,
            "code": int(self.code),
            "message": self.message,
            "hints": list(self.hints),
            "lasting": self.lasting,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult(Generic[T]):
    """The data of an operation, what went wrong, and the exit code of its command."""

    data: T
    problems: tuple[SessionProblem, ...] = ()
    exit_code: ExitCode = ExitCode.OK


def problem_of(session: str, error: AgentmuxError) -> SessionProblem:
    """Return an error as the problem of one session."""
    return SessionProblem(
        session=session,
        code=error.exit_code,
        message=error.message,
        hints=error.hints,
        lasting=error.lasting,
    )


def locate_problem(problem: SessionProblem, locate: Callable[[str], str]) -> SessionProblem:
    """Return a problem with ``locate`` applied to its messages."""
    hints = tuple(map(locate, problem.hints))
    return replace(problem, message=locate(problem.message), hints=hints)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the exit code of a command that met ``codes``: OK if there are none.

    The codes 1, 5, 6 and 3 win over all others, in this order; else the highest code wins.
    """
    met = set(codes)
    ranked = (code for code in _WORST_FIRST if code in met)
    other = max(met, default=ExitCode.OK)
    return next(ranked, other)


def envelope(sessions: Iterable[object], problems: Iterable[SessionProblem]) -> dict[str, object]:
    """Return the JSON answer that every command that looks at sessions prints."""
    return {
        "schema": SCHEMA,
        "sessions": list(sessions),
        "problems": [problem.as_json() for problem in problems],
    }
