"""The agent registry: reading, merging and checking entries, and probing programs."""

# ruff: noqa: RUF001 (the screens of agents have such characters)
from __future__ import annotations

import os
import re
import shlex
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.config import agent_registry, layers
from agentmux.adapters.config.agent_registry import Prober, find_program, load_registry, probe
from agentmux.adapters.config.layers import load_settings
from agentmux.adapters.system.processes.processes import is_alive
from agentmux.adapters.yaml import schema
from agentmux.core.agents.command_lines import dir_words, launch_argv, resume_argv
from agentmux.core.agents.screens import ScreenState, read_screen, switches_shown
from agentmux.core.agents.spec import (
    AddDir,
    AgentSpec,
    Probe,
    ProbeResult,
    PromptBy,
    Strategy,
    StrategyKind,
    choose_strategy,
    spec_for,
)
from agentmux.core.config.settings import Settings
from agentmux.errors import ConfigError
from tests.conftest import WaitUntil

REGISTRY = load_registry(Settings())

# Each line: agent, strategy, launch argv, resume argv. ID, DIR and FILE stand for values.
ARGV = """
claude    assign    claude --model M --session-id ID GO | claude --model M --resume ID GO
claude    continue  claude --model M GO | claude --model M --continue GO
codex     learn     codex CX -m M GO | codex resume ID CX -m M GO
codex     continue  codex CX -m M GO | codex resume --last CX -m M GO
gemini    assign    gemini -m M --session-id ID -i GO | gemini -m M --resume ID -i GO
gemini    continue  gemini -m M -i GO | gemini -m M --resume latest -i GO
qwen      assign    qwen -m M --session-id ID -i GO | qwen -m M --resume ID -i GO
qwen      continue  qwen -m M -i GO | qwen -m M --continue -i GO
copilot   assign    copilot --model M --session-id ID -i GO | copilot --model M --resume=ID -i GO
copilot   continue  copilot --model M -i GO | copilot --model M --continue -i GO
opencode  continue  opencode -m M --prompt GO | opencode -m M -c
pi        assign    pi --model M --session DIR/ID.jsonl GO | pi --model M --session DIR/ID.jsonl GO
pi        continue  pi --model M GO | pi --model M -c GO
aider     assign    aider AX --model M --chat-history-file DIR/ID.md | aider AX --model M HX
amp       continue  amp -m M | amp threads continue --last -m M
demo      assign    demo --model M --session-id ID GO | demo --model M --resume ID GO
demo-learn learn    demo --learn --model M GO | demo --learn --model M --resume ID GO
demo-learn continue demo --learn --model M GO | demo --learn --model M --continue GO
demo-continue continue demo --model M GO | demo --model M --continue GO
demo-home continue  demo --model M GO | demo --model M --continue GO
demo-checkpoint checkpoint demo --model M --checkpoint-dir DIR GO | demo --model M CK GO
demo-paste assign   demo --model M --session-id ID | demo --model M --resume ID
demo-hook assign    demo --model M --session-id ID GO | demo --model M --resume ID GO
"""
SHORT = {
    "demo": "agentmux-demo-agent",
    "CX": "--no-daemon -c check_for_update_on_startup=false -c allow_login_shell=false",
    "AX": "--no-check-update --no-show-model-warnings --no-show-release-notes",
    "HX": "--restore-chat-history --chat-history-file DIR/ID.md",
    "CK": "--checkpoint-dir DIR --resume FILE",
}


def rows() -> list[tuple[str, str, str, str]]:
    found = []
    for line in ARGV.strip().splitlines():
        name, kind, argvs = line.split(maxsplit=2)
        launch, resume = argvs.split(" | ")
        found.append((name, kind, launch, resume))
    return found


def words(text: str) -> tuple[str, ...]:
    return tuple(" ".join(SHORT.get(word, word) for word in text.split()).split())


@pytest.mark.parametrize(("name", "kind", "launch", "resume"), rows())
def test_the_argv_of_every_entry(name: str, kind: str, launch: str, resume: str) -> None:
    spec = REGISTRY[name]
    strategy = next(each for each in spec.strategies if each.kind == kind)

    assert launch_argv(
        spec, strategy, model="M", session_ref="ID", checkpoint_dir="DIR", prompt="GO"
    ) == words(launch)
    assert resume_argv(
        spec,
        strategy,
        model="M",
        session_ref="ID",
        checkpoint_dir="DIR",
        checkpoint="FILE",
        prompt="GO",
    ) == words(resume)


