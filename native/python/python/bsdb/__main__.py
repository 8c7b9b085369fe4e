"""The command line: ``python -m bsdb get|scan|stat|verify DIR``."""

from __future__ import annotations

import argparse
import base64
import binascii
import itertools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NoReturn, Optional

import bsdb

from . import _json

_EXAMPLES = """\
examples:
  python -m bsdb get ./rdb apple pear            # values, one per line; exit code 1 if a key is absent
  python -m bsdb get ./rdb -- -5                 # a key that begins with a hyphen
  python -m bsdb get ./rdb --keys-from keys.txt --json
  python -m bsdb get ./rdb --key-encoding hex --value-encoding hex 00ff10
  python -m bsdb scan ./rdb --limit 10           # key, separator, value
  python -m bsdb scan ./rdb --prefix user:42:    # of a database built with --ordered
  python -m bsdb stat ./rdb
  python -m bsdb verify ./rdb

exit codes: 0 success, all keys found; 1 a key is absent; 2 an error, with the reason on standard error
"""

# Keys or records that are handled together, at most; fewer if they are long.
_BATCH = 1024
_BATCH_BYTES = 1 << 20


class _Mistake(Exception):
    """A mistake of the user. The text says what to do instead."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Mistake(f"{message} (see {self.prog} --help)")


def main(arguments: Optional[list[str]] = None) -> int:
    """Run a command and return the exit code."""
    name = "bsdb"
    try:
        options = _options(sys.argv[1:] if arguments is None else arguments)
        name = f"bsdb {options.command}"
        code = int(options.run(options, sys.stdout.buffer))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Nobody reads any more. The interpreter must not try to write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except (bsdb.FileError, OSError) as error:
        file = f"{os.fspath(error.filename)}: " if error.filename else ""
        return _fail(name, f"{file}{error.strerror or error}")
    except (_Mistake, bsdb.Error, ImportError, MemoryError, UnicodeEncodeError) as error:
        return _fail(name, str(error))


def _options(words: list[str]) -> argparse.Namespace:
    """Parses arguments. Keys may stand before, between and behind options; all after -- are keys."""
    keys: list[str] = []
    if words[:1] == ["get"] and "--" in words:
        end = words.index("--")
        words, keys = words[:end], words[end + 1 :]
    parser = _parser()
    options, others = parser.parse_known_args(words)
    unknown = [word for word in others if options.command != "get" or (word.startswith("-") and word != "-")]
    if unknown:
        parser.error("unrecognized arguments: " + " ".join(unknown))
    if options.command == "get":
        options.keys += others + keys
    return options


def _fail(name: str, reason: str) -> int:
    print(f"{name}: {' '.join(reason.splitlines())}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 2


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="python -m bsdb",
        description="Reads bsdb databases.",
        epilog=_EXAMPLES,
        formatter_class=raw,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"bsdb {bsdb.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[..., int], help: str, examples: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=help,
            description=help[0].upper() + help[1:] + ".",
            epilog=f"examples:\n{examples}",
            formatter_class=raw,
            allow_abbrev=False,
        )
        made.set_defaults(run=run)
        made.add_argument("directory", metavar="DIR", help="the database, or a store, whose current version is read")
        return made

    get = command(
        "get",
        _get,
        "print the value of each key and a newline, in the order given",
        "  python -m bsdb get ./rdb apple pear\n"
        "  python -m bsdb get ./rdb -- -5\n"
        "  python -m bsdb get ./rdb --key-encoding hex --value-encoding hex 00ff10\n"
        "  python -m bsdb get ./rdb --keys-from keys.txt --json\n",
    )
    get.add_argument("keys", metavar="KEY", nargs="*", help="a key; any bytes")
    get.add_argument("--keys-from", metavar="FILE", help="also look up the keys in FILE, one per line; - for stdin")
    _forms(get)
    get.add_argument("-q", dest="quiet", action="store_true", help="do not report absent keys on stderr")

    scan = command(
        "scan",
        _scan,
        "print key, separator, value and a newline for every record, in the order of the input or, in the packed "
        "layouts, of the keys' signatures; a range is printed in the order of the keys' bytes, if the database was "
        "built with --ordered",
        "  python -m bsdb scan ./rdb --limit 10\n"
        "  python -m bsdb scan ./rdb --json | gzip > records.jsonl.gz\n"
        "  python -m bsdb scan ./rdb --prefix user:42:\n"
        "  python -m bsdb scan ./rdb --from 2026-11-01 --to 2026-12-01 --reverse\n"
        "  python -m bsdb scan ./rdb --prefix user: --after user:0999 --limit 1000\n"
        "  python -m bsdb scan ./rdb --prefix user: --count\n",
    )
    scan.add_argument(
        "-s",
        dest="separator",
        metavar="TEXT",
        help="separator (default a space); \\t is a tab, \\xHH the character with that code, \\\\ a backslash",
    )
    scan.add_argument("--limit", metavar="N", type=_count, help="stop after N records (default: all)")
    what = scan.add_mutually_exclusive_group()
    what.add_argument("--keys-only", action="store_true", help="print only keys, and do not read values")
    what.add_argument(
        "--count",
        action="store_true",
        help="print only the number of records, or N of --limit if that is less; known without reading them",
    )
    _forms(scan)
    ranges = scan.add_argument_group("ranges, of databases built with --ordered")
    ranges.add_argument("--prefix", metavar="P", help="only keys that begin with P")
    ranges.add_argument("--from", dest="from_", metavar="K", help="only keys from K on, including K")
    ranges.add_argument("--after", metavar="K", help="only keys after K: with --limit, for the next page")
    ranges.add_argument("--to", metavar="K", help="only keys before K, excluding K")
    ranges.add_argument(
        "--sorted", action="store_true", help="all records in the order of their keys; ranges always are"
    )
    ranges.add_argument("--reverse", action="store_true", help="in descending order of their keys")

    stat = command(
        "stat",
        _stat,
        "print the facts in the manifest",
        "  python -m bsdb stat ./rdb\n  python -m bsdb stat ./rdb --json\n",
    )
    what = stat.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print one JSON object")
    what.add_argument("--schema", action="store_true", help="print the schema of typed rows")

    command(
        "verify",
        _verify,
        "check every byte of every file, and that each record is found by its key",
        "  python -m bsdb verify ./rdb\n",
    )
    return parser


def _forms(command: argparse.ArgumentParser) -> None:
    forms = ["utf8", "hex", "base64"]
    command.add_argument(
        "--key-encoding",
        choices=forms,
        default="utf8",
        help="encoding of keys: utf8 (default: the bytes unchanged), hex or base64",
    )
    command.add_argument("--value-encoding", choices=forms, default="utf8", help="the same for values")
    command.add_argument(
        "--json",
        action="store_true",
        help='print one object per line, {"key":...,"value":...}; bytes that are not UTF-8 as {"base64":...}, '
        "typed rows as objects; the value is null if the key is absent",
    )


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of records")
    return int(text)


def _get(options: argparse.Namespace, out: BinaryIO) -> int:
    if not options.keys and options.keys_from is None:
        raise _Mistake("no key; name one, or a file of keys with --keys-from")
    code = 0
    with bsdb.open(options.directory) as database:
        for batch in _batches(_given_keys(options)):
            decoded = [_decoded(key, options.key_encoding) for key in batch]
            values = database.get_many(decoded)
            for key, own, value, shown in zip(batch, decoded, values, _shown(database, options, decoded, values)):
                if options.json:
                    out.write(b'{"key":%s,"value":%s}\n' % (_json_key(own, options), shown))
                elif value is not None:
                    out.write(shown + b"\n")
                if value is None:
                    code = 1
                    if not options.quiet:
                        out.flush()
                        name = json.dumps(key.decode(errors="backslashreplace"), ensure_ascii=False)
                        print(f"bsdb get: {name} is absent", file=sys.stderr)
    return code


def _scan(options: argparse.Namespace, out: BinaryIO) -> int:
    separator = _separator(" " if options.separator is None else options.separator)
    if (options.keys_only or options.count) and (options.separator is not None or options.value_encoding != "utf8"):
        raise _Mistake("-s and --value-encoding are for values; omit them, or --keys-only and --count")
    bounds = _bounds(options)
    ranged = any(bound is not None for bound in bounds.values())
    with bsdb.open(options.directory) as database:
        if options.count:
            if database.approximate:
                iter(database)  # says why not
            count = database.count(**bounds) if ranged or options.sorted or options.reverse else len(database)
            count = count if options.limit is None else min(count, options.limit)
            out.write(b'{"records":%d}\n' % count if options.json else b"%d\n" % count)
            return 0
        for batch in _batches(itertools.islice(_records(database, options, bounds, ranged), options.limit)):
            keys = [key for key, _ in batch]
            values = [value for _, value in batch]
            if options.keys_only:
                form = b'{"key":%s}\n' if options.json else b"%s\n"
                out.writelines(form % _shown_key(key, options) for key in keys)
                continue
            for key, shown in zip(keys, _shown(database, options, keys, values)):
                if options.json:
                    out.write(b'{"key":%s,"value":%s}\n' % (_json_key(key, options), shown))
                else:
                    out.write(_encoded(key, options.key_encoding) + separator + shown + b"\n")
    return 0


def _bounds(options: argparse.Namespace) -> dict[str, Optional[bytes]]:
    """The bounds of the range, as Database.range takes them."""
    bounds = {
        name: None if text is None else _decoded(os.fsencode(text), options.key_encoding)
        for name, text in (("prefix", options.prefix), ("from_", options.from_), ("to", options.to))
    }
    if options.after is not None:
        after = _decoded(os.fsencode(options.after), options.key_encoding) + b"\0"
        bounds["from_"] = max(bounds["from_"] or b"", after)
    return bounds


def _records(
    database: bsdb.Database, options: argparse.Namespace, bounds: dict[str, Optional[bytes]], ranged: bool
) -> Iterator[tuple[bytes, bytes]]:
    """Pairs of key and value. With --keys-only the value is empty."""
    reverse: bool = options.reverse
    if ranged or options.sorted or reverse:
        if options.keys_only:
            return ((key, b"") for key in database.range(**bounds, reverse=reverse, values=False))
        return database.range(**bounds, reverse=reverse, values=True)
    return ((key, b"") for key in database) if options.keys_only else iter(database.items())


def _stat(options: argparse.Namespace, out: BinaryIO) -> int:
    with bsdb.open(options.directory) as database:
        if options.schema:
            if database.schema_json is None:
                raise _Mistake(f"{database.path}: has no schema; its values are plain bytes")
            out.write(database.schema_json.encode() + b"\n")
            return 0
        facts = {"directory": database.path, "id": database.id, **database.statistics, "schema": database.schema}
        if options.json:
            out.write(json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode(*_ANY) + b"\n")
            return 0
        facts["schema"] = "typed rows" if facts["schema"] is not None else "none"
        for name, fact in facts.items():
            shown = f"{fact:,}" if type(fact) is int else {True: "yes", False: "no"}.get(fact, fact)
            out.write(f"{name.replace('_', ' '):<28}{shown}\n".encode(*_ANY))
    return 0


def _verify(options: argparse.Namespace, out: BinaryIO) -> int:
    with bsdb.open(options.directory) as database:
        verified = database.verify()
        found = f"{verified['records']:,} records read and found again"
        if database.approximate:
            found = f"{len(database):,} records (approximate: no keys to look up)"
        out.write(
            f"verified {database.path}: {found}, {verified['pages']:,} pages, "
            f"{database.statistics['file_bytes']:,} bytes\n".encode(*_ANY)
        )
    return 0


_ANY = ("utf-8", "surrogateescape")


def _given_keys(options: argparse.Namespace) -> Iterator[bytes]:
    yield from map(os.fsencode, options.keys)
    if options.keys_from == "-":
        yield from _lines(sys.stdin.buffer)
    elif options.keys_from is not None:
        with open(options.keys_from, "rb") as file:
            yield from _lines(file)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    for line in file:
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        yield line


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    held = 0
    for item in items:
        batch.append(item)
        held += len(item[-1]) if isinstance(item, tuple) else len(item)
        if len(batch) == _BATCH or held > _BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _shown(database: bsdb.Database, options: argparse.Namespace, keys: list[bytes], values: list[Any]) -> list[Any]:
    """Values as they are written. With --json those of absent keys are null."""
    if not options.json:
        return [None if value is None else _encoded(value, options.value_encoding) for value in values]
    if options.value_encoding != "utf8":
        texts = [None if value is None else _encoded(value, options.value_encoding) for value in values]
        return [_json.of_bytes(text).encode() for text in texts]
    if database.schema_json is None:
        return [_json.of_bytes(value).encode() for value in values]
    writer = _json.RowWriter(database.schema)
    return [writer.write(database.get_row(key)).encode() for key in keys]


def _shown_key(key: bytes, options: argparse.Namespace) -> bytes:
    return _json_key(key, options) if options.json else _encoded(key, options.key_encoding)


def _json_key(key: bytes, options: argparse.Namespace) -> bytes:
    return _json.of_bytes(_encoded(key, options.key_encoding)).encode()


def _encoded(data: bytes, form: str) -> bytes:
    if form == "hex":
        return data.hex().encode()
    return base64.b64encode(data) if form == "base64" else data


def _decoded(key: bytes, form: str) -> bytes:
    try:
        if form == "hex":
            return binascii.unhexlify(key)
        if form == "base64":
            return base64.b64decode(key, validate=True)
    except binascii.Error as error:
        raise _Mistake(f"the key {key.decode(errors='backslashreplace')!r} is not {form}: {error}") from None
    return key


def _separator(text: str) -> bytes:
    def escaped(match: re.Match[str]) -> str:
        code = match.group(1)
        if code in ("t", "\\"):
            return "\t" if code == "t" else "\\"
        if len(code) == 3:
            return chr(int(code[1:], 16))
        raise _Mistake(f"-s {text}: \\t is a tab, \\xHH the character with that code, \\\\ a backslash")

    return re.sub(r"\\(x[0-9a-fA-F]{2}|.|$)", escaped, text).encode(*_ANY)


if __name__ == "__main__":
    sys.exit(main())
