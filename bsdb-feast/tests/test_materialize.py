"""Materializations become versions, and are read."""

from __future__ import annotations

import multiprocessing
import os
import signal
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, Callable

import bsdbkv
import pandas as pd
import pyarrow as pa
import pytest
from bsdb_feast import publish_collected
from conftest import DAY, END, ENGINE, USER, Repo, rows
from feast import BatchFeatureView, Entity, FeatureService, Field, ValueType
from feast.infra.key_encoding_utils import serialize_entity_key
from feast.protos.feast.serving.ServingService_pb2 import GetOnlineFeaturesResponse
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import Value
from feast.types import Array, Float32, Float64, Int64, String


def test_the_rows_of_a_source_are_read(repo: Repo, logged: Callable[[], list[str]]) -> None:
    repo.materialize()
    assert repo.read(1, 2, 3, 1) == {
        "user_id": [1, 2, 3, 1],
        "name": ["Ann", "Bob", None, "Ann"],
        "score": [1.5, None, None, 1.5],
    }
    vector = repo.store.get_online_features(["users:score"], [{"user_id": user} for user in (2, 3)]).proto.results[-1]
    status = GetOnlineFeaturesResponse.FeatureVector.FromString(vector.SerializeToString()).statuses
    assert list(status) == [1, 3]  # PRESENT, and null; NOT_FOUND
    assert [each.seconds for each in vector.event_timestamps] == [int((DAY + timedelta(hours=2)).timestamp()), 0]
    assert len(repo.versions()) == 1 and repo.hidden() == []
    assert any("published version" in line and "2 entities" in line for line in logged())


def test_the_database_is_what_the_guide_says(repo: Repo) -> None:
    repo.materialize()
    with bsdbkv.open(repo.online / "shop" / "users") as database:
        assert len(database) == 3
        key = serialize_entity_key(EntityKey(join_keys=["user_id"], entity_values=[Value(int64_val=1)]), 3)
        vector = GetOnlineFeaturesResponse.FeatureVector.FromString(database[key])
        names = __import__("json").loads(database["features"])["features"]
        assert dict(zip(names, vector.values)) == {"name": Value(string_val="Ann"), "score": Value(double_val=1.5)}
        assert len(vector.event_timestamps) == 1


def test_a_later_range_is_merged(repo: Repo) -> None:
    repo.materialize()
    repo.materialize(rows((2, "Bobby", 2.0, 50), (3, "Cid", 3.0, 51)))
    assert repo.read(1, 2, 3)["name"] == ["Ann", "Bobby", "Cid"]
    assert len(repo.versions()) == 2


def test_older_rows_do_not_replace_newer_ones(repo: Repo, logged: Callable[[], list[str]]) -> None:
    repo.materialize(rows((1, "new", 1.0, 100), (2, "old", 1.0, 10)))
    repo.materialize(rows((1, "older", 2.0, 99), (2, "newer", 2.0, 11), (3, "third", 2.0, 1)))
    assert repo.read(1, 2, 3)["name"] == ["new", "newer", "third"]
    assert "1 older rows left out" in logged()[-1]


def test_equally_new_rows_replace(repo: Repo) -> None:
    repo.materialize(rows((1, "wrong", 1.0, 100), (2, "x", 1.0, 101)))
    repo.materialize(rows((1, "corrected", 1.0, 100)))
    assert repo.read(1, 2)["name"] == ["corrected", "x"]


def test_the_newest_row_of_an_entity_counts(repo: Repo) -> None:
    repo.materialize(rows((1, "b", 1.0, 20), (1, "c", 1.0, 30), (1, "a", 1.0, 10), (2, "x", 1.0, 1)))
    assert repo.read(1, 2)["name"] == ["c", "x"]


@pytest.mark.parametrize("latest", [False, True])
def test_of_equally_new_rows_the_one_made_last_counts(tmp_path: Path, latest: bool) -> None:
    repo = Repo(tmp_path)
    repo.store.config.materialization_config.pull_latest_features = latest
    table = rows((1, "second", 1.0, 20), (1, "first", 1.0, 20), (2, "x", 1.0, 20))
    created = pa.array([DAY + timedelta(hours=each) for each in (2, 1, 1)], pa.timestamp("us", "UTC"))
    repo.source(table.append_column("made", created))
    repo.apply(repo.view(columns={"created_timestamp_column": "made"}))
    repo.materialize()
    assert repo.read(1, 2)["name"] == ["second", "x"]


