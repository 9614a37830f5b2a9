"""The program ``agentmux-demo-agent``: parses the command line, and runs the offline agent."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.demo_agent import scenario
from agentmux.demo_agent.agent import Agent, RunSettings
from agentmux.demo_agent.conversation.conversation import Conversation, Store, read_checkpoint
from agentmux.demo_agent.conversation.ids import new_id
from agentmux.demo_agent.conversation.terminal import TerminalInterface
from agentmux.demo_agent.conversation.user_interface import PipeInterface, UserInterface
from agentmux.demo_agent.errors import QuitError, WrongArgvError
from agentmux.demo_agent.hooks import HookRunner
from agentmux.demo_agent.options import HELP, VERSION, AgentOptions, parse
from agentmux.demo_agent.seat import OwnSeat, seat_from

NO_TRUST: Final = 1
"""The exit code if the user does not trust the folder."""
TRUST_HEAD: Final = "Do you trust the files in this folder?"
"""The question of the dialog about trust."""


def main() -> int:
    """Run the program with this process's command line and environment; return the exit code.

    A wrong command line and errors of the system are written to stderr, not raised.
    """
    env = dict(os.environ)  # noqa: TID251 (the edge: read once, passed down)
    try:
        options = parse(sys.argv[1:])
        if options.help or options.version:
            os.write(1, (HELP if options.help else f"agentmux-demo-agent {VERSION}\n").encode())
            return 0
        return _run(options, env)
    except WrongArgvError as refused:
        os.write(2, f"{refused}\n".encode())
        return refused.exit_code
    except OSError as error:
        os.write(2, f"Error: {error}\n".encode())
        return 1


def _run(options: AgentOptions, env: Mapping[str, str]) -> int:
    setting = _setting(options, env)
    _require_reach(options, setting.cwd, env)
    if setting.behaviour.ignore_hup:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    store = Store(_home(env), setting.cwd)
    conversation = _conversation(options, store, setting.cwd)

    def renew() -> Conversation:
        anew = options._replace(session_id=None, resume=None, continue_latest=False)
        return _conversation(anew, store, setting.cwd)

    hooks = HookRunner(options.settings, env)
    _wait(setting.behaviour.banner_delay)
    if not (os.isatty(0) and os.isatty(1)):
        return _run_plain(
            Agent(setting, conversation, PipeInterface(), hooks, renew=renew), options
        )
    face = TerminalInterface(0, survive_hangup=setting.behaviour.ignore_hup)
    agent = Agent(setting, conversation, face, hooks, renew=renew)
    try:
        _ask_first(face, setting, _home(env))
        agent.run("resume" if conversation.turns else "startup")
    except QuitError as quit_:
        return quit_.exit_code
    finally:
        face.close()


def _run_plain(agent: Agent, options: AgentOptions) -> int:
    prompt = options.prompt or PipeInterface().next_prompt()
    try:
        return 0 if not prompt or agent.take(prompt) == "done" else 1
    except QuitError as quit_:
        return quit_.exit_code


def _setting(options: AgentOptions, env: Mapping[str, str]) -> RunSettings:
    seat = seat_from(env)
    data = scenario.load(options.scenario or env.get("AGENTMUX_DEMO_SCENARIO"))
    _home(env).mkdir(parents=True, exist_ok=True, mode=0o700)
    counters = Path(env.get("AGENTMUX_DEMO_COUNTERS") or _home(env) / "counters")
    counters.mkdir(parents=True, exist_ok=True, mode=0o700)
    life = scenario.behaviour_of(data, seat, _count_launch(counters, seat))
    return RunSettings(options, env, str(Path.cwd().resolve()), seat, life, counters)


def _home(env: Mapping[str, str]) -> Path:
    """Return the folder in which the offline agent keeps its conversations."""
    if env.get("AGENTMUX_DEMO_HOME"):
        return Path(env["AGENTMUX_DEMO_HOME"])
    data = env.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return Path(data, "agentmux-demo")


def _count_launch(counters: Path, seat: OwnSeat) -> int:
    """Count the launches of a seat in a session: return 1 at the first call, then 2, and so on.

    Args:
        counters: Folder with the counters, which outlast this process.
        seat: The seat.
    """
    fd = os.open(
        counters / f"{seat.session_id}.{seat.seat}.launches",
        os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC,
        0o600,
    )
    try:
        os.write(fd, b".")
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def _conversation(options: AgentOptions, store: Store, cwd: str) -> Conversation:
    folder, resume = options.checkpoint_dir, options.resume
    if folder and resume:
        return read_checkpoint(Path(resume), cwd=cwd, model=options.model)
    if folder:
        return Conversation(options.session_id or new_id(), None, cwd=cwd, model=options.model)
    if resume:
        return store.resume(resume, options.model)
    if options.continue_latest:
        return store.latest(options.model)
    return store.new(options.session_id or new_id(), options.model)


def _require_reach(options: AgentOptions, cwd: str, env: Mapping[str, str]) -> None:
    """In a worktree, check that the agent may write to the session's directory.

    Agents with a sandbox refuse to write outside of their workspace, too.

    Raises:
        WrongArgvError: The session's directory is neither in ``cwd`` nor in ``--add-dir``.
    """
    session, places = env.get("AGENTMUX_SESSION_DIR"), (cwd, options.add_dir)
    if not env.get("AGENTMUX_WORKTREE") or session is None:
        return
    if not any(each and Path(session).is_relative_to(each) for each in places):
        raise WrongArgvError(f"error: {session} is outside of the workspace: use --add-dir")


def _wait(seconds: float) -> None:
    if seconds:
        select.select((), (), (), seconds)


def _ask_first(face: UserInterface, setting: RunSettings, home: Path) -> None:
    """Show the dialog that comes before the first prompt, if the scenario has one.

    Args:
        face: The user interface.
        setting: The settings of this run, which say which dialog the scenario has.
        home: The agent's home, which contains the list of trusted folders.

    Raises:
        QuitError: The user does not trust the folder.
    """
    if setting.behaviour.dialog == "unknown":
        face.choose(("A new version is available!", "", "Update now?"), ("Update", "Skip"), 0)
    trusted = home / "trusted"
    if setting.behaviour.dialog != "trust" or setting.cwd in _lines(trusted):
        return
    head = ("Accessing workspace:", f"  {setting.cwd}", "", TRUST_HEAD)
    if face.choose(head, ("Yes, I trust this folder", "No, exit"), 1) != 0:
        raise QuitError(NO_TRUST)
    with trusted.open("a", encoding="utf-8") as file:
        file.write(setting.cwd + "\n")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


if __name__ == "__main__":
    raise SystemExit(main())
