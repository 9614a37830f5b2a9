"""Makes Python search the folders of the user's ``PYTHONPATH`` last.

The variable is meant for the projects that users and agents work on, which may contain a broken
copy of a library that AgentMux uses. Agents and commands still get the variable.
"""

from __future__ import annotations

import os


def put_own_first(path: list[str], pythonpath: str) -> None:
    """Move the folders of ``PYTHONPATH`` to the end of ``path``, in their order.

    ``path`` is ``sys.path``, which is changed in place; ``pythonpath`` is the variable's value,
    empty if it is not set. They are not removed, because an installation may be found through them
    alone. Call this before importing anything that does not belong to Python or AgentMux.
    """
    if not pythonpath:
        return
    theirs = {os.path.abspath(each) for each in pythonpath.split(os.pathsep)}
    theirs.discard(os.path.dirname(os.__file__))
    moved = [each for each in path if os.path.abspath(each) in theirs]
    path[:] = [*(each for each in path if each not in moved), *moved]
