"""The session's writer, with a disk that is full at any moment, and with a lost state."""

import errno
import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.app.session.writer import Session
from agentmux.core.codec.digests import sha256
from agentmux.core.decisions.inference import infer
from agentmux.core.definitions.definition import definition_fields
from agentmux.core.documents.plan import check_plan
from agentmux.core.journal.events import (
    AgentExited,
    ArtifactsArchived,
    CodeDone,
    Fact,
    PlanDone,
    PmDone,
    PromptReached,
    ReviewDone,
)
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import DataError, SupersededError
from tests.app.hand_made import recorded, write_files
from tests.app.invariants import history
from tests.app.on_disk import AT, OnDisk
from tests.core.builders import plan, review
from tests.core.fold.test_pipelines import CHECKED
from tests.faults.operations import Operation, Operations


@dataclass
class Disk:
    """Counts operations, and fails the one with number ``full_at`` with ENOSPC."""

    full_at: int = -1
    count: int = 0

    def before(self, operation: Operation) -> None:
        self.count += 1
        if self.count == self.full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), operation.path)


def test_who_wakes_up_after_another_went_on_commits_nothing(tmp_path: Path) -> None:
    files = OnDisk(tmp_path / "s").files
    slow, quick = opened(files), opened(files)
    slow.take_over()
    quick.take_over()
    quick.record(PromptReached(evidence="quick"), seat="architect", launch="nobody")
    state = (files.path / layout.STATE).read_bytes()
    with pytest.raises(SupersededError):
        slow.record(PromptReached(evidence="slow"), seat="architect", launch="nobody")
    assert (files.path / layout.STATE).read_bytes() == state


def test_a_disk_that_is_full_at_any_operation_only_delays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OnDisk(tmp_path / "s").files
    session = opened(files)
    session.take_over()
    disk = Disk()

    def record(number: int) -> None:
        session.record(PromptReached(evidence=str(number)), seat="architect", launch="nobody")

    with monkeypatch.context() as context:
        Operations(tmp_path, disk.before).install(context.setattr)
        record(0)
        operations = disk.count
        assert operations > 8
        for number in range(1, operations + 1):
            disk.full_at, disk.count = number, 0
            with suppress(DataError):  # not every failure is an error, such as that of a backup
                record(number)
            assert disk.count >= number
            disk.full_at = -1
            session.catch_up()
            assert session.state == files.load().state == history(files.tail(0))[-1].after
    record(-1)
    cursor = json.loads((files.path / layout.CURSOR).read_text())
    assert cursor["applied_offset"] == (files.path / layout.JOURNAL).stat().st_size


def test_an_agent_that_repeats_itself_does_not_keep_a_resume_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = OnDisk(tmp_path / "s")
    session = opened(here.files)
    session.take_over()
    for _ in range(200):
        here.tell(CodeDone(subplan_index=1), seat="coder-1", launch="nobody")
    disk = Disk()
    with monkeypatch.context() as context:
        Operations(tmp_path, disk.before).install(context.setattr)
        assert len(session.catch_up()) == 200
    assert disk.count < 20, "one commit for all that does not count"
    assert session.state == here.files.load().state == history(here.files.tail(0))[-1].after
    assert session.state.applied_offset == (here.path / layout.JOURNAL).stat().st_size


def opened(files: FileSession) -> Session:
    return Session(files, now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex)


class KilledError(BaseException):
    """The end of the process; all later operations fail, too."""


def killed_at_every_operation(
    top: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], object],
    act: Callable[[Path], object],
) -> Iterator[Path]:
    """Yield a folder for each operation at which ``act`` was killed, then one where it finished."""
    number, killed = 0, True
    while killed:
        number, killed, disk = number + 1, False, Disk()
        folder = top / str(number)
        make(folder)

        def before(operation: Operation, disk: Disk = disk, number: int = number) -> None:
            disk.count += 1
            if disk.count >= number:
                raise KilledError

        with monkeypatch.context() as context:
            Operations(folder, before).install(context.setattr)
            try:
                act(folder)
            except KilledError:
                killed = True
        yield folder


def test_an_import_that_is_killed_at_any_operation_is_done_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {
        "v": 1, "id": "x", "at": AT, "event": "request_changes", "seat": "user", "launch": "",
        "cycle": 1, "payload": {"text": "Say hello."},
    }  # fmt: skip
    journal = json.dumps(line) + "\n"

    def older(folder: Path) -> None:
        folder.mkdir()
        (folder / layout.STATE).write_text('{"phase": "completing"}')
        (folder / layout.JOURNAL).write_text(journal)

    def take_over(folder: Path) -> Session:
        session = opened(FileSession(folder))
        session.take_over(texts=lambda state: {layout.CONTEXT: f"cycle {state.cycle}"})
        return session

    count = 0
    for folder in killed_at_every_operation(tmp_path, monkeypatch, older, take_over):
        session = take_over(folder)
        kinds = [event.fact.kind for event, _ in session.files.tail(0)]
        assert kinds == ["journal_created", "session_imported"]
        assert (session.state.cycle, session.state.phase) == (2, "architecting")
        assert session.state == session.files.load().state
        assert (folder / "history/1.0/08_completion/changes.md").read_text() == "Say hello."
        assert (folder / layout.CONTEXT).read_text() == "cycle 2"
        kept = {path.read_text() for path in folder.glob("tool_events.imported-*.jsonl")}
        assert kept == {journal}
        count += 1
    assert count > 20


