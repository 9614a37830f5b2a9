"""The files that prompts are made of: the built-in templates and a project's extensions."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

from agentmux.core.prompts.prompt import parts
from agentmux.errors import ConfigError

BUILT_IN: Final = Path(__file__).resolve().parent.parent.parent / "prompts"
EXTENSIONS: Final = ".agentmux/prompts"
EXTENSION_MAX: Final = 256 * 1024
"""In bytes; an agent reads all of it at each start."""


@functools.cache
def template(name: str, *, again: bool = False) -> str:
    """Return the text of the template ``name``, joined from its parts (see `parts`)."""
    texts = ((BUILT_IN / f"{part}.md").read_text("utf-8") for part in parts(name, again=again))
    return "".join(texts)


def extension(project_dir: Path, role: str) -> str | None:
    """Return the project's extension of the prompts of ``role``; None if there is none.

    Raises:
        ConfigError: The file exists, but cannot be used.
    """
    path = project_dir / EXTENSIONS / f"{role}.md"
    if not path.exists():
        return None
    if not path.is_file() or path.stat().st_size > EXTENSION_MAX:
        raise ConfigError(f"{path} must be a regular file of at most {EXTENSION_MAX >> 10} kB")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
