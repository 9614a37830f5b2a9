"""The names of sessions, and the paths of AgentMux's files in a project. Opens no file.

The paths in `STATE` and the constants below it, and those that functions return, are relative to a
session's directory.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Collection, Container
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

PROJECT_FOLDER: Final = ".agentmux"
PROJECT_CONFIG: Final = f"{PROJECT_FOLDER}/config.yaml"
SESSIONS_DIR: Final = f"{PROJECT_FOLDER}/.sessions"
MAKING_PREFIX: Final = ".making-"
"""The prefix of a new session directory's name until the directory is complete."""

SCHEMA_VERSION: Final = 3
"""The version of the format of ``state.json``; a newer AgentMux writes a higher one."""

STATE: Final = "state.json"
STATE_BACKUP: Final = "state.json.bak"
JOURNAL: Final = "tool_events.jsonl"
CURSOR: Final = "tool_event_state.json"
RUNTIME: Final = "runtime_state.json"
LOCK: Final = "session.lock"
LOCK_HOLDER: Final = "session.lock.json"
COPIED: Final = "worktreeinclude"
"""The file with the patterns of ignored files that are copied into the session's worktree."""

TREE_LOCK: Final = "agentmux.lock"
TREE_LOCK_HOLDER: Final = "agentmux.lock.json"
NOTIFIED: Final = "notified.json"
"""The file with the notices that the user was notified of and that still apply."""

WAKE: Final = "wake.fifo"
LOG: Final = "orchestrator.log"
REQUIREMENTS: Final = "requirements.md"
CONTEXT: Final = "context.md"
HISTORY: Final = "history"
LAUNCHES: Final = "launches"
SNAPSHOTS: Final = "snapshots"
CHECKPOINTS: Final = "checkpoints"
WORK_TREE: Final = "work-tree"
PIPELINE: Final = "pipeline"
HANDOVER: Final = "handover"
"""The folder with the files that an import left for the agents: a diff and the last screens."""

PRODUCT_MANAGEMENT: Final = "01_product_management"
ARCHITECTING: Final = "02_architecting"
RESEARCH: Final = "03_research"
PLANNING: Final = "04_planning"
DESIGN: Final = "05_design"
IMPLEMENTATION: Final = "06_implementation"
REVIEW: Final = "07_review"
COMPLETION: Final = "08_completion"

SLUG_MAX: Final = 48
INSIDE_MAX: Final = 1000
"""The maximum length, in characters, of a project's path in its repository."""
FALLBACK_SLUG: Final = "feature"
_USERS: Final = "yours-"

_SESSION_NAME = re.compile(r"(?P<stamp>\d{8}-\d{6})-(?P<slug>[a-z0-9][a-z0-9-]*)")
_LAUNCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_TOPIC = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")


def is_ours(path: str) -> bool:
    """Whether ``path`` is, or is inside, a folder named ``.agentmux``."""
    return PROJECT_FOLDER in path.split("/")


def slug(text: str) -> str:
    """Return a short name for ``text``: its first words, in 1 to 48 characters of ``[a-z0-9-]``.

    If the text has none of these characters, as in some scripts, the name contains a checksum of
    the text, such as ``feature-8b1cb0d7``. An empty text gives `FALLBACK_SLUG`.
    """
    ascii_text = unicodedata.normalize("NFKD", text[:4096]).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_text.lower())
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:SLUG_MAX]
        if len(longer) > SLUG_MAX:
            break
        name = longer
    if name or not text.strip():
        return name or FALLBACK_SLUG
    checksum = zlib.crc32(" ".join(text.split()).encode("utf-8", "surrogatepass"))
    return f"{FALLBACK_SLUG}-{checksum:08x}"


def is_topic(text: str) -> bool:
    """Whether ``text`` is a valid research topic.

    It has 1 to 48 characters of ``[a-z0-9-]``, the first of which is not ``-``.
    """
    return _TOPIC.fullmatch(text) is not None


def session_name(now: datetime, slug_text: str, taken: Container[str]) -> str:
    """Return the name for a new session: ``<stamp>-<slug>``, with ``-2``, ``-3``, … if it is taken.

    An example is ``20260131-235959-add-auth``.

    Args:
        now: The local time, from which the stamp is made.
        slug_text: The slug of the feature.
        taken: The names of all other sessions.
    """
    base = f"{now:%Y%m%d-%H%M%S}-{slug_text}"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    return name


def slug_of(name: str) -> str:
    """Return the slug in the name of a session's directory.

    That is ``add-auth`` for ``20260131-235959-add-auth``. A name of another form, for example
    without date and time, is returned whole.
    """
    match = _SESSION_NAME.fullmatch(name)
    return match["slug"] if match else name


def short_names(names: Collection[str]) -> dict[str, str]:
    """Return for each session, by its whole name, the shortest name that is not ambiguous.

    That is its slug, unless another session has the same slug; then it is the whole name.

    Args:
        names: The whole names of all sessions of a project, also of those that are done.
    """
    slugs = sorted(map(slug_of, names))
    twice = {one for one, other in pairwise(slugs) if one == other}
    return {each: each if (slug := slug_of(each)) in twice else slug for each in names}


