"""What finishes a rewind that was interrupted, with real git."""

from pathlib import Path

from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.session.workplace.unfinished_rewind import finish_rewind
from agentmux.core.journal.events import RewindStarted
from tests.app.scene import Scene
from tests.fakes.bench import Bench as TmuxTerminal


def test_what_was_written_since_the_interruption_is_saved_first(
    tmp_path: Path, isolated: str, tmux: TmuxTerminal
) -> None:
    scene = Scene(tmp_path, tmux)
    scene.session()
    session = scene.make()
    scene.save(session)
    (scene.place / "new.txt").write_text("a line of the coder\n")
    scene.save(session)
    session.record(RewindStarted(number=1, before=2, phase="planning", subplans=(), stale=()))
    (scene.place / "new.txt").write_text("a line of the user\n")
    (scene.place / "other.txt").write_text("a new file of the user\n")

    assert finish_rewind(with_workplace(scene.world, session.state), session) == ()
    assert (scene.place / "new.txt").read_text() == "new\n"
    assert (scene.place / "other.txt").exists()
    saved = session.state.tree_checkpoints
    assert [each.because for each in saved] == ["stop", "stop", "rewind", "rewound"]
    inside = with_workplace(scene.world, session.state)
    store = inside.git.checkpoints(inside.tree, scene.path.resolve(), session.state.session_id)
    store.write_files(saved[3].commit, saved[2].commit, leave=())
    assert (scene.place / "new.txt").read_text() == "a line of the user\n"
