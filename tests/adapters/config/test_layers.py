"""Reading, merging and checking the layers of the configuration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentmux.adapters.config.layers import SCHEMA, LoadedSettings, load_settings
from agentmux.adapters.yaml.schema import keys
from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.config.settings import Policy, Settings
from agentmux.core.names.phase import ROLES
from agentmux.errors import ConfigError, ExitCode

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".agentmux").mkdir(parents=True)
    return tmp_path / "project"


def load(project: Path, text: str) -> LoadedSettings:
    (project / ".agentmux" / "config.yaml").write_text(text, encoding="utf-8")
    return load_settings(None, project, None)


def test_the_built_in_values_are_those_of_the_reference(project: Path) -> None:
    loaded = load_settings(project / "none", project, None)
    settings = loaded.settings

    assert settings == Settings()
    assert loaded.files == ()
    assert set(loaded.sources.values()) == {"built-in"}
    assert (settings.defaults.agent, settings.defaults.model) == ("claude", None)
    assert settings.defaults.session_name == "agentmux"
    assert settings.defaults.max_review_iterations == 3
    assert (settings.resume.native, settings.resume.policy) == (True, None)
    assert (settings.resume.max_age_s, settings.resume.reject_after_s) == (604_800.0, 15.0)
    assert settings.snapshots.interval_s == 5.0
    assert (settings.tmux.socket_name, settings.tmux.size) == (None, (220, 60))
    assert (settings.stall.nudge_after_s, settings.stall.report_after_s) == (600.0, 1200.0)
    assert (settings.completion.require_approval, settings.completion.commit) == (True, True)
    assert settings.role("coder").single is False


def test_layers_merge_maps_and_replace_scalars_and_lists(tmp_path: Path, project: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "config.yaml").write_text(
        "version: 1\n"
        "defaults: {agent: codex, model: big}\n"
        "roles:\n"
        "  coder: {agent: gemini, args: [--a, --b]}\n"
        "resume:\n"
        "  commands: {claude: [--continue]}\n"
        "agents:\n"
        "  claude: {permission_args: [--user], env: {A: '1'}}\n"
    )
    (project / ".agentmux" / "config.yaml").write_text(
        "roles:\n"
        "  coder: {args: [--c]}\n"
        "  architect: {model: small}\n"
        "resume: {commands: {codex: [resume]}, policy: auto}\n"
        "agents: {claude: {env: {B: '2'}}}\n"
    )
    explicit = tmp_path / "more.yaml"
    explicit.write_text("# nothing but\ndefaults:\n  model: null\nstall:\n")

    loaded = load_settings(user, project, explicit)
    settings = loaded.settings

    assert (settings.defaults.agent, settings.defaults.model) == ("codex", None)
    assert settings.role("coder").agent == "gemini"
    assert settings.role("coder").args == ("--c",)
    assert settings.role("architect").model == "small"
    assert settings.resume.commands == {"claude": ("--continue",), "codex": ("resume",)}
    assert settings.resume.policy is Policy.AUTO
    assert settings.agents["claude"] == {
        "permission_args": ("--user",),
        "env": {"A": "1", "B": "2"},
    }
    assert loaded.files == (user / "config.yaml", project / ".agentmux" / "config.yaml", explicit)
    assert loaded.sources["defaults.agent"] == f"{user}/config.yaml:2"
    assert loaded.sources["defaults.model"] == f"{explicit}:3"
    assert loaded.sources["roles.coder.agent"] == f"{user}/config.yaml:4"
    assert loaded.sources["roles.coder.args"] == ".agentmux/config.yaml:2"
    assert loaded.sources["agents.claude.env.B"] == ".agentmux/config.yaml:5"
    assert loaded.sources["stall.nudge_after"] == "built-in"


ERRORS = [
    # text, place, message, hint
    ("roles:\n  coder:\n    modle: x\n", 3, "unknown key `modle` in `roles.coder`", "`model`"),
    ("rols: {}\n", 1, "unknown key `rols`", "did you mean `roles`?"),
    ("a: 1\n", 1, "unknown key `a`", "known: version, defaults, roles"),
    ("roles:\n  codr: {}\n", 2, "unknown key `codr` in `roles`", "did you mean `coder`?"),
    ("roles:\n  planner: {single: true}\n", 2, "unknown key `single` in `roles.planner`", "known"),
    ("version: 2\n", 1, "`version` must be 1", ""),
    ("version: '2'\n", 1, "`version` must be 1", ""),
    ("- a\n", 1, "the file must be a mapping, not a list", ""),
    ("hello\n", 1, "the file must be a mapping, not `hello`", ""),
    ("defaults: claude\n", 1, "`defaults` must be a mapping, not `claude`", ""),
    ("defaults:\n  agent: [a]\n", 2, "`defaults.agent` must be text on one line, not a list", ""),
    ("defaults:\n  agent:\n", 2, "`defaults.agent` must be text on one line, not nothing", ""),
    ("defaults:\n  agent: ''\n", 2, "`defaults.agent` must be text on one line", ""),
    ('defaults:\n  agent: "a\\nb"\n', 2, "`defaults.agent` must be text on one line", ""),
    ("defaults:\n  model: 5\n", 2, "`defaults.model` must be text", 'in quotes: "5"'),
    ("defaults:\n  model: no\n", 2, "`defaults.model` must be text", 'in quotes: "no"'),
    ("defaults: {session_name: 'a:b'}\n", 1, "`defaults.session_name` must be letters", ""),
    ("defaults: {max_review_iterations: -1}\n", 1, "a whole number from 0 to 100, not `-1`", ""),
    ("defaults: {max_review_iterations: '3'}\n", 1, "must be a whole number", ""),
    ("defaults: {max_review_iterations: 1.5}\n", 1, "must be a whole number", ""),
    ("defaults: {max_review_iterations: 0x10}\n", 1, "must be a whole number", ""),
    ("roles:\n  coder: {single: yes}\n", 2, "must be `true` or `false`, not `yes`", ""),
    ("roles:\n  coder:\n    args: --x\n", 3, "`roles.coder.args` must be a list of words", ""),
    ("roles:\n  coder:\n    args:\n    - a\n    - [b]\n", 5, "must be a list of words", ""),
    (
        "roles:\n  coder:\n    args:\n    - note: it\n",
        4,
        "not a mapping (text that contains `: ` needs quotes)",
        "",
    ),
    ("defaults: [1.5]\nroles: {}\n", 1, "`defaults` must be a mapping, not a list", ""),
    ("defaults: 1.5\n", 1, "`defaults` must be a mapping, not a number", ""),
    ("defaults: off\n", 1, "`defaults` must be a mapping, not true or false", ""),
    ("resume: {policy: atuo}\n", 1, "must be one of `never`, `confirm`, `auto`", "`auto`"),
    ("git: {setup: npm}\n", 1, "`git.setup` must be a list", ""),
    ("git:\n  setup:\n  - {run: [npm]}\n", 3, "`git.setup[0]` has no `name`", ""),
    ("git:\n  setup:\n  - {name: a}\n", 3, "step `a` in `git.setup` has no `run`", ""),
    ("git: {setup: [{name: a, run: []}]}\n", 1, "must be a list that begins with a program", ""),
    ("git: {setup: [{name: a, run: [b], timeout: 0s}]}\n", 1, "must be", ""),
    ("verify: pytest\n", 1, "`verify` must be a list", ""),
    ("verify:\n- {run: [a]}\n", 2, "`verify[0]` has no `name`", ""),
    ("verify:\n- {name: a}\n", 2, "command `a` in `verify` has no `run`", ""),
    ("verify:\n- {name: a, run: b c}\n", 2, "`verify[0].run` must be a list of words", ""),
    ("verify:\n- {name: a, run: []}\n", 2, "must be a list that begins with a program", ""),
    ("verify:\n- {name: a, run: [b], timeout: 0s}\n", 2, "must be at least 1s", ""),
    ("verify:\n- {name: a, run: [b], required: no}\n", 2, "must be `true` or `false`", ""),
    ("verify:\n- {name: a, run: [b], require: true}\n", 2, "unknown key `require`", "required"),
    ("verify:\n- {name: ../x, run: [b]}\n", 2, "at most 32 letters, digits", ""),
    (f"verify: [{{name: {'a' * 33}, run: [b]}}]\n", 1, "at most 32 letters, digits", ""),
    (
        "verify:\n- {name: a, run: [b]}\n- {name: a, run: [c]}\n",
        3,
        "two entries with `name: a`",
        "",
    ),
    (
        "verify: [" + ", ".join(f"{{name: a{n}, run: [b]}}" for n in range(17)) + "]\n",
        1,
        "`verify` has 17 commands, at most 16 are run",
        "",
    ),
    ("resume: {max_age: 7}\n", 1, "`resume.max_age` must be a duration such as", ""),
    ("resume: {max_age: 7w}\n", 1, "must be a duration such as", ""),
    ("resume: {max_age: -1s}\n", 1, "must be a duration such as", ""),
    ("snapshots: {interval: 10ms}\n", 1, "`snapshots.interval` must be at least 0.1s", ""),
    ("tmux: {size: [220]}\n", 1, "`tmux.size` must be a list of two values", ""),
    ("tmux:\n  size:\n  - 220\n  - 5\n", 4, "must be a whole number from 10 to 1000", ""),
    ("tmux: {socket_name: ../x}\n", 1, "`tmux.socket_name` must be a name", ""),
    ("agents:\n  foo: {command: []}\n", 2, "`agents.foo.command` must be a program", ""),
    ("resume:\n  commands:\n    claude: x\n", 3, "`resume.commands.claude` must be a list", ""),
    ("resume: {commands: {c: ['{id}']}}\n", 1, "nothing is known by `{id}`", ""),
    ("version: 1\nversion: 1\n", 2, "the key `version` appears twice, first in line 1", ""),
    ("roles:\n  logic: {}\n  reviewer_logic: {}\n", 3, "`roles.reviewer_logic` appears twice", ""),
    ("a: &x 1\n", 1, "an anchor (`&…`) is not allowed", ""),
    ("defaults: {}\nroles: *x\n", 2, "an alias (`*…`) is not allowed", ""),
    ("defaults: !!python/object:os.system {}\n", 1, "a tag (`!…`) is not allowed", ""),
    ("defaults: !!map {}\n", 1, "a tag (`!…`) is not allowed", ""),
    ("? [a]\n: 1\n", 1, "a key must be a plain word", ""),
    ("<<: {}\n", 1, "unknown key `<<`", ""),
    ("[" * 40 + "]" * 40, 1, "nested over 17 levels", ""),
    ("[" * 17 + "]" * 17, 1, "the file must be a mapping, not a list", ""),
    ("[" * 18 + "]" * 18, 1, "nested over 17 levels", ""),
    ("[" * 50_000, 1, "nested over 17 levels", ""),
    ("version: 1\n---\nversion: 1\n", 2, "a second document begins", ""),
    ("version: 1\ndefaults: {\n", 3, "not YAML", ""),
    ("version: 1\n\tx: 1\n", 2, "not YAML", ""),
    ("version: 1\nx: \x00\n", 1, "not YAML", ""),
    ("agents:\n  x:\n    promt: argv\n", 3, "unknown key `promt` in `agents.x`", "`prompt`"),
    ("agents:\n  x: {prompt: typed}\n", 2, "must be one of `argv`, `paste`, `stdin`", ""),
    ("agents:\n  x: {ready: '('}\n", 2, "`agents.x.ready` is not a regular expression", ""),
    ("agents:\n  'a b': {}\n", 2, "`a b` cannot be a key of `agents`", ""),
    ("agents:\n  x: {env: {'A=B': x}}\n", 2, "`A=B` cannot be a key of `agents.x.env`", ""),
    ("agents:\n  x: {mcp: {}}\n", 2, "`agents.x.mcp` has no `args`", ""),
    ("agents:\n  x: {mcp: {args: ['{mcp_fil}']}}\n", 2, "nothing is known by", "`{mcp_file}`"),
    ("agents:\n  x: {hooks: {format: claude}}\n", 2, "`agents.x.hooks` has no `flag`", ""),
    ("agents: {x: {strategies: {}}}\n", 1, "`agents.x.strategies` must be a list", ""),
    (
        "agents:\n  x:\n    strategies:\n    - resume: [-c]\n",
        4,
        "`agents.x.strategies[0]` has no `kind`",
        "",
    ),
    (
        "agents:\n  x:\n    strategies:\n    - kind: asign\n",
        4,
        "must be one of `assign`, `learn`",
        "did you mean `assign`?",
    ),
    (
        "agents:\n  x:\n    strategies:\n    - kind: assign\n",
        4,
        "`assign` in `agents.x.strategies` has no `resume` words",
        "",
    ),
    (
        "agents:\n  x:\n    strategies:\n    - {kind: learn, resume: [-r, '{session_id}']}\n",
        4,
        "does not say where: `learn`",
        "",
    ),
    (
        "agents:\n  x:\n    strategies:\n    - {kind: none}\n    - {kind: none}\n",
        5,
        "two entries with `kind: none`",
        "",
    ),
    (
        "agents:\n  x:\n    strategies:\n    - {kind: continue, resume: ['{sesion_id}']}\n",
        4,
        "nothing is known by `{sesion_id}`",
        "did you mean `{session_id}`?",
    ),
]


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"), ERRORS, ids=[e[0][:60] for e in ERRORS]
)
def test_every_mistake_is_refused_with_its_place(
    project: Path, text: str, line: int, message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(project, text)

    assert caught.value.message.startswith(f".agentmux/config.yaml:{line}: ")
    assert message in caught.value.message
    assert hint in " ".join(caught.value.hints)
    assert caught.value.exit_code is ExitCode.CONFIG
    assert not caught.value.message.endswith(".")


def test_the_message_reads_as_promised(project: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(project, "version: 1\n" * 1 + "#\n" * 9 + "roles:\n  coder: {modle: x}\n")

    assert caught.value.message == (
        ".agentmux/config.yaml:12: unknown key `modle` in `roles.coder`"
    )
    assert caught.value.hints == ("did you mean `model`?",)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("500ms", 0.5),
        ("15s", 15.0),
        ("10m", 600.0),
        ("1.5h", 5400.0),
        ("7d", 604_800.0),
        ("999999999d", 36_500 * 86_400.0),  # a timer or a date cannot be more
    ],
)
def test_durations_are_seconds(project: Path, written: str, seconds: float) -> None:
    assert load(project, f"resume: {{max_age: {written}}}").settings.resume.max_age_s == seconds


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null\n", "version: 1\n"])
def test_an_empty_file_changes_nothing(project: Path, text: str) -> None:
    assert load(project, text).settings == Settings()


def test_the_steps_of_a_setup_have_a_limit_each(project: Path) -> None:
    text = "git: {setup: [{name: a, run: [npm, ci]}, {name: b, run: [make], timeout: 90s}]}"
    assert load(project, text).settings.git.setup == (
        SetupStep(name="a", run=("npm", "ci"), timeout_s=600),
        SetupStep(name="b", run=("make",), timeout_s=90),
    )


def test_a_command_that_verifies_is_required_and_has_a_limit(project: Path) -> None:
    text = (
        "verify: [{name: a, run: [pytest, -q]},"
        " {name: b, run: [mypy], timeout: 90s, required: false}]"
    )
    assert load(project, text).settings.verify == (
        VerifyCommand(name="a", run=("pytest", "-q"), timeout_s=600, required=True),
        VerifyCommand(name="b", run=("mypy",), timeout_s=90, required=False),
    )


def test_words_are_taken_as_they_are_written(project: Path) -> None:
    loaded = load(project, "roles: {coder: {args: [--max, 0x10, yes, 1.50, '']}}")

    assert loaded.settings.role("coder").args == ("--max", "0x10", "yes", "1.50", "")


def test_roles_have_their_other_spellings(project: Path) -> None:
    roles = load(project, "roles: {logic: {model: a}, product_manager: {model: b}}").settings.roles

    assert {role: given.model for role, given in roles.items()} == {
        "reviewer_logic": "a",
        "product-manager": "b",
    }


def test_only_the_file_that_was_asked_for_must_be_there(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"x\.yaml: no such file"):
        load_settings(None, project, project / "x.yaml")


def test_a_file_that_is_no_file_is_refused_without_waiting(project: Path) -> None:
    path = project / ".agentmux" / "config.yaml"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="is not a regular file"):
        load_settings(None, project, None)
    path.unlink()
    path.mkdir()
    with pytest.raises(ConfigError, match="is not a regular file"):
        load_settings(None, project, None)


def test_a_huge_file_and_a_binary_one_are_refused(project: Path) -> None:
    with pytest.raises(ConfigError, match="is larger than"):
        load(project, "#" * 1_000_001)
    (project / ".agentmux" / "config.yaml").write_bytes(b"version: 1\ndefaults: \xff\n")
    with pytest.raises(ConfigError, match=r"config\.yaml:2: is not UTF-8"):
        load_settings(None, project, None)


FLAGGED = """
defaults: {agent: claude, model: big}
roles:
  coder: {agent: codex, model: fast, args: [--x]}
  planner: {model: small}
  designer: {agent: gemini}
