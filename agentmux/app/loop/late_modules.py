"""The modules that a session needs only after its first agents have started.

Functions import them, so that the first agents start sooner. They are all loaded soon after that: a
module that is loaded hours later may be one of a newer release, installed meanwhile.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Final

LATE: Final = (
    "agentmux.app.commands.resume.restart",
    "agentmux.app.delivery.approval.approval_question",
    "agentmux.app.delivery.approval.automatic_approval",
    "agentmux.app.delivery.approval.conflict_request",
    "agentmux.app.delivery.approval.result_view",
    "agentmux.app.delivery.steps.outcome",
    "agentmux.app.delivery.steps.summary",
    "agentmux.app.loop.work.committer",
    "agentmux.app.loop.work.deliverer",
    "agentmux.core.agents.reset_times",
)


def load_late_modules() -> None:
    """Import the modules in `LATE`, which a session needs only later; never raise.

    If one is missing, the function that needs it fails when it is called.
    """
    for module in LATE:
        with suppress(ImportError, OSError):
            import_module(module)
