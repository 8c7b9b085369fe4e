"""Where rows are read: local stores, a server over HTTP, or a server by the protocol of Redis.

A source answers the lookups of all feature views of a request in one batch. All rows of a view come from one version, and
so do the names of its features.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import ssl
import struct
import time
import urllib.parse
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import bsdbkv

from ._rows import FEATURES, Features

__all__ = ["HttpSource", "LocalSource", "RedisSource", "RemoteSource", "ServerError", "Source", "View", "Wanted"]

_log = logging.getLogger("bsdb_feast")

# How a connection fails that the other end has closed.
_CLOSED = (http.client.RemoteDisconnected, ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)

# Keys in one request.
_MOST_KEYS = 10_000
_ATTEMPTS = 3

# Seconds between two checks for a new version of a store elsewhere, each of which is a request.
_ELSEWHERE = 10.0

Wanted = tuple[str, Sequence[bytes]]
"""A feature view, and the keys of entities."""
View = tuple[Optional[Features], Sequence[Optional[bytes]]]
"""What was found: the features of the view and a row or None for each key; no features if there is no such view."""


class ServerError(ConnectionError):
    """A server that does not answer, or refuses."""


class Source(ABC):
    """Where rows are read. Any number of threads can use it at once, and so can processes that were forked."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    @abstractmethod
    def read(self, wanted: Sequence[Wanted]) -> list[View]:
        """Looks up the entities of each view."""

    def close(self) -> None:
        """Ends what is open."""

    def _absent(self, view: str, where: object) -> None:
        """Says once that there is no such view yet: its features are NOT_FOUND, as in every online store."""
        if view not in self._told:
            self._told.add(view)
            _log.warning("the feature view %s has no version in %s yet; its features are NOT_FOUND", view, where)


class LocalSource(Source):
    """Stores below a directory, or below a URL such as ``s3://bucket/features/project``."""

    def __init__(self, project: Union[Path, str], refresh: float) -> None:
        super().__init__()
        self._project = project
        self._refresh = refresh if isinstance(project, Path) else max(refresh, _ELSEWHERE)
        self._open: dict[str, _Followed] = {}

    def read(self, wanted: Sequence[Wanted]) -> list[View]:
        found: list[View] = []
        for view, keys in wanted:
            followed = self._open.get(view) or self._opened(view)
            version = None if followed is None else followed.version(self._refresh)
            if version is None:
                if self._open.pop(view, None) is not None:  # the view was deleted
                    self._absent(view, self._project)
                found.append((None, [None] * len(keys)))
                continue
            database, features = version
            found.append((features, database.get_many(keys)))
        return found

    def _opened(self, view: str) -> Optional[_Followed]:
        if isinstance(self._project, Path):
            place: Union[Path, str] = self._project / view
            there = (self._project / view / "CURRENT").exists()
        else:
            place, there = f"{self._project}/{view}", True
        try:
            if there:
                return self._open.setdefault(view, _Followed(view, place))
        except bsdbkv.NotFoundError:
            if isinstance(place, Path):
                raise  # CURRENT names a version that is not there
        self._absent(view, place)
        return None

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].store.close()


class _Followed:
    """A store whose current version is followed."""

    def __init__(self, view: str, place: Union[Path, str]) -> None:
        self.view = view
        self.place = place
        self.store = bsdbkv.Store(place)
        self._shown = self._read()
        self._checked = time.monotonic()
        self._refused: Optional[str] = None

    def version(self, refresh: float) -> Optional[tuple[Any, Features]]:
        """The current version and its features; None if the store was removed. If a new version cannot be read, the one
        before stays."""
        now = time.monotonic()
        if now - self._checked >= refresh:
            self._checked = now  # other threads use the version before meanwhile
            if isinstance(self.place, Path) and not (self.place / "CURRENT").exists():
                return None
            try:
                self.store.refresh()
                # Compared, because what is shown may be older after an error, or if another thread was slow.
                if self.store.database is not self._shown[0]:
                    self._shown = self._read()
                self._refused = None
            except (bsdbkv.Error, OSError, ValueError) as error:
                if self._refused != str(error):
                    self._refused = str(error)
                    _log.error("the feature view %s stays at the version before: %s", self.view, error)
        return self._shown

    def _read(self) -> tuple[Any, Features]:
        database = self.store.database
        return database, Features.decoded(database.get(FEATURES), self.view, str(self.place))


class RemoteSource(Source):
    """A server. Lookups of many keys are requests one after the other."""

    def read(self, wanted: Sequence[Wanted]) -> list[View]:
        if sum(len(keys) for _, keys in wanted) <= _MOST_KEYS:
            return self.read_once(wanted)
        return [self._read_parts(view, keys) for view, keys in wanted]

    @abstractmethod
    def read_once(self, wanted: Sequence[Wanted]) -> list[View]:
        """Looks up the entities of each view, all in one round trip."""

    def _read_parts(self, view: str, keys: Sequence[bytes]) -> View:
        for _ in range(_ATTEMPTS):
            parts = [
                self.read_once([(view, keys[start : start + _MOST_KEYS])])[0] for start in range(0, max(1, len(keys)), _MOST_KEYS)
            ]
            features = parts[0][0]
            if all(part[0] == features for part in parts):
                return features, [row for part in parts for row in part[1]]
        raise ServerError(f"the feature view {view} had another version at each of {_ATTEMPTS} attempts to read {len(keys):,} rows")


