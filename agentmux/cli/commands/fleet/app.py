"""The command ``agentmux fleet``, which without a subcommand is ``fleet list``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import typer

from agentmux.cli.commands.fleet import decisions, hosts, look, submit
from agentmux.cli.commands.group import GroupJsonOpt, group

app = group()

_COMMANDS: Final[Mapping[str, tuple[Callable[..., int], str]]] = {
    "init": (hosts.init, "Set the fleet up on this host, and its database"),
    "worker": (hosts.worker, "Run the worker of this host, until Ctrl-C"),
    "submit": (submit.submit, "Submit a feature, an issue or a backlog"),
    "list": (look.list_, "List the features of the fleet"),
    "show": (look.show, "Show all that the fleet knows of a feature"),
    "approve": (decisions.approve, "Approve the result of a feature, wherever it runs"),
    "request-changes": (
        decisions.request_changes,
        "Request changes of a feature, wherever it runs",
    ),
    "attach": (look.attach, "Show a feature's session in this terminal, also on another host"),
    "retry": (decisions.retry, "Go on with a feature that has failed"),
    "cancel": (decisions.cancel, "Stop a feature, and run it no further"),
    "drain": (hosts.drain, "Let a host finish what runs, and take nothing more"),
}
for _name, (_function, _help) in _COMMANDS.items():
    app.command(_name, help=_help)(_function)


@app.callback(invoke_without_command=True)
def fleet(ctx: typer.Context, json: GroupJsonOpt = False) -> int:
    """Run a backlog of features, on this host or on several."""
    return 0 if ctx.invoked_subcommand is not None else look.list_(ctx, json=json)
