"""Builds of databases."""

from __future__ import annotations

import datetime
import decimal
import difflib
import json
import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from types import TracebackType
from typing import Any, Callable, Optional, Union

from . import _bsdb
from ._database import _require

__all__ = ["Builder", "Built", "Changes", "build", "sign"]

_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_Bytes = Union[bytes, bytearray, memoryview, str]
_Progress = Union[bool, Callable[[str, int, Optional[int]], object], None]

_OPTIONS = (
    "layout",
    "checksum_bits",
    "filter_bits",
    "block_bytes",
    "compression_level",
    "dictionary_bytes",
    "sample_records",
    "data_files",
    "shards",
    "duplicates",
    "ordered",
    "value_schema",
    "value_elements",
    "seed",
    "sign_key",
    "overwrite",
    "memory_bytes",
    "threads",
    "temporary_directory",
)

# Dicts that become one table.
_DICTS = 1 << 14

# What to do about dicts that do not have the same types.
_HOW = "or pass a pyarrow Table with a schema"

# Types of Python of which a column of dicts has one. Those that come from others go first.
_KINDS = (bool, int, float, str, bytes, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)

# Bytes of vectors that are passed on at a time, about.
_BYTES = 1 << 20

_ELEMENTS = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "u1": "u8", "i2": "i16", "i4": "i32", "i8": "i64"}


@dataclass(frozen=True)
class Changes:
    """What a merge did with the records of the base and with the changes."""

    kept: int
    """Records of the base that were carried over."""
    replaced: int
    """Records of the base that got another value, or the same one again."""
    added: int
    """Records whose key was not in the base."""
    deleted: int
    """Records of the base that were deleted."""
    deleted_absent: int
    """Deletions of keys that were not in the base."""
    superseded: int
    """Changes that another change of the same key made void."""


@dataclass(frozen=True)
class Built:
    """What a build made."""

    path: str
    """The directory."""
    id: str
    """The id: 32 hexadecimal digits that depend on every byte of the database."""
    records: int
    """Records that lookups find."""
    dropped: int
    """Records that were dropped in favor of another with the same key."""
    key_bytes: int
    """Bytes of all keys that were added."""
    value_bytes: int
    """Bytes of all values that were added."""
    bytes: int
    """Bytes of all files."""
    dictionary_bytes: int
    """Bytes of the dictionary, or of those of all shards."""
    warnings: tuple[str, ...] = ()
    """What failed after the database was published. It is complete and can be used."""
    changes: Optional[Changes] = None
    """What a merge did; None of other builds."""