def test_an_empty_range_publishes_nothing(repo: Repo) -> None:
    repo.materialize()
    repo.materialize(start=DAY - timedelta(days=9), end=DAY - timedelta(days=8))
    assert len(repo.versions()) == 1 and repo.read(1)["name"] == ["Ann"]


def test_materialize_incremental(repo: Repo) -> None:
    repo.store.materialize_incremental(END)
    assert repo.read(1)["name"] == ["Ann"]


@pytest.mark.parametrize("by_tag", [False, True])
def test_replace_drops_entities_without_rows(tmp_path: Path, by_tag: bool) -> None:
    repo = Repo(tmp_path, **({} if by_tag else {"materialize": "replace"}))
    repo.source(rows((1, "Ann", 1.0, 1), (2, "Bob", 1.0, 1)))
    repo.apply(repo.view(tags={"bsdb_materialize": "replace"} if by_tag else {}))
    repo.materialize()
    repo.materialize(rows((2, "Bob", 0.5, 0), (3, "Cid", 1.0, 1)))
    assert repo.read(1, 2, 3)["score"] == [None, 0.5, 1.0]


def test_replace_refuses_to_lose_all_or_much(tmp_path: Path) -> None:
    repo = Repo(tmp_path, materialize="replace", max_shrink_percent=50)
    repo.source(rows(*((user, "x", 1.0, 1) for user in range(10))))
    repo.apply()
    repo.materialize()
    with pytest.raises(ValueError, match=r"would have 4 entities, 60.0 % fewer than the 10 .* max_shrink_percent allows 50 %"):
        repo.materialize(rows(*((user, "x", 1.0, 1) for user in range(4))))
    with pytest.raises(ValueError, match="has no rows in this range"):
        repo.materialize(start=DAY - timedelta(days=9), end=DAY - timedelta(days=8))
    assert repo.read(9)["name"] == ["x"] and len(repo.versions()) == 1 and repo.hidden() == []
    repo.materialize(rows(*((user, "y", 1.0, 1) for user in range(5))))
    assert repo.read(4, 9)["name"] == ["y", None]


def test_a_wrong_tag_is_named(repo: Repo) -> None:
    repo.apply(repo.view(tags={"bsdb_materialize": "overwrite"}))
    with pytest.raises(ValueError, match="bsdb_materialize of the feature view users is 'overwrite'"):
        repo.materialize()


def test_only_some_versions_are_kept(tmp_path: Path) -> None:
    repo = Repo(tmp_path, keep_versions=1)
    repo.apply()
    for number in range(4):
        repo.materialize(rows((1, f"v{number}", 1.0, number)))
    assert len(repo.versions()) == 2 and repo.read(1)["name"] == ["v3"]
    bsdbkv.rollback(repo.online / "shop" / "users")
    assert repo.read(1)["name"] == ["v2"]


def test_features_that_are_added_and_removed(repo: Repo) -> None:
    repo.materialize(rows((1, "Ann", 1.0, 1), (2, "Bob", 2.0, 1)))
    repo.apply(repo.view(schema=[Field(name="score", dtype=Float64), Field(name="age", dtype=Int64)]))
    names = ("users:score", "users:age")
    assert repo.read(1, names=names) == {"user_id": [1], "score": [1.0], "age": [None]}
    repo.materialize(rows((1, 1.5, 30, 9), (3, 3.5, 50, 9), names="user_id score age"))
    assert repo.read(1, 2, 3, names=names) == {"user_id": [1, 2, 3], "score": [1.5, 2.0, 3.5], "age": [30, None, 50]}


def test_a_feature_that_gets_another_type(repo: Repo) -> None:
    repo.materialize(rows((1, "Ann", 1.0, 1), (2, "Bob", 2.0, 1)))
    repo.apply(repo.view(schema=[Field(name="score", dtype=Int64)]))
    repo.materialize(rows((1, 7, 9), names="user_id score"))
    assert repo.read(1, 2, names=("users:score",))["score"] == [7, 2.0]


