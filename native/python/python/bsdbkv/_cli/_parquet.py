"""Parquet files as the input of ``build``: which files, which of their columns, and their rows. Needs pyarrow."""

from __future__ import annotations

import glob
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Callable, NamedTuple, Optional

import bsdbkv

from .. import _bsdb
from .._database import _require
from ._input import InputError, _is_database, _name, _paths, reason
from ._syntax import Arguments, UsageError, normal, resolve, shown

# What needs the Java command.
UNCOVERED = (
    "--as-of --columns --int96 --widen --where --include --exclude --raw-files -nn --hadoop-conf --hadoop-set"
    " --principal --keytab"
).split()

# Rows that are encoded at a time.
_ROWS = 1 << 14

# Row groups from which a dictionary's sample comes, at most.
_SAMPLED = 16

# Directories whose log says which of their files are current, by the name of the log.
_TABLES = {
    b"_delta_log": "a Delta Lake table",
    b"metadata": "an Iceberg table",
    b".hoodie": "a Hudi table",
    b"_spark_metadata": "the output of Spark Structured Streaming",
}


class Columns(NamedTuple):
    """What of a row becomes the key and the value."""

    keys: list[str]
    join: Optional[bytes]
    fields: Optional[list[str]]
    raw: Optional[str]

    def read(self, names: Sequence[str]) -> Optional[list[str]]:
        """Which columns of a file must be read; None for all."""
        if self.fields is None and self.raw is None:
            return None
        keys = [key if key in names else key.partition(".")[0] for key in self.keys]
        return list(dict.fromkeys([*keys, *(self.fields or ()), *([self.raw] if self.raw is not None else ())]))


class Choice(NamedTuple):
    """What the options say about the rows."""

    inputs: list[str]
    columns: Columns
    partitions: bool
    skip: bool
    empty_keys: bool

    @staticmethod
    def of(arguments: Arguments) -> Choice:
        """Reads the options."""
        if arguments.choice("--format", ("text", "parquet"), "parquet") == "text":
            raise UsageError("--format text: this command reads Parquet only (bsdb build and bsdb merge read both)")
        inputs = arguments.all("-i")
        if not inputs or "" in inputs:
            raise UsageError("no input given (-i); for example: bsdb build-parquet -i users.parquet -kf id -o ./rdb")
        if "-" in inputs:
            raise UsageError(
                "-i -: Parquet is read from its end, so standard input cannot be used; name a file"
            )
        for given in inputs:
            if re.match("[A-Za-z][A-Za-z0-9+.-]+:/", given):
                raise UsageError(
                    f"-i {given}: a URI is not covered by python -m bsdbkv; copy the files to this machine, or use the "
                    "Java command: bsdb build-parquet"
                )
        skip = arguments.choice("--on-bad-line", ("fail", "skip"), "fail") == "skip"
        if not skip:
            arguments.refuse(("--rejects",), "needs --on-bad-line skip")
        arguments.refuse_together("--value-raw", "--value-fields", "the value is one column's bytes, or a row")
        keys = arguments.text("-kf")
        if keys is None:
            raise UsageError("no key column given (-kf); for example: -kf user_id")
        join = arguments.text("--key-join")
        if join is None:
            arguments.refuse_empty("-kf", "a column")
            names = [_names("-kf", keys, False)[0]]
        else:
            names = _names("-kf", keys)
            if len(names) == 1:
                raise UsageError("--key-join is for several columns, as in -kf a,b")
        fields = arguments.text("--value-fields")
        columns = Columns(
            names,
            None if join is None else os.fsencode(resolve("--key-join", join)),
            None if fields is None else _names("--value-fields", fields),
            arguments.text("--value-raw"),
        )
        partitions = arguments.choice("--partitions", ("infer", "text", "ignore"), "infer") != "ignore"
        return Choice(inputs, columns, partitions, skip, arguments.has("--allow-empty-key"))

    def find(self, databases: list[str]) -> list[str]:
        """The files, in the order of reading. Databases that are left out are added to a list."""
        found: list[bytes] = []
        for given in self.inputs:
            path = os.fsencode(normal(given))
            try:
                if re.search(r"[*?\[{]", given) and not os.path.exists(path):
                    below = [file for match in _matches(given) for file in _paths_of(match, databases)]
                    if not below:
                        raise InputError(f"{shown(given)}: no file matches the pattern")
                    found += below
                else:
                    found += _paths(path, databases)
            except OSError as error:
                raise InputError(f"{shown(given)}: {reason(error)}") from None
        log_of = cache(_log)
        for file in found:
            _refuse_tables(file, log_of)
            directory = os.path.dirname(os.path.abspath(file))
            partition = next((name for name in reversed(directory.split(b"/")) if b"=" in name), None)
            if partition is not None and self.partitions:
                raise InputError(
                    f"{_name(file)}: the directory {_name(partition)} stands for a column, which is not covered by "
                    "python -m bsdbkv; leave such columns out with --partitions ignore, or use the Java command: bsdb "
                    "build-parquet"
                )
        return [os.fsdecode(file) for file in found]