class Builder:
    """Builds a database from records that are added one after the other.

        with bsdbkv.Builder("rdb") as builder:
            builder.add("apple", "red")
            builder.add_many({"pear": "green"}.items())

    A build is a transaction: the database appears at the end of the block, complete, or not at all. If the block ends
    with an error, Ctrl-C included, what was written is removed. Without a block, call ``finish`` or ``abort``.

    ``options`` are those of ``build``, and so is ``progress``. A builder can be used by one thread at a time; while it
    works, other threads run.
    """

    def __init__(self, path: _Path, *, progress: _Progress = None, **options: Any) -> None:
        self._progress = _listener(progress)
        self._native = _bsdb.Builder(_checked(path), _settings(options), self._progress)
        self._built: Optional[Built] = None

    def add(self, key: _Bytes, value: _Bytes) -> None:
        """Add a record. A str is encoded as UTF-8."""
        self._native.add(key, value)

    def add_many(self, records: Union[Mapping[Any, Any], Iterable[tuple[_Bytes, _Bytes]]]) -> None:
        """Add pairs of key and value, or the items of a mapping. Much quicker than ``add``."""
        try:
            self._native.add_many(records.items() if isinstance(records, Mapping) else records)
        except UnicodeEncodeError as error:
            reason = f"{error.reason}, in the text {error.object!r} of a record"
            raise UnicodeEncodeError(error.encoding, error.object, error.start, error.end, reason) from None

    def add_arrow(
        self,
        table: Any,
        key: Union[str, Sequence[str]],
        value: Union[str, Sequence[str], None] = None,
        key_join: Union[str, bytes, None] = None,
    ) -> None:
        """Add the rows of a table: anything with the method ``__arrow_c_stream__``, such as a DataFrame of Polars or
        pandas, a pyarrow Table or RecordBatchReader; or a pyarrow dataset.

        ``key`` names the key column, or several, whose texts are joined by ``key_join``; ``a.b`` is a field of a
        struct. ``value`` names a column of text or binary, whose bytes are the value, or is a list of the columns of a
        typed row. By default, the row has all columns. Keys and rows are those of ``bsdb build-parquet``. A ``value``
        that is a fixed-size list of numbers, such as an Array of Polars, makes vectors: see ``add_vectors``.
        """
        columns, raw = (None, value) if value is None or isinstance(value, str) else (_names("value", value), None)
        names = [key] if isinstance(key, str) else _names("key", key)
        join = key_join.encode() if isinstance(key_join, str) else key_join
        if join is not None and not isinstance(join, bytes):
            raise TypeError(f"key_join must be str or bytes, not {type(join).__name__}")
        self._native.add_arrow(_stream(table), names, join, columns, raw)

    def add_vectors(self, keys: Any, vectors: Any) -> None:
        """Add a vector for each key: row i of ``vectors`` is the value of key i.

        ``vectors`` has the shape (n, d) and numbers of the types float16, 32 or 64, int8, 16, 32 or 64, or uint8. It is an
        array of NumPy, or anything with ``__dlpack__`` in the memory of the CPU, ``__array__`` or a buffer, such as
        a tensor of PyTorch. It is read in parts of 1 MiB, also from a memory map, and not copied as a whole. ``keys``
        is as for ``Database.get_many``.

        The database states the type and d, which are the same for all vectors: ``Database.elements``.
        """
        numpy = _require("numpy")
        array = _array(numpy, vectors)
        count, width = array.shape
        name = _ELEMENTS.get(array.dtype.str[1:])
        if name is None:
            known = "float16, float32, float64, int8, int16, int32, int64 and uint8"
            raise TypeError(
                f"vectors hold {known}, not {array.dtype}; convert them, for example with astype('float32')"
            )
        if width == 0:
            raise ValueError(f"expected vectors of at least one element, not an array of shape {array.shape}")
        step = max(1, _BYTES // (width * array.dtype.itemsize))
        little = array.dtype.newbyteorder("<")
        parts = (array[i : i + step].astype(little, copy=False).tobytes() for i in range(0, count, step))
        self._native.add_vectors(keys, count, f"{name} {width}", parts)

    def add_records(
        self,
        records: Any,
        *,
        key: Union[str, Sequence[str], None] = None,
        value: Union[str, Sequence[str], None] = None,
        key_join: Union[str, bytes, None] = None,
    ) -> None:
        """Add records in any of the forms that ``build`` takes."""
        if not isinstance(records, Mapping):
            stream = _stream(records, None)
            if stream is not None:
                return self.add_arrow(stream, () if key is None else key, value, key_join)
            if isinstance(records, (str, bytes, bytearray, memoryview)) or not isinstance(records, Iterable):
                kind = type(records).__name__
                hint = "; call its method collect" if hasattr(records, "collect") else ""
                raise TypeError(f"expected a mapping, pairs of key and value, or a table, not {kind}{hint}")
            items = iter(records)
            first = next(items, _FAIL)
            if first is _FAIL:
                return None
            if first is None:
                raise TypeError("records[0] is None; expected a pair of key and value, a dict or a table")
            records = chain([first], items)
            if isinstance(first, Mapping):
                return self._add_dicts(records, key, value, key_join)
            if _stream(first, None) is not None:
                for table in records:
                    self.add_arrow(table, () if key is None else key, value, key_join)
                return None
        if key is not None or value is not None or key_join is not None:
            raise TypeError("key, value and key_join name columns of tables, and these records are pairs")
        return self.add_many(records)

    def _add_dicts(self, dicts: Iterator[Any], key: Any, value: Any, key_join: Any) -> None:
        if isinstance(key, str) and isinstance(value, str):
            return self._native.add_many(_pairs(dicts, key, value))
        pyarrow = _require("pyarrow")
        base, schema = self._base_schema()
        if schema is not None and not isinstance(value, str):
            return self._add_dicts_to(base, schema, dicts, key, value, key_join)
        fields: dict[str, Any] = {}
        place = 0
        while rows := list(islice(dicts, _DICTS)):
            table = _inferred(pyarrow, rows, place)
            if place == 0:
                fields = {field.name: field for field in table.schema}
            else:
                for field in table.schema:
                    if field.name not in fields:
                        raise TypeError(
                            f"the first {_DICTS} dicts have no field {field.name!r}; add it to the first one, {_HOW}"
                        )
                    other = _differs(pyarrow, field.name, fields[field.name].type, field.type)
                    if other is not None:
                        name, before, after = other
                        raise TypeError(
                            f"these dicts have no common types: the field {name!r} is {before} in the first {_DICTS}, "
                            f"but {after} from records[{place}] on; convert it, {_HOW}"
                        )
                table = _converted(pyarrow, rows, place, pyarrow.schema(list(fields.values())))
            self.add_arrow(table, () if key is None else key, value, key_join)
            place += len(rows)
        return None

    def _base_schema(self) -> tuple[str, Any]:
        """The path of the base of a merge, and the schema of its rows in pyarrow; None if there is none."""
        return "", None

    def _add_dicts_to(self, base: str, schema: Any, dicts: Iterator[Any], key: Any, value: Any, key_join: Any) -> None:
        """Add dicts as rows that have the columns and types of a base."""
        pyarrow = _require("pyarrow")
        keys = () if key is None else [key] if isinstance(key, str) else _names("key", key)
        fields = {field.name: field for field in schema}
        if value is None:
            value = list(fields)
        else:
            value = _names("value", value)
            if set(value) == set(fields):
                value = list(fields)
        place = 0
        while rows := list(islice(dicts, _DICTS)):
            table = _inferred(pyarrow, rows, place)
            for field in table.schema:
                if field.name not in fields:
                    if not any(own == field.name or own.startswith(f"{field.name}.") for own in keys):
                        if field.name in value or value == schema.names:
                            raise TypeError(
                                f"the rows of the base {base} have no column {field.name!r}; "
                                f"leave the field out of the dicts"
                            )
                        continue
                    fields[field.name] = field  # of the key only
                    continue
                other = _differs(pyarrow, field.name, fields[field.name].type, field.type, exact=False)
                if other is not None:
                    name, before, after = other
                    raise TypeError(
                        f"the column {name!r} of the base {base} is {before}, but the field of these dicts, from "
                        f"records[{place}] on, is {after}; convert it, {_HOW}"
                    )
            for field in schema:
                if not field.nullable:
                    for i, row in enumerate(rows, place):
                        if row.get(field.name) is None:
                            raise TypeError(
                                f"records[{i}]: the column {field.name!r} of the base {base} holds no None; "
                                f"give the field a value"
                            )
            table = _converted(pyarrow, rows, place, pyarrow.schema(list(fields.values())))
            self.add_arrow(table, keys, value, key_join)
            place += len(rows)

    def sample(self, key: _Bytes, value: _Bytes) -> None:
        """Add a record for training the ZSTD dictionary, which then uses no others. All samples come before the first
        record. The record itself is not added to the database."""
        self._native.sample(key, value)

    @property
    def records(self) -> int:
        """The number of records that were added."""
        return self._native.records

    @property
    def built(self) -> Optional[Built]:
        """What was built, once the build is finished."""
        return self._built

    def finish(self) -> Built:
        """Write the database, force it to the device and publish it at the path."""
        try:
            built = self._native.finish()
            changes = built.pop("changes", None)
            self._built = Built(**built, changes=None if changes is None else Changes(**changes))
        finally:
            _end(self._progress)
        return self._built

    def abort(self) -> None:
        """Remove what was written. Does nothing if the build has ended. A call that works meanwhile, in another thread
        or as the caller of this one, ends with an error and removes it."""
        self._native.abort()
        _end(self._progress)

    def __enter__(self) -> Builder:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is not None:
            self.abort()
        elif self._native.open:
            try:
                self.finish()
            except BaseException:
                self.abort()
                raise


def build(
    path: _Path,
    records: Any,
    vectors: Any = None,
    *,
    key: Union[str, Sequence[str], None] = None,
    value: Union[str, Sequence[str], None] = None,
    key_join: Union[str, bytes, None] = None,
    progress: _Progress = None,
    **options: Any,
) -> Built:
    """Build a database at a path from records, and return what was built.

    ``records`` is one of:

    - a mapping, or an iterable of pairs of key and value: bytes, bytearray, memoryview, or str, encoded as UTF-8
    - a table: anything with ``__arrow_c_stream__``, such as a DataFrame of Polars or pandas, a pyarrow Table or
      RecordBatchReader; a pyarrow dataset; an iterable of such tables
    - an iterable of dicts
    - keys, with ``vectors``, an array of shape (n, d): see ``Builder.add_vectors``

    ``key``, ``value`` and ``key_join`` say which columns of tables and dicts become the keys and values: see
    ``Builder.add_arrow``. ``progress`` is True for a bar of tqdm, or a line on a terminal if there is no tqdm; or a
    function of the stage, how much of it is done, and of how much, or None if that is not known.

    The database is the one that the command ``bsdb build`` makes of the same records and options, byte for byte. It
    appears at the path complete or, after an error or Ctrl-C, not at all. Options:

    - ``layout``: "packed", "packed-compressed", "blocked", "compact" or "compressed"
    - ``ordered``: whether to store the order of the keys, for ``range`` and ``count``
    - ``duplicates``: "error", or which record of a key to keep, the "first" or the "last"
    - ``overwrite``: whether to replace a database at the path
    - ``checksum_bits``, ``filter_bits``, ``block_bytes``, ``compression_level``, ``dictionary_bytes``,
      ``sample_records``, ``data_files``, ``shards``, ``seed`` (a number, or "random"), ``value_schema`` (Avro, of
      values that are encoded rows): as for the command
    - ``value_elements``: what all values are, such as "f32 384", if they are the bytes of vectors, little-endian
    - ``sign_key``: the file of a private key of Ed25519 that signs the database, for readers that ``trust`` its public key
    - ``memory_bytes``, ``threads``, ``temporary_directory``: what the build may use
    """
    with Builder(path, progress=progress, **options) as builder:
        if vectors is None:
            builder.add_records(records, key=key, value=value, key_join=key_join)
        elif key is not None or value is not None or key_join is not None:
            raise TypeError("key, value and key_join name columns of tables, and these records are keys and vectors")
        else:
            builder.add_vectors(records, vectors)
        return builder.finish()


def sign(path: _Path, sign_key: _Path) -> None:
    """Sign a database, or a set of shards, for readers that require it: see ``trust`` of ``open``.

    ``sign_key`` is a file with a private key of Ed25519, as ``openssl genpkey -algorithm ed25519`` writes it. The
    signature is a part of the file ``manifest.bsdb``, which is replaced in one step; nothing else of the database
    changes, nor does its id. Sign before you publish or copy it. ``build`` with ``sign_key`` signs at once.
    """
    _bsdb._sign(_checked(path), sign_key)


def _settings(options: dict[str, Any]) -> list[tuple[str, str]]:
    """Options as text; those that are None are left out."""
    settings = []
    for name, value in options.items():
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, 1)
            guess = f"did you mean {near[0]}?" if near else f"the options are {', '.join(_OPTIONS)}"
            raise TypeError(f"there is no option {name}; {guess}")
        if value is None:
            continue
        if name == "seed" and value == "random":
            value = secrets.randbits(63)
        elif name == "value_schema":
            if not isinstance(value, str):
                value = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
            _check_schema(value)
        elif name in ("temporary_directory", "sign_key"):
            value = os.fsdecode(value)
        elif type(value).__module__ == "numpy" and isinstance(value, getattr(sys.modules["numpy"], "bool_", ())):
            value = "true" if value else "false"
        elif isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, float):
            raise TypeError(f"the option {name} must be a whole number, not {value!r}")
        settings.append((name, str(value)))
    return settings


