"""Builds from s3a://, pushes there, and writes and reads there with Spark, against moto, through a proxy that can cut connections: test_s3.py ROOT JARS WORK (scripts/test-s3)."""

import json
import logging
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

import boto3
from moto import settings as moto_settings
from moto.server import ThreadedMotoServer

from s3_proxy import Proxy

ROOT, JARS, WORK = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
FILE = ROOT / "bsdb-tools/src/test/resources/parquet/pages-small-1.parquet"
BSDB = str(ROOT / "scripts/bsdb")
failures = []
logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would log every request


def run(*line, credentials=True, jars=JARS):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment["BSDB_CLASSPATH"] = f"{jars}/*"
    environment["AWS_EC2_METADATA_DISABLED"] = "true"
    if credentials:
        environment["AWS_ACCESS_KEY_ID"] = environment["AWS_SECRET_ACCESS_KEY"] = "test"
    return subprocess.run([BSDB, *map(str, line)], env=environment, capture_output=True, text=True, timeout=600)


def endpoint(port):
    """The options that lead to the server at a port."""
    settings = {
        "fs.s3a.endpoint": f"http://127.0.0.1:{port}",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.endpoint.region": "us-east-1",
    }
    return [word for item in settings.items() for word in ("--hadoop-set", "=".join(item))]


def build(what, path, port, expected, **how):
    """Runs a build, which must fail with one line that starts with `expected`, or succeed if that is None."""
    began = time.monotonic()
    target = WORK / f"db-{len(list(WORK.iterdir()))}"
    result = run("build-parquet", "-i", path, "-kf", "k", "-o", target, "-q", *endpoint(port), **how)
    right = result.returncode == (2 if expected else 0) and result.stdout == ""
    if expected:
        right &= result.stderr.startswith("bsdb build-parquet: " + expected)
        right &= result.stderr.count("\n") == 1 and not target.exists()
    else:
        right &= result.stderr == ""
    check(what, right, began, f"exit code {result.returncode}: {result.stderr}")
    return target


def check(what, right, began, otherwise):
    print(f"{'ok  ' if right else 'FAIL'}  {what} ({time.monotonic() - began:.1f} s)", flush=True)
    if not right:
        print("      " + otherwise, flush=True)
        failures.append(what)


server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{port}",
    aws_access_key_id="test",
    aws_secret_access_key="test",
    region_name="us-east-1",
)
client.create_bucket(Bucket="bucket")
for number in range(3):
    client.upload_file(str(FILE), "bucket", f"data/day={number}/part.parquet" if number else "one.parquet")

local = WORK / "local"
assert run("build-parquet", "-i", FILE, "-kf", "k", "-o", local, "-q").returncode == 0
truth = run("scan", "-d", local, "--json").stdout
assert truth.count("\n") > 100

began = time.monotonic()
built = build("a build from s3a://", "s3a://bucket/one.parquet", port, None)
check("has the same records as the local file", run("scan", "-d", built, "--json").stdout == truth, began, "they differ")
build("a directory: the same keys twice", "s3a://bucket/data", port, "duplicate key ")
build("a missing bucket", "s3a://missing/data", port, "s3a://missing/data: no such bucket")
build("a missing path", "s3a://bucket/missing", port, "s3a://bucket/missing: no such file or directory")
build("no credentials", "s3a://bucket/data", port, "s3a://bucket/data: no credentials for S3", credentials=False)


