"""Paths that are no databases, damaged files, and settings that forbid reading files."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import bsdbkv
import pytest

from conftest import IS_LATER, LAYOUTS, Duck, connect

QUERIES = ["SELECT count(key), sum(strlen(value)) FROM bsdb_scan(?, text := true)", "SELECT bsdb_get(?, 'key')", "FROM bsdb_rows(?, ['key'])"]


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_no_database(duck: Duck, tmp_path: Path, query: str) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "empty").mkdir()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "CURRENT").write_text("gone\n")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "manifest.bsdb").write_bytes(b"no manifest" * 1000)
    for name in ("absent", "file", "empty", "store", "bad"):
        error = duck.error(query, str(tmp_path / name))
        assert str(tmp_path / name) in error, error
    assert "path" in duck.error(query, "")
    assert "NULL" in duck.error(query, None) if query != QUERIES[1] else duck(query, None) == [(None,)]
    assert "://" in duck.error(query, "nothing://host/database")


def test_a_path_with_a_nul(duck: Duck) -> None:
    duck.error("SELECT bsdb_get('a' || chr(0) || 'b', 'key')")


@pytest.mark.skipif(not IS_LATER, reason="DuckDB 1 gives constants up to their first NUL")
def test_a_path_and_more_behind_a_nul(duck: Duck, tmp_path: Path) -> None:
    path = tmp_path / "database"
    bsdbkv.build(path, {"key": "value"})
    for query in QUERIES:
        assert "zero byte" in duck.error(query, f"{path}\0more")


def test_a_working_directory_that_changes(duck: Duck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        bsdbkv.build(tmp_path / name / "database", {"key": name})
    read = "SELECT bsdb_text($1, 'key'), value FROM bsdb_scan($1, text := true)"
    monkeypatch.chdir(tmp_path / "one")
    assert duck(read, "database") == [("one", "one")]
    monkeypatch.chdir(tmp_path / "two")
    assert duck(read, str(tmp_path / "one" / "database")) == [("one", "one")]
    assert duck(read, "database") == [("two", "two")]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_damage(duck: Duck, tmp_path: Path, layout: str) -> None:
    """A right answer or an error that names the file, whatever byte is wrong."""
    records = {b"key%d" % i: b"value %d" % i * (i % 50) for i in range(2000)}
    bsdbkv.build(tmp_path / "good", records, layout=layout)
    some = random.Random(layout)
    files = sorted(file.relative_to(tmp_path / "good") for file in (tmp_path / "good").rglob("*") if file.is_file())
    errors = 0
    for number in range(60):
        path = tmp_path / f"bad{number}"
        shutil.copytree(tmp_path / "good", path)
        name = some.choice(files)
        content = bytearray((path / name).read_bytes())
        if number % 4 == 0:
            del content[some.randrange(len(content)) :]
        else:
            content[some.randrange(len(content))] ^= 1 << some.randrange(8)
        (path / name).write_bytes(content)
        for query in (
            "SELECT key, value FROM bsdb_scan('{}')",
            "SELECT k, bsdb_get('{}', k) FROM (SELECT encode('key' || i) AS k FROM range(2000) t(i))",
        ):
            try:
                assert dict(duck(query.format(path))) == records
            except Exception as error:
                if isinstance(error, AssertionError):
                    raise
                assert str(path) in str(error), error
                errors += 1
        shutil.rmtree(path)
    assert errors > 10


def test_a_database_that_is_removed(duck: Duck, tmp_path: Path) -> None:
    path = tmp_path / "database"
    bsdbkv.build(path, {"key": "value"})
    assert duck("SELECT bsdb_text(?, 'key')", str(path)) == [("value",)]
    shutil.rmtree(path)
    if IS_LATER:
        assert str(path) in duck.error("SELECT bsdb_text(?, 'key')", str(path))
    assert str(path) in duck.error("FROM bsdb_scan(?)", str(path))


def test_many_databases(duck: Duck, tmp_path: Path) -> None:
    """More than stay open."""
    for i in range(100):
        bsdbkv.build(tmp_path / str(i), {"key": str(i)})
    for _ in range(2):
        rows = duck("SELECT i, bsdb_text(? || '/' || i, 'key') FROM range(100) t(i) ORDER BY i", str(tmp_path))
        assert rows == [(i, str(i)) for i in range(100)]


@pytest.mark.skipif(not IS_LATER, reason="DuckDB 1 does not tell the extension")
def test_external_access(tmp_path: Path) -> None:
    path = tmp_path / "database"
    bsdbkv.build(path, {"key": "value"})
    duck = connect()
    duck("SET enable_external_access = false")
    for query in [*QUERIES, "SELECT bsdb_get(p, 'key') FROM (VALUES (?)) t(p)"]:
        assert "enable_external_access" in duck.error(query, str(path))


def test_two_instances(tmp_path: Path) -> None:
    path = tmp_path / "database"
    bsdbkv.build(path, {"key": "value"})
    one, two = connect(), connect()
    one.connection.close()
    assert two("SELECT bsdb_text(?, 'key')", str(path)) == [("value",)]


def test_arguments(duck: Duck) -> None:
    for query in ["SELECT bsdb_get('x')", "SELECT bsdb_get('x', 1.5)", "FROM bsdb_scan()", "FROM bsdb_scan('x', wrong := 1)"]:
        duck.error(query)
