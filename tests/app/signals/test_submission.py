"""Signals with real files: which are accepted or refused, and what is added to the journal."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.wake.pipe import WakeFifo, poke
from agentmux.app.signals.submission import (
    NEXT_RESUME,
    SubmitAnswer,
    decide,
    identity_from,
    report,
    submit,
)
from agentmux.core.config.settings import Settings
from agentmux.core.fold.signals.description import Submission
from agentmux.core.journal.events import (
    Approved,
    ArchitectureDone,
    ChangesRequested,
    CommitFailed,
    CommitStarted,
    ResearchDone,
)
from agentmux.core.journal.state import Options
from agentmux.core.names.phase import Phase
from agentmux.errors import DataError, NotFoundError, UsageError
from agentmux.overriding import override
from tests.app.on_disk import AT, OnDisk, implementing
from tests.core.builders import plan, review

ARCHITECTURE = "02_architecting/architecture.md"
IDS = itertools.count(1)


def hand_in(session: OnDisk, environ: dict[str, str], signal: str, **values: Any) -> SubmitAnswer:
    identity = identity_from(environ, command="agentmux submit")
    return submit(
        session.files,
        identity,
        Submission(signal=signal, **values),
        at=AT,
        new_id=lambda: f"n{next(IDS)}",
        poke=poke,
    )


def user(session: OnDisk, fact: Approved | ChangesRequested) -> SubmitAnswer:
    return decide(session.files, fact, at=AT, new_id=lambda: f"n{next(IDS)}", poke=poke)


@pytest.fixture
def architecting(tmp_path: Path) -> OnDisk:
    return OnDisk(tmp_path / "s")


# -- journal lines -------------------------------------------------------------------------------


def test_an_accepted_signal_is_one_line_that_names_its_artifact(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    text = "---\nreviewers: [quality, reviewer_logic]\n---\n# How\n"
    architecting.leave(ARCHITECTURE, text)
    answer = hand_in(architecting, environ, "submit_architecture")
    event = architecting.events[-1]
    assert (answer.result, answer.event_id) == ("accepted", event.id)
    assert (event.seat, event.launch, event.at) == ("architect", "launch-architect", AT)
    assert event.fact == ArchitectureDone(
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        reviewers=("reviewer_quality", "reviewer_logic"),
    )
    assert architecting.state.phase == Phase.PLANNING


def test_the_same_work_again_is_a_duplicate_and_no_second_line(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    architecting.leave(ARCHITECTURE, "how")
    first = hand_in(architecting, environ, "submit_architecture")
    lines = len(architecting.events)
    architecting.commit()
    again = hand_in(architecting, environ, "submit_architecture")
    assert (again.result, again.event_id) == ("duplicate", first.event_id)
    assert len(architecting.events) == lines


def test_other_work_after_the_phase_is_journaled_and_ignored(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    architecting.leave(ARCHITECTURE, "how")
    hand_in(architecting, environ, "submit_architecture")
    architecting.leave(ARCHITECTURE, "how else")
    before = architecting.state
    answer = hand_in(architecting, environ, "submit_architecture")
    assert answer.result == "ignored"
    assert "moved on to planning" in answer.reason
    assert architecting.kinds[-2:] == ["submit_architecture"] * 2
    assert architecting.state.phase == before.phase
    assert architecting.state.signals == before.signals


def test_an_older_launch_is_ignored_even_with_nothing_to_show(architecting: OnDisk) -> None:
    old = architecting.launch("architect", launch="old")
    architecting.launch("architect", launch="new")
    answer = hand_in(architecting, old, "submit_architecture")
    assert answer.result == "ignored"
    assert "belongs to launch new" in answer.reason
    assert architecting.kinds[-1] == "submit_architecture"
    assert architecting.state.phase == Phase.ARCHITECTING


def test_a_refused_signal_leaves_no_line(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    before = architecting.files.journal.path.read_bytes()
    answer = hand_in(architecting, environ, "submit_architecture")
    assert (answer.result, answer.event_id) == ("refused", None)
    assert answer.problems == (f"{ARCHITECTURE}: missing",)
    assert architecting.files.journal.path.read_bytes() == before


def test_a_torn_line_of_a_killed_writer_is_no_obstacle(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    architecting.leave(ARCHITECTURE, "how")
    with architecting.files.journal.path.open("ab") as file:
        file.write(b'{"v":1,"id":"half')
    assert hand_in(architecting, environ, "submit_architecture").result == "accepted"
    assert architecting.state.phase == Phase.PLANNING


def test_the_answer_is_on_the_disk_before_it_is_given(
    architecting: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = architecting.launch("architect")
    architecting.leave(ARCHITECTURE, "how")
    synced: list[bytes] = []
    fsync = os.fsync

    def recorded(fd: int) -> None:
        fsync(fd)
        if os.fstat(fd).st_ino == architecting.files.journal.path.stat().st_ino:
            synced.append(os.pread(fd, 1 << 16, 0))

    monkeypatch.setattr(os, "fsync", recorded)
    hand_in(architecting, environ, "submit_architecture")
    assert b"submit_architecture" in synced[-1]
    synced.clear()
    assert hand_in(architecting, environ, "submit_architecture").result == "duplicate"
    assert synced, "a duplicate is only as good as the line it is one of"


# -- waking --------------------------------------------------------------------------------------


def test_it_wakes_the_orchestrator_or_says_when_it_applies(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    assert NEXT_RESUME in hand_in(architecting, environ, "submit_hello").reason
    pipe = WakeFifo(architecting.path)
    try:
        architecting.leave(ARCHITECTURE, "how")
        assert hand_in(architecting, environ, "submit_architecture").reason == ""
        assert pipe.drain() == {b"w\n"}
    finally:
        pipe.close()


# -- the rules of each artifact ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b" \n\t", "empty"),
        (b"\xff\xfe how", "byte 0 is not UTF-8"),
        (b"---\nreviewers: [speed]\n---\nhow", "`speed` is not a reviewer"),
        (b"---\nreviewers: [logic\n---\nhow", "line "),
        (b"x" * ((8 << 20) + 1), "larger than 8388608 bytes"),
    ],
)
def test_an_architecture_that_breaks_a_rule(
    architecting: OnDisk, content: bytes, problem: str
) -> None:
    environ = architecting.launch("architect")
    architecting.leave(ARCHITECTURE, content)
    answer = hand_in(architecting, environ, "submit_architecture")
    assert answer.result == "refused"
    assert problem in answer.problems[0]


@pytest.mark.parametrize(
    "make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/fstab")]
)
def test_what_is_no_regular_file_is_no_artifact(
    architecting: OnDisk, make: Callable[[Path], object]
) -> None:
    environ = architecting.launch("architect")
    path = architecting.path / ARCHITECTURE
    path.parent.mkdir()
    make(path)
    answer = hand_in(architecting, environ, "submit_architecture")
    assert answer.problems == (f"{ARCHITECTURE}: not a regular file",)


def test_a_plan_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    session = OnDisk(tmp_path / "s", Phase.PLANNING)
    environ = session.launch("planner")
    wrong = plan(("parallel", [1, 2]))
    wrong["subplans"][0]["owned_files"] = ["/abs"]
    wrong["groups"][0]["mode"] = "both"
    del wrong["plan_overview"]
    session.leave("04_planning/plan.yaml", wrong)
    answer = hand_in(session, environ, "submit_plan")
    assert answer.result == "refused"
    assert len(answer.problems) == 3
    assert str(session.path / "04_planning/plan.yaml") in answer.reason
    session.leave("04_planning/plan.yaml", plan(("parallel", [1, 2])))
    assert hand_in(session, environ, "submit_plan").result == "accepted"
    assert session.state.subplan_count == 2


def test_a_plan_over_its_bound_is_refused_and_one_below_fits_the_journal(tmp_path: Path) -> None:
    session = OnDisk(tmp_path / "s", Phase.PLANNING)
    environ = session.launch("planner")
    big = plan(("serial", [1]))
    # The worst case: a character with two bytes on disk and six in the ASCII journal.
    big["subplans"][0]["scope"] = "é" * 130_000
    session.leave("04_planning/plan.yaml", json.dumps(big, ensure_ascii=False))
    assert hand_in(session, environ, "submit_plan").result == "accepted"
    session = OnDisk(tmp_path / "t", Phase.PLANNING)
    environ = session.launch("planner")
    big["subplans"][0]["scope"] = "é" * 140_000
    session.leave("04_planning/plan.yaml", json.dumps(big, ensure_ascii=False))
    answer = hand_in(session, environ, "submit_plan")
    assert answer.problems == ("04_planning/plan.yaml: larger than 262144 bytes",)


@pytest.mark.parametrize("name", ["review_logic.yaml", "review_reviewer_logic.yaml", "review.yaml"])
def test_a_review_is_found_under_each_of_its_names(tmp_path: Path, name: str) -> None:
    session = OnDisk(
        tmp_path / "s", Phase.REVIEWING, reviewer_nominations=("reviewer_logic",), subplan_count=1
    )
    environ = session.launch("reviewer_logic")
    session.leave(f"07_review/{name}", review("fail"))
    assert hand_in(session, environ, "submit_review", role="logic").result == "accepted"
    assert session.state.phase == Phase.FIXING


def test_with_two_reviewers_a_review_needs_a_name_of_its_own(tmp_path: Path) -> None:
    both = ("reviewer_logic", "reviewer_quality")
    session = OnDisk(tmp_path / "s", Phase.REVIEWING, reviewer_nominations=both)
    environ = session.launch("reviewer_quality")
    session.leave("07_review/review.yaml", review("pass"))
    answer = hand_in(session, environ, "submit_review", role="quality")
    assert answer.problems == ("07_review/review_quality.yaml: missing",)
    session.leave("07_review/review_quality.yaml", {"verdict": "fail", "summary": "s"})
    answer = hand_in(session, environ, "submit_review")
    assert answer.problems == ("findings: a review that fails needs at least one finding",)
    session.leave("07_review/review_quality.yaml", review("pass"))
    assert hand_in(session, environ, "submit_review", role="reviewer_quality").result == "accepted"


def test_a_reviewer_cannot_speak_for_another(tmp_path: Path) -> None:
    both = ("reviewer_logic", "reviewer_quality")
    session = OnDisk(tmp_path / "s", Phase.REVIEWING, reviewer_nominations=both)
    environ = session.launch("reviewer_logic")
    session.leave("07_review/review_quality.yaml", review("pass"))
    answer = hand_in(session, environ, "submit_review", role="quality")
    assert answer.result == "ignored"
    assert not session.state.results


@pytest.mark.parametrize(
    ("signal", "phase", "role", "path", "after"),
    [
        (
            "submit_pm_done",
            Phase.PRODUCT_MANAGEMENT,
            "product-manager",
            "01_product_management/requirements.md",
            Phase.ARCHITECTING,
        ),
        (
            "submit_design",
            Phase.DESIGNING,
            "designer",
            "05_design/design.md",
            Phase.IMPLEMENTING,
        ),
        (
            "submit_summary",
            Phase.COMPLETING,
            "reviewer_logic",
            "08_completion/summary.md",
            Phase.COMPLETING,
        ),
    ],
)
def test_a_text_has_to_be_there_with_content(
    tmp_path: Path, signal: str, phase: Phase, role: str, path: str, after: Phase
) -> None:
    session = OnDisk(tmp_path / "s", phase, product_manager=True)
    environ = session.launch(role)
    assert hand_in(session, environ, signal).problems == (f"{path}: missing",)
    session.leave(path, "\n")
    assert hand_in(session, environ, signal).problems == (f"{path}: empty",)
    session.leave(path, "all of it")
    assert hand_in(session, environ, signal).result == "accepted"
    assert session.state.phase == after


# -- coders --------------------------------------------------------------------------------------


def test_a_coder_says_done_for_its_own_sub_plan(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 2)
    environ = session.launch("coder-2", subplan=2)
    assert hand_in(session, environ, "submit_done", subplan_index=1).result == "ignored"
    assert hand_in(session, environ, "submit_done").result == "accepted"
    assert session.state.completed_subplans == (2,)
    assert hand_in(session, environ, "submit_done", subplan_index=2).result == "duplicate"


def test_a_single_coder_signals_each_sub_plan(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 2, single=True)
    environ = session.launch("coder")
    assert "--subplan" in hand_in(session, environ, "submit_done").reason
    assert hand_in(session, environ, "submit_done", subplan_index=1).result == "accepted"
    assert hand_in(session, environ, "submit_done", subplan_index=2).result == "accepted"
    assert session.state.phase == Phase.REVIEWING


# -- research ------------------------------------------------------------------------------------


def test_a_topic_is_asked_once_and_answered_every_time(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    asked: dict[str, Any] = {"topic": "auth", "question": "which library?"}
    assert hand_in(architecting, environ, "research_dispatch_web", **asked).result == "accepted"
    again = hand_in(architecting, environ, "research_dispatch_web", **asked)
    assert (again.result, "in progress" in again.reason) == ("duplicate", True)
    assert architecting.state.web_research_tasks == {"auth": "dispatched"}

    pane = architecting.launch("web-researcher-auth", "web-researcher", topic="auth")
    folder = "03_research/web-auth"
    refused = hand_in(architecting, pane, "submit_research_done")
    assert refused.problems == (f"{folder}/summary.md: missing", f"{folder}/detail.md: missing")
    architecting.leave(f"{folder}/summary.md", "this one")
    architecting.leave(f"{folder}/detail.md", "because")
    assert hand_in(architecting, pane, "submit_research_done", topic="auth").result == "accepted"
    assert isinstance(architecting.events[-1].fact, ResearchDone)

    done = hand_in(architecting, environ, "research_dispatch_web", **asked)
    assert done.reason == f"done: {architecting.path}/{folder}/summary.md"
    other = hand_in(architecting, environ, "research_dispatch_code", **asked)
    assert (other.result, "done" in other.reason) == ("accepted", False)


def test_another_seat_that_asks_becomes_an_owner_too(architecting: OnDisk) -> None:
    architect = architecting.launch("architect")
    planner = architecting.launch("planner")
    asked: dict[str, Any] = {"topic": "auth", "question": "which library?"}
    hand_in(architecting, architect, "research_dispatch_code", **asked)
    answer = hand_in(architecting, planner, "research_dispatch_code", **asked)
    assert (answer.result, "in progress" in answer.reason) == ("accepted", True)
    assert architecting.state.research["code-auth"].owners == ("architect", "planner")


@pytest.mark.parametrize("topic", ["", "../x", "-x", "A", "a b", "a" * 49, "x\n"])
def test_a_topic_is_a_plain_short_name(architecting: OnDisk, topic: str) -> None:
    environ = architecting.launch("architect")
    answer = hand_in(architecting, environ, "research_dispatch_code", topic=topic, question="")
    assert answer.result == "refused"
    assert [problem.partition(":")[0] for problem in answer.problems] == ["topic", "question"]


# -- conversations -------------------------------------------------------------------------------


def test_a_byte_of_a_question_that_is_no_text_is_replaced(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    asked = {"topic": "auth", "question": "what \udcff is"}
    hand_in(architecting, environ, "research_dispatch_code", **asked)
    assert architecting.state.research["code-auth"].question == "what ? is"


def learns(session: OnDisk, said: str) -> dict[str, str]:
    environ = session.launch("architect", record={"session_ref": None})
    return {**environ, "AGENTMUX_LEARN": "DEMO_THREAD_ID", "DEMO_THREAD_ID": said}


def conversation(session: OnDisk) -> object:
    return session.state.agents["architect"]["session_ref"]


def test_hello_tells_the_conversation(architecting: OnDisk) -> None:
    environ = learns(architecting, "abc-1")
    assert hand_in(architecting, environ, "submit_hello").result == "accepted"
    assert architecting.state.agents["architect"]["session_ref"] == "abc-1"
    assert architecting.state.seats["architect"].reached
    assert architecting.kinds[-1] == "submit_hello"


@pytest.mark.parametrize("said", ["--evil", "", "../x", "a b", "x" * 129])
def test_what_is_no_id_is_not_taken_for_one(architecting: OnDisk, said: str) -> None:
    hand_in(architecting, learns(architecting, said), "submit_hello")
    assert architecting.state.agents["architect"]["session_ref"] is None


def test_a_conversation_that_changed_is_learned_with_any_signal(architecting: OnDisk) -> None:
    environ = learns(architecting, "one")
    hand_in(architecting, environ, "submit_hello")
    asked: dict[str, Any] = {"topic": "auth", "question": "which?"}
    hand_in(architecting, {**environ, "DEMO_THREAD_ID": "two"}, "research_dispatch_code", **asked)
    assert conversation(architecting) == "two"
    assert hand_in(architecting, environ, "submit_hello").result == "duplicate"
    assert conversation(architecting) == "one"
    lines = len(architecting.events)
    hand_in(architecting, environ, "submit_hello")
    assert len(architecting.events) == lines


def test_the_last_signal_of_a_launch_still_tells_the_conversation(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 1)
    environ = session.launch("coder-1", subplan=1, record={"session_ref": None})
    environ |= {"AGENTMUX_LEARN": "DEMO_THREAD_ID", "DEMO_THREAD_ID": "abc"}
    hand_in(session, environ, "submit_done")
    assert session.state.phase == Phase.REVIEWING
    assert session.state.agents["coder-1"]["session_ref"] == "abc"


def test_a_report_is_recorded_once(architecting: OnDisk) -> None:
    environ = learns(architecting, "abc")
    identity = identity_from(environ, command="agentmux hook")

    def tell() -> bool:
        return report(
            architecting.files,
            identity,
            evidence="hook",
            at=AT,
            new_id=lambda: f"n{next(IDS)}",
            poke=poke,
        )

    assert tell()
    assert architecting.kinds[-2:] == ["conversation_learned", "prompt_reached"]
    assert not tell()
    architecting.launch("architect", launch="new", record={"session_ref": None})
    assert not tell(), "another launch has the seat now"


def test_codex_hands_its_mcp_servers_all_that_says_who_calls(architecting: OnDisk) -> None:
    asked: set[str] = set()

    class Noted(UserDict[str, str]):
        @override
        def __getitem__(self, name: str) -> str:
            asked.add(name)
            return str(super().__getitem__(name))

    environ = Noted(architecting.launch("architect"))
    assert identity_from(environ, command="agentmux mcp").seat == "architect"
    mcp = load_registry(Settings())["codex"].mcp
    assert mcp is not None
    (listed,) = [word for word in mcp.args if ".env_vars=" in word]
    # The MCP server does not need AGENTMUX_LEARN, because it never sees the conversation's id.
    assert asked - {"AGENTMUX_LEARN"} <= set(json.loads(listed.partition("=")[2]))


# -- the user ------------------------------------------------------------------------------------


@pytest.fixture
def completing(tmp_path: Path) -> OnDisk:
    session = OnDisk(tmp_path / "s", Phase.COMPLETING, reviewer_nominations=("reviewer_logic",))
    environ = session.launch("reviewer_logic")
    session.leave("08_completion/summary.md", "all of it")
    hand_in(session, environ, "submit_summary")
    return session


def test_the_user_decides_also_while_the_session_is_stopped(completing: OnDisk) -> None:
    answer = user(completing, Approved())
    assert (answer.result, answer.reason) == ("accepted", NEXT_RESUME)
    assert completing.events[-1].seat == "user"
    again = user(completing, Approved())
    assert (again.result, again.event_id == answer.event_id) == ("ignored", False)


def test_after_a_commit_that_failed_the_user_can_approve_again(tmp_path: Path) -> None:
    session = OnDisk(
        tmp_path / "s", Phase.COMPLETING, options=_with_commit(), summary_submitted=True
    )
    first = user(session, Approved())
    session.tell(CommitStarted(approval=first.event_id or ""))
    session.tell(CommitFailed(reason="a hook said no"))
    assert user(session, Approved()).result == "accepted"


def _with_commit() -> Options:
    return Options(commit=True)


def test_changes_begin_the_next_cycle(completing: OnDisk) -> None:
    assert user(completing, ChangesRequested(text=" \n")).problems == ("text: empty",)
    assert user(completing, ChangesRequested(text="x" * 200_000)).result == "refused"
    assert user(completing, ChangesRequested(text="$(touch x) `y` é")).result == "accepted"
    assert (completing.state.phase, completing.state.cycle) == (Phase.ARCHITECTING, 2)


def test_a_byte_of_the_changes_that_is_no_text_is_replaced(completing: OnDisk) -> None:
    user(completing, ChangesRequested(text="not \udcff so"))
    assert completing.events[-1].fact == ChangesRequested(text="not ? so")


def test_there_is_nothing_to_decide_while_agents_work(architecting: OnDisk) -> None:
    answer = user(architecting, Approved())
    assert (answer.result, "architecting" in answer.reason) == ("ignored", True)


# -- the pane of a signal ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AGENTMUX_SESSION_DIR", "AGENTMUX_LAUNCH_ID", "AGENTMUX_SEAT"])
def test_outside_a_pane_it_says_whose_command_this_is(architecting: OnDisk, name: str) -> None:
    environ = architecting.launch("architect")
    del environ[name]
    with pytest.raises(UsageError, match=f"by an agent inside its pane: {name}"):
        hand_in(architecting, environ, "submit_hello")


def test_another_session_at_the_path_takes_nothing(architecting: OnDisk) -> None:
    environ = architecting.launch("architect") | {"AGENTMUX_SESSION_ID": "another"}
    with pytest.raises(UsageError, match="belongs to session another"):
        hand_in(architecting, environ, "submit_hello")


def test_a_session_that_was_removed_is_not_found(architecting: OnDisk, tmp_path: Path) -> None:
    environ = architecting.launch("architect")
    architecting.path.rename(tmp_path / "moved")
    with pytest.raises(NotFoundError):
        hand_in(architecting, environ, "submit_hello")
    assert not architecting.path.exists()


def test_an_older_session_takes_signals_after_its_first_resume(architecting: OnDisk) -> None:
    environ = architecting.launch("architect")
    fields = json.loads((architecting.path / "state.json").read_text())
    older = '{"event":"submit_plan"}\n'
    fields |= {"applied_offset": len(older)}
    del fields["journal_id"]
    architecting.leave("state.json", fields)
    architecting.leave("tool_events.jsonl", older)
    before = architecting.files.journal.path.read_bytes()
    with pytest.raises(DataError, match="older version"):
        hand_in(architecting, environ, "submit_hello")
    assert architecting.files.journal.path.read_bytes() == before


# -- signals at the same time --------------------------------------------------------------------


def test_eight_processes_at_once_are_each_taken_once(tmp_path: Path) -> None:
    session = implementing(tmp_path / "s", 8)
    panes = [session.launch(f"coder-{index}", subplan=index) for index in range(1, 9)]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "agentmux", "submit", "done", "--json"],
            env=pane,
            stdout=subprocess.PIPE,
            text=True,
        )
        for pane in (*panes, *panes)
    ]
    answers = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    results = sorted(answer["result"] for answer in answers)
    assert results == ["accepted"] * 8 + ["duplicate"] * 8
    assert session.kinds.count("submit_done") == 8
    assert len({answer["event_id"] for answer in answers}) == 8
    assert session.state.completed_subplans == tuple(range(1, 9))
    assert session.state.phase == Phase.REVIEWING
