"""The version of this program. The build reads it from here."""

from typing import Final

VERSION: Final = "0.2.0.dev0"
"""By PEP 440; the metadata of the installed package has the same."""
