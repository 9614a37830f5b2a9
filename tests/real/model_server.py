"""A local model server that answers by a script.

It speaks the protocols of the agent CLIs: Anthropic's Messages, OpenAI's Chat Completions and
Responses, and Gemini's generateContent, each whole or as a stream. Every request is logged to a
file, one JSON object per line, so that a test can see what an agent still knows.

A turn of a conversation is answered with the next step of the script: a shell command for the agent
to run, or a call of another one of its tools. Without a next step, the answer is the code words in
the request. Requests outside the conversation (titles, suggestions) are answered with a short text
and use no step. While a refusal is set, it is the answer to every request.

The server is also an npm registry, which has a very new version of every package, and an HTTPS
proxy that gives the same answers for any host, for an agent that trusts its certificate.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from agentmux.overriding import override

CODE_WORD: Final = re.compile(r"[Tt]he code word is ([A-Z]+-[0-9]+)")
UNKNOWN: Final = "No code word was told."
NO_PROMPT: Final = "/dev/null"
NEWEST: Final = "99.0.0"
"""The latest version of every package, according to this server's npm registry."""
LATE: Final = "/late/"
"""Below this path, the registry answers only after ``may_tell`` is set."""

_LATE_S: Final = 60

_SHELLS: Final = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command")
"""The agents' names of the tool that runs a command."""

