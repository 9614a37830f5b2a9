"""The result of an operation: its data, its problems, and the exit code of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.errors import AgentmuxError, ExitCode

SCHEMA: Final = 1
"""The version of the format of JSON answers; all commands share it."""

T = TypeVar("T")

_WORST_FIRST: Final = (
    ExitCode.FAILED,
    ExitCode.DATA,
    ExitCode.MISSING,
    ExitCode.BLOCKED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProblem:
    """A problem with one session that did not stop the work on other sessions.

    Attributes:
        session: The name of the session's directory; empty if the problem concerns all sessions.
        code: The exit code for this problem alone.
        message: What is wrong, in words.
        hints: Commands, or other things, that the user can do about it.
        lasting: Whether every retry fails until a person changes something.
    """

    session: str
    code: ExitCode
    message: str
    hints: tuple[str, ...] = ()
    lasting: bool = False

    def as_json(self) -> dict[str, object]:
        """Return this problem as one entry of ``problems`` in a JSON answer.

        Its keys are the names of the attributes; ``code`` is a number.
        """
        return {
            "session": self.session,
            "code": int(self.code),
            "message": self.message,
            "hints": list(self.hints),
            "lasting": self.lasting,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult(Generic[T]):
    """The result of an operation.

    Attributes:
        data: What the operation found or did.
        problems: What went wrong with single sessions.
        exit_code: The exit code of the command.
    """

    data: T
    problems: tuple[SessionProblem, ...] = ()
    exit_code: ExitCode = ExitCode.OK


def problem_of(session: str, error: AgentmuxError) -> SessionProblem:
    """Return the problem of ``session`` that describes ``error``.

    ``session`` is the name of its directory; empty if the problem concerns all sessions.
    """
    return SessionProblem(
        session=session,
        code=error.exit_code,
        message=error.message,
        hints=error.hints,
        lasting=error.lasting,
    )


def locate_problem(problem: SessionProblem, locate: Callable[[str], str]) -> SessionProblem:
    """Return a copy of the problem, with ``locate`` applied to its message and to each hint.

    ``locate`` takes a text and returns it with ``--project`` added to the commands in it.
    """
    hints = tuple(map(locate, problem.hints))
    return replace(problem, message=locate(problem.message), hints=hints)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the most severe of the exit codes ``codes``; OK if there are none.

    From most to least severe: FAILED (1), DATA (5), MISSING (6), BLOCKED (3), then the other codes,
    the highest first.
    """
    met = set(codes)
    ranked = (code for code in _WORST_FIRST if code in met)
    other = max(met, default=ExitCode.OK)
    return next(ranked, other)


def envelope(sessions: Iterable[object], problems: Iterable[SessionProblem]) -> dict[str, object]:
    """Return the JSON answer that all commands about sessions share: schema, sessions and problems.

    Args:
        sessions: What the command answers about each session, ready for JSON.
        problems: What went wrong with single sessions.
    """
    return {
        "schema": SCHEMA,
        "sessions": list(sessions),
        "problems": [problem.as_json() for problem in problems],
    }
