"""``agentmux doctor``: checks everything that AgentMux needs, and says how to fix it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.doctor.examination import examine
from agentmux.app.doctor.finding import DoctorFinding, Level, Repair, warning
from agentmux.app.doctor.project import repairs_of
from agentmux.app.result import SCHEMA
from agentmux.app.session.search.lookup import list_sessions, live
from agentmux.cli import render
from agentmux.cli.ask.person import YesOpt, person_at, require_person
from agentmux.cli.ask.shared_options import JsonOpt
from agentmux.cli.commands.look.orphan_agents import describe_survivors, how_to_end, left_behind
from agentmux.core.names.status_labels import SessionStatus
from agentmux.core.names.words.counts import format_count
from agentmux.errors import ExitCode, UsageError
from agentmux.wiring import doctor as ward

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation
    from agentmux.wiring.doctor import DoctorInput


def doctor(
    ctx: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Fix what AgentMux itself has left; ask first.")
    ] = False,
    json: JsonOpt = False,
    yes: YesOpt = False,
) -> int:
    """Check everything that AgentMux needs, and say how to fix it.

    Each finding is ok, a warning or a problem. The exit code is 1 if there is a problem. `--fix`
    deletes only what AgentMux itself has left; everything else is fixed by the command beside it.
    """
    invocation: Invocation = ctx.obj
    if fix:
        require_person(invocation, "doctor --fix")
        if json and not yes:
            raise UsageError("`--fix` asks first, which `--json` cannot", hints=("add --yes",))
    patient = ward.DoctorInput(
        project=invocation.unchecked_project(), config=invocation.config, environ=invocation.environ
    )
    findings = _run_checks(patient)
    fixed = repairs_of(findings) if fix else ()
    if fixed:
        ward.fix_with_consent(patient, person_at(invocation, yes=yes), findings, fixed)
        findings = _run_checks(patient)
    if json:
        render.as_json(_answer(findings, fixed))
    else:
        _show(findings, colours=invocation.colours)
    return ExitCode.FAILED if any(each.level is Level.PROBLEM for each in findings) else ExitCode.OK


def _run_checks(patient: DoctorInput) -> tuple[DoctorFinding, ...]:
    return examine({**ward.checks(patient), "orphans": lambda: _orphans(patient)}, ward.LIMIT_S)


def _orphans(patient: DoctorInput) -> Iterator[DoctorFinding]:
    """Yield a warning for each session that is not live, but whose agents still run."""
    site = patient.site()
    entries = {entry.path: entry for entry in list_sessions(site)}
    there = live(site, entries.values())
    ended = [
        entry
        for path, entry in entries.items()
        if there[path].live is False and not there[path].is_driven
    ]
    for entry in ended:
        alive = left_behind(entry)
        if alive:
            text = f"agents of {entry.name} run on without tmux: {describe_survivors(alive)}"
            yield warning("leftovers", text, how_to_end(alive))


def _answer(found: Sequence[DoctorFinding], fixed: Iterable[Repair]) -> dict[str, object]:
    levels = {level.value: sum(each.level is level for each in found) for level in Level}
    return {
        "schema": SCHEMA,
        "findings": [each.as_json() for each in found],
        "counts": levels,
        "fixed": [each.value for each in fixed],
    }


_COLOURED_AS: Final = {
    Level.OK: SessionStatus.DONE,
    Level.WARNING: SessionStatus.WAITING,
    Level.PROBLEM: SessionStatus.FAILED,
}
"""For each level, the status in whose colour it is shown."""


def _show(found: Sequence[DoctorFinding], *, colours: bool) -> None:
    edge = max(len(each.check) for each in found)
    for each in found:
        word = render.paint(
            _COLOURED_AS[each.level], colours=colours, shown=f"{each.level.value:<7}"
        )
        render.out(f"{word}  {each.check:<{edge}}  {render.printable(each.text)}")
        if each.mend:
            render.out(f"{'':7}  {'':{edge}}  -> {render.printable(each.mend)}")
    problems = sum(each.level is Level.PROBLEM for each in found)
    warnings = sum(each.level is Level.WARNING for each in found)
    render.note(_summary(problems, warnings))


def _summary(problems: int, warnings: int) -> str:
    if not problems and not warnings:
        return "everything is in order"
    parts = [
        format_count(count, word)
        for count, word in ((problems, "problem"), (warnings, "warning"))
        if count
    ]
    return " and ".join(parts)
