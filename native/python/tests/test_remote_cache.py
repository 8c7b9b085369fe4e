"""Databases behind an object store whose pages are kept on disk, in a file that other processes share: those of Java,
too."""

import asyncio
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import GOLDEN, bsdb_command

import bsdbkv
from bsdbkv import _cli

NUMBERS = [f"n{i}" for i in range(2000)]
VALUES = [f"{key} is a number".encode() for key in NUMBERS]
LAYOUTS = ["packed", "packed-compressed", "blocked", "compact", "compressed"]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A directory of databases of 2,000 records."""
    directory = tmp_path_factory.mktemp("numbers")
    for layout in LAYOUTS:
        bsdbkv.build(directory / layout, zip(NUMBERS, VALUES), layout=layout, ordered=True)
    bsdbkv.build(directory / "shards", zip(NUMBERS, VALUES), shards=3)
    return directory


@pytest.fixture
def store(serve, numbers):
    return serve(numbers)


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def cached(store, cache, name="packed", size="16m", **options):
    return bsdbkv.open(f"{store.url}/{name}", memory=0, cache=size, cache_dir=cache, **options)


def of_data(store):
    """The requests for pages of data."""
    return [request for request in store.log() if "data-" in request[1]]


@pytest.mark.parametrize("name", [*LAYOUTS, "shards"])
def test_pages_outlive_the_reader(store, cache, name):
    with cached(store, cache, name) as db:
        assert db.get_many(NUMBERS) == VALUES
    assert of_data(store)
    store.reset()
    with cached(store, cache, name) as db:
        assert db.get_many(NUMBERS) == VALUES
        assert [db[key] for key in NUMBERS[:50]] == VALUES[:50]

        async def lookups():
            assert await asyncio.gather(*(db.aget(key) for key in NUMBERS[:300])) == VALUES[:300]
            assert await db.aget_many([*NUMBERS, "nix"]) == [*VALUES, None]

        asyncio.run(lookups())
        assert db.traffic["pages_on_disk"] > 0
    assert not of_data(store)
    assert os.stat(cache).st_mode & 0o777 == 0o700 and os.listdir(cache) == ["pages"]


@pytest.mark.parametrize("name", ["packed", "packed-compressed", "blocked"])
def test_java_writes_and_python_reads(store, cache, name, tmp_path):
    (tmp_path / "keys").write_text("\n".join(NUMBERS) + "\n")
    words = ["get", "-d", f"{store.url}/{name}", "--cache", "16m", "--cache-dir", cache]
    assert bsdb_command(*words, "--keys-from", tmp_path / "keys").encode().splitlines() == VALUES
    assert of_data(store)
    store.reset()
    with cached(store, cache, name) as db:
        assert db.get_many(NUMBERS) == VALUES
        assert db.traffic["pages_on_disk"] > 0
    assert not of_data(store)


@pytest.mark.parametrize("name", ["packed", "packed-compressed", "blocked"])
def test_python_writes_and_java_reads(store, cache, name, tmp_path, capfdbinary):
    (tmp_path / "keys").write_text("\n".join(NUMBERS) + "\n")
    words = ["get", "-d", f"{store.url}/{name}", "--cache", "16m", "--cache-dir", cache]
    words = [*map(str, words), "--keys-from", str(tmp_path / "keys")]
    assert _cli.main(words) == 0
    assert capfdbinary.readouterr().out.splitlines() == VALUES
    assert of_data(store)
    store.reset()
    assert bsdb_command(*words).encode().splitlines() == VALUES
    assert not of_data(store)


LOOKUPS = """
import sys, bsdbkv
url, cache, rounds = sys.argv[1:]
keys = [f"n{i}" for i in range(2000)]
for round in range(int(rounds)):
    with bsdbkv.open(url, memory=0, cache="1m", cache_dir=cache) as db:
        assert db.get_many(keys) == [f"{key} is a number".encode() for key in keys]
    print("round", flush=True)
