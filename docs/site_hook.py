"""Put the files of the root that pages link to into the site, README as its first page."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parent.parent
_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
_INTO_DOCS = re.compile(r"\]\(docs/")
_OUT_OF_DOCS = re.compile(r"\]\((?:\.\./)+CONTRIBUTING\.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and the license, with links as they are seen from docs/."""
    for source, target in _PAGES.items():
        text = (_ROOT / source).read_text(encoding="utf-8")
        page = _INTO_DOCS.sub("](", text).replace("](README.md", "](index.md")
        files.append(File.generated(config, target, content=page))
    files.append(File.generated(config, "LICENSE", abs_src_path=str(_ROOT / "LICENSE")))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Lead links from one folder deep to the page that `on_files` has added."""
    return _OUT_OF_DOCS.sub("](../CONTRIBUTING.md", markdown)
