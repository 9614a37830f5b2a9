"""The plan of a resume, as lines for people."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentmux.core.names.conversations import how_it_comes_back
from agentmux.core.names.status_labels import NATIVE_MARK, SessionStatus

_NATIVE: Final = f"{NATIVE_MARK} "


def resume_plan(
    fields: Mapping[str, Any],
    *,
    explain: bool,
    readable: bool = True,
    at_work: Sequence[str] = (),
) -> list[str]:
    """Return what ``agentmux resume --dry-run`` prints for one session, as lines.

    Args:
        fields: What ``agentmux resume --dry-run --json`` answers about the session: the fields of
            `plan_fields`, and ``blocked``, with the ``message`` and ``hints`` of what prevents the
            resume (None if nothing does). ``phase`` is None if there is no plan.
        explain: Add the evidence for each phase, and each pane's command, directory and variables.
        readable: Whether the session could be read; chooses the reason given for having no plan.
        at_work: What a session that runs waits for (`lines_at_work`); replaces the plan.
    """
    if fields.get("phase") is None:
        why = "cannot be resumed like this" if readable else "cannot be read"
        return [f"{fields['session']}: {why}"]
    verb = "is" if fields["phase"] == SessionStatus.DONE else "resumes in"
    plan = f"{fields['session']} {verb} {fields['phase']} ({fields['because']})"
    lines = [*at_work] or [plan]
    if explain:
        marks = {True: "complete", False: "not complete"}
        lines += [
            f"  {each['phase']}: {marks[each['complete']]} ({each['because']})"
            for each in fields["evidence"]
        ]
    if at_work:
        return lines
    if fields["unapplied_events"]:
        lines.append(f"  events in the journal still to apply: {fields['unapplied_events']}")
    if fields["blocked"]:
        lines.append(f"  cannot resume: {fields['blocked']['message']}")
        lines += [f"    {hint}" for hint in fields["blocked"]["hints"]]
    jobs = {"setup": "first the setup of its worktree runs", "checks": "the check runs"}
    lines += [f"  {text}: {', '.join(fields[name])}" for name, text in jobs.items() if fields[name]]
    for pane in fields["panes"]:
        mark = _NATIVE if pane["mode"] == "native" else ""
        words = how_it_comes_back(pane["mode"], pane["reason"])
        lines.append(f"  {pane['seat']}: {mark}{words}")
        if explain:
            lines.append(f"     why: {pane['reason']}")
            sent = _prompt(pane["prompt_bytes"], pane["fresh_prompt_bytes"])
            lines.append(f"  prompt: {sent}")
            lines.append(f"    runs: {shlex.join(pane['argv'])}")
            lines.append(f"      in: {pane['cwd']}")
            lines += [f"    with: {name}={text}" for name, text in pane["env"].items()]
    lines += [f"  warning: {each}" for each in fields["warnings"]]
    return lines


def _prompt(sent: int, fresh: int) -> str:
    """Return the size of a prompt; if a fresh start would send another size, return both.

    Args:
        sent: The bytes of the prompt that is sent; 0 if none is, as for a setup.
        fresh: The bytes of the prompt that a fresh start would send.
    """
    if sent == fresh:
        return _size(sent) if sent else "-"
    return f"{_size(sent)} instead of {_size(fresh)}"


def _size(count: int) -> str:
    """Return a number of bytes in a readable unit: ``212 B``, ``9.1 kB``."""
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} kB"
