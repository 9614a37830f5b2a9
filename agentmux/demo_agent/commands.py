"""Run commands as an agent runs a tool: by argv, with their output captured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

NOT_FOUND: Final = 127
TIMEOUT: Final = 124
TIMEOUT_S: Final = 120.0


class Ran(NamedTuple):
    """The result of a command; ``text`` is stdout and stderr."""

    status: int
    text: str


def run(argv: Sequence[str], env: dict[str, str], stdin: str = "") -> Ran:
    """Run ``argv`` with exactly ``env`` and wait; status 127 if it cannot be started."""
    import subprocess  # noqa: PLC0415 (a prompt is handled before the first command)

    try:
        done = subprocess.run(
            list(argv), env=env, input=stdin, text=True, encoding="utf-8", errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except OSError as error:
        return Ran(NOT_FOUND, f"{argv[0]}: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Ran(TIMEOUT, f"{argv[0]}: no end after {TIMEOUT_S:g} s")
    return Ran(done.returncode, done.stdout.strip())


def kill(argv: Sequence[str]) -> Ran:
    """Start ``argv`` and kill it at once, as the system does when memory runs out."""
    import subprocess  # noqa: PLC0415 (as above)

    process = subprocess.Popen(list(argv), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.kill()
    return Ran(process.wait(), "Killed")
