"""Values and keys in arrays."""

import array
import random
import struct

import pytest
from conftest import GOLDEN, RECORDS

import bsdbkv

numpy = pytest.importorskip("numpy")

VECTORS = {f"v{i}": struct.pack("<16f", *[i + j / 16 for j in range(16)]) for i in range(500)}


@pytest.fixture(scope="module")
def vectors(build, tmp_path_factory):
    from conftest import bsdb_command

    directory = tmp_path_factory.mktemp("vectors")
    source = directory / "vectors.txt"
    source.write_text("".join(f"{key} {value.hex()}\n" for key, value in VECTORS.items()))
    bsdb_command("build", "-i", source, "--value-encoding", "hex", "--layout", "packed", "-o", directory / "db", "-q")
    return bsdbkv.open(directory / "db")


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
    with pytest.raises(TypeError, match=r"int64; if the key is the 8 bytes of each item, pass keys.view\('V8'\)"):
        vectors.get_many(numpy.array([1, 2]))
    with pytest.raises(ValueError, match="one dimension"):
        vectors.get_many(numpy.array([["v1"]]))
    with pytest.raises(UnicodeEncodeError, match=r"surrogates not allowed \(keys\[1\]\)"):
        vectors.get_many(numpy.array(["v1", "\ud800"]))


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    """Keys of random bytes, and three that differ in zeros at their ends."""
    from conftest import bsdb_command

    source = random.Random(7)
    keys = [bytes(source.choices(range(4), k=8)) for _ in range(3000)]
    records = {**{key: b"%d" % i for i, key in enumerate(keys)}, b"\1": b"one", b"\1\0": b"two", b"\0\0": b"zeros"}
    directory = tmp_path_factory.mktemp("binary")
    lines = "".join(f"{key.hex()} {value.hex()}\n" for key, value in records.items())
    (directory / "records.txt").write_text(lines)
    words = ["--key-encoding", "hex", "--value-encoding", "hex", "-o", directory / "db", "-q"]
    bsdb_command("build", "-i", directory / "records.txt", *words)
    return bsdbkv.open(directory / "db"), records


def test_keys_of_exactly_so_many_bytes(binary):
    db, records = binary
    keys = [key for key in records if len(key) == 8]
    values = [records[key] for key in keys]
    assert sum(key.endswith(b"\0") for key in keys) > 500
    cells = numpy.frombuffer(b"".join(keys), "V8")
    table = numpy.frombuffer(b"".join(keys), numpy.uint8).reshape(-1, 8)
    assert db.get_many(cells) == db.get_many(table) == values
    assert db.get_many(cells[::-3]) == db.get_many(table[::-3]) == values[::-3]
    assert db.get_many(numpy.asfortranarray(table)) == values
    assert [db[cell] for cell in cells[:9]] == values[:9] == db.get_many(list(cells[:9]))
    assert db.get_many(cells.astype(object)) == values
    assert db.get_many(numpy.array([b"\0\0", b"\1\0"], "V2")) == [b"zeros", b"two"]
    assert db.get_many(numpy.array([[1], [0]], numpy.uint8)) == [b"one", None]
    assert db.get_many(numpy.zeros((3, 0), numpy.uint8)) == [None] * 3
    assert db.get_many(numpy.zeros((0, 8), numpy.uint8)) == db.get_many(numpy.zeros(0, "V8")) == []
    words = db.get_many_numpy(numpy.array([b"\0\0"], "V2"), "V5")
    assert words[0].tobytes() == b"zeros"


def test_cut_keys_are_refused(binary):
    db, records = binary
    keys = [key for key in records if len(key) == 8]
    first = next(place for place, key in enumerate(keys) if key.endswith(b"\0"))
    for array in (numpy.frombuffer(b"".join(keys), "S8"), numpy.array(keys, "S")):
        with pytest.raises(ValueError, match=rf"keys\[{first}\] ends in zero bytes.*keys\.view\('V8'\).*tolist"):
            db.get_many(array)
        assert db.get_many(array.view("V8")) == [records[key] for key in keys]
        whole = [key for key in keys if not key.endswith(b"\0")]
        assert db.get_many(numpy.array(whole, "S8")) == [records[key] for key in whole]
    for cells in ([b"\1\0"], [b"\1", b"\1\0"], [b"\0\1", b"a"], [b"\xff", b"ab"], [b"ab", b"a\x7f", b"a"]):
        with pytest.raises(ValueError, match="cannot tell from filling"):
            db.get_many(numpy.array(cells, "S2"))
    assert db.get_many(numpy.array([b"\1\0"], "S2").tolist()) == [b"one"], "what NumPy itself makes of it"
    assert db.get_many(numpy.array(["ä", "a", ""], "U")) == [None] * 3
    assert db.get_many(numpy.array(["ä".encode(), b"a", b""], "S")) == [None] * 3, "text"


