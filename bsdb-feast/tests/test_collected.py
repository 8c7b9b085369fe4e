"""Rows that are written one by one wait for the next version."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Callable

import pandas as pd
import pytest
from bsdb_feast import RowError, publish_collected
from conftest import DAY, Repo, rows
from feast import PushSource
from feast.data_source import PushMode
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import Value


def frame(*records: tuple[Any, ...]) -> pd.DataFrame:
    """Rows of users, as a frame of pandas."""
    return rows(*records).to_pandas()


def test_rows_are_collected_and_merged_by_the_next_materialization(repo: Repo, logged: Callable[[], list[str]]) -> None:
    repo.materialize()
    repo.store.write_to_online_store("users", frame((1, "pushed", 9.0, 50)))
    repo.store.write_to_online_store("users", frame((5, "new", 5.0, 50)))
    assert [line for line in logged() if "collected and not served yet" in line] != []
    assert repo.read(1, 5)["name"] == ["Ann", None]
    repo.materialize(rows((2, "Bobby", 2.0, 60)))
    assert repo.read(1, 2, 5)["name"] == ["pushed", "Bobby", "new"]
    assert repo.hidden() == [] and len(repo.versions()) == 2


def test_publish_collected(repo: Repo) -> None:
    assert publish_collected(repo.store) == []
    repo.store.write_to_online_store("users", frame((1, "pushed", 9.0, 50)))
    [published] = publish_collected(repo.store, ["users"])
    assert (published.view, published.records, published.collected) == ("users", 1, 1)
    assert repo.read(1)["name"] == ["pushed"] and publish_collected(repo.store) == []
    with pytest.raises(ValueError, match="there is no feature view nobody; there are: users"):
        publish_collected(repo.store, ["nobody"])


def test_the_newest_row_counts_whatever_its_way(repo: Repo) -> None:
    repo.materialize(rows((1, "base", 1.0, 20), (2, "base", 1.0, 20), (3, "base", 1.0, 20)))
    repo.store.write_to_online_store("users", frame((1, "older", 2.0, 10), (2, "newer", 2.0, 30), (3, "newest", 2.0, 50)))
    repo.store.write_to_online_store("users", frame((2, "new", 2.0, 25)))
    repo.materialize(rows((2, "table", 3.0, 28), (3, "table", 3.0, 40), (4, "table", 3.0, 1)))
    assert repo.read(1, 2, 3, 4)["name"] == ["base", "newer", "newest", "table"]
    assert repo.read(1, 2, 3, 4)["score"] == [1.0, 2.0, 2.0, 3.0]


def test_of_equally_new_rows_the_last_one_counts(repo: Repo) -> None:
    repo.store.write_to_online_store("users", frame((1, "first", 1.0, 10)))
    repo.store.write_to_online_store("users", frame((1, "second", 1.0, 10)))
    publish_collected(repo.store)
    assert repo.read(1)["name"] == ["second"]


def test_a_row_of_some_features_keeps_the_others(repo: Repo) -> None:
    repo.materialize()
    online, view = repo.store._get_provider().online_store, repo.store.get_feature_view("users")

    def write(user: int, time: datetime, **values: Value) -> None:
        key = EntityKey(join_keys=["user_id"], entity_values=[Value(int64_val=user)])
        online.online_write_batch(repo.store.config, view, [(key, values, time, None)], None)

    write(1, DAY + timedelta(days=1), score=Value(double_val=7.0))
    write(2, DAY + timedelta(days=1), name=Value(string_val="Bobby"))
    write(2, DAY + timedelta(days=2), score=Value(double_val=8.0))
    write(2, DAY + timedelta(hours=30), score=Value(double_val=1.0))
    write(3, DAY.replace(tzinfo=None), name=Value())
    repo.materialize(rows((1, "Anna", 1.0, 12)))
    assert repo.read(1, 2, 3) == {"user_id": [1, 2, 3], "name": ["Anna", "Bobby", None], "score": [7.0, 8.0, None]}


def test_push(tmp_path: Path) -> None:
    repo = Repo(tmp_path, online_write="publish")
    repo.source(rows((1, "Ann", 1.0, 1)))
    source = PushSource(name="pushes", batch_source=repo.view().batch_source)
    repo.apply(repo.view(source=source))
    repo.materialize()
    repo.store.push("pushes", frame((1, "pushed", 2.0, 50)), to=PushMode.ONLINE)
    assert repo.read(1)["name"] == ["pushed"] and len(repo.versions()) == 2


def test_another_engine(tmp_path: Path, logged: Callable[[], list[str]]) -> None:
    repo = Repo(tmp_path, engine="local")
    repo.source(rows((1, "Ann", 1.5, 1), (2, "Bob", None, 2)))
    repo.apply()
    repo.materialize()
    assert repo.read(1)["name"] == [None]
    assert any("collected and not served yet" in line for line in logged())
    publish_collected(repo.store)
    assert repo.read(1, 2) == {"user_id": [1, 2], "name": ["Ann", "Bob"], "score": [1.5, None]}


def test_asynchronous_calls(repo: Repo) -> None:
    async def run() -> None:
        repo.materialize()
        found = await repo.store.get_online_features_async(["users:name"], [{"user_id": 1}])
        assert found.to_dict() == {"user_id": [1], "name": ["Ann"]}
        online, view = repo.store._get_provider().online_store, repo.store.get_feature_view("users")
        key = EntityKey(join_keys=["user_id"], entity_values=[Value(int64_val=9)])
        await online.online_write_batch_async(repo.store.config, view, [(key, {"name": Value(string_val="x")}, DAY, None)], None)
        publish_collected(repo.store)
        [(time, values)] = await online.online_read_async(repo.store.config, view, [key])
        assert (time, values["name"]) == (DAY, Value(string_val="x"))
        [(_, values)] = online.online_read(repo.store.config, view, [key], ["score", "unknown"])
        assert values == {"score": Value()}
        await repo.store.close()
        assert repo.read(1)["name"] == ["Ann"]

    asyncio.run(run())


def test_rows_wait_on_if_a_publication_fails(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    import bsdbkv

    repo.materialize()
    repo.store.write_to_online_store("users", frame((1, "pushed", 9.0, 50)))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(bsdbkv, "publish", full)
        with pytest.raises(OSError, match="No space left"):
            publish_collected(repo.store)
    assert len(repo.hidden()) == 1 and repo.read(1)["name"] == ["Ann"]
    publish_collected(repo.store)
    assert repo.hidden() == [] and repo.read(1)["name"] == ["pushed"]


def test_rows_that_were_merged_before_a_crash_are_merged_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.materialize()
    repo.store.write_to_online_store("users", frame((1, "pushed", 9.0, 50), (7, "new", 7.0, 50)))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            publish_collected(repo.store)
    assert repo.read(1)["name"] == ["pushed"]
    [again] = publish_collected(repo.store)
    assert again.records == 3 and repo.read(1, 7)["name"] == ["pushed", "new"] and repo.hidden() == []


def test_damaged_files_are_named(repo: Repo) -> None:
    repo.store.write_to_online_store("users", frame((1, "pushed", 9.0, 50)))
    [name] = repo.hidden()
    file = repo.online / "shop" / name
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(RowError, match=f"{file.name} is damaged"):
        publish_collected(repo.store)


def test_files_of_killed_writers_are_removed_in_time(repo: Repo) -> None:
    repo.store.write_to_online_store("users", frame((1, "pushed", 9.0, 50)))
    folder = repo.online / "shop" / ".collected" / "users"
    old, new = folder / "0-old.part", folder / "0-new.part"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (1, 1))
    publish_collected(repo.store)
    assert [file.name for file in folder.iterdir()] == ["0-new.part"] and repo.read(1)["name"] == ["pushed"]


def test_vectors_are_not_precomputed(repo: Repo) -> None:
    online = repo.store._get_provider().online_store
    with pytest.raises(NotImplementedError, match="of the feature service s cannot be precomputed"):
        online.write_precomputed_vector(repo.store.config, "s", "shop", EntityKey(), b"")