def test_a_line_that_does_not_parse_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = OnDisk(tmp_path / "s")
    path = disk.path / layout.JOURNAL

    def spoil(data: bytes) -> str:
        place = f"`{path.name}`, byte {path.stat().st_size}: a line was skipped: "
        with path.open("ab") as file:
            file.write(data + b"\n")
        return place

    before = spoil(b"garbage")
    session = opened(disk.files)
    session.take_over()
    assert [text[: len(before)] for text in session.warnings] == [before]
    assert not caplog.records  # because it is one of the warnings already

    after = spoil(b'{"v": 1}')
    for number in range(3):
        session.catch_up()
        session.record(PromptReached(evidence=str(number)), seat="architect", launch="nobody")
    assert [each.getMessage()[: len(after)] for each in caplog.records] == [after]
    told: list[str] = []
    session.tell = told.append
    last = spoil(b"")
    session.catch_up()
    assert [text[: len(last)] for text in told] == [last]
    assert session.state.applied_offset < path.stat().st_size
    assert path.read_bytes().count(b"garbage\n") == 1


# -- a lost state --------------------------------------------------------------------------------

EXECUTION = check_plan(plan(("serial", [1])))[0]
UNAPPLIED: dict[str, tuple[Phase, str, Fact, Phase, str]] = {
    "pm": (
        Phase.PRODUCT_MANAGEMENT, "product-manager", PmDone(), Phase.ARCHITECTING,
        "01_product_management/done",
    ),
    "plan": (
        Phase.PLANNING, "planner", PlanDone(plan=plan(("serial", [1]))), Phase.IMPLEMENTING,
        "04_planning/execution_plan.yaml",
    ),
    "code": (
        Phase.IMPLEMENTING, "coder-1", CodeDone(subplan_index=1), Phase.REVIEWING,
        "06_implementation/done_1",
    ),
    "review": (
        Phase.REVIEWING, "reviewer_logic",
        ReviewDone(role="reviewer_logic", verdict="fail", review=review("fail")), Phase.FIXING,
        "07_review/fix_request.md",
    ),
    "fix": (Phase.FIXING, "coder", CodeDone(), Phase.REVIEWING, "06_implementation/done_1"),
}  # fmt: skip


def waiting(folder: Path, phase: Phase, seat: str, fact: Fact) -> OnDisk:
    """Return a session whose agent has handed in, but whose state does not have it yet."""
    assert EXECUTION is not None
    groups = EXECUTION.execution.to_fields()["groups"]
    fixing = phase == Phase.FIXING
    disk = OnDisk(
        folder,
        phase,
        product_manager=phase == Phase.PRODUCT_MANAGEMENT,
        subplan_count=1,
        implementation_groups=tuple(groups) if isinstance(groups, list) else (),
        implementation_active_plan_ids=(1,),
        reviewer_nominations=("reviewer_logic",),
        review_iteration=1 if fixing else 0,
    )
    disk.leave("02_architecting/architecture.md", "# Architecture\n")
    if phase not in {Phase.PRODUCT_MANAGEMENT, Phase.PLANNING}:
        disk.leave("04_planning/execution_plan.yaml", EXECUTION.execution.to_fields())
    if fixing:
        disk.leave("07_review/fix_request.md", "# Mend it\n")
    elif phase == Phase.REVIEWING:
        disk.leave("06_implementation/done_1", "")
        disk.leave("07_review/review_logic.yaml", review("fail"))
    disk.launch(seat, subplan=1 if seat == "coder-1" else None)
    disk.commit()
    disk.tell(fact, seat, f"launch-{seat}")
    return disk


