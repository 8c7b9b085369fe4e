"""Runs every example of README.md."""

import os
import re
import struct
import subprocess
import sys
import types
from pathlib import Path

import pytest
from conftest import bsdb_command

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)


@pytest.fixture
def databases(tmp_path, monkeypatch):
    pytest.importorskip("numpy")
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    Path("fruits.txt").write_text("apple red\npear green\nplum blue\n")
    bsdb_command("build", "-i", "fruits.txt", "-o", "rdb", "-q")
    bsdb_command("build", "-i", "fruits.txt", "-o", "ordered", "-q", "--ordered")
    bsdb_command("publish", "rdb", "store", "--version", "v1")
    lines = [f"v{i} {struct.pack('<128f', *range(128)).hex()}\n" for i in range(5)]
    Path("vectors.txt").write_text("".join(lines))
    bsdb_command("build", "-i", "vectors.txt", "--value-encoding", "hex", "-o", "vectors", "-q")
    pq.write_table(pa.table({"id": [42, 43], "price": [1.5, 20.0], "note": ["gift", None]}), "orders.parquet")
    bsdb_command("build-parquet", "-i", "orders.parquet", "-kf", "id", "-o", "orders", "-q")


def torch():
    """As much of PyTorch as the example uses, for machines without it."""

    class Dataset:
        pass

    class DataLoader:
        def __init__(self, dataset, batch_size, collate_fn):
            self.dataset, self.batch_size, self.collate_fn = dataset, batch_size, collate_fn

        def __iter__(self):
            for start in range(0, len(self.dataset), self.batch_size):
                batch = list(range(start, min(start + self.batch_size, len(self.dataset))))
                yield self.collate_fn(self.dataset.__getitems__(batch))

    data = types.SimpleNamespace(Dataset=Dataset, DataLoader=DataLoader)
    made = types.SimpleNamespace(from_numpy=lambda array: array, utils=types.SimpleNamespace(data=data))
    return {"torch": made, "torch.utils": made.utils, "torch.utils.data": data}


def test_python(databases, monkeypatch, capsys):
    try:
        import torch as _  # noqa: F401
    except ImportError:
        for name, module in torch().items():
            monkeypatch.setitem(sys.modules, name, module)
    names = {"__name__": "readme"}
    blocks = [text for language, text in BLOCKS if language == "python"]
    assert len(blocks) > 10, "the examples were not found"
    for text in blocks:
        exec(compile(text, "README.md", "exec"), names)
    out = capsys.readouterr().out
    assert "apple red\n" in out and "no such directory: 'nowhere'" in out.replace(os.getcwd() + "/", "")
    assert names["Vectors"]("embeddings", ["item3"])[0].shape == (128,)


def test_commands(databases):
    blocks = [text for language, text in BLOCKS if language == "sh" and "pip install" not in text]
    assert len(blocks) == 1
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    for text in blocks:
        words = ["bash", "-euo", "pipefail", "-c", text]
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[:6] == [
            "red",
            "green",
            '{"key":"apple","value":"red"}',
            '{"key":"quince","value":null}',
            "exit code 1",
            "red",
        ]
        # Records come in the order of signatures.
        assert len(set(lines[6:8])) == 2 and set(lines[6:8]) < {"apple red", "pear green", "plum blue"}
        assert sorted(lines[8:10]) == [
            '{"key":"42","value":{"id":42,"price":1.5,"note":"gift"}}',
            '{"key":"43","value":{"id":43,"price":20.0,"note":null}}',
        ]
        assert lines[10:12] == ["plum", "pear"]
        assert done.stderr.splitlines()[-1].startswith("verified ")
