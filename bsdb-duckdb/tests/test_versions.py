"""Stores: each query sees one version, and the next query the next version. And databases that are replaced or elsewhere."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import bsdbkv
import duckdb
import pytest

from conftest import IS_LATER, Duck, bsdb

RECORDS = 50_000


def publish(folder: Path, version: str, store: Path | None = None) -> str:
    store = store or folder / "store"
    bsdbkv.build(folder / "next", ((b"%d" % i, version.encode()) for i in range(RECORDS)), overwrite=True)
    bsdbkv.publish(folder / "next", store, version=version)
    return str(store)


def settle() -> None:
    """DuckDB 1 does not tell when a query of bsdb_get begins, so the extension looks for a new version once a second."""
    if not IS_LATER:
        time.sleep(1.1)


def test_the_next_query_sees_the_next_version(duck: Duck, tmp_path: Path) -> None:
    store = publish(tmp_path, "one")
    for version in ("one", "two", "three"):
        publish(tmp_path, version) if version != "one" else None
        settle()
        assert duck("SELECT bsdb_text(?, 1), count(*), min(value), max(value) FROM bsdb_scan(?, text := true)", store, store) == [
            (version, RECORDS, version, version)
        ]
        assert duck("SELECT value FROM bsdb_rows(?, 7, text := true)", store) == [(version,)]
    bsdbkv.rollback(store)
    settle()
    assert duck("SELECT bsdb_text(?, 1)", store) == [("two",)]
    # A version has a path of its own.
    assert duck("SELECT bsdb_text(?, 1)", store + "/one") == [("one",)]


def test_each_query_sees_one_version(duck: Duck, tmp_path: Path) -> None:
    store = publish(tmp_path, "v0")
    duck("SET threads = 4")
    duck(f"CREATE TABLE q AS SELECT i AS k FROM range({RECORDS}) t(i)")
    stop = threading.Event()

    def publishes() -> None:
        for number in range(1, 1000):
            if stop.is_set():
                return
            publish(tmp_path, f"v{number}")

    thread = threading.Thread(target=publishes)
    thread.start()
    seen = set()
    try:
        end = time.monotonic() + 6
        while time.monotonic() < end:
            lookups = f"SELECT DISTINCT bsdb_text('{store}', k) FROM q" if IS_LATER else "SELECT 'v0' WHERE false"
            rows = duck(f"{lookups} UNION SELECT DISTINCT value FROM bsdb_scan('{store}', text := true)")
            assert len(rows) == 1
            seen.add(rows[0][0])
    finally:
        stop.set()
        thread.join()
    assert len(seen) > 1


def test_a_prepared_statement_sees_the_next_version(duck: Duck, tmp_path: Path) -> None:
    store = publish(tmp_path, "one")
    duck(f"PREPARE p AS SELECT DISTINCT bsdb_text('{store}', k::VARCHAR), value FROM range($1::BIGINT) t(k), bsdb_scan('{store}', text := true)")
    assert duck("EXECUTE p(1)") == [("one", "one")]
    publish(tmp_path, "two")
    time.sleep(1.2)
    assert duck("EXECUTE p(1)") == [("two", "two")]


def test_a_result_keeps_its_version(duck: Duck, tmp_path: Path) -> None:
    store = publish(tmp_path, "one")
    result = duck.cursor().connection.execute(f"SELECT value FROM bsdb_scan('{store}', text := true)")
    assert result.fetchmany(10) == [("one",)] * 10
    publish(tmp_path, "two")
    assert set(result.fetchall()) == {("one",)}


def test_a_version_with_other_columns(duck: Duck, tmp_path: Path) -> None:
    import pyarrow as pa

    store = tmp_path / "store"
    for number, names in enumerate((["a"], ["a", "b"])):
        bsdbkv.build(tmp_path / "next", pa.table({"id": [1], **{name: [5] for name in names}}), key="id", overwrite=True)
        bsdbkv.publish(tmp_path / "next", store, version=f"v{number}")
        if number == 0:
            duck(f"PREPARE p AS FROM bsdb_scan('{store}')")
            assert duck("EXECUTE p") == [(b"1", 1, 5)]
    time.sleep(1.2)
    try:
        # If DuckDB plans it again.
        assert duck("EXECUTE p") == [(b"1", 1, 5, 5)]
    except duckdb.Error as error:
        assert "prepare the statement again" in str(error)
    assert duck(f"FROM bsdb_scan('{store}')") == [(b"1", 1, 5, 5)]


def test_a_database_that_is_replaced(duck: Duck, tmp_path: Path) -> None:
    path = tmp_path / "database"
    for value in ("one", "two", "three"):
        bsdbkv.build(path, {"key": value}, overwrite=True)
        settle()
        assert duck("SELECT bsdb_text(?, 'key'), value FROM bsdb_scan(?, text := true)", str(path), str(path)) == [(value, value)]


def test_a_broken_version(duck: Duck, tmp_path: Path) -> None:
    store = publish(tmp_path, "one")
    assert duck("SELECT bsdb_text(?, 1)", store) == [("one",)]
    (Path(store) / "CURRENT").write_text("absent\n")
    settle()
    error = duck.error("SELECT bsdb_text(?, 1)", store)
    assert "absent" in error and store in error
    (Path(store) / "CURRENT").write_text("one\n")
    assert duck("SELECT bsdb_text(?, 1)", store) == [("one",)]


def test_a_set_in_a_store(duck: Duck, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("".join(f"{i} value{i}\n" for i in range(3000)))
    bsdb("build", "-q", "-i", tmp_path / "words", "-o", tmp_path / "set", "--shards", 4)
    bsdb("publish", "-q", tmp_path / "set", tmp_path / "store")
    store = str(tmp_path / "store")
    duck("SET threads = 4")
    assert duck("SELECT count(*), count(DISTINCT key), count(bsdb_get(?, key)) FROM bsdb_scan(?)", store, store) == [(3000, 3000, 3000)]


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A web server that sends ranges."""

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data, wanted = path.read_bytes(), self.headers.get("Range")
        first, last = 0, len(data) - 1
        if wanted:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = (int(start), min(int(end or last), last)) if start else (max(len(data) - int(end), 0), last)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("ETag", f'"{path.stat().st_mtime_ns}"')
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[first : last + 1])

    def do_HEAD(self) -> None:
        path = Path(self.translate_path(self.path))
        self.send_response(200 if path.is_file() else 404)
        self.send_header("Content-Length", str(path.stat().st_size if path.is_file() else 0))
        self.end_headers()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    handler = functools.partial(Ranges, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_elsewhere(duck: Duck, tmp_path: Path, server: str) -> None:
    publish(tmp_path, "one")
    for url in (f"{server}/store", f"{server}/next"):
        assert duck("SELECT bsdb_text(?, 7), bsdb_get(?, 'absent')", url, url) == [("one", None)]
        assert duck("SELECT count(*), min(value) FROM bsdb_scan(?, text := true)", url) == [(RECORDS, "one")]
    assert duck(f"SELECT count(bsdb_get('{server}/store', i)) FROM range(100) t(i)") == [(100,)]
    error = duck.error("SELECT bsdb_get(?, 1)", f"{server}/nothing")
    assert f"{server}/nothing" in error
