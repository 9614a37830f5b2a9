# ruff: noqa: RUF001 (the screens of agents have such characters)
"""The screens that are recorded of each agent, and how to bring each one about."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.real.clis import KEY, Place
from tests.real.model_server import LATE, Call, ModelServer, Refusal


def _nothing(_model: ModelServer) -> None:
    """Change nothing: the model answers as usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One screen of one agent, and how to bring it about.

    Attributes:
        screen: Its name: its kind, and after a ``-`` a name that distinguishes it within the kind.
        mark: The mark that AgentMux has to read.
        says: The reset time, or the cause of trouble, that AgentMux has to read.
        how: How it came about, as a text for people.
        ready: Pattern of the screen on which the agent takes input; empty: do not wait for it.
        script: Sets up the model before anything is typed.
        say: Texts to type.
        then: Pattern of the screen after which ``after``, ``keys`` and ``say_then`` follow.
        shows: Pattern of the complete screen.
        unknown: Arguments with an unknown conversation; empty to use those of the registry.
        patience_s: How long to wait for each pattern.
        unreachable: The service refuses connections.
        branch: The project's git branch.
    """

    agent: str
    screen: str
    mark: str
    shows: str
    how: str
    says: str = ""
    ready: str = ""
    script: Callable[[ModelServer], None] = _nothing
    say: tuple[str, ...] = ()
    then: str = ""
    after: Callable[[ModelServer], None] = _nothing
    keys: tuple[str, ...] = ()
    say_then: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    configure: Callable[[Place, dict[str, str]], None] | None = None
    trusted: bool = True
    unreachable: bool = False
    unknown: tuple[str, ...] = ()
    patience_s: float = 25
    branch: str = "main"

    @property
    def kind(self) -> str:
        return self.screen.partition("-")[0]


HELLO: Final = "Say hello."


def _resets_at() -> int:
    """Return a time some days from now, in seconds since the epoch."""
    return int(time.time()) + 4 * 86_400 + 7_000


def _runs(*steps: str | Call) -> Callable[[ModelServer], None]:
    return lambda model: model.run(*steps)


def _refuses(status: int, body: dict[str, object], **headers: str) -> Callable[[ModelServer], None]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}

    def tell(model: ModelServer) -> None:
        model.refusal = Refusal(status=status, body=body, headers=given)

    return tell


def _answers(model: ModelServer) -> None:
    model.refusal = None


def _slow(model: ModelServer) -> None:
    model.think_s = 120


# -- claude ---------------------------------------------------------------------------------------

Tell = Callable[[ModelServer], None]


def _maker(agent: str, ready: str, *standing: str) -> Callable[..., Scene]:
    """Return a function that makes scenes of one agent, with these arguments by default."""

    def make(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
        given = {"ready": ready, "args": standing, **more}
        return Scene(agent=agent, screen=screen, mark=mark, shows=shows, how=how, **given)  # type: ignore[arg-type]

    return make


def _asked(agent: str, ready: str, *standing: str) -> Callable[..., Scene]:
    made = _maker(agent, ready, *standing)

    def make(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
        return made(screen, mark, shows, how, say=(HELLO,), **more)

    return make


_WAY: Final[dict[str, object]] = {
    "question": "Which way should we go?",
    "header": "Way",
    "multiSelect": False,
    "options": [
        {"label": "Left", "description": "The way along the river"},
        {"label": "Right", "description": "The way over the hill"},
    ],
}
_DAY: Final[dict[str, object]] = {
    "question": "Which day is it to be?",
    "header": "Day",
    "multiSelect": False,
    "options": [
        {"label": "Monday", "description": "Early in the week"},
        {"label": "Friday", "description": "Late in the week"},
    ],
}

_CLAUDE_READY: Final = r"^❯"
_CLAUDE_TIME: Final = r"^\w{3} \d+, \d+:\d\d[ap]m( \(UTC\))?$"
_BYPASS: Final = ("--dangerously-skip-permissions",)


def _questions(*questions: dict[str, object]) -> Tell:
    return _runs(Call(tools=("AskUserQuestion",), arguments={"questions": list(questions)}))


def limited(claim: str, *, resets: int | None = None, **more: str) -> Tell:
    """Return a refusal with the headers of a subscription's limit, which ends at ``resets``."""
    message = "This request would exceed your account's rate limit. Please try again later."
    return _refuses(
        429,
        {"type": "error", "error": {"type": "rate_limit_error", "message": message}},
        anthropic_ratelimit_unified_status="rejected",
        anthropic_ratelimit_unified_reset=str(resets or _resets_at()),
        anthropic_ratelimit_unified_representative_claim=claim,
        **more,
    )


def _spent(reason: str) -> Tell:
    name = "anthropic_ratelimit_unified_overage"
    more = {f"{name}_status": "rejected", f"{name}_disabled_reason": reason}
    return limited("overage", resets=None, **more)


