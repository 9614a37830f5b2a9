"""The tutorial's commands work when they are run one after the other in one shell."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agentmux.adapters.system.processes import carriers
from tests.conftest import TEST_ID, WaitUntil

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "first-feature.md"
DEADLINE_S = 100


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", TUTORIAL.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def said(
    tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch, isolated: str
) -> dict[str, str]:
    """The output of each block, by the last line of the block."""
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    script = "set -eu\n" + "".join(f"{block}printf '\\0'\n" for block in blocks())
    done = subprocess.run(
        [str(shutil.which("sh")), "-c", script],
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stdout
    ends = [block.splitlines()[-1] for block in blocks()]
    return dict(zip(ends, done.stdout.split("\0")[:-1], strict=True))


def test_every_command_does_what_the_tutorial_says(
    said: dict[str, str], isolated: str, wait_until: WaitUntil
) -> None:
    plan = said["agentmux resume --dry-run"]
    assert "implementing" in plan
    assert re.search(r"coder-2\b.*its conversation comes back", plan)
    assert "coder-1" not in plan

    assert "architecture.md" in said["agentmux resume --explain"]

    half_done = said["git status --short"]
    assert "demo_part_1.py" in half_done
    assert "demo_part_2.py" not in half_done

    commit = said["git show --stat"]
    assert "Agentmux-Event: " in commit
    for name in ("demo_part_1.py", "demo_part_2.py"):
        assert re.search(rf"^ {name} +\| ", commit, re.MULTILINE)
    assert "Ran 2 tests" in said["python3 -m unittest discover -q -s tests"]
    wait_until(lambda: carriers(f"{TEST_ID}={isolated}") == (), 5)
