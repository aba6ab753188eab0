"""Checks a book that was built: `check.py FOLDER`. Every link within it leads to a file, and every anchor to an element.

Of the book's own pages it checks the Rust code: it is that of examples, which are compiled and run.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SOURCES = Path(__file__).resolve().parents[2] / "docs/src"
RUST = re.compile(r"^```rust.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"\{\{#include (\S*/examples/\S+):(\S+)\}\}")


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(book):
    pages = {path: Page(path) for path in sorted(book.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file() or not target.is_relative_to(book):
                yield f"{path.relative_to(book)}: {link}: no such file"
            elif target in pages and anchor not in pages[target].anchors:
                yield f"{path.relative_to(book)}: {link}: no such anchor"


def foreign_code():
    for path in sorted(SOURCES.rglob("*.md")):
        for code in RUST.findall(path.read_text()):
            for line in code.splitlines():
                if problem := problem_of(EXAMPLE.fullmatch(line), path.parent):
                    yield f"docs/src/{path.relative_to(SOURCES)}: {line}: {problem}"


def problem_of(included, folder):
    if not included:
        return "no code of an example"
    file = folder / included[1]
    # mdBook takes a missing anchor for nothing to include.
    if not file.is_file() or f"// ANCHOR: {included[2]}\n" not in file.read_text():
        return "no such file, or no such anchor in it"
    return None


def main():
    book = Path(sys.argv[1]).resolve()
    problems = [*broken_links(book), *foreign_code()]
    sys.exit("\n".join(f"book: {problem}" for problem in problems) or None)


if __name__ == "__main__":
    main()