def test_what_checks_had_decided_counts_though_state_and_journal_are_lost(tmp_path: Path) -> None:
    checked = {"name": "tests", "run": ["true"], "timeout_s": 9, "required": True}
    whole = json.dumps(
        {"pipeline": definition_fields(CHECKED), "files": {}, "verify": [checked], "setup": []}
    )
    folder = tmp_path / "s"
    for path, text in {
        layout.frozen(sha256(whole.encode()).hexdigest()): whole,
        "06_implementation/done_1": "",
        "verifying/results.yaml": '{"iteration": 0, "outcome": "capped"}',
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    before = FileSession(folder)
    loaded = before.load()
    shown = infer(loaded.state, before.artifacts(loaded.state), state_is_known=False)
    session = opened(FileSession(folder))
    session.take_over()
    assert session.state.results["verifying"].outcome == "capped"
    assert session.infer().phase == shown.phase == Phase.REVIEWING
    lines = (folder / layout.JOURNAL).read_text().splitlines()
    assert [json.loads(line)["v"] for line in lines] == [2, 2]


def taken_over(disk: OnDisk) -> tuple[str, str]:
    """Take a session over and infer its phase; return that and the phase of the artifacts alone."""
    session = opened(disk.files)
    session.take_over()
    inference = session.infer()
    for each in session.state.pending_archive:
        disk.files.archive(each)
    return inference.phase, inference.artifacts_phase


def tree(folder: Path) -> dict[str, bytes]:
    own = (layout.STATE, layout.STATE_BACKUP, layout.CURSOR)
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in own)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("phase", "seat", "fact", "follows", "made"), UNAPPLIED.values(), ids=UNAPPLIED.keys()
)
@pytest.mark.parametrize("behind", [0, 1])
def test_without_a_state_what_was_handed_in_last_is_not_asked_for_again(
    tmp_path: Path, phase: Phase, seat: str, fact: Fact, follows: Phase, made: str, behind: int
) -> None:
    seen = []
    for name in ("whole", "gone"):
        disk = waiting(tmp_path / name, phase, seat, fact)
        if behind:  # an event that the orchestrator wrote before it saw the signal
            disk.tell(AgentExited(cause="finished", status=0), seat, f"launch-{seat}")
        if name == "gone":
            for path in (layout.STATE, layout.STATE_BACKUP):
                (disk.path / path).unlink(missing_ok=True)
            before = tree(disk.path)
            assert disk.files.load().source == "journal"
            assert tree(disk.path) == before
        seen.append((taken_over(disk), disk.state.phase, tree(disk.path)))
        assert made in tree(disk.path)
    assert seen[0] == seen[1]
    assert seen[0][0] == (follows, follows)


def test_without_a_state_what_was_taken_away_since_is_not_put_back(tmp_path: Path) -> None:
    disk = waiting(tmp_path / "s", *UNAPPLIED["plan"][:3])
    taken_over(disk)
    disk.tell(ArtifactsArchived())
    disk.launch("coder-1", subplan=1)
    disk.commit()
    for path in (layout.STATE, "04_planning/execution_plan.yaml"):
        (disk.path / path).unlink()
    assert taken_over(disk) == (Phase.PLANNING, Phase.PLANNING)


def test_without_a_state_what_was_moved_since_is_not_put_back(tmp_path: Path) -> None:
    disk = waiting(tmp_path / "s", *UNAPPLIED["review"][:3])
    taken_over(disk)
    disk.tell(ArtifactsArchived())
    disk.commit()
    before = tree(disk.path)
    (disk.path / layout.STATE).unlink()
    assert taken_over(disk) == (Phase.FIXING, Phase.FIXING)
    assert tree(disk.path) == before


def test_bringing_a_session_into_the_present_form_is_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older session with a review that is not applied: killed anywhere, it is old or new."""
    files = recorded("of-0.1.0-reviewing-pending")["files"]

    def older(folder: Path) -> None:
        write_files(folder, files)

    whole = tmp_path / "whole"
    older(whole)
    began = (whole / layout.STATE).read_bytes()
    session = opened(FileSession(whole))
    session.take_over()
    ended = (whole / layout.STATE).read_bytes()
    assert b'"pipeline"' in ended
    assert b'"pipeline"' not in began
    found: set[bytes] = set()
    sweep = killed_at_every_operation(
        tmp_path, monkeypatch, older, lambda folder: opened(FileSession(folder)).take_over()
    )
    for folder in sweep:
        found.add((folder / layout.STATE).read_bytes())
        taken = opened(FileSession(folder))
        taken.take_over()
        assert taken.infer().phase == session.infer().phase
        assert (folder / layout.STATE).read_bytes() == ended
        assert tree(folder) == tree(whole)
    assert found == {began, ended}


def test_an_older_session_that_another_process_has_written_is_not_written_over(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "s"
    write_files(folder, recorded("of-0.1.0-reviewing-pending")["files"])
    session, state = opened(FileSession(folder)), folder / layout.STATE
    fields = json.loads(state.read_text())
    state.write_text(json.dumps({**fields, "revision": fields["revision"] + 1}))
    before = state.read_bytes()
    with pytest.raises(SupersededError):
        session.take_over()
    assert state.read_bytes() == before


def test_a_rebuilding_that_is_killed_at_any_operation_is_done_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(folder: Path) -> OnDisk:
        disk = waiting(folder, *UNAPPLIED["plan"][:3])
        (disk.path / layout.STATE).unlink()
        return disk

    whole = lost(tmp_path / "whole")
    answer = taken_over(whole)
    count = 0
    sweep = killed_at_every_operation(
        tmp_path, monkeypatch, lost, lambda folder: opened(FileSession(folder)).take_over()
    )
    for folder in sweep:
        taken = opened(FileSession(folder))
        taken.take_over()
        inference = taken.infer()
        assert (inference.phase, inference.artifacts_phase) == answer
        assert tree(folder) == tree(whole.path)
        count += 1
    assert count > 20