def _names(option: str, text: str, several: bool = True) -> list[str]:
    """Names that are separated by commas, where a backslash is before a comma or backslash that belongs to a name."""
    if re.search(r"(?<!\\)(\\\\)*\\(?![\\,])", text):
        raise UsageError(
            f"{option} {text} has a backslash before neither a comma nor a backslash (in a name, \\, is a comma and "
            "\\\\ a backslash)"
        )
    parts = re.findall(r"(?:^|,)((?:\\.|[^,\\])*)", text) if several else [text]
    names = [re.sub(r"\\(.)", r"\1", part) for part in parts]
    if "" in names:
        raise UsageError(f"{option} {text} has an empty name")
    for at, name in enumerate(names):
        if name in names[:at]:
            raise UsageError(f"{option} names {name} twice")
    return names


def _matches(pattern: str) -> list[bytes]:
    """The files and directories that a pattern stands for, without those below others of them."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces:
        head, tail = pattern[: braces.start()], pattern[braces.end() :]
        each = [match for part in braces.group(1).split(",") for match in _matches(head + part + tail)]
    else:
        each = [os.fsencode(match) for match in glob.glob(pattern, recursive=True)]
    hidden = re.search(r"(^|[/{,])[._]", pattern)
    kept: list[bytes] = []
    for match in sorted(set(each)):
        above = any(match.startswith(one + b"/") for one in kept)
        if not above and (hidden or not os.path.basename(match).startswith((b".", b"_"))):
            kept.append(match)
    return kept


def _paths_of(match: bytes, databases: list[str]) -> list[bytes]:
    if os.path.isdir(match) and _is_database(match):
        databases.append(os.fsdecode(match))
        return []
    return _paths(match, databases)


def _refuse_tables(file: bytes, log_of: Callable[[bytes], Optional[bytes]]) -> None:
    """Rejects files of tables, some of which hold rows that were deleted."""
    for path in {os.path.abspath(file), os.path.realpath(file)}:
        while path != b"/":
            path = os.path.dirname(path)
            log = log_of(path)
            if log is not None:
                raise InputError(
                    f"{_name(path)}: is {_TABLES[log]} ({log.decode()}), whose directory still holds files of rows "
                    "that were deleted or replaced; write its current rows to a plain directory with the engine it "
                    "belongs to (Spark, Trino, DuckDB) and build from that"
                )


def _log(directory: bytes) -> Optional[bytes]:
    """The name of the log in a directory that is a table."""
    for log in _TABLES:
        place = os.path.join(directory, log)
        if os.path.isdir(place):
            if log != b"metadata" or glob.glob(glob.escape(os.fsdecode(place)) + "/*.metadata.json*"):
                return log
    return None


class Rows:
    """The rows of files."""

    def __init__(self, choice: Choice, paths: list[str]) -> None:
        """Reads the footers of all files, which must have the same types."""
        self._choice = choice
        self._arrow = _require("pyarrow.parquet")  # which is pyarrow, with its module parquet
        self._paths = paths
        self._names = [shown(path) for path in paths]
        self.rows = 0
        self.schema: Optional[str] = None
        self._groups: list[tuple[int, int]] = []
        self._bytes = 0
        for at, path in enumerate(paths):
            file, columns = self._open(at)
            with file:
                own = file.schema_arrow if columns is None else file.read_row_groups([], columns=columns).schema
                schema = self._schema_of(at, own.empty_table())
                if at == 0:
                    self.schema = schema
                elif schema != self.schema:
                    raise InputError(
                        f"{self._names[at]}: its columns differ from those of {self._names[0]}, in names, order or "
                        "types, which is not covered by python -m bsdbkv; name the same columns with --value-fields, or "
                        "use the Java command: bsdb build-parquet"
                    )
                self.rows += file.metadata.num_rows
                for group in range(file.num_row_groups):
                    self._groups.append((at, group))
                    self._bytes += _stored(file.metadata.row_group(group), columns)
        self._runs: list[tuple[int, int, int]] = []
        self._rejected: dict[str, int] = {}

    def _open(self, at: int) -> tuple[Any, Optional[list[str]]]:
        """A file, and the columns of it that are read."""
        parquet = self._arrow.parquet
        name, choice = self._names[at], self._choice
        if not os.path.isfile(self._paths[at]):
            raise InputError(f"{name}: a pipe, a socket or a device; Parquet is read from the end of a file")
        try:
            file = parquet.ParquetFile(self._paths[at], **_extensions(parquet))
            names = file.schema_arrow.names
        except (self._arrow.lib.ArrowException, OSError) as error:
            raise InputError(f"{name}: cannot be read as Parquet: {_first_line(error)}") from None
        columns = choice.columns.read(names)
        for column in columns or ():
            if column not in names:
                listed = ", ".join(names[:30]) + (" and others" if len(names) > 30 else "")
                raise InputError(f"{name}: has no column {column} (it has {listed})")
        read = set(names if columns is None else columns)
        leaves = [file.schema.column(i) for i in range(len(file.schema))]
        for leaf in leaves:
            if leaf.physical_type == "INT96" and leaf.path.split(".")[0] in read:
                raise InputError(
                    f"{name}: column {leaf.path} has timestamps of 96 bits, which are not covered by python -m bsdbkv; "
                    "leave it out with --value-fields, or use the Java command: bsdb build-parquet"
                )
        times = any(re.search("date32|timestamp", str(file.schema_arrow.field(each).type)) for each in sorted(read))
        if times and _is_julian(file.metadata.metadata or {}):
            raise InputError(
                f"{name}: its dates and timestamps are in the calendar of old versions of Spark or Hive, which is not "
                "covered by python -m bsdbkv; use the Java command: bsdb build-parquet"
            )
        return file, columns

    def _schema_of(self, at: int, empty: Any) -> Optional[str]:
        keys, join, fields, raw = self._choice.columns
        try:
            return _bsdb._encode(empty, keys, join, fields, raw)[0]
        except (ValueError, TypeError) as error:
            raise InputError(f"{self._names[at]}: {error}") from None

    def feed(self, builder: _bsdb.Builder, rejects: Optional[str]) -> None:
        """Adds all rows to a build. Rows that are left out go to a file."""
        with open(os.devnull if rejects is None else rejects, "w", encoding="utf-8") as out:
            records = 0
            for at, name in enumerate(self._names):
                row = 0
                self._runs.append((records, at, 0))
                for batch in self._batches(at):
                    left = self._add(builder, batch, at, row, records, out.write)
                    row += batch.num_rows
                    records += batch.num_rows - left

    def _batches(self, at: int) -> Iterator[Any]:
        file, columns = self._open(at)
        with file:
            batches = file.iter_batches(_ROWS, columns=columns)
            while True:
                try:
                    batch = next(batches, None)
                except (self._arrow.lib.ArrowException, OSError) as error:
                    raise InputError(f"{self._names[at]}: damaged: {_first_line(error)}") from None
                if batch is None:
                    return
                yield batch

    def _add(
        self, builder: _bsdb.Builder, batch: Any, at: int, first: int, records: int, write: Callable[[str], Any]
    ) -> int:
        """Adds a batch; returns how many rows of it were left out."""
        left = 0

        def bad(row: int, label: str, reason: str) -> None:
            nonlocal left
            place = f"{self._names[at]}: row {first + row + 1}"
            reason = reason.partition(";")[0]
            if not self._choice.skip:
                allow = "--allow-empty-key allows it, " if label == "empty key" else ""
                raise InputError(f"{place}: {reason} ({allow}--on-bad-line skip leaves such rows out)")
            write(f"{place}: {shown(reason)}\n")
            self._rejected[label] = self._rejected.get(label, 0) + 1
            left += 1
            run = (records + row + 1 - left, at, first + row + 1)
            if self._runs[-1][0] == run[0]:
                self._runs[-1] = run  # no record lies between
            else:
                self._runs.append(run)

        keys, join, fields, raw = self._choice.columns
        builder.add_arrow(batch, keys, join, fields, raw, bad, self._choice.empty_keys)
        return left

    def sample(self, builder: _bsdb.Builder, records: int) -> None:
        """Gives a build samples for its dictionary: the first rows of row groups from all parts of the input."""
        groups = min(len(self._groups), _SAMPLED)
        given = 0
        keys, join, fields, raw = self._choice.columns
        for i in range(groups):
            if given >= records:
                break
            at, group = self._groups[i * len(self._groups) // groups]
            wanted = max(1, (records - given) // (groups - i))
            file, columns = self._open(at)
            with file:
                for batch in file.iter_batches(_ROWS, row_groups=[group], columns=columns):
                    batch = batch.slice(0, wanted)
                    for pair in self._pairs(batch, keys, join, fields, raw):
                        builder.sample(*pair)
                        given += 1
                        wanted -= 1
                    if wanted == 0:
                        break

    def _pairs(self, batch: Any, *columns: Any) -> Iterator[tuple[bytes, bytes]]:
        try:
            yield from _bsdb._encode(batch, *columns)[1]
        except bsdbkv.RowError:  # leaves out the rows that are no records
            for row in range(batch.num_rows):
                try:
                    yield from _bsdb._encode(batch.slice(row, 1), *columns)[1]
                except bsdbkv.RowError:
                    pass

    def place(self, record: int) -> str:
        """The file and row of a record."""
        start, at, row = self._runs[bisect_right(self._runs, (record, len(self._names), 0)) - 1]
        return f"{self._names[at]}: row {row + record - start + 1}"

    def report(self) -> dict[str, Any]:
        """What was read."""
        return {
            "files_read": len(self._names),
            "rows": self.rows,
            "rejected": sum(self._rejected.values()),
            "rejected_by_reason": dict(sorted(self._rejected.items())),
            "bytes_read": self._bytes,
        }


def _extensions(parquet: Any) -> dict[str, bool]:
    """Lets pyarrow tell UUIDs from other binary columns, if it can."""
    from inspect import signature

    name = "arrow_extensions_enabled"
    return {name: True} if name in signature(parquet.ParquetFile.__init__).parameters else {}


def _is_julian(metadata: dict[bytes, bytes]) -> bool:
    version = metadata.get(b"org.apache.spark.version", b"")
    old = re.match(rb"[0-2]\.", version) is not None
    return old or b"org.apache.spark.legacyDateTime" in metadata or metadata.get(b"writer.date.proleptic") == b"false"


def _stored(group: Any, columns: Optional[list[str]]) -> int:
    """The bytes of the columns of a row group, compressed."""
    leaves = (group.column(i) for i in range(group.num_columns))
    read = (leaf for leaf in leaves if columns is None or leaf.path_in_schema.split(".")[0] in columns)
    return sum(leaf.total_compressed_size for leaf in read)


def _first_line(error: BaseException) -> str:
    return shown((str(error).splitlines() or [type(error).__name__])[0])
