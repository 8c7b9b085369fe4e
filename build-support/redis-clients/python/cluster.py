"""Reads a cluster with redis-py: plain, pipelined, from replicas and asyncio, in RESP2 and RESP3.

With the argument "moves", reads until there is a file moves.end, while slots move and versions change.
With BSDB_WRITABLE in the environment, writes are left out, so that a cluster of Redis can be read.
"""

import asyncio
import os
import random
import sys
import time

import redis
import redis.asyncio
from redis.cluster import LoadBalancingStrategy, RedisCluster

FOLDER = os.environ["BSDB_FOLDER"]
PORT = int(os.environ["BSDB_PORT"])
TOKEN = os.environ["BSDB_TOKEN"]
BATCH = 1000
REPLICAS = LoadBalancingStrategy.ROUND_ROBIN_REPLICAS

with open(os.path.join(FOLDER, "records.txt"), encoding="utf-8") as file:
    RECORDS = dict(line.rstrip("\n").split(" ", 1) for line in file)
KEYS = list(RECORDS)
GROUP = [key for key in KEYS if key.startswith("{group-7}")]  # keys of one slot
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


def connect(protocol, kind=RedisCluster, password=TOKEN, **options):
    return kind(host="127.0.0.1", port=PORT, password=password, protocol=protocol, decode_responses=True, **options)


def values(keys):
    return [RECORDS[key] for key in keys]


def plain(protocol):
    refuses(redis.exceptions.RedisClusterException, lambda: connect(protocol, password="wrong"))
    with connect(protocol) as client:
        equal((len(client.get_primaries()), len(client.get_replicas())), (3, 3), "nodes")
        for key in KEYS[:3000] + KEYS[-BATCH:]:
            equal(client.get(key), RECORDS[key], key)
            equal(client.cluster_keyslot(key), client.keyslot(key), "CLUSTER KEYSLOT")
        equal([client.get(key) for key in ABSENT], [None] * BATCH, "absent keys")
        equal(client.mget(GROUP), values(GROUP), "MGET of one slot")
        equal(client.mget_nonatomic(KEYS + ABSENT), values(KEYS) + [None] * BATCH, "MGET of all slots")
        equal(client.exists(*KEYS[:BATCH], *ABSENT), BATCH, "EXISTS")
        equal(client.dbsize(target_nodes=RedisCluster.PRIMARIES), len(KEYS), "DBSIZE")
        equal(sorted(client.scan_iter(count=BATCH)), sorted(KEYS), "SCAN")
        slots = [client.keyslot(key) for key in KEYS]
        for slot in random.sample(range(16384), 100):
            equal(client.cluster_countkeysinslot(slot), slots.count(slot), "CLUSTER COUNTKEYSINSLOT")
        info = client.cluster_info()
        equal((info["cluster_state"], info["cluster_slots_assigned"]), ("ok", "16384"), "CLUSTER INFO")
        equal(len(client.cluster_nodes()), 6, "CLUSTER NODES")
        equal(sum(len(shard["nodes"]) for shard in client.cluster_shards()), 6, "CLUSTER SHARDS")
        if "BSDB_WRITABLE" not in os.environ:
            refuses(redis.ReadOnlyError, lambda: client.set(KEYS[0], "x"))


def pipelined(protocol, **options):
    with connect(protocol, **options) as client:
        for start in range(0, len(KEYS), BATCH):
            pipe = client.pipeline(transaction=False)
            for key in KEYS[start : start + BATCH]:
                pipe.get(key)
            pipe.get("absent")
            equal(pipe.execute(), [*values(KEYS[start : start + BATCH]), None], "pipeline")
        for key in KEYS[:BATCH]:
            equal(client.get(key), RECORDS[key], key)
        if "BSDB_WRITABLE" not in os.environ:
            pipe = client.pipeline(transaction=False).get(KEYS[0]).set(KEYS[0], "x").get(KEYS[0])
            first, error, last = pipe.execute(raise_on_error=False)
            equal((first, type(error), last), (RECORDS[KEYS[0]], redis.ReadOnlyError, first), "write in a pipeline")