"""


def test_who_plays_a_role_with_which_model(project: Path) -> None:
    settings = load(project, FLAGGED).settings
    played = {role: (settings.agent_for(role), settings.model_for(role)) for role in ROLES}

    assert played["architect"] == ("claude", "big")
    assert played["coder"] == ("codex", "fast")
    assert played["planner"] == ("claude", "small")
    assert played["designer"] == ("gemini", None)


def test_flags_set_every_seat_that_no_role_flag_names(project: Path) -> None:
    flags = {"*": "demo", "planner": "qwen", "architect": "claude"}
    models = {"planner": "q1", "coder": "slow"}
    settings = load(project, FLAGGED).settings
    players = {role: settings.choose_player(role, flags, models) for role in ROLES}
    played = {role: (player.agent, player.model) for role, player in players.items()}

    assert played["planner"] == ("qwen", "q1")
    assert played["architect"] == ("claude", "big")
    assert played["coder"] == ("demo", "slow")
    others = set(ROLES) - {"planner", "architect", "coder"}
    assert {played[role] for role in others} == {("demo", None)}
    assert players["coder"].args == ()


def test_no_flags_change_nobody(project: Path) -> None:
    settings = load(project, FLAGGED).settings

    for role in ROLES:
        player = settings.choose_player(role, {}, {})
        assert player.agent == settings.agent_for(role)
        assert player.model == settings.model_for(role)
        assert player.args == settings.role(role).args


def test_the_example_configuration_is_sound() -> None:
    loaded = load_settings(None, REPOSITORY, REPOSITORY / ".agentmux.example" / "config.yaml")

    assert {loaded.settings.agent_for(role) for role in ROLES} == {"demo"}
    # A user who copies it and names a real agent gets the default policy: resumes ask first.
    assert loaded.settings.resume.policy is None


def test_the_reference_names_every_key() -> None:
    page = (REPOSITORY / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    leaves = {key.rpartition(".")[2] for key in keys(SCHEMA) if not key.endswith("*")}

    assert not {leaf for leaf in leaves if f"`{leaf}`" not in page and f".{leaf}`" not in page}
