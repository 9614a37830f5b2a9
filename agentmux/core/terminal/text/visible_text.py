"""The filter that every text passes before a person sees it; pure.

Names of files and branches, titles and outputs come from agents and strangers. They may hold bytes
that are no UTF-8 (as surrogates, which no encoding takes), escape sequences, and characters that
turn the direction of text or that nobody sees.
"""

from __future__ import annotations

import re
from typing import Final

ODD: Final = "\ufffd"
"""What is shown in place of each character that does not show itself."""

_CONTROLS: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SURROGATES: Final = "\ud800-\udfff"
_DIRECTIONS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSEEN: Final = (
    "\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e00ff"
)
# Between letters of some languages, and in emoji, they have a meaning; beside ASCII they only hide.
_JOINERS: Final = "\xad\u200c\u200d"
_HIDDEN: Final = re.compile(
    rf"[{_CONTROLS}{_SURROGATES}{_DIRECTIONS}{_UNSEEN}]|\r(?!\n)"
    rf"|(?<=[\x00-\x7f])[{_JOINERS}]|[{_JOINERS}](?=[\x00-\x7f])"
)


def visible(text: str) -> str:
    """Return ``text`` with `ODD` for each character that is not shown as what it is.

    Newlines and tabs stay. The result can be encoded as UTF-8.
    """
    return _HIDDEN.sub(ODD, text)
