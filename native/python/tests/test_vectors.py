"""Vectors: values that are arrays of fixed width."""

import pytest

import bsdbkv

numpy = pytest.importorskip("numpy")

KEYS = [f"v{i}" for i in range(500)]
TYPES = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8"}


def vectors(dtype="<f4", width=16, count=len(KEYS)):
    return (numpy.arange(count * width) % 251 - 100).reshape(count, width).astype(dtype)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "db"
    built = bsdbkv.build(path, KEYS, vectors())
    assert (built.records, built.value_bytes) == (500, 500 * 64)
    return bsdbkv.open(path)


@pytest.mark.parametrize("kind", TYPES)
def test_types(kind, tmp_path):
    dtype = numpy.dtype(kind).newbyteorder("<")
    array = vectors(dtype, 3)
    bsdbkv.build(tmp_path / "db", KEYS, array)
    bsdbkv.build(tmp_path / "big", KEYS, array.astype(dtype.newbyteorder(">")))
    own = bsdbkv.open(tmp_path / "db")
    assert own.elements == (dtype.str, 3)
    assert own.id == bsdbkv.open(tmp_path / "big").id
    found = own.get_many_numpy(KEYS)
    assert found.dtype == dtype and (found == array).all()
    pairs = {key: row.tobytes() for key, row in zip(KEYS, array)}
    assert bsdbkv.build(tmp_path / "pairs", pairs, value_elements=f"{TYPES[kind]} 3").id == own.id
    assert bsdbkv.build(tmp_path / "plain", pairs).id != own.id
    assert bsdbkv.open(tmp_path / "plain").elements is None


def test_java_builds_the_same(db):
    # Of DatabaseBuilder with the value elements F32 and 16, and the same records.
    assert db.id == "cb24bacb5468333ea1e61e0112a94bd4"


class ByArray:
    """Only the method __array__."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class ByTensor:
    """A tensor: only the methods of DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_forms_of_vectors(db, tmp_path):
    array = vectors()
    numpy.save(tmp_path / "array.npy", array)
    forms = [
        ByArray(array),
        ByTensor(array),
        memoryview(array),
        numpy.asfortranarray(array),
        numpy.repeat(array, 2, 0)[::2],
        numpy.load(tmp_path / "array.npy", mmap_mode="r"),
    ]
    for place, form in enumerate(forms):
        assert bsdbkv.build(tmp_path / str(place), KEYS, form).id == db.id, place


def test_forms_of_keys(db, tmp_path):
    forms = [tuple(KEYS), iter(KEYS), [key.encode() for key in KEYS], numpy.array(KEYS), numpy.array(KEYS, "S")]
    for place, form in enumerate(forms):
        assert bsdbkv.build(tmp_path / str(place), form, vectors()).id == db.id, place


def test_parts(db, tmp_path):
    with bsdbkv.Builder(tmp_path / "db") as builder:
        for start in range(0, 500, 70):
            builder.add_vectors(KEYS[start : start + 70], vectors()[start : start + 70])
        assert builder.records == 500
    assert builder.built.id == db.id
    with bsdbkv.Builder(tmp_path / "none") as builder:
        builder.add_vectors([], vectors(count=0))
    assert len(bsdbkv.open(tmp_path / "none")) == 0 and bsdbkv.open(tmp_path / "none").elements == ("<f4", 16)


def test_vectors_longer_than_a_part(tmp_path):
    array = numpy.arange(3 << 19, dtype="<f4").reshape(3, -1)
    bsdbkv.build(tmp_path / "db", ["a", "b", "c"], array)
    assert (bsdbkv.open(tmp_path / "db").get_many_numpy(["c", "a", "b"]) == array[[2, 0, 1]]).all()


@pytest.mark.parametrize("layout", ["packed", "packed-compressed", "blocked"])
def test_vectors_that_lie_in_two_pages(layout, tmp_path):
    array = vectors("<f4", 300)
    bsdbkv.build(tmp_path / "db", KEYS, array, layout=layout)
    for access in ("mapped", "read"):
        own = bsdbkv.open(tmp_path / "db", access=access)
        for _ in range(2):  # the second time, pages are known
            found = own.get_many_numpy([*KEYS, "no"], default=7)
            assert (found[:-1] == array).all() and (found[-1] == 7).all()


