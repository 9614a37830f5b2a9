"""The variables that a user's own prompt may contain, as ``{{name}}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VARIABLES: Final[Mapping[str, str]] = {
    "feature": "the beginning of the request, quoted",
    "requirements": "the path of the file with the whole request",
    "project_dir": "the directory in which the agent works",
    "session_dir": "the directory of the session",
    "read": "a list of the files to read first: what earlier phases have left",
    "change_request": "from cycle 2 on, where the user's request for changes is; before, nothing",
    "checks": "what the commands of the checks have shown; nothing where none has run",
    "cycle": "1, then +1 each time the user asks for changes",
    "iteration": "0, then +1 with each fix",
    "subplan": "in a phase of the kind `work`: the number of the sub-plan",
    "subplan_title": "its title",
}
"""Maps each name to a description of its value. Built-in prompts use more: `prompt.NAMES`."""
