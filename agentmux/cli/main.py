"""Runs one command line, and turns every error into a message and an exit code."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from agentmux.app.result import envelope, problem_of
from agentmux.cli import render
from agentmux.cli.invocation import Invocation, invocation_of
from agentmux.core.codec.frozen import replace
from agentmux.core.names.words.nearest import suggest_name
from agentmux.errors import (
    AgentmuxError,
    DataError,
    DeclinedError,
    ExitCode,
    UsageError,
    data_error_from,
)

_VERBOSE: Final = {"-v", "--verbose"}
_JSON: Final = {"--json"}
"""A command line with no other words prints the summary of the project (`fast.project_summary`)."""

_QUICK: Final = {"--all", "--json"}
"""``list`` with no other options than these is run without importing typer."""


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run one command line, and return its exit code; errors are printed, not raised.

    Args:
        argv: The arguments, without the program's name.
        environ: Environment of this process.
    """
    with_json = "--json" in argv[: argv.index("--") if "--" in argv else len(argv)]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # as stderr does; else a character could end us
    render.word_messages(str)
    try:
        invocation, rest = invocation_of(argv, environ)
        _word_messages(invocation)
        code = _run(invocation, rest)
    except BrokenPipeError:  # the reader of our output has closed it
        return ExitCode.OK
    except AgentmuxError as error:
        return _report_error(error, json=with_json)
    except OSError as error:
        if _VERBOSE.intersection(argv):
            render.note(_trace(error))
        return _report_error(data_error_from(error), json=with_json)
    except KeyboardInterrupt:
        render.note("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 (any other error is a bug, reported here)
        return _bug(error, argv, environ)
    return code


def _word_messages(invocation: Invocation) -> None:
    """Let messages call sessions by short names, and commands name a project that is not here."""
    render.word_messages(invocation.locate, invocation.call_sessions)


def _run(invocation: Invocation, argv: Sequence[str]) -> int:
    if invocation.verbose:
        _log_to_stderr()
    try:
        code = _chosen(argv)(invocation, argv)
    except DeclinedError as declined:
        render.note(str(declined))
        return ExitCode.INTERRUPTED
    if code == ExitCode.OK:
        render.flush()
    return code


def _chosen(argv: Sequence[str]) -> Callable[[Invocation, Sequence[str]], int]:
    """Return the function that runs a command line.

    Help, ``list`` and the command line without a command are run without importing typer.
    """
    if "-h" in argv or "--help" in argv or argv[:1] == ["help"]:
        from agentmux.cli.fast import help as fast

        if fast.is_wanted(argv):
            return lambda invocation, given: fast.run(given, invocation.environ)
    if _JSON.issuperset(argv):
        return _show_project
    quick = argv[:1] == ["list"] and _QUICK.issuperset(argv[1:])
    return _list if quick else _through_typer


def _show_project(invocation: Invocation, argv: Sequence[str]) -> int:
    if not argv and invocation.opens_desk:
        from agentmux.desk.main import open_desk

        return open_desk(
            invocation.known_project(),
            invocation.environ,
            config=invocation.config,
            colours=invocation.colours,
        )
    from agentmux.cli.fast import project_summary

    return project_summary.run(invocation, json="--json" in argv)


def _list(invocation: Invocation, argv: Sequence[str]) -> int:
    from agentmux.cli.fast import session_list

    return session_list.run(invocation, everything="--all" in argv, json="--json" in argv)


def _through_typer(invocation: Invocation, argv: Sequence[str]) -> int:
    import typer

    from agentmux.cli.command_table import app

    # Newer versions of typer contain their own click, so take the class from typer.
    complaint = next(each for each in typer.BadParameter.__mro__ if each.__name__ == _COMPLAINT)
    try:
        given = replace(invocation, words=tuple(argv), slow=render.note)
        result = app(args=list(argv), prog_name="agentmux", standalone_mode=False, obj=given)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit:  # outside standalone mode typer exits only when nobody reads its output
        raise BrokenPipeError from None
    except Exception as error:
        if isinstance(error, complaint):
            raise _usage(error, argv) from None
        raise
    if result == ExitCode.INTERRUPTED:  # typer returns this after Ctrl-C
        raise KeyboardInterrupt
    return result if isinstance(result, int) else ExitCode.OK


_COMPLAINT: Final = "ClickException"
_EXTRA: Final = "unexpected extra argument"
_TEXTS: Final = ("start", "request-changes", "tell", "fleet submit", "fleet request-changes")
"""The commands that take a text, written by the user, as an argument."""


def _usage(error: Exception, argv: Sequence[str]) -> UsageError:
    """Turn an error of typer into a `UsageError`, in lower case and with hints."""
    unknown = _explain_unknown(error, argv)
    if unknown is not None:
        return unknown
    message = str(getattr(error, "format_message", lambda: error)()).strip().rstrip(".")
    path = str(getattr(getattr(error, "ctx", None), "command_path", "agentmux"))
    command, hint = path.partition(" ")[2], f"{path} --help"
    option = str(getattr(error, "option_name", ""))
    near = getattr(error, "possibilities", None) or ()
    if near:
        message = f"no such option: {option}"
    quoted = _suggest_quotes(command) if _EXTRA in message else ()
    hints = (*suggest_name(option, near), *quoted, hint, *_as_text(command, option))
    return UsageError(message[:1].lower() + message[1:], hints=hints)


def _explain_unknown(error: Exception, argv: Sequence[str]) -> UsageError | None:
    """Return the error for an unknown command or an unknown value of an option.

    None if ``error`` is about something else.
    """
    from agentmux.cli.fast import commands
    from agentmux.cli.fast import help as help_pages

    message = str(getattr(error, "message", ""))
    command = re.match(r"No such command '(.*?)'\.", message)
    if command is not None:
        return help_pages.no_such_command(
            commands.find_path(commands.load(), tuple(argv)), command[1]
        )
    choice = re.match(r"'(.*?)' is not one of (.*?)\.?$", message)
    if choice is None:
        return None
    known = re.findall(r"'(.*?)'", choice[2])
    hints = (*suggest_name(choice[1], known), f"choose one of: {', '.join(known)}")
    return UsageError(f"unknown value `{choice[1]}`", hints=hints)


def _suggest_quotes(command: str) -> tuple[str, ...]:
    """Return a hint to put a text into quotes; empty if the command takes no text."""
    if command not in _TEXTS:
        return ()
    return (f'put a text of several words in quotes: agentmux {command} "…"',)


def _as_text(command: str, option: str) -> tuple[str, ...]:
    """Return a hint on how to pass a text that begins with a dash.

    It is empty if the command takes no text, or if ``option`` cannot be meant as a text.

    Args:
        command: The command that was called.
        option: The unknown option that typer reports.
    """
    if command not in _TEXTS or not option or (option.startswith("--") and " " not in option):
        return ()
    return (f'agentmux {command} [OPTIONS] -- "-text"',)


def _report_error(error: AgentmuxError, *, json: bool) -> int:
    if json:
        with contextlib.suppress(DataError, OSError):  # where it cannot be written
            render.as_json(envelope((), (problem_of("", error),)))
    return render.error(error)


def _trace(error: Exception) -> str:
    """Return the traceback of ``error`` as text."""
    import traceback

    return "".join(traceback.format_exception(error))


def _bug(error: Exception, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Write the traceback of ``error`` into a file, and say on stderr where that file is.

    Returns:
        The exit code `ExitCode.FAILED`.
    """
    trace = _trace(error)
    if _VERBOSE.intersection(argv):
        render.note(trace)
    from agentmux.wiring import machine

    try:
        place = f"the report is in {machine.crash_report(trace, environ)}"
    except (OSError, AgentmuxError) as reason:
        render.note(trace)
        place = f"the report could not be written: {reason}"
    render.failure(f"this is a bug in agentmux: {type(error).__name__}: {error}", (place,))
    return ExitCode.FAILED


def _log_to_stderr() -> None:
    import logging

    logging.basicConfig(
        level=logging.DEBUG,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
