"""Builds the checks of `agentmux doctor`: each collects facts and returns findings about them."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.doctor import machine as machine_findings
from agentmux.app.doctor import project as project_findings
from agentmux.app.doctor.examination import Check
from agentmux.app.doctor.finding import DoctorFinding, Repair, fine, warning
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.core.names.version import VERSION
from agentmux.wiring import build, machine

if TYPE_CHECKING:
    from agentmux.adapters.git.program import GitProgram
    from agentmux.app.person import Person
    from agentmux.app.world import Site, World

LIMIT_S: Final = 15.0
"""How many seconds a check may take, including ten seconds for a program that it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorInput:
    """The project and the environment that `agentmux doctor` checks.

    Attributes:
        project: The project's directory.
        config: The configuration file of ``--config``; None without this option.
        environ: The environment of the command.
    """

    project: Path
    config: Path | None
    environ: Mapping[str, str]

    def site(self) -> Site:
        """Build the `Site` of the project, for checks of its sessions."""
        return build.site(self.project, config=self.config, environ=self.environ)

    def world(self) -> World:
        """Build a `World` of the project that writes no files."""
        return build.world(self.project, config=self.config, environ=self.environ, read_only=True)


def checks(patient: DoctorInput) -> Mapping[str, Check]:
    """Return the checks of `agentmux doctor` except ``orphans``, by name; none is run yet.

    A check is a function without parameters that returns an iterable of its findings. The call, or
    the iteration, may raise an `AgentmuxError`, which then counts as a finding.
    """
    return {
        "installation": lambda: _installation(patient),
        "tmux": lambda: _tmux(patient),
        "terminal": lambda: _terminal(patient),
        "git": lambda: _git(patient),
        "forges": lambda: _forges(patient),
        "configuration": lambda: _configuration(patient),
        "trust": lambda: project_findings.trust_findings(patient.world()),
        "agents": lambda: _agents(patient),
        "notify": lambda: _notify(patient),
        "system": _system,
        "disk": lambda: _disk(patient),
        "claims": lambda: project_findings.claim_findings(patient.world()),
        "sessions": lambda: project_findings.session_findings(patient.site()),
        "leftovers": lambda: project_findings.worktree_findings(patient.world()),
    }


def _installation(patient: DoctorInput) -> Iterator[DoctorFinding]:
    from agentmux.adapters.system.python.distributions import require_own_package

    yield fine("installation", f"agentmux {VERSION} in {machine.PACKAGE}")
    ours = machine.scripts() / "agentmux"
    executable = shutil.which("agentmux", path=patient.environ.get("PATH"))
    if executable is None:
        text = "`agentmux` is not on your PATH, so hints cannot be typed as they are"
        yield warning("installation", text, f'export PATH="{ours.parent}:$PATH"')
    elif ours.is_file() and not Path(executable).samefile(ours):
        text = f"`agentmux` is another installation: {executable}; this one is {ours}"
        yield warning("installation", text, "type -a agentmux")
    require_own_package()


def _tmux(patient: DoctorInput) -> Iterable[DoctorFinding]:
    from agentmux.adapters.tmux.health import tmux_facts

    return machine_findings.tmux_findings(tmux_facts(patient.site().terminal(None).socket))


def _terminal(patient: DoctorInput) -> Iterable[DoctorFinding]:
    from agentmux.adapters.system.host_facts import terminal_facts

    return machine_findings.terminal_findings(terminal_facts(patient.environ))


def _system() -> Iterable[DoctorFinding]:
    from agentmux.adapters.system.host_facts import host_facts

    return machine_findings.host_findings(host_facts())


def _disk(patient: DoctorInput) -> Iterable[DoctorFinding]:
    from agentmux.adapters.system.host_facts import disk_facts

    return machine_findings.disk_findings(disk_facts(patient.project / layout.SESSIONS_DIR))


def _git(patient: DoctorInput) -> Iterator[DoctorFinding]:
    from agentmux.adapters.disk import files
    from agentmux.adapters.git.program import GitProgram
    from agentmux.adapters.git.repository import require_identity
    from agentmux.adapters.trees.absent_folder import staged_for

    git = GitProgram(patient.project, patient.environ)
    if not git.exists():
        text = f"{patient.project} is not in a git repository: nothing is committed, no worktrees"
        yield warning("git", text, "git init")
        return
    yield fine("git", f"git {'.'.join(map(str, git.version()))}; repository {git.root()}")
    files.require_writable(git.common_dir(), git.common_dir() / "HEAD")
    require_identity(git)
    listed = "\n".join(_lines(git, "worktree", "list", "--porcelain"))
    yield from machine_findings.lost_worktrees(listed, functools.partial(staged_for, git))


