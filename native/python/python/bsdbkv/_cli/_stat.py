"""The figures of a database, from its manifests (FORMAT.md §6, §14)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Optional

import bsdbkv

from .. import _json
from ._syntax import shown

_PAGE = 4096
_MANIFEST = "manifest.bsdb"
_CURRENT = "CURRENT"
_MANY = 100


def is_place(path: str) -> bool:
    """Whether a path is that of a database or a store."""
    return any(os.path.isfile(os.path.join(path, name)) for name in (_MANIFEST, _CURRENT))


def current(path: str) -> str:
    """The database itself, or the current version of a store."""
    if os.path.isfile(os.path.join(path, _MANIFEST)) or not os.path.isfile(os.path.join(path, _CURRENT)):
        return path
    with bsdbkv.open(path) as database:
        return os.path.join(path, os.path.basename(database.path))


class Manifest:
    """The lines of a manifest."""

    def __init__(self, directory: str) -> None:
        path = os.path.join(directory, _MANIFEST)
        with open(path, "rb") as file:
            content = file.read()
        self.bytes = len(content)
        self.id = content[16:32].hex()
        pages = range(_PAGE, len(content) - _PAGE, _PAGE)
        text = b"".join(content[at : at + _PAGE - 4] for at in pages).rstrip(b"\0").decode()
        self._lines: list[tuple[str, str]] = []
        for line in filter(None, text.split("\n")):
            name, _, value = line.partition("=")
            self._lines.append((name, value))
        self._first: dict[str, str] = {}
        for name, value in reversed(self._lines):
            self._first[name] = value

    def text(self, name: str, otherwise: str = "") -> str:
        """The value of a line."""
        return self._first.get(name, otherwise)

    def number(self, name: str) -> int:
        """The value of a line as a number; 0 if there is none."""
        return int(self._first.get(name, "0"))

    def has(self, name: str) -> bool:
        """Whether there is a line."""
        return name in self._first

    def all(self, name: str) -> list[list[str]]:
        """The parts of all lines of a name."""
        return [value.split(" ") for line, value in self._lines if line == name]

    def files(self) -> Iterator[tuple[str, str, int, int]]:
        """The kind, name, length and end of each file."""
        for kind, number, pages, _, end in self.all("file"):
            prefix = f"data-{int(number):03}" if kind == "data" else kind
            yield kind, f"{prefix}-{self.id[:8]}.bsdb", _PAGE * int(pages), int(end)


class Facts:
    """What the manifests of a database or a set say. Opening it checks them."""

    def __init__(self, directory: str, trust: Optional[str] = None) -> None:
        with bsdbkv.open(directory, trust=trust) as database:
            self.schema = database.schema_json
            self._schema = database.schema
            self.id = database.id
        self.directory = directory
        own = Manifest(directory)
        self._set: Optional[Manifest] = None
        prefixes = {"": own}
        if own.text("layout") == "sharded":
            self._set = own
            held = _held(own.text("set.held"))
            shards = [f"shard-{int(number):05}-{id[:8]}" for number, id, _ in own.all("shard")]
            prefixes = {
                f"{name}/": Manifest(os.path.join(directory, name))
                for number, name in enumerate(shards)
                if held is None or number in held
            }
        self._all = list(prefixes.values())
        self._one = self._all[0]
        self.files: dict[str, int] = {}
        self._of_kind: dict[str, int] = {}
        self._dictionary = 0
        for prefix, manifest in prefixes.items():
            for kind, name, length, end in manifest.files():
                self.files[prefix + name] = length
                self._of_kind[kind] = self._of_kind.get(kind, 0) + length
                if kind == "dictionary":
                    self._dictionary += (end // _PAGE - 1) * (_PAGE - 4) + end % _PAGE
            self.files[prefix + _MANIFEST] = manifest.bytes
        if self._set is not None:
            self.files[_MANIFEST] = self._set.bytes

    def _sum(self, name: str) -> int:
        return sum(manifest.number(name) for manifest in self._all)

    def _most(self, name: str) -> int:
        return max(manifest.number(name) for manifest in self._all)

    def _kind_bytes(self, kind: str) -> int:
        return self._of_kind.get(kind, 0)

    def for_programs(self) -> str:
        """The figures as one JSON object."""
        one, of_set = self._one, self._set
        held = of_set.text("set.held") if of_set else ""
        figures: dict[str, Any] = {
            "directory": self.directory,
            "databaseId": self.id,
            "formatVersion": one.number("format"),
            "records": self._sum("records"),
            "layout": one.text("layout"),
            "approximateWidth": one.number("index.width"),
            "checksumBits": one.number("hash.checksum.bits"),
            "filterBits": one.number("filter.bits"),
            "filterBytes": self._kind_bytes("filter"),
            "ordered": one.has("order.levels"),
            "orderBytes": self._kind_bytes("order"),
            "shard": None if of_set else one.number("shard.number"),
            "shards": one.number("shard.count"),
            "heldShards": held or None,
            "wholeSetId": of_set.text("set.id") or None if of_set else None,
            "keyBytes": self._sum("bytes.key"),
            "valueBytes": self._sum("bytes.value"),
            "longestKey": self._most("longest.key"),
            "longestValue": self._most("longest.value"),
            "hashBytes": self._kind_bytes("hash"),
            "indexBytes": self._kind_bytes("index"),
            "dataBytes": self._kind_bytes("data"),
            "databaseBytes": sum(self.files.values()),
            "duplicatesDropped": self._sum("duplicates.dropped"),
            "hash": one.text("hash.kind"),
            "signature": one.text("hash.signature", "spooky"),
            "seed": one.number("hash.seed"),
            "blockSize": one.number("zstd.block"),
            "compressionLevel": one.number("zstd.level"),
            "dictionaryBytes": self._dictionary,
            "valueSchema": self.schema,
            "valueElements": one.text("value.elements") or None,
            "bins": self._sum("packed.bins"),
            "spanning": one.number("packed.spanning") == 1,
        }
        if of_set:
            figures["shardRecords"] = [manifest.number("records") for manifest in self._all]
        figures["fileBytes"] = self.files
        members = (
            f'"{name}":{figure if name == "valueSchema" and figure else _json.compact(figure)}'
            for name, figure in figures.items()
        )
        return "{%s}" % ",".join(members)

    def for_people(self) -> Iterator[tuple[str, str]]:
        """The names and texts of the figures."""
        one, of_set = self._one, self._set
        records, bins = self._sum("records"), self._sum("packed.bins")

        def sized(length: int) -> str:
            return f"{length:,} bytes" + (f", {length / records:.2f} a record" if records else "")

        yield "database", shown(self.directory)
        yield "id", self.id
        yield "format", one.text("format")
        yield "kind", self._kind()
        yield "records", f"{records:,}"
        yield "duplicates dropped", f"{self._sum('duplicates.dropped'):,}"
        if not bins:
            yield "checksum bits", f"{one.number('hash.checksum.bits')} a key"
        yield "signatures", f"{one.text('hash.signature', 'spooky')}, seed {one.number('hash.seed')}"
        yield "keys", f"{self._sum('bytes.key'):,} bytes, the longest {self._most('longest.key'):,}"
        yield "values", f"{self._sum('bytes.value'):,} bytes, the longest {self._most('longest.value'):,}"
        if self._schema is not None:
            columns = len(self._schema.get("fields", ()))
            yield "typed rows", f"{columns:,} column{'' if columns == 1 else 's'}"
        if one.has("value.elements"):
            yield "elements of a value", one.text("value.elements")
        shards = one.number("shard.count")
        if of_set:
            held = of_set.text("set.held")
            each = [manifest.number("records") for manifest in self._all]
            share = f"{held} of " if held else ""
            yield "shards", f"{share}{shards:,}, of {min(each):,} to {max(each):,} records"
            if held:
                yield "whole set", of_set.text("set.id")
        elif shards > 1:
            yield "shard", f"{one.number('shard.number')} of {shards}"
        if bins:
            yield "bins", f"{bins:,}, " + ("spanning pages" if one.number("packed.spanning") else "within pages")
        else:
            yield "hash function", f"{one.text('hash.kind')}, {sized(self._kind_bytes('hash'))}"
        yield "index", sized(self._kind_bytes("index"))
        if one.has("filter.bits"):
            yield "filter", f"{one.number('filter.bits')} bits a key, {sized(self._kind_bytes('filter'))}"
        if one.has("order.levels"):
            yield "order of keys", sized(self._kind_bytes("order"))
        yield "data", sized(self._kind_bytes("data"))
        yield "all files", sized(sum(self.files.values()))
        for file, figure in file_lines(self.files):
            yield "  " + file, figure

    def _kind(self) -> str:
        one = self._one
        if one.number("index.width"):
            return f"approximate, at most {one.number('index.width')} bytes of each value"
        if not one.number("zstd.block"):
            return f"exact, {one.text('layout')}"
        dictionary = f"dictionary of {self._dictionary:,}" if self._dictionary else "no dictionary"
        return (
            f"exact, {one.text('layout')}: ZSTD level {one.number('zstd.level')}, blocks of "
            f"{one.number('zstd.block'):,}, {dictionary}"
        )


def file_lines(files: dict[str, int]) -> Iterator[tuple[str, str]]:
    """The sizes of files for people: a line each, of a set one for each shard, or one for all if they are many."""
    directories: dict[str, int] = {}
    for file, length in files.items():
        if "/" in file:
            name = file[: file.index("/") + 1]
            directories[name] = directories.get(name, 0) + length
    if len(directories) > _MANY:
        sizes = directories.values()
        yield f"{len(directories):,} directories", f"{min(sizes):,} to {max(sizes):,} each"
    else:
        for name, length in directories.items():
            yield name, f"{length:,}"
    for file, length in files.items():
        if "/" not in file:
            yield file, f"{length:,}"


def _held(text: str) -> Optional[set[int]]:
    """The numbers of the shards that a partial set holds."""
    if not text:
        return None
    held: set[int] = set()
    for numbers in text.split(","):
        first, _, last = numbers.partition("-")
        held.update(range(int(first), int(last or first) + 1))
    return held
