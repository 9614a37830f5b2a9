"""Runs the command-line programs of forges, as `agentmux/forges.yaml` describes them.

No shell is used: each command is a list of words, and text from outside is never more than a part
of one word.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentmux.adapters.system.polling import pause
from agentmux.adapters.system.processes.child import Child, TooMuchOutputError, whole
from agentmux.core.codec.frozen import dataclass
from agentmux.core.forges import answers
from agentmux.core.forges.spec import ForgeCommand, ForgeSpec, RepoRef, fill_word, url_of, values_of
from agentmux.core.terminal.text.text_width import clean
from agentmux.ports.forge import (
    ForgeError,
    ForgeNotInstalledError,
    ForgeRequest,
    IssueComment,
    IssueText,
    NewRequest,
)

TIMEOUT_S: Final = 60.0
"""The time limit of one command, in seconds."""
SETTLES_S: Final = 10.0
"""Seconds that a forge may take to notice what was pushed to it."""
_PAUSE_S: Final = 1.0
ANSWER_MAX: Final = 20_000_000
_WORDS_MAX: Final = 600
_AUTHOR: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
_AUTHORS_MAX: Final = 50
"""The maximum number of comment authors that are looked up.

Comments of further ones are left out.
"""


@dataclass(frozen=True, slots=True)
class _Said:
    status: int
    out: str
    err: str


class ForgeCommandLine:
    """Asks forges through their programs; implements `agentmux.ports.forge.Forges`."""

    def __init__(
        self,
        load: Callable[[], Mapping[str, ForgeSpec]],
        environment: Mapping[str, str],
        folder: Path,
    ) -> None:
        """Prepare to ask; this reads and runs nothing.

        Args:
            load: Returns the forges by name; called at the first use only.
            environment: The environment of the programs, with their log-in and ``PATH``.
            folder: The directory in which they run.
        """
        self._load = functools.cache(load)
        self._environment = environment
        self._folder = folder

    @property
    def specs(self) -> Mapping[str, ForgeSpec]:
        return self._load()

    def require_program(self, place: RepoRef) -> None:
        self._program(self.specs[place.forge], place)

    def issue(self, place: RepoRef, number: int, *, comments: bool) -> IssueText:
        """Return an issue; with ``comments``, also the comments of users with write access.

        Args:
            place: The repository at its forge.
            number: The number of the issue.
            comments: Whether to ask for the comments, too.

        Raises:
            ForgeError: The forge's program is missing, fails, is too slow, or answers something
                unexpected.
        """
        spec = self.specs[place.forge]
        values = values_of(place, number=str(number))
        record = self._record(spec, place, "issue", values)
        kept, left_out = self._comments(spec, place, values) if comments else ((), 0)
        return IssueText(
            place=place,
            number=number,
            url=url_of(spec.issue_url, place, number),
            title=record["title"],
            body=record["body"],
            comments=kept,
            left_out=left_out,
        )

    def identity(self, place: RepoRef) -> str:
        spec = self.specs[place.forge]
        if "identity" not in spec.commands:
            return place.repo
        return self._record(spec, place, "identity", values_of(place))["answer"]

    def requests(self, place: RepoRef, branch: str) -> tuple[ForgeRequest, ...]:
        spec = self.specs[place.forge]
        command = self._command(spec, "find")
        answer = self._answer(spec, place, command, values_of(place, branch=branch))
        try:
            records = answers.entries(command, answer)
        except answers.AnswerError as error:
            raise _strange(spec, command, error) from None
        all_requests = (_request(spec, place, command, each) for each in records)
        return tuple(each for each in all_requests if each.is_open and each.branch == branch)

    def request(self, place: RepoRef, number: int) -> ForgeRequest:
        spec = self.specs[place.forge]
        record = self._record(spec, place, "look", values_of(place, number=str(number)))
        return _request(spec, place, spec.commands["look"], record)

    def wait_for_commit(self, place: RepoRef, number: int, commit: str) -> ForgeRequest:
        deadline = time.monotonic() + SETTLES_S
        while True:
            forge_request = self.request(place, number)
            if forge_request.commit == commit or time.monotonic() > deadline:
                return forge_request
            pause(_PAUSE_S)  # no event says when the forge is ready

    def open(self, new: NewRequest) -> str:
        spec = self.specs[new.place.forge]
        command = self._command(spec, "open")
        forked = not new.source.is_same(new.place)
        owner = new.source.repo.partition("/")[0]
        head = {"owner": owner, "branch": new.branch}
        values = values_of(
            new.place,
            branch=new.branch,
            base=new.base,
            head=fill_word(spec.fork_head, head) if forked and spec.fork_head else new.branch,
            source=new.source.repo,
            title=new.title,
            body=new.body,
        )
        more = (*(command.draft if new.is_draft else ()), *(command.fork if forked else ()))
        reply = self._run(spec, new.place, command, values, more=more)
        if reply.status != 0:
            raise self._failure(spec, new.place, command, reply)
        return reply.out

    # -- inside ------------------------------------------------------------------------------

    def _comments(
        self, spec: ForgeSpec, place: RepoRef, values: Mapping[str, str]
    ) -> tuple[tuple[IssueComment, ...], int]:
        """Return the comments whose authors have write access, and the number of other comments."""
        command = self._command(spec, "comments")
        try:
            comments = answers.entries(command, self._answer(spec, place, command, values))
        except answers.AnswerError as error:
            raise _strange(spec, command, error) from None
        writers = self._writers(spec, place, comments)
        kept = tuple(
            IssueComment(author=each["author"], text=each["text"])
            for each in comments
            if each["author"] in writers
        )
        return kept, len(comments) - len(kept)

    def _writers(
        self, spec: ForgeSpec, place: RepoRef, found: Iterable[Mapping[str, str]]
    ) -> frozenset[str]:
        """Return the comment authors who have write access to the repository.

        An author is left out if the forge does not tell, for example because the user may not ask.
        """
        command = self._command(spec, "writer")
        ids = {each["author"]: each.get("author_id", "") for each in found}
        asked = [name for name in ids if _AUTHOR.fullmatch(name)][:_AUTHORS_MAX]
        return frozenset(
            name
            for name in asked
            if self._accepts(
                spec, place, command, values_of(place, author=name, author_id=ids[name])
            )
        )

    def _accepts(
        self, spec: ForgeSpec, place: RepoRef, command: ForgeCommand, values: Mapping[str, str]
    ) -> bool:
        end = self._run(spec, place, command, values)
        if end.status != 0:
            return False
        try:
            return answers.record(command, answers.parse_json(end.out))["answer"] in command.accept
        except answers.AnswerError:
            return False

    def _command(self, spec: ForgeSpec, name: str) -> ForgeCommand:
        command = spec.commands.get(name)
        if command is None:
            raise ForgeError(
                f"forge `{spec.name}` has no command `{name}`",
                hints=(f"describe it in forges.yaml: {spec.name}.commands.{name}",),
            )
        return command

    def _record(
        self, spec: ForgeSpec, place: RepoRef, name: str, values: Mapping[str, str]
    ) -> dict[str, str]:
        command = self._command(spec, name)
        try:
            return answers.record(command, self._answer(spec, place, command, values))
        except answers.AnswerError as error:
            raise _strange(spec, command, error) from None

    def _answer(
        self, spec: ForgeSpec, place: RepoRef, command: ForgeCommand, values: Mapping[str, str]
    ) -> object:
        """Run a command and return the JSON that it prints.

        Raises:
            ForgeError: The program is missing, fails, or is too slow.
            AnswerError: It printed no JSON.
        """
        reply = self._run(spec, place, command, values)
        if reply.status != 0:
            raise self._failure(spec, place, command, reply)
        return answers.parse_json(reply.out)

    def _run(
        self,
        spec: ForgeSpec,
        place: RepoRef,
        command: ForgeCommand,
        values: Mapping[str, str],
        *,
        more: tuple[str, ...] = (),
    ) -> _Said:
        program = self._program(spec, place)
        argv = (program, *(fill_word(word, values) for word in (*command.argv, *more)))
        environment = {**self._environment, "NO_COLOR": "1", **spec.environment}
        stdin = fill_word(command.stdin, values).encode("utf-8", "replace")
        try:
            return _ran(argv, stdin, environment, self._folder)
        except subprocess.TimeoutExpired:
            raise ForgeError(
                f"`{_describe_command(spec, command)}` did not end within {TIMEOUT_S:g} s",
                hints=(f"check whether {place.host} answers",),
            ) from None
        except TooMuchOutputError as error:
            raise ForgeError(error.message) from None
        except OSError as error:
            raise ForgeError(f"`{program}` cannot be run: {error.strerror}") from None

    def _program(self, spec: ForgeSpec, place: RepoRef) -> str:
        program = shutil.which(spec.program, path=self._environment.get("PATH"))
        if program is None:
            raise ForgeNotInstalledError(
                f"`{spec.program}` is not installed; {place.host} is asked by it",
                hints=(f"install it: {spec.install}",) if spec.install else (),
            )
        return program

    def _failure(
        self, spec: ForgeSpec, place: RepoRef, command: ForgeCommand, said: _Said
    ) -> ForgeError:
        """Return the error for a failed program; it quotes the program's message."""
        words = " ".join(clean(said.err or said.out).split())[:_WORDS_MAX]
        login = fill_word(spec.login, {"host": place.host})
        hint = f"if it is not logged in: {login}" if login else ""
        if command.missing and re.search(command.missing, words):
            hint = f"there is no such number in {place.repo}: check it"
        return ForgeError(
            f"`{_describe_command(spec, command)}` failed: {words or f'exit status {said.status}'}",
            hints=(hint,) if hint else (),
        )


