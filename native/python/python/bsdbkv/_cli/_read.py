"""The commands that read a database: get, scan, stat, verify."""

from __future__ import annotations

import base64
import binascii
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Optional

import bsdbkv

from .. import _json
from . import _stat
from ._console import Console, Progress
from ._input import InputError
from ._syntax import Arguments, UsageError, is_url, nearest, normal, resolve

# Keys or records that are handled together, at most; fewer if they are long.
_BATCH = 1024
_BATCH_BYTES = 1 << 20

# What needs the Java command.
UNCOVERED = ("-nn", "--hadoop-conf", "--hadoop-set", "--principal", "--keytab")

# The options for databases elsewhere.
ELSEWHERE = ("--cache", "--cache-dir", "--requests", "--deadline", "--hedge")

_MOST = 2**63 - 1
_ENCODINGS = ("utf8", "hex", "base64")


class _Form:
    """How keys and values are written."""

    def __init__(self, arguments: Arguments) -> None:
        self.key = arguments.choice("--key-encoding", _ENCODINGS, "utf8")
        self.value = arguments.choice("--value-encoding", _ENCODINGS, "utf8")
        self.json = arguments.has("--json")
        self.fields = arguments.text("--fields")
        self.safe = arguments.has("--json-safe-integers")
        given = "--fields" if self.fields is not None else "--json-safe-integers" if self.safe else ""
        if given and not self.json:
            raise UsageError(f"{given} is for typed rows as JSON; add --json")
        if given and self.value != "utf8":
            raise UsageError(f"{given} is for typed rows as JSON; omit --value-encoding, which is for bytes")
        try:
            self.columns = None if self.fields is None else _json.names(self.fields)
        except ValueError as error:
            raise UsageError(f'--fields "{self.fields}" {error}') from None

    def key_of(self, typed: bytes, name: str = "key") -> bytes:
        """The bytes of a typed key."""
        try:
            if self.key == "hex":
                if re.search(rb"[^0-9A-Fa-f]", typed):
                    raise binascii.Error
                return binascii.unhexlify(typed)
            if self.key == "base64":
                return base64.b64decode(typed + b"=" * (-len(typed) % 4 if b"=" not in typed else 0), validate=True)
        except binascii.Error:
            raise UsageError(f'{name} "{os.fsdecode(typed)}" is not {self.key}') from None
        return typed

    @property
    def may_be_rows(self) -> bool:
        """Whether the database says how values are written."""
        return self.json and self.value == "utf8"

    def rows(self, database: bsdbkv.Database) -> Optional[_json.RowWriter]:
        """What writes rows; None if values are written as bytes."""
        if not self.may_be_rows:
            return None
        if database.schema_json is None:
            if self.fields is not None or self.safe:
                option = "--fields" if self.fields is not None else "--json-safe-integers"
                raise UsageError(
                    f"{option} is for typed rows, and the values of {database.path} are plain bytes without a schema; "
                    "omit it"
                )
            return None
        writer = _json.RowWriter(database.schema, self.columns, self.safe)
        for name in self.columns or ():
            if name not in writer.columns:
                near = nearest(name, writer.columns)
                guess = f', did you mean "{near}"?' if near else ""
                more = f" and {len(writer.columns) - 100} more" if len(writer.columns) > 100 else ""
                raise UsageError(
                    f'--fields: no column "{name}"{guess}; the columns are {", ".join(writer.columns[:100])}{more}'
                )
        return writer


def opened(arguments: Arguments, directory: str) -> bsdbkv.Database:
    """Opens a database, one elsewhere with the options for it."""
    if not is_url(directory):
        arguments.refuse(ELSEWHERE, "is for a database elsewhere; name that, for example s3a://bucket/rdb")
        return bsdbkv.open(directory, trust=key_file(arguments, "--trust"))
    return bsdbkv.open(directory, **_elsewhere(arguments))


