"""The files from which prompts are made: the built-in templates and a project's extensions."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

from agentmux.core.prompts.prompt import parts
from agentmux.errors import ConfigError

BUILT_IN: Final = Path(__file__).resolve().parent.parent.parent / "prompts"
EXTENSIONS: Final = ".agentmux/prompts"
EXTENSION_MAX: Final = 256 * 1024
"""The size limit of an extension in bytes; an agent reads the whole extension at each start."""


@functools.cache
def template(name: str, *, again: bool = False) -> str:
    """Return the text of the built-in prompt template ``name``, joined from its files.

    A name is that of a file in ``agentmux/prompts`` without ``.md``, such as ``coder-fix``.
    ``again`` adds a warning about unfinished work, for a seat that gets a new conversation on
    resume.

    Raises:
        OSError: There is no template of this name.
    """
    texts = ((BUILT_IN / f"{part}.md").read_text("utf-8") for part in parts(name, again=again))
    return "".join(texts)


def extension(project_dir: Path, role: str) -> str | None:
    """Return the text that a project adds to the prompts of ``role``; None if there is none.

    It is the content of the file ``.agentmux/prompts/ROLE.md``, trusted or not.

    Raises:
        ConfigError: The file is not regular, is larger than `EXTENSION_MAX`, or cannot be read.
    """
    return project_text(project_dir / EXTENSIONS / f"{role}.md")


def project_text(path: Path) -> str | None:
    """Return the text of a project's file at ``path``; None if it does not exist.

    Raises:
        ConfigError: The file is not regular, is larger than `EXTENSION_MAX`, or cannot be read.
    """
    if not path.exists():
        return None
    if not path.is_file() or path.stat().st_size > EXTENSION_MAX:
        raise ConfigError(f"{path} must be a regular file of at most {EXTENSION_MAX >> 10} kB")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
