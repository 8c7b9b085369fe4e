"""Views are read from a server as from files."""

from __future__ import annotations

import http.server
import multiprocessing
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from bsdb_feast import ServerError
from bsdb_feast._rows import Features, encoded
from bsdb_feast._sources import HttpSource, RedisSource
from conftest import Repo, Server, rows, served
from feast import Field
from feast.types import Array, Int64


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a repository that is materialized."""
    path = tmp_path_factory.mktemp("servers")
    repo = Repo(path)
    repo.source(rows((1, "Ann", 1.5, 1), (2, "Bob", None, 2)))
    repo.source(rows((1, [1, 2, 3], 1), (3, None, 2), names="user_id numbers"), "lists")
    repo.apply(repo.view(), repo.view("lists", [Field(name="numbers", dtype=Array(Int64))]), repo.view("later"))
    repo.materialize()
    repo.materialize(name="lists")
    return path


@pytest.fixture(scope="module")
def server(directory: Path) -> Iterator[Server]:
    """A server of these stores."""
    with served(directory / "online" / "shop") as started:
        yield started


@pytest.mark.parametrize("protocol", ["http", "resp"])
def test_a_server_answers_as_files_do(directory: Path, server: Server, protocol: str, logged: Callable[[], list[str]]) -> None:
    repo = Repo(directory)
    remote = repo.opened(server=getattr(server, protocol))
    names = ("users:name", "lists:numbers", "users:score", "later:name")
    for full in (False, True):
        found = repo.read(1, 2, 3, 4, 1, names=names if full else names[:3], full_feature_names=full)
        assert found == repo.read(1, 2, 3, 4, 1, names=names if full else names[:3], store=remote, full_feature_names=full)
    one, other = (
        store.get_online_features(list(names), [{"user_id": 1}], full_feature_names=True) for store in (repo.store, remote)
    )
    assert one.proto == other.proto
    assert any("later has no version in" in line and "127.0.0.1" in line for line in logged())


@pytest.mark.parametrize("protocol", ["http", "resp"])
def test_new_versions_and_new_views(tmp_path: Path, protocol: str) -> None:
    repo = Repo(tmp_path)
    repo.source(rows((1, "Ann", 1.5, 1)))
    repo.source(rows((1, "later", 1.5, 1)), "later")
    repo.apply(repo.view(), repo.view("later"))
    repo.materialize()
    names = ("users:name", "later:name")
    with served(repo.online / "shop") as started:
        remote = repo.opened(server=getattr(started, protocol))
        assert repo.read(1, names=names, store=remote, full_feature_names=True)["users__name"] == ["Ann"]
        repo.materialize(rows((1, "Anna", 1.5, 2)))
        repo.materialize(name="later")
        started.reload()  # which also looks for new versions
        until = 600
        while repo.read(1, names=names, store=remote, full_feature_names=True) != {
            "user_id": [1],
            "users__name": ["Anna"],
            "later__name": ["later"],
        }:
            until -= 1
            assert until > 0
            __import__("time").sleep(0.1)


@pytest.mark.parametrize("protocol", ["http", "resp"])
def test_writing_needs_a_path(directory: Path, server: Server, protocol: str) -> None:
    remote = Repo(directory).opened(server=getattr(server, protocol))
    with pytest.raises(ValueError, match="the feature view users is not in a directory here: online_store has no path"):
        remote.write_to_online_store("users", rows((1, "Ann", 1.5, 1)).to_pandas())
    remote.apply([], partial=True)


def test_a_url_is_only_read(directory: Path) -> None:
    remote = Repo(directory).opened(path="s3://bucket/features")
    with pytest.raises(ValueError, match="s3://bucket/features/shop, which is only read"):
        remote.write_to_online_store("users", rows((1, "Ann", 1.5, 1)).to_pandas())


def test_servers_that_do_not_answer(directory: Path) -> None:
    # Nothing listens on port 1.
    for url in ("http://127.0.0.1:1/bsdb/", "redis://127.0.0.1:1"):
        with pytest.raises(ServerError, match="127.0.0.1:1.* does not answer"):
            Repo(directory).opened(server=url).get_online_features(["users:name"], [{"user_id": 1}])
    with pytest.raises(ValueError, match="server is no URL with the prefix"):
        HttpSource("http://127.0.0.1:1", None, 1)


def test_a_wrong_prefix(directory: Path, server: Server) -> None:
    with pytest.raises(ServerError, match="refuses the feature view users: 404"):
        HttpSource(server.http.replace("/bsdb/", "/other/"), None, 60).read([("users", [b"x"])])


@pytest.mark.parametrize("protocol", ["http", "resp"])
def test_a_view_that_is_absent_gets_no_values_of_another(server: Server, protocol: str) -> None:
    kind = HttpSource if protocol == "http" else RedisSource
    source = kind(getattr(server, protocol), None, 60)
    (users, _), (absent, values), (lists, _) = source.read([("users", [b"x"]), ("absent", [b"features"]), ("lists", [b"x"])])
    assert absent is None and values == [None]
    assert users is not None and users.view == "users" and lists is not None and lists.view == "lists"
    source.close()


@pytest.mark.parametrize("protocol", ["http", "resp"])
def test_threads_share_a_source(directory: Path, server: Server, protocol: str) -> None:
    remote = Repo(directory).opened(server=getattr(server, protocol))
    failed: list[BaseException] = []

    def run(user: int) -> None:
        try:
            for _ in range(50):
                found = remote.get_online_features(["users:name", "lists:numbers"], [{"user_id": user}]).to_dict()
                assert found["name"] == [["Ann", "Bob"][user - 1]]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(user,)) for user in (1, 2, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


class _Fake:
    """A server that answers each request as told, and then closes the connection without a word."""

    def __init__(self, answers: list[tuple[int, bytes]], close: bool = True) -> None:
        self.requests: list[tuple[str, str]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, self.headers.get("Authorization", "")))
                status, body = answers[min(len(outer.requests), len(answers)) - 1]
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = close

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/p/"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> _Fake:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _frames(*values: Any) -> bytes:
    return b"".join(struct.pack(">i", -1 if value is None else len(value)) + (value or b"") for value in values)


def test_connections_that_the_server_has_closed() -> None:
    row = encoded(5, [b""])
    with _Fake([(200, _frames(Features("v", ("a",), 0).encoded(), row, None))]) as fake:
        source = HttpSource(fake.url, "secret", 60)
        for _ in range(3):
            [(features, values)] = source.read([("v", [b"x", b"y"])])
            assert features == Features("v", ("a",), 0) and values == [row, None]
        assert len(fake.requests) == 3 and fake.requests[0] == ("/p/v/?key_encoding=hex", "Bearer secret")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, b'{"error":{"status":500,"message":"damaged"}}'), "refuses the feature view v: 500 damaged"),
        ((401, b"who?"), "401 who"),
        ((200, _frames(Features("v", ("a",), 0).encoded())), "sent 1 answers to 2 keys"),
        ((200, b"\x00\x00"), "answers to 2 keys"),
        ((200, _frames(Features("v", ("a",), 0).encoded(), b"1234")[:-2]), "answers to 2 keys"),
        ((200, _frames(Features("w", ("a",), 0).encoded(), None)), "holds the feature view 'w'"),
        ((200, _frames(None, None)), "holds no feature view"),
    ],
)
def test_answers_that_are_refused(answer: tuple[int, bytes], message: str) -> None:
    with _Fake([answer]) as fake, pytest.raises((ServerError, ValueError), match=message):
        HttpSource(fake.url, None, 60).read([("v", [b"x"])])


def test_a_forked_process_has_connections_of_its_own() -> None:
    answers = [(200, _frames(Features("v", ("a",), 0).encoded(), None))]
    with _Fake(answers, close=False) as fake:
        source = HttpSource(fake.url, None, 60)
        source.read([("v", [b"x"])])
        [free] = source._free
        child = multiprocessing.get_context("fork").Process(target=_read_in_child, args=(source,))
        child.start()
        child.join()
        assert child.exitcode == 0 and source._free == [free]


def _read_in_child(source: HttpSource) -> None:
    [before] = source._free
    source.read([("v", [b"x"])])
    [after] = source._free
    assert after is not before


def test_credentials_stay_out_of_messages(directory: Path) -> None:
    with pytest.raises(ValueError, match="give the token") as raised:
        HttpSource("http://me:secret@host/p/", None, 1)
    assert "secret" not in str(raised.value)
    with pytest.raises(ServerError) as refused:
        RedisSource("redis://:secret@127.0.0.1:1", None, 1).read([("v", [b"x"])])
    assert "secret" not in str(refused.value)
