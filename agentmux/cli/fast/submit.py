"""``agentmux submit`` and ``agentmux research``: the commands by which agents send signals.

They parse their arguments without typer, to start fast: docs/decisions/0006-fast-submit.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.disk.session.signal_files import FileSignals
from agentmux.adapters.system.clock import utc_now
from agentmux.adapters.system.ids import new_id
from agentmux.adapters.wake.pipe import poke
from agentmux.app.signals.submission import REFUSED, SubmitAnswer, identity_from, submit
from agentmux.cli.fast.given_text import given_text, given_words
from agentmux.core.codec.frozen import dataclass
from agentmux.core.fold.signals.description import SignalDescription, Submission
from agentmux.core.fold.signals.research import QUESTION_MAX
from agentmux.core.fold.signals.table import DESCRIPTIONS
from agentmux.core.names.words.nearest import suggestion
from agentmux.core.terminal.text.visible_text import visible
from agentmux.errors import AgentmuxError, ExitCode, UsageError, data_error_from

_QUESTION_BYTES: Final = 4 * (QUESTION_MAX + 1)
"""The most bytes of a question that are read; enough to notice a question that is too long."""


def _commands(command: str) -> Mapping[str, SignalDescription]:
    signals = (each for each in DESCRIPTIONS.values() if each.command.startswith(f"{command} "))
    return {each.name: each for each in signals}


_SUBMIT: Final = _commands("submit")
_RESEARCH: Final = _commands("research")


def submit_help() -> str:
    """Return the help text of ``agentmux submit``."""
    signals = ((_join_arguments(name, each), each.says) for name, each in _SUBMIT.items())
    options = ((o, f"with {name}: {says}") for name, o, says in _options(_SUBMIT))
    return f"""\
Usage: agentmux submit WHAT [OPTIONS]

Hand in a finished piece of work. An agent runs this inside its pane; the environment there
says which agent it is.

WHAT:
{_lines(signals)}
Options:
{_lines(options)}{_COMMON}
The answer is accepted, ignored or duplicate (exit code 0), or refused (exit code 8) with all
problems listed.
"""


def research_help() -> str:
    """Return the help text of ``agentmux research``."""
    options = {option: says for _, option, says in _options(_RESEARCH)}
    return f"""\
Usage: agentmux research {"|".join(_RESEARCH)} {" ".join(options)} QUESTION…

Ask another agent to answer a question about this code base or from the web. An agent runs this
inside its pane. For a topic that was asked before, the earlier answer is used.

  QUESTION         the question; @FILE reads it from a file, - from standard input

Options:
{_lines(options.items())}{_COMMON}"""


_COMMON: Final = """\
  --json           answer as JSON
  --help           show this help
"""


def _options(known: Mapping[str, SignalDescription]) -> Iterator[tuple[str, str, str]]:
    """Yield each option of a command: the signal's name, the option with its value, the help."""
    for name, signal in known.items():
        for each in (each for each in signal.arguments if each.option):
            yield name, f"{each.option} {each.shown}", each.says


def _join_arguments(name: str, signal: SignalDescription) -> str:
    return " ".join((name, *(each.shown for each in signal.arguments if not each.option)))


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"  {name:<16} {says}\n" for name, says in rows)