def test_the_table_above_has_every_strategy_of_the_registry() -> None:
    there = {(name, str(each.kind)) for name, spec in REGISTRY.items() for each in spec.strategies}

    assert {(name, kind) for name, kind, _, _ in rows()} == there
    assert REGISTRY["demo-none"].strategies == ()


def test_the_built_in_registry_is_what_the_checks_of_a_configuration_let_pass() -> None:
    text = agent_registry.BUILT_IN.read_text("utf-8")
    node = schema.parse(text, "agents.yaml")
    assert node is not None
    assert schema.read(node, layers.AGENTS) == schema.read(node, layers.BUILT_IN_AGENTS)


def test_reading_the_built_in_registry_compiles_no_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return re_compile(pattern, flags)

    re_compile = re.compile
    agent_registry._built_in.cache_clear()
    monkeypatch.setattr(re, "compile", noted)
    patterns = {spec.ready for spec in load_registry(Settings()).values()} - {None}
    assert patterns
    assert not patterns.intersection(compiled)


def test_nothing_that_bypasses_permissions_is_built_in() -> None:
    bypass = re.compile("dangerously|yolo|allow-all|skip-trust|yes-always|--auto$|accept|bypass")
    for spec in REGISTRY.values():
        assert spec.permission_args == ()
        assert not [word for word in (*spec.command, *spec.args) if bypass.search(word)]


# What the real programs print for an unknown conversation, and their first-run dialogs.
SAID = [
    ("claude", "rejected", "No conversation found with session ID: X"),
    ("codex", "rejected", "ERROR: No saved session found with ID X. Run"),
    ("codex", "rejected", "Error: no rollout found for thread id X"),
    ("gemini", "rejected", 'Error resuming session: Invalid session identifier "X".'),
    ("gemini", "rejected", "No previous sessions found for this project."),
    ("qwen", "rejected", "No saved session found with ID X. Run"),
    ("copilot", "rejected", "Error: No session, task, or name matched 'X'."),
    ("opencode", "rejected", "Error: Session not found: X"),
    ("pi", "rejected", "No session found matching 'X'"),
    ("demo", "rejected", "No conversation found with session ID: X"),
    ("claude", "trust", " Accessing workspace:\n /p\n ❯ 1. Yes, I trust this folder"),
    ("claude", "trust", " Detected a custom API key in your environment"),
    ("claude", "trust", " WARNING: Claude Code running in Bypass Permissions mode"),
    ("codex", "trust", "Folder access\nTrust this folder?"),
    ("codex", "trust", "Hooks need review"),
    ("gemini", "trust", "Do you trust the files in this folder?"),
    ("copilot", "trust", "Confirm folder trust"),
    ("qwen", "trust", "Connect a Provider"),
    ("amp", "trust", "Would you like to log in to Amp? [(y)es, (n)o]: "),
    ("aider", "trust", "No git repo found, create one to track changes? (Y)es/(N)o [Yes]: "),
    ("aider", "waiting", "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: "),
    ("claude", "trust", "  3 new MCP servers found in this project"),
    ("pi", "waiting", " → Blue\n\n ↑↓ navigate  enter select  escape/ctrl+c cancel"),
    ("demo", "trust", "Do you trust the files in this folder?"),
    ("claude", "ready", "text\n──\n❯ "),
    ("demo", "ready", "text\n❯ "),
    ("claude", "waiting", "Do it?\n ❯ 1. Yes"),
    ("demo", "waiting", "Do you want to proceed?\n ❯ 1. Yes"),
    ("demo", "limit", "You have reached your usage limit · it resets at 5pm"),
    ("claude", "limit", "  ⎿  You've hit your limit · resets Nov 27, 5:54am"),
    ("claude", "limit", "  ⎿  You've hit your session limit"),
    ("claude", "limit", "  ⎿  You've hit your monthly spend limit"),
    ("gemini", "switched", "4. Be specific for the best results\n\n      ? for shortcuts\n"),
    ("qwen", "switched", "│ >_ Qwen Code (v0) │\n\n────\n*   Type your message or @path\n"),
    ("copilot", "switched", " ● Started a fresh session. Execution mode carried forward"),
    ("pi", "switched", " ✓ New session started"),
]


