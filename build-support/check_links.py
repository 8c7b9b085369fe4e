#!/usr/bin/env python3
"""Checks the relative links of all tracked Markdown files.

  build-support/check_links.py [FILE ...]

Without arguments, it checks all files *.md that git tracks. A link must lead to a tracked file or directory, and its anchor to a heading
of that page (by the rules of code hosts) or to an HTML id. Links to other hosts are not followed. Each broken link is printed as
FILE:LINE: LINK: REASON. The exit code is 0 if no link is broken, 1 if one is, and 2 if the check cannot run.
"""

import functools
import html
import os
import re
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FENCE = re.compile(r"^(?: {0,3}|\s*(?:[-*+>]|\d+[.)])\s+)(`{3,}|~{3,})")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
# [text](target "title") and ![image](target); the text may hold pairs of brackets, the target pairs of parentheses
INLINE = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[([^\]^][^\]]*)\]:\s*(?:<([^<>]*)>|(\S+))", re.M)
REFERENCE = re.compile(r"(?<!\\)\[((?:[^\[\]\\]|\\.)+)\]\[((?:[^\[\]\\]|\\.)*)\]")
ATTRIBUTE = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.I)
NAMED = re.compile(r"<[a-z][^>]*?\b(?:id|name)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.I)
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:|^//", re.I)


def git(*arguments):
    output = subprocess.run(("git", "-C", ROOT) + arguments, stdout=subprocess.PIPE, check=True).stdout
    return [name for name in output.decode("utf-8", "surrogateescape").split("\0") if name]


def blanked(text):
    """The text without what code and comments hold; each character left is where it was."""
    lines, fence = [], None
    for line in text.split("\n"):
        marker = FENCE.match(line)
        if fence:
            closing = marker and marker[1][0] == fence[0] and len(marker[1]) >= len(fence)
            if closing and not line[marker.end():].strip():
                fence = None
            line = " " * len(line)
        elif marker:
            fence, line = marker[1], " " * len(line)
        lines.append(line)
    text = "\n".join(lines)
    for pattern in (re.compile(r"<!--.*?-->", re.S), CODE):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if "\n\n" not in found[0] else found[0], text)
    return text


def headings(text):
    """The text of each heading, with its code."""
    masked, plain = blanked(text).split("\n"), text.split("\n")
    for number, line in enumerate(masked):
        if re.match(r" {0,3}#{1,6}(\s|$)", line):
            yield re.sub(r"\s+#+\s*$", "", plain[number].strip().lstrip("#")).strip()
        elif re.match(r" {0,3}(=+|-+)\s*$", line) and number and masked[number - 1].strip():
            if not re.match(r"\s*([|>#]|[-*+]\s|\d+[.)]\s)", masked[number - 1]):
                yield plain[number - 1].strip()


def slug(heading):
    heading = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"!?\[([^\]]*)\]\[[^\]]*\]", r"\1", heading)
    heading = html.unescape(re.sub(r"</?[a-z][^>]*>", "", heading, flags=re.I))
    heading = re.sub(r"(?<!\w)_+(\S(?:.*?\S)?)_+(?!\w)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors(path):
    with open(path, encoding="utf-8") as page:
        text = page.read()
    found, counts = set(), {}
    for name in map(slug, headings(text)):
        unique = name
        while unique in found:
            counts[name] = counts.get(name, 0) + 1
            unique = "%s-%d" % (name, counts[name])
        found.add(unique)
    found.update(one or other for one, other in NAMED.findall(blanked(text)))
    return frozenset(found)


def links(text):
    """Pairs of an offset and a target; a target of None is a reference without a definition."""
    masked = blanked(text)
    definitions = {name.lower() for name, _, _ in DEFINITION.findall(masked)}
    for found in INLINE.finditer(masked):
        yield found.start(), found[1] if found[1] is not None else found[2]
    for found in DEFINITION.finditer(masked):
        yield found.start(), found[2] if found[2] is not None else found[3]
    for found in ATTRIBUTE.finditer(masked):
        yield found.start(), html.unescape(found[1] if found[1] is not None else found[2])
    for found in REFERENCE.finditer(masked):
        if (found[2] or found[1]).lower() not in definitions:
            yield found.start(), None


def fault(page, target, tracked):
    """Why a link is broken, or None."""
    if target is None:
        return "the reference has no definition"
    if SCHEME.match(target):
        return None
    path, _, anchor = target.partition("#")
    path, anchor = (urllib.parse.unquote(part) for part in (path.partition("?")[0], anchor))
    if path.startswith("/"):
        return "the link is absolute"
    place = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if path and (place == ".." or place.startswith("../")):
        return "the link leads out of the repository"
    if path and place not in tracked:
        return "no such file"
    if anchor and place.endswith(".md") and anchor not in anchors(os.path.join(ROOT, place)):
        return "no such heading"
    return None


def check(page, tracked):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read()
    broken = 0
    for offset, target in sorted(links(text), key=lambda link: link[0]):
        reason = fault(page, target, tracked)
        if reason:
            line = text.count("\n", 0, offset) + 1
            shown = text[offset:].split("\n")[0][:60] if target is None else target
            print("%s:%d: %s: %s" % (page, line, shown, reason))
            broken += 1
    return broken


def main(arguments):
    if any(argument in ("-h", "--help") for argument in arguments):
        print(__doc__.strip())
        return 0
    try:
        files = git("ls-files", "-z")
        tracked = {"."}
        for name in files:
            while name:
                tracked.add(name)
                name = os.path.dirname(name)
        pages = [os.path.relpath(os.path.abspath(name), ROOT) for name in arguments]
        pages = pages or [name for name in files if name.endswith(".md") and os.path.isfile(os.path.join(ROOT, name))]
        if not pages:
            raise OSError("no Markdown file to check")
        broken = sum(check(page, tracked) for page in pages)
    except (OSError, UnicodeDecodeError, subprocess.CalledProcessError) as failure:
        print("check_links.py: %s" % failure, file=sys.stderr)
        return 2
    print("%d pages checked, %d broken links" % (len(pages), broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
