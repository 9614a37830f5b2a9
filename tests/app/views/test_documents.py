"""Which documents a session has, and in which order."""

import os
from pathlib import Path

from agentmux.app.views.session.documents import documents


def test_the_folder_written_last_comes_first_whatever_it_is_called(tmp_path: Path) -> None:
    names = ("requirements.md", "verifying/results.yaml", "04_planning/plan.yaml")
    for at, name in enumerate((*names, "08_completion/note.txt", "08_completion/summary.md")):
        made = tmp_path / name
        made.parent.mkdir(exist_ok=True)
        made.write_text(name)
        os.utime(made, (at, at))
    (tmp_path / "launches").mkdir()
    (tmp_path / "launches/prompt.md").write_text("for an agent")
    found = list(documents(tmp_path))
    first = ["08_completion/summary.md", "08_completion/note.txt"]
    assert found == [*first, "04_planning/plan.yaml", "verifying/results.yaml", "requirements.md"]
    os.utime(tmp_path / "verifying/results.yaml", (9, 9))
    assert next(iter(documents(tmp_path))) == "verifying/results.yaml"