def _failed(status: int, kind: str, message: str) -> Tell:
    return _refuses(status, {"type": "error", "error": {"type": kind, "message": message}})


def subscribed(_place: Place, env: dict[str, str]) -> None:
    """Log in as a subscriber, with an invented token, because only subscribers have such limits."""
    del env["ANTHROPIC_API_KEY"]
    env["CLAUDE_CODE_OAUTH_TOKEN"] = KEY


_ADDED: Final = "/var/tmp/agentmux/added"


def _with_added(_place: Place, _env: dict[str, str]) -> None:
    Path(_ADDED).mkdir()


def _never_bypassed(place: Place, _env: dict[str, str]) -> None:
    (place.home / "settings.json").write_text("{}")


def _unasked(place: Place, _env: dict[str, str]) -> None:
    path = place.home / ".claude.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "customApiKeyResponses": {}}))


_claude = _maker("claude", _CLAUDE_READY, "--permission-mode", "default")
_claude_asked = _asked("claude", _CLAUDE_READY, "--permission-mode", "default")


def _claude_limit(
    screen: str, how: str, script: Tell, shows: str = "Stop and wait", **more: object
) -> Scene:
    given = {"says": _CLAUDE_TIME, "configure": subscribed, **more}
    return _claude_asked(f"limit-{screen}", "limit", shows, how, script=script, **given)


def _with_servers(*names: str) -> Callable[[Place, dict[str, str]], None]:
    served = {"mcpServers": {name: {"command": "true"} for name in names}}
    return lambda place, _env: _write(place.project / ".mcp.json", json.dumps(served))


def _plan(request: str) -> dict[str, object]:
    """Return a plan, for the file that a request names."""
    place = re.search(r"/[\w./-]+/plans/[\w-]+\.md", request)
    return {"file_path": place[0] if place else "", "content": "# Plan\n\n1. Say hello.\n"}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


_ONE_TRY: Final = {"CLAUDE_CODE_MAX_RETRIES": "1"}
_WRITE: Final = {"file_path": "/var/tmp/agentmux/project/new.md", "content": "hello\n"}