def _lines(git: GitProgram, *words: str) -> list[str]:
    return git.read(*words).out.decode(errors="replace").splitlines()


def _forges(patient: DoctorInput) -> Iterator[DoctorFinding]:
    from agentmux.adapters.config.forge_registry import load_forges
    from agentmux.adapters.git.program import GitProgram

    git = GitProgram(patient.project, patient.environ)
    remotes = "\n".join(_lines(git, "remote", "-v") if git.exists() else [])
    for name, forge in load_forges(machine.config_dir(patient.environ)).items():
        path = shutil.which(forge.program, path=patient.environ.get("PATH"))
        if path is not None:
            yield fine("forges", f"{name}: {path}")
        elif any(host in remotes for host in forge.hosts):
            text = f"{name}: `{forge.program}` is missing: no issues, no requests"
            yield warning("forges", text, f"see {forge.install}")
        else:
            yield fine("forges", f"{name}: {forge.program} is not installed, and not needed here")


def _configuration(patient: DoctorInput) -> Iterator[DoctorFinding]:
    from agentmux.adapters.config.agent_registry import load_registry
    from agentmux.adapters.config.config_schema import config_schema_text, schema_path

    build.configuration(patient.project, config=patient.config, environ=patient.environ)
    load_registry(patient.world().settings)
    yield fine("configuration", "the files have no mistakes (agentmux config show --origin)")
    schema = schema_path(patient.project)
    if schema.is_file() and schema.read_text(errors="replace") != config_schema_text():
        text = f"{schema} is of another version of AgentMux"
        mend = f"agentmux config schema > {schema.relative_to(patient.project)}"
        yield warning("configuration", text, mend, Repair.SCHEMA)


def _agents(patient: DoctorInput) -> Iterable[DoctorFinding]:
    from agentmux.adapters.config.agent_registry import load_registry

    world = patient.world()
    return project_findings.agent_findings(world, load_registry(world.settings))


def _notify(patient: DoctorInput) -> Iterable[DoctorFinding]:
    from agentmux.adapters.system.python import extras

    missing = "" if extras.has_modules("apprise") else extras.install_command(extras.APPRISE)
    return project_findings.notify_findings(patient.world().settings, missing)


_DOES: Final = {
    Repair.REMOVALS: "delete what interrupted removals have left",
    Repair.HALF_MADE: "delete what killed starts have left",
    Repair.PIPES: "delete the pipes that killed commands have left",
    Repair.SCHEMA: "renew the JSON Schema of the configuration",
}


def fix_with_consent(
    patient: DoctorInput, person: Person, found: Iterable[DoctorFinding], repairs: Iterable[Repair]
) -> None:
    """Show the findings that can be repaired, ask the person once, then repair them.

    Args:
        patient: The project and the environment.
        person: The person to ask.
        found: All findings; those without a repair are not shown.
        repairs: The kinds of repair that the findings name, each once; at least one.

    Raises:
        UsageError: Nobody can be asked.
        DeclinedError: The person said no.
    """
    for each in found:
        if each.repair is not None:
            person.note(each.text)
    words = ", ".join(_DOES[each] for each in repairs)
    person.agree(f"{words[:1].upper()}{words[1:]}?")
    for repair in repairs:
        mend(patient, repair)


def mend(patient: DoctorInput, repair: Repair) -> None:
    """Repair all findings of one kind, without asking; `fix_with_consent` asks first.

    ``repair`` says which: leftovers of removals, of killed starts or of killed commands, or an
    outdated JSON Schema. Findings that cannot be repaired stay, and the next check reports them
    again.
    """
    from agentmux.adapters.config.config_schema import config_schema_text, schema_path
    from agentmux.adapters.disk import files
    from agentmux.adapters.disk.session.handover import discard_pipes
    from agentmux.app.commands.end.interrupted_removals import finish_removals
    from agentmux.app.session.search.lookup import list_sessions, sessions_dir

    site = patient.site()
    match repair:
        case Repair.REMOVALS:
            finish_removals(site)
        case Repair.HALF_MADE:
            for path in site.folders.half_made(sessions_dir(site.project), site.now().timestamp()):
                site.folders.delete(site.folders.hide_for_removal(path))
        case Repair.PIPES:
            for entry in list_sessions(site):
                discard_pipes(entry.path)
        case Repair.SCHEMA:
            files.replace(schema_path(patient.project), config_schema_text().encode(), 0o644)
