"""A fleet for the pictures: one worker, and a feature in each situation."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from docs.picture_stage import Stage, wait_until
from docs.picture_story import Story

_AGENTS: Final = {
    "asks": {"roles": {"coder": {"dialog": "permission"}}},
    "works": {"roles": {"coder": {"think": 3600}}},
}
_IDS: Final = ("1f6c2a90", "3b8e41d7", "5c07f9e2", "72d4a6b1", "8a19e35c", "9d52c0f8", "b6e78314")


@contextmanager
def fleet(story: Story) -> Iterator[None]:
    """Have a fleet in the block; what is to be seen of it is there."""
    stage, folder = story.stage, story.stage.home / ".config/agentmux"
    agents = {}
    for name, script in _AGENTS.items():
        file = stage.root / f"{name}.json"
        file.write_text(json.dumps(script))
        agents[name] = {"like": "demo", "args": ["--scenario", str(file)]}
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"version": 1, "agents": agents, "fleet": {"repos": [str(story.notes)]}}
    (folder / "config.yaml").write_text(json.dumps(settings))
    stage.run("agentmux", "fleet", "init")
    argv = ("agentmux", "fleet", "worker", "--name", "alpha")
    with subprocess.Popen(argv, cwd=stage.home, env=stage.env, stderr=subprocess.DEVNULL) as worker:
        try:
            found = _submit(story, "Find notes by their words")
            _submit(story, "Share a note by a link")
            _submit(story, "Import notes from a folder", agent="asks")
            _until(stage, waiting=3)
            stage.run("agentmux", "fleet", "approve", "--yes", found)
            _until(stage, done=1)
            _submit(story, "Undo the last change of a note", agent="works")
            _submit(story, "Pin a note to the top", agent="works")
            _submit(story, "Print a note")
            cancelled = _submit(story, "Sort notes by their date")
            stage.run("agentmux", "fleet", "cancel", "--yes", cancelled)
            _until(stage, implementing=3, failed=1, queued=1)
            yield
        finally:
            worker.terminate()


def _submit(story: Story, feature: str, *, agent: str = "demo") -> str:
    """Submit a feature; return its id, in whose place pictures show the same one every time."""
    argv = ("agentmux", "fleet", "submit", "--json", "--quick", "--agent", agent, feature)
    (made,) = json.loads(story.stage.run(*argv, cwd=story.notes))["features"]
    story.stage.told[made["id"][:8]] = _IDS[len(story.stage.told)]
    return str(made["id"])


def _until(stage: Stage, **counts: int) -> None:
    """Wait until the list of the fleet has each of these words so often."""

    def listed() -> str:
        return stage.run("agentmux", "fleet", "list")

    def held() -> bool:
        text = listed()
        return all(text.count(word) == count for word, count in counts.items())

    wait_until(held, listed)