def test_what_is_refused(tmp_path):
    def refused(kind, match, keys, array, **options):
        with pytest.raises(kind, match=match):
            bsdbkv.build(tmp_path / "db", keys, array, **options)
        assert not (tmp_path / "db").exists()

    refused(ValueError, "there are 2 keys and 3 vectors", ["a", "b"], vectors(count=3))
    refused(ValueError, r"shape \(n, d\), not \(4,\)", ["a"], numpy.zeros(4, "f4"))
    refused(ValueError, "at least one element", ["a"], numpy.zeros((1, 0), "f4"))
    for dtype in ("u2", "?", "c8", "U1", object):
        refused(TypeError, "vectors hold float16.*convert them", ["a"], numpy.zeros((1, 2), dtype))
    refused(TypeError, "not list", ["a"], [[1.0]])
    refused(TypeError, r"keys\[1\]: a key must be", ["a", 2], vectors(count=2))
    refused(ValueError, r"keys\[1\]: a key of 70000 bytes", ["a", "k" * 70000], vectors(count=2))
    refused(ValueError, "the vectors are f32 16, .* are f32 8", ["a"], vectors(count=1), value_elements="f32 8")
    refused(TypeError, "key, value and key_join", ["a"], vectors(count=1), key="id")
    refused(ValueError, "value_elements is .*types are f16", ["a"], vectors(count=1), value_elements="f32")
    masked = numpy.ma.array(vectors(count=1), mask=[[True] + [False] * 15])
    refused(ValueError, "filled", ["a"], masked)
    with bsdbkv.Builder(tmp_path / "db") as builder:
        builder.add("a", "b")
        with pytest.raises(ValueError, match="come after records whose values are bytes"):
            builder.add_vectors(["b"], vectors(count=1))
    with bsdbkv.Builder(tmp_path / "other") as builder:
        builder.add_vectors(["b"], vectors(count=1))
        with pytest.raises(ValueError, match="the vectors are f64 16, and those before"):
            builder.add_vectors(["c"], vectors("f8", count=1))
        with pytest.raises(ValueError, match="has 1 bytes, but value_elements of f32 16 are 64"):
            builder.add_many([("a", "b")])
    assert list(bsdbkv.open(tmp_path / "other")) == [b"b"]


def test_absent_keys(db):
    with pytest.raises(KeyError) as raised:
        db.get_many_numpy(["v1", "no", "none"])
    assert raised.value.args == (b"no",)
    array, found = db.get_many_numpy(["no", "v1", "none"], mask=True)
    assert found.tolist() == [False, True, False] and found.dtype == bool
    assert (array[1] == vectors()[1]).all() and not array[[0, 2]].any()
    array, found = db.get_many_numpy(["no", "v1"], default=numpy.nan, mask=True)
    assert numpy.isnan(array[0]).all() and found.tolist() == [False, True]
    assert db.get_many_numpy([], mask=True)[1].shape == (0,)


def test_out(db):
    out = numpy.full((3, 16), 7, "<f4")
    keys = ["v4", "no", "v2"]
    assert db.get_many_numpy(keys, default=-1, out=out) is out
    assert (out[[0, 2]] == vectors()[[4, 2]]).all() and (out[1] == -1).all()
    whole = numpy.zeros((9, 16), "<f4")
    db.get_many_numpy(["v4"], out=whole[5:6])
    assert (whole[5] == vectors()[4]).all() and not whole[:5].any() and not whole[6:].any()
    assert db.get_many_numpy([], out=whole[:0]).shape == (0, 16)
    for wrong in (numpy.zeros((2, 16), "<f4"), numpy.zeros((3, 16), "<f8"), numpy.zeros((3, 64), "u1"), bytearray(192)):
        with pytest.raises(ValueError, match=r"out must be an array of float32 and of shape \(3, 16\)"):
            db.get_many_numpy(keys, out=wrong)
    readonly = numpy.zeros((3, 16), "<f4")
    readonly.flags.writeable = False
    for wrong in (readonly, numpy.zeros((3, 32), "<f4")[:, ::2], numpy.zeros((16, 3), "<f4").T):
        with pytest.raises(ValueError, match="contiguous and writeable"):
            db.get_many_numpy(keys, out=wrong)


def test_out_of_the_wrong_shape_inside(db):
    # What the native half itself checks.
    for array in (numpy.zeros(63, "u1"), numpy.zeros((1, 64), "u1"), numpy.zeros(64, "<f4"), numpy.zeros(128, "u1")[::2]):
        with pytest.raises(ValueError, match="expected an array of uint8 with 64 items"):
            db._get_fixed(["v1"], 64, lambda _, array=array: array)


