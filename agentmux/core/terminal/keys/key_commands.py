"""What keys do, and the places where they do it. `key_table` has the keys."""

from __future__ import annotations

from enum import Enum
from typing import Final


class KeyCommand(Enum):
    """What a key does in the monitor, in the desk or its view of the fleet, or on the web page.

    The members' values are words for users. ``NOTHING`` stands for a key without an effect.
    """

    NOTHING = "nothing"
    ASK = "ask"
    """Ask the user to confirm with a second press: call `console.ask` with a question."""
    # Keys that act on a session, a seat or a host.
    ATTACH = "attach"
    APPROVE = "approve"
    CHANGES = "ask for changes"
    DIFF = "diff"
    SUMMARY = "summary"
    ANSWER = "answer"
    TELL = "tell"
    RESUME = "resume"
    RESTART = "restart"
    SKIP = "skip"
    TYPE = "type"
    UNPARK = "unpark"
    STOP = "stop"
    REMOVE = "remove"
    DRAIN = "drain"
    END = "end"
    NEW = "new"
    EDIT = "edit"
    PAGER = "pager"
    # Keys that only change what is shown.
    GO = "go"
    """Go to the pane of the seat whose number was pressed."""
    TAB = "tab"
    NEEDY = "next in need"
    NEXT_TAB = "next tab"
    LAST_TAB = "tab before"
    NEXT_PART = "next part"
    LAST_PART = "part before"
    FILES = "files"
    FOCUS = "other side"
    WIDEN = "widen"
    COMMENT = "comment"
    NEXT_HIT = "next hit"
    LAST_HIT = "hit before"
    SEARCH = "search"
    MARK = "mark"
    FLEET = "the fleet"
    LOOK = "look"
    KEYS = "all keys"
    PALETTE = "palette"
    YES = "yes"
    NO = "no"
    CHOICE = "choice"
    FRESH = "all new"
    TERMINAL = "in this terminal"
    BACK = "back"
    QUIT = "quit"
    DOWN = "down"
    UP = "up"
    PAGE_DOWN = "page down"
    PAGE_UP = "page up"
    FIRST = "first"
    LAST = "last"
    # Keys that edit a request for changes in the monitor.
    SEND = "send"
    """Send the request, which is the ``draft`` of the console before the key."""
    BEGINNING = "beginning"
    ERASE = "erase"
    CLEAR = "clear"


class KeyPlace(Enum):
    """Where and when a key works.

    Each member's value is the heading above its keys in the help of the keys, such as ``At any
    time``.
    """

    # The monitor.
    DECIDES = "When it is your turn to decide"
    ALWAYS = "At any time"
    READS = "While a text is shown"
    WRITES = "While you write what should change"
    # The desk, and its view of the fleet.
    SESSION = "The selected session"
    SHOWN = "What is shown of it"
    FOUND = "After a search in what is shown"
    LIST = "The list"
    DESK = "The desk"
    BOX = "A question of the desk, and what it asks to be written"
    FLEET = "The fleet"
    # The page in a browser.
    PAGE = "On the page"


MONITOR: Final = (KeyPlace.DECIDES, KeyPlace.ALWAYS, KeyPlace.READS, KeyPlace.WRITES)
DESK: Final = (KeyPlace.SESSION, KeyPlace.SHOWN, KeyPlace.FOUND, KeyPlace.LIST, KeyPlace.DESK)
DESK_HELP: Final = (*DESK, KeyPlace.BOX)
"""The places of the desk's help. A box has the keys for itself while it is open."""

TABS: Final = ("overview", "screens", "documents", "diff", "why", "journal")
"""What desk and page show of a session, in order; in the desk, their keys are 1 to 6."""
