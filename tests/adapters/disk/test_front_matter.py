"""Common front matter is read without a YAML parser, with the same result as with one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.adapters.disk.session.front_matter import read_front_matter
from agentmux.adapters.yaml.documents import front_matter

WORDS = ["logic", "quality", "expert", "reviewer_logic", "null", "true", "no", "_", "a b", "'x'"]
HEADS = st.builds(
    lambda names, gap, end: f"---\nreviewers: [{gap.join(names)}]{end}---\n# Body\n---\n",
    st.lists(st.sampled_from(WORDS), max_size=4),
    st.sampled_from([", ", ",", " , "]),
    st.sampled_from(["\n", "\r\n", "\nmore: 1\n", " # said\n"]),
)


@given(st.one_of(HEADS, st.text(max_size=30), st.text(max_size=30).map("---\n{}\n---\n".format)))
def test_it_means_what_yaml_says(text: str) -> None:
    head, _, problems = front_matter(text)
    assert read_front_matter(text) == (head, problems)


@pytest.mark.parametrize(("head", "loads"), [("[logic, quality]", False), ("[null]", True)])
def test_yaml_is_loaded_only_for_what_needs_it(head: str, loads: bool) -> None:
    program = (
        "import sys; from agentmux.adapters.disk.session import front_matter;"
        f"front_matter.read_front_matter('---\\nreviewers: {head}\\n---\\n');"
        "print('yaml' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(loads)
