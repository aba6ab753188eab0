"""A preprocessor of mdBook: includes pages of the repository, and rewrites their links.

`{{#include PATH.md}}` on a line of its own is the whole page; other includes are left to mdBook.
`{{#block PATH LANGUAGE}}` is the first block of code of a language in a page.

A link to a page that is in the book leads to its chapter. A link to any other file of the repository, or to an item of a
crate, becomes text. A link that leads nowhere is an error, and so is a page of a crate that no chapter includes.
"""

import json
import os
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BOOK = REPOSITORY / "docs/src"
# Pages that rustdoc shows, too: it takes blocks without a language for Rust.
RUSTDOC = ("informer/docs/", "fakeserver/docs/")
INCLUDE = re.compile(r"^\{\{#include (\S+\.md)\}\}$", re.MULTILINE)
BLOCK = re.compile(r"^\{\{#block (\S+) (\w+)\}\}$", re.MULTILINE)
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[((?:`[^`]*`|[^\[\]`])*)\]\(([^()\s]+)\)")
SHORTCUT = re.compile(r"\[(`[^`]*`)\](?!\()")
# Marks the ends of a text that was a link, so that code on both sides of one becomes one piece of code.
END = "\0"


def chapters(items):
    for item in items:
        if "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def resolve(path, folder):
    return os.path.relpath(os.path.normpath(folder / path), REPOSITORY)


def rewrite(text, page, chapter, places):
    """Returns `text` of the page `page` with the links that it has as a part of `chapter`."""

    def link(match):
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return match[0]
        if "::" in target:
            return END + words + END
        found = resolve(path, (REPOSITORY / page).parent)
        if found in places:
            to = os.path.relpath(places[found], os.path.dirname(chapter))
            return f"[{words}]({to}{'#' if anchor else ''}{anchor})"
        if not (REPOSITORY / found).exists():
            sys.exit(f"book: {page}: {target} leads nowhere")
        if found.startswith("docs/src/"):
            # A file of the book that is no page: a picture.
            return f"[{words}]({os.path.relpath(found, os.path.join('docs/src', os.path.dirname(chapter)))})"
        return END + words + END

    pieces = CODE.split(text)
    for place, piece in enumerate(pieces):
        if page.startswith(RUSTDOC):
            piece = re.sub(r"\A```\n", "```rust\n", piece) if place % 2 else SHORTCUT.sub(r"\1", piece)
        pieces[place] = piece if place % 2 else LINK.sub(link, piece).replace(f"`{END}`", "").replace(END, "")
    return "".join(pieces)


def first_block(path, language):
    blocks = CODE.findall((REPOSITORY / path).read_text())
    found = [block for block in blocks if block.startswith(f"```{language}\n")]
    return found[0] if found else sys.exit(f"book: {path} has no block of {language}")


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    all_chapters = list(chapters(book["items"]))
    places = {}
    for chapter in all_chapters:
        folder = (BOOK / chapter["path"]).parent
        places[f"docs/src/{chapter['source_path']}"] = chapter["path"]
        places.update((resolve(path, folder), chapter["path"]) for path in INCLUDE.findall(chapter["content"]))
    for page in sorted(REPOSITORY.glob("*/docs/*.md")):
        if str(page.relative_to(REPOSITORY)) not in places:
            sys.exit(f"book: no chapter includes {page.relative_to(REPOSITORY)}")
    for chapter in all_chapters:
        here = chapter["path"]
        folder = (BOOK / here).parent

        def page(match):
            path = resolve(match[1], folder)
            return rewrite((REPOSITORY / path).read_text(), path, here, places)

        content = BLOCK.sub(lambda match: first_block(resolve(match[1], folder), match[2]), chapter["content"])
        chapter["content"] = INCLUDE.sub(page, rewrite(content, f"docs/src/{chapter['source_path']}", here, places))
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
