"""The type stubs agree with the module, and the package with mypy. Skipped without mypy."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

PACKAGE = Path(__file__).resolve().parents[1]


def test_stubs():
    words = [sys.executable, "-m", "mypy.stubtest", "bsdbkv", "--ignore-disjoint-bases"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types():
    words = [sys.executable, "-m", "mypy", "--config-file", PACKAGE / "pyproject.toml", PACKAGE / "python/bsdbkv"]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, cwd=PACKAGE / "python")
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_users(tmp_path):
    source = tmp_path / "user.py"
    source.write_text(
        "import bsdbkv\n"
        "from collections.abc import Mapping\n"
        "from typing import Optional\n"
        "db = bsdbkv.open('x', access='read')\n"
        "a: bytes = db['k']\n"
        "b: Optional[bytes] = db.get(b'k')\n"
        "c: bytes = db.get(b'k', b'')\n"
        "d: list[Optional[bytes]] = db.get_many(['a', b'b'])\n"
        "e: Mapping[bytes, bytes] = db\n"
        "for key, value in db.items(): f: bytes = key + value\n"
        "with db as same: g: bsdbkv.Database = same\n"
        "for key, value in db.range('a', prefix=b'b'): i: bytes = key + value\n"
        "for key in db.range(to='z', reverse=True, values=False): j: bytes = key\n"
        "k: int = db.count(prefix='a')\n"
        "m: Optional[tuple[str, int]] = db.elements\n"
        "for keys, array in db.items_numpy(batch=9): n: list[bytes] = keys\n"
        "bsdbkv.build('y', ['a'], db.get_many_numpy(['k'], mask=False))\n"
        "store: bsdbkv.Store = bsdbkv.Store(b'x')\n"
        "with bsdbkv.Store('x') as entered: l: bsdbkv.Store = entered\n"
        "h: bsdbkv.Database = store.database\n"
        "o: Optional[bytes] = bsdbkv.get('s3://b/x', b'k', deadline=5)\n"
        "p: bytes = bsdbkv.get('s3://b/x', 'k', b'')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", source], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
