"""The command line prints what the Java command prints, which the variable BSDB names."""

import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import GOLDEN

from bsdbkv import _cli


def java(words, directory=None):
    command = os.environ.get("BSDB")
    if not command:
        pytest.skip("the variable BSDB does not name the Java command")
    done = subprocess.run([*shlex.split(command), *map(str, words)], capture_output=True, timeout=120, cwd=directory)
    return done.returncode, done.stdout, done.stderr.decode()


def same(ran):
    """What is the same in every run: without times, progress, and the name of the program."""
    code, out, err = ran
    out = re.sub(rb'"seconds":[0-9.eE-]+', b'"seconds":0', out)
    err = err.replace("python -m bsdbkv", "bsdb")
    err = re.sub(r"(?m)^[a-z]+ +\[[#-]+\].*\n", "", err)
    return code, out, re.sub(r"(?m)in [0-9.]+ s(;|$)", r"in 0 s\1", err)


@pytest.fixture
def compare(capfdbinary):
    def run(*lines):
        with ThreadPoolExecutor(2) as threads:
            theirs = list(threads.map(java, lines))
        for words, expected in zip(lines, theirs):
            code = _cli.main([*map(str, words)])
            streams = capfdbinary.readouterr()
            assert same((code, streams.out, streams.err.decode())) == same(expected), words

    return run


def test_golden(golden, compare):
    db = ["-d", golden]
    compare(
        ["stat", *db],
        ["stat", *db, "--json"],
        ["stat", *db, "--schema"],
        ["scan", *db],
        ["scan", *db, "--json"],
        ["verify", *db],
        ["verify", *db, "--json"],
        ["verify", *db, "--content"],
        ["verify", *db, "--content", "--json"],
        ["get", *db, "bsdb", "nix", "", "--json"],
    )


DB = GOLDEN / "v1-blocked"

