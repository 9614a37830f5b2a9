"""Where Python looks for modules: in what the user's `PYTHONPATH` names last of all.

The variable is meant for the projects that users and agents work on, which may hold a broken copy
of a library that we use. Agents and commands keep it.
"""

from __future__ import annotations

import os


def put_own_first(path: list[str], pythonpath: str) -> None:
    """Move the folders of ``PYTHONPATH`` to the end of ``path``, in their order.

    They are not removed: an installation may be found by them alone. Call this before anything is
    imported that is not of Python or of AgentMux.
    """
    if not pythonpath:
        return
    theirs = {os.path.abspath(each) for each in pythonpath.split(os.pathsep)}
    theirs.discard(os.path.dirname(os.__file__))
    moved = [each for each in path if os.path.abspath(each) in theirs]
    path[:] = [*(each for each in path if each not in moved), *moved]
