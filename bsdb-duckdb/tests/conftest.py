"""Databases that bsdb builds, and connections to DuckDB with the extension."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

LAYOUTS = ["packed", "packed-compressed", "blocked", "compact", "compressed"]

#: DuckDB 1 does not bind scalar functions of extensions, and has no types of nanoseconds with a time zone.
IS_LATER = int(duckdb.__version__.split(".")[0]) >= 2


def bsdb(*arguments: object, stdin: bytes = b"") -> str:
    """Runs the command bsdb, and returns what it prints."""
    command = [*shlex.split(os.environ["BSDB"]), *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


class Duck:
    """A connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self.connection = connection

    def __call__(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, list(values)).fetchall()

    def error(self, query: str, *values: Any) -> str:
        with pytest.raises(duckdb.Error) as caught:
            self.connection.execute(query, list(values)).fetchall()
        return str(caught.value)

    def arrow(self, query: str) -> Any:
        return self.connection.sql(query).to_arrow_table()

    def cursor(self) -> Duck:
        return Duck(self.connection.cursor())


def connect() -> Duck:
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{os.environ['BSDB_DUCKDB']}'")
    return Duck(connection)


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = connect()
    yield duck
    duck.connection.close()


#: Records of all lengths around what DuckDB stores in a vector itself, which are 12 bytes, and around pages.
RECORDS = {f"key{i}": ("v" * (i % 40) if i % 100 else "long" * (i % 3000)) + str(i) for i in range(20_000)} | {
    "": "the empty key",
    "empty": "",
    "ünicode": "värde",
}


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    file = folder / "records.txt"
    file.write_text("".join(f"{key} {value}\n" for key, value in RECORDS.items()), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def databases(text: Path) -> dict[str, Path]:
    """The records in each layout, in sets of shards, and in the order of their keys."""
    found = {}
    kinds = {layout: ["--layout", layout] for layout in LAYOUTS}
    kinds |= {"shards": ["--shards", "5"], "ordered": ["--ordered"], "ordered shards": ["--ordered", "--shards", "3"]}
    for name, options in kinds.items():
        found[name] = text.parent / name.replace(" ", "-")
        bsdb("build", "-q", "-i", text, "-o", found[name], "--allow-empty-key", *options)
    return found
