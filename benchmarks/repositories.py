"""Git repositories with many files."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

_IN_A_FOLDER: Final = 500


def filled(top: Path, count: int) -> list[Path]:
    """Commit ``count`` new files in the directory ``top``, as a repository; return them."""
    files = [top / f"{n // _IN_A_FOLDER}" / f"{n}.py" for n in range(count)]
    for number, path in enumerate(files):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"NUMBER = {number}\n" * 20)
    for words in (
        ("init", "-q"),
        ("add", "--all"),
        ("-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-q", "-m", "All"),
    ):
        subprocess.run(["git", *words], cwd=top, check=True)
    return files