def name_beside(name: str, slug: str) -> str:
    """Return the name by which people tell a session apart from a new one with this slug.

    That is the whole name; if both have the same slug, it is the time with which the name begins,
    which commands take, too.
    """
    return name.removesuffix(f"-{slug}") if slug_of(name) == slug else name


def beginnings(names: Collection[str], cells: int) -> dict[str, str]:
    """Return a name of at most ``cells`` characters to show for each session, by its whole name.

    That is its short name (`short_names`) if it fits. If not, it is the first words of the short
    name, or else of the whole name, with which no other session's name or slug begins. If there is
    no such text, it is the shortest one with which none begins, which is then too long.

    Args:
        names: The whole names of all sessions of a project.
        cells: The number of characters.
    """
    spelt = sorted({*names, *map(slug_of, names)})
    shared = dict.fromkeys(spelt, 0)
    for one, other in pairwise(spelt):
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
        same = sum(1 for _ in alike)
        shared[one], shared[other] = max(shared[one], same), same
    return {
        name: next(
            (
                shown
                for each in (short, name)
                if len(shown := _first_words(each, cells)) > shared[each] or shown == short
            ),
            min((_first_words_beyond(each, shared[each]) for each in (short, name)), key=len),
        )
        for name, short in short_names(names).items()
    }


def _first_words(name: str, cells: int) -> str:
    """Return the first words of a name, in at most ``cells`` characters; always at least one."""
    if len(name) <= cells:
        return name
    return name[: cells + 1].rpartition("-")[0] or name.partition("-")[0]


def _first_words_beyond(name: str, shared: int) -> str:
    """Return the fewest first words of a name that have more than ``shared`` characters."""
    end = name.find("-", shared + 1)
    return name if end < 0 else name[:end]


def stamp_of(name: str) -> datetime | None:
    """Return the time at which a session began, from the name of its directory.

    It is a local time, without a time zone. None if the name does not have the form
    ``20260131-235959-add-auth``, or if date or time are not valid.
    """
    match = _SESSION_NAME.fullmatch(name)
    if match is None:
        return None
    from datetime import datetime

    try:
        return datetime.strptime(match["stamp"], "%Y%m%d-%H%M%S")  # noqa: DTZ007 (local by contract)
    except ValueError:
        return None


def tmux_name(name: str) -> str:
    """Return the name of the tmux session for the session whose directory is ``name``.

    It is ``agentmux-`` and the name. tmux allows neither ``:`` nor ``.`` in it, so both are
    replaced with ``_``.
    """
    return "agentmux-" + re.sub(r"[:.]", "_", name)


def users_tmux_name(name: str, number: int = 1) -> str:
    """Return the name that a tmux session gets when only its user's own panes are left in it.

    Args:
        name: The name of the tmux session before.
        number: 1, or a greater number if the names with all smaller ones are taken.
    """
    return f"{_USERS}{name}" if number == 1 else f"{_USERS}{number}-{name}"


def is_users_tmux_name(text: str, name: str) -> bool:
    """Return whether ``text`` is a name that `users_tmux_name` returns for ``name``."""
    if not (text.startswith(_USERS) and text.endswith(name)):
        return False
    number = text.removeprefix(_USERS).removesuffix(name)
    return not number or re.fullmatch(r"\d+-", number) is not None


def snapshot(seat: str) -> str:
    """Return the path of a seat's snapshot, relative to the session's directory.

    A snapshot is a file with the last screen of the seat's pane; it need not exist.
    """
    return f"{SNAPSHOTS}/{seat}.json"


def new_launch(uuid: str) -> str:
    """Return an id for a new launch: the first 12 hex digits of ``uuid``.

    ``uuid`` must have just been made, so that no other launch has the same id.
    """
    return uuid.replace("-", "")[:12]


def launch(launch_id: str) -> str:
    """Return the path of a launch's folder, relative to the session's directory; starts nothing."""
    return f"{LAUNCHES}/{launch_id}"


def is_launch(text: str) -> bool:
    """Whether ``text`` has the form of a launch id."""
    return _LAUNCH.fullmatch(text) is not None


def turn(launch_id: str) -> str:
    """Return the path, relative to the session's directory, of the file with the state of a turn.

    A turn is the work of an agent after one message. The hooks of the launch's agent write its
    `Turn` there.
    """
    return f"{launch(launch_id)}/turn"


def checkpoint(seat: str) -> str:
    """Return the path, relative to the session's directory, of the folder for a seat's checkpoints.

    The seat's agent saves its conversation there.
    """
    return f"{CHECKPOINTS}/{seat}"


def frozen(digest: str) -> str:
    """Return the path of the session's own copy of a file of its pipeline.

    It is relative to the session's directory.

    Args:
        digest: The SHA-256 of the file's content, in hex.
    """
    return f"{PIPELINE}/{digest}"


def history(cycle: int, iteration: int) -> str:
    """Return the path of the folder into which the artifacts of an iteration are archived.

    It is relative to the session's directory, such as ``history/1.0``: cycles are counted from 1,
    iterations from 0.
    """
    return f"{HISTORY}/{cycle}.{iteration}"


def research(kind: str, topic: str) -> str:
    """Return the path of a research topic's folder, relative to the session's directory.

    ``kind`` is ``code`` or ``web``.
    """
    return f"{RESEARCH}/{kind}-{topic}"
