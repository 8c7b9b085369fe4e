"""Faults of others, and mistakes that were made before."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import ssl
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Callable

import bsdbkv
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bsdb_feast import BsdbOnlineStoreConfig, ServerError, _rows, _sources, _views, publish_collected
from bsdb_feast._sources import HttpSource, RedisSource
from conftest import DAY, Repo, rows, served
from feast import Field
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import Value
from feast.types import Array, Float32


@pytest.mark.parametrize("offline", ["duckdb", "file"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("kind", ["ns UTC", "ns Tokyo", "text"])
def test_event_timestamps_of_all_kinds(tmp_path: Path, offline: str, own: bool, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from bsdb_feast import _engine

    if kind == "text" and offline == "file":
        pytest.skip("Feast's store for files refuses texts")
    if not own:
        monkeypatch.setattr(_engine._Read, "_table", lambda *_: None)
    repo = Repo(tmp_path, offline=offline)
    table = rows((1, "Ann", 1.0, 1))
    column = table.column("at")
    if kind == "text":
        column = pa.chunked_array([[(DAY + timedelta(hours=1)).isoformat()]])
    else:
        column = column.cast(pa.timestamp("ns", "UTC" if kind == "ns UTC" else "Asia/Tokyo"))
    repo.source(table.set_column(table.column_names.index("at"), "at", column))
    repo.apply()
    repo.materialize()
    read = repo.store.get_online_features(["users:name"], [{"user_id": 1}]).to_dict(include_event_timestamps=True)
    assert read["name"] == ["Ann"] and read["name__ts"] == [int((DAY + timedelta(hours=1)).timestamp())]


def test_a_column_without_timestamps_is_named(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from bsdb_feast import _engine

    view = repo.store.get_feature_view("users")
    with pytest.raises(ValueError, match="users cannot be materialized: the column at has no timestamps"):
        _engine._times(view, pa.table({"at": ["noon"]}), ["at"])
    columns = type("Columns", (), {"timestamp_column": "at", "created_timestamp_column": None})
    with pytest.raises(ValueError, match="its rows have no column at with the event timestamp; they have user_id, name, score"):
        _engine._rows(view, None, columns, rows((1, "Ann", 1.0, 1)).drop_columns("at"))


def test_a_version_that_could_not_be_read_once_is_read_later(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.materialize()
    assert repo.read(1)["name"] == ["Ann"]
    repo.materialize(rows((1, "Anna", 1.0, 9)))
    decoded = _rows.Features.decoded
    failures = [OSError("a fault")]

    def fail_once(*arguments: Any) -> _rows.Features:
        if failures:
            raise failures.pop()
        return decoded(*arguments)

    monkeypatch.setattr(_rows.Features, "decoded", staticmethod(fail_once))
    assert [repo.read(1)["name"] for _ in range(3)] == [["Ann"], ["Anna"], ["Anna"]]


def test_a_version_that_another_thread_has_passed_is_left(repo: Repo) -> None:
    repo.materialize()
    repo.read(1)
    [source] = repo.store._get_provider().online_store._sources.values()
    before = source._open["users"]._shown
    repo.materialize(rows((1, "Anna", 1.0, 9)))
    assert repo.read(1)["name"] == ["Anna"]
    source._open["users"]._shown = before  # as a slow thread does
    assert repo.read(1)["name"] == ["Anna"]


class _Closed:
    """A connection that the other end has closed, which fails once in each way and then answers."""

    def __init__(self, failures: list[tuple[str, Exception]], body: bytes) -> None:
        self.failures = failures
        self.body = body
        self.status = 200

    def _fail(self, where: str) -> None:
        if self.failures and self.failures[0][0] == where:
            raise self.failures.pop(0)[1]

    def request(self, *_: Any) -> None:
        self._fail("request")

    def getresponse(self) -> _Closed:
        self._fail("answer")
        return self

    def read(self) -> bytes:
        return self.body

    def close(self) -> None:
        pass


@pytest.mark.parametrize("where", ["request", "answer"])
@pytest.mark.parametrize("failure", [ssl.SSLEOFError(8, "EOF"), ssl.SSLZeroReturnError(6, "closed"), BrokenPipeError(), ConnectionResetError()])
def test_connections_that_were_closed_are_made_anew(where: str, failure: Exception) -> None:
    text = _rows.Features("v", ("a",), 0).encoded()
    source = HttpSource("https://host/p/", None, 1)
    source._free.append(_Closed([(where, failure)], len(text).to_bytes(4, "big") + text + b"\xff\xff\xff\xff"))  # type: ignore[arg-type]
    [(features, values)] = source.read([("v", [b"x"])])
    assert features is not None and features.view == "v" and values == [None]
    source._free = [_Closed([(where, failure), (where, failure)], b"")]  # type: ignore[list-item]
    with pytest.raises(ServerError, match="https://host/p/ does not answer"):
        source.read([("v", [b"x"])])


def test_a_row_of_some_features_that_is_older_than_the_base(repo: Repo) -> None:
    repo.materialize(rows((1, "base", 1.0, 20), (2, "base", 1.0, 20)))
    online, view = repo.store._get_provider().online_store, repo.store.get_feature_view("users")

    def write(user: int, hours: int, **values: Value) -> None:
        key = EntityKey(join_keys=["user_id"], entity_values=[Value(int64_val=user)])
        online.online_write_batch(repo.store.config, view, [(key, values, DAY + timedelta(hours=hours), None)], None)

    write(1, 30, score=Value(double_val=7.0))
    write(1, 10, name=Value(string_val="OLD"))
    write(2, 10, name=Value(string_val="OLD"))
    write(2, 25, name=Value(string_val="older than the table"))
    write(2, 40, score=Value(double_val=8.0))
    repo.materialize(rows((2, "table", 2.0, 28)))
    assert repo.read(1, 2) == {"user_id": [1, 2], "name": ["base", "table"], "score": [7.0, 8.0]}


def test_a_fork_during_a_publication_holds_up_nobody(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    publish = bsdbkv.publish
    children: list[Any] = []

    def fork_and_publish(*arguments: Any, **named: Any) -> Any:
        child = multiprocessing.get_context("fork").Process(target=_wait_for, args=(pipe[0],))
        child.start()
        children.append(child)
        return publish(*arguments, **named)

    pipe = os.pipe()
    with monkeypatch.context() as patched:
        patched.setattr(bsdbkv, "publish", fork_and_publish)
        repo.materialize()

    def materialize() -> None:
        repo.materialize(rows((1, "Anna", 1.0, 9)))
        ended.set()

    worker = threading.Thread(target=materialize)
    worker.start()
    assert ended.wait(60)
    os.write(pipe[1], b"x")
    children[0].join()
    worker.join()
    assert repo.read(1)["name"] == ["Anna"]


def _wait_for(pipe: int) -> None:
    os.read(pipe, 1)


def test_credentials_stay_out_of_errors(tmp_path: Path) -> None:
    for settings in (
        {"server": "tcp://me:secret@host", "token": "secret"},
        {"server": "http://host/p/", "token": "secret", "unknown": 1},
        {"path": "x", "token": "secret", "refresh_seconds": "secret"},
    ):
        with pytest.raises(ValueError) as raised:
            BsdbOnlineStoreConfig(**settings)
        assert "secret" not in str(raised.value)
    with pytest.raises(ValueError) as raised:
        Repo(tmp_path, server="tcp://host", token="secret").store._get_provider()
    assert "secret" not in str(raised.value) and "begins with none of" in str(raised.value)
    assert "secret" not in repr(BsdbOnlineStoreConfig(path="x", token="secret"))
    with pytest.raises(ServerError) as refused:
        RedisSource("redis://127.0.0.1:1?password=secret", None, 1).read([("v", [b"x"])])
    assert "secret" not in str(refused.value)
    with pytest.raises(ValueError, match="server is no URL with the prefix") as raised:
        HttpSource("http://host/p/?token=secret", None, 1)
    assert "secret" not in str(raised.value)
    for token in ("sécret", "sec\nret"):
        with pytest.raises(ValueError, match="token has characters"):
            HttpSource("http://host/p/", token, 1)


def test_a_deletion_that_was_killed_is_done_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.materialize()

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    remove = shutil.rmtree
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", lambda directory, *a, **n: remove(directory, *a, **n) if n else killed())
        with pytest.raises(KeyboardInterrupt):
            repo.store.teardown()
    repo.store.teardown()
    repo.apply()
    assert repo.read(1)["name"] == [None]
    repo.materialize()
    assert repo.read(1)["name"] == ["Ann"] and repo.hidden() == []


def test_what_a_first_publication_leaves_can_be_deleted(repo: Repo) -> None:
    left = repo.online / "shop" / "users"
    (left / "v1").mkdir(parents=True)
    (left / "v1" / ".publishing").touch()
    (left / ".lock").touch()
    repo.store.teardown()
    assert not left.exists()


def test_a_version_that_is_not_there_is_an_error(repo: Repo) -> None:
    repo.materialize()
    [version] = repo.versions()
    shutil.rmtree(repo.online / "shop" / "users" / version)
    with pytest.raises(bsdbkv.NotFoundError):
        repo.read(1)


def test_a_view_that_another_process_deletes(repo: Repo, logged: Callable[[], list[str]]) -> None:
    repo.materialize()
    reader = repo.opened()
    assert repo.read(1, store=reader)["name"] == ["Ann"]
    repo.store.apply([], objects_to_delete=[repo.store.get_feature_view("users")], partial=False)
    repo.apply()
    assert repo.read(1, store=reader)["name"] == [None]
    assert any("has no version in" in line for line in logged())
    repo.materialize(rows((1, "again", 1.0, 1)))
    assert repo.read(1, store=reader)["name"] == ["again"]


def test_views_whose_names_are_those_of_locks(repo: Repo) -> None:
    repo.source(rows((1, "Ann", 1.0, 1)), "users.lock")
    repo.apply(repo.view(), repo.view("users.lock"))
    repo.materialize()
    repo.materialize(name="users.lock")
    assert repo.read(1, names=["users.lock:name"])["name"] == ["Ann"]


@pytest.mark.parametrize("name", ["../x", ".hidden", "a/b", "-a", "a" * 101, ""])
def test_names_that_are_no_directories(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="a feature view cannot have the name"):
        _views.View(tmp_path, name)


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.source(rows((1, [0.5, 1.5], 1), names="user_id vector"))
    repo.apply(repo.view(schema=[Field(name="vector", dtype=Array(Float32), vector_index=True, vector_length=3)]))
    with pytest.raises(ValueError, match="length 2 does not match"):
        repo.materialize()


def test_options_of_builds(tmp_path: Path) -> None:
    for wrong in ("duplicates", "overwrite", "nonsense"):
        with pytest.raises(ValueError, match=f"build_options has {wrong}; there are"):
            Repo(tmp_path, build_options={wrong: 1}).store._get_provider()
    repo = Repo(tmp_path, build_options={"layout": "packed", "threads": 1, "memory_bytes": 1 << 26})
    repo.apply()
    for name in ("first", "second"):
        repo.materialize(rows((1, name, 1.0, 1)))
        with bsdbkv.open(repo.online / "shop" / "users") as database:
            assert database.layout == "packed"
    assert repo.read(1)["name"] == ["second"]


@pytest.mark.parametrize("protocol", ["http", "resp"])
def test_more_keys_than_a_request_has(repo: Repo, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.materialize(rows(*((user, f"n{user}", 1.0, 1) for user in range(0, 50, 2))))
    with served(repo.online / "shop") as server:
        remote = repo.opened(server=getattr(server, protocol))
        monkeypatch.setattr(_sources, "_MOST_KEYS", 7)
        expected = [None if user % 2 else f"n{user}" for user in range(50)]
        assert repo.read(*range(50), store=remote)["name"] == expected


def test_versions_that_change_between_requests_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changing(_sources.RemoteSource):
        def __init__(self, calm_after: int) -> None:
            super().__init__()
            self.calls, self.calm_after = 0, calm_after

        def read_once(self, wanted: Any) -> Any:
            self.calls += 1
            newest = min(self.calls, self.calm_after)
            return [(_rows.Features("v", ("a",), newest), [b"%d" % newest for _ in keys]) for _, keys in wanted]

    monkeypatch.setattr(_sources, "_MOST_KEYS", 2)
    keys = [b"a", b"b", b"c", b"d", b"e"]
    [(features, values)] = Changing(5).read([("v", keys)])
    assert features == _rows.Features("v", ("a",), 5) and values == [b"5"] * 5
    with pytest.raises(ServerError, match="another version at each of 3 attempts to read 5 rows"):
        Changing(1000).read([("v", keys)])


def test_wide_rows_are_encoded_in_small_batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_views, "_BATCH_BYTES", 1000)
    table = rows(*((user, "x" * 300, 1.0, 1) for user in range(20)))
    assert _views._batch(table) < 5 and _views._batch(table.slice(0, 0)) == 1000
    repo = Repo(tmp_path)
    repo.apply()
    repo.materialize(table)
    assert repo.read(0, 19, 20)["name"] == ["x" * 300, "x" * 300, None]


def test_dates_are_keys() -> None:
    from bsdb_feast import _columns
    from feast.value_type import ValueType

    day = pa.array([20_000], pa.date32())
    second = pa.array([20_000 * 86_400], pa.timestamp("s"))
    kinds = {"a": ValueType.UNIX_TIMESTAMP}
    assert _columns.entity_keys({"a": day}, kinds).equals(_columns.entity_keys({"a": second}, kinds))
    with pytest.raises(ValueError, match="the join key 'a' cannot be INT64: its column is timestamp"):
        _columns.entity_keys({"a": second}, {"a": ValueType.INT64})
    halves = _columns.rows(_columns.values(pa.array([1.0, 2.5], pa.float16()), ValueType.INT64))
    assert halves.equals(_columns.rows(_columns.values(pa.array([1, 2]), ValueType.INT64)))


def test_parquet_of_nanoseconds_from_pandas(repo: Repo) -> None:
    frame = rows((1, "Ann", 1.0, 1)).to_pandas()
    frame["at"] = frame["at"].astype("datetime64[ns, UTC]")
    frame.to_parquet(repo.directory / "users.parquet")
    assert pq.read_schema(repo.directory / "users.parquet").field("at").type == pa.timestamp("ns", "UTC")
    repo.materialize()
    publish_collected(repo.store)
    assert repo.read(1)["name"] == ["Ann"]