def _checked(path: _Path) -> _Path:
    if b"\0" in os.fsencode(path):
        raise ValueError(f"the path {path!r} has a NUL character")
    return path


def _check_schema(text: str) -> None:
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the option value_schema is not JSON: {error}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ValueError("the option value_schema must be an Avro schema of the type record, an object of JSON")


def _names(option: str, names: Any) -> list[str]:
    """The names of columns."""
    if isinstance(names, (bytes, bytearray, memoryview)) or not isinstance(names, Iterable):
        raise TypeError(f"{option} must be the name of a column, a str, or a list of them, not {names!r}")
    columns: list[str] = []
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{option} must hold names of columns, each a str, not {name!r}")
        columns.append(name)
    return columns


_FAIL: Any = object()


def _stream(table: Any, default: Any = _FAIL) -> Any:
    """The object with the method __arrow_c_stream__ for a table; the default if there is none."""
    if hasattr(table, "__arrow_c_stream__"):
        polars: Any = sys.modules.get("polars")
        is_polars = polars is not None and isinstance(table, getattr(polars, "DataFrame", ()))
        if is_polars:
            for name, kind in table.schema.items():
                if kind == polars.Object:
                    raise TypeError(
                        f"the column {name!r} holds objects of Python, of the type Object of Polars; drop it or cast it"
                    )
        return table
    if hasattr(table, "scanner") and hasattr(table, "to_batches"):  # a dataset of pyarrow
        return table.scanner().to_reader()
    if hasattr(table, "to_reader"):
        return table.to_reader()
    pandas = sys.modules.get("pandas")
    is_pandas = pandas is not None and isinstance(table, getattr(pandas, "DataFrame", ()))
    if is_pandas or hasattr(table, "__arrow_c_array__"):
        pyarrow = _require("pyarrow")
        return pyarrow.Table.from_pandas(table) if is_pandas else pyarrow.record_batch(table)
    if default is _FAIL:
        hint = "; call its method collect" if hasattr(table, "collect") else ""
        raise TypeError(f"expected a table with the method __arrow_c_stream__, not {type(table).__name__}{hint}")
    return default


