"""The commands of each tutorial work when they are run one after the other in one shell."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import processes_with_variable
from tests.conftest import TEST_ID, WaitUntil

pytestmark = pytest.mark.long

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorial"
DEADLINE_S = 150


class Told:
    """The output of the blocks of a tutorial, by a line of each block."""

    def __init__(self, blocks: list[str], outputs: list[str]) -> None:
        self._found = list(zip(blocks, outputs, strict=True))

    def __getitem__(self, line: str) -> str:
        """Return the output of the only block that has this line."""
        (said,) = self.all(line)
        return said

    def all(self, line: str) -> list[str]:
        """Return the output of each block that has this line."""
        return [said for block, said in self._found if line in block.splitlines()]


@pytest.fixture
def told(
    tmp_path: Path,
    short_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    isolated: str,
    request: pytest.FixtureRequest,
) -> Told:
    """What the tutorial says that the test names."""
    text = (TUTORIALS / request.param).read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    script = "set -eu\n" + "".join(f"{block}printf '\\0'\n" for block in blocks)
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
    return Told(blocks, done.stdout.split("\0")[:-1])


@pytest.mark.parametrize("told", ["first-feature.md"], indirect=True)
def test_every_command_does_what_the_tutorial_says(
    told: Told, isolated: str, wait_until: WaitUntil
) -> None:
    plan = told["agentmux resume --dry-run"]
    assert "implementing" in plan
    assert re.search(r"coder-2\b.*its conversation comes back", plan)
    assert "coder-1" not in plan

    assert "architecture.md" in told["agentmux resume --explain"]

    half_done = told["git status --short"]
    assert "demo_part_1.py" in half_done
    assert "demo_part_2.py" not in half_done

    commit = told["git show --stat"]
    assert "Agentmux-Event: " in commit
    for name in ("demo_part_1.py", "demo_part_2.py"):
        assert re.search(rf"^ {name} +\| ", commit, re.MULTILINE)
    assert "Ran 2 tests" in told["python3 -m unittest discover -q -s tests"]
    wait_until(lambda: processes_with_variable(f"{TEST_ID}={isolated}") == (), 5)


@pytest.mark.rare("it is a whole backlog; tests/fleet takes each step")
@pytest.mark.parametrize("told", ["backlog.md"], indirect=True)
def test_a_backlog_goes_as_its_tutorial_says(
    told: Told, isolated: str, wait_until: WaitUntil, tmp_path: Path
) -> None:
    """It takes about 15 s of processor time."""
    new, known = told.all("agentmux fleet submit --from ../backlog.yaml")
    assert (new.count("(submitted before)"), known.count("(submitted before)")) == (0, 3)

    before, at_work, after = told.all("agentmux fleet list")
    assert before.count("queued") == 3
    assert re.search(r"implementing +here", at_work)
    assert at_work.count("queued") == 1
    assert after.count("done    here") == 3
    assert told["agentmux list"].count("implementing") == 2

    asked = told["agentmux fleet show shout"]
    assert "to be committed: 2 files" in asked
    assert "to approve it: agentmux fleet approve " in asked

    counted = told["git rev-list --count --branches --not HEAD"].splitlines()
    assert counted[-1] == "3"
    for feature in ("Say goodbye too", "Greet people loudly", "Greet people quietly"):
        assert sum(feature in line for line in counted) == 1
    assert "worker here is drained" in told["wait"]
    wait_until(lambda: processes_with_variable(f"{TEST_ID}={isolated}") == (), 5)
    assert not (tmp_path / "backlog-tutorial").exists()