CLAUDE: Final = (
    _claude("ready", "ready", _CLAUDE_READY, "started"),
    _claude("ready-bypass", "ready", _CLAUDE_READY, "started with all permissions", args=_BYPASS),
    _claude_asked("busy", "busy", "esc to interrupt", "asked, no answer yet", script=_slow),
    _claude_asked(
        "busy-bypass",
        "busy",
        "esc to interrupt",
        "the same with all permissions",
        script=_slow,
        args=_BYPASS,
    ),
    _claude_asked(
        "busy-command",
        "busy",
        "tail",
        "a command runs",
        script=_runs("tail -f README.md"),
        args=_BYPASS,
    ),
    _claude_asked(
        "question", "waiting", "Enter to select", "AskUserQuestion", script=_questions(_WAY)
    ),
    _claude_asked(
        "question-bypass",
        "waiting",
        "Enter to select",
        "AskUserQuestion, with all permissions",
        script=_questions(_WAY),
        args=_BYPASS,
    ),
    _claude_asked(
        "question-two",
        "waiting",
        "Enter to select",
        "AskUserQuestion, two questions",
        script=_questions(_WAY, _DAY),
    ),
    _claude_asked(
        "question-several",
        "waiting",
        "Enter to select",
        "AskUserQuestion, several answers allowed",
        script=_questions({**_WAY, "multiSelect": True}),
    ),
    _claude_asked(
        "permission", "waiting", "Esc to cancel", "a command", script=_runs("touch hello.txt")
    ),
    _claude_asked(
        "permission-write",
        "waiting",
        "Esc to cancel",
        "a new file",
        script=_runs(Call(tools=("Write",), arguments=_WRITE)),
    ),
    _claude_asked(
        "permission-plan",
        "waiting",
        "Would you like to proceed",
        "a plan",
        # Its tool is among those that a model has to ask for.
        script=_runs(
            Call(tools=("ToolSearch",), arguments={"query": "select:ExitPlanMode"}),
            Call(tools=("Write",), arguments=_plan),
            Call(tools=("ExitPlanMode",), arguments={}),
        ),
        args=("--permission-mode", "plan"),
    ),
    _claude("shell", "unknown", r"^!\s", "its user begins a shell command", then="^❯", keys=("!",)),
    _claude(
        "trust-server",
        "trust",
        "MCP server found",
        "an MCP server of the project",
        ready="",
        configure=_with_servers("weather"),
    ),
    _claude(
        "trust-servers",
        "trust",
        "MCP servers found",
        "two MCP servers of the project",
        ready="",
        configure=_with_servers("weather", "maps"),
    ),
    _claude(
        "trust",
        "trust",
        "trust this folder",
        "a folder that it does not know",
        ready="",
        trusted=False,
    ),
    _claude(
        "trust-added",
        "trust",
        "Yes, add it",
        "a directory that is added",
        ready="",
        args=(f"--add-dir={_ADDED}",),
        configure=_with_added,
    ),
    _claude(
        "trust-bypass",
        "trust",
        "Bypass Permissions",
        "all permissions for the first time",
        ready="",
        args=_BYPASS,
        configure=_never_bypassed,
    ),
    _claude(
        "trust-key",
        "trust",
        "custom API key",
        "an API key that it does not know",
        ready="",
        configure=_unasked,
    ),
    _claude_limit("week", "HTTP 429, claim seven_day", limited("seven_day")),
    _claude_limit("hours", "HTTP 429, claim five_hour", limited("five_hour")),
    _claude_limit("other", "HTTP 429, a claim that it does not know", limited("other")),
    _claude_limit(
        "spend", "HTTP 429, claim overage, org_spend_cap_reached", _spent("org_spend_cap_reached")
    ),
    _claude_limit("credits", "HTTP 429, claim overage, out_of_credits", _spent("out_of_credits")),
    _claude_limit(
        "stopped",
        "its menu answered: stop and wait",
        limited("seven_day"),
        _CLAUDE_READY,
        then="Stop and wait",
        keys=("Enter",),
    ),
    _claude_limit(
        "waiting",
        "its menu answered: go on by itself",
        limited("seven_day"),
        _CLAUDE_READY,
        then="Stop and wait",
        keys=("Down", "Enter"),
    ),
    _claude_limit(
        "typed",
        "the same, and a text in its composer that is not sent",
        limited("seven_day"),
        "^❯\\s+AgentMux",
        then="Stop and wait",
        keys=("Down", "Enter", *"AgentMux"),
    ),
    _claude_asked(
        "ready-again",
        "ready",
        "No code word",
        "a limit that is over: the next message was answered",
        script=limited("seven_day"),
        configure=subscribed,
        then="Stop and wait",
        keys=("Enter",),
        after=_answers,
        say_then=(HELLO,),
    ),
    _claude_asked(
        "trouble-limit",
        "busy",
        "attempt",
        "HTTP 429, claim seven_day, with an API key",
        says="limit reached",
        script=limited("seven_day"),
    ),
    _claude_asked(
        "trouble-overloaded",
        "busy",
        "attempt",
        "HTTP 529",
        says="^(API error|529 Overloaded) ",
        script=_failed(529, "overloaded_error", "Overloaded"),
    ),
    _claude_asked(
        "trouble-throttled",
        "busy",
        "attempt",
        "HTTP 429 without a claim",
        says="^(API error|429 Number of requests) ",
        script=_failed(429, "rate_limit_error", "Number of requests has exceeded your rate limit"),
    ),
    _claude_asked(
        "trouble-refused",
        "busy",
        "attempt",
        "the connection is refused",
        says="Connection refused",
        unreachable=True,
    ),
    _claude_asked(
        "trouble-gone",
        "ready",
        "API Error",
        "the connection is refused, its tries are over",
        says=r"^API Error: Connection refused .*\(ECONNREFUSED\)$",
        unreachable=True,
        env=_ONE_TRY,
    ),
    _claude_asked(
        "trouble-server",
        "ready",
        "API Error",
        "HTTP 500, its tries are over",
        says="^API Error: 500 Internal server error",
        script=_failed(500, "api_error", "Internal server error"),
        env=_ONE_TRY,
    ),
    _claude_asked(
        "trouble-many",
        "ready",
        "API Error",
        "HTTP 429 without a claim, its tries are over",
        says=r"^API Error: Request rejected \(429\)",
        script=_failed(429, "rate_limit_error", "Number of requests has exceeded your rate limit"),
        env=_ONE_TRY,
    ),
    _claude_asked(
        "trouble-rejected",
        "ready",
        "API Error",
        "HTTP 400",
        says="^API Error: 400 messages.0: bad$",
        script=_failed(400, "invalid_request_error", "messages.0: bad"),
    ),
    _claude_asked(
        "trouble-login",
        "ready",
        "API key",
        "HTTP 401",
        says="^Invalid API key",
        script=_failed(401, "authentication_error", "invalid x-api-key"),
        env=_ONE_TRY,
    ),
    _claude_asked("resumed", "ready", "No code word", "resumed after its end", then="No code word"),
    _claude("rejected", "unknown", "No conversation found", "an unknown conversation", ready=""),
)

# -- codex ----------------------------------------------------------------------------------------

