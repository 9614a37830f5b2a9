"""Builds the command lines that a drive runs, without the leading ``agentmux``. Pure."""

from __future__ import annotations

from typing import Final

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.core.terminal.text import command_words
from agentmux.fleet.engine.rows import APPROVE, FeatureDecision

_DELIVERY_S: Final = "120"


def start_words(request: FleetRequest, slug: str, base: str) -> tuple[str, ...]:
    """Return the arguments of ``agentmux`` that start a feature's session; run nothing.

    The command reads the feature's text, if there is one, from its standard input.

    Args:
        request: What was submitted.
        slug: The session's name without its time, as `session_slug` returns it.
        base: The commit or branch that the session begins on; empty: as configured.
    """
    options = {
        "--pipeline": request.pipeline,
        "--agent": request.agent,
        "--base": base,
        "--issue": request.issue,
    }
    given = [word for name, value in options.items() if value for word in (name, value)]
    given += [word for role in request.roles for word in ("--role", role)]
    given += ["--comments"] * request.comments + ["--product-manager"] * request.product_manager
    feature = ("-",) if request.feature.strip() else ()
    return ("start", "--detach", "--json", "--worktree", "--name", slug, *given, *feature)


def decision_words(name: str, decision: FeatureDecision) -> tuple[str, ...]:
    """Return the arguments of ``agentmux`` that give a decision to session ``name``; run nothing.

    For requested changes, the command reads their text from its standard input.
    """
    options = ("--json", "--decision", decision.id)
    if decision.kind == APPROVE:
        words = command_words.approve(name, decision.digest, way=decision.then, wait_s=_DELIVERY_S)
        return (words[0], *options, *words[1:])
    words = command_words.request_changes(name, decision.begins, decision.digest)
    return (words[0], *options, *words[1:])