_ASIDE: Final = re.compile(r"SUGGESTION MODE|ONLY the suggestion|## Existing memory files")
"""Text of requests that contain the whole conversation but are none of its turns: they ask for the
user's next message, or for what is to be remembered."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request, with the same attributes in every protocol.

    Attributes:
        body: The whole body.
        shell: Name and parameters of the tool that runs commands; None if there is no such tool.
        is_answered: The request ends with the result of a tool.
        at: Seconds since the epoch.
        chats: Whether the agent has no tools, so that every request is a turn.
    """

    path: str
    body: Json
    shell: tuple[str, Json] | None
    is_answered: bool
    at: float
    chats: bool = False

    @property
    def text(self) -> str:
        """The whole request as text."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def summary(self) -> str:
        """A line for reports: path, kind, code words, and the end of the last message."""
        kind = "turn" if self.is_turn else "aside"
        last = json.dumps(_turns(self.body)[-1:], ensure_ascii=False)
        return f"{self.path} {kind} {self.code_words} ...{last[-400:]}"

    @property
    def is_turn(self) -> bool:
        """Whether it belongs to the user's conversation."""
        talks = self.chats or self.shell is not None
        return talks and not _ASIDE.search(json.dumps(_turns(self.body)[-1:]))

    @property
    def code_words(self) -> tuple[str, ...]:
        """The code words in it, in order, each once."""
        return tuple(dict.fromkeys(CODE_WORD.findall(self.text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The model's answer: a text, or a call of a tool."""

    text: str = ""
    tool: str = ""
    arguments: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A step of the script: a call of one of the agent's tools.

    Attributes:
        tools: The tool's names in the different agents and versions; the first one that the agent
            has is called.
        arguments: Its arguments, or a function that returns them for the text of the request.
    """

    tools: tuple[str, ...]
    arguments: Json | Callable[[str], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An HTTP error instead of an answer: a limit, an overload, a refused request."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


class ModelServer:
    """Serves on a port of 127.0.0.1 until it is closed."""

    def __init__(
        self, log: Path, *, think_s: float = 1.5, port: int = 0, chats: bool = False
    ) -> None:
        """Start the server.

        Args:
            log: The file to which requests are logged.
            think_s: How long every turn takes, so that an agent is seen to be busy.
            port: The port; 0 for any free one.
            chats: The agent has no tools: a step of the script is the text of an answer.
        """
        self._log = log
        self._chats = chats
        self.think_s = think_s
        self._lock = threading.Lock()
        self._script: deque[str | Call] = deque()
        self._each: tuple[str, ...] = ()
        self._played: Counter[str] = Counter()
        self.refusal: Refusal | None = None
        self.may_tell = threading.Event()
        self.seen: list[Seen] = []
        self.problems: list[str] = []
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.model = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The server's URL without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def certificate(self) -> Path:
        """The file of the proxy's certificate and key; a test that needs it makes it."""
        return self._log.with_name("certificate.pem")

    @property
    def turns(self) -> list[Seen]:
        """The requests that belong to a conversation, in order."""
        with self._lock:
            return [each for each in self.seen if each.is_turn]

    def run(self, *commands: str | Call) -> None:
        """Add steps to the script: commands that the agent runs, or tools that it calls.

        ``{prompt}`` in a command stands for the prompt file that the agent was told to read last.
        """
        with self._lock:
            self._script.extend(commands)

    def each(self, *commands: str) -> None:
        """Let every agent run these commands, one per turn, for the prompt that it is to read.

        An agent that is told to read another prompt starts again with the first command. So do all
        agents when this method is called again.
        """
        with self._lock:
            self._each = commands
            self._played.clear()

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def answer(self, path: str, body: Json) -> Reply:
        """Log a request, wait ``think_s`` if it is a turn, and return the answer."""
        seen = Seen(
            path=path,
            body=body,
            shell=_shell(body),
            is_answered=_is_answered(body),
            at=time.time(),
            chats=self._chats,
        )
        with self._lock:
            self.seen.append(seen)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"at": seen.at, "path": path, "body": body}) + "\n")
        if not seen.is_turn:
            return Reply(text="A title")
        time.sleep(self.think_s)
        with self._lock:
            step = self._next(_prompt(seen.text))
        if isinstance(step, Call):
            return self._call(step, body)
        if step and seen.shell is None:
            return Reply(text=step)
        if step and seen.shell is not None:
            name, parameters = seen.shell
            return Reply(tool=name, arguments=_arguments(parameters, step))
        words = seen.code_words
        return Reply(text=f"I know: {', '.join(words)}." if words else UNKNOWN)

    def _next(self, prompt: str) -> str | Call:
        """Return the next step for the agent with this prompt; empty if there is none."""
        if not self._script and (prompt == NO_PROMPT or self._played[prompt] >= len(self._each)):
            return ""
        if self._script:
            step = self._script.popleft()
        else:
            step = self._each[self._played[prompt]]
            self._played[prompt] += 1
        return step.replace("{prompt}", prompt) if isinstance(step, str) else step

    def _call(self, call: Call, body: Json) -> Reply:
        offered = [name for name, _ in _tools(body)]
        for name in call.tools:
            if name in offered:
                given = call.arguments
                made = given(json.dumps(body)) if callable(given) else given
                return Reply(tool=name, arguments=made)
        self.problems.append(f"none of {call.tools} is among {offered}")
        return Reply(text="No such tool.")


# -- reading requests ----------------------------------------------------------------------------


def _shell(body: Json) -> tuple[str, Json] | None:
    found = {name: parameters for name, parameters in _tools(body) if name in _SHELLS}
    return next(((name, found[name]) for name in _SHELLS if name in found), None)


def _prompt(text: str) -> str:
    """Return the path of the prompt file that the agent was told to read last."""
    found = re.findall(r"Read the file (\S+?) and do what it says", text)
    return found[-1] if found else NO_PROMPT


def _tools(body: Json) -> Iterable[tuple[str, Json]]:
    for tool in body.get("tools") or ():
        for each in tool.get("functionDeclarations") or (tool.get("function") or tool,):
            parameters = (
                each.get("input_schema")
                or each.get("parameters")
                or each.get("parametersJsonSchema")
                or {}
            )
            yield str(each.get("name", "")), parameters