_CODEX_READY: Final = r"^› "
_CODEX_ASKS: Final = {
    "questions": [
        {
            "id": "way",
            "header": "Way",
            "question": "Which way should we go?",
            "options": [
                {"label": "Left (Recommended)", "description": "The way along the river."},
                {"label": "Right", "description": "The way over the hill."},
            ],
        }
    ]
}
_OUTSIDE: Final = {
    "cmd": "touch hello.txt",
    "sandbox_permissions": "require_escalated",
    "justification": "May I make hello.txt?",
}
_MAY_ASK: Final = ("-c", "features.default_mode_request_user_input=true")
_TWO_TRIES: Final = (
    "-c",
    "model_providers.local.request_max_retries=1",
    "-c",
    "model_providers.local.stream_max_retries=1",
)


def used_up(**more: object) -> Tell:
    error = {"type": "usage_limit_reached", "message": "The usage limit has been reached", **more}
    return _refuses(429, {"error": error})


def _says(status: int, message: str, **more: object) -> Tell:
    return _refuses(status, {"error": {"message": message, **more}})


def _knows_newer(place: Place, _env: dict[str, str]) -> None:
    known = {"latest_version": "9.9.9", "last_checked_at": "2099-01-01T00:00:00Z"}
    (place.home / "version.json").write_text(json.dumps(known))


_codex = _maker("codex", _CODEX_READY)
_codex_asked = _asked("codex", _CODEX_READY)
_CODEX_TIME: Final = r"^\w{3} \d+\w\w, \d{4} \d+:\d\d [AP]M$"

CODEX: Final = (
    _codex("ready", "ready", _CODEX_READY, "started"),
    _codex_asked("busy", "busy", "esc to interrupt", "asked, no answer yet", script=_slow),
    _codex_asked(
        "question",
        "waiting",
        "enter to submit",
        "request_user_input",
        args=_MAY_ASK,
        script=_runs(Call(tools=("request_user_input",), arguments=_CODEX_ASKS)),
    ),
    _codex_asked(
        "permission",
        "waiting",
        "Press enter",
        "a command outside its sandbox",
        args=("-a", "on-request", "-s", "read-only"),
        script=_runs(Call(tools=("exec_command",), arguments=_OUTSIDE)),
    ),
    _codex(
        "draft-refused",
        "ready",
        "Unrecognized command",
        "a command that it does not know",
        say=("/nonsense",),
    ),
    _codex(
        "trust",
        "trust",
        "Trust this folder",
        "a folder that it does not know",
        ready="",
        trusted=False,
    ),
    _codex_asked(
        "limit-plus",
        "limit",
        "usage limit",
        "HTTP 429, usage_limit_reached, plan plus",
        says=_CODEX_TIME,
        script=used_up(plan_type="plus", resets_at=_resets_at()),
    ),
    _codex_asked(
        "limit-pro",
        "limit",
        "usage limit",
        "HTTP 429, usage_limit_reached, plan pro",
        says=_CODEX_TIME,
        script=used_up(plan_type="pro", resets_at=_resets_at()),
    ),
    _codex_asked(
        "limit-team",
        "limit",
        "usage limit",
        "HTTP 429, usage_limit_reached, plan team",
        says=_CODEX_TIME,
        script=used_up(plan_type="team", resets_at=_resets_at()),
    ),
    _codex_asked(
        "limit-plain",
        "limit",
        "usage limit",
        "HTTP 429, usage_limit_reached, nothing else",
        says="^$",
        script=used_up(),
    ),
    _codex_asked(
        "limit-quota",
        "limit",
        "Quota",
        "HTTP 429, insufficient_quota",
        says="^$",
        script=_says(
            429,
            "You exceeded your current quota",
            type="insufficient_quota",
            code="insufficient_quota",
        ),
    ),
    _codex_asked(
        "ready-again",
        "ready",
        "No code word",
        "a limit that is over: the next message was answered",
        script=used_up(),
        then="usage limit",
        after=_answers,
        say_then=(HELLO,),
    ),
    _codex_asked(
        "trouble-throttled",
        "ready",
        "exceeded retry",
        "HTTP 429 without a limit",
        says="^exceeded retry limit, last status: 429 Too Many Requests$",
        script=_says(429, "Rate limit reached", type="rate_limit_exceeded"),
    ),
    _codex_asked(
        "trouble-error",
        "busy",
        "└",
        "HTTP 500",
        says="^We.re currently experiencing high demand, which may cause temporary errors.$",
        script=_says(500, "Internal server error"),
    ),
    _codex_asked(
        "trouble-login",
        "busy",
        "└",
        "HTTP 401",
        says="^Unexpected status 401 Unauthorized: invalid key, url:",
        script=_says(401, "invalid key"),
    ),
    _codex_asked(
        "trouble-refused",
        "busy",
        "└",
        "the connection is refused",
        says="^Connection failed: error sending request",
        unreachable=True,
    ),
    _codex_asked(
        "trouble-server",
        "ready",
        "■",
        "HTTP 500, its tries are over",
        says="^We.re currently experiencing high demand, which may cause temporary errors.$",
        script=_says(500, "Internal server error"),
        args=_TWO_TRIES,
    ),
    _codex_asked(
        "trouble-rejected",
        "ready",
        "■",
        "HTTP 400",
        says="messages.0: bad",
        script=_says(400, "messages.0: bad"),
    ),
    _codex(
        "update",
        "waiting",
        "Skip until",
        "a newer version is known",
        ready="",
        args=("-c", "check_for_update_on_startup=true"),
        configure=_knows_newer,
        env={"CODEX_MANAGED_BY_NPM": "1"},
    ),
    _codex_asked("resumed", "ready", "No code word", "resumed after its end", then="No code word"),
    _codex("rejected", "unknown", "No saved session found", "an unknown conversation", ready=""),
)

