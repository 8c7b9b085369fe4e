"""Reads everything back with redis-py: plain, pipelined and asyncio, in RESP2 and RESP3."""

import asyncio
import os

import redis
import redis.asyncio

FOLDER = os.environ["BSDB_FOLDER"]
PORTS = int(os.environ["BSDB_PORT"]), int(os.environ["BSDB_ROWS_PORT"])
TOKEN = os.environ["BSDB_TOKEN"]
BATCH = 1000


def lines(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


RECORDS = dict(line.split(" ", 1) for line in lines("records.txt"))
ROWS = {}
for line in lines("rows.tsv"):
    key, *words = line.split("\t")
    ROWS[key] = dict(zip(words[::2], words[1::2]))
KEYS = list(RECORDS)
ABSENT = ["absent-" + str(i) for i in range(BATCH)]


def equal(found, expected, what):
    if found != expected:
        raise SystemExit(f"{what}: found {str(found)[:300]}, expected {str(expected)[:300]}")


def refuses(error, call):
    try:
        call()
    except error:
        return
    raise SystemExit(f"{call}: {error.__name__} was expected")


def plain(protocol):
    options = {"decode_responses": True, "protocol": protocol}
    refuses(redis.AuthenticationError, lambda: redis.Redis(port=PORTS[0], **options).get("apple"))
    refuses(redis.AuthenticationError, lambda: redis.Redis(port=PORTS[0], password="wrong", **options).ping())
    with redis.Redis(port=PORTS[0], password=TOKEN, **options) as client:
        equal(client.ping(), True, "PING")
        for start in range(0, len(KEYS), BATCH):
            keys = KEYS[start : start + BATCH]
            equal(client.mget(keys), [RECORDS[key] for key in keys], "MGET")
        for key in KEYS[:BATCH]:
            equal(client.get(key), RECORDS[key], key)
        equal(client.mget(ABSENT), [None] * BATCH, "absent keys")
        equal(client.exists("apple", "apple", "absent"), 2, "EXISTS")
        equal(client.strlen("apple"), 7, "STRLEN")
        equal(client.getrange("apple", 2, -1), "fruit", "GETRANGE")
        equal((client.type("apple"), client.ttl("apple"), client.ttl("absent")), ("string", -1, -2), "TYPE, TTL")
        equal(client.dbsize(), len(KEYS), "DBSIZE")
        equal(sorted(client.scan_iter(count=BATCH)), sorted(KEYS), "SCAN")
        equal(sorted(client.scan_iter(match="*99", count=BATCH)), sorted(k for k in KEYS if k.endswith("99")), "MATCH")
        equal(client.info()["db0"]["keys"], len(KEYS), "INFO")
        equal(client.randomkey() in RECORDS, True, "RANDOMKEY")
        equal("get" in client.command(), True, "COMMAND")
        equal(client.config_get("databases"), {"databases": "1"}, "CONFIG GET")
        refuses(redis.ReadOnlyError, lambda: client.set("apple", "x"))
        refuses(redis.ResponseError, lambda: client.eval("return 1", 0))
    with redis.Redis(port=PORTS[1], password=TOKEN, **options) as client:
        for key, row in ROWS.items():
            equal(client.hgetall(key), row, key)
        equal(client.hgetall("absent"), {}, "HGETALL of an absent key")
        key, row = next(iter(ROWS.items()))
        equal(client.hget(key, "name"), row["name"], "HGET")
        equal(client.hmget(key, "name", "colour"), [row["name"], None], "HMGET")
        equal((client.hkeys(key), client.hvals(key), client.hlen(key)), (list(row), list(row.values()), len(row)), "HKEYS")
        equal((client.hexists(key, "name"), client.hexists(key, "colour")), (True, False), "HEXISTS")
        equal(sorted(client.scan_iter(_type="hash", count=BATCH)), sorted(ROWS), "SCAN TYPE hash")
        refuses(redis.ResponseError, lambda: client.get(key))
        refuses(redis.ReadOnlyError, lambda: client.hset(key, "name", "x"))


def pipelined(protocol):
    with redis.Redis(port=PORTS[0], password=TOKEN, protocol=protocol) as client:
        for start in range(0, len(KEYS), BATCH):
            pipe = client.pipeline(transaction=False)
            for key in KEYS[start : start + BATCH]:
                pipe.get(key)
            pipe.get("absent")
            expected = [RECORDS[key].encode() for key in KEYS[start : start + BATCH]]
            equal(pipe.execute(), [*expected, None], "pipeline")
        pipe = client.pipeline(transaction=False).get("apple").set("apple", "x").get("apple")
        first, error, last = pipe.execute(raise_on_error=False)
        equal((first, type(error), last), (b"a fruit", redis.ReadOnlyError, b"a fruit"), "write in a pipeline")


async def concurrent(protocol):
    async with redis.asyncio.Redis(port=PORTS[0], password=TOKEN, protocol=protocol, max_connections=20) as client:
        chunks = [KEYS[start : start + BATCH] for start in range(0, len(KEYS), BATCH)]
        for start in range(0, len(chunks), 10):
            some = chunks[start : start + 10]
            for keys, values in zip(some, await asyncio.gather(*(client.mget(keys) for keys in some))):
                equal(values, [RECORDS[key].encode() for key in keys], "MGET with asyncio")
        scanned = [key.decode() async for key in client.scan_iter(count=BATCH)]
        equal(sorted(scanned), sorted(KEYS), "SCAN with asyncio")
        try:
            await client.delete("apple")
            raise SystemExit("DEL was carried out")
        except redis.ReadOnlyError:
            pass


for version in 2, 3:
    plain(version)
    pipelined(version)
    asyncio.run(concurrent(version))
print(f"ok  redis-py {redis.__version__}: {len(KEYS):,} records, {len(ROWS):,} rows; plain, pipeline, asyncio; RESP2, RESP3")
