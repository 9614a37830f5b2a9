"""The agent CLIs that are tested: their packages, and what each needs to run offline.

Versions are fixed, so that every run has the same result. ``AGENTMUX_REAL_LATEST=1`` takes the
newest ones instead, to bring the facts in ``agents.yaml`` up to date.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

KEY: Final = "dummy-key-0123456789-0123456789"
MODEL: Final = "gpt-5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a CLI runs: its own home, the project, and the model server.

    Attributes:
        trusted: The CLI's configuration says that the project's folder is trusted.
        asking: The CLI has to ask before it runs a command; used if only its configuration can
            set that.
    """

    home: Path
    project: Path
    url: str
    trusted: bool = True
    asking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cli:
    """One agent CLI, by its name in the registry.

    Attributes:
        package: Its name on the npm registry, or on PyPI.
        version: The version that is installed.
        program: Path of the program below ``node_modules``, or in the virtual environment;
            ``{platform}`` is like ``linux-x64``.
        on_python: It is a package of PyPI.
        chats: It has no tools: each of its requests is a turn.
        on_node: Lowest major version of Node that runs the program; 0 for a binary.
        prepare: Writes its configuration, without a login and with first-run questions answered;
            returns its environment.
        forget: Patterns of files in its home whose removal makes it forget every conversation.
        trust: Keys that answer its question about trust in the folder; empty if it does not ask.
        leaves: Text that starts a new conversation, and the keys that answer its questions then.
        asks: ``permission_args`` with which it asks before it runs a command; empty if its
            configuration decides that, None if nothing does.
        edits: ``permission_args`` with which it writes in its workspace without asking, but nowhere
            else.
        writer: Its tool that writes a file, and the tool's arguments for path and text; empty if a
            command does it.
        adds: Keys that answer its question about a directory that is added; empty if it asks none.
        without: Columns of the closing table that do not apply to it, each with the reason.
        path: Folders in the cache with programs that it would otherwise download.
        settings: Its entry under ``agents`` in the configuration of AgentMux.
    """

    package: str
    version: str
    program: str
    on_python: bool = False
    chats: bool = False
    on_node: int = 0
    prepare: Callable[[Place], Mapping[str, str]]
    forget: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ("/clear",)
    asks: tuple[str, ...] | None = None
    edits: tuple[str, ...] = ()
    writer: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    settings: Mapping[str, object] | None = None


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def _claude(place: Place) -> Mapping[str, str]:
    known = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(place.project): {"hasTrustDialogAccepted": place.trusted}},
    }
    _write(place.home / ".claude.json", known)
    _write(place.home / "settings.json", {"skipDangerousModePermissionPrompt": True})
    return {
        "CLAUDE_CONFIG_DIR": str(place.home),
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",  # a request that looks like a turn
        "IS_SANDBOX": "1",  # root may not skip permissions without it
    }


def _codex(place: Place) -> Mapping[str, str]:
    lines = [
        f'model = "{MODEL}"',
        'model_provider = "local"',
        "[model_providers.local]",
        'name = "local"',
        f'base_url = "{place.url}/v1"',
        'env_key = "LOCAL_MODEL_KEY"',
        'wire_api = "responses"',
    ]
    if place.trusted:
        lines += [f'[projects."{place.project}"]', 'trust_level = "trusted"']
    _write(place.home / "config.toml", "\n".join(lines) + "\n")
    return {"CODEX_HOME": str(place.home), "LOCAL_MODEL_KEY": KEY}


def _gemini(place: Place) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        # The automatic choice of a model would itself ask a model.
        "model": {"name": "gemini-2.5-pro"},
    }
    _write(place.home / ".gemini" / "settings.json", settings)
    return {
        "GEMINI_CLI_HOME": str(place.home),
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": place.url,
        **({"GEMINI_CLI_TRUST_WORKSPACE": "true"} if place.trusted else {}),
    }


def _qwen(place: Place) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    _write(place.home / "settings.json", settings)
    return {
        "QWEN_HOME": str(place.home),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{place.url}/v1",
        "OPENAI_MODEL": MODEL,
    }


