"""Following our own messages to the letter, beside work that must not be lost.

A test makes the state in which a message is shown, plants edits and commits, takes the message from
what the program printed, types its command, and then looks for each planted line.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.e2e.conftest import Project
from tests.house.messages import HOLE, commands_of

_ASKS: Final = ("approve", "doctor", "remove", "resume", "rewind", "start", "trust")
"""Commands that ask before they go on; without a terminal a test answers with ``--yes``."""

_FOR_A_SHELL: Final = re.compile(r"[^\w\s./:=,@%+'-]", re.ASCII)
"""What a shell may understand otherwise than `shlex`."""


class Work:
    """Lines that somebody wrote into a project, and where each must still be found.

    A line counts as kept while it stands in a file of a work tree, or in a commit that a branch, a
    tag, a stash or a detached HEAD leads to. The reflog does not count: nobody looks there.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lines: dict[str, str] = {}

    def write(self, what: str, path: Path) -> Path:
        """Add a line of its own to a file, which is made if it is not there."""
        line = f"planted {uuid.uuid4().hex}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"# {line}\n")
        self._lines[what] = line
        return path

    def commit(self, what: str, path: Path) -> None:
        """Add a line of its own to a file, and commit that file where it lies."""
        self.write(what, path)
        self._project.git_at(path.parent, "add", "--", path.name)
        self._project.git_at(path.parent, "commit", "-qm", what, "--", path.name)

    def plant(self, top: Path, whose: str) -> Work:
        """Leave an edit of a tracked file, a new file and a commit in the work tree ``top``."""
        self.commit(f"a commit of {whose}", top / f"committed_{_slug(whose)}.py")
        (tracked,) = self._project.git_at(top, "ls-files", "calc.py").split()
        self.write(f"an edit of {whose}", top / tracked)
        self.write(f"a new file of {whose}", top / f"new_{_slug(whose)}.py")
        return self

    def lost(self) -> list[str]:
        """Return what is in no file and in no commit that a name leads to."""
        here = self._everywhere()
        return [what for what, line in self._lines.items() if line not in here]

    def _everywhere(self) -> str:
        texts = [
            path.read_text(encoding="utf-8", errors="replace")
            for path in self._project.root.rglob("*")
            if path.is_file() and not path.is_symlink() and _may_hold_work(path)
        ]
        for git in {
            each.parent for each in self._project.root.rglob("HEAD") if _is_git(each.parent)
        }:
            here = ("git", f"--git-dir={git}")
            # `--all` has the newest stash alone.
            aside = self._project.program(*here, "stash", "list", "--format=%H", cwd=git).stdout
            words = ("log", "-p", "-m", "--all", "HEAD", *aside.split(), "--")
            texts.append(self._project.program(*here, *words, cwd=git).stdout)
        return "\n".join(texts)


def _slug(words: str) -> str:
    return re.sub(r"\W+", "_", words)


def _may_hold_work(path: Path) -> bool:
    return ".py" in path.name


def _is_git(folder: Path) -> bool:
    return (folder / "objects").is_dir() or (folder / "commondir").is_file()


def shown(text: str, output: str) -> str:
    """Return the message of which ``text`` is the template, from what a command printed."""
    pattern = ".+?".join(map(re.escape, text.split(HOLE)))
    pattern += "(?=$|; |`)" if text.endswith(HOLE) else r"(?=$|[\s`;,)])"
    begin = r"(?:^|(?<=\s)|(?<=`))" if text[0].isalnum() or text[0] == HOLE else ""
    found = re.search(begin + pattern, output, re.MULTILINE)
    assert found, f"{text!r} is not shown in:\n{output}"
    return found.group()


def follow(
    project: Project, message: str, /, **values: str
) -> list[subprocess.CompletedProcess[str]]:
    """Type the commands of a message, one after the other, as its reader would.

    ``values`` are what the reader fills in for words in capitals and for ``…``. A reader says yes
    to what is asked.
    """
    done = []
    for command in commands_of(message):
        line = _filled(command.text, values)
        assert not re.search(r"(?<![A-Z])(?<!FETCH_)[A-Z]{3,}$|…", line) or values, (
            f"nothing is filled in: {line}"
        )
        words = line.split()
        if words[0] == "agentmux" and set(words) & set(_ASKS) and "--yes" not in words:
            place = next(index for index, word in enumerate(words) if word in _ASKS)
            line = line.replace(words[place], f"{words[place]} --yes", 1)
        done.append(_typed(project, line))
    assert done, f"no command in {message!r}"
    return done


def _typed(project: Project, line: str) -> subprocess.CompletedProcess[str]:
    """Type a line; a shell is asked where it could do more with it than to split it into words."""
    words = shlex.split(line)
    if words[0] == "agentmux" and not _FOR_A_SHELL.search(line):
        return project.run(*words[1:])  # the same process, without the time for its imports
    return project.program("sh", "-c", line)


def _filled(line: str, values: Mapping[str, str]) -> str:
    """Put what the reader knows in place of the words in capitals, and of ``…``."""
    for name, value in values.items():
        word = HOLE if name == "text" else name
        line = value.join(re.split(rf"(?<![\w-]){word}(?!\w)", line))
    return line


def went_well(project: Project, message: str, *, code: int = 0, **values: str) -> str:
    """Follow a message; each of its commands exits with ``code``. Return what they printed."""
    said = []
    for done in follow(project, message, **values):
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        said.append(done.stdout + done.stderr)
    return "".join(said)
