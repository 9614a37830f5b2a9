"""The exceptions that end a turn or the program."""

from __future__ import annotations


class WrongArgvError(Exception):
    """The program cannot do what argv asks; ``exit_code`` is 1, or 2 for wrong usage."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        self.exit_code = exit_code
        super().__init__(message)


class QuitError(Exception):
    """The program ends with ``exit_code``: after ``/exit``, Ctrl-C twice or a scripted crash."""

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(f"exit {exit_code}")


class TurnCancelledError(Exception):
    """The user interrupted the turn, or refused to permit a command."""