def test_dtype_is_stated_or_given(db, tmp_path):
    assert db.get_many_numpy(["v1"], "V64").tobytes() == db["v1"]
    with pytest.raises(ValueError, match="key b'v1' has 64 bytes"):
        db.get_many_numpy(["v1"], "V65")
    bsdbkv.build(tmp_path / "plain", {"a": "b"})
    with pytest.raises(TypeError, match="does not state the type of its values"):
        bsdbkv.open(tmp_path / "plain").get_many_numpy(["a"])
    bsdbkv.build(tmp_path / "scalars", ["a", "b"], numpy.array([[1], [2]], "<i8"))
    assert bsdbkv.open(tmp_path / "scalars").get_many_numpy(["b", "a"]).tolist() == [[2], [1]]


def test_shards_state_the_type(tmp_path):
    bsdbkv.build(tmp_path / "db", KEYS, vectors(), shards=3)
    own = bsdbkv.open(tmp_path / "db")
    assert own.elements == ("<f4", 16) and (own.get_many_numpy(KEYS) == vectors()).all()


def test_batches_of_all_records(db, tmp_path):
    batches = list(db.items_numpy(batch=150))
    assert [len(keys) for keys, _ in batches] == [150, 150, 150, 50]
    keys = [key for own, _ in batches for key in own]
    assert keys == list(db)
    array = numpy.concatenate([values for _, values in batches])
    assert array.dtype == "<f4" and (array == db.get_many_numpy(keys)).all()
    batches[0][1][0] = 0  # the array is the caller's own
    with pytest.raises(ValueError, match="batch must be at least 1"):
        db.items_numpy(batch=0)
    with pytest.raises(ValueError, match="has 64 bytes, and the dtype float32 has 4"):
        next(db.items_numpy("<f4"))


def test_the_result_is_a_tensor(db):
    array = numpy.from_dlpack(db.get_many_numpy(KEYS))
    assert (array == vectors()).all()


def test_arrow(db, tmp_path):
    pa = pytest.importorskip("pyarrow")
    flat = pa.array(vectors().ravel())
    column = pa.FixedSizeListArray.from_arrays(flat, 16)
    table = pa.table({"id": KEYS, "vector": column})
    assert bsdbkv.build(tmp_path / "db", table, key="id", value="vector").id == db.id
    parts = pa.concat_tables([table[:7], table[7:100], table[100:]])
    assert bsdbkv.build(tmp_path / "parts", parts, key="id", value="vector").id == db.id
    twice = pa.concat_tables([table[:40], table]).combine_chunks()[40:]
    assert bsdbkv.build(tmp_path / "slice", twice, key="id", value="vector").id == db.id
    half = pa.table({"id": ["a"], "vector": pa.array([[1, 2]], pa.list_(pa.int8(), 2))})
    bsdbkv.build(tmp_path / "half", half, key="id", value="vector")
    assert bsdbkv.open(tmp_path / "half").get_many_numpy(["a"]).tolist() == [[1, 2]]
    for values in ([[1.0, 2.0], None], [[1.0, 2.0], [3.0, None]]):
        nulls = pa.table({"id": ["a", "b"], "vector": pa.array(values, pa.list_(pa.float32(), 2))})
        with pytest.raises(bsdbkv.RowError, match="row 1: the column \"vector\" is null"):
            bsdbkv.build(tmp_path / "nulls", nulls, key="id", value="vector")
    lists = pa.table({"id": ["a"], "vector": pa.array([[1.0]])})
    with pytest.raises(ValueError, match="needs text, binary or a fixed-size list of numbers"):
        bsdbkv.build(tmp_path / "lists", lists, key="id", value="vector")
    with bsdbkv.Builder(tmp_path / "mixed") as builder:
        builder.add_arrow(half, "id", "vector")
        with pytest.raises(ValueError, match="the values of the database are vectors, i8 2, and these are rows"):
            builder.add_arrow(half, "id")


def test_polars(db, tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": KEYS, "vector": polars.Series(vectors(), dtype=polars.Array(polars.Float32, 16))})
    assert bsdbkv.build(tmp_path / "db", frame, key="id", value="vector").id == db.id


def test_torch(db, tmp_path):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(vectors())
    assert bsdbkv.build(tmp_path / "db", KEYS, tensor).id == db.id
    with pytest.raises(TypeError, match=r"detach\(\)\.cpu\(\)"):
        bsdbkv.build(tmp_path / "grad", KEYS, tensor.requires_grad_())
    assert torch.from_dlpack(db.get_many_numpy(["v1"])).shape == (1, 16)


def test_without_numpy(monkeypatch, db, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy$"):
        bsdbkv.build(tmp_path / "db", KEYS, b"")
    assert db.elements == ("<f4", 16)
