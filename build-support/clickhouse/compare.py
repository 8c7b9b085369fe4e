"""Compares dictionaries of ClickHouse over bsdb and over redis-server: compare.py WORK RECORDS (scripts/test-clickhouse --compare)."""

import contextlib
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

from served import ClickHouse, bsdb, serving

WORK, RECORDS = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])


@contextlib.contextmanager
def redis_server(records):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(WORK)]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    try:
        ping = ["redis-cli", "-p", str(port), "ping"]
        while subprocess.run(ping, capture_output=True, text=True).stdout != "PONG\n":
            time.sleep(0.1)
        commands = "".join(f"SET {k} {v}\r\n" for k, v in records)
        subprocess.run(["redis-cli", "-p", str(port), "--pipe"], input=commands, text=True, check=True, stdout=subprocess.DEVNULL)
        yield port
    finally:
        server.terminate()
        server.wait()


records = [(f"key-{i}", f"value-of-{i}") for i in range(RECORDS)]
(WORK / "records.txt").write_text("".join(f"{k} {v}\n" for k, v in records))
bsdb("build", "-q", "-i", WORK / "records.txt", "-o", WORK / "rdb")
house = ClickHouse(WORK / "clickhouse")
seconds = {}


def timed(what, sql, expected=None):
    began = time.monotonic()
    found = house.query(sql)
    seconds.setdefault(what, []).append(time.monotonic() - began)
    if expected is not None and found != [[str(expected)]]:
        sys.exit(f"{what}: found {found} instead of {expected}")


with serving(WORK / "rdb") as served, redis_server(records) as redis:
    ports = {"bsdb": served, "redis-server": redis}
    print(f"{RECORDS:,} keys, {os.cpu_count()} cores", flush=True)
    for name, port in ports.items():
        house.dictionary(f"{name[:4]}_direct", port, "COMPLEX_KEY_DIRECT()")
    for attempt in range(4):  # the first is not counted
        if attempt == 1:
            seconds.clear()
        for name, port in list(ports.items())[:: 1 if attempt % 2 else -1]:
            house.dictionary(f"{name[:4]}_hashed", port, "COMPLEX_KEY_HASHED()")
            timed(f"load {name}", f"SYSTEM RELOAD DICTIONARY d.{name[:4]}_hashed")
            loaded = house.query(f"SELECT count() FROM d.{name[:4]}_hashed")
            if loaded != [[str(RECORDS)]]:
                sys.exit(f"{name}: loaded {loaded}")
            house.query(f"DROP DICTIONARY d.{name[:4]}_hashed")
            right = f"dictGet('d.{name[:4]}_direct', 'v', 'key-' || toString(number)) = 'value-of-' || toString(number)"
            timed(f"look up {name}", f"SELECT countIf({right}) FROM numbers({RECORDS})", RECORDS)
for what in ("load", "look up"):
    median = {name: statistics.median(seconds[f"{what} {name}"]) for name in ports}
    listed = ", ".join(f"{name} {value:.2f} s" for name, value in median.items())
    print(f"{what:8}  {listed}, bsdb / redis-server {median['bsdb'] / median['redis-server']:.2f}")
    print("          " + "; ".join(f"{n} {' '.join(f'{s:.2f}' for s in seconds[f'{what} {n}'])}" for n in ports))