def _elsewhere(arguments: Arguments) -> dict[str, Any]:
    """The options for a database elsewhere."""
    arguments.refuse_empty("--cache-dir", "a directory")
    return {
        "cache_dir": arguments.path("--cache-dir"),
        "cache": arguments.size("--cache", 1 << 20, 1 << 38, 0),
        "requests": arguments.number("--requests", 1, 4096, 256),
        "deadline": arguments.number("--deadline", 1, 86_400, 30),
        "hedge": arguments.has("--hedge"),
        "trust": key_file(arguments, "--trust"),
    }


def key_file(arguments: Arguments, option: str) -> Optional[str]:
    """The file of keys that an option names, if there is one."""
    arguments.refuse_empty(option, "a file")
    path = arguments.path(option)
    if path is not None and not os.path.exists(path):
        raise InputError(f"{path}: no such file or directory")
    return path


def place(arguments: Arguments, tool: str = "", console: Optional[Console] = None) -> str:
    """The database that the option -d names, or the current version of the store, which is said; a URL as it is."""
    arguments.refuse_empty("-d", "the directory of a database")
    given = arguments.text("-d", "./rdb")
    if given is not None and is_url(given):
        return given
    path = arguments.path("-d", "./rdb")
    assert given is not None and path is not None
    if not os.path.lexists(path):
        tip = ""
        if not arguments.has("-d"):
            tip = "; name the database with -d, or build one with: python -m bsdbkv build -i FILE"
        raise InputError(f"{given}: no such directory{tip}")
    if not os.path.isdir(path):
        raise InputError(f"{given}: not a database: it is a file, not a directory")
    if not os.listdir(path):
        raise InputError(f"{given}: not a database: the directory is empty")
    current = _stat.current(path)
    if current != path and console is not None:
        console.say(f"bsdb {tool}: reading {current}, the current version")
    return current


def get(arguments: Arguments, console: Console) -> int:
    """Prints the values of keys."""
    form = _Form(arguments)
    keys_from = arguments.text("--keys-from")
    operands = arguments.operands
    if not operands and keys_from is None:
        raise UsageError("no key given; for example: bsdb get -d ./rdb apple")
    quiet = arguments.has("-q")
    directory = place(arguments, "get", None if quiet else console)
    code = 0

    def write(keys: list[bytes], values: list[Optional[bytes]], texts: list[Any]) -> None:
        nonlocal code
        for key, value, text in zip(keys, values, texts):
            if value is None:
                code = 1
                if not quiet:
                    console.flush()
                    console.say(f"bsdb get: {show(key)} is absent")
            if form.json:
                console.out.write(b'{"key":%s,"value":%s}\n' % (_json_key(key, form), text))
            elif value is not None:
                console.out.write(text + b"\n")

    alone = len(operands) == 1 and keys_from is None and not arguments.has("--cache")
    if is_url(directory) and alone and not form.may_be_rows:
        # Two requests instead of the whole index.
        keys = [form.key_of(os.fsencode(operands[0]))]
        values = [bsdbkv.get(directory, keys[0], **_elsewhere(arguments))]
        write(keys, values, _shown(None, form, None, keys, values))
        return code
    with opened(arguments, directory) as database:
        rows = form.rows(database)
        typed = map(os.fsencode, operands)
        for batch in _batches(itertools.chain(typed, _keys_of(arguments))):
            keys = [form.key_of(key) for key in batch]
            values = database.get_many(keys)
            write(keys, values, _shown(database, form, rows, keys, values))
    return code


