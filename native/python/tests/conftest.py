"""Databases for the tests: the golden ones, and those that the command in the variable BSDB builds."""

import os
import shlex
import subprocess
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
