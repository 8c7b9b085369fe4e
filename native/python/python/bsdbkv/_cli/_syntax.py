"""The options of a command, which its help declares, as with the command ``bsdb``.

The texts in ``help`` are those of the command ``bsdb``. A line that is not indented begins an entry, whose text is in
the indented lines below it: the usage; a heading; an option, with the kind of its value and a mark; ``@NAME``, the
entries of another text; ``!``, options that are refused and why; ``#``, an example.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Optional

_HELP = os.path.join(os.path.dirname(__file__), "help")
_COLUMNS = 100
_MEANING = 30

# Kinds of values, and operands, that are bytes.
_PATHS = {"FILE", "DIR", "PATH"}
_RAW_OPERANDS = re.compile(r"\b(KEY|DB|STORE)\b")
_URL = re.compile("[A-Za-z][A-Za-z0-9+.-]+://")
_OURS = re.compile(r"\bbsdb (?=(?:build|get|plan|scan|sign|stat|verify)\b)")


class UsageError(Exception):
    """The command line is wrong. The text says which part of it, and what would be right."""


class _Option(NamedTuple):
    name: str
    value: Optional[str]
    repeatable: bool
    raw: bool


class Syntax:
    """The options and operands of a command."""

    def __init__(
        self, command: str, uncovered: Iterable[str] = (), is_place: Callable[[str], bool] = lambda _: False
    ) -> None:
        """``is_place`` says whether a path is that of a database, which can come first in place of -d."""
        self._command = command
        self._is_place = is_place
        self._uncovered = set(uncovered)
        self._options: dict[str, _Option] = {"-h": _Option("-h", None, False, False)}
        self._refused: dict[str, str] = {}
        self._help: list[str] = []
        self._footer: list[str] = []
        (self._usage, purpose), *entries = _entries(command)
        self._operands = self._usage.partition("[OPTION...]")[2].strip()
        self._purpose = purpose.replace("\n  ", " ")
        for entry in entries:
            self._add(*entry)
        for name in ("--debug", "--help"):
            self._options[name] = _Option(name, None, False, False)

    def _add(self, head: str, body: str) -> None:
        text = body.replace("\n  ", " ")
        if head.startswith("-"):
            name, *rest = head.split(" ", 2)
            kind, mark = (*rest, None, None)[:2]
            if name in self._uncovered:
                self._refused[name] = (
                    f"is not covered by python -m bsdbkv; use the Java command: bsdb {self._command} {name}"
                )
                return
            self._options[name] = _Option(name, kind, mark == "(repeatable)", mark == "(any bytes)")
            _describe(head if mark is None else f"{name} {kind}", text, self._help)
        elif head.startswith("@"):
            for entry in _entries(os.path.join("shared", head[1:])):
                self._add(*entry)
        elif head.startswith("! "):
            self._refused.update((name, text) for name in head[2:].split(" "))
        elif head.startswith("# "):
            covered = not any(re.search(rf"(?<!\S){re.escape(name)}(?!\S)", body) for name in self._uncovered)
            if covered:
                self._footer += ["  " + head, "  " + body]
        else:
            self._help += ["", head]

    def help(self) -> str:
        """The text for --help, at most 100 columns wide."""
        lines = [self._usage, ""]
        _wrap(self._purpose, 0, lines)
        lines += self._help
        lines.append("")
        _describe("-h, --help", "show this help", lines)
        _describe("--debug", "show the stack trace of an error", lines)
        if self._footer:
            lines += ["", "Examples:", *self._footer]
        text = re.sub(r"\n[A-Z]\w*:\n(?=\n)", "", "\n".join(lines))  # without headings that have no options
        return _OURS.sub("python -m bsdbkv ", text)

    def parse(self, words: Sequence[str]) -> Arguments:
        """Parses arguments. They are as Python has them: bytes that are not UTF-8 are surrogates."""
        values: dict[str, list[str]] = {}
        operands: list[str] = []
        waiting: Optional[_Option] = None

        def took(option: _Option) -> None:
            nonlocal waiting
            values.setdefault(option.name, [])
            waiting = option if option.value else None

        def need() -> None:
            if waiting is not None:
                raise UsageError(f"{waiting.name} needs a value: {waiting.name} {waiting.value}")

        for at, word in enumerate(words):
            if waiting is not None and word != "--" and not self._is_option(word):
                values[waiting.name].append(word)
                waiting = None
                continue
            if word == "--":
                need()
                operands += words[at + 1 :]
                break
            if word == "-" or not word.startswith("-"):
                operands.append(word)
                continue
            need()
            for option, value in self._named(word):
                took(option)
                if value is not None:
                    values[option.name].append(value)
                    waiting = None
        need()
        if "-h" in values:
            values["--help"] = []
        arguments = Arguments(values, operands)
        if "--help" not in values:
            self._check(arguments)
        return arguments

    def _is_option(self, word: str) -> bool:
        """Whether a word cannot be the value of the option before it."""
        if not word.startswith("-") or word == "-":
            return False
        if re.fullmatch(r"-[0-9]+(\.[0-9]*)?", word):
            return False
        name = word.partition("=")[0]
        return name in self._options or (not name.startswith("--") and name[:2] in self._options)

    def _named(self, word: str) -> list[tuple[_Option, Optional[str]]]:
        """The options that a word names, and the value that it has itself."""
        name, equals, value = word.partition("=")
        options = self._options
        if name in options and (not equals or (options[name].value and (name.startswith("--") or len(name) == 2))):
            return [(options[name], value if equals else None)]
        if not word.startswith("--") and not equals:
            if "-" + name in options:
                return [(options["-" + name], None)]
            found: list[tuple[_Option, Optional[str]]] = []
            for at in range(1, len(word)):
                option = options.get("-" + word[at])
                if option is None:
                    break
                rest = word[at + 1 :]
                if option.value and rest:
                    return [*found, (option, rest)]
                found.append((option, None))
            else:
                return found
        raise UsageError(self._unknown(word))

    def _check(self, arguments: Arguments) -> None:
        operands = arguments.operands
        if "-d" in self._options and not arguments.has("-d") and operands and self._is_place(operands[0]):
            arguments.set("-d", operands.pop(0))
        if operands and not self._operands:
            tip = ""
            if "-i" in self._options:
                tip = " (put -i before each input: -i FILE -i FILE)"
            elif "-d" in self._options:
                tip = " (name the database with -d)"
            raise UsageError(f'unexpected argument "{operands[0]}"{tip}')
        for option in self._options.values():
            given = arguments.all(option.name)
            if len(given) > 1 and not option.repeatable:
                both = '" and "'.join(given)
                raise UsageError(f'{option.name} is given twice: "{both}"')
        for option in self._options.values():
            if option.value not in _PATHS and not option.raw:
                _refuse_bytes(option.name, arguments.all(option.name))
        if not _RAW_OPERANDS.search(self._operands):
            _refuse_bytes("argument", operands)

    def _unknown(self, word: str) -> str:
        name = word.partition("=")[0]
        if name in self._refused:
            reason = self._refused[name]
            return f"{name} {reason}"
        names = ["--debug", "--help", *(each for each in self._options if each not in ("-h", "--debug", "--help"))]
        exact = [each for each in names if each.replace("-", "") == name.replace("-", "")]
        guess = exact[0] if exact else nearest(name, names)
        dashed = ' (put a key that begins with "-" after "--")' if "KEY" in self._operands else ""
        return f"unknown option {name}" + (f"; did you mean {guess}?" if guess else "") + dashed


class Arguments:
    """The options and operands of a command line."""

    def __init__(self, values: dict[str, list[str]], operands: list[str]) -> None:
        self._values = values
        self.operands = operands

    def set(self, option: str, value: str) -> None:
        """Adds a value."""
        self._values.setdefault(option, []).append(value)

    def has(self, option: str) -> bool:
        """Whether an option is given."""
        return option in self._values

    def all(self, option: str) -> list[str]:
        """Every value of an option, in order."""
        return self._values.get(option, [])

    def text(self, option: str, otherwise: Optional[str] = None) -> Optional[str]:
        """The value of an option."""
        values = self.all(option)
        return values[-1] if values else otherwise

    def path(self, option: str, otherwise: Optional[str] = None) -> Optional[str]:
        """The path that an option names, written as Java writes it."""
        value = self.text(option)
        if value is None:
            return otherwise
        if is_url(value):
            raise UsageError(
                f"{option} takes a path of this machine, not the URL {value}; bsdb push and bsdb pull copy databases to "
                "other places and from there"
            )
        if "\0" in value:
            raise UsageError(f'{option} "{value}": not a path here: Nul character not allowed')
        return normal(value)

    def number(self, option: str, least: int, most: int, otherwise: int) -> int:
        """A whole number."""
        value = self.text(option)
        if value is None:
            return otherwise
        if re.fullmatch("[+-]?[0-9]+", value) and least <= int(value) <= most:
            return int(value)
        between = f"of at least {least}" if most == 2**63 - 1 else f"from {least} to {most}"
        raise UsageError(f'{option} takes a whole number {between}, not "{value}"')

    def size(self, option: str, least: int, most: int, otherwise: int) -> int:
        """A number of bytes: a whole number, with k, m, g or t behind it for powers of 1,024."""
        value = self.text(option)
        if value is None:
            return otherwise
        parts = re.fullmatch("([0-9]{1,12})([kKmMgGtT]?)", value)
        if parts:
            size = int(parts[1]) << 10 * ("kmgt".index(parts[2].lower()) + 1 if parts[2] else 0)
            if least <= size <= most:
                return size
        raise UsageError(f'{option} takes a size such as 512m or 10g, from {least} to {most} bytes, not "{value}"')

    def choice(self, option: str, words: Sequence[str], otherwise: str) -> str:
        """One of several words."""
        value = self.text(option)
        if value is None or value in words:
            return otherwise if value is None else value
        *others, last = words
        raise UsageError(f'{option} takes {", ".join(others)} or {last}, not "{value}"')

    def refuse(self, options: Iterable[str], why: str) -> None:
        """Rejects options that do not fit."""
        for option in options:
            if self.has(option):
                raise UsageError(f"{option} {why}")

    def refuse_together(self, one: str, other: str, reason: str) -> None:
        """Rejects options that exclude each other."""
        if self.has(one) and self.has(other):
            raise UsageError(f"{one} and {other} cannot be combined: {reason}")

    def refuse_empty(self, option: str, what: str) -> None:
        """Rejects an empty value."""
        if "" in self.all(option):
            raise UsageError(f'{option} takes {what}, not ""')


def is_url(text: str) -> bool:
    """Whether a text is a URL and not a path."""
    return _URL.match(text) is not None


def normal(path: str) -> str:
    """A path without doubled slashes, or one at the end."""
    return re.sub("/+", "/", path).rstrip("/") or path[:1]


def shown(text: str) -> str:
    """Text for one line, which cannot steer a terminal: control characters, and bytes that are not UTF-8, as \\xHH."""

    def escape(match: re.Match[str]) -> str:
        return "".join(f"\\x{byte:02x}" for byte in match.group().encode("utf-8", "surrogateescape"))

    return re.sub("[\0-\x08\n-\x1f\x7f-\x9f\udc80-\udcff]", escape, text)


def resolve(option: str, typed: str) -> str:
    """Replaces the escapes \\t, \\xHH and \\\\."""

    def escaped(match: re.Match[str]) -> str:
        code = match.group(1)
        if code in ("t", "\\"):
            return "\t" if code == "t" else "\\"
        if len(code) == 3:
            return chr(int(code[1:], 16))
        raise UsageError(
            f"{option} takes \\t for a tab, \\xHH for the character with that code and \\\\ for a backslash, not "
            f'"{typed}"'
        )

    return re.sub(r"(?s)\\(t|x[0-9A-Fa-f]{2}|\\|x?.?|)", escaped, typed)


def nearest(typed: str, names: Iterable[str]) -> Optional[str]:
    """The name with the fewest changed, added, dropped or swapped letters; else the shortest that begins so."""
    if len(typed) < 3:
        return None
    best, least = None, len(typed) // 3 + 1
    for name in names:
        distance = _distance(typed, name)
        if distance < least:
            best, least = name, distance
    if best is None:
        longer = [name for name in names if name.startswith(typed)]
        best = min(longer, key=len) if longer else None
    return best


def _distance(a: str, b: str) -> int:
    """Optimal string alignment distance."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            least = min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before = last
    return row[-1]


def _refuse_bytes(name: str, values: Iterable[str]) -> None:
    for value in values:
        if re.search("[\udc80-\udcff]", value):
            raise UsageError(f'{name} "{shown(value)}" is not UTF-8')


def _entries(name: str) -> list[tuple[str, str]]:
    with open(os.path.join(_HELP, name + ".txt"), encoding="utf-8") as file:
        text = file.read()
    found = []
    for entry in re.split(r"\n+(?=[^ \n])", text):
        head, _, body = entry.partition("\n")
        found.append((head, body.strip()))
    return found


def _describe(option: str, meaning: str, lines: list[str]) -> None:
    left = "  " + option
    right: list[str] = []
    _wrap(meaning, _MEANING, right)
    if len(left) < _MEANING - 1:
        right[0] = left + right[0][len(left) :]
    else:
        right.insert(0, left)
    lines += right


def _wrap(text: str, indent: int, lines: list[str]) -> None:
    line = " " * indent
    for word in text.split(" "):
        if len(line) > indent and len(line) + 1 + len(word) > _COLUMNS:
            lines.append(line)
            line = " " * indent
        line += (" " if len(line) > indent else "") + word
    lines.append(line)
