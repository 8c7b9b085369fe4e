"""Threads and processes."""

import multiprocessing
import os
import pickle
import shutil
import sys
import threading

import pytest
from conftest import GOLDEN, RECORDS

import bsdb


def run(threads):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=guarded, args=(work,)) for work in threads]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(30)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("access", ["mapped", "read", "direct"])
def test_many_threads(access):
    db = bsdb.open(GOLDEN / "v1-packed-zstd", access=access)

    def read():
        for _ in range(100):
            assert db.get_many([*RECORDS, b"absent"]) == [*RECORDS.values(), None]
            assert all(db[key] == value for key, value in RECORDS.items())
            assert dict(db.items()) == RECORDS

    run([read] * 4)


def test_closing_while_others_read():
    for _ in range(20):
        db = bsdb.open(GOLDEN / "v1-compressed")
        started = threading.Barrier(4)

        def read():
            started.wait(10)
            with pytest.raises(bsdb.ClosedError):
                while True:
                    assert db.get_many(list(RECORDS)) == list(RECORDS.values())
                    assert db[b"bsdb"] == RECORDS[b"bsdb"]
                    assert len(list(db)) == 3

        def close():
            started.wait(10)
            db.close()

        run([read, read, read, close])


def test_one_iterator_in_many_threads():
    db = bsdb.open(GOLDEN / "v1-packed")
    for _ in range(50):
        scan, found = iter(db.items()), []

        def read():
            while True:
                try:
                    found.append(next(scan))
                except StopIteration:
                    return
                except ValueError as error:
                    assert "another thread" in str(error)

        run([read] * 3)
        assert dict(found) == RECORDS and len(found) == 3


def test_pickling(tmp_path):
    for access in ["mapped", "read"]:
        db = bsdb.open(GOLDEN / "v1-packed", access=access, verify_pages=False)
        again = pickle.loads(pickle.dumps(db))
        assert type(again) is bsdb.Database and again == db and again.path == db.path
        assert again.__reduce__()[1][1:] == (access, False)
    for error in [bsdb.DamagedError("m", "p", 7), bsdb.NotHeldError("m", "p", 7), bsdb.UnsupportedError("m")]:
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == "m" and vars(again) == vars(error)


def look_up(db):
    return os.getpid(), db.get_many([*RECORDS, "absent"]), dict(db.items())


@pytest.mark.parametrize("access", ["mapped", "direct"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(method, access):
    db = bsdb.open(GOLDEN / "v1-blocked", access=access)
    look_up(db)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for process, values, items in pool.map(look_up, [db] * 4):
            assert process != os.getpid()
            assert values == [*RECORDS.values(), None] and items == RECORDS


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("access", ["mapped", "read", "direct"])
def test_a_forked_process_reads_on(access):
    db = bsdb.open(GOLDEN / "v1-packed", access=access)
    keys = [*RECORDS, "absent"] * 50
    expected = db.get_many(keys)

    def child():
        for _ in range(20):
            assert db.get_many(keys) == expected and db[b"bsdb"] == RECORDS[b"bsdb"]

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    for _ in range(20):
        assert db.get_many(keys) == expected
    process.join(30)
    assert process.exitcode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_uses_a_store(tmp_path):
    shutil.copytree(GOLDEN / "v1-blocked", tmp_path / "v1")
    (tmp_path / "CURRENT").write_text("v1\n")
    store = bsdb.Store(tmp_path, access="direct")
    keys = [*RECORDS, "absent"] * 50
    expected = store.database.get_many(keys)
    shutil.rmtree(tmp_path / "v1")  # a child that opened it anew would fail

    def child():
        for _ in range(50):
            assert store.database.get_many(keys) == expected

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    for _ in range(50):
        assert store.database.get_many(keys) == expected
    process.join(60)
    assert process.exitcode == 0


def test_no_files_stay_open():
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("there is no /proc")
    db = bsdb.open(GOLDEN / "v1-ptr", access="mapped")
    read = bsdb.open(GOLDEN / "v1-ptr", access="read")
    name = os.fsencode(str(GOLDEN / "v1-ptr"))
    with open("/proc/self/maps", "rb") as maps:
        assert name in maps.read()
    db.close()
    read.close()
    with open("/proc/self/maps", "rb") as maps:
        assert name not in maps.read()
    links = [
        os.readlink(f"/proc/self/fd/{fd}")
        for fd in os.listdir("/proc/self/fd")
        if os.path.islink(f"/proc/self/fd/{fd}")
    ]
    assert not any("v1-ptr" in link for link in links)