"""


def test_processes_share_the_file_and_may_be_killed(store, cache):
    url = f"{store.url}/packed"
    ends, killed = ([sys.executable, "-c", LOOKUPS, url, os.fspath(cache), rounds] for rounds in ("3", "1000000"))
    for _ in range(4):
        with subprocess.Popen(killed, stdout=subprocess.PIPE) as one, subprocess.Popen(ends) as other:
            assert one.stdout.readline() == b"round\n"
            java = bsdb_command("get", "-d", url, "--cache", "1m", "--cache-dir", cache, *NUMBERS[:500])
            assert java.encode().splitlines() == VALUES[:500]
            with cached(store, cache, size="1m") as db:
                assert db.get_many(NUMBERS) == VALUES
            one.kill()
            assert one.wait() == -signal.SIGKILL and other.wait() == 0
    with cached(store, cache, size="1m") as db:
        assert db.get_many(NUMBERS) == VALUES
    assert os.stat(cache / "pages").st_size <= 1 << 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_reads_on(store, cache):
    def child():
        assert db.get_many(NUMBERS) == VALUES and db["n5"] == VALUES[5]
        db.close()
        with cached(store, cache, size="1m") as again:
            assert again.get_many(NUMBERS) == VALUES

    stop = threading.Event()
    with cached(store, cache, size="1m") as db, ThreadPoolExecutor(2) as threads:

        def busy():
            while not stop.is_set():
                assert db.get_many(NUMBERS) == VALUES

        running = [threads.submit(busy) for _ in range(2)]
        try:
            for _ in range(4):
                process = multiprocessing.get_context("fork").Process(target=child)
                process.start()
                process.join(60)
                assert process.exitcode == 0
        finally:
            stop.set()
        assert [each.result(60) for each in running] == [None, None]


def test_the_default_directory(serve, numbers, tmp_path, monkeypatch):
    bsdbkv.publish(numbers / "packed", tmp_path / "store", version="v1")
    store = serve(tmp_path)
    monkeypatch.setenv("BSDB_CACHE", os.fspath(tmp_path / "own"))
    with bsdbkv.open(f"{store.url}/store", cache=1 << 20) as db:
        assert db["n1"] == VALUES[1]
    monkeypatch.delenv("BSDB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "xdg"))
    with bsdbkv.Store(f"{store.url}/store", cache="1M") as opened:
        assert opened.database["n1"] == VALUES[1]
    assert (tmp_path / "own/pages").exists() and (tmp_path / "xdg/bsdb/pages").exists()


def test_options(store, cache, tmp_path):
    db = cached(store, cache, size="2m", hedge=True)
    _, arguments = db.__reduce__()
    expected = {"memory": 0, "cache": 2 << 20, "cache_dir": os.fspath(cache), "hedge": True}
    assert arguments[3] == expected
    assert pickle.loads(pickle.dumps(db))["n1"] == VALUES[1]
    for size in ["x", "1k", "", "10 g", "-1", "1m1", "257g", "٣m", 5, (256 << 30) + 1]:
        with pytest.raises(ValueError, match="cache must be a size such as '512m' or '10g'"):
            cached(store, cache, size=size)
    for size in [-1, 1.5, [1]]:
        with pytest.raises((TypeError, OverflowError)):
            cached(store, cache, size=size)
    assert bsdbkv.open(f"{store.url}/packed", cache=0, cache_dir=tmp_path / "none")["n1"] == VALUES[1]
    assert not (tmp_path / "none").exists()
    os.chmod(cache, 0o777)
    with pytest.raises(bsdbkv.FileError, match="chmod go-w"):
        cached(store, cache)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cache", "1k"], '--cache takes a size such as 512m or 10g, from 1048576 to 274877906944 bytes, not "1k"'),
        (["--cache-dir", ""], '--cache-dir takes a directory, not ""'),
    ],
)
def test_wrong_options_of_commands(store, words, message, capfdbinary):
    assert _cli.main(["get", "-d", f"{store.url}/packed", *words, "n1"]) == 2
    assert message in capfdbinary.readouterr().err.decode()


def test_commands_know_the_options(store, cache, capfdbinary):
    words = ["-d", f"{store.url}/packed", "--cache", "4m", "--cache-dir", str(cache), "--hedge", "--requests", "9"]
    for command in [["get", *words, "n1"], ["scan", *words, "--limit", "1"], ["verify", *words, "-q"]]:
        assert _cli.main(command) == 0
    assert capfdbinary.readouterr().out.startswith(b"n1 is a number\n")
    assert (cache / "pages").exists()
    assert _cli.main(["verify", "-d", str(GOLDEN / "v1-packed"), "--hedge"]) == 2
    assert b"--hedge is for a database elsewhere" in capfdbinary.readouterr().err


def test_what_takes_unusually_long_is_asked_for_twice(store):
    db = bsdbkv.open(f"{store.url}/packed", memory=0, hedge=True, requests=2)
    # As long as both requests are under way, there is no room for second ones, so that many may come later.
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(db.get, NUMBERS[:400])) == VALUES[:400]
    before = db.traffic
    store.reset()
    store.fault("silence", on="data-", skip=2, times=1)
    assert [db[key] for key in NUMBERS[:20]] == VALUES[:20]
    traffic = db.traffic
    assert traffic["hedges"] > before["hedges"] and traffic["retries"] == 0
    # A request that ends before it has a connection never arrives.
    assert 21 <= store.counts()["requests"] <= 20 + traffic["hedges"] - before["hedges"]


def test_profiles(store, tmp_path, monkeypatch):
    keys = "aws_access_key_id = ID\naws_secret_access_key = hidden\n\n"
    (tmp_path / "credentials").write_text(f"[default]\n{keys}[sso]\n[work]\n{keys}")
    (tmp_path / "config").write_text(
        f"[default]\nendpoint_url = {store.url}\n[profile sso]\nsso_account_id = 1\n[profile work]\n"
        f"region = eu-west-1\nendpoint_url = {store.url}\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.fspath(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", os.fspath(tmp_path / "config"))
    assert bsdbkv.open("s3://bucket/packed")["n1"] == VALUES[1]
    work = bsdbkv.open("s3://bucket/packed", storage_options={"profile": "work"})
    assert work["n1"] == VALUES[1] and pickle.loads(pickle.dumps(work))["n2"] == VALUES[2]
    monkeypatch.setenv("AWS_PROFILE", "sso")
    with pytest.raises(bsdbkv.FileError, match="aws configure export-credentials --profile sso --format env") as raised:
        bsdbkv.open("s3://bucket/packed")
    assert "hidden" not in str(raised.value)
    assert bsdbkv.open("s3://bucket/packed", storage_options=store.s3())["n1"] == VALUES[1]
    with pytest.raises(bsdbkv.FileError, match="there is no profile .none. in .*config"):
        bsdbkv.open("s3://bucket/packed", storage_options={"profile": "none"})
