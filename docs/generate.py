"""Write what is made from the program: ``python docs/generate.py``.

That is pages of docs/reference, and files of ``agentmux/shell``.

A test compares each page with what this makes, so that none can go stale.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.config.own_keys import THEMES
from agentmux.adapters.config.pipeline_files import names_in, pipeline_folders, read_source
from agentmux.app.session.configuration.pipeline_choice import check_pipeline
from agentmux.cli.fast.commands import PLACE
from agentmux.core.agents.command_lines import dir_words, launch_argv, mcp_words, resume_argv
from agentmux.core.agents.spec import AgentSpec, ProbeResult, PromptBy, Strategy, StrategyKind
from agentmux.core.config.settings import Settings
from agentmux.core.definitions.drawing import draw_pipeline
from agentmux.core.fold.signals.description import Argument, SignalDescription
from agentmux.core.fold.signals.table import DESCRIPTIONS
from agentmux.core.journal.events import FACTS, SIGNALS, USER_DECISIONS
from agentmux.core.terminal.keys.key_commands import DESK_HELP, MONITOR, KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_names import KEY_NAMES
from agentmux.core.terminal.keys.key_table import KEYS, OWN_KEYS, KeyLine
from benchmarks.cost import DATA as COSTS
from docs import command_data, man_page

REFERENCE: Final = Path(__file__).resolve().parent / "reference"
SHELL: Final = Path(PLACE)
PACKAGE: Final = Path(__file__).resolve().parent.parent / "agentmux"
ARCHITECTURE: Final = "../explanation/architecture.md"
README: Final = "../../README.md"
_COSTS: Final = (
    "| pipeline | agents run | our prompts | waiting for AgentMux |\n|---|---|---|---|\n"
)
_KEYS: Final = "| key | what it does |\n|---|---|\n"
_README_KEYS: Final = (
    *(KeyCommand.NEEDY, KeyCommand.ATTACH, KeyCommand.APPROVE, KeyCommand.CHANGES),
    *(KeyCommand.ANSWER, KeyCommand.TELL, KeyCommand.RESUME, KeyCommand.NEW),
    *(KeyCommand.STOP, KeyCommand.SEARCH, KeyCommand.KEYS, KeyCommand.QUIT),
)
_ROOMS: Final = "| room | what belongs there |\n|---|---|\n"

_JOURNAL: Final = """# The journal

`tool_events.jsonl` holds one JSON object per line, appended and never edited:

```json
{"v":1,"id":"…","at":"2026-01-01T10:15:00.000Z","event":"submit_plan","seat":"planner",
 "launch":"0123456789ab","cycle":1,"payload":{}}
```

