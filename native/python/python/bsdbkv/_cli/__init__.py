"""The command line: ``python -m bsdbkv COMMAND`` takes the options of the command ``bsdb`` and prints the same."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Optional

import bsdbkv

from . import _make, _parquet, _read, _stat
from ._console import Console
from ._input import InputError, reason
from ._syntax import Arguments, Syntax, UsageError, nearest

# Of each command what runs it, what it does, and the options of the Java command that it does not cover.
_COMMANDS: dict[str, tuple[Callable[[Arguments, Console], int], str, tuple[str, ...]]] = {
    "build": (_make.build, "build a database from text, CSV, JSON lines or Parquet", _make.UNCOVERED),
    "build-parquet": (
        _make.build_parquet,
        "build a database from Parquet",
        (*_make.UNCOVERED, *_parquet.UNCOVERED),
    ),
    "get": (_read.get, "look up keys and print their values", _read.UNCOVERED),
    "scan": (_read.scan, "print all records, or a range of keys", _read.UNCOVERED),
    "sign": (_make.sign, "sign a database, for readers that trust a key", ()),
    "stat": (_read.stat, "print a database's figures", (*_read.UNCOVERED, *_read.ELSEWHERE, "--engines")),
    "verify": (_read.verify, "check every byte and every key of a database", _read.UNCOVERED),
}

# Commands of bsdb that need Java.
_JAVA = (
    "bench bench-async diff get-rate merge merge-parquet plan publish pull push rollback serve "
    "unicode-names versions warm"
).split()

_HELP = """\
python -m bsdbkv builds immutable key-value databases and looks up keys in them.

Usage: python -m bsdbkv COMMAND [ARGUMENT...]

Commands:
%s
python -m bsdbkv COMMAND --help shows a command's options; python -m bsdbkv --version shows the version. The options are
those of the Java command, bsdb, which has more commands.

Examples:
  # A database from lines of "key value", then one lookup
  python -m bsdbkv build -i words.txt -o ./rdb
  python -m bsdbkv get -d ./rdb apple
  # Is every byte still what was written?
  python -m bsdbkv verify -d ./rdb

Exit codes: 0 success, all keys found; 1 a key is absent; 2 an error, with the reason on standard error."""


def main(words: Optional[list[str]] = None) -> int:
    """Run a command and return the exit code."""
    words = sys.argv[1:] if words is None else words
    console = Console()
    name = "bsdb"
    try:
        first = words[0] if words else "--help"
        if first in ("-h", "--help", "help"):
            if first == "help" and len(words) > 1 and not words[1].startswith("-"):
                code = _run(words[1], ["--help"], console)
            else:
                code = 0
                console.print(_HELP % "".join(f"  {each:<14}{what[1]}\n" for each, what in _COMMANDS.items()))
        elif first in ("-V", "--version", "version"):
            code = 0
            console.print(f"bsdb {bsdbkv.__version__}")
        else:
            if first == "build":
                name = "bsdb build"
                first = "build-parquet" if _make.is_parquet(words[1:]) else first
            name = f"bsdb {first}" if first in _COMMANDS or first in _JAVA else name
            code = _run(first, words[1:], console)
        console.flush()
        return code
    except BrokenPipeError:
        console.abandon()
        return 0
    except KeyboardInterrupt as signal:
        console.abandon()
        return 128 + getattr(signal, "number", 2)
    except (bsdbkv.FileError, OSError) as error:
        file = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        text = reason(error).replace("set the option overwrite to replace it, or", "replace it with --overwrite or")
        return _fail(console, name, file + text, words)
    except UsageError as error:
        return _fail(console, name, str(error), words, f"Try: python -m {name.replace('bsdb', 'bsdbkv', 1)} --help")
    except (InputError, bsdbkv.Error, ImportError, MemoryError, UnicodeEncodeError) as error:
        return _fail(console, name, str(error), words)


def _fail(console: Console, name: str, reason: str, words: list[str], tip: Optional[str] = None) -> int:
    console.say(f"{name}: {reason}")
    if tip is not None:
        console.say(tip)
    if "--debug" in words[: words.index("--") if "--" in words else None]:
        console.report(traceback.format_exc())
    console.abandon()
    return 2


def _run(command: str, words: list[str], console: Console) -> int:
    if command not in _COMMANDS:
        if command in _JAVA:
            raise InputError(f"is not covered by python -m bsdbkv; use the Java command: bsdb {command}")
        guess = nearest(command, _COMMANDS)
        tip = f'; did you mean "{guess}"?' if guess else f"; the commands are {', '.join(_COMMANDS)}"
        raise UsageError(f'unknown command "{command}"{tip}')
    run, _, uncovered = _COMMANDS[command]
    syntax = Syntax(command, uncovered, _stat.is_place)
    arguments = syntax.parse(words)
    if arguments.has("--help"):
        console.print(syntax.help())
        return 0
    return run(arguments, console)
