"""Databases and stores."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from itertools import islice
from typing import Any, Optional, Protocol, TypeVar, Union, overload

from . import _bsdb
from ._mailbox import mailbox as _mailbox
from ._errors import RowError

__all__ = ["Database", "Store", "get", "open"]


_D = TypeVar("_D")
_Key = Union[bytes, bytearray, memoryview, str]
_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]", "_URLPath"]


class _URLPath(Protocol):
    """A path of universal_pathlib."""

    @property
    def protocol(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def storage_options(self) -> Mapping[str, Any]: ...


class _Raise:
    """The default of defaults: raise KeyError."""

    def __repr__(self) -> str:
        return "<raise KeyError>"

    def __reduce__(self) -> str:
        return "_RAISE"


_RAISE: Any = _Raise()
_NONE = object()


class _Keys(KeysView[bytes]):
    __slots__ = ()
    _mapping: Database

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._mapping)

    def __repr__(self) -> str:
        return f"<keys of {self._mapping!r}>"


class _Values(ValuesView[bytes]):
    __slots__ = ()
    _mapping: Database

    def __iter__(self) -> Iterator[bytes]:
        return self._mapping._scan_values()

    def __contains__(self, value: object) -> bool:
        return any(value == own for own in self)

    def __repr__(self) -> str:
        return f"<values of {self._mapping!r}>"


class _Items(ItemsView[bytes, bytes]):
    __slots__ = ()
    _mapping: Database

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return self._mapping._scan_items()

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        return bool(self._mapping.get(item[0]) == item[1])

    def __repr__(self) -> str:
        return f"<items of {self._mapping!r}>"


class Database(_bsdb.Database, Mapping[bytes, bytes]):
    """An open database, set of shards, or part of a set: a read-only mapping from bytes to bytes.

    Keys are bytes, bytearray, memoryview, or str, which is encoded as UTF-8. Iteration yields bytes. It streams
    from the files in the order of the build's input or, in the packed layouts, in that of the keys' signatures.

    Any number of threads can use a database at once. Batches, scans, ``verify``, and lookups that may have to wait
    or are long run without the interpreter's lock. A database pickles as the path that was opened: the receiving
    process opens it anew; of a store, the version that is current then. A URL pickles without credentials: the
    receiving process finds its own.

    The arguments are those of ``open``.
    """

    __slots__ = ()

    def keys(self) -> KeysView[bytes]:
        """Return a view of the keys, which streams from the files."""
        return _Keys(self)

    def values(self) -> ValuesView[bytes]:
        """Return a view of the values, which streams from the files in the same order as ``keys``."""
        return _Values(self)

    def items(self) -> ItemsView[bytes, bytes]:
        """Return a view of pairs of key and value, which streams from the files."""
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        """Whether the other mapping holds the same records. Databases with the same id do; otherwise the
        records are compared one by one. Approximate databases equal only those with the same id."""
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        if isinstance(other, Database):
            if self.id == other.id and len(self) == len(other):
                return True
            if other.approximate:
                return False
        if self.approximate or len(self) != len(other):
            return False
        return all(other.get(key, _NONE) == value for key, value in self.items())

    __hash__ = None  # type: ignore[assignment]

    @property
    def schema(self) -> Optional[dict[str, Any]]:
        """The Avro schema of typed rows, or None if values are plain bytes. See also ``schema_json``."""
        text = self.schema_json
        return None if text is None else json.loads(text)

    async def aget(self, key: Any, default: Any = None) -> Any:
        """Like ``get``, for asyncio. An answer that is at hand is given at once. Another lookup, which may have to wait
        for the device, runs in a thread of the loop's executor; that of a database elsewhere needs no thread, and
        cancelling it ends its requests."""
        found = self._find_at_hand(key, _NONE)
        if found is _NONE:
            box = _mailbox() if self.remote else None
            if box is not None:
                found = await box.arrival(box.native.get, self, key)
            else:
                found = await _in_thread(self.get, key)
        return default if found is None else found

    async def aget_many(self, keys: Iterable[Any], default: Any = None) -> list[Any]:
        """Like ``get_many``, for asyncio: the lookups run in a thread of the loop's executor, or are requests under way
        if the database is elsewhere."""
        box = _mailbox() if self.remote else None
        if box is None:
            return list(await _in_thread(self.get_many, keys, default))
        found: list[Any] = await box.arrival(box.native.get_many, self, keys)
        return found if default is None else [default if value is None else value for value in found]

    def get_many_numpy(
        self, keys: Iterable[Any], dtype: Any = None, default: Any = _RAISE, *, out: Any = None, mask: bool = False
    ) -> Any:
        """Return the values of many keys as a NumPy array.

        The bytes of each value become one item of type ``dtype``, whose width they must have. A dtype with a
        shape, such as ``("<f4", 128)``, gives an array of shape ``(len(keys), 128)``. By default, it is what the
        database states: ``elements``. NumPy itself cuts the zeros at the ends of items of the type S; V keeps them.
        ``keys`` is as for ``get_many``.

        Raises KeyError with the first absent key, unless there is a ``default`` to fill in or, with ``mask``, the result
        is a pair: the array, with zeros for absent keys unless there is a default, and an array of bool that is True
        for keys that are there. Raises ValueError with the first key whose value has another width.

        The result is in ``out`` if that is given: a contiguous array of the same type and shape, whose content is not
        defined after an error.
        """
        numpy = _require("numpy")
        dtype = self._dtype(numpy, dtype)
        array = out

        def allocate(count: int) -> Any:
            nonlocal array
            shape = (count, *dtype.shape)
            if array is None:
                raw = numpy.empty(count * dtype.itemsize, numpy.uint8)
                array = raw.view(dtype.base).reshape(shape)
                return raw
            if not isinstance(array, numpy.ndarray) or array.dtype != dtype.base or array.shape != shape:
                what = f"{array.dtype} {array.shape}" if isinstance(array, numpy.ndarray) else type(array).__name__
                raise ValueError(f"out must be an array of {dtype.base} and of shape {shape}, not {what}")
            if not (array.flags.c_contiguous and array.flags.writeable):
                raise ValueError("out must be contiguous and writeable")
            return array.reshape(-1).view(numpy.uint8)

        absent, first_absent, wrong = self._get_fixed(keys, dtype.itemsize, allocate)
        if wrong is not None:
            raise _wrong_width(*wrong, dtype)
        if absent:
            if default is _RAISE and not mask:
                raise KeyError(first_absent)
            array[absent] = numpy.zeros((), dtype.base) if default is _RAISE else default
        if not mask:
            return array
        found = numpy.ones(len(array), bool)
        found[absent] = False
        return array, found

    def items_numpy(self, dtype: Any = None, batch: int = 1 << 14) -> Iterator[tuple[list[bytes], Any]]:
        """Return an iterator over all records in batches: a list of keys, and a NumPy array of their values.

        The records come in the order of ``items``. ``dtype`` is as for ``get_many_numpy``. Raises ValueError with the
        first key whose value has another width.
        """
        numpy = _require("numpy")
        dtype = self._dtype(numpy, dtype)
        if batch < 1:
            raise ValueError(f"batch must be at least 1, not {batch}")
        return self._batches(numpy, dtype, batch)

    def _batches(self, numpy: Any, dtype: Any, batch: int) -> Iterator[tuple[list[bytes], Any]]:
        items = self._scan_items()
        while records := list(islice(items, batch)):
            keys = [key for key, _ in records]
            values = bytearray().join([value for _, value in records])
            for key, value in records:
                if len(value) != dtype.itemsize:
                    raise _wrong_width(key, len(value), dtype)
            yield keys, numpy.frombuffer(values, dtype.base).reshape((len(keys), *dtype.shape))

    def _dtype(self, numpy: Any, dtype: Any) -> Any:
        if dtype is None:
            if self.elements is None:
                raise TypeError("the database does not state the type of its values; pass a dtype such as ('<f4', 128)")
            kind, count = self.elements
            dtype = (kind, (count,))
        dtype = numpy.dtype(dtype)
        if dtype.hasobject:
            raise TypeError(f"{dtype} holds Python objects; choose a dtype of fixed width")
        if dtype.itemsize == 0:
            raise TypeError(f"{dtype} has no width; choose one, for example 'V16'")
        return dtype

    def get_many_arrow(self, keys: Iterable[Any], missing: str = "null") -> Any:
        """Return the typed rows of many keys as a pyarrow Table, a column for each column of the schema.

        ``keys`` is as for ``get_many``. ``missing`` says what becomes of absent keys: "null" gives a row of
        nulls, so that row i belongs to key i; "drop" leaves them out; "raise" raises KeyError with the first.
        Raises RowError if values are not typed rows.
        """
        pyarrow = _require("pyarrow")
        if missing not in ("null", "drop", "raise"):
            raise ValueError(f"missing must be 'null', 'drop' or 'raise', not {missing!r}")
        rows, absent, first_absent = self._get_rows(keys, False)
        if absent and missing == "raise":
            raise KeyError(first_absent)
        table = pyarrow.Table.from_batches([pyarrow.record_batch(batch) for batch in rows])
        return _with_nulls(pyarrow, table, absent) if absent and missing == "null" else table

    def get_row(self, key: Any, default: Any = None) -> Any:
        """Return the typed row of a key as a dict of Python values, or ``default`` if there is no such key.

        Decimals, dates, times, timestamps and UUIDs are objects of the standard library; timestamps have a
        time zone unless they are local. Times and timestamps in nanoseconds are integers: those classes hold
        no more than microseconds. Records and maps are dicts. Maps whose keys are not strings are lists of
        dicts with the fields "key" and "value". Needs pyarrow. For many rows, use ``get_many_arrow``.
        """
        pyarrow = _require("pyarrow")
        rows, absent, _ = self._get_rows((key,), True)
        if absent:
            return default
        try:
            return pyarrow.record_batch(rows[0]).to_pylist(maps_as_pydicts="strict")[0]
        except (ValueError, OverflowError, KeyError) as error:
            raise RowError(
                f"{self.path}: the row of the key {key!r} has a value that Python cannot hold: {error}; "
                f"read it with get_many_arrow"
            ) from error


class Store(_bsdb.Store):
    """A store whose current version is followed. Any number of threads can use it at once.

    ``database`` is the version that was current when the store was opened or last refreshed. Hold it for the
    time of a request, so that all lookups see one version. ``refresh`` switches to a new version; databases
    that callers hold stay as they are, also when the store is closed. Options are those of ``open``.
    """

    __slots__ = ("__weakref__", "_lock", "_shown")

    def __init__(self, path: _Path, **options: Any) -> None:
        self._lock = threading.Lock()
        self._shown: Optional[Database] = None
        _stores.add(self)

    @property
    def database(self) -> Database:
        """The version that was current when the store was opened or last refreshed."""
        with self._lock:
            if self._shown is None or self._shown.closed or self.closed:
                self._shown = Database(self)
            return self._shown

    def refresh(self) -> bool:
        """Switch to the store's current version. Returns whether there was another one.

        If the new version cannot be opened, raises the reason and keeps the version before.
        """
        changed = super().refresh()
        if changed:
            with self._lock:
                self._shown = None
        return changed

    def close(self) -> None:
        """Close the store. Databases that callers hold stay open. Closing twice is harmless."""
        super().close()
        with self._lock:
            self._shown = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<bsdbkv.Store {self.path!r}, {'closed' if self.closed else f'version {self.version}'}>"


_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def _unlock_after_fork() -> None:
    # A thread of the parent may have held them, and does not exist in the child.
    for store in _stores:
        store._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)


def open(
    path: _Path,
    *,
    access: str = "mapped",
    verify_pages: bool = True,
    memory: Optional[int] = None,
    cache: Union[int, str, None] = None,
    cache_dir: Optional[_Path] = None,
    requests: Optional[int] = None,
    deadline: Optional[float] = None,
    hedge: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    trust: Union[_Path, Sequence[_Path], None] = None,
) -> Database:
    """Open a database, a set of shards, or the current version of a store.

    ``path`` is a local directory or a URL: ``s3://bucket/rdb``, ``gs://...``, ``az://...``, ``abfss://...`` or
    ``https://...``. A ``UPath`` of universal_pathlib names either.

    ``access`` says how data files in a local directory are read: "mapped" (quickest if the data is in memory), "read"
    (system calls) or "direct" (bypasses the page cache). ``verify_pages`` says whether each page is verified when it
    is first read. Takes the same time for every size of a local database.

    Of a URL, the manifest and the index are read now, and the pages of records when they are looked up. ``memory`` is
    how many bytes of such pages are kept (64 MiB by default). ``cache``, such as "10g" or a number of bytes, is the
    size of a file that keeps pages on disk, which all databases and processes share, in the directory ``cache_dir``
    (by default ``$BSDB_CACHE``, or ``bsdb`` in ``$XDG_CACHE_HOME`` or ``~/.cache``). ``requests`` is how many
    requests can be under way at once (256), ``deadline`` how many seconds a request is repeated while the server is
    busy or does not answer (30), and ``hedge`` whether what takes longer than 95 of 100 requests is asked for a
    second time. ``storage_options`` has the names of s3fs, gcsfs and adlfs, such as ``key``, ``secret``, ``anon``,
    ``endpoint_url`` and ``account_name``; without them, credentials are those of the environment. Local databases
    ignore all of these options but ``storage_options``.

    ``trust`` is a file of public keys of Ed25519, or a list of such files. Then the database is opened only if one of
    these keys has signed it (``sign``), and UntrustedError is raised otherwise, also when a ``Store`` is refreshed. The
    signature holds for all bytes of the files, which ``verify(content=True)`` compares with what was signed.
    """
    return Database(
        path,
        access=access,
        verify_pages=verify_pages,
        memory=memory,
        cache=cache,
        cache_dir=cache_dir,
        requests=requests,
        deadline=deadline,
        hedge=hedge,
        storage_options=storage_options,
        trust=trust,
    )


@overload
def get(path: _Path, key: _Key, default: None = None, **options: Any) -> Optional[bytes]: ...
@overload
def get(path: _Path, key: _Key, default: _D, **options: Any) -> Union[bytes, _D]: ...
def get(path: _Path, key: _Key, default: Any = None, **options: Any) -> Any:
    """Return one value of a database that is not open, or ``default`` if there is no such key.

    ``path`` and ``options`` are those of ``open``. If the database is elsewhere and of the layout packed, almost every key
    that is there takes two requests: one for the manifest, and one for a few pages that probably hold the record; of a set
    of shards three, of a store four. For other layouts, absent keys, and databases that an earlier version built, the whole
    index is read, as by ``open``; the answer is the same. For more than one value, open the database once.
    """
    found = _bsdb._get(path, key, **options)
    return default if found is None else found


def _open_database(path: Any, access: str, verify_pages: bool, remote: dict[str, Any]) -> Database:
    return Database(path, access=access, verify_pages=verify_pages, **remote)


def _open_store(path: Any, access: str, verify_pages: bool, remote: dict[str, Any]) -> Store:
    return Store(path, access=access, verify_pages=verify_pages, **remote)


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


def _require(module: str) -> Any:
    try:
        return __import__(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}; install it with: pip install {module}") from error


def _wrong_width(key: bytes, length: int, dtype: Any) -> ValueError:
    return ValueError(f"the value of the key {key!r} has {length} bytes, and the dtype {dtype} has {dtype.itemsize}")


def _with_nulls(pyarrow: Any, table: Any, absent: list[int]) -> Any:
    """Put a row of nulls in the place of each absent key."""
    for field in table.schema:
        if pyarrow.types.is_union(field.type):
            raise ValueError(
                f"the column {field.name!r} is a union, which cannot be null in Arrow; use missing='drop' or 'raise'"
            )
    missing = set(absent)
    rows = iter(range(table.num_rows))
    places = [None if i in missing else next(rows) for i in range(table.num_rows + len(absent))]
    nullable = pyarrow.schema([field.with_nullable(True) for field in table.schema])
    return pyarrow.Table.from_arrays(table.take(pyarrow.array(places, pyarrow.int64())).columns, schema=nullable)
