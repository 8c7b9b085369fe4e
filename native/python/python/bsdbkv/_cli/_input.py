"""The files that the option -i of ``build`` names, and what becomes of their bytes."""

from __future__ import annotations

import codecs
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Optional

from ._syntax import UsageError, normal, shown

# Formats that cannot be read, and how they begin.
_OTHERS = {
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "zip": b"PK\x03\x04",
    "7z": b"7z\xbc\xaf\x27\x1c",
    "LZ4": b"\x04\x22M\x18",
    "Snappy": b"\xff\x06\0\0sNaPpY",
}

Found = tuple[str, Optional[str], Optional[int], str]


class InputError(Exception):
    """An input cannot be read. The text names it."""


def find(inputs: list[str], databases: list[str]) -> list[Found]:
    """The files that inputs stand for, in the order of reading: name, path, size and compression of each.

    A directory stands for all files below it, in the order of their paths' bytes, but those whose names, or whose
    directories' names, begin with a dot or an underscore, and databases, which are added to ``databases``.
    """
    found: list[Found] = []
    for given in inputs:
        if given == "-":
            found.append(("stdin", None, None, "unknown"))
            continue
        path = os.fsencode(normal(given))
        try:
            found += map(_file, _paths(path, databases))
        except OSError as error:
            name = os.fsencode(error.filename if isinstance(error.filename, (str, bytes)) else path)
            raise InputError(f"{_name(name)}: {reason(error)}") from None
    return found


def _paths(path: bytes, databases: list[str]) -> list[bytes]:
    if not os.path.isdir(path):
        return [_readable(path)]
    if _is_database(path):
        name = _name(path)
        raise InputError(
            f"{name}: is a bsdb database, not an input (to read its records: bsdb scan -d {name})"
        )
    below = sorted(_below(path, databases, [os.stat(path)]), key=lambda found: found)
    for found in below:
        _readable(found)
    if not below:
        raise InputError(f"{_name(path)}: no input files in this directory (names that begin with . or _ are left out)")
    return below


def _below(directory: bytes, databases: list[str], above: list[os.stat_result]) -> Iterator[bytes]:
    with os.scandir(directory) as scan:
        entries = list(scan)
    for entry in entries:
        if entry.name.startswith((b".", b"_")):
            continue
        try:
            status = entry.stat()
        except FileNotFoundError:
            raise InputError(f"{_name(entry.path)}: no such file or directory: the link leads nowhere") from None
        if stat.S_ISDIR(status.st_mode):
            if any(os.path.samestat(status, each) for each in above):
                continue  # a link that leads back
            if _is_database(entry.path):
                databases.append(os.fsdecode(entry.path))
            else:
                yield from _below(entry.path, databases, [*above, status])
        elif stat.S_ISREG(status.st_mode):
            yield entry.path
        else:
            raise InputError(
                f"{_name(entry.path)}: a pipe, a socket or a device in a directory of input files; move it away, or "
                "name files instead of the directory"
            )


def _readable(path: bytes) -> bytes:
    if not os.path.exists(path):
        raise InputError(f"{_name(path)}: no such file or directory")
    if not os.access(path, os.R_OK):
        raise InputError(f"{_name(path)}: permission denied")
    return path


def _is_database(directory: bytes) -> bool:
    return begins_as_database(os.path.join(directory, b"manifest.bsdb"))