def _array(numpy: Any, vectors: Any) -> Any:
    """Vectors as an array of NumPy in two dimensions, which shares their memory."""
    array = vectors
    if not isinstance(vectors, numpy.ndarray):
        try:
            if hasattr(vectors, "__dlpack__"):
                array = numpy.from_dlpack(vectors)
            elif hasattr(vectors, "__array__"):
                array = numpy.asarray(vectors)
            else:
                array = numpy.asarray(memoryview(vectors))
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            kind = type(vectors).__name__
            raise TypeError(
                f"expected vectors as an array of NumPy, or one that NumPy can read, not {kind}: {error}; for example, "
                f"pass numpy.asarray(vectors, 'float32'), or of a tensor vectors.detach().cpu()"
            ) from error
    if array.ndim != 2:
        raise ValueError(f"expected vectors of shape (n, d), not {array.shape}; see reshape(n, -1)")
    if isinstance(array, numpy.ma.MaskedArray) and numpy.ma.is_masked(array):
        raise ValueError("some elements of the vectors are masked; fill them with filled()")
    return array


def _pairs(dicts: Iterator[Any], key: str, value: str) -> Iterator[tuple[Any, Any]]:
    """The fields of dicts that are keys and values. Keys that are numbers become their digits, as in tables."""
    for place, row in enumerate(dicts):
        try:
            own = row[key], row[value]
        except (KeyError, IndexError, TypeError):
            raise TypeError(f"records[{place}] has no fields {key!r} and {value!r}") from None
        if isinstance(own[0], int) and not isinstance(own[0], bool):
            own = str(own[0]), own[1]
        yield own