def test_other_arrays_are_refused(binary):
    db, _ = binary
    pairs = numpy.zeros(2, [("a", ">u4"), ("b", ">u4")])
    with pytest.raises(TypeError, match=r"keys\.view\('V8'\)"):
        db.get_many(pairs)
    assert db.get_many(pairs.view("V8")) == [None] * 2
    with pytest.raises(TypeError, match="a key must be .* not void"):
        db[pairs[0]]
    with pytest.raises(TypeError, match=r"keys\.reshape\(-1, w\)"):
        db.get_many(numpy.zeros(8, numpy.uint8))
    with pytest.raises(TypeError, match="one of type void"):
        db.get_many(numpy.zeros(1, "V8")[0])
    masked = numpy.ma.array([b"ab", b"cd", b"ef"], "S2", mask=[False, True, True])
    with pytest.raises(ValueError, match=r"2 of the keys are masked, first keys\[1\]; drop them with compressed\(\)"):
        db.get_many(masked)
    assert db.get_many(masked[:1]) == db.get_many(masked.compressed()) == [None]
    with pytest.raises(TypeError, match=r"keys\[2\]: .* not NoneType; leave out keys that are missing"):
        db.get_many(numpy.array(["a", "b", None], object))
    with pytest.raises(TypeError, match=r"keys\[1\]: .* not float; leave out keys that are missing"):
        db.get_many(["a", float("nan")])
    with pytest.raises(TypeError, match=r"keys\[0\]: .* not float; encode it"):
        db.get_many([1.5])
    with pytest.raises(TypeError, match=r"keys\[0\]: .* not array;"):
        db.get_many([array.array("B", b"ab")])


def test_pandas(vectors):
    pandas = pytest.importorskip("pandas")
    names = ["v1", "no", "v3"]
    values = [VECTORS.get(name) for name in names]
    series = pandas.Series(names)
    assert vectors.get_many(series) == vectors.get_many(series.astype("string")) == values
    assert vectors.get_many(series.astype("category")) == vectors.get_many(pandas.Index(names)) == values
    for missing in (None, float("nan"), pandas.NA):
        with pytest.raises(TypeError, match=r"keys\[1\]: .* leave out keys that are missing"):
            vectors.get_many(pandas.Series(["v1", missing], dtype=object))
    with pytest.raises(TypeError, match=r"keys\[1\]: .* leave out"):
        vectors.get_many(pandas.Series(["v1", None], dtype="string"))
    with pytest.raises(TypeError, match="pass one of its columns"):
        vectors.get_many(pandas.DataFrame({"v1": names}))


def test_arrow_arrays_of_keys():
    pyarrow = pytest.importorskip("pyarrow")
    db = bsdbkv.open(GOLDEN / "v1-packed")
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
    zeros = [b"bsdb", b"bsdb\0", b"\0"]
    for kind in [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()]:
        for keys in (pyarrow.array(zeros, kind), pyarrow.chunked_array([], kind), pyarrow.array(zeros, kind)[:0]):
            assert db.get_many(keys) == [RECORDS[b"bsdb"], None, None][: len(keys)]
    fixed = pyarrow.array([b"bsdb", b"bsd\0"], pyarrow.binary(4))
    assert db.get_many(fixed.dictionary_encode()) == [RECORDS[b"bsdb"], None]
    for kind in [pyarrow.large_string(), pyarrow.binary()]:
        keys = pyarrow.array(names, kind).dictionary_encode()
        assert db.get_many(pyarrow.chunked_array([keys, keys[1:]])) == values + values[1:]
    null_value = pyarrow.DictionaryArray.from_arrays([0, 1, 0], pyarrow.array(["bsdb", None]))
    for keys in (pyarrow.array(["a", None]), pyarrow.chunked_array([["a"], [None]]), null_value):
        with pytest.raises(ValueError, match=r"1 of the keys are null, first keys\[1\]; drop them with drop_null\(\)"):
            db.get_many(keys)
    with pytest.raises(TypeError, match="int64"):
        db.get_many(pyarrow.array([1]))
    with pytest.raises(TypeError, match="storage of an extension type"):
        db.get_many(pyarrow.array([b"0" * 16], pyarrow.uuid()))
    with pytest.raises(TypeError, match="pass one of its columns"):
        db.get_many(pyarrow.table({"bsdb": names}))


def test_without_numpy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy$"):
        bsdbkv.open(GOLDEN / "v1-packed").get_many_numpy(["bsdb"], "S49")
