"""Finds the environment of the command that approved a result, for the delivery of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentmux.core.agents.environment import environment_change


class Approvers:
    """The environments in which a session's commits, merges, pushes and pull requests are made.

    Signing, hooks and network access use the terminal, the key agents and the log-in of the person
    who approved, not of the person who started the session.
    """

    def __init__(
        self, own: Mapping[str, str], approver: Callable[[str], Mapping[str, str] | None]
    ) -> None:
        """Take where the environments come from.

        Args:
            own: The environment of this process.
            approver: Takes the id of an approval. Returns the environment that the approving
                command left; None if it left none, or if it was returned before.
        """
        self._own = own
        self._approver = approver
        self._known: dict[str, Mapping[str, str]] = {}

    def environment(self, approval: str) -> Mapping[str, str]:
        """Return the environment of the command that gave the approval with the id ``approval``.

        The variables that no session inherits, such as ``TERM``, have the values that they have in
        this process. If the environment of the command is unknown, that of this process is
        returned.
        """
        if approval not in self._known:
            given = self._approver(approval)
            self._known[approval] = (
                environment_change(self._own, given).apply_to(self._own) if given else self._own
            )
        return self._known[approval]