# -- updates --------------------------------------------------------------------------------------


def _registry(place: Place, env: dict[str, str]) -> None:
    """Make the model server the npm registry, which has a newer version."""
    env["npm_config_registry"] = f"{place.url}/"
    env["npm_config_prefix"] = str(place.home / "npm")  # where it installs the new version


def _both(*configure: Callable[[Place, dict[str, str]], None]) -> Callable[..., None]:
    def tell(place: Place, env: dict[str, str]) -> None:
        for each in configure:
            each(place, env)

    return tell


def _proxied(place: Place, env: dict[str, str]) -> None:
    """Make the model server the HTTPS proxy, for an agent whose registry cannot be set."""
    held = str(place.home.parent / "certificate.pem")
    make = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    name = ("-subj", "/CN=pi.dev", "-addext", "subjectAltName=DNS:pi.dev")
    subprocess.run((*make, *name, "-keyout", held, "-out", held), check=True, capture_output=True)
    env |= {"HTTPS_PROXY": place.url, "NO_PROXY": "127.0.0.1", "NODE_EXTRA_CA_CERTS": held}
    del env["PI_OFFLINE"]


# -- gemini ----------------------------------------------------------------------------------------

_ASKS: Final = {"questions": [{**_WAY, "type": "choice"}]}
_PER_DAY: Final[dict[str, object]] = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
}


def _google(status: int, message: str, name: str, *details: dict[str, object]) -> Tell:
    error = {"code": status, "message": message, "status": name, "details": list(details)}
    return _refuses(status, {"error": error})


def _gemini_settings(**sections: dict[str, object]) -> Callable[[Place, dict[str, str]], None]:
    def configure(place: Place, _env: dict[str, str]) -> None:
        path = place.home / ".gemini" / "settings.json"
        known = json.loads(path.read_text())
        for name, values in sections.items():
            known[name] = {**known.get(name, {}), **values}
        path.write_text(json.dumps(known))

    return configure


_GEMINI_READY: Final = "Type your message"
_gemini = _maker("gemini", _GEMINI_READY)
_gemini_asked = _asked("gemini", _GEMINI_READY)
_NO_RETRY: Final = _gemini_settings(general={"maxAttempts": 1})

GEMINI: Final = (
    _gemini("ready", "ready", _GEMINI_READY, "started"),
    _gemini_asked(
        "ready-yolo",
        "ready",
        "No code word",
        "a turn that ended, with all permissions",
        args=("--approval-mode", "yolo"),
    ),
    _gemini_asked("busy", "busy", "esc to cancel", "asked, no answer yet", script=_slow),
    _gemini_asked(
        "question",
        "waiting",
        "Enter to select",
        "ask_user",
        script=_runs(Call(tools=("ask_user",), arguments=_ASKS)),
    ),
    _gemini_asked(
        "permission", "waiting", "Allow execution", "a command", script=_runs("touch hello.txt")
    ),
    _gemini(
        "trust", "trust", "Do you trust", "a folder that it does not know", ready="", trusted=False
    ),
    _gemini(
        "trust-added",
        "trust",
        "Do you trust the following folders",
        "a directory that is added",
        ready="",
        args=(f"--include-directories={_ADDED}",),
        configure=_with_added,
    ),
    _gemini_asked(
        "limit-day",
        "limit",
        "Usage limit",
        "HTTP 429, requests per day",
        says="^$",
        script=_google(429, "Quota exceeded", "RESOURCE_EXHAUSTED", _PER_DAY),
    ),
    _gemini_asked(
        "limit-stopped",
        "limit",
        "Request cancelled|Usage limit|quota|Quota",
        "its menu answered: stop",
        says="^$",
        script=_google(429, "Quota exceeded", "RESOURCE_EXHAUSTED", _PER_DAY),
        then="Keep trying",
        keys=("Down", "Enter"),
    ),
    _gemini_asked(
        "trouble-rejected",
        "ready",
        "✕",
        "HTTP 400",
        says="bad request",
        script=_google(400, "bad request", "INVALID_ARGUMENT"),
    ),
    _gemini_asked(
        "trouble-refused",
        "ready",
        "✕",
        "the connection is refused, its tries are over",
        says="API Error",
        unreachable=True,
        configure=_NO_RETRY,
    ),
    _gemini_asked("resumed", "ready", "No code word", "resumed after its end", then="No code word"),
    _gemini(
        "update",
        "ready",
        "pdate available",
        "a newer version is known",
        ready="",
        configure=_registry,
    ),
    _gemini("rejected", "unknown", "No previous sessions", "an unknown conversation", ready=""),
)