def _inferred(pyarrow: Any, rows: list[Any], place: int) -> Any:
    """A table of dicts, with types that hold all of their values. The first dict is records[place]."""
    for i, row in enumerate(rows, place):
        if not isinstance(row, Mapping):
            raise TypeError(f"records[{i}]: expected a dict, as before, not {type(row).__name__}")
    names = dict.fromkeys(chain.from_iterable(rows))
    for name in names:
        if not isinstance(name, str):
            at = next(i for i, row in enumerate(rows, place) if name in row)
            raise TypeError(f"records[{at}]: the name of a field must be str, not {name!r}")
        _check_kinds(name, [row.get(name) for row in rows])
    rows[0] = {name: rows[0].get(name) for name in names}  # pyarrow takes the columns from the first dict
    return _converted(pyarrow, rows, place, None)


def _converted(pyarrow: Any, rows: list[Any], place: int, schema: Any) -> Any:
    errors = (pyarrow.ArrowException, OverflowError, TypeError, ValueError)
    try:
        return pyarrow.Table.from_pylist(rows, schema=schema)
    except errors as error:
        for name in rows[0] if schema is None else schema.names:
            kind = None if schema is None else schema.field(name).type
            for i, row in enumerate(rows, place):
                try:
                    pyarrow.array([row.get(name)], kind)
                except errors as own:
                    raised = TypeError if isinstance(own, TypeError) else ValueError
                    if kind is not None and not isinstance(own, UnicodeError):
                        raised = TypeError
                    raise raised(f"records[{i}]: the field {name!r}: {own}; convert it, {_HOW}") from own
        raise TypeError(f"these dicts have no common types: {error}; convert it, {_HOW}") from error