def scan(arguments: Arguments, console: Console) -> int:
    """Prints all records, or a range."""
    values, counts = not arguments.has("--keys-only"), arguments.has("--count")
    arguments.refuse_together("--keys-only", "--count", "a count prints no keys; omit one")
    if not values or counts:
        arguments.refuse(
            ("-s", "--value-encoding", "--fields", "--json-safe-integers"),
            f"is for values; omit it, or {'--count' if counts else '--keys-only'}",
        )
    arguments.refuse_together("-s", "--json", "JSON has no separator")
    form = _Form(arguments)
    bounds = _Bounds(arguments, form)
    separator = os.fsencode(resolve("-s", arguments.text("-s") or ("" if arguments.has("-s") else " ")))
    limit = arguments.number("--limit", 0, _MOST, _MOST)
    with opened(arguments, place(arguments, "scan", console)) as database:
        if database.approximate:
            raise InputError(f"{database.path}: an approximate database keeps no keys, so it cannot be scanned")
        if counts:
            count = bounds.count(database, limit)
            console.print(f'{{"records":{count}}}' if form.json else str(count))
            return 0
        rows = form.rows(database) if values else None
        out = console.out
        for batch in _batches(itertools.islice(bounds.records(database, values), limit)):
            keys = [key for key, _ in batch]
            if not values:
                if form.json:
                    out.writelines(b'{"key":%s}\n' % _json_key(key, form) for key in keys)
                else:
                    out.writelines(_encoded(key, form.key) + b"\n" for key in keys)
                continue
            for key, text in zip(keys, _shown(database, form, rows, keys, [value for _, value in batch])):
                if form.json:
                    out.write(b'{"key":%s,"value":%s}\n' % (_json_key(key, form), text))
                else:
                    out.write(_encoded(key, form.key) + separator + text + b"\n")
    return 0


class _Bounds:
    """Which records a scan reads, and in which order."""

    def __init__(self, arguments: Arguments, form: _Form) -> None:
        def key(option: str) -> Optional[bytes]:
            text = arguments.text(option)
            return None if text is None else form.key_of(os.fsencode(text), option)

        self._prefix, self._from, after, self._to = map(key, ("--prefix", "--from", "--after", "--to"))
        if after is not None:
            self._from = max(self._from or b"", after + b"\0")
        self._full = arguments.has("--full-scan")
        for option in ("--sorted", "--reverse"):
            reason = "a full scan prints records in the order in which they are stored; leave one out"
            arguments.refuse_together("--full-scan", option, reason)
        options = ("--reverse", "--sorted", "--prefix", "--from", "--after", "--to")
        self._given = [option for option in options if arguments.has(option)]
        self._bounded = any(option not in ("--reverse", "--sorted") for option in self._given)

    def records(self, database: bsdbkv.Database, values: bool) -> Iterator[tuple[bytes, bytes]]:
        """Pairs of key and value; without values, the value is empty."""
        if self._given and not self._full:
            self._require_order(database)
            bounds, reverse = (self._from, self._to, self._prefix), "--reverse" in self._given
            if values:
                return database.range(*bounds, reverse=reverse)
            return ((key, b"") for key in database.range(*bounds, reverse=reverse, values=False))
        records = iter(database.items()) if values else ((key, b"") for key in database)
        return (record for record in records if self._contain(record[0])) if self._bounded else records

    def count(self, database: bsdbkv.Database, limit: int) -> int:
        """The number of records, or the limit if that is less."""
        if self._given and not self._full:
            self._require_order(database)
            return min(limit, database.count(self._from, self._to, self._prefix))
        if not self._bounded:
            return min(limit, len(database))
        return sum(1 for _ in itertools.islice(self.records(database, False), limit))

    def _contain(self, key: bytes) -> bool:
        return (
            (self._prefix is None or key.startswith(self._prefix))
            and (self._from is None or key >= self._from)
            and (self._to is None or key < self._to)
        )

    def _require_order(self, database: bsdbkv.Database) -> None:
        if database.ordered:
            return
        option = self._given[0]
        sorts = option in ("--reverse", "--sorted")
        instead = f"replace {option} by --full-scan" if sorts else "add --full-scan"
        raise InputError(
            f"{database.path}: {option} needs the order of the keys, which this database does not store; build it with "
            f"bsdb build --ordered, or {instead} to read all records in the order in which they are stored"
        )


def stat(arguments: Arguments, console: Console) -> int:
    """Prints the figures of a database."""
    directory = place(arguments)
    if is_url(directory):
        raise UsageError("python -m bsdbkv stat takes a directory; for a URL use the Java command: bsdb stat -d URL")
    facts = _stat.Facts(directory, key_file(arguments, "--trust"))
    if arguments.has("--schema"):
        if facts.schema is None:
            raise InputError(f"{facts.directory}: the values are plain bytes, so no schema is stored")
        console.print(facts.schema)
    elif arguments.has("--json"):
        console.print(facts.for_programs())
    else:
        for name, figure in facts.for_people():
            console.print(f"{name:<27} {figure}")
    return 0


