"""The command line."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import GOLDEN, bsdb_command

import bsdbkv
from bsdbkv import _cli as cli

DB = str(GOLDEN / "v1-blocked")


@pytest.fixture
def run(capfdbinary, monkeypatch):
    def command(*arguments):
        try:
            code = cli.main([*map(str, arguments)])
        except SystemExit as end:  # of --help
            code = end.code
        streams = capfdbinary.readouterr()
        return code, streams.out, streams.err.decode()

    return command


def test_get(run):
    assert run("get", "-d", DB, "bsdb", "empty", "") == (
        0,
        b"build and serve, build and serve, build and serve\n\nan empty key is a key\n",
        "",
    )
    assert run("get", "-d", DB, "nix", "empty") == (1, b"\n", 'bsdb get: "nix" is absent\n')
    assert run("get", "-q", "-d", DB, "nix") == (1, b"", "")
    assert run("get", "-d", DB, "empty", "-q", "nix", "--", "empty", "--") == (1, b"\n\n", "")
    assert run("get", "-d", DB, "--", "-5") == (1, b"", 'bsdb get: "-5" is absent\n')
    assert run("get", "--json", "-d", DB, "empty", "nix")[:2] == (
        1,
        b'{"key":"empty","value":""}\n{"key":"nix","value":null}\n',
    )
    assert run("get", "-d", DB, "--key-encoding", "hex", "--value-encoding", "hex", "62736462")[1].startswith(b"6275696c64")
    assert run("get", "-d", DB, "--key-encoding", "base64", "--json", "YnNkYg==")[1].startswith(
        b'{"key":"YnNkYg==","value":"build'
    )


def test_the_database_as_an_argument(run, monkeypatch):
    assert run("get", DB, "empty")[:2] == (0, b"\n")
    assert run("scan", DB, "--count") == (0, b"3\n", "")
    assert run("stat", "--json", DB)[0] == run("verify", "-q", DB)[0] == 0
    monkeypatch.chdir(GOLDEN)
    code, out, err = run("get", "apple", "bsdb")
    assert (code, out) == (2, b"") and err.startswith("bsdb get: ./rdb: no such directory; name the database with -d")


def test_commands_that_need_java(run):
    message = "bsdb plan: is not covered by python -m bsdbkv; use the Java command: bsdb plan\n"
    assert run("plan", "--records", "1") == (2, b"", message)
    code, out, err = run("build", "-i", "x", "-a")
    assert code == 2 and err.startswith("bsdb build: -a is not covered by python -m bsdbkv; use the Java command: bsdb b")


def test_keys_from_files(run, tmp_path):
    file = tmp_path / "keys"
    file.write_bytes(b"bsdb\r\nnix\xff\n\nempty")
    code, out, err = run("get", "-d", DB, "--keys-from", file)
    assert code == 1 and err == "bsdb get: 0x6e6978ff is absent\n"
    assert out == b"build and serve, build and serve, build and serve\nan empty key is a key\n\n"
    words = [sys.executable, "-m", "bsdbkv", "get", "-d", DB, "--keys-from", "-"]
    done = subprocess.run(words, input=b"empty\n", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\n", b"")


def test_scan(run):
    assert run("scan", "-d", DB)[1].splitlines()[0] == b"bsdb build and serve, build and serve, build and serve"
    assert run("scan", "-d", DB, "--limit", "1", "-s", r"\t\x7c\\")[1].startswith(b"bsdb\t|\\build")
    assert run("scan", "-d", DB, "--limit", "0") == (0, b"", "")
    lines = [json.loads(line) for line in run("scan", "-d", DB, "--json")[1].splitlines()]
    assert lines[1:] == [{"key": "empty", "value": ""}, {"key": "", "value": "an empty key is a key"}]


def test_stat(run):
    code, out, _ = run("stat", "-d", DB, "--json")
    facts = json.loads(out)
    assert code == 0 and facts["databaseId"] == bsdbkv.open(DB).id
    assert facts["records"] == 3 and facts["valueSchema"] is None
    assert b"\nkind                        exact, blocked\n" in run("stat", "-d", DB)[1]
    typed = GOLDEN / "v1-typed"
    assert json.loads(run("stat", "-d", typed, "--schema")[1]) == bsdbkv.open(typed).schema
    assert run("stat", "-d", DB, "--schema")[0] == 2


def test_verify(run):
    code, out, err = run("verify", "-d", DB)
    assert code == 0 and out == b"" and err.startswith("verified ") and ": 3 records read and found again, " in err
    code, _, err = run("verify", "-d", GOLDEN / "v1-approximate")
    assert code == 0 and ": 3 records (approximate: no keys to look up), " in err
    assert run("verify", "-q", "-d", DB) == (0, b"", "")


def test_help(run):
    for words in [["--help"], *([each, "--help"] for each in ("build", "build-parquet", "get", "scan", "verify"))]:
        code, out, _ = run(*words)
        assert code == 0 and b"Examples:" in out and b"python -m bsdbkv" in out
    assert run("--version") == (0, f"bsdb {bsdbkv.__version__}\n".encode(), "")
    assert bsdbkv.__version__ == importlib.metadata.version("bsdbkv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nix"], 'bsdb: unknown command "nix"; the commands are build, build-parquet, get, scan, sign, stat, verify'),
        (["get", "-d", DB], "bsdb get: no key given; for example: bsdb get -d ./rdb apple"),
        (["get", "-d", "/nix/db", "key"], "bsdb get: /nix/db: no such directory"),
        (["get", "-d", "/", "key"], "bsdb get: /: no manifest.bsdb"),
        (["get", "-d", DB, "--keys-from", "/nix"], "bsdb get: /nix: no such file or directory"),
        (["get", "-d", DB, "--key-encoding", "hex", "zz"], 'bsdb get: key "zz" is not hex'),
        (["get", "-d", DB, "--nix", "zz"], "bsdb get: unknown option --nix"),
        (["scan", "-d", DB, "--limit", "-1"], "bsdb scan: --limit takes a whole number of at least 0"),
        (["scan", "-d", DB, "-s", "\\q"], "bsdb scan: -s takes "),
        (["scan", "-d", DB, "-s", "a\\"], "bsdb scan: -s takes "),
        (["scan", "-d", str(GOLDEN / "v1-approximate")], "bsdb scan: "),
        (["scan", "-d", str(GOLDEN / "v1-approximate"), "--count"], "bsdb scan: "),
        (["scan", "-d", DB, "--prefix", "b"], f"bsdb scan: {DB}: --prefix needs the order of the keys"),
        (["scan", "-d", DB, "--count", "--sorted"], f"bsdb scan: {DB}: --sorted needs the order of the keys"),
        (["scan", "-d", DB, "--reverse"], f"bsdb scan: {DB}: --reverse needs the order of the keys"),
        (["scan", "-d", DB, "--count", "--keys-only"], "bsdb scan: --keys-only and --count cannot be combined: "),
        (["scan", "-d", DB, "--count", "-s", ","], "bsdb scan: -s is for values"),
        (["scan", "-d", DB, "--from", "x", "--key-encoding", "hex"], 'bsdb scan: --from "x" is not hex'),
        (["scan", "-d", "hdfs://host/db"], "bsdb scan: hdfs://host/db: "),
        (["stat", "-d", "s3://bucket/db"], "bsdb stat: python -m bsdbkv stat takes a directory; "),
        (["get", "-d", "s3://bucket/db", "--keytab", "x"], "bsdb get: --keytab is not covered by python -m bsdbkv; "),
        (["stat", "-d", DB, "--schema"], f"bsdb stat: {DB}: the values are plain bytes"),
    ],
)
def test_mistakes(run, words, message):
    code, out, err = run(*words)
    assert code == 2 and out == b"" and err.startswith(message), err
    assert re.fullmatch(r"bsdb[^\n]*\n(Try: python -m bsdbkv( \w+)? --help\n)?", err), err


def test_damage(run, tmp_path):
    for file in (GOLDEN / "v1-blocked").iterdir():
        content = bytearray(file.read_bytes())
        if file.name.startswith("data"):
            content[4500] ^= 1
        (tmp_path / file.name).write_bytes(content)
    code, _, err = run("verify", "-d", tmp_path)
    assert code == 2 and ": damaged at byte " in err and err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device():
    with open("/dev/full", "wb") as full:
        words = [sys.executable, "-m", "bsdbkv", "get", "-d", DB, "bsdb"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"No space left on device" in done.stderr and done.stderr.count(b"\n") == 1


def test_a_closed_pipe(build):
    db = build({f"k{i}": "v" * 100 for i in range(20_000)})
    words = [sys.executable, "-m", "bsdbkv", "scan", "-d", db]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first = process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait(30) == 0
    assert re.fullmatch(rb"k\d+ v{100}\n", first)


RANGES = [
    ["--prefix", "k1"],
    ["--from", "k2", "--to", "k41"],
    ["--after", "k2", "--limit", "3"],
    ["--after", "k1", "--from", "k3"],
    ["--prefix", "k1", "--from", "k12", "--reverse"],
    ["--prefix", "nix"],
    ["--from", "k5", "--to", "k4"],
    ["--sorted", "--limit", "5"],
    ["--reverse", "--limit", "5"],
    ["--from", "6b39", "--key-encoding", "hex"],
    ["--limit", "0"],
    [],
]


@pytest.mark.parametrize("words", RANGES)
def test_ranges(build, run, words):
    db = build({f"k{i}": f"v{i}" for i in range(50)}, "--ordered")
    for form in [[], ["--json"], ["--keys-only"], ["--keys-only", "--json"], ["--count"], ["--count", "--json"]]:
        theirs = bsdb_command("scan", "-d", db, *words, *form)
        assert run("scan", "-d", db, *words, *form) == (0, theirs.encode(), ""), (words, form)


def test_the_same_as_the_builder_prints(build, run):
    db = build({"a": "1", "ä": 'b "c"', "": "empty"})
    for words in [["scan"], ["scan", "--json"], ["scan", "-s", "\\t", "--limit", "2", "--value-encoding", "base64"]]:
        theirs = bsdb_command(words[0], "-d", db, *words[1:])
        assert run(words[0], "-d", db, *words[1:]) == (0, theirs.encode(), "")
