"""The offline agent's conversations and their files.

Each conversation is stored as a JSON-lines file in the offline agent's home. The first prompt
creates the file; as with real agents, a conversation without a prompt has none.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from agentmux.demo_agent.errors import WrongArgvError

FORMAT: Final = 1
"""The version of the format of conversation files and checkpoints."""
CHECKPOINT: Final = "session-latest.json"
"""The file name of a checkpoint."""

_CODE_WORD = re.compile(r"the code word is [`'\"]?([\w-]+)", re.IGNORECASE)
_QUESTION = re.compile(r"what is the code word\s*\?", re.IGNORECASE)
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9-]")


class ConversationTurn(NamedTuple):
    """One prompt and its answer.

    Attributes:
        prompt: The prompt.
        read: The text of the file that the prompt named; empty if it named none.
        answer: The answer; empty until the turn has ended.
        outcome: ``open`` until the turn has ended, then ``done``, ``failed`` or ``cancelled``.
    """

    prompt: str
    read: str = ""
    answer: str = ""
    outcome: str = "open"


class Conversation:
    """One conversation: its turns, which `begin`, `read` and `end` also append to its file.

    A conversation may have no file; then these methods only change the turns in memory.

    Attributes:
        id: The conversation's id.
        model: The name of the model; None for the default.
        turns: The turns, oldest first.
    """

    def __init__(self, cid: str, path: Path | None, *, cwd: str, model: str | None) -> None:
        """Begin an empty conversation.

        Args:
            cid: The conversation's id.
            path: The file to write to; None to write none, because checkpoints are used instead.
            cwd: The working directory.
            model: The name of the model; None for the default.
        """
        self.id, self._path, self._cwd, self.model = cid, path, cwd, model
        self.turns: list[ConversationTurn] = []

    def begin(self, prompt: str) -> None:
        """Add a turn with this prompt and no answer yet; only record it, handle nothing."""
        if self._path and not self._path.exists():
            self._append(
                {"type": "conversation", "version": FORMAT, "id": self.id, "cwd": self._cwd,
                 "model": self.model}
            )  # fmt: skip
        self.turns.append(ConversationTurn(prompt))
        self._append({"type": "prompt", "text": prompt})

    def read(self, text: str) -> None:
        """Record the ``text`` of the file that the last turn's prompt named; read no file."""
        self.turns[-1] = self.turns[-1]._replace(read=text)
        self._append({"type": "read", "text": text})

    def end(self, answer: str, outcome: str) -> None:
        """Add an answer and its outcome (``done``, ``failed``, ``cancelled``) to the last turn."""
        self.turns[-1] = self.turns[-1]._replace(answer=answer, outcome=outcome)
        self._append({"type": "answer", "text": answer, "outcome": outcome})

    def code_word(self) -> str | None:
        """Return the last code word that the conversation was told; None if it was told none.

        It is the word after ``the code word is`` in a prompt, or in a file that a prompt named.
        Tests use it to see whether the agent still knows an earlier conversation.
        """
        told = [
            match[1]
            for turn in self.turns
            for text in (turn.prompt, turn.read)
            for match in _CODE_WORD.finditer(text)
        ]
        return told[-1] if told else None

    def restore(self, line: dict[str, Any]) -> None:
        """Restore a part of the conversation from one parsed line of its file; write nothing.

        An invalid line is ignored.

        Args:
            line: Has the keys ``type`` (``prompt``, ``read`` or ``answer``) and ``text``; an answer
                has ``outcome``, too.
        """
        match line:
            case {"type": "prompt", "text": str(text)}:
                self.turns.append(ConversationTurn(text))
            case {"type": "read", "text": str(text)} if self.turns:
                self.turns[-1] = self.turns[-1]._replace(read=text)
            case {"type": "answer", "text": str(text), "outcome": str(outcome)} if self.turns:
                self.turns[-1] = self.turns[-1]._replace(answer=text, outcome=outcome)
            case _:
                pass

    def _append(self, line: dict[str, Any]) -> None:
        if self._path is None:
            return
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        finally:
            os.close(fd)


def asks_code_word(text: str) -> bool:
    """Return whether ``text`` contains the question ``what is the code word?``; ignore case."""
    return _QUESTION.search(text) is not None


class Store:
    """Creates and reads the conversations in the offline agent's home."""

    def __init__(self, home: Path, cwd: str) -> None:
        """Set where conversations are stored.

        Args:
            home: The agent's home.
            cwd: The working directory, without symbolic links.
        """
        self._cwd = cwd
        self._folder = home / "conversations"

    def new(self, cid: str, model: str | None) -> Conversation:
        """Return a new conversation with the id ``cid``; it has no file before its first prompt.

        Raises:
            WrongArgvError: A conversation with this id exists.
        """
        path = self._path(cid)
        if path.exists():
            raise WrongArgvError(f"Error: Session ID {cid} is already in use.")
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Conversation(cid, path, cwd=self._cwd, model=model)

    def resume(self, cid: str, model: str | None) -> Conversation:
        """Return the stored conversation with the id ``cid``, to continue with ``model``.

        None for ``model`` means the default, not the model that the conversation had before.

        Raises:
            WrongArgvError: No conversation has this id.
        """
        path = self._path(cid)
        if not path.is_file():
            raise WrongArgvError(f"No conversation found with session ID: {cid}")
        conversation = Conversation(cid, path, cwd=self._cwd, model=model)
        for line in _lines(path):
            conversation.restore(line)
        return conversation

    def latest(self, model: str | None) -> Conversation:
        """Return the conversation of the working directory whose file was last written to.

        It continues with ``model``; None means the default.

        Raises:
            WrongArgvError: The working directory has no conversation.
        """
        files = sorted(self._folder.glob("*.jsonl"), key=lambda path: -path.stat().st_mtime_ns)
        for path in files:
            head = next(iter(_lines(path)), {})
            if head.get("cwd") == self._cwd:
                return self.resume(path.stem, model)
        raise WrongArgvError("No conversation found to continue in this directory")

    def _path(self, cid: str) -> Path:
        return self._folder / f"{_NOT_A_NAME.sub('_', cid)[:64]}.jsonl"


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            lines.append(line)
    return lines


def write_checkpoint(folder: Path, conversation: Conversation) -> Path:
    """Write a conversation into ``session-latest.json`` in ``folder``; return the file's path.

    The file is replaced atomically. The folder is created if it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CHECKPOINT
    data = {
        "version": FORMAT, "model": conversation.model, "conversation": conversation.id,
        "turns": [turn._asdict() for turn in conversation.turns],
    }  # fmt: skip
    whole = folder / f".{CHECKPOINT}.{os.getpid()}"
    with whole.open("w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    whole.replace(path)
    return path


def read_checkpoint(path: Path, *, cwd: str, model: str | None) -> Conversation:
    """Return the conversation in a checkpoint file.

    Args:
        path: The file.
        cwd: The working directory, which the file does not contain.
        model: The model with which the file must have been written; None to accept any.

    Raises:
        WrongArgvError: The file is missing or invalid, or was written with another model.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version, cid = data["version"], str(data["conversation"])
        turns = [ConversationTurn(**turn) for turn in data["turns"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongArgvError(f"Error: cannot read checkpoint {path}: {error!r}") from error
    if version != FORMAT:
        raise WrongArgvError(f"Error: checkpoint {path} has version {version}, not {FORMAT}")
    if model is not None and data.get("model") != model:
        raise WrongArgvError(f"Error: checkpoint {path} was made with model {data.get('model')}")
    conversation = Conversation(cid, None, cwd=cwd, model=model or data.get("model"))
    conversation.turns = turns
    return conversation
