"""Publications to stores, and the commands on the same stores."""

import json

import pytest
from conftest import bsdb_command
from test_build import content

import bsdbkv


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_publish(tmp_path):
    store = tmp_path / "store"
    for number in range(4):
        bsdbkv.build(tmp_path / "db", {"key": f"value {number}"}, overwrite=True)
        published = bsdbkv.publish(tmp_path / "db", store, version=f"v{number}", keep=2)
        assert published.version == f"v{number}" and published.path == str(store / f"v{number}")
        assert bsdbkv.open(store)["key"] == f"value {number}".encode()
    assert published.removed == ("v0",) and published.warnings == ()
    assert content(store / "v3") == content(tmp_path / "db")
    found = bsdbkv.versions(store)
    assert [(version.name, version.current, version.records) for version in found] == [
        ("v1", False, 1),
        ("v2", False, 1),
        ("v3", True, 1),
    ]
    assert found[0].bytes == sum(map(len, content(store / "v1").values()))
    assert bsdbkv.rollback(store) == "v2" and bsdbkv.rollback(store, "v1") == "v1"
    assert (store / "CURRENT").read_text() == "v1\nv0\n"  # v0 is gone, but was current once
    with pytest.raises(bsdbkv.ExistsError, match="already exists"):
        bsdbkv.publish(tmp_path / "db", store, version="v3")
    with pytest.raises(bsdbkv.BuildError, match="version is"):
        bsdbkv.publish(tmp_path / "db", store, version=".v3")
    with pytest.raises(ValueError, match="keep is -1"):
        bsdbkv.publish(tmp_path / "db", store, keep=-1)
    assert bsdbkv.publish(tmp_path / "db", store, version="v4", keep=2**70).removed == ()
    with pytest.raises(bsdbkv.NotFoundError, match="no such version"):
        bsdbkv.rollback(store, "v7")
    with pytest.raises(bsdbkv.NotADatabaseError, match="single database"):
        bsdbkv.versions(tmp_path / "db")
    opened = bsdbkv.open(tmp_path / "db")
    assert len(bsdbkv.publish(opened, store, link=True).version) == len("20261121T151400Z")


def test_the_commands_get_along(tmp_path):
    store = tmp_path / "store"
    bsdbkv.build(tmp_path / "db", {"key": "value 1"})
    bsdbkv.publish(tmp_path / "db", store, version="v1")
    bsdbkv.build(tmp_path / "db", {"key": "value 2"}, overwrite=True, shards=2)
    assert bsdb_command("publish", tmp_path / "db", store, "--version", "v2", "-q").strip() == "v2"
    bsdbkv.publish(tmp_path / "db", store, version="v10")
    listed = json.loads(bsdb_command("versions", store, "--json"))
    own = bsdbkv.versions(store)
    assert listed["current"] == "v10" and [version.name for version in own] == ["v1", "v2", "v10"]
    assert [(v["name"], v["records"], v["bytes"]) for v in listed["versions"]] == [
        (v.name, v.records, v.bytes) for v in own
    ]
    assert (store / "CURRENT").read_text() == "v10\nv2\nv1\n"
    bsdb_command("rollback", store)
    assert [version.name for version in bsdbkv.versions(store) if version.current] == ["v2"]
    assert bsdbkv.rollback(store) == "v1"
    bsdb_command("publish", tmp_path / "db", store, "--version", "v11", "--keep", "1", "-q")
    assert names(store) == [".lock", ".switch.lock", "CURRENT", "v1", "v11"]
    assert bsdbkv.publish(tmp_path / "db", store, version="v12", keep=1).removed == ("v1",)
    assert bsdb_command("get", "-d", store, "key").strip().endswith("value 2")
