"""Compares Feast on bsdb with Feast on Redis: bench/compare.py [OPTION...]; see --help.

Materializes the same feature views with both, and asks both for the same entities in turn, so that both are measured in the
same minutes: "local" reads files, "http" and "redis" ask ``bsdb serve`` on this machine, and "feast-redis" is Feast's own
Redis store with redis-server on this machine. Needs redis-server, and a JDK for ``bsdb serve``. A value that differs between
the stores is an error.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import logging
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.repo_config import RepoConfig
from feast.types import Float64, Int64

ROOT = Path(__file__).resolve().parents[2]
START, END = datetime(2026, 10, 1, tzinfo=timezone.utc), datetime(2026, 11, 30, tzinfo=timezone.utc)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=10_000, help="entities of each view (default 10000)")
    parser.add_argument("--views", type=int, default=4, help="feature views (default 4)")
    parser.add_argument("--features", type=int, default=50, help="features of each view (default 50)")
    parser.add_argument("--batch", type=int, default=50, help="entities of a request (default 50)")
    parser.add_argument("--requests", type=int, default=500, help="requests to each store (default 500)")
    parser.add_argument("--stores", default="local,http,redis,feast-redis", help="which to compare, separated by commas")
    parser.add_argument("--offline", default="file", help="the offline store (default file)")
    parser.add_argument("--json", action="store_true", help="print an object instead of lines")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="compare-feast-") as directory, contextlib.ExitStack() as stack:
        report = Comparison(Path(directory), options, stack).run()
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, seconds in report["materialize"].items():
        print(f"materialize {name:12} {seconds:8.2f} s")
    for name, figures in report["read"].items():
        print(f"read        {name:12} " + "  ".join(f"{what} {ms:7.2f} ms" for what, ms in figures.items()))


class Comparison:
    def __init__(self, directory: Path, options: argparse.Namespace, stack: contextlib.ExitStack) -> None:
        self.directory = directory
        self.options = options
        self.stack = stack

    def run(self) -> dict[str, Any]:
        wanted = self.options.stores.split(",")
        views = [self.view(i) for i in range(self.options.views)]
        entity = views[0][0]
        materialized = {}
        stores: dict[str, FeatureStore] = {}
        online = self.directory / "online"
        local = self.store("local", {"type": "bsdb_feast.BsdbOnlineStore", "path": str(online)}, entity, views)
        materialized["bsdb"] = self.materialize(local)
        if "local" in wanted:
            stores["local"] = local
        if "http" in wanted or "redis" in wanted:
            http, resp = self.serve(online / "p")
            for name, url in (("http", f"http://127.0.0.1:{http}/bsdb/"), ("redis", f"redis://127.0.0.1:{resp}")):
                if name in wanted:
                    stores[name] = self.store(name, {"type": "bsdb_feast.BsdbOnlineStore", "server": url}, entity, views)
        if "feast-redis" in wanted:
            port = self.redis()
            config = {"type": "redis", "connection_string": f"127.0.0.1:{port}"}
            stores["feast-redis"] = self.store("feast-redis", config, entity, views)
            materialized["feast-redis"] = self.materialize(stores["feast-redis"])
        return {"options": vars(self.options), "materialize": materialized, "read": self.read(stores)}

    def view(self, number: int) -> tuple[Entity, FeatureView]:
        rows, random = self.options.entities, np.random.default_rng(number)
        first = np.datetime64("2026-11-01", "us")
        columns = {
            "user_id": pa.array(np.arange(rows)),
            "event_timestamp": pa.array(first + random.integers(0, 10**9, rows), pa.timestamp("us", tz="UTC")),
        }
        names = [f"v{number}_f{i}" for i in range(self.options.features)]
        for i, name in enumerate(names):
            columns[name] = pa.array(random.random(rows) if i % 2 else random.integers(0, 100_000, rows))
        file = self.directory / f"{number}.parquet"
        pq.write_table(pa.table(columns), file)
        entity = Entity(name="user", join_keys=["user_id"], value_type=ValueType.INT64)
        fields = [Field(name=name, dtype=Float64 if i % 2 else Int64) for i, name in enumerate(names)]
        source = FileSource(name=f"source{number}", path=str(file), timestamp_field="event_timestamp")
        schema = [Field(name="user_id", dtype=Int64), *fields]
        return entity, FeatureView(name=f"view{number}", entities=[entity], schema=schema, source=source)

    def store(self, name: str, online: dict[str, Any], entity: Entity, views: list[Any]) -> FeatureStore:
        ours = online["type"].startswith("bsdb")
        config = RepoConfig(
            project="p",
            provider="local",
            registry={"path": str(self.directory / f"{name}.db"), "cache_ttl_seconds": 0},
            online_store=online,
            offline_store={"type": self.options.offline},
            batch_engine={"type": "bsdb_feast.BsdbMaterializationEngine" if ours else "local"},
            entity_key_serialization_version=3,
        )
        store = FeatureStore(config=config)
        store.apply([entity, *(view for _, view in views)])
        return store

    def materialize(self, store: FeatureStore) -> float:
        start = time.perf_counter()
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            store.materialize(START, END)
        return time.perf_counter() - start

    def read(self, stores: dict[str, FeatureStore]) -> dict[str, dict[str, float]]:
        names = [f"view{v}:v{v}_f{i}" for v in range(self.options.views) for i in range(self.options.features)]
        random = np.random.default_rng(1)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in stores}
        # Each in a process of its own, because Feast reads the definitions of views again if two stores take turns in one.
        context = multiprocessing.get_context("spawn")
        pipes = {name: context.Pipe() for name in stores}
        workers = [
            context.Process(target=_answer, args=(store.config, names, pipes[name][1])) for name, store in stores.items()
        ]
        for worker in workers:
            worker.start()
        for number in range(self.options.requests + 20):
            rows = [{"user_id": int(user)} for user in random.integers(0, self.options.entities, self.options.batch)]
            digests = set()
            for name, (pipe, _) in pipes.items():
                pipe.send(rows)
                got, whole, digest = pipe.recv()
                digests.add(digest)
                if number >= 20:
                    times[name].append((got, whole))
            if len(digests) > 1:
                sys.exit("the stores do not agree")
        for pipe, _ in pipes.values():
            pipe.send(None)
        for worker in workers:
            worker.join()
        return {name: _figures(both) for name, both in times.items()}

    def serve(self, project: Path) -> tuple[int, int]:
        http, resp = _port(), _port()
        command = [str(ROOT / "scripts/bsdb"), "serve", "-d", str(project), "-A", "127.0.0.1", "-p", str(http), "--resp", str(resp)]
        self.start(command, http)
        return http, resp

    def redis(self) -> int:
        port = _port()
        if shutil.which("redis-server") is None:
            sys.exit("redis-server is not installed")
        self.start(["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(self.directory)], port)
        return port

    def start(self, command: list[str], port: int) -> None:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.terminate)
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            if process.poll() is not None:
                sys.exit(f"{command[0]} ended with exit code {process.returncode}")
            time.sleep(0.1)
        sys.exit(f"{command[0]} does not listen")


def _answer(config: RepoConfig, names: list[str], pipe: Any) -> None:
    """Answers requests until there are no more: the seconds until the response, with to_dict(), and what it holds."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    store = FeatureStore(config=config)
    while (rows := pipe.recv()) is not None:
        start = time.perf_counter()
        response = store.get_online_features(features=names, entity_rows=rows)
        middle = time.perf_counter()
        values = response.to_dict()
        end = time.perf_counter()
        pipe.send((middle - start, end - start, hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()))


def _figures(both: list[tuple[float, float]]) -> dict[str, float]:
    figures = {}
    for i, what in enumerate(("", " with to_dict")):
        ordered = sorted(1000 * each[i] for each in both)
        figures[f"p50{what}"] = ordered[len(ordered) // 2]
        figures[f"p99{what}"] = ordered[len(ordered) * 99 // 100]
    return figures


def _port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


if __name__ == "__main__":
    main()