@dataclass(frozen=True, slots=True)
class _Words:
    """The arguments of ``submit`` or ``research``, taken apart.

    Attributes:
        words: The arguments that are not options.
        options: The values of the options, by name with its dashes.
        json: Whether ``--json`` was given.
        help: Whether ``--help`` was given.
    """

    words: list[str]
    options: dict[str, str]
    json: bool
    help: bool


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run ``agentmux submit …`` or ``agentmux research …``, and return the exit code.

    Args:
        argv: The words after ``agentmux``; the first is ``submit`` or ``research``.
        environ: Environment of the process; it names the session and the agent's seat.
    """
    command, rest = argv[0], argv[1:]
    as_json = "--json" in rest
    try:
        known = _RESEARCH if command == "research" else _SUBMIT
        given = _taken_apart(
            rest, tuple(option.partition(" ")[0] for _, option, _ in _options(known))
        )
        if given.help:
            sys.stdout.write(research_help() if command == "research" else submit_help())
            return ExitCode.OK
        parse = _research_request if command == "research" else _submit_request
        answer = hand_in(parse(given), environ, command=f"agentmux {command}")
    except AgentmuxError as error:
        return _report_error(error, as_json=as_json)
    except OSError as error:
        return _report_error(data_error_from(error), as_json=as_json)
    _show(answer, as_json=as_json)
    return ExitCode.REFUSED if answer.result == REFUSED else ExitCode.OK


def hand_in(submission: Submission, environ: Mapping[str, str], *, command: str) -> SubmitAnswer:
    """Submit a signal to the session that ``environ`` names.

    Args:
        submission: The signal.
        environ: Environment of the process; it names the session and the agent's seat.
        command: The command that sends the signal, such as ``agentmux submit``, for messages.

    Returns:
        The answer to the signal: accepted, ignored, a duplicate, or refused.

    Raises:
        AgentmuxError: The environment names no session, or the session cannot be read or written.
    """
    identity = identity_from(environ, command=command)
    return submit(
        FileSignals(Path(identity.session_dir)),
        identity,
        submission,
        at=utc_now(),
        new_id=new_id,
        poke=poke,
    )


def _taken_apart(argv: Sequence[str], known: tuple[str, ...]) -> _Words:
    words: list[str] = []
    options: dict[str, str] = {}
    flags: set[str] = set()
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            words.extend(rest)
        elif word in {"--json", "--help", "-h"}:
            flags.add(word.lstrip("-")[0])
        elif name in known:
            options[name] = value if equals else _value(name, rest)
        elif word.startswith("-") and word != "-":
            near = suggestion(name, (*known, "--json", "--help"))
            raise UsageError(f"unknown option `{word}`{near}")
        else:
            words.append(word)
    return _Words(words, options, "j" in flags, "h" in flags)


def _value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise UsageError(f"`{name}` needs a value")
    return value


def _submit_request(given: _Words) -> Submission:
    if not given.words:
        raise UsageError("missing argument WHAT", hints=("agentmux submit --help",))
    what, *more = given.words
    signal = _chosen(what, _SUBMIT, "agentmux submit --help")
    values: dict[str, Any] = {}
    for word in (each for each in signal.arguments if not each.option):
        if not more or not more[0]:
            raise UsageError(f"missing argument {word.shown}", hints=("agentmux submit --help",))
        values[word.field] = more.pop(0)
    if more:
        raise UsageError(f"unexpected argument `{more[0]}` after `submit {what}`")
    known = {each.option: each for each in signal.arguments}
    for option, text in given.options.items():
        if option not in known:
            raise UsageError(f"`submit {what}` takes no `{option}`")
        argument = known[option]
        values[argument.field] = _number(option, text) if argument.is_number else text
    return Submission(signal=signal.fact.kind, **values)


def _research_request(given: _Words) -> Submission:
    if not given.words:
        kinds = " or ".join(f"`{each}`" for each in _RESEARCH)
        raise UsageError(f"missing argument {kinds}", hints=("agentmux research --help",))
    signal = _chosen(given.words[0], _RESEARCH, "agentmux research --help").fact.kind
    if "--topic" not in given.options:
        raise UsageError("missing option `--topic`", hints=("agentmux research --help",))
    question = _question(given.words[1:])
    return Submission(signal=signal, topic=given.options["--topic"], question=question)


def _chosen(
    name: str, known: Mapping[str, SignalDescription], help_command: str
) -> SignalDescription:
    if name not in known:
        hint = f"use one of: {', '.join(known)} (see {help_command})"
        raise UsageError(f"unknown argument `{name}`{suggestion(name, known)}", hints=(hint,))
    return known[name]


def _number(option: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 7 and int(text)):
        raise UsageError(f"`{option}` must be a positive integer, not `{text}`")
    return int(text)


def _question(words: list[str]) -> str:
    if words == ["-"]:
        return given_text(None, _QUESTION_BYTES)
    return given_words(words[0], _QUESTION_BYTES) if len(words) == 1 else " ".join(words)


def _show(answer: SubmitAnswer, *, as_json: bool) -> None:
    if as_json:
        _print(json.dumps(answer.to_fields()))
        return
    _print(f"{answer.result}: {answer.reason}" if answer.reason else answer.result)
    for problem in answer.problems:
        _print(f"- {problem}")


def _report_error(error: AgentmuxError, *, as_json: bool) -> int:
    if as_json:
        answer = SubmitAnswer(result="error", event_id=None, reason=error.message)
        _print(json.dumps({**answer.to_fields(), "hints": error.hints}))
    lines = [f"error: {error.message}", *(f"hint: {hint}" for hint in error.hints)]
    _print("\n".join(lines), to_stderr=True)
    return error.exit_code


def _print(line: str, *, to_stderr: bool = False) -> None:
    """Print a line, made `visible`; escape what the stream cannot encode, ignore a failed write."""
    stream = sys.stderr if to_stderr else sys.stdout
    encoding = stream.encoding or "utf-8"
    with suppress(OSError):  # the signal is recorded already, whether or not the answer is read
        stream.write(visible(line).encode(encoding, "backslashreplace").decode(encoding) + "\n")
