"""The names of the sessions in a folder, found without reading any file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.core.names import layout

_SIGNS: Final = (layout.STATE, layout.JOURNAL, layout.STATE_BACKUP)


def names(folder: Path) -> tuple[str, ...]:
    """Return the names of the sessions in ``folder``: directories with a state or a journal.

    They are in no order. A missing folder has no sessions.

    Raises:
        DataError: The system does not let us read the folder.
    """
    try:
        with os.scandir(folder) as entries:
            return tuple(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and _is_session(entry.path)
            )
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise files.unreadable(folder, error) from error


def _is_session(path: str) -> bool:
    return any(os.path.lexists(f"{path}/{name}") for name in _SIGNS)
