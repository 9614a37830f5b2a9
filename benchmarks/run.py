"""Measure the time and memory that AgentMux needs, and print one table.

Run it by ``./dev bench``, or ``python -m benchmarks.run`` from the project's root.
"""

from __future__ import annotations

import argparse
import compileall
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

import agentmux
from benchmarks import (
    checkpoints,
    commands,
    cost,
    demo,
    desk,
    fleet,
    fleet_load,
    idle,
    keys,
    panes,
    pipelines,
    web,
    worktrees,
)
from benchmarks.rows import Row, table

_BENCHMARKS: Final[dict[str, Callable[..., Iterator[Row]]]] = {
    "submit": commands.submit,
    "list": commands.listing,
    "tab": commands.completion,
    "alone": commands.standing,
    "dry-run": commands.dry_run,
    "panes": panes.fifty,
    "signal": pipelines.signal_to_prompt,
    "start": pipelines.start_to_prompt,
    "worktree": worktrees.start_in_worktree,
    "resume": pipelines.resume_to_prompts,
    "pipeline": pipelines.pipeline_overhead,
    "quick": pipelines.quick_overhead,
    "cost": cost.cost,
    "demo": demo.demo,
    "checkpoint": checkpoints.checkpoint,
    "desk": desk.desk,
    "fleet-load": fleet_load.fleet_load,
    "fleet": fleet.overhead,
    "idle": idle.idle,
    "keys": keys.keys,
    "web": web.web,
}


def main() -> int:
    """Run the chosen benchmarks; with ``--check``, return 1 if a value is over its limit."""
    options = _options()
    # As pip leaves an installation: every module is compiled.
    compileall.compile_dir(Path(agentmux.__file__).parent, quiet=1)
    rows: list[Row] = []
    for name in options.only or _BENCHMARKS:
        print(f"measuring: {name}", file=sys.stderr)
        rows += _BENCHMARKS[name](quick=options.quick)
    if options.json:
        print(json.dumps([asdict(row) | {"over": row.is_over} for row in rows], indent=1))
    else:
        print(table(rows))
    return 1 if options.check and any(row.is_over for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter waits")
    parser.add_argument("--check", action="store_true", help="exit 1 where a row is over its limit")
    parser.add_argument(
        "--only", action="append", choices=_BENCHMARKS, metavar="NAME",
        help=f"only this one; may be repeated ({', '.join(_BENCHMARKS)})",
    )  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
