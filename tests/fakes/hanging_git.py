"""A git that hangs in one of its commands, as with a network disk that does not answer."""

import os
import shutil
import sys
from pathlib import Path


def hanging_git(tmp_path: Path, command: str) -> dict[str, str]:
    """Return a PATH on which git hangs in one command."""
    folder = tmp_path / "bin"
    folder.mkdir()
    real = shutil.which("git")
    script = folder / "git"
    script.write_text(
        f'#!{sys.executable}\nimport os, sys, time\nif "{command}" in sys.argv: time.sleep(600)\n'
        f'os.execv("{real}", ["git", *sys.argv[1:]])\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
