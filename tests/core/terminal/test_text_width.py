"""Widths of characters."""

import subprocess
import sys

from wcwidth import wcwidth

from agentmux.core.terminal.text_width import ONE_CELL


def test_the_blocks_that_are_measured_without_the_library_are_as_it_says() -> None:
    for first, last in ONE_CELL:
        chars = map(chr, range(ord(first), ord(last) + 1))
        assert {char: wcwidth(char) for char in chars if wcwidth(char) != 1} == {}


def test_our_own_signs_and_latin_letters_do_not_load_the_library() -> None:
    code = (
        "import sys\n"
        "from agentmux.core.terminal.text_width import width\n"
        "signs = 'Grüße · … ─│┌┘ → ↻ ◆ █'\n"
        "assert width(signs) == len(signs)\n"
        "assert 'wcwidth' not in sys.modules\n"
        "assert width('你') == 2\n"
        "assert 'wcwidth' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
