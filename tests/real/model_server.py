"""A model server on this machine that answers by script.

It speaks what the agent CLIs speak: Anthropic's Messages, OpenAI's Chat Completions and Responses,
and Gemini's generateContent, each whole or as a stream. Every request goes to a file, one JSON
object a line, so that a test can see what an agent still knows.

What it answers to a turn of a conversation: the next step of the script, where there is one (a
shell command for the agent to run, or a call of any other of its tools), else the code words that
stand anywhere in the request. What agents ask beside their conversation (titles, suggestions) gets
a short text; it uses up no step. While a refusal is set, every request gets that instead.

It is an npm registry too, where an agent is told so, with one version, newer than any; and the
proxy to any other place that says the same, for an agent that trusts the certificate.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

CODE_WORD: Final = re.compile(r"[Tt]he code word is ([A-Z]+-[0-9]+)")
UNKNOWN: Final = "No code word was told."
NO_PROMPT: Final = "/dev/null"
NEWEST: Final = "99.0.0"
"""The version of any agent that this says is to be had."""
LATE: Final = "/late/"
"""Who asks the registry below this path is answered once it may be told."""

_LATE_S: Final = 60

_SHELLS: Final = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command")
"""Names of the tools that run a command, as the agents name them."""

_ASIDE: Final = re.compile(r"SUGGESTION MODE|ONLY the suggestion")
"""What some agents ask about their user's next message, with the whole conversation in front."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request, read the same way whatever its form.

    Attributes:
        body: All of it, as it came.
        shell: Name and parameters of the tool that runs commands; None where none is offered.
        is_answered: The last thing in it is what a tool returned.
        at: Seconds since the epoch.
    """

    path: str
    body: Json
    shell: tuple[str, Json] | None
    is_answered: bool
    at: float

    @property
    def text(self) -> str:
        """The whole request as text."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def summary(self) -> str:
        """What it is, in one line, with the last that was said."""
        kind = "turn" if self.is_turn else "aside"
        last = json.dumps(_turns(self.body)[-1:], ensure_ascii=False)
        return f"{self.path} {kind} {self.code_words} ...{last[-400:]}"

    @property
    def is_turn(self) -> bool:
        """Whether it belongs to the conversation of the user."""
        return self.shell is not None and not _ASIDE.search(json.dumps(_turns(self.body)[-1:]))

    @property
    def code_words(self) -> tuple[str, ...]:
        """Every code word in it, in order, each once."""
        return tuple(dict.fromkeys(CODE_WORD.findall(self.text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model says: a text, or a command for the agent to run."""

    text: str = ""
    tool: str = ""
    arguments: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A step of the script: the agent is to call one of its tools, whichever it has.

    Attributes:
        tools: Names of the tool, as the agents and their versions name it; the first that is
            offered is called.
    """

    tools: tuple[str, ...]
    arguments: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What the service says instead of an answer: a limit, an overload, a refused request."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


class ModelServer:
    """Serves on a port of 127.0.0.1 until it is closed."""

    def __init__(self, log: Path, *, think_s: float = 1.5, port: int = 0) -> None:
        """``think_s`` is how long every turn takes: no agent looks busy over an instant answer.

        Port 0 is any that is free.
        """
        self._log = log
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
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def certificate(self) -> Path:
        """With its key, for those to whom it is a proxy; whoever needs it makes it."""
        return self._log.with_name("certificate.pem")

    @property
    def turns(self) -> list[Seen]:
        """The requests that belong to a conversation, in order."""
        with self._lock:
            return [each for each in self.seen if each.is_turn]

    def run(self, *commands: str | Call) -> None:
        """Let the agent run these commands, or call these tools, at its next turns.

        ``{prompt}`` in a command stands for the file that it was told last to read.
        """
        with self._lock:
            self._script.extend(commands)

    def each(self, *commands: str) -> None:
        """Let every agent run these commands, one a turn, for the prompt that it was told to read.

        One that is told to read another begins again; so do all at the next call.
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
        """Take a request down, think, and say what comes back."""
        seen = Seen(
            path=path,
            body=body,
            shell=_shell(body),
            is_answered=_is_answered(body),
            at=time.time(),
        )
        with self._lock:
            self.seen.append(seen)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"at": seen.at, "path": path, "body": body}) + "\n")
        if seen.shell is None or not seen.is_turn:
            return Reply(text="A title")
        time.sleep(self.think_s)
        with self._lock:
            step = self._next(_prompt(seen.text))
        if isinstance(step, Call):
            return self._call(step, body)
        if step:
            name, parameters = seen.shell
            return Reply(tool=name, arguments=_arguments(parameters, step))
        words = seen.code_words
        return Reply(text=f"I know: {', '.join(words)}." if words else UNKNOWN)

    def _next(self, prompt: str) -> str | Call:
        """Return what the agent is to run or call now; empty for nothing."""
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
                return Reply(tool=name, arguments=call.arguments)
        self.problems.append(f"none of {call.tools} is among {offered}")
        return Reply(text="No such tool.")


# -- reading what came ---------------------------------------------------------------------------


def _shell(body: Json) -> tuple[str, Json] | None:
    found = {name: parameters for name, parameters in _tools(body) if name in _SHELLS}
    return next(((name, found[name]) for name in _SHELLS if name in found), None)


def _prompt(text: str) -> str:
    """Return the path of the latest prompt that the agent was told to read."""
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
    """Fill what the tool's schema requires; the command goes where a command goes."""
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
    """Return what was said so far, in the form that it came in."""
    turns = body.get("messages") or body.get("input") or body.get("contents") or ()
    return [each for each in turns if isinstance(each, dict)] if isinstance(turns, list) else []


def _is_answered(body: Json) -> bool:
    """Whether the request ends with what a tool returned, in any of the four forms."""
    last = next(reversed(_turns(body)), {})
    if last.get("role") == "tool" or str(last.get("type", "")).endswith("call_output"):
        return True
    parts = last.get("content") or last.get("parts") or ()
    inner = [each for each in parts if isinstance(each, dict)] if isinstance(parts, list) else []
    return any(each.get("type") == "tool_result" or "functionResponse" in each for each in inner)


# -- writing what goes back ----------------------------------------------------------------------

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


def package(name: str) -> Json:
    """Return what the npm registry says of a package that has a version newer than any."""
    newest = {"name": name, "version": NEWEST, "dist": {"tarball": "", "shasum": ""}}
    return {**newest, "dist-tags": {"latest": NEWEST}, "versions": {NEWEST: newest}}


# -- HTTP ----------------------------------------------------------------------------------------


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ModelServer

    def handle_error(  # type: ignore[explicit-override]  # typing has `override` from 3.12 on
        self, request: object, client_address: object
    ) -> None:
        """An agent that is killed leaves broken connections: no word about them."""


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
        self.close_connection = False  # whatever holds for the way to the proxy

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

    def log_message(self, format: str, *args: object) -> None:  # type: ignore[explicit-override]  # noqa: A002 (as above; the name is theirs)
        """The log of requests is enough."""


def _event(event: _Event) -> str:
    name, value = event
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
