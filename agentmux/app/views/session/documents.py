"""Lists the documents of a session that people may want to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

REQUEST: Final = "requirements.md"
"""The document with what the user asked for."""
_LAST: Final = (REQUEST, "context.md")
_LEFT_OUT: Final = frozenset(
    {"history", "launches", "snapshots", "checkpoints", "work-tree", "pipeline"}
)
_KINDS: Final = frozenset({".md", ".yaml", ".yml", ".txt"})


def documents(home: Path) -> Iterator[str]:
    """Yield the texts of a session that people may want to read (Markdown, YAML and plain text).

    They are paths relative to the session's directory ``home``. The folder that was written to last
    comes first; the request and the context come last. Symbolic links, and AgentMux's own folders
    such as ``launches``, are left out.

    Raises:
        OSError: The directory cannot be read.
    """
    folders = {
        each: tuple(_files(each))
        for each in home.iterdir()
        if each.is_dir() and not each.is_symlink() and each.name not in _LEFT_OUT
    }
    for folder in sorted(
        folders, key=lambda each: (_find_last_write(folders[each]), each), reverse=True
    ):
        files = sorted(folders[folder], key=lambda each: (each.suffix != ".md", each))
        yield from (str(each.relative_to(home)) for each in files)
    yield from (name for name in _LAST if (home / name).is_file())


def document_title(name: str) -> str:
    """Return what people call the document at the path ``name``, as `documents` yields it.

    That is ``What you asked for`` for the request, else the file's name in words, such as
    ``Fix request`` for ``07_review/fix_request.md``.
    """
    if name == REQUEST:
        return "What you asked for"
    return Path(name).stem.replace("_", " ").replace("-", " ").capitalize()


def _find_last_write(files: tuple[Path, ...]) -> int:
    """Return when one of these files was last written, in nanoseconds; 0 if there are no files."""
    times = [0]
    for each in files:
        with suppress(OSError):  # the file has been removed meanwhile
            times.append(each.stat().st_mtime_ns)
    return max(times)


def _files(folder: Path) -> Iterator[Path]:
    for each in folder.iterdir():
        if each.is_symlink():
            continue
        if each.is_dir():
            yield from _files(each)
        elif each.suffix in _KINDS and each.is_file():
            yield each
