"""Python's stores in scripts/compare-native.

stores.py build STORE PATH RECORDS    reads lines of key, blank and value, sorted by key
stores.py lookups STORE PATH QUERIES  takes laps; see rounds.py

STORE is bsdb, lmdb or rocksdict.
"""

import os
import sys
import time

KEY = 13
BATCH = 1000


def records(path):
    with open(path, "rb") as lines:
        for line in lines:
            yield line[:KEY], line[KEY + 1 : -1]


class Bsdb:
    """The package of this repository, which only reads."""

    def __init__(self, path):
        import bsdbkv

        self.db = bsdbkv.open(path)
        self.get_many = self.db.get_many

    def singles(self, keys):
        db = self.db
        found = total = 0
        for key in keys:
            value = db[key]
            found += 1
            total += value[0] + value[-1]
        return found, total


class Lmdb:
    """LMDB in the setting in which it reads fastest: without locks, in one transaction, bytes and not buffers."""

    def __init__(self, path):
        import lmdb

        self.env = lmdb.open(path, subdir=False, readonly=True, lock=False)
        self.transaction = self.env.begin(buffers=False)
        self.cursor = self.transaction.cursor()

    def singles(self, keys):
        get = self.transaction.get
        found = total = 0
        for key in keys:
            value = get(key)
            found += 1
            total += value[0] + value[-1]
        return found, total

    def get_many(self, keys):
        return [value for _, value in self.cursor.getmulti(keys)]

    @staticmethod
    def build(path, source):
        import lmdb

        with lmdb.open(path, subdir=False, map_size=1 << 40, sync=False) as env, env.begin(write=True) as transaction:
            transaction.cursor().putmulti(records(source), append=True)


class Rocksdict:
    """RocksDB without compression, mapped, with a filter; one sorted run."""

    def __init__(self, path):
        from rocksdict import AccessType, Rdict

        self.db = Rdict(path, self.options(), access_type=AccessType.read_only())

    @staticmethod
    def options():
        from rocksdict import BlockBasedOptions, DBCompressionType, Options

        table = BlockBasedOptions()
        table.set_bloom_filter(10, False)
        table.disable_cache()
        options = Options(raw_mode=True)
        options.set_compression_type(DBCompressionType.none())
        options.set_allow_mmap_reads(True)
        options.set_block_based_table_factory(table)
        options.create_if_missing(True)
        return options

    def singles(self, keys):
        db = self.db
        found = total = 0
        for key in keys:
            value = db[key]
            found += 1
            total += value[0] + value[-1]
        return found, total

    def get_many(self, keys):
        return self.db[keys]

    @classmethod
    def build(cls, path, source):
        from rocksdict import Rdict, SstFileWriter

        run = path + ".sst"
        writer = SstFileWriter(cls.options())
        writer.open(run)
        for key, value in records(source):
            writer[key] = value
        writer.finish()
        db = Rdict(path, cls.options())
        db.ingest_external_file([run])
        db.close()
        os.remove(run)


STORES = {"bsdb": Bsdb, "lmdb": Lmdb, "rocksdict": Rocksdict}


def many(store, keys):
    found = total = 0
    for at in range(0, len(keys), BATCH):
        for value in store.get_many(keys[at : at + BATCH]):
            found += 1
            total += value[0] + value[-1]
    return found, total


def lookups(name, path, queries):
    with open(queries, "rb") as file:
        data = file.read()
    keys = [data[at : at + KEY] for at in range(0, len(data), KEY)]
    __import__(name)
    start = time.perf_counter_ns()
    store = STORES[name](path)
    print("open", (time.perf_counter_ns() - start) / 1e6, flush=True)
    for line in sys.stdin:
        way, first, count = line.split()
        lap = keys[int(first) : int(first) + int(count)]
        start = time.thread_time_ns()
        found, total = store.singles(lap) if way == "single" else many(store, lap)
        print(time.thread_time_ns() - start, found, total, flush=True)


def main(task, name, path, source):
    if task == "build":
        STORES[name].build(path, source)
    else:
        lookups(name, path, source)


if __name__ == "__main__":
    main(*sys.argv[1:])
