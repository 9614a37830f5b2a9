"""Makes the data file of the commands from what typer knows of them, and the man page from it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import typer

from agentmux.cli.command_table import GROUPS, app
from agentmux.cli.examples import EXAMPLES
from agentmux.cli.fast.candidates import KINDS

FREE: Final = frozenset({
    *("NAME", "N", "S", "D", "REF", "TEXT", "FEATURE", "KEYS", "DIGEST", "URL", "SEAT=DIGEST"),
    *("BRANCH|PR", "N|URL", "HOST:PORT", "HOST", "ID", "KEY", "PATH|URL"),
})  # fmt: skip
"""The metavars of values for which nothing is completed."""

_HELP: Final = {
    "names": ["--help", "-h"], "off": [], "metavar": "", "kind": "", "choices": [],
    "repeats": False, "required": False, "default": "", "says": "Show this message and exit.",
}  # fmt: skip


def commands() -> str:
    """Return the data file: every command, option and argument, with its help and examples."""
    program = _command("agentmux", typer.main.get_command(app), ())
    return json.dumps(program, indent=1, ensure_ascii=False) + "\n"


def _command(name: str, command: Any, above: tuple[str, ...]) -> dict[str, object]:  # noqa: ANN401 (click's, or that of typer's own click)
    path = (*above, name)
    first, _, rest = (command.help or "").partition("\n")
    below = command.commands if hasattr(command, "commands") else {}
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    for each in names:
        below.setdefault(each, command.get_command(None, each))
    group = (title for title, held in GROUPS.items() if name in held)
    return {
        "name": name,
        "group": next(group, "") if len(path) == 2 else "",
        "summary": first,
        "text": rest.strip(),
        "examples": [list(each) for each in EXAMPLES.get(" ".join(path[1:]), ())],
        "parameters": [*map(_parameter, _shown(command)), _HELP],
        "commands": [_command(each, below[each], path) for each in names if not below[each].hidden],
    }


def _shown(command: Any) -> list[Any]:  # noqa: ANN401 (as above)
    return [each for each in command.params if not getattr(each, "hidden", False)]


def _parameter(given: Any) -> dict[str, object]:  # noqa: ANN401 (as above)
    is_option = given.param_type_name == "option"
    takes_value = not (is_option and given.is_flag)
    metavar = _metavar(given) if takes_value else ""
    if not is_option:
        metavar = _bare(metavar)
    choices = list(getattr(given.type, "choices", ()))
    return {
        "names": sorted(given.opts, key=len, reverse=True) if is_option else [],
        "off": given.secondary_opts,
        "metavar": metavar,
        "kind": kind_of(metavar),
        "choices": [str(getattr(each, "value", each)) for each in choices],
        "repeats": bool(getattr(given, "multiple", False)) or given.nargs == -1,
        "required": given.required,
        "default": _default(given) if takes_value else "",
        "says": given.help or "",
    }


def _metavar(given: Any) -> str:  # noqa: ANN401 (as above)
    return given.metavar or ("|".join(getattr(given.type, "choices", ())) or given.name.upper())


def kind_of(metavar: str) -> str:
    """Return what completes a value whose metavar this is; empty for nothing.

    Raises:
        ValueError: The metavar is neither completed nor known as free.
    """
    plain = _bare(metavar)
    found = next((kind for kind, metavars in KINDS.items() if plain in metavars), "")
    if plain and not found and plain not in FREE and not re.fullmatch(r"[a-z]+(\|[a-z]+)+", plain):
        msg = f"metavar {plain}: add it to KINDS in cli/fast/candidates.py or to FREE in {__name__}"
        raise ValueError(msg)
    return found


def _bare(metavar: str) -> str:
    """Return a metavar without the brackets or braces around it."""
    whole = re.fullmatch(r"[\[{](.*)[\]}](\.\.\.)?", metavar)
    return whole[1] if whole else metavar


def _default(given: Any) -> str:  # noqa: ANN401 (as above)
    value = given.default
    if value is None or value == "" or callable(value) or value == ():
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    return str(getattr(value, "value", value))
