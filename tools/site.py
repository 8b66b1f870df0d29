"""Hooks of the documentation site: pages that live outside docs/, and links to them."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\]\((?P<up>(?:\.\./)*)\.\./(?P<path>examples/[^)#]+|CHANGELOG\.md)")
"""A link from a page of docs/ to a file outside docs/."""
TABLE_HEAD = re.compile(r'<span class="gp">(?P<mark># *)</span>(?P<rest>.*)')
"""The head of a table in a terminal. Pygments takes its # for a prompt."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the examples and the changelog, which live outside docs/."""
    pages = {"CHANGELOG.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")}
    pages["examples/README.md"] = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for program in sorted((ROOT / "examples").glob("*.py")):
        source = program.read_text(encoding="utf-8")
        pages[f"examples/{program.stem}.md"] = f"# {program.name}\n\n```python\n{source}```\n"
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files, **_: Any) -> str:
    """Change links to files outside docs/ to their pages on the site."""
    if page.file.src_uri.startswith("examples/"):
        markdown = re.sub(r"\]\(\.\./docs/", "](../", markdown)
        return re.sub(r"\]\((\w+)\.py\)", r"](\1.md)", markdown)
    if page.file.src_uri == "CHANGELOG.md":
        return re.sub(r"\]\(docs/", "](", markdown)
    return OUTSIDE.sub(lambda found: f"]({found['up']}{found['path'].replace('.py', '.md')}", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Mark the heads of tables in terminals as output, so that only commands are copied."""
    return TABLE_HEAD.sub(
        lambda found: f'<span class="go">{found["mark"]}{re.sub("<[^>]+>", "", found["rest"])}</span>', html
    )
