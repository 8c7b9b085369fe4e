"""Databases for the tests: the golden ones, and those that the command in the variable BSDB builds;
and a server of them."""

import contextlib
import json
import os
import shlex
import subprocess
import urllib.request
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[3] / "bsdb-core/src/test/resources/golden"

RECORDS = {
    b"bsdb": b"build and serve, build and serve, build and serve",
    b"empty": b"",
    b"": b"an empty key is a key",
}


def bsdb_command(*arguments, **options):
    """Runs the builder. Skips the test if there is none."""
    command = os.environ.get("BSDB")
    if not command:
        pytest.skip("the variable BSDB does not name the command that builds databases")
    words = [*shlex.split(command), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """A function that builds a database from records of text, once for each set of options."""
    built = {}

    def make(records, *options):
        name = (tuple(records.items()), options)
        if name not in built:
            directory = tmp_path_factory.mktemp("built")
            source = directory / "records.txt"
            source.write_text("".join(f"{key}\t{value}\n" for key, value in records.items()))
            bsdb_command(
                "build", "-i", source, "-s", r"\t", "--allow-empty-key", "-o", directory / "db", "-q", *options
            )
            built[name] = directory / "db"
        return built[name]

    return make


@pytest.fixture(params=sorted(path.name for path in GOLDEN.glob("v*-*")))
def golden(request):
    """Each of the golden databases."""
    return GOLDEN / request.param


class Objects:
    """A running object store, whose example of the crate bsdb explains the requests below."""

    def __init__(self, url):
        self.url = url
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def _ask(self, request):
        with self._opener.open(f"{self.url}/_{request}", timeout=60) as answer:
            return answer.read().decode()

    def counts(self):
        """What was asked since the start or the last reset."""
        return json.loads(self._ask("counts"))

    def log(self):
        """The requests, as tuples of method, path, range and status."""
        return [tuple(line.split(" ")) for line in self._ask("log").splitlines()]

    def reset(self):
        """Counts from 0, without faults."""
        self._ask("reset")

    def fault(self, fault, on="", skip=0, times=1_000_000_000):
        """Lets requests whose paths contain a text fail."""
        self._ask(f"fault?is={fault}&on={on}&skip={skip}&times={times}")

    def latency(self, latency):
        """Lets answers begin later: 20ms."""
        self._ask(f"fault?latency={latency}")

    def s3(self, **more):
        """Options with which s3://bucket/ is the directory."""
        return {"key": "reader", "secret": "hidden", "endpoint_url": self.url, **more}


@contextlib.contextmanager
def objects_of(directory):
    """An object store of a directory. Skips the test if the server was not built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or Path(__file__).resolve().parents[2] / "target")
    built = [target / profile / "examples/objects" for profile in ("debug", "release")]
    built = [file for file in built if file.exists()]
    if not built:
        pytest.skip("no object store: cargo build -p bsdb --example objects")
    words = [max(built, key=lambda file: file.stat().st_mtime), directory, "--log", "1", "--stdin", "1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Objects(process.stdout.readline().strip())
        finally:
            process.stdin.close()
            process.wait(60)


@pytest.fixture
def serve(monkeypatch):
    """A function that serves a directory as an object store."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    with contextlib.ExitStack() as stack:
        yield lambda directory: stack.enter_context(objects_of(directory))
