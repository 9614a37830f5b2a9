"""The user's `PYTHONPATH` comes last for our own programs."""

import os
import sys
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.child import Child
from agentmux.adapters.system.python.import_path import put_own_first

pytestmark = pytest.mark.long

LIBRARIES = ("yaml", "click", "typer", "mcp", "textual", "starlette", "filelock", "watchfiles")
BROKEN = {"half edited": "def half_edited(:\n", "it exits": "raise SystemExit(0)\n"}


def test_what_it_names_comes_last_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    src, other = str(tmp_path / "src"), str(tmp_path / "other")
    path = ["/bin", other, src, "/lib"]
    put_own_first(path, f"{other}:src:/not/there")
    assert path == ["/bin", "/lib", other, src]


@pytest.mark.parametrize("pythonpath", ["", os.path.dirname(os.__file__)])  # noqa: PTH120
def test_without_it_and_for_pythons_own_modules_nothing_changes(pythonpath: str) -> None:
    path = ["/bin", os.path.dirname(os.__file__), "/site-packages"]  # noqa: PTH120
    put_own_first(path, pythonpath)
    assert path == ["/bin", os.path.dirname(os.__file__), "/site-packages"]  # noqa: PTH120


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    "words",
    [
        ("agentmux", "list"),
        ("agentmux", "agents"),
        ("agentmux", "start", "x", "--agent", "demo", "--dry-run"),
        ("agentmux", "submit", "design"),
        ("agentmux", "mcp"),
        ("agentmux", "web", "--help"),
        ("agentmux.adapters.notify.helper",),
    ],
    ids=" ".join,
)
def test_a_broken_copy_of_a_library_there_changes_nothing(
    tmp_path: Path, words: tuple[str, ...], content: str
) -> None:
    for name in LIBRARIES:
        (tmp_path / "src" / name).mkdir(parents=True)
        (tmp_path / "src" / name / "__init__.py").write_text(content)
    kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMUX_TMPDIR": str(tmp_path)}

    def run(**more: str) -> tuple[int, bytes, bytes]:
        argv = [sys.executable, "-P", "-m", *words]
        said = Child(argv=argv, cwd=tmp_path, env={**kept, **more}, limit_s=60).run()
        return said.status, said.out, said.err

    without = run()
    assert run(PYTHONPATH="src") == without
