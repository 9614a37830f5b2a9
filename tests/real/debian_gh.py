"""Fetch the `gh` of this machine's Debian or Ubuntu, without installing it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

_FETCH_S: Final = 300


def fetched_gh(cache: Path) -> dict[str, str]:
    """Return ``program`` and ``version`` of gh, or ``missing``: why not.

    One that is on PATH is taken. The package is fetched with apt-get, and unpacked into ``cache``.
    """
    own, unpacked = shutil.which("gh"), cache / "gh" / "usr" / "bin" / "gh"
    if own is None and not unpacked.exists():
        problem = _unpack(cache / "gh")
        if problem:
            return {"missing": problem}
    program = own or str(unpacked)
    said = subprocess.run((program, "--version"), capture_output=True, text=True, check=False)
    return {
        "program": program,
        "version": said.stdout.split("\n", 1)[0].removeprefix("gh version "),
    }


def _unpack(folder: Path) -> str:
    """Fetch the package and unpack it; return what went wrong, or an empty text."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "gh is not on PATH, and this is no Debian from which it could be fetched"
    folder.mkdir(parents=True, exist_ok=True)
    for argv in (
        ("apt-get", "download", "gh"),
        ("sh", "-c", "dpkg-deb -x gh_*.deb ."),
    ):
        try:
            done = subprocess.run(
                argv, cwd=folder, capture_output=True, text=True, check=False, timeout=_FETCH_S
            )
        except subprocess.TimeoutExpired:
            return f"{argv[0]} did not end within {_FETCH_S} s"
        if done.returncode != 0:
            return f"{' '.join(argv)}: {done.stderr.strip().splitlines()[-1:]}"
    return ""