@pytest.mark.parametrize(("name", "field", "screen"), SAID)
def test_patterns_know_what_the_programs_say(name: str, field: str, screen: str) -> None:
    pattern = getattr(REGISTRY[name], field)

    assert re.search(pattern, screen, re.MULTILINE)
    assert not re.search(pattern, "Reading the plan and the tests.\n> ", re.MULTILINE)


PROMPT = "> Read the file /p/launches/0123456789ab/prompt.md and do what it says."


@pytest.mark.parametrize(
    ("name", "screen"),
    [
        ("gemini", f"4. Be specific for the best results\n\n {PROMPT}\n\n   ? for shortcuts\n"),
        ("qwen", f"│ >_ Qwen Code (v0) │\n\n  {PROMPT}\n────\n*   Type your message or @path\n"),
    ],
)
def test_a_banner_above_a_conversation_is_no_new_one(name: str, screen: str) -> None:
    assert switches_shown(REGISTRY[name], screen) == 0


@pytest.mark.parametrize(
    ("name", "screen"),
    [
        ("claude", "talk\n\nEsc to cancel the job\n❯ "),
        ("codex", "talk\n\nPress enter to confirm or esc to cancel it"),
        ("qwen", "talk\n\n› 1. a quotation"),
        ("claude", "● a quotation:\n\n   ❯ 1. Yes\n\n────\n❯ \n────"),
        ("aider", "────\n> /add x\nAdd it? (Y)es/(N)o [Yes]: y\nAdded x\n────\n> "),
    ],
)
def test_what_was_said_is_no_question(name: str, screen: str) -> None:
    assert read_screen(REGISTRY[name], screen) is not ScreenState.WAITING


def settings_of(folder: Path, text: str) -> Settings:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(None, folder, path).settings


def test_the_configuration_changes_and_adds_agents(tmp_path: Path) -> None:
    registry = load_registry(
        settings_of(
            tmp_path,
            "agents:\n"
            "  claude: {permission_args: [--permission-mode, plan], ready: null}\n"
            "  robot: {command: [/opt/robot, --tty], prompt: argv, mcp: {args: ['{mcp_file}']}}\n"
            "  shy: {like: robot, prompt: paste, strategies: [{kind: continue, resume: [-c]}]}\n"
            "  bare: {}\n"
            "  willing: {like: codex, ready: any}\n"
            "  careful: {like: willing, ready: '^> '}\n",
        )
    )

    assert (registry["willing"].ready, registry["willing"].blind) == (None, True)
    assert (registry["careful"].ready, registry["careful"].blind) == ("^> ", False)
    assert registry["claude"].permission_args == ("--permission-mode", "plan")
    assert registry["claude"].ready is None
    assert registry["claude"].strategies == REGISTRY["claude"].strategies
    assert registry["robot"].command == ("/opt/robot", "--tty")
    assert registry["robot"].match == ("robot",)
    assert registry["shy"].command == ("/opt/robot", "--tty")
    assert (registry["shy"].match, registry["shy"].prompt) == ((), PromptBy.PASTE)
    assert registry["shy"].mcp == registry["robot"].mcp
    assert registry["bare"] == AgentSpec(name="bare", match=("bare",), command=("bare",))
    assert spec_for("/x/robot", registry).prompt is PromptBy.ARGV
    assert list(registry)[: len(REGISTRY)] == list(REGISTRY)


def test_a_command_of_its_own_means_an_agent_that_is_like_another(tmp_path: Path) -> None:
    registry = load_registry(
        settings_of(
            tmp_path,
            "agents:\n"
            "  robot: {like: demo, command: robot}\n"
            "  quiet: {like: robot}\n"
            "  named: {like: demo, command: other, match: [mine]}\n"
            "  twin: {like: claude, command: /opt/claude}\n",
        )
    )
    matches = [registry[name].match for name in ("robot", "quiet", "named", "twin")]
    assert matches == [("robot",), (), ("mine",), ("claude",)]
    typed = spec_for("robot --foo", registry)
    assert (typed.name, typed.command) == ("robot", ("robot", "--foo"))
    assert typed.strategies == registry["demo"].strategies
    assert spec_for("claude --foo", registry).name == "claude"
    assert not spec_for("other", registry).known


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("agents: {x: {like: cluade}}", "did you mean `claude`?"),
        ("agents: {x: {like: x}}", ""),
        ("agents: {x: {like: y}, y: {like: x}}", ""),
    ],
)
def test_an_agent_is_like_another_that_exists(tmp_path: Path, text: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=r"`agents\.x\.like`|`agents\.y\.like`") as caught:
        load_registry(settings_of(tmp_path, text))

    assert hint in " ".join(caught.value.hints)


