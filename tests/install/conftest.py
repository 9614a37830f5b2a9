"""Only `./dev check` collects these tests: it builds the wheel, and gathers what it needs."""

import os
from pathlib import Path
from typing import Final

WHEELS_VARIABLE: Final = "AGENTMUX_WHEELS"
WHEELS: Final = Path(os.environ.get(WHEELS_VARIABLE, ""))
"""The folder with the wheel of AgentMux, and those of all that it needs, and of pip."""

collect_ignore_glob = [] if os.environ.get(WHEELS_VARIABLE) else ["test_*.py"]
