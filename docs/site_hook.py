"""Put the files of the root that pages link to into the site, README as its first page.

A page to which no other page leads is a warning, and so an error of the strict build.
"""

import logging
import re
from pathlib import Path
from posixpath import dirname, join, normpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parent.parent
_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
}
_LOG = logging.getLogger("mkdocs.hooks.site_hook")
_LINK = re.compile(r"\]\(([^)#\s]+)")
_INTO_DOCS = re.compile(r"\]\(docs/")
_OUT_OF_DOCS = re.compile(r"\]\((?:\.\./)+(CONTRIBUTING|SECURITY)\.md")


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
    return _OUT_OF_DOCS.sub(r"](../\1.md", markdown)


def on_env(env: object, *, files: Files, **_: object) -> object:
    """Warn of each page that readers do not find by the links of others."""
    pages = [file.page for file in files.documentation_pages() if file.page is not None]
    found = {"index.md"}
    for page in pages:
        links = _LINK.findall(page.markdown or "")
        here = {normpath(join(dirname(page.file.src_uri), link)) for link in links}
        found |= here - {page.file.src_uri}
    for page in pages:
        if page.file.src_uri not in found:
            _LOG.warning("no page links to '%s'", page.file.src_uri)
    return env
