"""Build and read bsdb databases: immutable key-value data sets that are built once and looked up fast.

    import bsdbkv

    bsdbkv.build("rdb", {"key": "value"})  # or pairs, or a table: bsdbkv.build("rdb", frame, key="id")

    with bsdbkv.open("rdb") as db:
        db[b"key"]                      # bytes, or KeyError
        db.get("key")                   # bytes, or None; str is encoded as UTF-8
        db.get_many(["a", "b", "c"])    # a list, much quicker than single lookups
        for key, value in db.items():   # streams
            ...

A database is a ``collections.abc.Mapping``. See ``Database``, ``Store`` and ``open``; from the command line,
``python -m bsdbkv --help``.
"""

from ._bsdb import __version__
from ._build import Builder, Built, Changes, build, sign
from ._database import Database, Store, _open_database, _open_store, get, open
from ._errors import (
    BuildError,
    ClosedError,
    DamagedError,
    DuplicateKeyError,
    Error,
    ExistsError,
    FileError,
    NotADatabaseError,
    NotFoundError,
    NotHeldError,
    RowError,
    UnsupportedError,
    UntrustedError,
)
from ._merge import Diff, DiffCounts, Merger, diff, merge
from ._publish import Published, Version, publish, rollback, versions

__all__ = [
    "BuildError",
    "Builder",
    "Built",
    "Changes",
    "ClosedError",
    "DamagedError",
    "Database",
    "Diff",
    "DiffCounts",
    "DuplicateKeyError",
    "Error",
    "ExistsError",
    "FileError",
    "Merger",
    "NotADatabaseError",
    "NotFoundError",
    "NotHeldError",
    "Published",
    "RowError",
    "Store",
    "UnsupportedError",
    "UntrustedError",
    "Version",
    "__version__",
    "build",
    "diff",
    "get",
    "merge",
    "open",
    "publish",
    "rollback",
    "sign",
    "versions",
]