def begins_as_database(path: bytes) -> bool:
    """Whether a file can be read and begins like every file of a database."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return False
    with open(path, "rb") as file:
        return file.read(8) == b"BSDBFILE"


def _file(path: bytes) -> Found:
    name = _name(path)
    if not os.path.isfile(path):
        return name, os.fsdecode(path), None, _by_name(path) or "unknown"
    size = os.path.getsize(path)
    compression = _by_name(path)
    with open(path, "rb") as file:
        start = file.read(10)
        if size >= 12 and start.startswith(b"PAR1"):
            file.seek(-4, os.SEEK_END)
            if file.read(4) == b"PAR1":
                raise InputError(f"{name}: is a Parquet file, not text (bsdb build reads it with --format parquet)")
    if compression is None:
        compression = "none"
        if start.startswith(b"\x1f\x8b\x08"):
            compression = "gzip"
        elif start.startswith(b"\x28\xb5\x2f\xfd"):
            compression = "zstd"
        for other, magic in _OTHERS.items():
            if start.startswith(magic) and (other != "bzip2" or start[4:10] == b"1AY&SY"):
                raise InputError(
                    f"{name}: is in the format of {other}, which cannot be read; decompress it first, or into standard "
                    "input (-i -)"
                )
    return name, os.fsdecode(path), size, compression


def _by_name(path: bytes) -> Optional[str]:
    name = path.lower()
    if name.endswith(b".gz"):
        return "gzip"
    return "zstd" if name.endswith((b".zst", b".zstd")) else None


def _name(path: bytes) -> str:
    return shown(os.fsdecode(path))


def reason(error: OSError) -> str:
    """Why the system refused something, in words that users would search for."""
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    return "permission denied" if isinstance(error, PermissionError) else str(error.strerror or error)


def gunzip() -> Callable[[bytes], bytes]:
    """A function that decompresses a file of gzip members (RFC 1952), piece by piece; an empty piece is its end.

    The file ends where its bytes end, which must be behind a member or the zeros that pad the last one.
    """
    inflater: Any = None
    members = 0
    padding = False

    def step(piece: bytes) -> bytes:
        nonlocal inflater, members, padding
        if not piece and (inflater is not None or members == 0):
            raise ValueError("truncated: the gzip data ends before its end")
        made = []
        while piece:
            if inflater is None:
                padding = padding or (members > 0 and piece[0] == 0)
                if padding:
                    if piece.strip(b"\0"):
                        raise ValueError("garbage after the end of the gzip data")
                    break
                inflater = zlib.decompressobj(31)
            try:
                made.append(inflater.decompress(piece))
            except zlib.error as error:
                raise ValueError(_gzip_words(error, members)) from None
            piece = inflater.unused_data
            if inflater.eof:
                inflater = None
                members += 1
        return b"".join(made)

    return step


def _gzip_words(error: zlib.error, members: int) -> str:
    reason = str(error).rpartition(": ")[2]
    if reason == "incorrect header check":
        return "garbage after the end of the gzip data" if members else "not in gzip format"
    words = {
        "unknown compression method": "unknown compression method",
        "unknown header flags set": "unknown flags in a header",
        "header crc mismatch": "wrong checksum of a header",
        "incorrect data check": "wrong checksum",
        "incorrect length check": "wrong length",
    }
    return f"damaged gzip data: {words.get(reason, reason)}"


def decoder(name: str) -> Optional[Callable[[], Callable[[bytes], bytes]]]:
    """What makes functions that decode text to UTF-8, piece by piece; None for UTF-8 itself.

    Each byte that is not valid becomes a lone surrogate, which is not valid UTF-8 either: its line is a bad line.
    """
    try:
        encoding = codecs.lookup(name)
    except (LookupError, ValueError):
        encoding = None
    if encoding is None or not getattr(encoding, "_is_text_encoding", True):
        raise UsageError(
            f'-e takes a character encoding such as UTF-8, GB18030 or ISO-8859-1, not "{name}"'
        )
    if encoding.name == "utf-8":
        return None
    unit = 2 if "16" in encoding.name else 4 if "32" in encoding.name else 0

    def mark(error: Any) -> tuple[str, int]:
        end = min(error.end, error.start + unit) if unit else error.end
        return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : end]), end

    def make() -> Callable[[bytes], bytes]:
        codecs.register_error("bsdbkv.mark", mark)
        decode = codecs.getincrementaldecoder(encoding.name)("bsdbkv.mark").decode
        started = False

        def step(piece: bytes) -> bytes:
            nonlocal started
            text = decode(piece, not piece)
            if text and not started:
                started = True
                text = text.removeprefix("\ufeff")
            return text.encode("utf-8", "surrogatepass")

        return step

    return make
