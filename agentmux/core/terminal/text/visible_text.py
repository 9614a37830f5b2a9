"""The filter for every text before a user sees it. Pure.

Names of files and branches, titles and outputs come from agents and strangers. They may contain
bytes that are not UTF-8 (as surrogates, which cannot be encoded), escape sequences, invisible
characters, and characters that change the direction of text.
"""

from __future__ import annotations

import re
from typing import Final

ODD: Final = "\ufffd"
"""The character that replaces each invisible or misleading character."""

_CONTROLS: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SURROGATES: Final = "\ud800-\udfff"
_DIRECTIONS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSEEN: Final = (
    "\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e00ff"
)
# They have a meaning between letters of some languages and in emoji; beside ASCII they only hide.
_JOINERS: Final = "\xad\u200c\u200d"
_HIDDEN: Final = re.compile(
    rf"[{_CONTROLS}{_SURROGATES}{_DIRECTIONS}{_UNSEEN}]|\r(?!\n)"
    rf"|(?<=[\x00-\x7f])[{_JOINERS}]|[{_JOINERS}](?=[\x00-\x7f])"
)


def visible(text: str) -> str:
    """Return ``text`` with each invisible or misleading character replaced by U+FFFD (`ODD`).

    Newlines and tabs are kept. The result can be encoded as UTF-8.
    """
    return _HIDDEN.sub(ODD, text)