def _arguments(parameters: Json, command: str) -> Json:
    """Return arguments with the command, and with a value for each required parameter."""
    properties: Json = parameters.get("properties", {})
    name = next((each for each in ("command", "cmd") if each in properties), "command")
    is_list = properties.get(name, {}).get("type") == "array"
    values: Json = {name: ["sh", "-c", command] if is_list else command}
    plain = {"string": "run it", "boolean": False, "number": 60, "integer": 60}
    for each in parameters.get("required", ()):
        kind = properties.get(each, {}).get("type", "string")
        values.setdefault(each, plain.get(kind.lower() if isinstance(kind, str) else "string"))
    return values


def _turns(body: Json) -> list[Json]:
    """Return the messages of the conversation, in the form of the protocol."""
    turns = body.get("messages") or body.get("input") or body.get("contents") or ()
    return [each for each in turns if isinstance(each, dict)] if isinstance(turns, list) else []


def _is_answered(body: Json) -> bool:
    """Return whether the request ends with the result of a tool, in any of the four protocols."""
    last = next(reversed(_turns(body)), {})
    if last.get("role") == "tool" or str(last.get("type", "")).endswith("call_output"):
        return True
    parts = last.get("content") or last.get("parts") or ()
    inner = [each for each in parts if isinstance(each, dict)] if isinstance(parts, list) else []
    return any(each.get("type") == "tool_result" or "functionResponse" in each for each in inner)


# -- writing answers -----------------------------------------------------------------------------

_Event = tuple[str | None, Json | str]


def anthropic(reply: Reply, model: str) -> tuple[Json, list[_Event]]:
    """Return the message of Anthropic's Messages API, whole and as the events of a stream."""
    block: Json = {"type": "text", "text": reply.text}
    empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": reply.text}
    if reply.tool:
        call = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": reply.tool}
        block, empty = {**call, "input": reply.arguments}, {**call, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    stop = "tool_use" if reply.tool else "end_turn"
    message = {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }
    begun = {**message, "content": [], "stop_reason": None}
    ended = {"stop_reason": stop, "stop_sequence": None}
    events: list[Json] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]
    return message, [(each["type"], each) for each in events]


def chat(reply: Reply, model: str) -> tuple[Json, list[_Event]]:
    """Return the answer of OpenAI's Chat Completions API, whole and as a stream."""
    message: Json = {"role": "assistant", "content": reply.text}
    if reply.tool:
        call = {
            "index": 0,
            "id": f"call_{uuid.uuid4().hex[:20]}",
            "type": "function",
            "function": {"name": reply.tool, "arguments": json.dumps(reply.arguments)},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    stop = "tool_calls" if reply.tool else "stop"
    base = {"id": f"chatcmpl-{uuid.uuid4().hex[:20]}", "created": int(time.time()), "model": model}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    whole = {
        **base,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        "usage": usage,
    }
    chunk = {**base, "object": "chat.completion.chunk"}
    events: list[_Event] = [
        (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}),
        (None, {**chunk, "choices": [], "usage": usage}),
        (None, "[DONE]"),
    ]
    return whole, events


def responses(reply: Reply, model: str) -> tuple[Json, list[_Event]]:
    """Return the answer of OpenAI's Responses API, whole and as a stream."""
    part: Json = {"type": "output_text", "text": reply.text, "annotations": []}
    item: Json = {
        "type": "message",
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    if reply.tool:
        item = {
            "type": "function_call",
            "id": f"fc_{uuid.uuid4().hex[:20]}",
            "call_id": f"call_{uuid.uuid4().hex[:20]}",
            "name": reply.tool,
            "arguments": json.dumps(reply.arguments),
            "status": "completed",
        }
    whole = {
        "id": f"resp_{uuid.uuid4().hex[:20]}",
        "object": "response",
        "created_at": int(time.time()),
        "model": model,
        "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 20,
        },
    }
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    place = {"output_index": 0, "item_id": item["id"]}
    started = {**item, "status": "in_progress"}
    inner: list[Json]
    if reply.tool:
        started["arguments"] = ""
        given = {"arguments": item["arguments"]}
        inner = [{"type": "response.function_call_arguments.done", **place, **given}]
    else:
        started["content"] = []
        at = {**place, "content_index": 0}
        inner = [
            {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **at, "delta": reply.text},
            {"type": "response.output_text.done", **at, "text": reply.text},
            {"type": "response.content_part.done", **at, "part": part},
        ]
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": started},
        *inner,
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(each["type"], {**each, "sequence_number": n}) for n, each in enumerate(events)]


