"""Values and keys in arrays."""

import struct

import pytest
from conftest import GOLDEN, RECORDS

import bsdb

numpy = pytest.importorskip("numpy")

VECTORS = {f"v{i}": struct.pack("<16f", *[i + j / 16 for j in range(16)]) for i in range(500)}


@pytest.fixture(scope="module")
def vectors(build, tmp_path_factory):
    from conftest import bsdb_command

    directory = tmp_path_factory.mktemp("vectors")
    source = directory / "vectors.txt"
    source.write_text("".join(f"{key} {value.hex()}\n" for key, value in VECTORS.items()))
    bsdb_command("build", "-i", source, "--value-encoding", "hex", "--layout", "packed", "-o", directory / "db", "-q")
    return bsdb.open(directory / "db")


def test_vectors(vectors):
    array = vectors.get_many_numpy(["v3", "v1", "v499"], ("<f4", 16))
    assert array.shape == (3, 16) and array.dtype == numpy.float32
    assert array[:, 0].tolist() == [3, 1, 499] and array[1, 8] == 1.5
    array[0, 0] = 7  # the array is the caller's own
    assert vectors.get_many_numpy([], ("<f4", 16)).shape == (0, 16)
    assert vectors.get_many_numpy(["v3"], "S64")[0] == VECTORS["v3"]
    record = numpy.dtype([("first", "<f4"), ("rest", "<f4", 15)])
    assert vectors.get_many_numpy(["v9"], record)["first"] == [9]
    matrix = vectors.get_many_numpy(["v9", "v8"], ("<f4", (4, 4)))
    assert matrix.shape == (2, 4, 4) and matrix[1, 0, 0] == 8


def test_absent_keys(vectors):
    with pytest.raises(KeyError) as raised:
        vectors.get_many_numpy(["v1", "no", "none"], ("<f4", 16))
    assert raised.value.args == (b"no",)
    filled = vectors.get_many_numpy(["no", "v1", "none"], ("<f4", 16), default=-1)
    assert filled[:, 0].tolist() == [-1, 1, -1] and filled[0].tolist() == [-1] * 16
    filled = vectors.get_many_numpy(["no"], ("<f4", 16), default=range(16))
    assert filled[0].tolist() == list(range(16))


def test_wrong_widths_and_types(vectors):
    with pytest.raises(ValueError, match=r"key b'v2' has 64 bytes, and the dtype float32 has 4"):
        vectors.get_many_numpy(["v2"], "<f4")
    with pytest.raises(TypeError, match="holds Python objects"):
        vectors.get_many_numpy(["v2"], object)
    with pytest.raises(TypeError, match="has no width"):
        vectors.get_many_numpy(["v2"], "S")


def test_arrays_of_keys(vectors):
    names = [f"v{i}" for i in range(0, 500, 7)] + ["no"]
    values = [VECTORS.get(name) for name in names]
    assert vectors.get_many(numpy.array(names)) == values
    assert vectors.get_many(numpy.array(names, "S")) == values
    assert vectors.get_many(numpy.array(names, "S9")[::2]) == values[::2]
    assert vectors.get_many(numpy.array(names, object)) == values
    with pytest.raises(TypeError, match="int64"):
        vectors.get_many(numpy.array([1, 2]))
    with pytest.raises(ValueError, match="one dimension"):
        vectors.get_many(numpy.array([["v1"]]))


def test_arrow_arrays_of_keys():
    pyarrow = pytest.importorskip("pyarrow")
    db = bsdb.open(GOLDEN / "v1-packed")
    names = ["bsdb", "", "absent", "empty", "bsdb"]
    values = [RECORDS.get(name.encode()) for name in names]
    kinds = [pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary(), pyarrow.string_view()]
    for kind in [*kinds, pyarrow.dictionary(pyarrow.int8(), pyarrow.string())]:
        array = (
            pyarrow.array(names, kind)
            if not pyarrow.types.is_dictionary(kind)
            else pyarrow.array(names).dictionary_encode()
        )
        assert db.get_many(array) == values, kind
        assert db.get_many(array.slice(1, 3)) == values[1:4], kind
        assert db.get_many(pyarrow.chunked_array([array, array])) == values * 2, kind
        assert db.get_many(array.slice(2, 0)) == [], kind
    assert db.get_many(pyarrow.array([b"bsdb", b"bsdc"], pyarrow.binary(4))) == [RECORDS[b"bsdb"], None]
    assert db.get_many(pyarrow.array(["", ""])) == [RECORDS[b""]] * 2
    with pytest.raises(ValueError, match="1 of the keys are null"):
        db.get_many(pyarrow.array(["a", None]))
    with pytest.raises(TypeError, match="int64"):
        db.get_many(pyarrow.array([1]))


def test_without_numpy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    with pytest.raises(ImportError, match=r"pip install 'bsdb\[numpy\]'"):
        bsdb.open(GOLDEN / "v1-packed").get_many_numpy(["bsdb"], "S49")