# -- agents that use OpenAI's API ------------------------------------------------------------------


def _openai(status: int, message: str, kind: str, **headers: str) -> Tell:
    return _refuses(status, {"error": {"message": message, "type": kind, "code": kind}}, **headers)


_QUOTA: Final = _openai(
    429,
    "You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota",
)
_THROTTLED: Final = _openai(429, "Rate limit reached", "rate_limit_exceeded")
_BROKEN: Final = _openai(500, "Internal server error", "server_error")
_BAD: Final = _openai(400, "bad request", "invalid_request_error")
_COPILOT_ASKS: Final = {
    "message": "Which way should we go?",
    "requestedSchema": {
        "properties": {"way": {"type": "string", "title": "Way", "enum": ["Left", "Right"]}},
        "required": ["way"],
    },
}

_COPILOT_DONE: Final = r"✗ (?s:.)*Manual Approval"
_COPILOT_READY: Final = r"^❯|/ commands"
_copilot = _maker("copilot", _COPILOT_READY)
_copilot_asked = _asked("copilot", _COPILOT_READY)

COPILOT: Final = (
    _copilot("ready", "ready", "/ commands", "started"),
    _copilot_asked("busy", "busy", "Working", "asked, no answer yet", script=_slow),
    _copilot_asked(
        "question",
        "waiting",
        "Which way",
        "ask_user",
        script=_runs(Call(tools=("ask_user",), arguments=_COPILOT_ASKS)),
    ),
    _copilot_asked(
        "permission", "waiting", "Do you want", "a command", script=_runs("touch hello.txt")
    ),
    _copilot(
        "trust",
        "trust",
        "Confirm folder trust",
        "a folder that it does not know",
        ready="",
        trusted=False,
    ),
    _copilot_asked(
        "limit-quota",
        "limit",
        _COPILOT_DONE,
        "HTTP 429, insufficient_quota",
        script=_QUOTA,
        patience_s=150,
    ),
    _copilot_asked(
        "limit-paid",
        "limit",
        _COPILOT_DONE,
        "HTTP 402, quota_exceeded",
        script=_openai(402, "You have no quota", "quota_exceeded"),
    ),
    _copilot_asked(
        "trouble-error",
        "busy",
        "etry|rror",
        "HTTP 500",
        script=_BROKEN,
        says="^Request failed due to a transient API error",
    ),
    _copilot_asked(
        "trouble-rejected",
        "ready",
        _COPILOT_DONE,
        "HTTP 400",
        script=_BAD,
        says="^400 bad request$",
    ),
    _copilot_asked(
        "trouble-refused",
        "busy",
        "etry|rror",
        "the connection is refused",
        unreachable=True,
        says="^Response was interrupted due to a server error",
    ),
    _copilot_asked(
        "resumed", "ready", "No code word", "resumed after its end", then="No code word"
    ),
    _copilot("rejected", "unknown", "No session, task", "an unknown conversation", ready=""),
)

_QWEN_READY: Final = "Type your message"
_QWEN_ARGS: Final = ("--auth-type", "openai", "--approval-mode", "default")


def _qwen_settings(**sections: object) -> Callable[[Place, dict[str, str]], None]:
    """Turn ripgrep off, whose path would be on the screen if it could not run; add ``sections``."""

    def configure(place: Place, _env: dict[str, str]) -> None:
        path = place.home / "settings.json"
        known = {**json.loads(path.read_text()), "tools": {"useRipgrep": False}, **sections}
        path.write_text(json.dumps(known))

    return configure


def _no_provider(place: Place, env: dict[str, str]) -> None:
    (place.home / "settings.json").write_text("{}")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        del env[name]


_QWEN_ONCE: Final = _qwen_settings(model={"generationConfig": {"maxRetries": 0}})