async def concurrent(protocol, **options):
    async with connect(protocol, redis.asyncio.RedisCluster, **options) as client:
        for start in range(0, len(KEYS), BATCH):
            keys = KEYS[start : start + BATCH]
            some = keys[:100]
            equal(await asyncio.gather(*(client.get(key) for key in some)), values(some), "GET with asyncio")
            pipe = client.pipeline(transaction=False)
            for key in keys:
                pipe.get(key)
            equal(await pipe.execute(), values(keys), "pipeline with asyncio")
        equal(await client.get("absent"), None, "an absent key with asyncio")
        equal(await client.mget(GROUP), values(GROUP), "MGET of one slot with asyncio")
        equal(await client.mget_nonatomic(KEYS), values(KEYS), "MGET of all slots with asyncio")
        equal(await client.dbsize(target_nodes=RedisCluster.PRIMARIES), len(KEYS), "DBSIZE with asyncio")
        equal(sorted([key async for key in client.scan_iter(count=BATCH)]), sorted(KEYS), "SCAN with asyncio")
        if "BSDB_WRITABLE" not in os.environ:
            try:
                await client.set(KEYS[0], "x")
                raise SystemExit("SET was carried out")
            except redis.ReadOnlyError:
                pass


class Moves:
    """Counts the calls made while slots move and versions change, and what they find."""

    def __init__(self, name):
        self.name = name
        self.calls = self.wrong = self.failed = 0

    def found(self, keys, found):
        for key, value in zip(keys, found, strict=True):
            if value not in (RECORDS[key], RECORDS[key].replace("v1", "v2", 1)):
                self.wrong += 1
                self.tell(f"{key}: found {value}")

    def failure(self, error):
        self.failed += 1
        self.tell(f"{type(error).__name__}: {error}")

    def tell(self, text):
        if self.wrong + self.failed <= 10:
            print(f"{self.name}:", time.strftime("%H:%M:%S"), text[:300], file=sys.stderr)

    def goes_on(self):
        return not os.path.exists(os.path.join(FOLDER, "moves.end"))

    def call(self, keys, read):
        self.calls += 1
        try:
            self.found(keys, read())
        except Exception as error:
            self.failure(error)

    async def wait(self, keys, read):
        self.calls += 1
        try:
            self.found(keys, await read)
        except Exception as error:
            self.failure(error)

    def report(self):
        failed = self.wrong or self.failed or not self.calls
        counts = f"{self.calls:,} calls, {self.wrong} wrong, {self.failed} failed"
        print(f"{'FAILED' if failed else 'ok'}  {self.name} {redis.__version__} during moves: {counts}")
        return bool(failed)


def pipeline(client, keys):
    pipe = client.pipeline(transaction=False)
    for key in keys:
        pipe.get(key)
    return pipe.execute()


def move():
    moves = Moves("redis-py")
    clients = connect(2), connect(3, load_balancing_strategy=REPLICAS)
    while moves.goes_on():
        for client in clients:
            for key in random.sample(KEYS, 50):
                moves.call([key], lambda: [client.get(key)])
            keys = random.sample(KEYS, 200)
            moves.call(keys, lambda: pipeline(client, keys))
            moves.call(keys, lambda: client.mget_nonatomic(keys))
            moves.call(GROUP, lambda: client.mget(GROUP))
    return moves.report()


async def move_concurrently():
    moves = Moves("redis-py asyncio")
    # By default the client closes its connections at every fifth redirection, even those that others use at that moment.
    options = {"kind": redis.asyncio.RedisCluster, "reinitialize_steps": 0}
    clients = connect(2, **options), connect(3, load_balancing_strategy=REPLICAS, **options)

    async def one(client, key):
        return [await client.get(key)]

    while moves.goes_on():
        for client in clients:
            await asyncio.gather(*(moves.wait([key], one(client, key)) for key in random.sample(KEYS, 50)))
            keys = random.sample(KEYS, 200)
            await moves.wait(keys, pipeline(client, keys))
            await moves.wait(keys, client.mget_nonatomic(keys))
            await moves.wait(GROUP, client.mget(GROUP))
    for client in clients:
        await client.aclose()
    return moves.report()


match sys.argv[1:]:
    case ["moves"]:
        sys.exit(move())
    case ["moves", "asyncio"]:
        sys.exit(asyncio.run(move_concurrently()))
for version in 2, 3:
    plain(version)
    pipelined(version)
    pipelined(version, load_balancing_strategy=REPLICAS)
    asyncio.run(concurrent(version))
    asyncio.run(concurrent(version, load_balancing_strategy=REPLICAS))
print(f"ok  redis-py {redis.__version__}: {len(KEYS):,} records; plain, pipeline, asyncio; replicas; RESP2, RESP3")
