"""The directory of a project: a store for each feature view, and the rows that wait for its next version.

    PROJECT/VIEW/                  a store of bsdb; readers need nothing else
    PROJECT/.collected/VIEW/       rows of online_write_batch, in files of Arrow
    PROJECT/.locks/VIEW            held while a version is made
    PROJECT/.work/VIEW/            the version that is being made, and what is being removed

``bsdb serve -d PROJECT`` serves all views, each as a data set of its name.
"""

from __future__ import annotations

import bisect
import contextlib
import fcntl
import logging
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Optional

import bsdbkv
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from feast.value_type import ValueType

from . import _columns
from ._rows import FEATURES, Features, RowError, encoded, row_micros, split

__all__ = ["OPTIONS", "Changes", "Publication", "Rows", "View"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_BATCH = 1 << 14

# About the bytes of a batch of wide rows.
_BATCH_BYTES = 1 << 28

# Options of builds that say how a database is made of what; a merge takes those of its base.
_FORM = {"block_bytes", "checksum_bits", "compression_level", "data_files", "filter_bits", "layout", "seed", "shards"}

OPTIONS = _FORM | {"dictionary_bytes", "memory_bytes", "sample_records", "sign_key", "temporary_directory", "threads"}
"""Options of builds that a user may choose."""

_log = logging.getLogger("bsdb_feast")
_PART_SECONDS = 86_400
_KEY, _TIME, _VALUE = "key", "time", "value:"


@dataclass(frozen=True)
class Publication:
    """A version of a feature view that was published."""

    view: str
    """The feature view."""
    version: Optional[str]
    """The name of the version; None if there was nothing to publish."""
    records: int
    """The entities of the version."""
    written: int
    """The rows that were written into it: new ones and those that replaced another."""
    older: int
    """The rows that were left out because a newer one of their entity is there."""
    collected: int
    """The rows of ``online_write_batch`` among those that were written."""
    path: str
    """The directory of the version."""


@dataclass(frozen=True)
class Rows:
    """Rows of a table that become rows of a view."""

    table: Any
    """A table of Arrow, with a column for each join key and feature."""
    join_keys: Mapping[str, ValueType]
    features: Mapping[str, ValueType]
    times: Any
    """The event timestamps: an array of int64, in microseconds, one for each row."""
    created: Any = None
    """When each row was made, in the same form: of rows with the same event timestamp, the one made last counts."""


@dataclass
class Changes:
    """Rows of ``online_write_batch``: for each key, event timestamps and the values that were given, the oldest first; of
    equally new ones, in the order in which they were written."""

    rows: dict[bytes, list[tuple[int, dict[str, bytes]]]] = field(default_factory=dict)

    def add(self, key: bytes, time: int, values: dict[str, bytes]) -> None:
        """Adds a row that was written after all that were added before."""
        rows = self.rows.setdefault(key, [])
        bisect.insort_right(rows, (time, values), key=lambda row: row[0])


class View:
    """The store of a feature view, and what belongs to it."""

    def __init__(self, project: Path, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"a feature view cannot have the name {name!r} here: directories of stores consist of the characters "
                f"A-Z a-z 0-9 . _ - and do not begin with . or -"
            )
        self.name = name
        self.store = project / name
        self._collected = project / ".collected" / name
        self._work = project / ".work" / name
        self._lock = project / ".locks" / name

    def collect(self, changes: Sequence[tuple[bytes, int, dict[str, bytes]]]) -> None:
        """Keeps rows for the next version. They are on the device when this returns."""
        names = sorted({name for _, _, values in changes for name in values})
        columns: dict[str, Any] = {
            _KEY: pa.array([key for key, _, _ in changes], pa.binary()),
            _TIME: pa.array([time for _, time, _ in changes], pa.int64()),
        }
        for name in names:
            columns[_VALUE + name] = pa.array([values.get(name) for _, _, values in changes], pa.binary())
        table = pa.table(columns)
        for attempt in range(3):
            try:
                return self._write(table)
            except FileNotFoundError:  # the view is being deleted
                if attempt == 2:
                    raise

    def _write(self, table: Any) -> None:
        if not self._collected.exists():
            self._collected.mkdir(parents=True, exist_ok=True)
            for parent in self._collected.parents[:4]:
                _force(parent)
        file = self._collected / f"{time.time_ns():020d}-{uuid.uuid4().hex}.part"
        with open(file, "wb") as out:
            with pa.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table)
            out.flush()
            os.fsync(out.fileno())
        os.rename(file, file.with_suffix(".arrow"))
        _force(self._collected)

    def collected(self) -> int:
        """How many rows wait for the next version."""
        return sum(_read(file).num_rows for file in self._collected_files())

    def current(self) -> Optional[tuple[Any, Features]]:
        """The current version and its features; None if there is no version."""
        if not (self.store / "CURRENT").exists():
            return None
        database = bsdbkv.open(self.store)
        return database, Features.decoded(database.get(FEATURES), self.name, str(database.path))

    def delete(self) -> None:
        """Removes the store and what waits for it."""
        if not self.store.exists() and not self._collected.exists():
            return
        with self._held():
            if self.store.exists() and not _is_store(self.store):
                raise ValueError(f"{self.store} is no store of bsdb, and is not removed: it has no file CURRENT")
            # Renamed first, so that it is a whole store or none, even if the process is killed meanwhile.
            shutil.rmtree(self._work, ignore_errors=True)
            self._work.mkdir(parents=True)
            for directory in (self.store, self._collected):
                if directory.exists():
                    os.rename(directory, self._work / uuid.uuid4().hex)
            shutil.rmtree(self._work)

    def publish(
        self,
        rows: Optional[Rows],
        *,
        replace_all: bool = False,
        max_shrink: Optional[float] = None,
        keep: Optional[int] = None,
        options: Optional[Mapping[str, Any]] = None,
        progress: Optional[Callable[[int], object]] = None,
    ) -> Publication:
        """Makes a version of the current one, of rows and of those that were collected, and publishes it.

        Of the rows of an entity, the one with the newest event timestamp counts; of equally new ones, the current
        version has the oldest, and a collected row is newer than one of the table. With ``replace_all``, the rows of
        the current version are left out. Then at least one row is needed, and ``max_shrink`` bounds how many percent
        fewer entities than the current version the new one may have.

        If this fails or the process is killed, the current version stays, and the collected rows wait on.
        """
        with self._held():
            files = self._collected_files()
            self._remove_parts()
            current = self.current()
            base = None if replace_all else current
            changes = _changes(files)
            if rows is not None and rows.table.num_rows == 0:
                if replace_all:
                    raise ValueError(
                        f"the feature view {self.name} has no rows in this range of time, and with them all entities "
                        f"would be replaced; the current version stays. To remove the view, delete it and apply"
                    )
                rows = None
            if rows is None and not changes.rows:
                return Publication(self.name, None, _count(current), 0, 0, 0, "" if current is None else current[0].path)
            target = self._work / "rdb"
            shutil.rmtree(self._work, ignore_errors=True)
            self._work.mkdir(parents=True)
            try:
                publication = _Version(self.name, base, rows, changes).build(target, dict(options or {}), progress)
                if replace_all and max_shrink is not None:
                    _check_shrink(self.name, _count(current), publication.records, max_shrink)
                published = bsdbkv.publish(target, self.store, keep=keep, link=True)
            finally:
                shutil.rmtree(self._work, ignore_errors=True)
            for file in files:
                file.unlink()
            return replace(publication, version=published.version, path=published.path)

    def _collected_files(self) -> list[Path]:
        return sorted(self._collected.glob("*.arrow"))

    def _remove_parts(self) -> None:
        """Removes files that a process was killed in the middle of. Nobody was told that their rows are kept."""
        for file in self._collected.glob("*.part"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - file.stat().st_mtime > _PART_SECONDS:
                    file.unlink()

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """Keeps other processes from making a version meanwhile, or waits for them."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with open(self._lock, "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _log.info("waiting for another publication of the feature view %s", self.name)
                fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)  # a process that was forked meanwhile has the file open, too


class _Version:
    """A version that is made of another one and of changes."""

    def __init__(self, view: str, base: Optional[tuple[Any, Features]], rows: Optional[Rows], changes: Changes) -> None:
        self.view = view
        self.base = base
        self.rows = rows
        self.changes = changes
        names = dict.fromkeys(() if base is None else base[1].names)
        if rows is not None:
            kinds, table = rows.features, rows.table
            names.update(dict.fromkeys(sorted(kinds, key=lambda name: (_columns.order(kinds[name], table.column(name)), name))))
        for changed in changes.rows.values():
            for _, values in changed:
                names.update(dict.fromkeys(values))
        self.names = tuple(names)
        self.older = 0

    def build(self, target: Path, options: dict[str, Any], progress: Optional[Callable[[int], object]]) -> Publication:
        newest = -(1 << 62) if self.base is None else self.base[1].newest
        rows, keys, written = self.rows, None, 0
        if rows is not None:
            _check_times(self.view, rows)
            keys = _keys(self.view, rows)
            rows, keys = self._latest(rows, keys)
            rows, keys = self._newer_than_base(rows, keys)
            written = rows.table.num_rows
            if written:
                newest = max(newest, pc.max(rows.times).as_py())
        overlay = self._overlay(rows, keys)
        newest = max([newest, *(changed[-1][0] for changed in self.changes.rows.values())])
        with self._builder(target, options) as builder:
            if rows is not None:
                self._add(builder, rows, keys, progress)
            builder.add_many(overlay)
            builder.add(FEATURES, Features(self.view, self.names, newest).encoded())
            built = builder.finish()
        return Publication(
            self.view, None, built.records - 1, written + len(overlay), self.older, len(overlay), built.path
        )

    def _builder(self, target: Path, options: dict[str, Any]) -> Any:
        options = {"overwrite": True, **options}
        if self.base is None:
            return bsdbkv.Builder(target, duplicates="last", **options)
        # A database that is merged is of the form of its base.
        return bsdbkv.Merger(target, self.base[0], **{name: options[name] for name in options if name not in _FORM})

    def _add(self, builder: Any, rows: Rows, keys: Any, progress: Optional[Callable[[int], object]]) -> None:
        kinds = rows.features
        columns = {name: rows.table.column(name) for name in kinds}

        size = _batch(rows.table)

        def batch(start: int) -> Any:
            pieces = [_columns.timestamps(_slice(rows.times, start, size))]
            for name in self.names:
                if name in kinds:
                    pieces += _values(self.view, name, _slice(columns[name], start, size), kinds[name])
                else:  # of the base only
                    pieces.append(pa.scalar(b"\x0a\x00", pa.binary()))
            return pa.table({_KEY: _slice(keys, start, size), "row": _columns.rows(pieces)})

        starts = range(0, rows.table.num_rows, size)
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            for part in _ahead(pool, batch, starts):
                builder.add_arrow(part, key=_KEY, value="row")
                if progress is not None:
                    progress(part.num_rows)

    def _latest(self, rows: Rows, keys: Any) -> tuple[Rows, Any]:
        """The newest row of each key."""
        if _are_distinct(rows, keys):
            return rows, keys
        order = {"time": rows.times}
        if rows.created is not None:
            order["created"] = rows.created
        sorted_rows = pc.sort_indices(
            pa.table(order), sort_keys=[(name, "ascending") for name in order], null_placement="at_start"
        ).to_numpy()
        codes = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) and keys.nbytes < 1 << 30 else keys
        codes = codes.dictionary_encode()
        if isinstance(codes, pa.ChunkedArray):
            codes = pa.chunked_array(codes.unify_dictionaries().chunks)
            codes = np.concatenate([chunk.indices.to_numpy() for chunk in codes.chunks])
        else:
            codes = codes.indices.to_numpy()
        last = np.empty(codes.max() + 1, np.int64)
        last[codes[sorted_rows]] = sorted_rows  # of equal indices, the last assignment counts
        return _chosen(rows, keys, np.sort(last))

    def _newer_than_base(self, rows: Rows, keys: Any) -> tuple[Rows, Any]:
        """The rows that are not older than those of their keys in the base."""
        if self.base is None or not len(keys) or pc.min(rows.times).as_py() >= self.base[1].newest:
            return rows, keys
        database = self.base[0]
        kept = np.ones(len(keys), bool)
        for start in range(0, len(keys), _BATCH):
            times = _slice(rows.times, start)
            found = zip(database.get_many(_slice(keys, start)), _columns.timestamps(times).to_pylist(), times.to_pylist())
            for i, (row, frame, time) in enumerate(found, start):
                if row is not None and not row.startswith(frame) and row_micros(row) > time:
                    kept[i] = False
        if kept.all():
            return rows, keys
        self.older += int(len(keys) - kept.sum())
        return _chosen(rows, keys, np.flatnonzero(kept))

    def _overlay(self, rows: Optional[Rows], keys: Any) -> list[tuple[bytes, bytes]]:
        """The collected rows that are not older than those of the table and the base, with all of their values."""
        changes = self.changes.rows
        if not changes:
            return []
        wanted = list(changes)
        below: list[Optional[tuple[int, Sequence[bytes]]]] = [None] * len(wanted)
        if self.base is not None:
            for i, row in enumerate(self.base[0].get_many(wanted)):
                if row is not None:
                    below[i] = (row_micros(row), split(row))
        if rows is not None and len(keys):
            numbers = pc.index_in(pa.array(wanted, pa.binary()), value_set=keys).to_pylist()
            for i, number in enumerate(numbers):
                if number is not None:
                    below[i] = (rows.times[number].as_py(), self._row(rows, number))
        overlay = []
        for key, before in zip(wanted, below):
            newer = [change for change in changes[key] if before is None or change[0] >= before[0]]
            self.older += len(changes[key]) - len(newer)
            if newer:
                old: Sequence[bytes] = () if before is None else before[1]
                values = {name: value for _, given in newer for name, value in given.items()}
                row = [values.get(name, old[i] if i < len(old) else b"") for i, name in enumerate(self.names)]
                overlay.append((key, encoded(newer[-1][0], row)))
        return overlay

    def _row(self, rows: Rows, number: int) -> Sequence[bytes]:
        """The values of a row of the table, in the order of the names."""
        pieces: list[Any] = [pa.array([b""], pa.binary())]
        for name in self.names:
            if name in rows.features:
                pieces += _values(self.view, name, rows.table.column(name).slice(number, 1), rows.features[name])
            else:
                pieces.append(pa.scalar(b"\x0a\x00", pa.binary()))
        return split(_columns.rows(pieces)[0].as_py())


def _values(view: str, name: str, column: Any, kind: ValueType) -> list[Any]:
    try:
        return _columns.values(column, kind)
    except (pa.ArrowException, ValueError, TypeError, AssertionError, OverflowError) as error:
        raise ValueError(f"the feature {name} of the feature view {view} cannot be {kind.name}: {error}") from error


def _keys(view: str, rows: Rows) -> Any:
    columns = {name: rows.table.column(name) for name in rows.join_keys}
    parts = []
    for start in range(0, rows.table.num_rows, _BATCH):
        try:
            parts.append(
                _columns.entity_keys({name: _slice(column, start) for name, column in columns.items()}, dict(rows.join_keys))
            )
        except ValueError as error:
            raise ValueError(f"the feature view {view} cannot be materialized: {error}") from error
    return pa.chunked_array(parts, pa.binary())


def _are_distinct(rows: Rows, keys: Any) -> bool:
    if len(rows.join_keys) == 1:
        column = rows.table.column(next(iter(rows.join_keys)))
        if pa.types.is_integer(column.type):  # quicker, and different numbers have different keys
            return bool(pc.count_distinct(column).as_py() == len(keys))
    return bool(pc.count_distinct(keys).as_py() == len(keys))


def _check_times(view: str, rows: Rows) -> None:
    if rows.times.null_count:
        raise ValueError(
            f"the feature view {view} cannot be materialized: the event timestamp is null in {rows.times.null_count:,} of "
            f"{rows.table.num_rows:,} rows; leave them out of the source"
        )


def _check_shrink(view: str, before: int, after: int, max_shrink: float) -> None:
    lost = 100.0 * (before - after) / before if before else 0.0
    if lost > max_shrink:
        raise ValueError(
            f"the new version of the feature view {view} would have {after:,} entities, {lost:.1f} % fewer than the "
            f"{before:,} of the current one; max_shrink_percent allows {max_shrink:g} %. The current version stays"
        )


def _changes(files: Sequence[Path]) -> Changes:
    changes = Changes()
    for file in files:
        table = _read(file)
        keys, times = table.column(_KEY).to_pylist(), table.column(_TIME).to_pylist()
        names = [name for name in table.column_names if name.startswith(_VALUE)]
        columns = [table.column(name).to_pylist() for name in names]
        for i, (key, time) in enumerate(zip(keys, times)):
            given = {name[len(_VALUE) :]: column[i] for name, column in zip(names, columns) if column[i] is not None}
            changes.add(key, time, given)
    return changes


def _read(file: Path) -> Any:
    try:
        with pa.memory_map(str(file)) as source:
            return pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid as error:
        raise RowError(f"{file} is damaged, and the rows that were collected in it are lost: {error}; remove it") from error


def _is_store(directory: Path) -> bool:
    """Whether a directory is a store, or what a first publication leaves that was killed."""
    if (directory / "CURRENT").exists():
        return True
    return all(file.name.startswith(".") or (file / ".publishing").exists() for file in directory.iterdir())


def _count(current: Optional[tuple[Any, Features]]) -> int:
    return 0 if current is None else len(current[0]) - 1


def _batch(table: Any) -> int:
    """How many rows of a table are encoded at a time."""
    return max(1, min(_BATCH, _BATCH_BYTES * max(1, table.num_rows) // max(1, table.nbytes)))


def _slice(column: Any, start: int, size: Optional[int] = None) -> Any:
    part = column.slice(start, size or _BATCH)
    return part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part


def _chosen(rows: Rows, keys: Any, places: Any) -> tuple[Rows, Any]:
    kept = np.zeros(len(keys), bool)
    kept[places] = True
    mask = pa.array(kept)
    created = None if rows.created is None else rows.created.filter(mask)
    chosen = replace(rows, table=rows.table.filter(mask), times=rows.times.filter(mask), created=created)
    return chosen, keys.filter(mask)


def _ahead(pool: ThreadPoolExecutor, work: Callable[[int], Any], items: Sequence[int]) -> Iterator[Any]:
    """The results of work in the order of the items, with a few of them under way."""
    pending = [pool.submit(work, item) for item in items[:4]]
    for i in range(len(items)):
        result = pending.pop(0).result()
        if i + 4 < len(items):
            pending.append(pool.submit(work, items[i + 4]))
        yield result


def _force(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