LINES = [
    ["get", "-d", DB, "bsdb", "empty", "", "nix\n", "--", "-5"],
    ["get", "-d", DB, "-q", "nix"],
    ["get", "-d", DB],
    ["get", "-d", DB, "-5"],
    ["get", "-d", DB, "--key-encoding", "hex", "--value-encoding", "base64", "62736462", "zz"],
    ["get", "-d", DB, "--key-encoding", "base64", "YnNkYg", "YnNkYg=", "=", "a"],
    ["get", "-d", DB, "--key-encoding", "base32", "x"],
    ["get", "-d", DB, "--fields", "x", "bsdb"],
    ["get", "-d", DB, "--json", "--fields", "x", "bsdb"],
    ["get", "-d", DB, "--json", "--json-safe-integers", "bsdb"],
    ["get", "-d", DB, "--json", "--fields", "a,,b", "bsdb"],
    ["get", "-d", DB, "--json", "--fields", "a\\b", "bsdb"],
    ["get", "-d", DB, "--keyencoding", "hex", "x"],
    ["get", "-d", DB, "-d", DB, "x"],
    ["get", "-d", DB, "--keys-from", "/nix", "bsdb"],
    ["get", "-d"],
    ["get", "-d", "", "x"],
    ["get", "-d", "/nix/db", "x"],
    ["get", "-d", "/etc/passwd", "x"],
    ["get", "-d", DB, "--requests", "5", "x"],
    ["get", "-d", DB, "--cache", "1g", "x"],
    ["get", "-d", "https://host/db", "--cache", "1.5g", "x"],
    ["get", "-d", "https://host/db", "--cache", "1048575", "x"],
    ["get", "-d", "https://host/db", "--cache-dir=", "x"],
    ["get", "-d", DB, "--hedge", "--cache-dir", "/x", "x"],
    ["get", "-d", "https://host/db", "--deadline", "0", "x"],
    ["get", f"-d{DB}", "-qx"],
    ["scan", "-d", DB, "--limit", "1", "-s", "\\t\\x7c\\\\"],
    ["scan", "-d", DB, "-s", "", "--value-encoding=hex"],
    ["scan", "-d", DB, "-s", "\\q"],
    ["scan", "-d", DB, "-s", "a\\"],
    ["scan", "-d", DB, "--limit", "-1"],
    ["scan", "-d", DB, "--limit", "x"],
    ["scan", "-d", DB, "--limit=2", "--keys-only"],
    ["scan", "-d", DB, "--keys-only", "--json"],
    ["scan", "-d", DB, "--keys-only", "--count"],
    ["scan", "-d", DB, "--count"],
    ["scan", "-d", DB, "--count", "--json", "--limit", "2"],
    ["scan", "-d", DB, "--count", "-s", ","],
    ["scan", "-d", DB, "--json", "-s", ","],
    ["scan", "-d", DB, "--prefix", "b"],
    ["scan", "-d", DB, "--prefix", "b", "--full-scan"],
    ["scan", "-d", DB, "--after", "b", "--to", "f", "--full-scan", "--count"],
    ["scan", "-d", DB, "--reverse"],
    ["scan", "-d", DB, "--sorted", "--full-scan"],
    ["scan", "-d", DB, "--from", "x", "--key-encoding", "hex"],
    ["scan", "-d", GOLDEN / "v1-approximate", "--count"],
    ["scan", "-d", DB, "extra"],
    ["scan", "--lmit", "3"],
    ["scan", "-z"],
    ["stat", "-d", DB, "--sheme"],
    ["verify", "-d", DB, "-q"],
    ["verify", "--nix"],
    ["verify", "-d", "/nix/x\ty\x01"],
    ["get", "--help", "--nix"],
    ["scann"],
    ["build"],
    ["build", "-i", "/nix/in", "-o", "/nix/out"],
    ["build", "-i", ""],
    ["build", "-i", "-", "-i", "-"],
    ["build", "-i", "a.parquet", "-i", "b.txt"],
    ["build", "-i", "x", "y"],
    ["build", "-i", "x", "--rejects", "r"],
    ["build", "-i", "x", "--csv", "--jsonl"],
    ["build", "-i", "x", "--key-column", "a"],
    ["build", "-i", "x", "--key-field", "a"],
    ["build", "-i", "x", "--jsonl"],
    ["build", "-i", "x", "--csv", "-s", ","],
    ["build", "-i", "x", "--csv", "--csv-delimiter", "ab"],
    ["build", "-i", "x", "--csv", "--csv-values", "json", "--value-column", "a"],
    ["build", "-i", "x", "--csv", "--value-encoding", "hex"],
    ["build", "-i", "x", "-s", ""],
    ["build", "-i", "x", "-s", "\\x0a"],
    ["build", "-i", "x", "-e", "nix"],
    ["build", "-i", "x", "-c", "-z"],
    ["build", "-i", "x", "-c", "--layout", "blocked"],
    ["build", "-i", "x", "--layout", "nix"],
    ["build", "-i", "x", "-cb", "33"],
    ["build", "-i", "x", "-cb", "4", "--layout", "packed"],
    ["build", "-i", "x", "-cb", "4", "--filter-bits", "3"],
    ["build", "-i", "x", "-bs", "600"],
    ["build", "-i", "x", "-z", "-bs", "5"],
    ["build", "-i", "x", "-z", "-sc", "0", "-ds", "5"],
    ["build", "-i", "x", "-z", "-sc", "5", "-ds", "0"],
    ["build", "-i", "x", "--seed", "x"],
    ["build", "-i", "x", "-ps", "0"],
    ["build", "-i", "x", "--threads", "0"],
    ["build", "-i", "x", "-o", ""],
    ["build", "-i", "x", "--on-duplicate", "x"],
    ["build", "-i", GOLDEN],
    ["build", "-i", DB],
]


@pytest.mark.parametrize("place", range(0, len(LINES), 10))
def test_lines(compare, place):
    compare(*LINES[place : place + 10])


@pytest.mark.parametrize("command", ["build", "build-parquet", "get", "scan", "sign", "stat", "verify"])
def test_help(command, capfdbinary):
    theirs = java([command, "--help"])[1].decode()
    assert _cli.main([command, "--help"]) == 0
    ours = capfdbinary.readouterr().out.decode()
    theirs = re.sub(r"\bbsdb (?=(build|get|plan|scan|sign|stat|verify)\b)", "python -m bsdbkv ", theirs)
    lines = theirs.splitlines()
    assert [line for line in ours.splitlines() if line not in lines] == []


def test_help_texts():
    """The texts are copies of those of the Java command."""
    theirs = GOLDEN.parents[4] / "bsdb-tools/src/main/resources/tech/bsdb/tools/help"
    ours = os.path.join(os.path.dirname(_cli.__file__), "help")
    for folder, _, files in os.walk(ours):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as own:
                assert own.read() == (theirs / os.path.relpath(path, ours)).read_bytes(), path