def gemini(reply: Reply, model: str) -> tuple[Json, list[_Event]]:
    """Return the answer of Gemini's generateContent, whole and as a stream of one."""
    part: Json = {"text": reply.text}
    if reply.tool:
        part = {"functionCall": {"name": reply.tool, "args": reply.arguments}}
    whole = {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 10,
            "totalTokenCount": 20,
        },
        "modelVersion": model,
    }
    return whole, [(None, whole)]


def amp(method: str) -> Json:
    """Return an answer of Amp's server: enough for its first screens, but not for a thread."""
    results: Json = {
        "getUserInfo": {"id": "user_1", "email": "a@example.org", "features": []},
        **{each: [] for each in ("listAgentModes", "loadPlugins", "loadSkills", "notices")},
    }
    return {"ok": True, "result": results.get(method)}


def package(name: str) -> Json:
    """Return the npm registry's answer about a package, with a very new version."""
    newest = {"name": name, "version": NEWEST, "dist": {"tarball": "", "shasum": ""}}
    return {**newest, "dist-tags": {"latest": NEWEST}, "versions": {NEWEST: newest}}


# -- HTTP ----------------------------------------------------------------------------------------


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ModelServer

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the broken connections of killed agents."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http
    forms: ClassVar[Mapping[str, Any]] = {
        "/messages": anthropic,
        "/chat/completions": chat,
        "/responses": responses,
    }

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        if self.path.startswith(LATE):
            self.server.model.may_tell.wait(_LATE_S)
        if not urlsplit(self.path).path.endswith("/models"):
            self._json(package(self.path.strip("/")))
            return
        models = [{"id": name, "object": "model"} for name in ("gpt-5", "claude-sonnet-4-5")]
        self._json({"object": "list", "data": models, "models": []})

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server.model.certificate)
        self.request = context.wrap_socket(self.connection, server_side=True)
        self.setup()
        self.close_connection = False  # may have been set for the connection to the proxy

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            self.server.model.problems.append(f"{path}: not JSON")
            body = {}
        if (refusal := self.server.model.refusal) is not None:
            self._refuse(refusal)
        elif path.startswith("/api/"):
            self._json(amp(urlsplit(self.path).query))
        elif path.endswith(("/count_tokens", ":countTokens")):
            self._json({"input_tokens": 10, "totalTokens": 10})
        elif ":generateContent" in path or ":streamGenerateContent" in path:
            self._reply(gemini, path, body, is_stream=":stream" in path)
        elif (form := self._form(path)) is not None:
            self._reply(form, path, body, is_stream=bool(body.get("stream")))
        else:
            self.server.model.problems.append(f"{path}: nothing is known of it")
            self._send(b"{}", "application/json", status=404)

    def _form(self, path: str) -> Any:
        return next((form for end, form in self.forms.items() if path.endswith(end)), None)

    def _reply(self, form: Any, path: str, body: Json, *, is_stream: bool) -> None:
        reply = self.server.model.answer(path, body)
        whole, events = form(reply, str(body.get("model") or path.rpartition("/")[2]))
        if is_stream:
            self._send("".join(map(_event, events)).encode(), "text/event-stream")
        else:
            self._json(whole)

    def _json(self, value: Json) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _refuse(self, refusal: Refusal) -> None:
        data, status = json.dumps(refusal.body).encode(), refusal.status
        self._send(data, "application/json", status=status, headers=refusal.headers)

    def _send(
        self,
        data: bytes,
        kind: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing, because requests are logged to the file."""


def _event(event: _Event) -> str:
    name, value = event
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