def push(what, database, port, *options, store="store"):
    """Pushes to s3a://bucket/STORE; returns the version's name."""
    began = time.monotonic()
    result = run("push", database, f"s3a://bucket/{store}", "-q", *endpoint(port), *options)
    right = result.returncode == 0 and result.stderr == ""
    check(what, right, began, f"exit code {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout.strip()


def pull(what, target, port, *options, expected=None, store="store"):
    """Pulls from s3a://bucket/STORE, which must succeed or fail with `expected`; returns what it brought."""
    began = time.monotonic()
    line = ("pull", f"s3a://bucket/{store}", target, "-q", "--json", "--attempts", "3", *endpoint(port), *options)
    result = run(*line)
    if expected:
        right = result.returncode == 2 and expected in result.stderr and result.stderr.count("\n") == 1
    else:
        right = result.returncode == 0 and result.stderr == ""
    check(what, right, began, f"exit code {result.returncode}: {result.stdout}{result.stderr}")
    return json.loads(result.stdout) if right and not expected else {}


def current_of(store):
    return (store / "CURRENT").read_text().split()[0]


def keys(prefix):
    return [one["Key"] for one in client.list_objects_v2(Bucket="bucket", Prefix=prefix).get("Contents", [])]


push("a push to s3a://", local, port, "--version", "v1")
began = time.monotonic()
copy = WORK / "copy"
copy.mkdir()
for key in keys("store/v1/"):
    client.download_file("bucket", key, str(copy / key.removeprefix("store/v1/")))
check("a pushed version has the same records", run("scan", "-d", copy, "--json").stdout == truth, began, "they differ")
current = client.get_object(Bucket="bucket", Key="store/CURRENT")["Body"].read()
check("CURRENT names it", current == b"v1\n", began, str(current))
check("no marker is left", "store/v1/.pushing" not in keys("store/"), began, str(keys("store/")))
again = push("the same database again", local, port)
check("stays the same version", again == "v1", began, again)

near = WORK / "near"
pull("a pull from s3a://", near, port, "--verify")
began = time.monotonic()
check("a pulled version has the same records", run("scan", "-d", near / "v1", "--json").stdout == truth, began, "they differ")
check("another pull has nothing to do", pull("a second pull", near, port).get("upToDate") is True, began, "it pulled")

lines = [f"key-{number} value-{number}" for number in range(200_000)]
for changed in ("one", "two"):
    text = WORK / f"{changed}.txt"
    text.write_text("\n".join([*lines, f"changed {changed}", ""]))
    assert run("build", "-i", text, "-o", WORK / changed, "--shards", "8", "--layout", "blocked", "-q").returncode == 0
shards = WORK / "shards"
push("a push of a set", WORK / "one", port, "--version", "v1", store="shards")
proxy = Proxy(port)
proxy.cuts = 12
proxy.after = 150_000
brought = pull("a pull of a set with cut connections", shards, proxy.port, store="shards")
began = time.monotonic()
size = sum(file.stat().st_size for file in (WORK / "one").rglob("*.bsdb"))
check("the cuts were made", proxy.done == 12, began, f"{proxy.done} of 12 were made")
check(
    "what had arrived did not travel again",
    brought.get("transferred", {}).get("bytes", 0) < 1.05 * size,
    began,
    f"{brought} for {size} bytes",
)
push("a push of another version", WORK / "two", port, "--version", "v2", store="shards")
here = {path.name for path in (WORK / "one").glob("shard-*")}
(new,) = [path for path in (WORK / "two").glob("shard-*") if path.name not in here]
(index,) = new.glob("index-*")
key = f"shards/v2/{new.name}/{index.name}"
whole = index.read_bytes()
client.put_object(Bucket="bucket", Key=key, Body=whole[:20_000] + bytes([whole[20_000] ^ 1]) + whole[20_001:])
pull("a damaged object", shards, port, store="shards", expected=f"s3a://bucket/{key}: gave up after 3 attempts: damaged at byte 16384")
client.put_object(Bucket="bucket", Key=key, Body=whole[:30_000])
pull("a truncated object", shards, port, store="shards", expected=f"s3a://bucket/{key}: gave up after 3 attempts: ")
check("the old version stays", current_of(shards) == "v1", began, current_of(shards))
client.delete_object(Bucket="bucket", Key=key)
pull("a missing object", shards, port, store="shards", expected=f"s3a://bucket/{key}: missing there")
client.put_object(Bucket="bucket", Key=key, Body=whole)
brought = pull("a pull once it is whole", shards, port, store="shards")
began = time.monotonic()
check("the new version is current", current_of(shards) == "v2", began, current_of(shards))
size = sum(file.stat().st_size for file in new.iterdir())
travelled = brought.get("transferred", {})
check(
    "only the changed shard travelled, and none of it twice",
    travelled.get("bytes", size) + travelled.get("resumedBytes", 0) <= size + 3 * 4096,
    began,
    f"{travelled} for {size} bytes",
)
check("it has the new value", run("get", "-d", shards / "v2", "changed").stdout == "two\n", began, "another")
pull("three of the shards", WORK / "part", port, "--shards", "0-1,5", store="shards")
state = json.loads(run("stat", "-d", WORK / "part" / "v2", "--json").stdout)
check("the set is partial", state.get("heldShards") == "0-1,5", began, str(state))


def fetched(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def until(what, condition):
    """Waits until a condition holds, which may fail meanwhile."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        try:
            if condition():
                return check(what, True, began, "")
        except OSError:
            pass  # not yet
        time.sleep(0.1)
    check(what, False, began, "not within a minute")


followed = WORK / "followed"
listener = socket.create_server(("127.0.0.1", 0))
web = listener.getsockname()[1]
listener.close()
push("a push to follow", WORK / "one", port, "--version", "v1", store="followed")
proxy = Proxy(port)
environment = {**os.environ, "BSDB_CLASSPATH": f"{JARS}/*", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
line = ["serve", "-A", "127.0.0.1", "-p", web, "-d", followed, "--follow", "s3a://bucket/followed", "--follow-interval", "1"]
with open(WORK / "followed.log", "w") as log:
    serving = subprocess.Popen([BSDB, *map(str, line), *endpoint(proxy.port)], env=environment, stderr=log)
until("a server pulls its first version", lambda: fetched(f"http://127.0.0.1:{web}/bsdb/changed") == "one")
proxy.after = 150_000
proxy.cuts = 3
push("a push while it serves", WORK / "two", port, "--version", "v2", store="followed")
until("it follows, with cut connections", lambda: fetched(f"http://127.0.0.1:{web}/bsdb/changed") == "two")
client.put_object(Bucket="bucket", Key="followed/CURRENT", Body=b"v3\n")
until("it says why it does not", lambda: "v3" in (json.loads(fetched(f"http://127.0.0.1:{web}/stats"))["follow"]["error"] or ""))
began = time.monotonic()
check("the old version serves", fetched(f"http://127.0.0.1:{web}/bsdb/changed") == "two", began, "another")
serving.terminate()
code = serving.wait(timeout=30)
check("it ends", code == 143, began, f"exit code {code}: {(WORK / 'followed.log').read_text()}")

pull("no such store", WORK / "none", port, store="missing", expected="s3a://bucket/missing: is neither a store nor a database")



def spark_class_path():
    """Builds the connector's jar; returns it, Spark with all that it needs, and the connector of S3."""
    listed = WORK / "class-path"
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
    line = [ROOT / "mvnw", "-B", "-q", "-Dquick", "-DskipTests", "-pl", "bsdb-spark", "-am", "package", plugin]
    options = [f"-Dmdep.outputFile={listed}", "-Dmdep.includeScope=compile"]
    subprocess.run([*map(str, line), *options], cwd=ROOT, check=True, stdout=sys.stderr, timeout=1800)
    inside = ("bsdb-", "dsiutils-", "fastutil-", "jsap-", "sux4j-")  # the jar has these
    others = [jar for jar in listed.read_text().strip().split(os.pathsep) if not pathlib.Path(jar).name.startswith(inside)]
    (jar,) = (ROOT / "bsdb-spark/target").glob("bsdb-spark-*.jar")
    return os.pathsep.join([str(jar), *others, f"{JARS}/*"])


def spark(what, store, version, port):
    """Writes a version with Spark and reads it back."""
    began = time.monotonic()
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "SPARK_LOCAL_IP": "127.0.0.1"}
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    opens = re.search("<spark.opens>(.*)</spark.opens>", (ROOT / "bsdb-spark/pom.xml").read_text())[1].split()
    program = [ROOT / "build-support/SparkS3.java", f"s3a://bucket/{store}", version, f"http://127.0.0.1:{port}", WORK / "spark"]
    line = [java, "-Xmx1500m", *opens, "-cp", CLASS_PATH, *program]
    result = subprocess.run([*map(str, line)], env=environment, capture_output=True, text=True, timeout=600)
    expected = f"rows true\nnumber {4711 * 31 + version}\n"
    check(what, result.returncode == 0 and result.stdout == expected, began, f"exit code {result.returncode}: {result.stdout}{result.stderr[-4000:]}")


CLASS_PATH = spark_class_path()
spark("Spark writes to s3a:// and reads it", "spark", 1, port)
pulled = WORK / "pulled"
pull("a pull of what Spark wrote", pulled, port, "--verify", store="spark")
began = time.monotonic()
got = run("get", "-d", pulled / "v1", "--json", "--fields", "number", "u4711").stdout
check("it has the row", '"number":146042' in got, began, got)
proxy = Proxy(port)
proxy.after = 200_000
proxy.cuts = 5
spark("Spark with cut connections", "spark", 2, proxy.port)
check("these cuts were made", proxy.done == 5, began, f"{proxy.done} of 5 were made")
spark("Spark removes old versions", "spark", 3, port)
versions = sorted({key.split("/")[1] for key in keys("spark/")})
check("and leaves two", versions == ["CURRENT", "v2", "v3"], began, str(versions))
current = client.get_object(Bucket="bucket", Key="spark/CURRENT")["Body"].read()
check("CURRENT names the newest", current.startswith(b"v3\n"), began, str(current))

proxy = Proxy(port)
proxy.cuts = 2
began = time.monotonic()
built = build("two cuts in the middle of an answer", "s3a://bucket/one.parquet", proxy.port, None)
check("cuts lose no record", run("scan", "-d", built, "--json").stdout == truth, began, "records differ")
check("both cuts were made", proxy.done == 2, began, f"{proxy.done} of 2 were made")
proxy.cuts = 1_000_000
build("every connection cut", "s3a://bucket/one.parquet", proxy.port, "s3a://bucket/one.parquet: ")
refusing = socket.socket()
refusing.bind(("127.0.0.1", 0))  # not listening
build("a port without a listener", "s3a://bucket/data", refusing.getsockname()[1], "s3a://bucket/data: S3 cannot be reached: ")

for jar in sorted(JARS.glob("*.jar")):
    part = WORK / f"without-{jar.name}"
    part.mkdir()
    for other in JARS.glob("*.jar"):
        if other != jar:
            (part / other.name).symlink_to(other)
    build(f"without {jar.name}", "s3a://bucket/one.parquet", port, "s3a://bucket/one.parquet: the class ", jars=part)

# From here on, the server checks credentials and accepts none.
moto_settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
build("wrong credentials", "s3a://bucket/data", port, "s3a://bucket/data: permission denied: S3 rejects these credentials")
server.stop()
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
