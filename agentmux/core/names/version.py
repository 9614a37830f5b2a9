"""The version of this program, and the name under which it is installed."""

from typing import Final

VERSION: Final = "0.2.0"
"""By PEP 440. The build reads it from here; the metadata of the installed package has the same."""

DISTRIBUTION: Final = "agentmux-cli"
"""What installers call it, by PEP 503; ``agentmux`` on PyPI is another project."""