(on one line). `id` is a uuid. For an agent's signal, it is made from the launch, the event, the
sub-plan or topic and the artifact's SHA-256, so that the same signal twice is the same event.
`launch` is the launch that the event comes from or is about. Signals are named like their tool,
facts in the past tense. `v` is 2. Lines of a session in an
[older form](session-files.md#a-state-of-an-older-form) have 1: they are read as well, and a program
of that form refuses what a newer one has written.

A last line without a newline was never acknowledged: the next writer cuts it off and keeps it in
`tool_events.torn-<time>`. A complete line that cannot be parsed is skipped and reported. A line of
an unknown kind or a newer version is an error (exit code 5), and nothing is changed.
"""


def journal() -> str:
    """Return docs/reference/journal.md: every kind of event, with its payload."""
    groups: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("Signals of agents", SIGNALS.__contains__),
        ("Decisions of the user", USER_DECISIONS.__contains__),
        ("Facts", lambda kind: kind not in SIGNALS | USER_DECISIONS),
    )
    parts = [_JOURNAL]
    for title, belongs in groups:
        rows = [_row(kind) for kind in FACTS if belongs(kind)]
        parts.append(f"## {title}\n\n| event | payload | says |\n|---|---|---|\n" + "\n".join(rows))
    return "\n".join(parts) + "\n"


def _row(kind: str) -> str:
    fact = FACTS[kind]
    says = inspect.cleandoc(fact.__doc__ or "").split("\n")[0].replace("``", "`")
    payload = ", ".join(f"`{each.name}`" for each in fields(fact)) or "none"
    return f"| `{kind}` | {payload} | {says} |"


_SIGNALS: Final = "| shell | MCP tool | what it does |\n|---|---|---|\n"


def signals() -> str:
    """Return docs/reference/signals.md: its table of the signals is made, the rest stays."""
    page = (REFERENCE / "signals.md").read_text(encoding="utf-8")
    return _with_rows(page, _SIGNALS, map(_signal, DESCRIPTIONS.values()))


def rooms() -> str:
    """Return docs/explanation/architecture.md: its table of the rooms is made, the rest stays."""
    page = (REFERENCE / ARCHITECTURE).read_text(encoding="utf-8")
    folders = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
    return _with_rows(page, _ROOMS, (_room(folder) for folder in folders if folder != PACKAGE))


def readme() -> str:
    """Return README.md: its tables of costs and of keys are made, the rest stays."""
    page = (REFERENCE / README).read_text(encoding="utf-8")
    measured = json.loads(COSTS.read_text(encoding="utf-8"))
    costs = (_cost(name, sizes) for name, sizes in measured.items())
    return _with_rows(
        _with_rows(page, _COSTS, costs), _KEYS, _rows(map(KEYS.line_of, _README_KEYS))
    )


def fleet() -> str:
    """Return docs/reference/fleet.md: its table of keys is made, the rest stays."""
    page = (REFERENCE / "fleet.md").read_text(encoding="utf-8")
    return _with_rows(page, _KEYS, _rows(KEYS.lines_at(KeyPlace.FLEET)))


def web() -> str:
    """Return docs/reference/web.md: its table of keys is made, the rest stays."""
    page = (REFERENCE / "web.md").read_text(encoding="utf-8")
    return _with_rows(page, _KEYS, _rows(KEYS.lines_at(KeyPlace.PAGE)))


def _rows(keys: Iterable[KeyLine]) -> Iterator[str]:
    """Yield the rows of a table of keys."""
    return (f"| `{each.label}` | {each.says} |" for each in keys)


def _cost(pipeline: str, sizes: Mapping[str, Mapping[str, float]]) -> str:
    """Return the row of a pipeline: what each size has cost, the least first."""
    forms = {"agents": "{:.0f}", "prompt_bytes": "{:.0f} kB", "waiting_s": "{:.0f} s"}
    cells = []
    for field, form in forms.items():
        unit = 1000 if field == "prompt_bytes" else 1
        values = sorted(each[field] / unit for each in sizes.values())
        cells.append(" to ".join(dict.fromkeys(map(form.format, values))))
    return f"| `{pipeline}` | {' | '.join(cells)} |"


def _with_rows(page: str, head: str, rows: Iterable[str]) -> str:
    """Return a page with these rows in the table that has this head."""
    before, _, rest = page.partition(head)
    return "".join((before, head, "\n".join(rows), "\n\n", rest.partition("\n\n")[2]))


def _room(folder: Path) -> str:
    module = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    sentence = (ast.get_docstring(module) or "").partition("\n")[0].replace("``", "`")
    return f"| `{folder.relative_to(PACKAGE).as_posix()}/` | {sentence} |"


def _signal(signal: SignalDescription) -> str:
    command = " ".join(("agentmux", signal.command, *map(_argument, signal.arguments)))
    names = ", ".join(f"`{each.field}`" for each in signal.arguments)
    tool = f"`{signal.fact.kind}`{f' ({names})' if names else ''}"
    return f"| `{command}` | {tool} | {signal.says} |"


def _argument(argument: Argument) -> str:
    words = " ".join(filter(None, (argument.option, argument.shown)))
    return words if argument.is_required else f"[{words}]"


def cli() -> str:
    """Return docs/reference/cli.md, as typer describes the commands."""
    argv = [sys.executable, "-m", "typer", "agentmux.cli.command_table", "utils", "docs"]
    made = subprocess.run(
        [*argv, "--name", "agentmux"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "TERM": "dumb", "COLUMNS": "200", "LC_ALL": "C.UTF-8"},
    ).stdout
    made = made.replace("* `--help`:", "* `-h, --help`:")  # its own settings are not ours
    quick = (
        "\n## Typed by agents\n\n`agentmux submit`, `agentmux research`, `agentmux hook` and "
        "`agentmux mcp` are told apart\nbefore this command line is loaded: see "
        "[signals](signals.md).\n"
    )
    return re.sub(r"\n{3,}", "\n\n", made).strip() + "\n" + quick


_AGENTS: Final = """# Agents

These are the agents that AgentMux knows without any configuration, from `agentmux/agents.yaml`.
`agentmux agents` shows which of them are installed on your machine, whether their conversations
come back after a resume, whether they ask for permission, and how to install the others.
`agentmux agents --probe` shows how a conversation comes back, and what the installed program can
do; `agentmux agents probe NAME` asks the program again.
`agentmux agents show NAME` prints the command lines with your configuration applied. The keys are
described in [configuration](configuration.md#agents), and another page says how to
[add an agent](../how-to/add-an-agent.md).

A conversation comes back by the first strategy of its agent whose features the installed program
shows in the output of its probe:

| strategy | how the conversation is found again |
|---|---|
| assign | AgentMux chooses the id and passes it at the launch |
| learn | the agent chooses the id and tells it; until then, as for continue |
| continue | as the latest conversation of the directory, if no other seat used the directory |
| checkpoint | in a file that the agent writes into a folder of the seat |
| none | not at all: a resume starts a new conversation with the full prompt |

In the command lines below, `ID` is the conversation's id, `FOLDER` the folder of the seat in the
session, `FILE` its checkpoint, `MCP` a file that names our MCP server, and `PROMPT` one line that
names the file with the prompt. `MODEL` appears only if a model is configured. If a command line has
no `PROMPT`, the prompt is pasted into the agent.

By default, no agent bypasses permissions. *Unattended* are the arguments that an unattended run
needs; they take effect only when you write them into `agents.NAME.permission_args`.

A command that is not in this table runs exactly as typed, with strategy none.
"""
_VARIANTS: Final = "demo-"


def agents() -> str:
    """Return docs/reference/agents.md: every entry of the built-in registry."""
    registry = load_registry(Settings())
    parts = [_AGENTS]
    parts += [_agent(spec) for name, spec in registry.items() if not name.startswith(_VARIANTS)]
    variants = [f"`{name}`" for name in registry if name.startswith(_VARIANTS)]
    parts.append(
        "## Variants of the offline agent\n\nThe same program in the other ways that agents have, "
        f"for tests: {', '.join(variants)}.\n"
    )
    return "\n".join(parts)


def _agent(spec: AgentSpec) -> str:
    rows = [f"| {name} | {says} |" for name, says in _facts(spec).items() if says]
    parts = [f"## {spec.name}\n", "| | |", "|---|---|", *rows]
    parts += [line for strategy in spec.strategies for line in _strategy(spec, strategy)]
    if spec.install:
        parts += ["", f"Install it: `{spec.install}`"]
    if spec.notes:
        parts += ["", spec.notes.strip()]
    return "\n".join(parts) + "\n"


def _facts(spec: AgentSpec) -> dict[str, str]:
    seen = [
        name
        for name in ("ready", "busy", "waiting", "trust", "limit", "trouble", "rejected")
        if getattr(spec, name)
    ]
    again = spec.prompt_by(resuming=True)
    prompts = {
        PromptBy.ARGV: "on the command line",
        PromptBy.PASTE: "pasted",
        PromptBy.STDIN: "on standard input",
        PromptBy.SHOWN: "shown to the person who plays the role",
    }
    return {
        "commands": ", ".join(f"`{name}`" for name in spec.match),
        "prompt": prompts[spec.prompt]
        + ("" if again is spec.prompt else f"; on resume {prompts[again]}"),
        "our MCP server": _code(mcp_words(spec, ("agentmux", "mcp"), "MCP")),
        "told of the session's directory": _code(
            dir_words(spec, ProbeResult(installed=True), "DIR")
        ),
        "end of a turn": {"hook": "its hook tells", "notify": "it notifies"}.get(
            spec.turn_end, "seen on the screen"
        ),
        "patterns of its screen": ", ".join(seen),
        "config home": _code([spec.home_env] if spec.home_env else []),
        "asked by": _code([*spec.command, *spec.probe.argv]),
        "edits alone": _code(spec.edit_args),
        "unattended": _code(spec.unattended_args),
    }


def _strategy(spec: AgentSpec, strategy: Strategy) -> list[str]:
    given = {"model": "MODEL", "checkpoint_dir": "FOLDER", "prompt": "PROMPT"}
    ref = None if strategy.kind in {StrategyKind.CONTINUE, StrategyKind.CHECKPOINT} else "ID"
    launch = launch_argv(spec, strategy, session_ref=ref, **given)
    resume = resume_argv(spec, strategy, session_ref=ref, checkpoint="FILE", **given)
    needs = ", ".join(f"{name} (`{pattern}`)" for name, pattern in strategy.probe.items())
    env = "".join(f"\n# with {name}={value}" for name, value in strategy.env.items())
    return [
        f"\n**{strategy.kind}**, with the features {needs}:\n"
        if needs
        else f"\n**{strategy.kind}**:\n",
        f"```sh{env}\n{shlex.join(launch)}\n{shlex.join(resume)}   # on resume\n```",
    ]


def _code(words: Sequence[str]) -> str:
    return f"`{shlex.join(words)}`" if words else ""


_PIPELINES: Final = """# Pipelines

A pipeline is a list of phases. `agentmux start` takes the pipeline `feature`, or the one that
`defaults.pipeline` names; `start --pipeline NAME` takes another one, and `start --quick` the one
called `quick`. `agentmux pipelines` lists them; `agentmux pipelines show NAME` draws one and checks
it. [Write a pipeline of your own](../how-to/own-pipeline.md) takes you through it;
[definitions](definitions.md) has every key.

## The built-in pipelines

A phase of the kind `check` takes part only if the configuration has commands in `verify`.
"""


def pipelines() -> str:
    """Return docs/reference/pipelines.md: the built-in pipelines as the program draws them."""
    folder = pipeline_folders(Path("/"), None)[0]
    parts = [_PIPELINES]
    for name in sorted(names_in(folder), key=_BUILT_IN.index):
        source = read_source(folder, name)
        found = None if source is None else check_pipeline(source, Settings()).pipeline
        if source is not None and found is not None:
            says = source.text.partition("\n")[0].removeprefix("# ")
            drawing = "\n".join(draw_pipeline(found))
            parts.append(f"### {name}\n\n{says}\n\n```text\n{drawing}\n```\n")
    return "\n".join(parts)


_BUILT_IN: Final = ("feature", "quick", "fix", "plan", "review")


_MONITOR: Final = """\
# The monitor

The monitor is the pane at the left of a session's tmux window, or the whole window while no agent
works. It shows the phases and the time in each, what waits for you (such as the question of an
agent), the seats with agent, model, status and the last line of the screen, and what happened;
last, if there is room, the session's name, branch and worktree. Beside a pane it has 30 columns, 44
in a window of 110, and 64 in one of 160.

![A session's window: at the left the monitor, with the phases, two coders and the messages; at the
right the screens of the two coders](../pictures/monitor-work.svg)

When it is your turn to decide, it shows the result: the summary, what the checks found, what the
reviewers said, and how much each file changed. If a check or a review did not pass, these come
first, with the end of the output of what failed. Git is asked in the background: a slow one holds
nothing up.

![The monitor at a decision: the summary, the checks, the reviews, the changed files, and what the
keys do](../pictures/monitor-decision.svg)

`d` shows the diff, and `?` all keys:

![Every change so far, in the monitor](../pictures/monitor-diff.svg)

![All keys of the monitor](../pictures/monitor-keys.svg)

No single key does anything that cannot be taken back: what is marked with *(asks)*, and an
approval, needs a second press of the same key, or `y`, since the first may have been meant for an
agent whose pane has just closed.
"""


_DESK: Final = """\
# The desk

`agentmux` alone on a terminal opens the desk: all sessions of all projects that you have used on
this machine, on one screen. (In a pipe it prints where the project stands, as before.)

At the left are the sessions, below what they need: *needs you*, *running*, *interrupted*, *waiting
for a limit*, *done*. An interrupted session is *safe to resume* if all conversations come back. It
*needs a choice* if a seat would begin a new conversation: `R` shows how each seat would start, and
in brackets what else its number takes: new, shell (a shell for you instead of its agent), stopped
(until you choose in its pane). *Cannot resume* means that something prevents it, such as an agent
that is not installed; the overview gives the reason, and `R` says how to get on. A narrow list has
room for *safe*, *choice* and *blocked* only. A search looks in the given name, the first line of
the feature, the project, the phase and the status, as all searches of AgentMux.

No two lines of the list are alike. Where a name is cut, the project stays. Sessions whose names are
alike show the part in which they differ, or when they were started.

At the right is the selected session:

| tab | shows |
|---|---|
| overview | what it needs and the keys for it, then what is at stake: see below |
| screens | the screen of a seat: live, once a second, else as it was last |
| documents | what was written for it: the newest phase's first |
| diff | what has changed, file by file; your next request for changes quotes your comments |
| why | why it is where it is, what it waits for or a resume would do; its names and folders |
| journal | what happened, the newest first: a line for each event, and all of the selected one |

The overview begins with what the session needs you for:

| the session | the overview shows |
|---|---|
| waits for you | the screen of the agent that asks, with its question |
| is yours to decide | your request, summary, checks, reviews, changes, what an approval would do |
| failed, or a check could not run | the end of the output; without one, the screen of the seat |
| is interrupted or stopped | what a resume does for each seat: what comes back, or why not |
| is done | the commit, how to get it, and the summary |
| is at work | the screen of the agent that worked last, live |

Below are the phases with their times, the seats and the checks.

![The screen of a coder in the desk, live](../pictures/desk-screens.svg)

![The summary in the desk, rendered](../pictures/desk-documents.svg)

![The diff in the desk](../pictures/desk-diff.svg)

![Why a session is where it is, in the desk](../pictures/desk-why.svg)

![The journal of a session in the desk](../pictures/desk-journal.svg)

A key does what the command of that name does: the desk runs that command, so it checks and refuses
the same, and says the same. What decides or ends something asks first. If a command fails, the desk
shows its words; `t` then runs it in this terminal, where it can ask. In the desk of an agent, all
may be looked at, but nothing can be decided.

`n` starts a session without leaving the desk. It offers the agents that are installed, then those
that are not, with the command that installs them, and last the offline agent and a shell. Unless
the configuration names an agent, the first installed one is selected. The choice is for this
session alone: it is not written into the project's configuration.

`c` asks for changes. The smallest beginning comes first and is selected; each says what it runs,
such as *a small change: one coder, then the checks, the reviews and the summary*. The monitor,
the page and `agentmux request-changes` in a terminal show the same choices.

In the diff, `.` and `,` go from file to file, and `v` lists all of them. Where at least 50
columns are left for the diff, the list stands beside it; a click goes to a file. Code has the
colours of its language, except in lines that were removed. `/` searches what is shown if it has
the focus (after `Tab` or `z`), in every tab; upper and lower case are the same. `n` and `N` then
go to the next line with the text and to the one before, until `Esc` ends the search.

`e` opens the file of the diff, at the selected line, or the document that is shown; in other tabs
the folder in which the session works. The editor is `$VISUAL`, else `$EDITOR`, else `vi`; its
words are not read by a shell. `P` shows the diff in the pager that git is configured to use
(`pager.diff`, `core.pager`), such as delta.

Changes come by themselves: the desk watches the folders of unfinished sessions and the processes of
their orchestrators. Colours follow the terminal unless you [choose a
theme](#your-own-keys-and-colours); `NO_COLOR` turns them off, and nothing is said by
a colour alone. The mouse selects, scrolls, and clicks tabs and the keys in the last line; a second
click on a session attaches to it.

Where [the fleet](fleet.md#in-the-desk-and-on-the-page) is set up, `f` shows it.
"""


_OWN: Final = """\
## Your own keys and colours

```yaml
# ~/.config/agentmux/config.yaml
desk:
  keys: {{approve: A, stop: [ctrl+x, F8], diff: D, remove: ctrl+d}}
  theme: solarized-dark
```

A command that you name has these keys and no others, in the list, in the view of the fleet, in `?`,
in the last line, in hints and in the palette. A key is written as `?` shows it, or by its name:
{keys}, a character, `ctrl+` with a letter, `shift+` with Tab, Home, End or an arrow.
A key that would stand for two commands is an error, so give the other one another key, too. `1` to
`6`, `y` and `Esc` stay as they are. The monitor and the page have the keys of AgentMux.

The names of the commands, with their keys: {names}.

Without a theme, the desk has the colours of your terminal. The themes: {themes}.
"""


def desk() -> str:
    """Return docs/reference/desk.md: the keys are those of the program's own table."""
    names = (f"`{each}` (`{KEYS.line_of(KeyCommand[each.upper()]).label}`)" for each in OWN_KEYS)
    plain = (f"`{each}`" for each in KEY_NAMES if "+" not in each and not each[1:].isdecimal())
    own = {"names": ", ".join(names), "themes": ", ".join(f"`{each}`" for each in THEMES)}
    text = _OWN.format(**own, keys=", ".join((*plain, "`f1` to `f12`")))
    paragraphs = (each if "```" in each else _fill(each) for each in text.split("\n\n"))
    return f"{_key_page(_DESK, DESK_HELP)}\n" + "\n\n".join(paragraphs) + "\n"


def _fill(paragraph: str) -> str:
    return textwrap.fill(paragraph, 100, break_on_hyphens=False, break_long_words=False)


def monitor() -> str:
    """Return docs/reference/monitor.md: the keys are those of the program's own table."""
    return _key_page(_MONITOR, MONITOR)


def _key_page(begin: str, places: Iterable[KeyPlace]) -> str:
    """Return a page with a table of the keys of each place."""
    parts = [begin]
    for place in places:
        head = f"## {place.value}\n\n{_KEYS}"
        parts.append(head + "\n".join(_rows(KEYS.lines_at(place))))
    return "\n".join(f"{part.rstrip()}\n" for part in parts)


PAGES: Final[dict[str, Callable[[], str]]] = {
    "journal.md": journal,
    "cli.md": cli,
    "agents.md": agents,
    "desk.md": desk,
    "monitor.md": monitor,
    "pipelines.md": pipelines,
}


TABLES: Final[dict[str, Callable[[], str]]] = {
    "signals.md": signals,
    "fleet.md": fleet,
    "web.md": web,
    ARCHITECTURE: rooms,
    README: readme,
}
"""The pages of which only a table is made."""


FILES: Final[dict[str, Callable[[], str]]] = {
    "commands.json": command_data.commands,
    "agentmux.1": man_page.page,
}
"""The files of the package that are made; the man page is made of the data file."""


def main() -> None:
    """Write every page."""
    for name, make in FILES.items():
        (SHELL / name).write_text(make(), encoding="utf-8")
    for name, make in {**PAGES, **TABLES}.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
