"""The program's sources, read and parsed once for all rules of the house."""

import ast
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
PACKAGE: Final = ROOT / "agentmux"


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Return each module's path, relative to the checkout, and its text; sorted by path."""
    return tuple(
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    )


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """Return each module's path, as in `texts`, and its syntax tree; no rule may change a tree."""
    return tuple((path, ast.parse(text)) for path, text in texts())