def verify(arguments: Arguments, console: Console) -> int:
    """Checks a database."""
    directory = place(arguments)
    content = arguments.has("--content")
    report, seconds = verified(opened(arguments, directory), directory, content)
    if arguments.has("--json"):
        report = {"directory": directory, **report, "seconds": seconds}
        console.print(json.dumps(report, ensure_ascii=False, separators=(",", ":")))
    elif not arguments.has("-q"):
        console.say(verified_words(directory, report, seconds, content))
    return 0


def verified(database: bsdbkv.Database, directory: str, content: bool = False) -> tuple[dict[str, Any], float]:
    """Verifies a database, or its content alone, and closes it; returns what was found, and how long it took."""
    began = time.monotonic()
    with database:
        try:
            found = database.verify(content=content)
        except bsdbkv.UnsupportedError:
            if not content:
                raise
            raise UsageError(
                f"--content: {directory} has no content hashes, because an older version wrote it; verify it whole, or "
                "build it anew"
            ) from None
        length = database.statistics["file_bytes"]
        report = {
            "records": len(database),
            "pages": length // 4096,
            "bytes": length,
            "contentChecked": bool(found["content_checked"]),
            "keysChecked": not content and not database.approximate,
        }
    return report, time.monotonic() - began


def verified_words(directory: str, report: dict[str, Any], seconds: float, content: bool = False) -> str:
    """A sentence that says what was verified."""
    checked = " read and found again" if report["keysChecked"] else " (approximate: no keys to look up)"
    checked = " (the content alone)" if content else checked
    older = "" if report["contentChecked"] else "; an older version wrote it, without content hashes"
    return (
        f"verified {directory}: {report['records']:,} records{checked}, {report['pages']:,} pages, "
        f"{report['bytes']:,} bytes in {seconds:.1f} s{older}"
    )


def show(key: bytes) -> str:
    """A key for messages: quoted text if it is printable UTF-8, otherwise hexadecimal digits. Long keys are cut."""
    head = key[:128]
    tail = f"... ({len(key)} bytes)" if len(key) > 128 else ""
    text = head.decode(errors="replace")
    clean = "\ufffd" not in text and not re.search("[\0-\x1f\x7f-\x9f]", text)
    return (f'"{text}"' if clean else "0x" + head.hex()) + tail


def _keys_of(arguments: Arguments) -> Iterator[bytes]:
    """The keys of --keys-from, one a line."""
    given = arguments.text("--keys-from")
    if given == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        yield from _lines(sys.stdin.buffer)
    elif given is not None:
        with open(os.fsencode(normal(given)), "rb") as file:
            yield from _lines(file)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    first = True
    for line in file:
        if first:
            first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
            if not line:
                continue
        yield line[:-2] if line.endswith(b"\r\n") else line.removesuffix(b"\n")


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


def _shown(
    database: Optional[bsdbkv.Database],
    form: _Form,
    rows: Optional[_json.RowWriter],
    keys: list[bytes],
    values: list[Any],
) -> list[Any]:
    """Values as they are written. With --json those of absent keys are null."""
    if not form.json:
        return [None if value is None else _encoded(value, form.value) for value in values]
    if database is not None and rows is not None:
        return [rows.write(database.get_row(key)).encode() for key in keys]
    texts = [None if value is None else _encoded(value, form.value) for value in values]
    return [_json.of_bytes(text).encode() for text in texts]


def _json_key(key: bytes, form: _Form) -> bytes:
    return _json.of_bytes(_encoded(key, form.key)).encode()


def _encoded(data: bytes, form: str) -> bytes:
    if form == "hex":
        return data.hex().encode()
    return base64.b64encode(data) if form == "base64" else data
