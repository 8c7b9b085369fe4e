"""Stores: directories of versions, one of them current."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional, Union

from . import _bsdb
from ._build import _Path
from ._database import Database

__all__ = ["Published", "Version", "publish", "rollback", "versions"]


@dataclass(frozen=True)
class Published:
    """What was published."""

    version: str
    """The name of the version, which is current now."""
    path: str
    """Its directory."""
    removed: tuple[str, ...] = ()
    """The names of the versions that were removed."""
    warnings: tuple[str, ...] = ()
    """What failed after the version became current."""


@dataclass(frozen=True)
class Version:
    """A version of a store."""

    name: str
    """The name."""
    path: str
    """The directory."""
    current: bool
    """Whether it is the current one."""
    modified: datetime
    """When its directory was last modified, in UTC."""
    records: Optional[int]
    """Its records; None if it cannot be opened."""
    bytes: int
    """Bytes of all files."""


def publish(
    database: Union[Database, _Path],
    store: _Path,
    *,
    version: Optional[str] = None,
    keep: Optional[int] = None,
    link: bool = False,
    trust: Union[_Path, Sequence[_Path], None] = None,
) -> Published:
    """Copy a database into a local store as its new version, verify every byte and key of the copy, and make it
    current.

    The store is created if it is missing. After an error or Ctrl-C, the current version stays current, and nothing is
    left behind. Publications to the same store wait for each other, those of the command ``bsdb publish`` included; its
    checks against the current version are not made.

    ``version`` is the name, by default the time, such as ``20261121T151400Z``. ``keep`` is how many versions to keep
    besides the current one, by default all; the one that a rollback returns to is always kept. ``link`` makes hard
    links instead of copies, which needs the same file system. ``trust`` is that of ``open``: the database is published
    only if one of these keys has signed it. The version has the signature of the database in any case.
    """
    if keep is not None:
        keep = operator.index(keep)
        if keep < 0:
            raise ValueError(f"keep is {keep}, and the number of versions to keep cannot be negative")
        keep = min(keep, 1 << 32)  # more than any store has
    path = database.path if isinstance(database, Database) else database
    return Published(**_bsdb._publish(path, store, version, keep, link, trust))


def versions(store: _Path) -> list[Version]:
    """The versions of a local store, v9 before v10."""
    found = []
    for version in _bsdb._versions(store):
        modified = datetime.fromtimestamp(version.pop("modified"), timezone.utc)
        found.append(Version(**version, modified=modified))
    return found


def rollback(store: _Path, version: Optional[str] = None) -> str:
    """Make another version of a local store current, by default the one before, and return its name."""
    return _bsdb._rollback(store, version)
