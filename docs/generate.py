"""Write the pages of docs/reference that are made from the program: ``python docs/generate.py``.

A test compares each page with what this makes, so that none can go stale.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Final

from agentmux.core.events import DECISIONS, FACTS, SIGNALS

REFERENCE: Final = Path(__file__).resolve().parent / "reference"

_JOURNAL: Final = """# The journal

`tool_events.jsonl` holds one JSON object per line, appended and never edited:

```json
{"v":1,"id":"…","at":"2026-01-01T10:15:00.000Z","event":"submit_plan","seat":"planner",
 "launch":"0123456789ab","cycle":1,"payload":{}}
```

(on one line). `id` is a uuid; of an agent's signal it is made from launch, event, sub-plan or topic
and the artifact's SHA-256, so that the same signal twice is the same event. `launch` is the launch
it comes from or is about. Signals are named like their tool, facts in the past tense.

A last line without a newline was never acknowledged: the next writer cuts it off and keeps it as
`tool_events.torn-<time>`. A whole line that does not parse is skipped and reported. A line of an
unknown kind or a newer version stops everything with exit code 5, untouched.
"""


def journal() -> str:
    """Return docs/reference/journal.md: every kind of event, with its payload."""
    groups: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("Signals of agents", SIGNALS.__contains__),
        ("Decisions of the user", DECISIONS.__contains__),
        ("Facts", lambda kind: kind not in SIGNALS | DECISIONS),
    )
    parts = [_JOURNAL]
    for title, belongs in groups:
        rows = [_row(kind) for kind in FACTS if belongs(kind)]
        parts.append(f"## {title}\n\n| event | payload | says |\n|---|---|---|\n" + "\n".join(rows))
    return "\n".join(parts) + "\n"


def _row(kind: str) -> str:
    fact = FACTS[kind]
    says = inspect.cleandoc(fact.__doc__ or "").split("\n")[0].replace("``", "`")
    payload = ", ".join(f"`{each.name}`" for each in fields(fact)) or "none"
    return f"| `{kind}` | {payload} | {says} |"


def cli() -> str:
    """Return docs/reference/cli.md, as typer describes the commands."""
    argv = [sys.executable, "-m", "typer", "agentmux.cli.commands", "utils", "docs"]
    made = subprocess.run(
        [*argv, "--name", "agentmux"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "TERM": "dumb", "COLUMNS": "200", "LC_ALL": "C.UTF-8"},
    ).stdout
    quick = (
        "\n## Typed by agents\n\n`agentmux submit`, `agentmux research`, `agentmux hook` and "
        "`agentmux mcp` are told apart\nbefore this command line is loaded: see "
        "[signals](signals.md).\n"
    )
    return re.sub(r"\n{3,}", "\n\n", made).strip() + "\n" + quick


PAGES: Final[dict[str, Callable[[], str]]] = {"journal.md": journal, "cli.md": cli}


def main() -> None:
    """Write every page."""
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