class HttpSource(RemoteSource):
    """``bsdb serve`` over HTTP or HTTPS. The requests of all views are sent before the first answer is awaited."""

    def __init__(self, url: str, token: Optional[str], timeout: float) -> None:
        super().__init__()
        self._url = urllib.parse.urlsplit(url if url.endswith("/") else url + "/")
        if self._url.username is not None:
            raise ValueError("server has a user in its URL; give the token of the server as token")
        if not self._url.hostname or self._url.path == "/" or self._url.query:
            raise ValueError("server is no URL with the prefix of keys, such as http://host:9999/bsdb/")
        self._timeout = timeout
        self._tls = ssl.create_default_context() if self._url.scheme == "https" else None
        self._headers = {"Content-Type": "text/plain", "Accept": "application/vnd.bsdb.frames"}
        if token:
            if not token.isascii() or not token.isprintable():
                raise ValueError("token has characters that a header cannot hold")
            self._headers["Authorization"] = f"Bearer {token}"
        self._free: list[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def read_once(self, wanted: Sequence[Wanted]) -> list[View]:
        connections = [self._connection() for _ in wanted]
        try:
            for connection, (view, keys) in zip(connections, wanted):
                self._send(connection, view, keys)
            found = [self._receive(connection, view, keys) for connection, (view, keys) in zip(connections, wanted)]
        except BaseException as error:
            for connection in connections:
                connection.close()
            if isinstance(error, (OSError, http.client.HTTPException)) and not isinstance(error, ServerError):
                raise ServerError(f"{self._url.geturl()} does not answer: {error}") from error
            raise
        self._free += connections
        return found

    def close(self) -> None:
        while self._free:
            self._free.pop().close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._process != os.getpid():  # the connections are those of the process that forked
            self._free, self._process = [], os.getpid()
        try:
            return self._free.pop()
        except IndexError:
            pass
        host, port = self._url.hostname or "", self._url.port
        if self._tls is not None:
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _send(self, connection: http.client.HTTPConnection, view: str, keys: Sequence[bytes]) -> None:
        path = f"{self._url.path}{urllib.parse.quote(view)}/?key_encoding=hex"
        try:
            connection.request("POST", path, _body(keys), self._headers)
        except _CLOSED:
            connection.close()  # the server had closed a connection that was idle; this makes a new one
            connection.request("POST", path, _body(keys), self._headers)

    def _receive(self, connection: http.client.HTTPConnection, view: str, keys: Sequence[bytes]) -> View:
        try:
            answer = connection.getresponse()
        except _CLOSED:
            connection.close()  # likewise; to read twice does no harm
            self._send(connection, view, keys)
            answer = connection.getresponse()
        body = answer.read()
        if answer.status == 404 and b"no data set has this name" in body:
            self._absent(view, self._url.geturl())
            return None, [None] * len(keys)
        if answer.status != 200:
            raise ServerError(f"{self._url.geturl()} refuses the feature view {view}: {answer.status} {_message(body)}")
        values = _frames(body, len(keys) + 1, self._url.geturl())
        return Features.decoded(values[0], view, f"the data set {view} of {self._url.geturl()}"), values[1:]


class RedisSource(RemoteSource):
    """``bsdb serve --resp``, through redis-py. All views are one pipeline."""

    def __init__(self, url: str, token: Optional[str], timeout: float) -> None:
        super().__init__()
        try:
            import redis
        except ImportError as error:
            raise ImportError("reading by the protocol of Redis needs redis-py: pip install 'bsdb-feast[redis]'") from error
        self._redis = redis
        parts = urllib.parse.urlsplit(url)
        self._shown = f"{parts.scheme}://{parts.hostname}:{parts.port or 6379}"
        self._client = redis.Redis.from_url(
            url, socket_timeout=timeout, socket_connect_timeout=timeout, **({"password": token} if token else {})
        )

    def read_once(self, wanted: Sequence[Wanted]) -> list[View]:
        pipeline = self._client.pipeline(transaction=False)
        for view, keys in wanted:
            pipeline.execute_command("SELECT", view)
            pipeline.execute_command("MGET", FEATURES, *keys)
        try:
            answers = pipeline.execute(raise_on_error=False)
        except self._redis.RedisError as error:
            raise ServerError(f"{self._shown} does not answer: {error}") from error
        found: list[View] = []
        for (view, keys), selected, values in zip(wanted, answers[::2], answers[1::2]):
            if isinstance(selected, Exception):
                # The values are those of another data set.
                if "no data set is named" not in str(selected):
                    raise ServerError(f"{self._shown} has no data set {view}: {selected}") from selected
                self._absent(view, self._shown)
                found.append((None, [None] * len(keys)))
                continue
            if isinstance(values, Exception):
                raise ServerError(f"{self._shown} refuses the feature view {view}: {values}") from values
            features = Features.decoded(values[0], view, f"the data set {view} of {self._shown}")
            found.append((features, values[1:]))
        return found

    def close(self) -> None:
        self._client.close()


def _body(keys: Sequence[bytes]) -> bytes:
    return b"\n".join([FEATURES.hex().encode(), *(key.hex().encode() for key in keys)])


def _frames(body: bytes, count: int, where: str) -> list[Optional[bytes]]:
    """The values of a batch in the form application/vnd.bsdb.frames."""
    values: list[Optional[bytes]] = []
    at = 0
    while at + 4 <= len(body):
        (size,) = struct.unpack_from(">i", body, at)
        at += 4
        if size < 0:
            values.append(None)
            continue
        values.append(body[at : at + size])
        at += size
    if at != len(body) or len(values) != count:
        raise ServerError(f"{where} sent {len(values)} answers to {count} keys")
    return values


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body[:200].decode(errors="replace")
