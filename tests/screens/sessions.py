"""Sessions in every state, with requests and names that are hard to show."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from agentmux.app.session.search.lookup import Liveness, SessionEntry
from agentmux.app.views.outlook import Outlook, SeatOutlook, live_outlook
from agentmux.app.views.rows import SessionRow, session_row
from agentmux.app.views.session.session_view import SessionView
from agentmux.app.views.status import session_view
from agentmux.core.agents.screens import question_in
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.definitions.definition import Kind, PhaseDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.results import CheckResult, PhaseResult
from agentmux.core.journal.state import Interruption, Parked, Seat, SessionState, encode
from agentmux.core.names import layout
from agentmux.core.names.layout import short_names
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import OUTPUT_LINES, SessionStatus
from agentmux.core.names.statuses import CAPPED, FAILED, PASSED
from agentmux.core.pipeline.verified import verified_lines
from agentmux.ports.tmux.display import MonitorContent, MonitorMessage, ResultView, SeatStatus
from agentmux.ports.tmux.terminal import TmuxSession

NOW: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
SINCE: Final = "2026-01-01T11:53:00.000Z"
UNTIL: Final = "2026-01-01T12:40:00.000Z"
PROJECT: Final = Path("/home/ada/src/configuration-loader-for-the-customer-portal")
LEAVE: Final = "C-b d detaches (all goes on without you)"

_LONG: Final = (
    "Raise a DuplicateKeyError when the same key is set twice in one configuration file, and name"
)
_KEYS: Final = "Raise an error on duplicate keys"
REQUESTS: Final = (
    f"{_LONG} both lines in its message",
    f"{_LONG} both files in its message",
    _KEYS,
    _KEYS,
    "設定ファイルで同じキーが二回書かれた時にエラーを出して両方の行番号を表示する",
    "Add login",
)
"""A long one, one that differs at its end, the same one twice, wide characters, a short one."""

_CHECKED: Final = replace(
    FEATURE,
    phases=(
        *FEATURE.phases[:-1],
        PhaseDefinition(phase="verifying", kind=Kind.CHECK, folder="verifying", on_fail="fixing"),
        FEATURE.phases[-1],
    ),
)
_PASSED: Final = PhaseResult(outcome=PASSED, checks={"unit tests": CheckResult(outcome=PASSED)})
_RED: Final = PhaseResult(
    outcome=CAPPED,
    checks={
        "unit tests": CheckResult(
            outcome=FAILED, status=1, output="FAILED test_loader.py::test_both_lines\n1 failed"
        )
    },
)
_AT_WORK: Final = Liveness(
    live=True,
    because="tmux session agentmux-loader",
    tmux=TmuxSession(id="$1", name="agentmux-loader", uuid="u"),
    locked=True,
    orchestrator=4242,
)
_GONE: Final = Liveness(live=False, because="no tmux session")
_CAUSE: Final = "the tmux server is gone: no server answers on /tmp/tmux-1000/default"
_LOST: Final = "coder-1 was lost twice while it implemented the second sub-plan (exit 3)"
_ASKED: Final = "Do you want to make this edit to loader.py? Enter to confirm, Esc to cancel"
RESEARCHER: Final = "code-researcher-how-configuration-files-are-read"
RESULT: Final = ResultView(
    summary=(
        "Duplicate keys raise an error that names both lines.",
        "",
        *(f"{number}. The loader keeps the line of every key in part {number}, so that its errors"
          " name the first line, and the one that repeats it." for number in range(1, 9)),
    ),
    checks=("verifying: passed", "  unit tests: passed"),
    verdicts=("review logic: pass: both lines are right, and nothing else of the loader changes",),
    changes=(*(f"loader/part_{number}.py | 12 ++++++++----" for number in range(8)),
             "8 files changed, 64 insertions(+), 32 deletions(-)"),
    digest="0" * 64,
)  # fmt: skip


def _seat(name: str = "coder-1", **values: Any) -> dict[str, Seat]:
    given = {"launch": "L1", "role": name.rpartition("-")[0] or name, "phase": "implementing"}
    given |= {"mode": "fresh", "reason": "it has no earlier conversation", "since": SINCE}
    return {name: Seat(**{**given, **values})}


def _deciding(check: PhaseResult) -> dict[str, Any]:
    results = {Phase.REVIEWING: PhaseResult(outcome=PASSED), "verifying": check}
    return {"phase": Phase.COMPLETING, "summary_submitted": True, "results": results}


_ONE: Final[dict[str, Any]] = {"phase": Phase.IMPLEMENTING, "seats": _seat(mode="native")}
_FAILED: Final = Interruption(cause=_LOST, seat="coder-1", phase="implementing", at=SINCE)
_LIMIT: Final = {"coder-1": Parked(launch="L1", agent="claude", until=UNTIL)}

STATES: Final[dict[str, tuple[dict[str, Any], Liveness, str]]] = {
    "running": (_ONE | {"seats": _ONE["seats"] | _seat(RESEARCHER)}, _AT_WORK, "busy"),
    "waiting": (_ONE, _AT_WORK, "waiting_for_user"),
    "to decide": (_deciding(_PASSED), _AT_WORK, ""),
    "doubtful": (_deciding(_RED), _AT_WORK, ""),
    "failed": (
        {"phase": Phase.FAILED, "seats": _seat(status="crashed"), "interruption": _FAILED},
        _AT_WORK, "crashed",
    ),
    "interrupted": (_ONE | {"interruption": Interruption(cause=_CAUSE, at=SINCE)}, _GONE, ""),
    "stopped": ({"phase": Phase.PLANNING,
                 "interruption": Interruption(cause="stopped by the user", at=SINCE)}, _GONE, ""),
    "parked": (_ONE | {"parked": _LIMIT}, _AT_WORK, "usage_limit"),
    "done": ({"phase": Phase.DONE}, _GONE, ""),
}  # fmt: skip
"""The state, the liveness, and what the first seat is seen to do, by the name of the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A session of the table.

    Attributes:
        case: Its case in `STATES`.
        entry: What is read of it.
        view: What commands show of it.
        short: Its short name.
        row: Its row in lists.
        state: Its state.
        picture: What its monitor shows.
        outlook: What a resume of it would do.
    """

    case: str
    entry: SessionEntry
    view: SessionView
    short: str
    row: SessionRow
    state: SessionState
    picture: MonitorContent
    outlook: Outlook

    @property
    def name(self) -> str:
        """The name of the session."""
        return self.entry.name


def _name(place: int, request: str) -> str:
    return f"20260101-10{place:02}00-{layout.slug(request)}"


@functools.cache
def samples(case: str = "") -> tuple[Sample, ...]:
    """Return a session for each request, in a case; in all cases, one after another, if empty."""
    chosen = [case or list(STATES)[place % len(STATES)] for place in range(len(REQUESTS))]
    names = [_name(place, request) for place, request in enumerate(REQUESTS)]
    short = short_names(names)
    return tuple(map(_sample, chosen, names, REQUESTS, (short[each] for each in names)))


def _sample(case: str, name: str, request: str, short: str) -> Sample:
    values, liveness, seen = STATES[case]
    path = PROJECT / layout.SESSIONS_DIR / name
    state = SessionState(
        **{
            "feature": request,
            "feature_dir": f"{layout.SESSIONS_DIR}/{name}",
            "pipeline": _CHECKED,
            "agents": {"coder-1": {"agent": "claude", "model": "opus"}},
            "verify": ({"name": "unit tests", "run": ["x"], "timeout_s": 60, "required": True},),
            "branch": f"agentmux/{name}",
            "worktree": f"/home/ada/.local/share/agentmux/worktrees/loader-0a1b2c/{name}",
            **values,
        }
    )  # fmt: skip
    entry = SessionEntry(
        name=name, path=path, fields=encode(state), source="state.json",
        updated=NOW - timedelta(minutes=7),
    )  # fmt: skip
    note = {"status": seen, "source": "screen", "since": SINCE}
    note["asks"] = question_in(seen, _ASKED)
    panes = {"coder-1": {"pane": "%1", "launch": "L1"}}
    runtime = {"statuses": {"coder-1": note}, "panes": panes} if seen else {}
    view = session_view(entry, liveness, runtime, project=PROJECT, now=NOW)
    return Sample(
        case=case,
        entry=entry,
        view=view,
        short=short,
        row=session_row(view),
        state=state,
        picture=_picture(state, seen, short),
        outlook=_outlook(view),
    )


def _picture(state: SessionState, seen: str, short: str) -> MonitorContent:
    until = UNTIL if seen == "usage_limit" else ""
    doing = SeatStatus(status=seen, source="screen", since=SINCE, until=until)
    messages = (
        MonitorMessage("coder-1: started again, since its agent had ended (exit 3)", NOW),
        MonitorMessage("the result was handed in by the coder of the first sub-plan", NOW),
    )
    return MonitorContent(
        state=state,
        statuses={"coder-1": doing} if seen else {},
        problem=None,
        messages=messages,
        now=NOW,
        result=_result(state) if state.summary_submitted else None,
        last_lines={"coder-1": _ASKED} if seen == "waiting_for_user" else {},
        spent_s={"architecting": 300.0},
        name=short,
        leave=LEAVE,
    )


def _result(state: SessionState) -> ResultView:
    checks = verified_lines(state, tail=OUTPUT_LINES)
    has_failed = state.results["verifying"].outcome == CAPPED
    goes = ("commit 8 files",) if has_failed else ()
    return replace(RESULT, checks=checks, has_failed=has_failed, goes=goes)


def _outlook(view: SessionView) -> Outlook:
    if view.live:
        return live_outlook(view)
    seats = (
        SeatOutlook(seat="coder-1", agent="claude", mode="native", reason="every check passed"),
        SeatOutlook(seat=RESEARCHER, agent="codex", mode="fresh",
                    reason="its conversation was recorded on another host"),
    )  # fmt: skip
    return Outlook(
        name=view.session,
        phase=view.phase or "",
        because="sub-plan 2 is not done",
        seats=() if view.status == SessionStatus.DONE else seats,
    )
