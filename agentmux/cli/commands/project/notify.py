"""``notify``: shows where a person is notified, and of what; sends test messages."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.adapters.notify.process import LIMIT_S, HelperProcess
from agentmux.adapters.tmux.announcement import announce
from agentmux.app.commands.look.notification_trial import Channels, TrialOutcome, Tried, send_test
from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.shared_options import JsonOpt
from agentmux.core.config.settings import BELL, TMUX, Address, Places, Settings
from agentmux.core.names.occasion import Occasion
from agentmux.core.terminal.text.sequences import BELL as RING
from agentmux.errors import ExitCode
from agentmux.wiring.machine import config_dir

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation

_NOBODY: Final = "nobody is notified: `notify` is empty in your configuration"
_TEST: Final = "send one message to each: agentmux notify --test"


def notify(
    ctx: typer.Context,
    test: Annotated[
        bool, typer.Option("--test", help="Send one message to each address, and wait.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=1, metavar="S", help="Give each address S seconds."),
    ] = LIMIT_S,
    json: JsonOpt = False,
) -> int:
    """Show where you are notified when a session needs you; test it with `--test`.

    The addresses are in your own configuration. Only the beginning of an address is shown, because
    it can contain a token. The exit code is 1 if a message to an address failed.
    """
    invocation: Invocation = ctx.obj
    settings = invocation.world(invocation.unchecked_project(), read_only=True).settings
    places = settings.occasions_by_address
    tried = send_test([*places], _ways(invocation, timeout)) if test else ()
    if json:
        render.as_json(_answer(settings, places, tried))
    else:
        _show(invocation, settings, places, tried)
    failed = any(each.outcome is TrialOutcome.FAILED for each in tried)
    return ExitCode.FAILED if failed else ExitCode.OK


def _ways(invocation: Invocation, limit_s: float) -> Channels:
    return Channels(
        ring=_ring,
        announce=lambda text: announce(
            invocation.site(invocation.unchecked_project()).terminal(None).socket, text
        ),
        notifier=HelperProcess(invocation.environ, limit_s=limit_s),
    )


def _ring() -> bool:
    if not sys.stderr.isatty():
        return False
    sys.stderr.write(RING)
    sys.stderr.flush()
    return True


def _is_default(settings: Settings) -> bool:
    return settings.notify == Settings().notify


def _answer(settings: Settings, found: Places, tried: Iterable[Tried]) -> dict[str, object]:
    outcomes = {each.address: each for each in tried}
    return {
        "schema": SCHEMA,
        "default": _is_default(settings),
        "addresses": [
            {
                "address": str(address),
                "on": [each.value for each in on],
                **_fields(outcomes.get(address)),
            }
            for address, on in found.items()
        ],
    }


def _fields(tried: Tried | None) -> dict[str, object]:
    """Return the fields with the result of a test; without a test, both are null."""
    if tried is None:
        return {"result": None, "reason": None}
    return {"result": tried.outcome.value, "reason": tried.reason or None}


def _show(
    invocation: Invocation, settings: Settings, found: Places, tried: Iterable[Tried]
) -> None:
    outcomes = {each.address: each for each in tried}
    rows = [_row(address, on, outcomes.get(address)) for address, on in found.items()]
    for line in render.table(rows):
        render.out(render.printable(line))
    if not found:
        render.note(_NOBODY)
    if _is_default(settings):
        render.note("this is the default; desktop and phone are a few lines in your configuration:")
        for line in _example(invocation):
            render.note(line)
    if found and not outcomes:
        render.note(_TEST)


def _row(address: Address, on: Iterable[Occasion], tried: Tried | None) -> list[str]:
    words = ", ".join(each.value for each in on)
    if tried is None:
        return [str(address), words]
    return [str(address), tried.outcome.value, tried.reason or words]


def _example(invocation: Invocation) -> Iterable[str]:
    yield f"  # {config_dir(invocation.environ) / 'config.yaml'}"
    yield "  notify:"
    yield f"    - to: [{BELL}, {TMUX}, desktop]"
    yield "    - on: [decision, question, failed]"
    yield '      to: ["ntfy://a-topic-that-nobody-can-guess"]'
