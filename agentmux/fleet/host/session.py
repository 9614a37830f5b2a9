"""Reads the sessions of features on this host: their status, progress, decision and result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.delivery.approval.approval_question import question_or_obstacle
from agentmux.app.session.search.lookup import entry_at, sessions_dir
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.views.status import look
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.times import time_of
from agentmux.core.fleet.statuses import progress
from agentmux.core.fold.acceptance import takes_decision
from agentmux.core.names import layout
from agentmux.core.pipeline.beginnings import beginning_choices
from agentmux.errors import AgentmuxError
from agentmux.wiring import build

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.app.world import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSessions:
    """Reads the sessions of one project on this host.

    Attributes:
        project: The project folder.
        environ: The environment variables of the worker.
        config: The file given to the worker with ``--config``; None if there was none.
    """

    project: Path
    environ: Mapping[str, str]
    config: Path | None

    @property
    def site(self) -> Site:
        """The adapters and settings with which the sessions are read, set up on each access."""
        return build.site(self.project, config=self.config, environ=self.environ)

    def find(self, slug: str) -> Path | None:
        """Return the directory of the newest session with this slug; None if there is none.

        A slug is the part of a session's name that is given at its start, without its time.
        """
        folder = sessions_dir(self.project)
        matches = [each for each in self.site.folders.names(folder) if layout.slug_of(each) == slug]
        return folder / max(matches) if matches else None

    def view(self, path: Path) -> SessionView:
        """Return the session in the directory ``path`` as ``agentmux list`` shows it."""
        site = self.site
        return look(site, (entry_at(site, path),), warns=False).data[0]

    def progress(self, path: Path | None) -> int:
        """Return how many lines of a session's journal record work, not just starts and stops.

        ``path`` is the session's directory. 0 if it is None or the journal cannot be read.
        """
        if path is None:
            return 0
        with suppress(AgentmuxError, OSError):
            return progress(event.fact.kind for event, _ in self.site.files(path).tail(0))
        return 0

    def question(self, path: Path) -> Mapping[str, object] | None:
        """Return what a person has to decide on a session; None if there is nothing to decide.

        ``path`` is the session's directory. The fields are ``cycle``; ``digest`` of the result,
        empty if the result cannot be approved now; ``obstacle``, why it cannot, else empty;
        ``lines``, a list of lines to read before the decision; and ``beginnings``, the phases in
        which changes can begin (`beginning_choices`), each as a list of its name and description.
        """
        world = build.world(self.project, config=self.config, environ=self.environ)
        state = world.files(path).load().current
        if not takes_decision(state):
            return None
        asked = question_or_obstacle(with_workplace(world, state), world.files(path), state)
        if isinstance(asked, str):
            return {
                "cycle": state.cycle,
                "digest": "",
                "obstacle": asked,
                "lines": [],
                "beginnings": [],
            }
        return {
            "cycle": state.cycle,
            "digest": asked.approval.digest,
            "obstacle": "",
            "lines": [*asked.lines[:_LINES]],
            "beginnings": [[*each] for each in beginning_choices(state)],
        }


_LINES = 400


def next_wake_time(view: SessionView) -> datetime | None:
    """Return when the first parked agent of a session is woken; None if no time is known.

    A parked agent waits for the end of its usage limit. None also if no agent is parked.
    """
    times: Iterable[datetime | None] = (time_of(each.parked_until) for each in view.seats)
    return min((each for each in times if each is not None), default=None)


def result_of(view: SessionView) -> Mapping[str, object]:
    """Return where the result of a session is: the keys ``branch``, ``commit`` and ``request``.

    ``branch`` and ``commit`` are texts; ``request`` has the ``url`` and ``number`` of the pull or
    merge request. Each value is None if there is none.
    """
    return {
        "branch": view.branch,
        "commit": view.commit,
        "request": dict(view.request) if view.request else None,
    }


def pushed_branch(view: SessionView) -> str:
    """Return the name of the session's branch if a delivery has pushed it; else an empty text."""
    steps = view.delivery.get("steps") if view.delivery else None
    push = steps.get("push") if isinstance(steps, dict) else None
    done = isinstance(push, dict) and push.get("status") == "done"
    return (view.branch or "") if done else ""
