"""Databases from others: merges, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Optional, Union

from . import _bsdb
from ._build import Builder, Built, _Bytes, _checked, _listener, _Path, _Progress, _settings, _stream
from ._database import Database, _require

__all__ = ["Diff", "DiffCounts", "Merger", "diff", "merge"]

_Base = Union[Database, _Path]


class Merger(Builder):
    """Builds a database from a base, into which records are merged one after the other.

        with bsdbkv.Merger("new-rdb", "rdb") as merger:
            merger.add("apple", "green")
            merger.delete("pear")

    It is a ``Builder`` whose records replace those of the base with the same key, and which can delete keys. The last
    change of a key counts. The base, a database or its path, stays as it is.
    """

    def __init__(self, path: _Path, base: _Base, *, progress: _Progress = None, **options: Any) -> None:
        self._progress = _listener(progress)
        self._base = _opened(base)
        self._native = _bsdb.Builder(_checked(path), _settings(options), self._progress, self._base)
        self._built: Optional[Built] = None

    def delete(self, key: _Bytes) -> None:
        """Delete a key. It is no error if the base does not have it."""
        self._native.delete_many((key,))

    def delete_many(self, keys: Iterable[_Bytes]) -> None:
        """Delete keys. Much quicker than ``delete``."""
        if isinstance(keys, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"expected keys to delete, not {type(keys).__name__}; for one key, pass a list of it")
        if not isinstance(keys, Iterable):
            raise TypeError(f"expected keys to delete, in an iterable, not {type(keys).__name__}")
        chunks = getattr(keys, "chunks", None)
        if hasattr(keys, "to_pylist"):  # an array of pyarrow
            arrays = [keys] if chunks is None else chunks
            keys = chain.from_iterable(array.to_pylist() for array in arrays)
        self._native.delete_many(keys)

    def add_arrow(
        self,
        table: Any,
        key: Union[str, Sequence[str]],
        value: Union[str, Sequence[str], None] = None,
        key_join: Union[str, bytes, None] = None,
    ) -> None:
        """Add the rows of a table, as ``Builder.add_arrow`` does. They must have the schema of the base."""
        try:
            super().add_arrow(table, key, value, key_join)
        except ValueError as error:
            if "another schema" not in str(error):
                raise
            raise ValueError(self._other_schema(table, value) or str(error)) from error

    def _other_schema(self, table: Any, value: Union[str, Sequence[str], None]) -> Optional[str]:
        """What is wrong with the rows of a table: the first column that is not as in the base."""
        base, schema = self._base_schema()
        if schema is None:
            return None
        try:
            rows = _require("pyarrow").RecordBatchReader.from_stream(_stream(table)).schema
        except Exception:  # a stream that was read
            return None
        types = {field.name: field for field in rows}
        names = list(types) if value is None or isinstance(value, str) else list(value)
        for i in range(max(len(names), len(schema))):
            if i >= len(names):
                what = f"have no column {schema.field(i).name!r}"
            elif i >= len(schema):
                what = f"have the column {names[i]!r}, which the base does not have"
            else:
                own, other = types.get(names[i]), schema.field(i)
                if own is None or own.equals(other):
                    continue
                if own.name != other.name:
                    what = f"have the column {own.name!r} where the base has {other.name!r}"
                elif own.type != other.type:
                    what = f"have the column {own.name!r} of the type {own.type}, and the base {other.type}"
                else:
                    null = "can be null" if own.nullable else "cannot be null"
                    what = f"have the column {own.name!r} that {null}, other than in the base"
            return (
                f"the rows of the table have another schema than the base {base}: they {what}; "
                f"cast the table to the schema of base.get_many_arrow([]), or name the columns with value="
            )
        return None

    def _base_schema(self) -> tuple[str, Any]:
        if self._base.schema is None:
            return str(self._base.path), None
        return str(self._base.path), self._base.get_many_arrow(()).schema

    def __enter__(self) -> Merger:
        return self


def merge(
    path: _Path,
    base: _Base,
    records: Any = (),
    *,
    delete: Iterable[_Bytes] = (),
    key: Union[str, Sequence[str], None] = None,
    value: Union[str, Sequence[str], None] = None,
    key_join: Union[str, bytes, None] = None,
    progress: _Progress = None,
    **options: Any,
) -> Built:
    """Merge records into a base, a database or its path, and build the result at another path.

    A record replaces that of the base with the same key, as a whole, or is added. Keys in ``delete`` are deleted after
    all records were merged. The base stays as it is. ``records``, ``key``, ``value`` and ``key_join`` are those of
    ``build``. Rows of tables must have the schema of the base; dicts get its columns and types. What was done with them
    is in ``changes`` of the result.

    The database is like the base, and the same as that of the command ``bsdb merge``, byte for byte. Options are
    ``overwrite``, ``duplicates`` (by default "last", the last change of a key counts; with "first", a deletion of a key
    that is in ``records``, too, has no effect, and with "error", it is refused as a duplicate), ``dictionary_bytes``,
    ``sample_records``, ``sign_key``, ``memory_bytes``, ``threads`` and ``temporary_directory``.
    """
    with Merger(path, base, progress=progress, **options) as merger:
        merger.add_records(records, key=key, value=value, key_join=key_join)
        merger.delete_many(delete)
        return merger.finish()


@dataclass(frozen=True)
class DiffCounts:
    """How many records of two databases differ."""

    kept: int
    """Records that both databases have with the same value."""
    added: int
    """Records whose key only the second database has."""
    removed: int
    """Records whose key only the first database has."""
    changed: int
    """Records whose key both databases have, with different values."""


class Diff(Iterator[tuple[str, bytes, Optional[bytes], Optional[bytes]]]):
    """The records in which two databases differ: see ``diff``."""

    def __init__(self, before: Database, after: Database) -> None:
        self._native = _bsdb.Diff(before, after)

    def __next__(self) -> tuple[str, bytes, Optional[bytes], Optional[bytes]]:
        return next(self._native)

    @property
    def counts(self) -> DiffCounts:
        """The records that were compared so far; all of them once the iterator has ended."""
        return DiffCounts(**self._native.counts)

    def count(self) -> DiffCounts:
        """Compare what is left, without keeping what differs, and return the counts of all records."""
        for _ in self._native:
            pass
        return self.counts


def diff(before: _Base, after: _Base) -> Diff:
    """Compare the records of two databases, or of those at two paths.

        for change, key, old, new in bsdbkv.diff("yesterday", "today"):
            ...  # change is "added" (old is None), "removed" (new is None) or "changed"

        bsdbkv.diff("yesterday", "today").count()

    First come records that were removed or changed, then those that were added.
    """
    return Diff(_opened(before), _opened(after))


def _opened(base: _Base) -> Database:
    return base if isinstance(base, Database) else Database(base)
