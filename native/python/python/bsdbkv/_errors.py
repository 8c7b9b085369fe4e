"""Exceptions. The native half raises them, too."""

from __future__ import annotations

from typing import Optional

__all__ = [
    "BuildError",
    "ClosedError",
    "DamagedError",
    "DuplicateKeyError",
    "Error",
    "ExistsError",
    "FileError",
    "NotADatabaseError",
    "NotFoundError",
    "NotHeldError",
    "RowError",
    "UnsupportedError",
    "UntrustedError",
]


class Error(Exception):
    """Why a database could not be opened, read or built. The text names the file and says what to do next."""


class FileError(Error, OSError):
    """The operating system or a server refused an operation on a file: an OSError, with errno and filename."""


class NotFoundError(FileError, FileNotFoundError):
    """A directory or file is missing: a FileNotFoundError."""


class NotADatabaseError(Error, ValueError):
    """The path is not a database, a set of shards or a store."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message, path)
        self.path = str(path)

    def __str__(self) -> str:
        return str(self.args[0])


class DamagedError(Error):
    """A file is not as the builder wrote it. Copy the database again, or rebuild it.

    ``path`` is the file, ``offset`` the byte, counted from the start of the file.
    """

    def __init__(self, message: str, path: str, offset: int) -> None:
        super().__init__(message, path, offset)
        self.path = str(path)
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0])


class NotHeldError(Error):
    """The directory holds only some shards of a set, and the key belongs to another shard.

    ``path`` is the directory, ``shard`` the number of the key's shard.
    """

    def __init__(self, message: str, path: str, shard: int) -> None:
        super().__init__(message, path, shard)
        self.path = str(path)
        self.shard = shard

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedError(Error):
    """The format is newer than this version, or this kind of database cannot answer the question.

    ``path`` is the file that says so, or None.
    """

    def __init__(self, message: str, path: Optional[str] = None) -> None:
        super().__init__(message, path)
        self.path = None if path is None else str(path)

    def __str__(self) -> str:
        return str(self.args[0])


class UntrustedError(Error):
    """No trusted key has signed the database, although that was required: see ``trust`` of ``open``.

    ``path`` is the file of the manifest.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message, path)
        self.path = str(path)

    def __str__(self) -> str:
        return str(self.args[0])


class ClosedError(Error, ValueError):
    """The database was used after ``close``."""


class RowError(Error, ValueError):
    """A value is not a row of the stored schema, there is no schema, or Arrow has no form for it."""


class BuildError(Error, ValueError):
    """A database cannot be built so: an option, a key or a value is outside its range, or the records end early."""


class DuplicateKeyError(BuildError):
    """A key was added twice. Build with ``duplicates="first"`` or ``"last"`` to keep one of its records.

    ``key`` is the key, ``first`` and ``second`` the numbers of two of its records, from 0, in the order in which they
    were added.
    """

    def __init__(self, message: str, key: bytes, first: int, second: int) -> None:
        super().__init__(message, key, first, second)
        self.key = key
        self.first = first
        self.second = second

    def __str__(self) -> str:
        return str(self.args[0])


class ExistsError(FileError, FileExistsError):
    """The target of a build exists, or is not what a build may replace: a FileExistsError."""
