"""Threads and processes."""

import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from conftest import GOLDEN, RECORDS

import bsdbkv


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
    db = bsdbkv.open(GOLDEN / "v1-packed-zstd", access=access)

    def read():
        for _ in range(100):
            assert db.get_many([*RECORDS, b"absent"]) == [*RECORDS.values(), None]
            assert all(db[key] == value for key, value in RECORDS.items())
            assert dict(db.items()) == RECORDS

    run([read] * 4)


def test_closing_while_others_read():
    for _ in range(20):
        db = bsdbkv.open(GOLDEN / "v1-compressed")
        started = threading.Barrier(4)

        def read():
            started.wait(10)
            with pytest.raises(bsdbkv.ClosedError):
                while True:
                    assert db.get_many(list(RECORDS)) == list(RECORDS.values())
                    assert db[b"bsdb"] == RECORDS[b"bsdb"]
                    assert len(list(db)) == 3

        def close():
            started.wait(10)
            db.close()

        run([read, read, read, close])


def test_one_iterator_in_many_threads():
    db = bsdbkv.open(GOLDEN / "v1-packed")
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
        db = bsdbkv.open(GOLDEN / "v1-packed", access=access, verify_pages=False)
        again = pickle.loads(pickle.dumps(db))
        assert type(again) is bsdbkv.Database and again == db and again.path == db.path
        assert again.__reduce__()[1][1:] == (access, False, {})
    for error in [bsdbkv.DamagedError("m", "p", 7), bsdbkv.NotHeldError("m", "p", 7), bsdbkv.UnsupportedError("m")]:
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == "m" and vars(again) == vars(error)


def test_a_database_of_a_store_pickles_as_the_store(tmp_path):
    shutil.copytree(GOLDEN / "v1-blocked", tmp_path / "v1")
    (tmp_path / "CURRENT").write_text("v1\n")
    store = bsdbkv.Store(tmp_path)
    held = [bsdbkv.open(tmp_path), store.database, pickle.loads(pickle.dumps(store)).database]
    pickled = [pickle.dumps(db) for db in held]
    assert all(pickle.loads(text).path == str(tmp_path / "v1") for text in pickled)
    shutil.copytree(GOLDEN / "v1-packed", tmp_path / "v2")
    (tmp_path / "CURRENT").write_text("v2\n")
    shutil.rmtree(tmp_path / "v1")
    assert all(pickle.loads(text).path == str(tmp_path / "v2") for text in pickled)
    assert all(dict(pickle.loads(pickle.dumps(db))) == RECORDS for db in held)
    version = bsdbkv.open(tmp_path / "v2")
    assert version.__reduce__()[1][0] == str(tmp_path / "v2")


def test_stores_in_a_with_statement(tmp_path):
    shutil.copytree(GOLDEN / "v1-blocked", tmp_path / "v1")
    (tmp_path / "CURRENT").write_text("v1\n")
    with bsdbkv.Store(tmp_path) as store:
        db = store.database
        assert not store.closed and store.refresh() is False
    assert store.closed and "closed" in repr(store) and dict(db) == RECORDS
    for use in (lambda: store.database, store.refresh, lambda: store.version):
        with pytest.raises(bsdbkv.ClosedError, match="the store is closed; open it again with bsdbkv.Store"):
            use()
    store.close()
    with pytest.raises(ZeroDivisionError), bsdbkv.Store(tmp_path) as store:
        1 / 0
    assert store.closed


@pytest.fixture
def no_switches():
    """Threads give up the interpreter's lock only by themselves."""
    interval = sys.getswitchinterval()
    gc.collect()
    gc.disable()  # closing a file gives it up
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)
    gc.enable()


def ran_meanwhile(use, times):
    """Whether another thread, which waits for the interpreter's lock, ran during some of the calls."""
    gate, ran = threading.Lock(), []
    gate.acquire()

    def other():
        with gate:
            ran.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    gate.release()
    for _ in range(times):
        use()
        if ran:
            break
    found = bool(ran)
    thread.join()
    return found


@pytest.mark.parametrize("layout", ["blocked", "compressed", "packed"])
def test_others_run_while_a_long_value_is_read(layout, build, no_switches):
    db = bsdbkv.open(build({"small": "value", "long": "l" * (70 << 20)}, "--layout", layout))
    uses = [
        lambda: db["long"],
        lambda: db.get("long"),
        lambda: "long" in db,
        lambda: db.get_many(["long"]),
        lambda: list(db.values()),
    ]
    for use in uses:
        assert ran_meanwhile(use, 100)


@pytest.mark.parametrize("layout", ["blocked", "compressed", "packed", "packed-compressed"])
def test_short_values_at_hand_are_not_interrupted(layout, build, no_switches):
    db = bsdbkv.open(build({f"k{i}": "value" * 9 for i in range(100)}, "--layout", layout))
    for _ in range(2):
        assert all(db[f"k{i}"] and f"x{i}" not in db for i in range(100))
    assert not ran_meanwhile(lambda: all(db[f"k{i}"] and f"k{i}" in db and f"x{i}" not in db for i in range(100)), 10)
    # Reads from a file wait for it.
    read = bsdbkv.open(db.path, access="read")
    assert ran_meanwhile(lambda: read["k1"], 100_000)


INTERRUPTED = {
    "get_many": "iter(functools.partial(db.get_many, [*db] * 100), None)",
    "get_many_numpy": "iter(functools.partial(db._get_fixed, ['nix'] * 100, 1, functools.partial(numpy.zeros, dtype='u1')), None)",
    "scan": "itertools.chain.from_iterable(itertools.starmap(db._scan_items, itertools.repeat(())))",
    "verify": "iter(db.verify, None)",
    "keys": "db.get_many(itertools.repeat('bsdb'))",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_ends_what_takes_long(name):
    if "numpy" in name:
        pytest.importorskip("numpy")
    # No loop of Python runs that would notice the signal.
    child = (
        "import collections, functools, itertools, signal, sys, bsdbkv\n"
        f"{'import numpy' if 'numpy' in name else ''}\n"
        # What runs the tests may ignore the signal, and a child would inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "db = bsdbkv.open(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        f"collections.deque({INTERRUPTED[name]}, maxlen=0)\n"
    )
    words = [sys.executable, "-c", child, str(GOLDEN / "v1-blocked")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in err, err


def test_subinterpreters_are_refused():
    pytest.importorskip("_interpreters")
    child = "import _interpreters as i; print(i.exec(i.create(), 'import bsdbkv').formatted)"
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("ImportError: ") and "does not support loading in subinterpreters" in done.stdout


def look_up(db):
    return os.getpid(), db.get_many([*RECORDS, "absent"]), dict(db.items())


@pytest.mark.parametrize("access", ["mapped", "direct"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(method, access):
    db = bsdbkv.open(GOLDEN / "v1-blocked", access=access)
    look_up(db)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for process, values, items in pool.map(look_up, [db] * 4):
            assert process != os.getpid()
            assert values == [*RECORDS.values(), None] and items == RECORDS


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("access", ["mapped", "read", "direct"])
def test_a_forked_process_reads_on(access):
    db = bsdbkv.open(GOLDEN / "v1-packed", access=access)
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
    store = bsdbkv.Store(tmp_path, access="direct")
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
    db = bsdbkv.open(GOLDEN / "v1-ptr", access="mapped")
    read = bsdbkv.open(GOLDEN / "v1-ptr", access="read")
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
