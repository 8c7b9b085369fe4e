"""An interpreter with a lock of its own gets an ImportError, and one that shares the lock can use the package."""

import subprocess
import sys

import pytest

import bsdbkv

# What another interpreter runs.
OTHER = """
try:
    import bsdbkv
except ImportError as error:
    print("refused:", error, flush=True)
else:
    print("imported:", bsdbkv.open(%r)["key"].decode(), flush=True)
"""

MAIN = f"""
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
if sys.argv[2] == "imported":
    import bsdbkv
other = interpreters.create()
interpreters.run_string(other, {OTHER!r} % sys.argv[1])
interpreters.destroy(other)
import bsdbkv
print(bsdbkv.open(sys.argv[1])["key"].decode())
"""


@pytest.mark.parametrize("before", ["imported", "not imported"])
def test_other_interpreters(before, tmp_path):
    try:
        import _interpreters  # noqa: F401
    except ImportError:
        pytest.importorskip("_xxsubinterpreters")
    bsdbkv.build(tmp_path / "db", {"key": "value"})
    words = [sys.executable, "-c", MAIN, str(tmp_path / "db"), before]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    other, value = done.stdout.splitlines()
    if sys.version_info >= (3, 12):  # whose modules create interpreters with locks of their own
        assert other.startswith("refused: ") and "does not support loading in subinterpreters" in other
    else:
        assert other == "imported: value"
    assert value == "value"