def _ran(argv: Sequence[str], stdin: bytes, environment: Mapping[str, str], folder: Path) -> _Said:
    """Run a program without a terminal; return its exit status and output.

    Raises:
        subprocess.TimeoutExpired: It took longer than `TIMEOUT_S`, and was ended.
        TooMuchOutputError: It wrote more than `ANSWER_MAX` bytes, and was ended.
    """
    result = Child(
        argv=argv,
        cwd=folder,
        env=environment,
        stdin=stdin,
        limit_s=TIMEOUT_S,
        out=whole(ANSWER_MAX),
    ).run()
    words = (data.decode("utf-8", "replace") for data in (result.out, result.err))
    return _Said(result.status, *words)


def _describe_command(spec: ForgeSpec, command: ForgeCommand) -> str:
    """Return the first words of a command line for messages; they contain no values."""
    return " ".join((spec.program, *command.argv[:2]))


def _strange(spec: ForgeSpec, command: ForgeCommand, error: answers.AnswerError) -> ForgeError:
    return ForgeError(
        f"`{_describe_command(spec, command)}` answered something unexpected: {error}",
        hints=(f"update {spec.program}, or fix {spec.name} in forges.yaml",),
    )


def _request(
    spec: ForgeSpec, place: RepoRef, command: ForgeCommand, found: Mapping[str, str]
) -> ForgeRequest:
    try:
        number = int(found["number"])
    except ValueError:
        error = answers.AnswerError(f"`{found['number']}` is no number")
        raise _strange(spec, command, error) from None
    return ForgeRequest(
        number=number,
        url=url_of(spec.request_url, place, number),
        branch=found["branch"],
        commit=found["commit"],
        base=found["base"],
        is_open=found["state"] in command.accept,
        is_merged=found["state"].casefold() == "merged",
        source=found["source"],
    )
