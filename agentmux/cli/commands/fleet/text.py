"""Formats the output of `fleet list` and `fleet show`; control characters become spaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from agentmux.cli import render
from agentmux.core.fleet.board import COLOURS, SHORT_ID, host_words, listed_phase, title_with_reason
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.core.names.status_labels import Colour
from agentmux.core.names.words.counts import format_count
from agentmux.core.terminal.text.text_width import cut, printable

if TYPE_CHECKING:
    from agentmux.fleet.queue.listing import FleetView


def list_lines(view: FleetView, *, colours: bool) -> Iterator[str]:
    """Yield the lines of `fleet list`: a table of the features, then a line for each host."""
    keyed = any(each.key for each in view.features)
    entries = [
        (
            each.id[:SHORT_ID],
            *((cut(printable(each.key or ""), _KEY),) if keyed else ()),
            each.status,
            listed_phase(each.phase, each.status),
            view.host_name(each),
            title_with_reason(each.title, each.reason),
        )
        for each in view.features
    ]
    rows = [tuple(map(printable, cells)) for cells in entries]
    painted = {
        (number, 1 + keyed): COLOURS.get(each.status, Colour.NONE)
        for number, each in enumerate(view.features)
    }
    if not rows:
        yield "the fleet has no features: agentmux fleet submit …"
    else:
        yield from render.table(rows, painted if colours else None)
    for host in view.hosts.values():
        yield host_words(host)
    queued = any(each.status is FleetStatus.QUEUED for each in view.features)
    if queued and not any(each.is_alive for each in view.hosts.values()):
        yield "no worker runs: agentmux fleet worker"


_KEY: Final = 24
"""The most cells of a key in a line; longer keys are cut, so that there is room for the title."""


def stale_lines(view: FleetView) -> Iterator[str]:
    """Yield the lines of `fleet list --stale`: hosts not seen for 60 s, and what waits for them."""
    for host in view.stale:
        waiting = view.waiting_for(host)
        what = _waits(len(waiting))
        yield printable(f"host {host.name} was not seen for {host.age_s:.0f} s; {what}")
        for each in waiting:
            title = title_with_reason(each.title, each.reason)
            yield f"  {each.id[:SHORT_ID]}  {each.status}  {title}"
    if not view.stale:
        yield "every host was seen within the last minute"


def _waits(count: int) -> str:
    if not count:
        return "nothing waits for it"
    return format_count(count, "feature waits for it", "features wait for it")


def feature_lines(fields: Mapping[str, object], *, colours: bool) -> Iterator[str]:
    """Yield the lines of `fleet show` for one feature.

    Args:
        fields: The JSON object about the feature that `fleet show --json` prints.
        colours: Whether to colour the status.
    """
    status = str(fields["status"])
    painted = render.paint(status, colours=colours)
    yield f"{printable(str(fields['id']))}  {painted}  {printable(str(fields['title']))}"
    names = ("key", "host", "session", "path", "phase", "reason", *_RESULT, "updated_at")
    values = {**fields, **_result(fields.get("result"))}
    rows = [(f"  {name}", printable(str(values[name]))) for name in names if values.get(name)]
    yield from render.table(rows) if rows else ()
    decisions = fields.get("decisions")
    for each in decisions if isinstance(decisions, list) else ():
        answer = f": {each['answer']}" if each["answer"] else ""
        yield printable(f"  {each['kind']} by {each['by']}, {each['status']}{answer}")
    question = fields.get("question")
    if isinstance(question, dict):
        yield ""
        lines = question.get("lines")
        shown = lines if isinstance(lines, list) and lines else [question.get("obstacle")]
        yield from (printable(str(each)) for each in shown)
        if question.get("digest"):
            yield ""
            yield f"digest {question['digest']}"
    yield from _to_do(fields)


_RESULT: Final = ("branch", "commit", "request")


def _result(found: object) -> dict[str, object]:
    """Return the branch, the commit and the URL of the request of a feature's result."""
    result = found if isinstance(found, dict) else {}
    request = result.get("request")
    url = request.get("url") if isinstance(request, dict) else None
    return {**{name: result.get(name) for name in _RESULT}, "request": url}


def _to_do(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the commands with which a person can go on with a feature."""
    short, status, question = str(fields["id"])[:SHORT_ID], fields["status"], fields["question"]
    if status == FleetStatus.FAILED:
        yield f"to go on with it: agentmux fleet retry {short}"
    elif status != FleetStatus.WAITING:
        return
    elif isinstance(question, dict) and question.get("digest"):
        yield f"to approve it: agentmux fleet approve {short}"
        yield f'to ask for changes: agentmux fleet request-changes {short} "…"'
    else:
        yield f"to see it: agentmux fleet attach {short}"
