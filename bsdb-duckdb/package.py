"""Makes a file that DuckDB loads from the library that cargo has built.

DuckDB reads the last 534 bytes of an extension: a section of WebAssembly's form with eight fields of 32 bytes, last to first, and
256 bytes for a signature, which this file has not. It calls the function whose name begins with the name of the file, so the
file must be called bsdb.duckdb_extension.
"""

import argparse
import os
import sys
from pathlib import Path

NAME = "bsdb.duckdb_extension"
# The oldest C extension API that has what the extension needs.
API = "v1.2.0"


def footer(platform: str, version: str) -> bytes:
    fields = ["", "", "", "C_STRUCT", version, API, platform, "4"]
    content = b"".join(field.encode("ascii").ljust(32, b"\0") for field in fields) + bytes(256)
    for field in fields:
        if len(field) > 32:
            sys.exit(f"package.py: more than 32 bytes: {field}")
    # A custom section of 531 bytes whose name is duckdb_signature and whose content has 512 bytes.
    head = b"\x00\x93\x04\x10duckdb_signature\x80\x04"
    return head + content


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes bsdb.duckdb_extension from the library that cargo has built.")
    parser.add_argument("library", type=Path, help="libbsdb_duckdb.so, libbsdb_duckdb.dylib or bsdb_duckdb.dll")
    parser.add_argument("directory", type=Path, help=f"where {NAME} goes")
    parser.add_argument("--platform", required=True, help="DuckDB's name for it, such as linux_amd64: PRAGMA platform")
    parser.add_argument("--version", required=True, help="the version of the extension, such as v1.1.0")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    file = options.directory / NAME
    temporary = file.with_name(f".{NAME}.{os.getpid()}")
    try:
        temporary.write_bytes(options.library.read_bytes() + footer(options.platform, options.version))
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    print(file)


if __name__ == "__main__":
    main()