def test_views_of_several_entities_in_one_request(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    shop = Entity(name="shop", join_keys=["shop_id"], value_type=ValueType.STRING)
    fields = [Field(name="user_id", dtype=Int64), Field(name="shop_id", dtype=String), Field(name="visits", dtype=Int64)]
    repo.source(rows((1, "Ann", 1.0, 1), (2, "Bob", 2.0, 1)))
    repo.source(rows(("a", "mall", 1), ("b", "port", 1), names="shop_id place"), "shops")
    repo.source(rows((1, "a", 5, 1), (2, "b", 6, 1), names="user_id shop_id visits"), "visits")
    repo.source(rows((7.5, 1), names="rate"), "rates")
    repo.store.apply(
        [
            USER,
            shop,
            repo.view(),
            repo.view("shops", [Field(name="shop_id", dtype=String), Field(name="place", dtype=String)], entities=[shop]),
            repo.view("visits", fields, entities=[USER, shop]),
            repo.view("rates", [Field(name="rate", dtype=Float64)], entities=[]),
        ]
    )
    repo.store.materialize(DAY, END)
    found = repo.store.get_online_features(
        features=["users:name", "shops:place", "visits:visits", "rates:rate"],
        entity_rows=[{"user_id": 1, "shop_id": "a"}, {"user_id": 2, "shop_id": "a"}, {"user_id": 2, "shop_id": "b"}],
        full_feature_names=True,
    ).to_dict()
    assert found == {
        "user_id": [1, 2, 2],
        "shop_id": ["a", "a", "b"],
        "users__name": ["Ann", "Bob", "Bob"],
        "shops__place": ["mall", "mall", "port"],
        "visits__visits": [5, None, 6],
        "rates__rate": [7.5, 7.5, 7.5],
    }


def test_a_feature_service_and_an_alias_of_a_join_key(repo: Repo) -> None:
    repo.materialize()
    view = repo.view()
    view, friend = view.with_name("users"), repo.view().with_name("friends").with_join_key_map({"user_id": "friend_id"})
    repo.apply(view, FeatureService(name="pair", features=[view[["name"]], friend[["name"]]]))
    found = repo.store.get_online_features(
        features=repo.store.get_feature_service("pair"),
        entity_rows=[{"user_id": 1, "friend_id": 2}],
        full_feature_names=True,
    ).to_dict()
    assert found == {"user_id": [1], "friend_id": [2], "users__name": ["Ann"], "friends__name": ["Bob"]}


def test_columns_of_the_source_with_other_names(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.source(rows((1, "Ann", 1.0, 1), names="uid nick points"))
    repo.apply(repo.view(columns={"field_mapping": {"uid": "user_id", "nick": "name", "points": "score"}}))
    repo.materialize()
    assert repo.read(1) == {"user_id": [1], "name": ["Ann"], "score": [1.0]}


@pytest.mark.parametrize("seed", range(8))
def test_many_rows_in_small_batches(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    from bsdb_feast import _views

    monkeypatch.setattr(_views, "_BATCH", 7)
    chance = random.Random(seed)
    repo = Repo(tmp_path)
    repo.apply()
    expected: dict[int, tuple[int, str, Any]] = {}
    for _ in range(4):
        records = []
        for _ in range(60):
            name, score = "n" * chance.randrange(200), chance.choice([None, 1.5, float(chance.randrange(99))])
            records.append((chance.randrange(40), name, score, chance.randrange(1000)))
        records = list({(record[0], record[-1]): record for record in records}.values())
        for record in records:
            before = expected.get(record[0])
            if before is None or before[0] <= record[3]:
                expected[record[0]] = (record[3], record[1], record[2])
        # The first of these is pushed, the others are in the source.
        repo.store.write_to_online_store("users", rows(records[0]).to_pandas())
        repo.materialize(rows(*records[1:]), end=END + timedelta(days=90))
    found = repo.read(*range(40))
    for user in range(40):
        assert (found["name"][user], found["score"][user]) == expected.get(user, (0, None, None))[1:]


ZONES = {"UTC": pa.timestamp("us", "UTC"), "none": pa.timestamp("ns"), "Tokyo": pa.timestamp("ms", "Asia/Tokyo")}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("split", [False, True])
def test_files_are_read_as_feast_reads_them(tmp_path: Path, zone: str, split: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq
    from bsdb_feast import _engine

    repo = Repo(tmp_path, offline="file")
    table = rows(*((user, f"n{user}", float(user), user) for user in range(48)))
    at = table.column_names.index("at")
    column = table.column("at").cast(pa.timestamp("us")) if ZONES[zone].tz is None else table.column("at")
    table = table.set_column(at, "at", column.cast(ZONES[zone]))
    if split:
        (tmp_path / "users.parquet").mkdir()
        for i in range(3):
            pq.write_table(table.slice(16 * i, 16), tmp_path / "users.parquet" / f"{i}.parquet")
    else:
        repo.source(table)
    repo.apply()
    read: list[Any] = []
    # From the hour 10 to the hour 30, both included, in another time zone.
    start = (DAY + timedelta(hours=10)).astimezone(timezone(timedelta(hours=-7)))
    for way in ("own", "feast"):
        if way == "feast":
            repo.store.teardown()
            repo.apply()
            monkeypatch.setattr(_engine._Read, "_table", lambda *_: None)
        repo.materialize(start=start, end=DAY + timedelta(hours=30))
        names = ["users:name", "users:score"]
        response = repo.store.get_online_features(names, [{"user_id": user} for user in range(48)])
        read.append(response.to_dict(include_event_timestamps=True))
    assert read[0] == read[1]
    assert [user for user in range(48) if read[0]["name"][user] is not None] == list(range(10, 31))


def test_files_are_read_without_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from feast.infra.offline_stores.dask import DaskOfflineStore

    repo = Repo(tmp_path, offline="file")
    repo.source(rows((1, "Ann", 1.0, 1)))
    repo.apply()
    monkeypatch.setattr(DaskOfflineStore, "pull_all_from_table_or_query", None)
    repo.materialize()
    assert repo.read(1)["name"] == ["Ann"]


@pytest.mark.parametrize("offline", ["duckdb", "file"])
def test_rows_without_an_event_timestamp_are_counted(tmp_path: Path, offline: str, logged: Callable[[], list[str]]) -> None:
    repo = Repo(tmp_path, offline=offline)
    table = rows((1, "Ann", 1.0, 1), (2, "Bob", 1.0, 1))
    at = table.column_names.index("at")
    repo.source(table.set_column(at, "at", pa.array([DAY, None], table.schema.field("at").type)))
    repo.apply()
    repo.materialize()
    assert repo.read(1, 2)["name"] == ["Ann", None]
    assert any(line.endswith("users.parquet without an event timestamp (at) are left out: 1") for line in logged())


def test_vectors(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.source(rows((1, [0.5, 1.5], 1), (2, None, 1), names="user_id vector"), "vectors")
    repo.apply(repo.view("vectors", [Field(name="vector", dtype=Array(Float32))]))
    repo.materialize(name="vectors")
    assert repo.read(1, 2, names=("vectors:vector",))["vector"] == [[0.5, 1.5], None]


def test_a_transformation(tmp_path: Path) -> None:
    repo = Repo(tmp_path, offline="file")  # that of DuckDB gives a transformation no columns but the features
    repo.source(rows((1, "Ann", 1.0, 1), (2, "Bob", 2.0, 1)))

    def doubled(frame: pd.DataFrame) -> pd.DataFrame:
        frame["twice"] = frame["score"] * 2
        return frame

    doubled.__annotations__ = {"frame": pd.DataFrame, "return": pd.DataFrame}  # Feast reads them

    view = BatchFeatureView(
        name="doubled",
        entities=[USER],
        mode="pandas",
        udf=doubled,
        udf_string="doubled",
        schema=[Field(name="user_id", dtype=Int64), Field(name="twice", dtype=Float64)],
        source=repo.view().batch_source,
        online=True,
    )
    repo.apply(view)
    repo.store.materialize(DAY, END)
    assert repo.read(1, 2, names=("doubled:twice",))["twice"] == [2.0, 4.0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rows((1, "Ann", 1.0, 1), (None, "Bob", 1.0, 1)), "users cannot be materialized: the join key 'user_id' is null in 1 of 2"),
        (rows((1, "Ann", "much", 1)), "the feature score of the feature view users cannot be DOUBLE"),
        (rows(("one", "Ann", 1.0, 1)), "the join key 'user_id' cannot be INT64"),
    ],
)
def test_sources_that_cannot_be_materialized(repo: Repo, table: Any, message: str) -> None:
    repo.materialize()
    with pytest.raises(Exception, match=message):
        repo.materialize(table)
    assert repo.read(1)["name"] == ["Ann"] and len(repo.versions()) == 1 and repo.hidden() == []


@pytest.mark.parametrize("offline", ["duckdb", "file"])
def test_a_source_without_a_column(tmp_path: Path, offline: str) -> None:
    repo = Repo(tmp_path, offline=offline)
    repo.source(rows((1, "Ann", 1), names="user_id name"))
    repo.apply()
    with pytest.raises(Exception, match="score"):
        repo.materialize()


def test_deleted_views_are_removed(repo: Repo) -> None:
    repo.materialize()
    repo.store.apply([], objects_to_delete=[repo.store.get_feature_view("users")], partial=False)
    assert not (repo.online / "shop" / "users").exists()
    repo.apply()
    assert repo.read(1)["name"] == [None]
    repo.materialize()
    assert repo.read(1)["name"] == ["Ann"]
    repo.store.teardown()
    assert not (repo.online / "shop" / "users").exists()


def test_a_directory_that_is_no_store_is_not_removed(repo: Repo) -> None:
    other = repo.online / "shop" / "users"
    other.mkdir(parents=True)
    (other / "important").write_text("x")
    with pytest.raises(ValueError, match="is no store of bsdb"):
        repo.store.teardown()
    assert (other / "important").exists()


def test_two_materializations_at_once_lose_nothing(repo: Repo) -> None:
    names = [f"part{i}" for i in range(4)]
    context = multiprocessing.get_context("spawn")
    repo.materialize(rows((0, "base", 0.0, 0)))
    workers = [context.Process(target=_publish_part, args=(str(repo.directory), i)) for i in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert repo.read(0, 1, 2, 3, 4)["name"] == ["base", *names]


def _publish_part(directory: str, number: int) -> None:
    from bsdb_feast._engine import _rows

    repo = Repo(Path(directory))
    view = repo.store.get_feature_view("users")
    table = rows((number, f"part{number - 1}", 1.0, number))
    columns = __import__("types").SimpleNamespace(timestamp_column="at", created_timestamp_column=None)
    online = repo.store._get_provider().online_store
    online.publish(repo.store.config, view, _rows(view, None, columns, table))


def test_a_killed_materialization_leaves_the_version_before(repo: Repo) -> None:
    repo.materialize()
    worker = multiprocessing.get_context("spawn").Process(target=_killed_while_building, args=(str(repo.directory),))
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    view = repo.store.get_feature_view("users")  # whose state Feast has left at MATERIALIZING
    key = EntityKey(join_keys=["user_id"], entity_values=[Value(int64_val=1)])
    [(_, values)] = repo.store._get_provider().online_store.online_read(repo.store.config, view, [key], ["name"])
    assert values == {"name": Value(string_val="Ann")} and len(repo.versions()) == 1
    assert repo.hidden() != []
    repo.materialize(rows((1, "Anna", 1.0, 9)))
    assert repo.read(1)["name"] == ["Anna"] and repo.hidden() == []


def _killed_while_building(directory: str) -> None:
    repo = Repo(Path(directory))
    setattr(bsdbkv.Builder, "finish", lambda self: os.kill(os.getpid(), signal.SIGKILL))
    repo.materialize(rows((1, "Anna", 1.0, 9)))


def test_a_damaged_version_is_refused_and_the_one_before_is_read(repo: Repo, logged: Callable[[], list[str]]) -> None:
    repo.materialize()
    assert repo.read(1)["name"] == ["Ann"]
    store = repo.online / "shop" / "users"
    (store / "broken").mkdir()
    (store / "CURRENT").write_text("broken\n")
    assert repo.read(1)["name"] == ["Ann"]
    assert repo.read(1)["name"] == ["Ann"]
    assert sum("stays at the version before" in line for line in logged()) == 1


def test_a_store_of_another_view_is_refused(repo: Repo) -> None:
    repo.materialize()
    os.rename(repo.online / "shop" / "users", repo.online / "shop" / "others")
    repo.source(rows((1, "Ann", 1.0, 1)), "others")
    repo.apply(repo.view(), repo.view("others"))
    with pytest.raises(ValueError, match="holds the feature view 'users', not 'others'"):
        repo.read(1, names=("others:name",))


def test_the_engine_needs_the_online_store(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    other = repo.opened(type="sqlite", path=str(tmp_path / "online.db"))
    with pytest.raises(ValueError, match="bsdb_feast.BsdbOnlineStore, which is SqliteOnlineStore here"):
        _ = other._get_provider().batch_engine
    with pytest.raises(ValueError, match="online_store is SqliteOnlineStore; expected bsdb_feast.BsdbOnlineStore"):
        publish_collected(other)


def test_settings_are_checked(tmp_path: Path) -> None:
    for settings, message in (
        ({"path": None}, "online_store needs path"),
        ({"server": "ftp://x"}, "begins with none of http://"),
        ({"online_write": "now"}, "collect"),
        ({"refresh": 1}, "refresh"),
    ):
        with pytest.raises(Exception, match=message):
            Repo(tmp_path, **settings).store._get_provider()
    assert ENGINE["type"].endswith("Engine")