def _qwen(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
    made = _maker("qwen", _QWEN_READY, *_QWEN_ARGS)
    return made(screen, mark, shows, how, **{"configure": _qwen_settings(), **more})


def _qwen_asked(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
    return _qwen(screen, mark, shows, how, say=(HELLO,), **more)


QWEN: Final = (
    _qwen("ready", "ready", _QWEN_READY, "started"),
    _qwen_asked(
        "ready-suggested",
        "ready",
        r"^[>*] A title",
        "a turn that ended: it suggests what to say next",
        script=_runs("cat README.md"),
        args=("--auth-type", "openai", "--approval-mode", "yolo"),
    ),
    _qwen_asked("busy", "busy", r"esc\s+to\s+cancel", "asked, no answer yet", script=_slow),
    _qwen_asked(
        "question",
        "waiting",
        "Which way",
        "ask_user_question",
        script=_runs(Call(tools=("ask_user_question",), arguments=_ASKS)),
    ),
    _qwen_asked(
        "permission", "waiting", "Allow execution", "a command", script=_runs("touch hello.txt")
    ),
    _qwen(
        "trust",
        "trust",
        "Connect a Provider",
        "no provider is set up",
        ready="",
        args=(),
        configure=_no_provider,
    ),
    _qwen_asked(
        "limit",
        "limit",
        "quota",
        "HTTP 429, insufficient_quota, its tries are over",
        script=_QUOTA,
        configure=_QWEN_ONCE,
        patience_s=180,
    ),
    _qwen_asked(
        "trouble-rejected",
        "ready",
        "bad request",
        "HTTP 400",
        says="^API Error: 400 bad request$",
        script=_BAD,
    ),
    _qwen_asked(
        "trouble-refused",
        "ready",
        "rror",
        "the connection is refused, its tries are over",
        says="^API Error: Connection error",
        unreachable=True,
        configure=_QWEN_ONCE,
    ),
    _qwen_asked("resumed", "ready", "No code word", "resumed after its end", then="No code word"),
    _qwen(
        "update",
        "ready",
        "pdate available",
        "a newer version is known",
        ready="",
        configure=_both(_qwen_settings(general={"enableAutoUpdate": True}), _registry),
    ),
    _qwen("rejected", "unknown", "No saved session found", "an unknown conversation", ready=""),
)


def _ask_first(place: Place, _env: dict[str, str]) -> None:
    path = place.home / "opencode.json"
    known = json.loads(path.read_text())
    path.write_text(json.dumps({**known, "permission": {"bash": "ask"}}))


def _from_npm(place: Place, env: dict[str, str]) -> None:
    """Make it look for updates, which it does only if a package manager has installed it.

    The answer has to come late: before its screen is complete, it would be lost.
    """
    _registry(place, env)
    env["npm_config_registry"] = f"{place.url}{LATE}"
    (place.home / "npm" / "lib" / "node_modules" / "opencode-ai").mkdir(parents=True)
    path = place.home / "opencode.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "autoupdate": "notify"}))


_OPENCODE_READY: Final = "Ask anything|ctrl\\+p"


def _opencode(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
    made = _maker("opencode", _OPENCODE_READY)
    return made(screen, mark, shows, how, **{"patience_s": 60, **more})


def _opencode_asked(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
    return _opencode(screen, mark, shows, how, say=(HELLO,), **more)


OPENCODE: Final = (
    _opencode("ready", "ready", _OPENCODE_READY, "started"),
    _opencode_asked(
        "ready-beside",
        "ready",
        "No code word",
        "a turn that ended, with a long branch in the column beside it",
        branch="feature/everything-that-a-team-wanted/and-what-its-tracker-calls-it",
    ),
    _opencode_asked("busy", "busy", "esc interrupt", "asked, no answer yet", script=_slow),
    _opencode_asked(
        "question",
        "waiting",
        "Which way",
        "question",
        script=_runs(Call(tools=("question",), arguments=_ASKS)),
    ),
    _opencode_asked(
        "permission",
        "waiting",
        "ermission",
        "a command",
        script=_runs("touch hello.txt"),
        configure=_ask_first,
    ),
    _opencode_asked("limit", "limit", "quota", "HTTP 429, insufficient_quota", script=_QUOTA),
    _opencode_asked(
        "trouble-throttled",
        "busy",
        "ate limit",
        "HTTP 429 without a limit",
        says="^Rate limit reached$",
        script=_THROTTLED,
    ),
    _opencode_asked(
        "trouble-rejected",
        "ready",
        "bad request",
        "HTTP 400",
        says="^bad request$",
        script=_BAD,
    ),
    _opencode_asked(
        "trouble-refused",
        "busy",
        "Cannot.connect",
        "the connection is refused",
        says="^Cannot.connect to API: ",
        unreachable=True,
    ),
    _opencode_asked(
        "resumed", "ready", "No code word", "resumed after its end", then="No code word"
    ),
    _opencode(
        "update",
        "waiting",
        "Update Available",
        "a newer version is known",
        script=lambda model: model.may_tell.set(),
        configure=_from_npm,
    ),
    _opencode(
        "rejected",
        "unknown",
        "Session not found",
        "an unknown conversation",
        ready="",
        unknown=("-s", "ses_00000000000000000000000000"),
    ),
)

_PI_READY: Final = "gpt-5"
_pi = _maker("pi", _PI_READY)
_pi_asked = _asked("pi", _PI_READY)

PI: Final = (
    _pi("ready", "ready", _PI_READY, "started"),
    _pi(
        "trust",
        "trust",
        "rust",
        "a project with settings of its own",
        ready="",
        trusted=False,
    ),
    _pi_asked("busy", "busy", "Working", "asked, no answer yet", script=_slow),
    _pi_asked(
        "limit",
        "limit",
        "Error: 429",
        "HTTP 429, insufficient_quota",
        script=_QUOTA,
        patience_s=60,
    ),
    _pi_asked(
        "trouble-throttled",
        "busy",
        "Retrying",
        "HTTP 429 without a limit",
        says='^429: {"message":"Rate limit reached",',
        script=_THROTTLED,
    ),
    _pi_asked(
        "trouble-error",
        "busy",
        "Retrying",
        "HTTP 500",
        says='^500: {"message":"Internal server error",',
        script=_BROKEN,
    ),
    _pi_asked(
        "trouble-rejected",
        "ready",
        "bad request",
        "HTTP 400",
        says='^400: {"message":"bad request",',
        script=_BAD,
    ),
    _pi_asked(
        "trouble-refused",
        "busy",
        "Retrying",
        "the connection is refused",
        says="onnection",
        unreachable=True,
    ),
    _pi_asked("resumed", "ready", "No code word", "resumed after its end", then="No code word"),
    _pi(
        "update",
        "ready",
        "pdate Available",
        "a newer version is known",
        ready="",
        configure=_proxied,
    ),
    _pi(
        "rejected",
        "unknown",
        "No session found",
        "an unknown conversation",
        ready="",
        unknown=("--session", "00000000-0000-4000-8000-000000000008"),
    ),
)

_AIDER_READY: Final = r"^>(?: |$)"
_AIDER_ASKS: Final = ("--no-gitignore", "--no-analytics")


def _aider(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
    made = _maker("aider", _AIDER_READY, *_AIDER_ASKS)
    return made(screen, mark, shows, how, **{"patience_s": 120, **more})


def _aider_asked(screen: str, mark: str, shows: str, how: str, **more: object) -> Scene:
    return _aider(screen, mark, shows, how, say=(HELLO,), **more)


AIDER: Final = (
    _aider("ready", "ready", _AIDER_READY, "started"),
    _aider(
        "ready-files", "ready", r"README.md\s*\n>", "a file in the chat", say=("/add README.md",)
    ),
    _aider("ready-ask", "ready", "^ask>", "in its mode `ask`", say=("/chat-mode ask",)),
    _aider_asked("ready-again", "ready", r"word(?s:.)*─\n>\s*\Z", "a turn that ended"),
    _aider_asked("busy", "busy", "Waiting for", "asked, no answer yet", script=_slow),
    _aider(
        "trust-ignore",
        "trust",
        "Yes",
        "its files are not in .gitignore",
        ready="",
        args=("--no-analytics",),
    ),
    _aider(
        "trust-analytics",
        "trust",
        "Yes",
        "it may report how it is used",
        ready="",
        args=("--no-gitignore", "--analytics"),
    ),
    _aider_asked(
        "permission",
        "waiting",
        "Run shell command",
        "a command",
        script=_runs("Run this:\n\n```bash\ntouch hello.txt\n```\n"),
    ),
    _aider_asked(
        "permission-file",
        "waiting",
        "Add file to the chat",
        "a file that the answer names",
        script=_runs("I need to see README.md first."),
    ),
    _aider_asked(
        "limit",
        "limit",
        r"quota(?s:.)*─\n>\s*\Z",
        "HTTP 429, insufficient_quota, its tries are over",
        script=_QUOTA,
    ),
    _aider_asked(
        "trouble-error",
        "busy",
        "Retrying",
        "HTTP 500",
        says="InternalServerError",
        script=_BROKEN,
    ),
    _aider_asked(
        "trouble-rejected",
        "ready",
        "BadRequest",
        "HTTP 400",
        says="BadRequestError",
        script=_BAD,
    ),
    _aider_asked("resumed", "ready", "Restored prev", "resumed after its end", then="No code word"),
)


def _no_key(_place: Place, env: dict[str, str]) -> None:
    del env["AMP_API_KEY"]


_amp = _maker("amp", "Space to continue")

AMP: Final = (
    _amp("trust", "trust", "log in to Amp", "not logged in", ready="", configure=_no_key),
    _amp(
        "trust-welcome",
        "trust",
        "Space to continue",
        "started for the first time",
        ready="",
        trusted=False,
    ),
    _amp(
        "trust-tour",
        "trust",
        "Enter to get started",
        "at the end of its welcome",
        then="Space to continue",
        keys=("Space",) * 6,
        trusted=False,
    ),
)

SCENES: Final[Iterable[Scene]] = (
    *CLAUDE, *CODEX, *GEMINI, *COPILOT, *QWEN, *OPENCODE, *PI, *AIDER, *AMP,
)  # fmt: skip