def _check_kinds(name: str, values: Iterable[Any]) -> None:
    """Check that values have one type: pyarrow would cut some of those that do not have the type of the first."""
    values = list(values)
    kinds: dict[str, type] = {}
    for kind in dict.fromkeys(map(type, values)):
        if issubclass(kind, Mapping):
            inner = [value for value in values if type(value) is kind]
            for own in dict.fromkeys(chain.from_iterable(inner)):
                _check_kinds(f"{name}.{own}", [value.get(own) for value in inner])
        elif issubclass(kind, (list, tuple)):
            _check_kinds(name, chain.from_iterable(value for value in values if type(value) is kind))
        elif issubclass(kind, datetime.datetime):
            for value in values:
                if type(value) is kind and value == value:  # not NaT
                    kinds["datetime" if value.tzinfo is None else "datetime with a time zone"] = kind
        else:
            base = next((base for base in _KINDS if issubclass(kind, base)), None)
            if base is not None:
                kinds[base.__name__] = kind
    if len(kinds) > 1 and kinds.keys() != {"int", "float"}:  # pyarrow makes numbers of those without loss
        first, second, *_ = kinds
        raise TypeError(
            f"these dicts have no common types: the field {name!r} is {first} and also {second}; convert it, {_HOW}"
        )


def _differs(pyarrow: Any, name: str, first: Any, later: Any, exact: bool = True) -> Optional[tuple[str, str, str]]:
    """The field of which values of a later type do not fit into the first type, and both types; None if all fit.

    If types need not be the same, it is enough that they are of one kind: pyarrow checks whether each value fits."""
    types = pyarrow.types
    if first == later or types.is_null(later) or (types.is_floating(first) and types.is_integer(later)):
        return None
    if types.is_struct(first) and types.is_struct(later):
        for i in range(later.num_fields):
            field = later.field(i)
            at = first.get_field_index(field.name)
            inner = f"{name}.{field.name}"
            own = (
                (inner, "absent", str(field.type))
                if at < 0
                else _differs(pyarrow, inner, first.field(at).type, field.type, exact)
            )
            if own is not None:
                return own
        return None
    if types.is_list(first) and types.is_list(later):
        return _differs(pyarrow, name, first.value_type, later.value_type, exact)
    if types.is_decimal(first) and types.is_decimal(later):
        digits = first.precision - first.scale, later.precision - later.scale
        if later.scale <= first.scale and digits[1] <= digits[0]:
            return None
    if not exact and _same_kind(pyarrow, first, later):
        return None
    return name, "None" if types.is_null(first) else str(first), str(later)


def _same_kind(pyarrow: Any, first: Any, later: Any) -> bool:
    """Whether pyarrow makes the first type of values of which it infers the later type, without a loss."""
    types = pyarrow.types
    if types.is_timestamp(first) and types.is_timestamp(later):
        return (first.tz is None) == (later.tz is None) and first.unit in (later.unit, "us", "ns")
    if types.is_time(first) and types.is_time(later):
        return first.unit in (later.unit, "us", "ns")
    if types.is_dictionary(first):
        first = first.value_type
    kinds = (
        (types.is_integer,),
        (types.is_floating,),
        (types.is_decimal,),
        (types.is_string, types.is_large_string),
        (types.is_binary, types.is_large_binary, types.is_fixed_size_binary),
    )
    return any(any(kind(first) for kind in own) and any(kind(later) for kind in own) for own in kinds) or (
        types.is_map(first) and types.is_struct(later)
    )


class _Line:
    """Progress as a line on a terminal, or by tqdm."""

    def __init__(self) -> None:
        self.stage = ""
        self.told = 0.0
        self.bar: Any = None
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            tqdm = None
        self.tqdm = tqdm

    def __call__(self, stage: str, done: int, total: Optional[int]) -> None:
        if self.tqdm is not None:
            if self.bar is None or stage != self.stage:
                self.close()
                self.bar = self.tqdm(desc=stage, total=total, unit=" files" if stage == "publish" else " records")
            self.bar.total = total
            self.bar.update(done - self.bar.n)
        elif sys.stderr is not None and sys.stderr.isatty():
            now = time.monotonic()
            if stage != self.stage or done == total or now - self.told > 0.2:
                self.told = now
                of = "" if total is None else f" of {total:,}"
                print(f"\r\033[K{stage}: {done:,}{of}", end="", file=sys.stderr, flush=True)
        self.stage = stage

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        elif self.told:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.told = 0.0


def _listener(progress: _Progress) -> Any:
    if progress is True:
        return _Line()
    if progress is None or progress is False:
        return None
    if not callable(progress):
        raise TypeError(f"progress must be True, False or a function, not {progress!r}")
    return progress


def _end(progress: Any) -> None:
    if isinstance(progress, _Line):
        progress.close()
