"""The exceptions of the offline agent: two of them end the program, the third ends a turn."""

from __future__ import annotations


class WrongArgvError(Exception):
    """The command line, or a file that it names, is wrong; the program has to end.

    Its text is the whole message for stderr.

    Attributes:
        exit_code: 2 for wrong usage, else 1.
    """

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        self.exit_code = exit_code
        super().__init__(message)


class QuitError(Exception):
    """The program has to end: after ``/exit``, Ctrl-C twice, a lost terminal or a scripted crash.

    Attributes:
        exit_code: The exit code of the program.
    """

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(f"exit {exit_code}")


class TurnCancelledError(Exception):
    """The user interrupted the turn, or did not permit a command."""
