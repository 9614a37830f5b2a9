"""Finds the offline agent's instructions in a prompt file. Pure."""

from __future__ import annotations

import re
import shlex
from typing import Final, NamedTuple

_READ_FILE = re.compile(r"\s*Read the file (?P<path>.+) and do what it says\.?\s*", re.DOTALL)
_WRITE = re.compile(r"^[ \t]*(?:[-*] +)?\**Write:\** *(?P<span>`.+)", re.MULTILINE)
_CODE = re.compile(r"(?P<fence>`+)(?!`)(?P<code>.+?)(?<!`)(?P=fence)(?!`)")
_FENCE = re.compile(r"^```(?:sh|bash|shell)[ \t]*\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```yaml[ \t]*\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
_FULL = re.compile(r"Your instructions are in\s+(?P<span>`.+)")
_HELLO: Final = "agentmux submit hello"
_PLACEHOLDER = re.compile(r"[<>…]")


class Instructions(NamedTuple):
    """The instructions in a prompt file, in the order of the file.

    Attributes:
        artifacts: The paths of the files to write.
        signals: The ``agentmux submit`` commands to run, each as a command line that begins with
            the program.
        hello: Whether to run ``agentmux submit hello`` first.
        example: The content of the first YAML code block, an example of a file to write; empty if
            there is none.
        full: The path of the file with the full instructions, which the prompt of a resumed
            conversation names; else empty.
    """

    artifacts: tuple[str, ...]
    signals: tuple[tuple[str, ...], ...]
    hello: bool
    example: str = ""
    full: str = ""

    @property
    def has_work(self) -> bool:
        """Whether there is a file to write or a signal to give."""
        return bool(self.artifacts or self.signals)


def named_file(prompt: str) -> str | None:
    """Return the path in ``Read the file PATH and do what it says.``; None for other prompts."""
    match = _READ_FILE.fullmatch(prompt)
    return match["path"] if match else None


def parse(text: str) -> Instructions:
    """Return the instructions in the text of a prompt file.

    The artifacts are in its ``Write:`` lines, the signals in its shell code blocks. Commands with a
    placeholder (``<topic>``, ``…``) are examples and are ignored.
    """
    spans = (_CODE.match(line["span"]) for line in _WRITE.finditer(text))
    artifacts = tuple(dict.fromkeys(_strip_padding(span["code"]) for span in spans if span))
    signals = [
        words
        for fence in _FENCE.finditer(text)
        for line in fence["body"].splitlines()
        if (words := _signal(line.strip()))
    ]
    example, full = _EXAMPLE.search(text), _FULL.search(text)
    named = _CODE.match(full["span"]) if full else None
    return Instructions(
        artifacts=artifacts,
        signals=tuple(dict.fromkeys(signals)),
        hello=_HELLO in text,
        example=example["body"] if example else "",
        full=_strip_padding(named["code"]) if named else "",
    )


def _strip_padding(code: str) -> str:
    """Return the text of a Markdown code span, without one space at both ends if it has both."""
    return code[1:-1] if code[0] == code[-1] == " " and code.strip() else code


def subplan_of(signal: tuple[str, ...]) -> int | None:
    """Return the number of the sub-plan that a signal is about: that after ``--subplan``.

    ``signal`` is the signal's command line. None if it has no such option, or no number there.
    """
    words = " ".join(signal).replace("=", " ").split()
    if "--subplan" not in words[:-1]:
        return None
    number = words[words.index("--subplan") + 1]
    return int(number) if number.isascii() and number.isdigit() else None


def _signal(line: str) -> tuple[str, ...]:
    if _PLACEHOLDER.search(line):
        return ()
    try:
        words = tuple(shlex.split(line, comments=True))
    except ValueError:
        return ()
    is_signal = len(words) > 2 and words[0].rsplit("/", 1)[-1] == "agentmux"
    return words if is_signal and words[1] == "submit" and words[2] != "hello" else ()
