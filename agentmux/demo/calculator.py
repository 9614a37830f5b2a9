"""The files of the demo's project, a small calculator: the first ones, and those agents add.

Each constant is the content of a file: ``X`` is a module, and ``TEST_X`` is its test. ``X_MENDED``
and ``TEST_X_MENDED`` are the same files after the mistake in ``X`` was corrected.
"""

from __future__ import annotations

from typing import Final

README: Final = "# calc\n\nSums and products of lists of numbers.\n"
PACKAGE: Final = '"""A very small calculator for lists of numbers."""\n'
TOTAL: Final = '''\
"""Sums and products."""

from collections.abc import Sequence


def total(values: Sequence[float]) -> float:
    """Return the sum; of nothing it is 0."""
    return sum(values)


def product(values: Sequence[float]) -> float:
    """Return the product; of nothing it is 1."""
    result = 1.0
    for value in values:
        result *= value
    return result
'''
TEST_TOTAL: Final = """\
import unittest

from calc.total import product, total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_product(self):
        self.assertEqual(product([2, 3]), 6)
"""
MEAN: Final = '''\
"""The arithmetic mean."""

from collections.abc import Sequence

from calc.total import total


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    if not values:
        raise ValueError("the mean of no values")
    return total(values) / len(values)
'''
TEST_MEAN: Final = """\
import unittest

from calc.mean import mean


class MeanTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([1, 2, 6]), 3)

    def test_no_values(self):
        with self.assertRaises(ValueError):
            mean([])
"""
_MEDIAN_HEAD: Final = '''\
"""The median."""

from collections.abc import Sequence


def median(values: Sequence[float]) -> float:
    """Return the middle of at least one value."""
    if not values:
        raise ValueError("the median of no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
'''
MEDIAN: Final = _MEDIAN_HEAD + "    return ordered[middle]\n"
MEDIAN_MENDED: Final = (
    _MEDIAN_HEAD
    + """\
    if len(ordered) % 2 == 0:
        return (ordered[middle - 1] + ordered[middle]) / 2
    return ordered[middle]
"""
)
TEST_MEDIAN: Final = """\
import unittest

from calc.median import median


class MedianTest(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(median([3, 1, 2]), 2)
"""
TEST_MEDIAN_MENDED: Final = (
    TEST_MEDIAN
    + """
    def test_even(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)
"""
)
SPREAD: Final = '''\
"""The distance from the least value to the greatest."""

from collections.abc import Sequence


def spread(values: Sequence[float]) -> float:
    """Return the distance; of nothing it is 0."""
    return max(values) - min(values) if values else 0.0
'''
TEST_SPREAD: Final = """\
import unittest

from calc.spread import spread


class SpreadTest(unittest.TestCase):
    def test_spread(self):
        self.assertEqual(spread([3, -1, 2]), 4)
"""
MODE: Final = '''\
"""The most frequent value."""

from collections import Counter
from collections.abc import Sequence


def mode(values: Sequence[float]) -> float:
    """Return the most frequent of at least one value; of several the first."""
    return Counter(values).most_common(1)[0][0]
'''
TEST_MODE: Final = """\
import unittest

from calc.mode import mode


class ModeTest(unittest.TestCase):
    def test_mode(self):
        self.assertEqual(mode([1, 2, 2]), 2)
"""
SQUARES: Final = '''\
"""The sum of squares."""

from collections.abc import Sequence

from calc.total import total


def squares(values: Sequence[float]) -> float:
    """Return the sum of the squares of all values."""
    return total([value * value for value in values])
'''
TEST_SQUARES: Final = """\
import unittest

from calc.squares import squares


class SquaresTest(unittest.TestCase):
    def test_squares(self):
        self.assertEqual(squares([1, 2, 3]), 14)
"""
CLAMP: Final = '''\
"""Values within limits."""


def clamp(value: float, least: float, most: float) -> float:
    """Return the value, or the limit that it exceeds."""
    return max(least, min(value, most))
'''
TEST_CLAMP: Final = """\
import unittest

from calc.clamp import clamp


class ClampTest(unittest.TestCase):
    def test_clamp(self):
        self.assertEqual([clamp(each, 0, 2) for each in (-1, 1, 3)], [0, 1, 2])
"""

BEGINNING: Final = {
    "README.md": README,
    "calc/__init__.py": PACKAGE,
    "calc/total.py": TOTAL,
    "tests/__init__.py": "",
    "tests/test_total.py": TEST_TOTAL,
    ".gitignore": "__pycache__/\n",
}
"""The content of each file in the project's first commit, by path."""


def files_of(name: str, code: str, test: str) -> dict[str, str]:
    """Return two files of the calculator project, a module and its test: the content by path.

    The paths are relative to the project; for the name ``mean``, they are ``calc/mean.py`` and
    ``tests/test_mean.py``. Nothing is written.

    Args:
        name: The function's name.
        code: The content of the module.
        test: The content of the test.
    """
    return {f"calc/{name}.py": code, f"tests/test_{name}.py": test}
