"""Databases behind an object store."""

import asyncio
import errno
import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import types

import pytest
from conftest import GOLDEN, RECORDS

import bsdbkv

# Keys that a database of numbers has, and some that it has not.
NUMBERS = [f"n{i}" for i in range(2000)]
ABSENT = [f"absent{i}" for i in range(200)]


def value_of(key):
    return f"{key} is a number".encode()


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A directory of databases of 2,000 records."""
    directory = tmp_path_factory.mktemp("numbers")
    records = {key: value_of(key) for key in NUMBERS}
    bsdbkv.build(directory / "packed", records)
    bsdbkv.build(directory / "blocked", records, layout="blocked")
    bsdbkv.build(directory / "filter", records, filter_bits=16)
    bsdbkv.build(directory / "ordered", records, ordered=True)
    bsdbkv.build(directory / "shards", records, shards=3)
    return directory


@pytest.fixture
def golden_store(serve):
    return serve(GOLDEN)


@pytest.fixture
def store(serve, numbers):
    return serve(numbers)


def packed(store, **options):
    return bsdbkv.open("s3://bucket/packed", storage_options=store.s3(), **options)


def keys_of(directory):
    with bsdbkv.open(directory) as local:
        return list(RECORDS) if local.approximate else list(local)


@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_answers_of_the_golden_databases(golden, golden_store, scheme):
    keys = [*keys_of(golden), "absent", b"b", "emptz"]
    url = f"{golden_store.url}/{golden.name}" if scheme == "http" else f"s3://bucket/{golden.name}"
    options = {} if scheme == "http" else {"storage_options": golden_store.s3()}
    with bsdbkv.open(golden) as local, bsdbkv.open(url, **options) as db:
        assert db.remote and not local.remote and db.path == url
        assert (db.id, len(db), db.layout, db.schema_json) == (local.id, len(local), local.layout, local.schema_json)
        assert db.statistics == local.statistics
        assert db.get_many(keys) == [db.get(key) for key in keys] == local.get_many(keys)
        assert [key in db for key in keys] == [key in local for key in keys]
        assert db.get_many(["nix"], b"?") == local.get_many(["nix"], b"?")
        if not local.approximate:
            assert list(db.items()) == list(local.items())
            assert list(db) == list(local) and list(db.values()) == list(local.values())
            assert db == local
            with pytest.raises(KeyError):
                db["nix"]
        if local.ordered:
            assert list(db.range()) == list(local.range())

        async def lookups():
            found = await asyncio.gather(*(db.aget(key) for key in keys))
            assert found == local.get_many(keys) == await db.aget_many(keys)

        asyncio.run(lookups())
    assert golden_store.counts()["heads"] == 0


@pytest.mark.parametrize("name", ["packed", "filter"])
def test_a_present_key_takes_one_request(store, name):
    db = bsdbkv.open(f"s3://bucket/{name}", storage_options=store.s3(), memory=0)
    assert store.counts()["requests"] <= 5
    store.reset()
    for key in NUMBERS[:50]:
        assert db[key] == value_of(key)
    counts = store.counts()
    assert (counts["requests"], counts["heads"], counts["status"]) == (50, 0, {"206": 50})
    store.reset()
    assert not any(key in db for key in ABSENT)
    # 2 ** -16 of absent keys pass the filter.
    assert store.counts()["requests"] == len(ABSENT) if name == "packed" else store.counts()["requests"] <= 5
    assert db.traffic["requests"] >= 50 and db.traffic["retries"] == 0
    with bsdbkv.open(os.fspath(GOLDEN / "v1-packed")) as local:
        assert set(local.traffic.values()) == {0}


def test_an_open_takes_few_requests(store):
    with packed(store):
        assert store.counts()["requests"] <= 4, store.log()


def test_one_value_takes_two_requests(store):
    url, options = "s3://bucket/packed", {"storage_options": store.s3(), "deadline": 20}
    assert bsdbkv.get(url, "n7", **options) == value_of("n7")
    assert [line[1] for line in store.log()][:1] == ["packed/manifest.bsdb"]
    assert (store.counts()["requests"], store.counts()["heads"]) == (2, 0), store.log()
    for key in NUMBERS[::100]:
        assert bsdbkv.get(f"{store.url}/packed".encode(), key.encode()) == value_of(key)
    for name in ["blocked", "filter", "ordered", "shards"]:
        assert [bsdbkv.get(f"{store.url}/{name}", key) for key in ["n3", "absent"]] == [value_of("n3"), None]
    assert bsdbkv.get(url, "absent", **options) is None and bsdbkv.get(url, "absent", 5, **options) == 5
    with pytest.raises(TypeError):
        bsdbkv.get(url, 5, **options)
    with pytest.raises(TypeError, match="colour"):
        bsdbkv.get(url, "n7", colour="red")
    with pytest.raises(bsdbkv.NotFoundError, match="check the URL"):
        bsdbkv.get(f"{store.url}/none", "n7")
    store.fault("status=403", on="data")
    with pytest.raises(bsdbkv.FileError) as raised:
        bsdbkv.get(url, "n7", **options)
    assert raised.value.errno == errno.EACCES


def test_one_value_of_a_directory_or_a_store(tmp_path, serve, numbers):
    assert bsdbkv.get(numbers / "packed", "n7", access="read") == value_of("n7")
    with pytest.raises(bsdbkv.NotFoundError):
        bsdbkv.get(tmp_path / "none", "n7")
    bsdbkv.publish(numbers / "packed", tmp_path / "store", version="v1")
    server = serve(tmp_path)
    assert bsdbkv.get(f"{server.url}/store", "n7") == value_of("n7")
    assert server.counts()["requests"] == 4, server.log()


def test_the_command_reads_one_value(store, capfdbinary):
    from bsdbkv import _cli as cli

    def run(*arguments):
        store.reset()
        code = cli.main(["get", "-d", f"{store.url}/packed", *arguments])
        streams = capfdbinary.readouterr()
        return code, streams.out, streams.err.decode()

    assert run("n7") == (0, value_of("n7") + b"\n", "")
    assert store.counts()["requests"] == 2, store.log()
    assert run("--value-encoding", "hex", "--json", "--key-encoding", "hex", "6e37")[:2] == (
        0,
        b'{"key":"6e37","value":"%s"}\n' % value_of("n7").hex().encode(),
    )
    assert store.counts()["requests"] == 2, store.log()
    assert run("nix") == (1, b"", 'bsdb get: "nix" is absent\n')
    assert run("-q", "nix") == (1, b"", "")
    # What needs the schema, and more than one key.
    assert run("--json", "n7")[:2] == (0, b'{"key":"n7","value":"%s"}\n' % value_of("n7"))
    assert run("n7", "n8")[:2] == (0, value_of("n7") + b"\n" + value_of("n8") + b"\n")
    assert run("--requests", "0", "n7")[0] == 2


def test_pages_are_kept(store):
    db = packed(store)
    expected = [value_of(key) for key in NUMBERS]
    assert db.get_many(NUMBERS) == expected
    store.reset()
    assert [db[key] for key in NUMBERS] == expected
    assert store.counts()["requests"] == 0


def test_batches(store):
    for name in ["packed", "blocked", "filter", "shards"]:
        with bsdbkv.open(f"{store.url}/{name}", memory=0) as db:
            store.reset()
            keys = [*NUMBERS, *ABSENT, *reversed(NUMBERS)]
            expected = [value_of(key) if key.startswith("n") else None for key in keys]
            assert db.get_many(keys) == expected
            assert store.counts()["requests"] < len(keys)


def test_ranges(store):
    db = bsdbkv.open(f"{store.url}/ordered")
    ordered = sorted(NUMBERS)
    assert [key.decode() for key in db.range(values=False)] == ordered
    assert [key.decode() for key, value in db.range("n5", "n6") if value == value_of(key.decode())] == [
        key for key in ordered if "n5" <= key < "n6"
    ]
    assert db.count(prefix="n12") == sum(key.startswith("n12") for key in ordered)
    assert next(db.range(reverse=True))[0].decode() == ordered[-1]


def test_verify(store):
    db = packed(store)
    assert db.verify()["records"] == len(NUMBERS)


def test_arrays(tmp_path, serve):
    numpy = pytest.importorskip("numpy")
    vectors = numpy.arange(4000, dtype="<f4").reshape(1000, 4)
    keys = [f"v{i}" for i in range(1000)]
    bsdbkv.build(tmp_path / "vectors", keys, vectors)
    db = bsdbkv.open(f"{serve(tmp_path).url}/vectors")
    assert db.elements == ("<f4", 4)
    assert (db.get_many_numpy(keys) == vectors).all()
    filled, found = db.get_many_numpy(["v3", "nix"], mask=True)
    assert filled[0].tolist() == vectors[3].tolist() and found.tolist() == [True, False]
    assert sum(len(batch) for batch, _ in db.items_numpy()) == 1000


def test_rows(tmp_path, serve):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": list(range(500)), "name": [f"name {i}" for i in range(500)]})
    bsdbkv.build(tmp_path / "rows", table, key="id")
    db = bsdbkv.open(f"{serve(tmp_path).url}/rows")
    assert db.get_row("7") == {"id": 7, "name": "name 7"} and db.get_row("500") is None
    found = db.get_many_arrow([str(i) for i in range(500)])
    assert found.column("name").to_pylist() == table.column("name").to_pylist()


@pytest.mark.parametrize(
    "fault", ["status=503", "status=500", "status=429", "close", "half-close", "cut=100", "flip=9999"]
)
def test_a_fault_that_passes_is_hidden(store, fault):
    store.fault(fault, on="data" if fault.startswith("flip") else "", skip=1, times=1)
    db = packed(store, memory=0)
    store.fault(fault, on="data", skip=2, times=1)
    for key in NUMBERS[:5]:
        assert db[key] == value_of(key)
    # A page with a wrong checksum is asked for anew.
    assert db.traffic["retries"] >= 1 or fault.startswith("flip")


@pytest.mark.parametrize(
    ("fault", "kind", "number"),
    [
        ("status=403", bsdbkv.FileError, errno.EACCES),
        ("status=404", bsdbkv.NotFoundError, errno.ENOENT),
        ("status=503", bsdbkv.FileError, errno.EAGAIN),
        ("silence", bsdbkv.FileError, errno.ETIMEDOUT),
        ("other-tag", bsdbkv.FileError, errno.ESTALE),
        ("whole", bsdbkv.FileError, errno.EIO),
    ],
)
def test_a_fault_that_stays_is_named(store, fault, kind, number):
    db = packed(store, memory=0, deadline=1)
    assert db["n1"] == value_of("n1")
    store.fault(fault, on="data")

    async def aget():
        return await db.aget("n2")

    for ask in [lambda: db["n2"], lambda: db.get_many(["n2", "n3"]), lambda: "n2" in db, lambda: asyncio.run(aget())]:
        with pytest.raises(kind) as raised:
            ask()
        assert raised.value.errno == number
        assert "s3://bucket/packed/data-000" in str(raised.value)
        assert "hidden" not in str(raised.value)
    store.reset()
    assert db["n2"] == value_of("n2")


def test_a_short_file_is_damaged(store):
    db = packed(store, memory=0, deadline=1)
    store.fault("truncated=4096", on="data")
    with pytest.raises((bsdbkv.DamagedError, bsdbkv.FileError)):
        db.get_many(NUMBERS)


@pytest.mark.parametrize("fault", ["status=403", "status=503", "silence"])
def test_an_open_that_fails(store, fault):
    store.fault(fault)
    with pytest.raises(bsdbkv.FileError, match="s3://bucket/packed"):
        packed(store, deadline=1)


def test_missing_databases(store):
    for use in [bsdbkv.open, bsdbkv.Store]:
        with pytest.raises(bsdbkv.Error, match="s3://bucket/none") as raised:
            use("s3://bucket/none", storage_options=store.s3())
        assert isinstance(raised.value, (bsdbkv.NotFoundError, bsdbkv.NotADatabaseError))
    with pytest.raises(bsdbkv.NotFoundError, match="check the URL"):
        bsdbkv.open(f"{store.url}/none")
    with pytest.raises(bsdbkv.FileError) as raised:
        bsdbkv.open("http://127.0.0.1:1/db", deadline=1)
    assert raised.value.errno == errno.EHOSTUNREACH


def test_a_replaced_file_is_an_error(tmp_path, serve, numbers):
    # A database of the same shape, whose pages have right checksums.
    other = {key: value_of(key).upper() for key in NUMBERS}
    bsdbkv.build(tmp_path / "other", other)
    shutil.copytree(numbers / "packed", tmp_path / "packed")
    store = serve(tmp_path)
    db = packed(store, memory=0)
    assert db["n1"] == value_of("n1")
    (data,) = (tmp_path / "packed").glob("data-*")
    (new,) = (tmp_path / "other").glob("data-*")
    os.replace(new, data)
    with pytest.raises(bsdbkv.FileError, match="replaced|changed") as raised:
        db["n2"]
    assert raised.value.errno == errno.ESTALE


def test_stores(tmp_path, serve, numbers):
    records = {key: value_of(key).upper() for key in NUMBERS}
    bsdbkv.build(tmp_path / "new", records)
    bsdbkv.publish(numbers / "packed", tmp_path / "store", version="v1")
    server = serve(tmp_path)
    with bsdbkv.Store("s3://bucket/store", storage_options=server.s3()) as store:
        assert store.version == "v1" and not store.refresh()
        before = store.database
        assert before["n1"] == value_of("n1")
        assert bsdbkv.open("s3://bucket/store", storage_options=server.s3())["n2"] == value_of("n2")
        bsdbkv.publish(tmp_path / "new", tmp_path / "store", version="v2")
        assert store.refresh() and store.version == "v2"
        assert store.database["n1"] == value_of("n1").upper() and before["n3"] == value_of("n3")
        copy = pickle.loads(pickle.dumps(bsdbkv.Store(server.url + "/store")))
        assert copy.version == "v2"
        server.fault("status=403", on="CURRENT")
        with pytest.raises(bsdbkv.FileError):
            store.refresh()
        assert store.database["n1"] == value_of("n1").upper()


def test_a_thousand_lookups_at_once(store):
    async def main():
        store.latency("5ms")
        with packed(store, memory=0) as db:
            found = await asyncio.gather(*(db.aget(key) for key in NUMBERS[:1000]))
            assert found == [value_of(key) for key in NUMBERS[:1000]]
            assert await db.aget("nix", 5) == 5
            assert await db.aget_many(["n1", "nix"], 5) == [value_of("n1"), 5]
            with pytest.raises(TypeError):
                await db.aget(5)
            with pytest.raises(TypeError):
                await db.aget_many(["n1", None])
        with pytest.raises(bsdbkv.ClosedError):
            await db.aget("n1")
        with pytest.raises(bsdbkv.ClosedError):
            await db.aget_many(["n1"])

    asyncio.run(main())
    assert store.counts()["peak"] <= 256


def test_requests_at_once_are_limited(store):
    async def main():
        store.latency("20ms")
        with packed(store, memory=0, requests=3) as db:
            await asyncio.gather(*(db.aget(key) for key in NUMBERS[:100]))

    asyncio.run(main())
    assert store.counts()["peak"] <= 3


def test_lookups_are_cancelled(store):
    async def main():
        db = packed(store, memory=0, requests=4, deadline=600)
        store.fault("silence", on="data", times=8)
        stuck = [asyncio.create_task(db.aget(key)) for key in NUMBERS[:3]]
        stuck.append(asyncio.create_task(db.aget_many(NUMBERS[3:9])))
        while store.counts()["requests"] < 7:
            await asyncio.sleep(0.01)
        for task in stuck:
            task.cancel()
        assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*stuck, return_exceptions=True))
        store.reset()
        # All requests that can be under way are free again.
        assert await asyncio.wait_for(db.aget_many(NUMBERS), 60) == [value_of(key) for key in NUMBERS]
        with pytest.raises(asyncio.TimeoutError):
            store.fault("silence", on="data")
            await asyncio.wait_for(db.aget("n1"), 0.05)

    asyncio.run(main())


def test_each_loop_has_its_own_results(store):
    db = packed(store)

    def run():
        for key in NUMBERS[:20]:
            assert asyncio.run(db.aget(key)) == value_of(key)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    gc.collect()
    from bsdbkv import _mailbox

    assert not _mailbox._mailboxes


def test_a_loop_that_watches_no_sockets(store):
    class Loop(asyncio.SelectorEventLoop):
        def add_reader(self, fd, callback, *arguments):
            if getattr(callback, "__qualname__", "").startswith("_Mailbox"):
                raise NotImplementedError
            return super().add_reader(fd, callback, *arguments)

    db = packed(store)
    loop = Loop()
    try:
        assert loop.run_until_complete(db.aget("n1")) == value_of("n1")
        assert loop.run_until_complete(db.aget_many(["n1", "nix"])) == [value_of("n1"), None]
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


STUCK = {
    "get": "db['n1']",
    "contains": "'n1' in db",
    "get_many": "db.get_many(['n1', 'n2'])",
    "scan": "list(db.items())",
    "range": "list(ordered.range())",
    "count": "ordered.count(prefix='n1')",
    "verify": "db.verify()",
    "diff": "list(bsdbkv.diff(db, ordered))",
    "open": "bsdbkv.open(f'{url}/blocked', deadline=600)",
    "once": "bsdbkv.get(f'{url}/packed', 'n1', deadline=600)",
    "store": "bsdbkv.Store(f'{url}/blocked', deadline=600)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
@pytest.mark.parametrize("name", STUCK)
def test_an_interrupt_ends_the_wait(store, name):
    child = (
        "import signal, sys, bsdbkv\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "url = sys.argv[1]\n"
        "db, ordered = (bsdbkv.open(f'{url}/{name}', deadline=600) for name in ('packed', 'ordered'))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        f"{STUCK[name]}\n"
    )
    words = [sys.executable, "-c", child, store.url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, **pipes) as process:
        try:
            assert process.stdout.readline() == b"ready\n", process.stderr.read()
            store.reset()
            store.fault("silence")
            process.stdin.write(b"\n")
            process.stdin.flush()
            while store.counts()["requests"] == 0:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in err, err


@pytest.mark.parametrize(
    "use",
    [
        # Tasks that nobody waits for when the interpreter ends.
        "async def main():\n"
        "    tasks = [asyncio.ensure_future(db.aget(f'n{i}')) for i in range(200)]\n"
        "    await asyncio.sleep(0.1)\n"
        "asyncio.run(main())",
        # A loop that is never closed.
        "loop = asyncio.new_event_loop()\n"
        "tasks = [loop.create_task(db.aget(f'n{i}')) for i in range(200)]\n"
        "loop.run_until_complete(asyncio.sleep(0.1))\n"
        "[setattr(task, '_log_destroy_pending', False) for task in tasks]",
        # A thread that waits.
        "threading.Thread(target=db.get, args=('n1',), daemon=True).start()\ntime.sleep(0.1)",
        "threading.Thread(target=list, args=(db.items(),), daemon=True).start()\ntime.sleep(0.1)",
    ],
)
@pytest.mark.parametrize("fault", ["silence", "delay=120ms"])
def test_the_interpreter_ends_while_requests_are_under_way(store, use, fault):
    db = packed(store)
    db.close()
    child = (
        "import asyncio, sys, threading, time, bsdbkv, urllib.request\n"
        "url, fault = sys.argv[1:]\n"
        "db = bsdbkv.open(f'{url}/packed', memory=0, deadline=600)\n"
        "opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))\n"
        "opener.open(f'{url}/_fault?is={fault}').close()\n"
        f"{use}\n"
        "print('end', flush=True)\n"
    )
    words = [sys.executable, "-W", "ignore::ResourceWarning", "-c", child, store.url, fault]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def look_up(db):
    return os.getpid(), db.get_many([*NUMBERS[:100], "nix"])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(store, method):
    db = bsdbkv.open(f"{store.url}/packed", memory=1 << 20, requests=8, deadline=20)
    look_up(db)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for process, values in pool.map(look_up, [db] * 4):
            assert process != os.getpid()
            assert values == [*map(value_of, NUMBERS[:100]), None]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_reads_on(store):
    db = packed(store, memory=0)
    expected = [value_of(key) for key in NUMBERS[:200]]
    store.latency("2ms")
    stop = threading.Event()
    failed = []

    def busy():
        while not stop.is_set():
            if db.get_many(NUMBERS[:200]) != expected:
                failed.append("wrong")

    def child():
        for _ in range(5):
            assert db.get_many(NUMBERS[:200]) == expected and db["n5"] == value_of("n5")

        async def lookups():
            return await asyncio.gather(*(db.aget(key) for key in NUMBERS[:200]))

        assert asyncio.run(lookups()) == expected

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            process = multiprocessing.get_context("fork").Process(target=child)
            process.start()
            process.join(60)
            assert process.exitcode == 0
            assert db.get_many(NUMBERS[:200]) == expected
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert not failed and not any(thread.is_alive() for thread in threads)


def test_pickles_carry_no_secrets(store, monkeypatch):
    db = bsdbkv.open(
        "s3://bucket/packed",
        access="read",
        memory=4096,
        requests=5,
        deadline=7.5,
        storage_options=store.s3(
            token="hidden", client_kwargs={"region_name": "eu-west-1"}, aws_session_token="hidden"
        ),
    )
    data = pickle.dumps(db)
    assert b"hidden" not in data and b"reader" not in data and b"eu-west-1" in data
    _, arguments = db.__reduce__()
    assert arguments == (
        "s3://bucket/packed",
        "read",
        True,
        {
            "memory": 4096,
            "requests": 5,
            "deadline": 7.5,
            "storage_options": {"endpoint_url": store.url, "client_kwargs": {"region_name": "eu-west-1"}},
        },
    )
    # The receiver finds its own credentials.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "own")
    assert pickle.loads(data)["n1"] == value_of("n1")
    local = pickle.loads(pickle.dumps(bsdbkv.open(GOLDEN / "v1-packed", memory=1)))
    assert local[b"bsdb"] == RECORDS[b"bsdb"]


def test_paths_of_other_libraries(store):
    def upath(protocol, path, **options):
        return types.SimpleNamespace(protocol=protocol, path=path, storage_options=options)

    assert bsdbkv.open(upath("s3", "bucket/packed", **store.s3()))["n1"] == value_of("n1")
    wrong = upath("s3", "bucket/packed", **store.s3(endpoint_url="http://127.0.0.1:1"))
    assert bsdbkv.open(wrong, storage_options=store.s3())["n1"] == value_of("n1")
    assert bsdbkv.open(upath("http", f"{store.url}/packed"))["n1"] == value_of("n1")
    assert bsdbkv.open(upath("", str(GOLDEN / "v1-packed")))[b"bsdb"] == RECORDS[b"bsdb"]
    assert bsdbkv.open(f"{store.url}/packed/".encode())["n1"] == value_of("n1")


def test_options_of_stores():
    from bsdbkv._remote import prepare

    def settings(url, **options):
        return dict(prepare(url, options)[1])

    assert settings("s3://b/x", key="k", secret="s", token="t", anon=False) == {
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s",
        "aws_session_token": "t",
        "aws_skip_signature": "false",
    }
    client = {"endpoint_url": "http://x", "region_name": "r"}
    assert settings("s3a://b/x", client_kwargs=client, aws_request_payer=True) == {
        "aws_endpoint": "http://x",
        "aws_region": "r",
        "allow_http": "true",
        "aws_request_payer": "true",
    }
    assert settings("gcs://b/x", token="anon", project="p") == {"google_skip_signature": "true"}
    assert settings("gs://b/x", token=__file__) == {"google_application_credentials": __file__}
    assert settings("gs://b/x", token={"type": "x"}) == {"google_service_account_key": '{"type": "x"}'}
    connection = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=b==;EndpointSuffix=core.windows.net"
    assert settings("abfs://c/x", connection_string=connection) == {
        "azure_storage_account_name": "a",
        "azure_storage_account_key": "b==",
    }
    assert settings("az://c/x", account_name="a", sas_token="s", anon=None) == {
        "azure_storage_account_name": "a",
        "azure_storage_sas_key": "s",
    }
    assert prepare("s3://b/x", None) == ("s3://b/x", [], {})


@pytest.mark.parametrize(
    ("url", "options", "text"),
    [
        ("s3://b/x", {"kee": 1}, "unknown option 'kee'; known are .*endpoint_url, key,.* that begin with aws_"),
        ("s3://b/x", {"account_name": "x"}, "unknown option 'account_name'"),
        ("s3://b/x", {"client_kwargs": {"x": 1}}, "client_kwargs: unknown option 'x'"),
        ("s3://b/x", {"endpoint_url": "http://u:hidden@x"}, "must not have a user"),
        ("s3://b/x", {"aws_nothing": "x"}, "aws_nothing"),
        ("gs://b/x", {"token": "/no/such/file"}, "token must be"),
        ("http://127.0.0.1:1/x", {"key": "k"}, "unknown option 'key'"),
        ("/tmp/x", {"key": "k"}, "leave them out of local paths"),
        ("filecache::s3://b/x", None, "filecache:: before a URL is not supported"),
        ("s3://b/x", {"key": 5.5}, "key must be a text"),
        ("s3://b/x", [1], "must be a mapping"),
        ("http://u:hidden@127.0.0.1:1/x", None, "user or a password"),
        ("http://127.0.0.1:1/x?sig=hidden", None, "query"),
    ],
)
@pytest.mark.parametrize("use", [bsdbkv.open, bsdbkv.Store])
def test_wrong_options(url, options, text, use):
    with pytest.raises((ValueError, TypeError), match=text) as raised:
        use(url, storage_options=options, deadline=1)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    "options", [{"memory": -1}, {"requests": 0}, {"deadline": 0}, {"deadline": float("nan")}, {"x": 1}]
)
def test_wrong_limits(options):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        bsdbkv.open("s3://b/x", **options)
