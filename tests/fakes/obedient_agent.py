"""A demo agent that first does all that it is told: in its prompt, and in the files to read there.

It obeys each line with ``Order: …``, unless the line begins with ``>``: it notes the order in the
file ``$OBEYED``. Lines end wherever Unicode says, so that a text that smuggles such an end in is
obeyed.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_PROMPT = re.compile(r"Read the file (.+) and do what it says\.")
_LISTED = re.compile(r"- `([^`]+)`")
_ORDER = re.compile(r"Order: (.+)")


def orders(text: str) -> list[str]:
    """Return what a text tells its reader to do, outside of quotations."""
    plain = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(">")]
    return [found[1] for line in plain if (found := _ORDER.search(line))]


def main(argv: list[str]) -> None:
    asked = next((found for word in argv if (found := _PROMPT.fullmatch(word))), None)
    if asked is not None:
        prompt = Path(asked[1]).read_text(encoding="utf-8")
        listed = [Path(found) for found in _LISTED.findall(prompt)]
        texts = [prompt, *(path.read_text("utf-8") for path in listed if path.is_file())]
        with Path(os.environ["OBEYED"]).open("a", encoding="utf-8") as file:
            file.writelines(f"{each}\n" for text in texts for each in orders(text))
            file.write(f"read {len(texts)} texts\n")
    os.execv(sys.executable, [sys.executable, "-m", "agentmux.demo_agent", *argv])


if __name__ == "__main__":
    main(sys.argv[1:])
