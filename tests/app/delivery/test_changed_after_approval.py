"""An approval of a stopped session whose files change before the next resume."""

import os
from pathlib import Path

from agentmux.app.delivery.approval.approval_question import approval_of
from agentmux.app.delivery.approval.deliverable import deliverable
from agentmux.app.signals.submission import decide
from agentmux.core.journal.events import CommitFailed
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.delivery import failure_hints
from tests.app.driver import NotedRepository, Studio, make_project


def approve(studio: Studio) -> str:
    """Approve what is there now; return the answer."""
    files, state = studio.world.files(studio.session), studio.state()
    fact = approval_of(files, state, deliverable(studio.world, state), "keep")
    new_id, at = studio.world.new_id, "2026-01-01T10:15:00Z"
    made = decide(files, fact, at=at, new_id=new_id, poke=lambda _: False, cycle=state.cycle)
    return made.result


def test_a_file_that_changes_after_the_approval_means_that_nothing_is_delivered(
    tmp_path: Path,
) -> None:
    studio = Studio(make_project(tmp_path / "project"), dict(os.environ), cycles=1, short=True)
    repository = studio.world.repository
    assert isinstance(repository, NotedRepository)
    repository.begin()
    studio.ends_when = lambda state: state.summary_submitted and not state.pending_archive
    studio.start()
    studio.drive("start")

    assert approve(studio) == "accepted"
    (studio.project / "part_1.py").write_text("something else\n")
    studio.ends_when = lambda state: state.commit is not None and state.commit.status == "failed"
    studio.resume()
    studio.drive("resume")
    state = studio.state()
    assert (state.phase, state.approval) == (Phase.COMPLETING, None)
    assert len(repository.commits()) == 1
    (failed,) = [e.fact for e, _ in studio.events() if isinstance(e.fact, CommitFailed)]
    assert "have changed since they were shown" in failed.reason
    assert failure_hints(state) == ("look at them, then approve again",)

    studio.ends_when = lambda state: False
    assert approve(studio) == "accepted"
    studio.resume()
    studio.drive("resume")
    assert studio.state().phase == Phase.DONE
    assert repository.commits()[-1]["files"]["part_1.py"] == "something else\n"
