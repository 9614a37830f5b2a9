"""The text of `fleet list` and `fleet show`; what others wrote has no control characters in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agentmux.cli import render
from agentmux.core.fleet.board import COLOURS, SHORT_ID, about, host_words, listed_phase
from agentmux.core.names.counts import counted
from agentmux.core.names.status_labels import Colour
from agentmux.core.terminal.text_width import printable

if TYPE_CHECKING:
    from agentmux.fleet.listing import FleetView
    from agentmux.fleet.rows import Feature


def list_lines(view: FleetView, *, colours: bool) -> Iterator[str]:
    """Return the lines of `fleet list`."""
    found = [
        (
            each.id[:SHORT_ID],
            each.status,
            listed_phase(each.phase, each.status),
            view.host_name(each),
            _about(each),
        )
        for each in view.features
    ]
    rows = [tuple(map(printable, cells)) for cells in found]
    painted = {
        (number, 1): COLOURS.get(each.status, Colour.NONE)
        for number, each in enumerate(view.features)
    }
    if not rows:
        yield "the fleet has no features: agentmux fleet submit …"
    else:
        yield from render.table(rows, painted if colours else None)
    for host in view.hosts.values():
        yield host_words(host)


def _about(row: Feature) -> str:
    return about(row.title, row.reason)


def stale_lines(view: FleetView) -> Iterator[str]:
    """Return the lines of `fleet list --stale`."""
    for host in view.stale:
        waiting = view.waiting_for(host)
        what = _waits(len(waiting))
        yield printable(f"host {host.name} was not seen for {host.age_s:.0f} s; {what}")
        for each in waiting:
            yield f"  {each.id[:SHORT_ID]}  {each.status}  {_about(each)}"
    if not view.stale:
        yield "every host was seen within the last minute"


def _waits(count: int) -> str:
    if not count:
        return "nothing waits for it"
    return counted(count, "feature waits for it", "features wait for it")


def feature_lines(fields: Mapping[str, object], *, colours: bool) -> Iterator[str]:
    """Return the lines of `fleet show`."""
    status = str(fields["status"])
    painted = render.paint(status, colours=colours)
    yield f"{printable(str(fields['id']))}  {painted}  {printable(str(fields['title']))}"
    names = ("key", "host", "session", "path", "phase", "reason", "updated_at")
    found = [(f"  {name}", printable(str(fields[name]))) for name in names if fields.get(name)]
    yield from render.table(found) if found else ()
    decisions = fields.get("decisions")
    for each in decisions if isinstance(decisions, list) else ():
        said = f": {each['answer']}" if each["answer"] else ""
        yield printable(f"  {each['kind']} by {each['by']}, {each['status']}{said}")
    question = fields.get("question")
    if isinstance(question, dict):
        yield ""
        lines = question.get("lines")
        shown = lines if isinstance(lines, list) and lines else [question.get("obstacle")]
        yield from (printable(str(each)) for each in shown)
        yield ""
        yield f"digest {question.get('digest')}"
        yield f"to approve it: agentmux fleet approve {str(fields['id'])[:SHORT_ID]}"
