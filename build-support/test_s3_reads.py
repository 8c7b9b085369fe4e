"""Reads databases where they lie on an S3 server, through a proxy that counts requests and can cut connections: test_s3_reads.py ROOT JARS WORK [URL] (scripts/test-s3). Without a URL, starts moto."""

import json
import logging
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse

import boto3

from s3_proxy import Proxy

ROOT, JARS, WORK = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
BSDB = str(ROOT / "scripts/bsdb")
KEY = os.environ.get("AWS_ACCESS_KEY_ID", "test")
SECRET = os.environ.get("AWS_SECRET_ACCESS_KEY", "test")
RECORDS = 100_000
BUCKET = "bsdb-reads"
failures = []


def started():
    """Starts moto."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would log every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    return f"http://127.0.0.1:{server.get_host_and_port()[1]}"


URL = urllib.parse.urlsplit(sys.argv[4] if len(sys.argv) > 4 else started())
assert URL.scheme == "http" and URL.hostname == "127.0.0.1", "the proxy leads to servers of this machine"
proxy = Proxy(URL.port)
client = boto3.client("s3", endpoint_url=URL.geturl(), aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1")
client.create_bucket(Bucket=BUCKET)
SETTINGS = {
    "fs.s3a.endpoint": f"http://127.0.0.1:{proxy.port}",
    "fs.s3a.path.style.access": "true",
    "fs.s3a.endpoint.region": "us-east-1",
}
ENDPOINT = [word for item in SETTINGS.items() for word in ("--hadoop-set", "=".join(item))]


def run(*line, credentials=True, cache="cache"):
    """Runs bsdb with a directory of its own for the cache."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment["BSDB_CLASSPATH"] = f"{JARS}/*"
    environment["BSDB_CACHE"] = str(WORK / cache)
    environment["AWS_EC2_METADATA_DISABLED"] = "true"
    if credentials:
        environment["AWS_ACCESS_KEY_ID"] = KEY
        environment["AWS_SECRET_ACCESS_KEY"] = SECRET
    return subprocess.run([BSDB, *map(str, line)], env=environment, capture_output=True, text=True, timeout=600)


def check(what, right, otherwise):
    print(f"{'ok  ' if right else 'FAIL'}  {what}", flush=True)
    if not right:
        print(f"      {otherwise}", flush=True)
        failures.append(what)


def read(what, *line, code=0, out=None, err="", requests=None, data=None, most=None, **how):
    """Runs a command that reads; checks what it prints, and its requests: never one for a length alone, or a list.

    requests: how many it makes in all; data: how many of those are for data files; most: the most that those may be
    """
    proxy.taken()
    began = time.monotonic()
    result = run(*line, *ENDPOINT, **how)
    taken = proxy.taken()
    ofdata = [one for one in taken if "/data-" in one[1]]
    right = result.returncode == code and err in result.stderr and "\tat " not in result.stderr
    right &= out is None or result.stdout == out
    right &= code == 2 or all(method == "GET" and "list-type" not in target for method, target, _ in taken)
    right &= requests is None or len(taken) == requests
    right &= data is None or len(ofdata) == data
    right &= most is None or len(ofdata) <= most
    shown = [*taken[:10], "..."] if len(taken) > 10 else taken
    took = f"{time.monotonic() - began:.1f} s, {len(taken)} requests, {len(ofdata)} of them for data"
    check(f"{what} ({took})", right, f"exit code {result.returncode}: {result.stdout[:500]}{result.stderr}\n      {shown}")
    return result


def put(key, content):
    client.put_object(Bucket=BUCKET, Key=key, Body=content)


def send(database, place):
    """Copies a database to a place in the bucket."""
    for file in database.iterdir():
        put(f"{place}/{file.name}", file.read_bytes())


text = WORK / "reads.txt"
text.write_text("".join(f"key-{number} value-{number}\n" for number in range(RECORDS)))
databases = {}
for layout in ("packed", "blocked", "compressed"):
    databases[layout] = WORK / f"reads-{layout}"
    built = run("build", "-i", text, "-o", databases[layout], "--layout", layout, "--ordered", "-q")
    assert built.returncode == 0, built.stderr
    send(databases[layout], layout)
packed = databases["packed"]
truth = run("scan", "-d", packed).stdout
pushed = run("push", packed, f"s3a://{BUCKET}/store", "--version", "v1", "-q", *ENDPOINT)
assert pushed.returncode == 0, pushed.stderr
PLACE = f"s3a://{BUCKET}/packed"
STORE = f"s3a://{BUCKET}/store"

# A value alone: the manifest, and pages around where its sample says. Several, of a database: its manifest, CURRENT, which
# is missing, and the index. Of a store: CURRENT, the manifest, which is missing, that of its version, and the index.
read("one key", "get", "-d", PLACE, "key-4711", out="value-4711\n", requests=2, data=1)
two = WORK / "two"
two.write_text("key-4711\nkey-815\n")
read("two keys, nothing cached", "get", "-d", PLACE, "--keys-from", two, out="value-4711\nvalue-815\n", requests=5, data=2)
read("two keys, the index cached", "get", "-d", PLACE, "--keys-from", two, out="value-4711\nvalue-815\n", requests=4, data=2)
read("an absent key", "get", "-d", PLACE, "none", code=1, out="", err='"none" is absent')
said = f"reading {STORE}/v1, the current version"
read("one key of a store", "get", "-d", STORE, "key-1", out="value-1\n", err=said, data=1, cache="other")
keys = WORK / "keys"
wanted = range(0, RECORDS, RECORDS // 256)
keys.write_text("".join(f"key-{number}\n" for number in wanted))
values = "".join(f"value-{number}\n" for number in wanted)
read("256 keys", "get", "-d", PLACE, "--keys-from", keys, out=values, most=len(wanted))
for layout in ("blocked", "compressed"):
    where = f"s3a://{BUCKET}/{layout}"
    read(f"one key, {layout}", "get", "-d", where, "key-4711", out="value-4711\n", data=1)
    read(f"256 keys, {layout}", "get", "-d", where, "--keys-from", keys, out=values, most=len(wanted))
read("a scan", "scan", "-d", PLACE, out=truth)
page = run("scan", "-d", packed, "--prefix", "key-99", "--reverse", "--limit", "50").stdout
read("a range", "scan", "-d", PLACE, "--prefix", "key-99", "--reverse", "--limit", "50", out=page)
read("a count", "scan", "-d", PLACE, "--count", out=f"{RECORDS}\n", data=0)
figures = read("figures", "stat", "-d", PLACE, "--json", data=0)
check("they name the place", json.loads(figures.stdout or "{}").get("directory") == PLACE, figures.stdout)
read("a verification", "verify", "-d", PLACE, err=f"verified {PLACE}: {RECORDS:,} records read and found again")
read("a comparison", "diff", packed, PLACE, out=f"{RECORDS:,} records kept, 0 added, 0 removed, 0 changed\n")

proxy.after = 1_000
proxy.cuts = 3
read("256 keys, connections cut", "get", "-d", PLACE, "--keys-from", keys, out=values)
check("the cuts were made", proxy.done == 3, f"{proxy.done} of 3 were made")
proxy.after = 100_000
proxy.cuts = 3
read("a scan, connections cut", "scan", "-d", PLACE, out=truth)

(file,) = [one for one in packed.iterdir() if one.name.startswith("data-")]
whole = file.read_bytes()
damaged = f"packed/{file.name}"
put(damaged, whole[: len(whole) // 2 // 4096 * 4096])
read("an object that was cut short", "scan", "-d", PLACE, code=2, err=f"s3a://{BUCKET}/{damaged} was cut short: it has ")
put(damaged, whole[:20_480] + bytes([whole[20_480] ^ 1]) + whole[20_481:])
read("a damaged object", "verify", "-d", PLACE, code=2, err=f"{PLACE}/{file.name}")
client.delete_object(Bucket=BUCKET, Key=damaged)
read("a missing object", "get", "-d", PLACE, "key-1", code=2, err=f"s3a://{BUCKET}/{damaged}: no such file")
put(damaged, whole)
read("the object is whole again", "get", "-d", PLACE, "key-1", out="value-1\n")
read("no database", "stat", "-d", f"s3a://{BUCKET}/none", code=2, err="is neither a bsdb database nor a store")
read("no bucket", "stat", "-d", "s3a://bsdb-missing/none", code=2, err="s3a://bsdb-missing/none")
read("no credentials", "stat", "-d", PLACE, code=2, err="no credentials for S3", credentials=False)
proxy.after = 0
proxy.cuts = 1_000_000
read("every connection cut", "stat", "-d", PLACE, "--deadline", "5", code=2, err=f"s3a://{BUCKET}/packed/")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
