"""Feature stores for tests."""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.online_response import OnlineResponse
from feast.repo_config import RepoConfig
from feast.types import Float64, Int64, String

ROOT = Path(__file__).resolve().parents[2]
DAY = datetime(2026, 11, 1, tzinfo=timezone.utc)
END = DAY + timedelta(days=29)
ENGINE = {"type": "bsdb_feast.BsdbMaterializationEngine"}

USER = Entity(name="user", join_keys=["user_id"], value_type=ValueType.INT64)


def rows(*records: tuple[Any, ...], names: str = "user_id name score") -> pa.Table:
    """A table of records whose last item is the hours after DAY of the event timestamp."""
    columns: dict[str, Any] = {name: [record[i] for record in records] for i, name in enumerate(names.split())}
    columns["at"] = [DAY + timedelta(hours=record[-1]) for record in records]
    table = pa.table(columns)
    return table.cast(pa.schema([field if field.name != "at" else pa.field("at", pa.timestamp("us", "UTC")) for field in table.schema]))


class Repo:
    """A feature repository in a directory, with one feature view of users unless others are applied."""

    def __init__(self, directory: Path, engine: Any = ENGINE, offline: str = "duckdb", **online: Any) -> None:
        self.directory = directory
        self.offline = offline
        self.online = directory / "online"
        self.store = self.opened(engine, **online)

    def opened(self, engine: Any = ENGINE, **online: Any) -> FeatureStore:
        """A feature store of the same registry."""
        settings = online
        if online.get("type") != "sqlite":
            settings = {"type": "bsdb_feast.BsdbOnlineStore", "refresh_seconds": 0, **online}
        if "server" not in settings:
            settings.setdefault("path", str(self.online))
        return FeatureStore(
            config=RepoConfig(
                project="shop",
                provider="local",
                registry={"path": str(self.directory / "registry.db"), "cache_ttl_seconds": 0},
                online_store=settings,
                offline_store={"type": self.offline},
                batch_engine=engine,
                entity_key_serialization_version=3,
            )
        )

    def view(self, name: str = "users", schema: Any = None, **options: Any) -> FeatureView:
        """A feature view whose source is a file of its name."""
        schema = schema or [Field(name="name", dtype=String), Field(name="score", dtype=Float64)]
        entities = options.pop("entities", [USER])
        if entities == [USER]:
            schema = [Field(name="user_id", dtype=Int64), *schema]
        source = options.pop("source", None) or FileSource(
            name=f"source_{name}", path=str(self.directory / f"{name}.parquet"), timestamp_field="at", **options.pop("columns", {})
        )
        return FeatureView(name=name, entities=entities, schema=schema, source=source, **options)

    def source(self, table: pa.Table, name: str = "users") -> None:
        """Writes the source of a view."""
        pq.write_table(table, self.directory / f"{name}.parquet")

    def apply(self, *objects: Any) -> None:
        """Applies feature views, by default that of users."""
        self.store.apply([USER, *(objects or (self.view(),))])

    def materialize(self, table: Any = None, name: str = "users", start: datetime = DAY, end: datetime = END) -> None:
        """Materializes a view, of a table if one is given."""
        if table is not None:
            self.source(table, name)
        self.store.materialize(start, end, feature_views=[name], disable_event_timestamp=False)

    def read(self, *users: Any, names: Any = ("users:name", "users:score"), store: Any = None, **options: Any) -> dict[str, Any]:
        """What ``get_online_features`` gives for users."""
        found = (store or self.store).get_online_features(
            features=list(names), entity_rows=[{"user_id": user} for user in users], **options
        )
        read: dict[str, Any] = found.to_dict()
        assert read == OnlineResponse.to_dict(found), "to_dict differs from that of Feast"
        return read

    def versions(self, name: str = "users") -> list[str]:
        """The versions of a view that are there."""
        directory = self.online / "shop" / name
        return sorted(each.name for each in directory.iterdir() if each.is_dir() and not each.name.startswith("."))

    def hidden(self) -> list[str]:
        """Files of the project that belong to no store, except locks."""
        project = self.online / "shop"
        return sorted(
            str(file.relative_to(project))
            for folder in (".work", ".collected")
            for file in (project / folder).rglob("*")
            if file.is_file() and file.suffix != ".lock"
        )


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with a view of users, which is not materialized."""
    made = Repo(tmp_path)
    made.source(rows((1, "Ann", 1.5, 1), (2, "Bob", None, 2)))
    made.apply()
    return made


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What the package has logged."""
    caplog.set_level(logging.INFO, logger="bsdb_feast")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "bsdb_feast"]


class Server:
    """``bsdb serve`` of the stores of a project, on ports that it chooses itself."""

    def __init__(self, project: Path) -> None:
        self._log = project.parent / f"serve-{uuid.uuid4().hex}.log"
        bsdb = shlex.split(os.environ.get("BSDB", str(ROOT / "scripts/bsdb")))
        command = [*bsdb, "serve", "-d", str(project), "-A", "127.0.0.1"]
        command += ["-p", "0", "--resp", "0", "--poll", "1"]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        until = time.monotonic() + 120
        while time.monotonic() < until and self._process.poll() is None:
            text = self._log.read_text()
            found = [_port(text, mark) for mark in ("http://127.0.0.1:", "redis://127.0.0.1:")]
            if all(found):
                self.http, self.resp = (f"http://127.0.0.1:{found[0]}/bsdb/", f"redis://127.0.0.1:{found[1]}")
                return
            time.sleep(0.05)
        raise AssertionError(f"the server does not listen: {self._log.read_text()}")

    def reload(self) -> None:
        """Asks for the data sets again, and returns when the server has said so."""
        size = self._log.stat().st_size
        self._process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 60
        while self._log.stat().st_size == size:
            assert time.monotonic() < until, "the server does not reload"
            time.sleep(0.05)

    def stop(self) -> None:
        """Stops the server."""
        self._process.terminate()
        self._process.wait(60)


def _port(text: str, mark: str) -> int:
    at = text.find(mark)
    digits = "" if at < 0 else text[at + len(mark) :].split("/")[0].split()[0].strip(",.;)")
    return int(digits) if digits.isdigit() else 0


@contextlib.contextmanager
def served(project: Path) -> Iterator[Server]:
    """A server for a test."""
    server = Server(project)
    try:
        yield server
    finally:
        server.stop()
