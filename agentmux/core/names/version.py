"""The version of this program, and the name under which it is installed."""

from typing import Final

VERSION: Final = "0.2.0"
"""The version, in the form of PEP 440; the build copies it into the package's metadata."""

DISTRIBUTION: Final = "agentmux-cli"
"""The package's name on PyPI, in the form of PEP 503; ``agentmux`` there is another project."""