def _copilot(place: Place) -> Mapping[str, str]:
    trusted = [str(place.project)] if place.trusted else []
    _write(place.home / "config.json", {"trustedFolders": trusted})
    return {
        "COPILOT_HOME": str(place.home),
        "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _opencode(place: Place) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "local",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": KEY},
        "models": {MODEL: {"name": MODEL}},
    }
    known = {
        "model": f"local/{MODEL}",
        "small_model": f"local/{MODEL}",
        "provider": {"local": provider},
        "permission": {"bash": "ask"} if place.asking else "allow",
        "autoupdate": False,
    }
    _write(place.home / "opencode.json", known)
    return {
        **{f"XDG_{name}_HOME": str(place.home / name.lower()) for name in ("DATA", "CONFIG")},
        # With a configuration folder, it would first download the packages that plugins need.
        "OPENCODE_CONFIG": str(place.home / "opencode.json"),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _pi(place: Place) -> Mapping[str, str]:
    provider = {
        "baseUrl": f"{place.url}/v1",
        "apiKey": KEY,
        "api": "openai-completions",
        "models": [{"id": MODEL}],
    }
    _write(place.home / "models.json", {"providers": {"local": provider}})
    _write(place.home / "settings.json", {"defaultProvider": "local", "defaultModel": MODEL})
    if not place.trusted:  # it asks only if the folder has settings for it
        _write(place.project / ".pi" / "settings.json", {})
    return {"PI_CODING_AGENT_DIR": str(place.home), "PI_OFFLINE": "1"}


def _aider(place: Place) -> Mapping[str, str]:
    _write(place.home / ".gitconfig", "[user]\nname = A\nemail = a@example.org\n")
    prices = "model_prices_and_context_window.json"  # which it would otherwise download
    _write(place.home / ".aider" / "caches" / prices, {"openai/gpt-5": {}})
    return {
        "HOME": str(place.home),
        "OPENAI_API_KEY": KEY,
        "OPENAI_API_BASE": f"{place.url}/v1",
        "AIDER_MODEL": f"openai/{MODEL}",
    }


def _amp(place: Place) -> Mapping[str, str]:
    # Its welcome, a tour in which keys are lost, is shown until it was gone through once.
    known = {"neoWelcomeDismissed": place.trusted}
    _write(place.home / ".local" / "share" / "amp" / "session.json", known)
    return {"HOME": str(place.home), "AMP_API_KEY": KEY, "AMP_URL": place.url}


_NO_TIME: Final = {"limits": "its limit says no time; its recorded screens are tested"}
_UNTRIED: Final = {"answered": "tried with claude and codex; the others take keys in the same way"}
_NO_TRUST: Final = {"dialogs": "it asks nothing about a folder"}
_NOT_TOLD: Final = {"outside": "it has no flag for another directory"}
_LAUNCHED: Final = (
    *("rejection", "resumed", "hangup", "midway", "pair", "lost", "left", "asked"),
    *("permits", "answered", "dialogs", "outside", "limits"),
)
"""The columns of the closing table for which a session runs the agent."""
_LATEST: Final = "it takes no id: the latest conversation of the folder is what comes back"

CLIS: Final[Mapping[str, Cli]] = {
    "claude": Cli(
        package="@anthropic-ai/claude-code",
        version="2.1.332",
        program="@anthropic-ai/claude-code-{platform}/claude",
        prepare=_claude,
        forget=("projects",),
        trust=("Up", "Enter"),
        asks=("--permission-mode", "default"),
        edits=(
            "--permission-mode",
            "acceptEdits",
            "--allowedTools=Bash(agentmux submit:*),Bash(agentmux research:*),mcp__agentmux",
        ),
        writer=("Write", "file_path", "content"),
        adds=("Down", "Enter"),
        settings={"permission_args": ["--dangerously-skip-permissions"]},
    ),
    "codex": Cli(
        package="@openai/codex",
        version="0.171.0",
        program="@openai/codex-{platform}/vendor/*/bin/codex",
        prepare=_codex,
        forget=("sessions", "*.sqlite*"),
        trust=("Enter",),
        leaves=("/new", "Enter"),
        asks=("-a", "on-request", "-s", "read-only"),
        edits=("-a", "on-request", "-s", "workspace-write"),
        settings={"permission_args": ["--dangerously-bypass-approvals-and-sandbox"]},
    ),
    "gemini": Cli(
        package="@google/gemini-cli",
        version="0.61.0",
        program="@google/gemini-cli/bundle/gemini.js",
        on_node=20,
        prepare=_gemini,
        forget=(".gemini/tmp",),
        trust=("Enter",),
        asks=("--approval-mode", "default"),
        edits=("--approval-mode", "auto_edit"),
        writer=("write_file", "file_path", "content"),
        adds=("Enter",),
        settings={"permission_args": ["--approval-mode", "yolo"]},
        without={**_NO_TIME, **_UNTRIED},
    ),
    "qwen": Cli(
        package="@qwen-code/qwen-code",
        version="0.24.4",
        program="@qwen-code/qwen-code/cli-entry.js",
        on_node=22,
        prepare=_qwen,
        forget=("projects",),
        asks=("--approval-mode", "default"),
        edits=("--approval-mode", "auto-edit"),
        writer=("write_file", "file_path", "content"),
        without={**_NO_TRUST, **_NO_TIME, **_UNTRIED},
        settings={"permission_args": ["--approval-mode", "yolo"]},
    ),
    "copilot": Cli(
        package="@github/copilot",
        version="1.0.102",
        program="@github/copilot-{platform}/copilot",
        prepare=_copilot,
        forget=("session-state", "*.db*"),
        trust=("Enter",),
        asks=("--allow-tool", "none"),
        edits=(
            "--allow-tool=write",
            "--allow-tool=shell(agentmux:*)",
            "--allow-tool=agentmux",
        ),
        writer=("create", "path", "file_text"),
        settings={"permission_args": ["--allow-all"]},
        without={**_NO_TIME, **_UNTRIED},
    ),
    "opencode": Cli(
        package="opencode-ai",
        version="1.18.33",
        program="opencode-{platform}/bin/opencode",
        prepare=_opencode,
        asks=(),
        without={
            "lost": f"{_LATEST}, whichever is left",
            "left": f"{_LATEST}, whichever its user went to",
            **_NO_TRUST,
            **_NOT_TOLD,
            **_NO_TIME,
            **_UNTRIED,
        },
        # Without ripgrep, its first turn waits for a download; codex's package contains one.
        path=("codex/node_modules/@openai/codex-*/vendor/*/codex-path",),
    ),
    "pi": Cli(
        package="@earendil-works/pi-coding-agent",
        version="1.6.0",
        program="@earendil-works/pi-coding-agent/dist/cli.js",
        on_node=20,
        prepare=_pi,
        leaves=("/new",),
        trust=("Enter",),
        without={
            "permits": "it asks for no permissions",
            **_NOT_TOLD,
            **_NO_TIME,
            **_UNTRIED,
        },
    ),
    "aider": Cli(
        package="aider-chat",
        version="0.86.2",
        program="bin/aider",
        on_python=True,
        chats=True,
        prepare=_aider,
        without=dict.fromkeys(
            _LAUNCHED,
            "it runs a command only after its user has said yes; its recorded screens are tested",
        ),
    ),
    "amp": Cli(
        package="@ampcode/cli",
        version="0.0.1790142911-g7618fb",  # the newest whose program is served
        program="@ampcode/cli-{platform}/amp",
        prepare=_amp,
        without=dict.fromkeys(
            _LAUNCHED,
            "its conversations are on its server, for which it needs an account; its first screens "
            "are recorded and tested",
        ),
    ),
}


def of(column: str) -> list[str]:
    """Return the agents to which a column of the closing table applies."""
    return [name for name, cli in CLIS.items() if column not in cli.without]