HELP = """
Usage: robot [options]

  -m, --model <name>   The model
      --session-id <uuid>   Use this id
  -r, --resume [value]   Resume
"""
ROBOT = AgentSpec(
    name="robot",
    command=("robot",),
    probe=Probe(version=r"^robot (\S+)"),
    strategies=(
        Strategy(
            kind=StrategyKind.ASSIGN,
            launch=("--session-id", "{session_id}"),
            resume=("--resume", "{session_id}"),
            probe={"assign": r"^\s*--session-id\b", "resume": r"^\s+-r, --resume\b"},
        ),
        Strategy(kind=StrategyKind.CONTINUE, resume=("-c",), probe={"continue": "--continue"}),
    ),
)


class Machine:
    """A folder on PATH with one made-up CLI that counts its calls, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "bin" / "robot"
        self.program.parent.mkdir()
        self.calls = folder / "calls"
        self.cache = folder / "cache"
        self.path_env = f"{self.program.parent}:/usr/bin:/bin"

    def install(self, body: str) -> None:
        self.program.write_text(f"#!/bin/sh\necho \"$*\" >> '{self.calls}'\n{body}\n")
        self.program.chmod(0o755)

    def counted(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def probe(self, spec: AgentSpec = ROBOT, timeout_s: float = 20.0) -> ProbeResult:
        return probe(spec, path_env=self.path_env, cache_dir=self.cache, timeout_s=timeout_s)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def shows(text: str) -> str:
    return f"cat <<'END'\n{text}\nEND"


def test_a_probe_shows_what_the_program_can_do(machine: Machine) -> None:
    machine.install(shows("robot 1.2.3" + HELP))
    result = machine.probe()

    assert result == ProbeResult(
        installed=True,
        path=str(machine.program),
        version="1.2.3",
        strategies={"assign": True, "continue": False},
        missing={"continue": ("continue",)},
    )
    assert choose_strategy(ROBOT, result).kind is StrategyKind.ASSIGN
    assert machine.counted() == ["--help"]


def test_id_assignment_and_resume_are_shown_apart(machine: Machine) -> None:
    machine.install(shows(HELP.replace("--session-id", "--sess") + "  -c, --continue  Go on"))
    result = machine.probe()

    assert result.missing == {"assign": ("assign",)}
    assert choose_strategy(ROBOT, result).kind is StrategyKind.CONTINUE


def test_a_program_is_asked_once_until_it_changes(machine: Machine) -> None:
    machine.install(shows(HELP))
    first = machine.probe()
    assert machine.probe() == first
    assert machine.counted() == ["--help"]

    os.utime(machine.program, ns=(1, 1))
    assert machine.probe() == first
    assert len(machine.counted()) == 2

    machine.install(shows(HELP + "  -c, --continue  Go on"))
    assert machine.probe().strategies["continue"]
    assert len(machine.counted()) == 3


def test_other_patterns_need_no_second_call(machine: Machine) -> None:
    machine.install(shows(HELP))
    machine.probe()
    other = AgentSpec(
        name="x",
        command=("robot",),
        strategies=(Strategy(kind=StrategyKind.LEARN, probe={"m": "--model"}),),
    )

    assert machine.probe(other).strategies == {"learn": True}
    assert len(machine.counted()) == 1


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"key": {}, "output": 5}'])
def test_a_spoilt_cache_is_as_none(machine: Machine, spoilt: str) -> None:
    machine.install(shows(HELP))
    first = machine.probe()
    (kept,) = (machine.cache / "probes").iterdir()
    kept.write_text(spoilt)

    assert machine.probe() == first
    assert len(machine.counted()) == 2


def test_a_cache_that_cannot_be_written_is_as_none(machine: Machine) -> None:
    machine.install(shows(HELP))
    machine.cache.write_text("a file, not a folder")

    assert machine.probe().strategies["assign"]
    assert machine.probe().strategies["assign"]
    assert len(machine.counted()) == 2


def test_a_program_sees_no_terminal_and_nothing_to_read(machine: Machine) -> None:
    machine.install(
        "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || printf '\\033[1m  --session-id\\033[0m x\\n' >&2\n"
        "cat\necho '  -r, --resume'"
    )

    assert machine.probe().strategies["assign"]


def test_a_program_that_hangs_is_ended_with_its_children(
    machine: Machine, tmp_path: Path, wait_until: WaitUntil
) -> None:
    pid = tmp_path / "pid"
    machine.install(f"sleep 300 & echo $! > '{pid}'\nwait")
    began = time.monotonic()
    result = machine.probe(timeout_s=1.0)

    assert time.monotonic() - began < 60
    assert result.installed
    assert result.problem is not None
    assert "did not end within 1 s" in result.problem
    assert choose_strategy(ROBOT, result).kind is StrategyKind.ASSIGN  # the default
    wait_until(lambda: not is_alive(int(pid.read_text())), what="the child lives")
    assert not list(machine.cache.rglob("*.json"))


def test_what_an_earlier_version_said_counts_while_a_new_one_says_nothing(machine: Machine) -> None:
    machine.install(shows(HELP))
    machine.probe()
    machine.install("sleep 300")
    result = machine.probe(timeout_s=0.2)
    assert result.strategies["assign"]
    assert result.problem is not None
    assert "an earlier version" in result.problem


NODE_CRASH = """printf 'file:///lib/robot.js:3\\n--session-id -r, --resume\\n\\n' >&2
printf 'robot 22.23.3\\nNode.js v22.23.3\\n\\n' >&2
exit 1"""


def test_a_program_that_fails_has_not_answered(machine: Machine) -> None:
    machine.install(NODE_CRASH)
    result = machine.probe()
    assert (result.installed, result.version, dict(result.strategies)) == (True, "", {})
    assert result.problem == f"`{machine.program} --help` failed with exit code 1: Node.js v22.23.3"
    assert choose_strategy(ROBOT, result).kind is StrategyKind.ASSIGN  # the default
    machine.probe()
    assert len(machine.counted()) == 2, "a failure is no answer to keep"


def test_what_an_earlier_version_said_counts_while_a_new_one_fails(machine: Machine) -> None:
    machine.install(shows(HELP))
    machine.probe()
    machine.install("kill -9 $$")
    result = machine.probe()
    assert result.strategies["assign"]
    assert result.problem is not None
    assert "was ended by signal 9: what an earlier version said counts" in result.problem


def test_what_a_release_kept_that_took_a_failure_for_an_answer_does_not_count(
    machine: Machine,
) -> None:
    machine.install(shows(HELP))
    machine.probe()
    (kept,) = (machine.cache / "probes").iterdir()
    kept.write_text(kept.read_text().replace('"v": 2', '"v": 1'))
    machine.install("exit 1")
    assert machine.probe().is_open


def test_nobody_waits_longer_than_a_moment_for_a_program_that_is_being_asked(
    machine: Machine, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    machine.install(f"cat '{gate}'\n{shows(HELP)}")
    prober = Prober(path_env=machine.path_env, cache_dir=machine.cache)
    answers: list[ProbeResult] = []
    asking = threading.Thread(target=lambda: answers.append(prober.ask(ROBOT)))
    asking.start()
    try:
        hasty = prober.probe(ROBOT)
    finally:
        gate.write_text("")
        asking.join(60)
    # No strategy is ruled out, because the agent has not answered yet.
    assert (hasty.installed, dict(hasty.strategies)) == (True, {})
    assert hasty.problem is not None
    assert answers[0].strategies["assign"]
    assert prober.probe(ROBOT) == answers[0]
    assert machine.counted() == ["--help"]


def test_a_program_that_hangs_is_waited_for_once(machine: Machine) -> None:
    machine.install("sleep 300")
    prober = Prober(path_env=machine.path_env, cache_dir=machine.cache)
    first = prober.probe(ROBOT)
    assert first.problem is not None
    assert prober.probe(ROBOT) == first
    assert machine.counted() == ["--help"]


def test_a_program_that_is_not_there_or_cannot_run(machine: Machine) -> None:
    absent = machine.probe()
    machine.program.write_text("#!/no/such/interpreter\n")
    machine.program.chmod(0o755)
    broken = machine.probe()

    assert (absent.installed, absent.path) == (False, None)
    assert absent.problem == "`robot` is not on PATH"
    assert broken.installed
    assert broken.problem is not None
    assert "cannot be run" in broken.problem


def test_an_agent_without_features_is_not_run_at_all(machine: Machine) -> None:
    machine.install(shows(HELP))
    result = machine.probe(AgentSpec(name="robot", command=("robot",)))

    assert result == ProbeResult(installed=True, path=str(machine.program))
    assert machine.counted() == []


def test_a_program_of_a_package_that_has_a_successor_is_told(machine: Machine) -> None:
    """As npm installs it: a link in a folder of PATH leads into the package."""
    machine.install(shows(HELP))
    spec = replace(ROBOT, former=("@old/robot",))
    assert machine.probe(spec).former == ""

    for package, former in (("@old/robot", "@old/robot"), ("@old/robot-arm", ""), ("robot", "")):
        inside = machine.program.parent.parent / "lib/node_modules" / package / "cli.js"
        inside.parent.mkdir(parents=True)
        machine.program.rename(inside)
        machine.program.symlink_to(inside)
        assert machine.probe(spec).former == former
        assert machine.probe(replace(spec, strategies=(), probe=Probe())).former == former
        inside.rename(machine.program)


def test_a_program_is_found_on_path_or_by_its_path(machine: Machine) -> None:
    machine.install("true")

    assert find_program("robot", machine.path_env) == machine.program
    assert find_program(str(machine.program), "/nowhere") == machine.program
    assert find_program("no-such-robot", machine.path_env) is None
    machine.program.chmod(0o644)
    assert find_program("robot", machine.path_env) is None


def test_the_demo_agent_can_do_what_its_entries_say(tmp_path: Path) -> None:
    path_env = os.environ["PATH"] + ":" + str(Path(sys.executable).parent)
    for name, spec in REGISTRY.items():
        if spec.command == ("agentmux-demo-agent",):
            result = probe(spec, path_env=path_env, cache_dir=tmp_path, timeout_s=30.0)
            assert (result.problem, result.missing) == (None, {}), name


def test_a_shell_is_played_by_a_person() -> None:
    registry = load_registry(Settings())
    for command in ("bash", "/usr/bin/zsh", "fish"):
        spec = spec_for(command, registry)
        assert spec.prompt is PromptBy.SHOWN
        assert spec.command == (command,)


@pytest.mark.parametrize("command", ["bash run-agent.sh", "sh -c 'exec robot --tty'"])
def test_a_shell_with_more_words_is_an_agent(command: str) -> None:
    spec = spec_for(command, load_registry(Settings()))
    assert spec.prompt is not PromptBy.SHOWN
    assert spec.command[:1] == (command.split(maxsplit=1)[0],)
    assert not spec.known


# -- directories outside of the one it works in ----------------------------------------------------


def test_the_words_for_another_directory() -> None:
    told = {
        name: shlex.join(dir_words(spec, ProbeResult(installed=True), "DIR"))
        for name, spec in REGISTRY.items()
        if spec.add_dir is not None and not name.startswith("demo-")
    }
    assert told == {
        "claude": "--add-dir=DIR",  # it takes several, and would take the prompt after it, too
        "codex": "--add-dir DIR",
        "gemini": "--include-directories=DIR",
        "qwen": "--include-directories=DIR",
        "copilot": "--add-dir DIR",
        "demo": "--add-dir DIR",
    }


def test_the_probe_shows_whether_it_can_be_told(machine: Machine) -> None:
    machine.install(shows("robot 1.2.3" + HELP))
    assert machine.probe().add_dir is None
    for pattern, knows in ((r"^\s*--session-id\b", True), (r"^\s*--add-dir\b", False)):
        spec = replace(ROBOT, add_dir=AddDir(args=("--add-dir", "{dir}"), probe=pattern))
        assert machine.probe(spec).add_dir is knows
    always = replace(ROBOT, add_dir=AddDir(args=("--add-dir", "{dir}")))
    assert machine.probe(always).add_dir is None
