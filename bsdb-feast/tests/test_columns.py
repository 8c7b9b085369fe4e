"""Columns of Arrow become the bytes that Feast's own conversion of each value gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from bsdb_feast import _columns, _rows
from feast.infra.key_encoding_utils import serialize_entity_key
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.type_map import python_values_to_proto_values
from feast.value_type import ValueType

RANDOM = np.random.default_rng(20261130)


def _texts(count: int, most: int, kind: type) -> Any:
    sizes = RANDOM.integers(0, most, count)
    return np.array([("é" if kind is str else b"\x00\xff") * int(size) for size in sizes], dtype=object)


def _lists(count: int, sizes: Any, make: Any) -> list[Any]:
    return [make(int(size)) for size in np.broadcast_to(sizes, count)]


def _floats(size: int) -> list[float]:
    return [float(each) for each in RANDOM.random(size)]


MAKERS: dict[str, tuple[Any, ValueType]] = {
    "double": (lambda n: (RANDOM.standard_normal(n), pa.float64()), ValueType.DOUBLE),
    "double of integers": (lambda n: (RANDOM.integers(-9, 9, n), pa.int64()), ValueType.DOUBLE),
    "float": (lambda n: (RANDOM.standard_normal(n, np.float32), pa.float32()), ValueType.FLOAT),
    "float of doubles": (lambda n: (RANDOM.standard_normal(n), pa.float64()), ValueType.FLOAT),
    "long": (lambda n: (RANDOM.integers(-(2**40), 2**40, n), pa.int64()), ValueType.INT64),
    "small long": (lambda n: (RANDOM.integers(0, 300, n), pa.int64()), ValueType.INT64),
    "long of bytes": (lambda n: (RANDOM.integers(0, 200, n).astype("u1"), pa.uint8()), ValueType.INT64),
    "long of doubles": (lambda n: (RANDOM.random(n) * 1000 - 500, pa.float64()), ValueType.INT64),
    "int": (lambda n: (RANDOM.integers(-(2**31), 2**31, n).astype("i4"), pa.int32()), ValueType.INT32),
    "bool": (lambda n: (RANDOM.random(n) < 0.5, pa.bool_()), ValueType.BOOL),
    "string": (lambda n: (_texts(n, 200, str), pa.string()), ValueType.STRING),
    "large string": (lambda n: (_texts(n, 9, str), pa.large_string()), ValueType.STRING),
    "string of integers": (lambda n: (RANDOM.integers(0, 99, n), pa.int64()), ValueType.STRING),
    "bytes": (lambda n: (_texts(n, 9000, bytes), pa.binary()), ValueType.BYTES),
    "image": (lambda n: (_texts(n, 90, bytes), pa.large_binary()), ValueType.IMAGE_BYTES),
    "vector": (lambda n: (_lists(n, 8, _floats), pa.list_(pa.float32())), ValueType.FLOAT_LIST),
    "vector of doubles": (lambda n: (_lists(n, 30, _floats), pa.list_(pa.float64())), ValueType.DOUBLE_LIST),
    "fixed vector": (lambda n: (_lists(n, 8, _floats), pa.list_(pa.float64(), 8)), ValueType.DOUBLE_LIST),
    "lists": (lambda n: (_lists(n, RANDOM.integers(1, 9, n), _floats), pa.list_(pa.float64())), ValueType.DOUBLE_LIST),
    "integer lists": (lambda n: (_lists(n, 3, lambda k: list(range(k))), pa.list_(pa.int64())), ValueType.INT64_LIST),
    "string lists": (lambda n: (_lists(n, 2, lambda k: ["a", "é"][:k]), pa.list_(pa.string())), ValueType.STRING_LIST),
    "json": (lambda n: (['{"a": 1}'] * n, pa.string()), ValueType.JSON),
}


def _column(make: Any, count: int, nulls: bool) -> Any:
    values, arrow = make(count)
    mask = RANDOM.random(count) < 0.3 if nulls else np.zeros(count, bool)
    return pa.array([None if absent else value for value, absent in zip(values, mask)], arrow)


def _expected(column: Any, kind: ValueType) -> list[bytes]:
    texts = [value.SerializeToString() for value in python_values_to_proto_values(column.to_numpy(zero_copy_only=False), kind)]
    return [b"\x0a" + _rows.varint(len(text)) + text for text in texts]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("count", [1, 7, 1000])
def test_values_are_those_of_feast(name: str, nulls: bool, count: int) -> None:
    make, kind = MAKERS[name]
    column = _column(make, count, nulls)
    assert _columns.rows(_columns.values(column, kind)).to_pylist() == _expected(column, kind)


def test_columns_without_rows() -> None:
    for make, kind in MAKERS.values():
        assert _columns.rows(_columns.values(_column(make, 0, False), kind)).to_pylist() == []


def test_columns_of_nulls() -> None:
    for make, kind in MAKERS.values():
        column = pa.nulls(5, _column(make, 0, False).type)
        assert _columns.rows(_columns.values(column, kind)).to_pylist() == [b"\x0a\x00"] * 5


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_are_those_of_feast(unit: str) -> None:
    per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    column = pa.array(RANDOM.integers(-(10**9) * per, 10**9 * per, 500), pa.timestamp(unit))
    assert _columns.rows(_columns.values(column, ValueType.UNIX_TIMESTAMP)).to_pylist() == _expected(column, ValueType.UNIX_TIMESTAMP)


def test_absent_times_are_read_as_none() -> None:
    from feast.protos.feast.types.Value_pb2 import Value
    from feast.type_map import feast_value_type_to_python_type

    column = pa.array([None, 0], pa.timestamp("us"))
    texts = _columns.rows(_columns.values(column, ValueType.UNIX_TIMESTAMP)).to_pylist()
    assert feast_value_type_to_python_type(Value.FromString(texts[0][2:])) is None
    assert feast_value_type_to_python_type(Value.FromString(texts[1][2:])) is not None


def test_integers_with_nulls_are_exact() -> None:
    column = pa.array([2**62 + 1, None, -(2**63)])
    texts = _columns.rows(_columns.values(column, ValueType.INT64)).to_pylist()
    assert texts == [*_expected(pa.array([2**62 + 1]), ValueType.INT64), b"\x0a\x00", *_expected(pa.array([-(2**63)]), ValueType.INT64)]


def test_columns_that_feast_converts_in_part() -> None:
    found = _columns.rows(_columns.values(pa.array([1, None, 0]), ValueType.BOOL)).to_pylist()
    assert found == _expected(pa.array([True, None, False]), ValueType.BOOL)
    found = _columns.rows(_columns.values(pa.array([1, None], pa.int32()), ValueType.DOUBLE)).to_pylist()
    assert found == _expected(pa.array([1.0, None]), ValueType.DOUBLE)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([2**31]), ValueType.INT32),
        (pa.array([2**63], pa.uint64()), ValueType.INT64),
        (pa.array([float("inf")]), ValueType.INT64),
        (pa.array(["x"]), ValueType.INT64),
        (pa.array(["x"]), ValueType.BYTES),
    ],
)
def test_values_that_do_not_fit_are_refused(column: Any, kind: ValueType) -> None:
    with pytest.raises((pa.ArrowException, ValueError, TypeError, AssertionError)):
        _columns.values(column, kind)


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_many_columns(seed: int) -> None:
    random = np.random.default_rng(seed)
    names = random.choice(list(MAKERS), 12)
    columns = [_column(MAKERS[name][0], 50, bool(random.random() < 0.5)) for name in names]
    pieces = [piece for name, column in zip(names, columns) for piece in _columns.values(column, MAKERS[name][1])]
    expected = [b"".join(row) for row in zip(*(_expected(column, MAKERS[name][1]) for name, column in zip(names, columns)))]
    assert _columns.rows(pieces).to_pylist() == expected


def test_dictionaries_and_slices() -> None:
    column = pa.array(["a", "b", "a", None, "c"]).dictionary_encode()
    plain = pa.array(["b", "a", None])
    assert _columns.rows(_columns.values(column.slice(1, 3), ValueType.STRING)).to_pylist() == _expected(plain, ValueType.STRING)
    numbers = pa.array(range(100))
    assert _columns.rows(_columns.values(numbers.slice(90), ValueType.INT64)).to_pylist() == _expected(
        pa.array(range(90, 100)), ValueType.INT64
    )


def test_timestamps_are_frames_of_protobuf() -> None:
    times = np.concatenate([RANDOM.integers(-(10**15), 10**15, 500), RANDOM.integers(0, 2 * 10**9, 99) * 10**6, [0, 1, -1]])
    assert _columns.timestamps(pa.array(times)).to_pylist() == [_rows.head(int(time)) for time in times]


def test_keys_are_those_of_feast() -> None:
    columns = {
        "long": pa.array(RANDOM.integers(-(2**62), 2**62, 99)),
        "text": pa.array(_texts(99, 9, str), pa.string()),
        "int": pa.array(RANDOM.integers(-9, 9, 99).astype("i4")),
        "bytes": pa.array(_texts(99, 9, bytes), pa.binary()),
        "time": pa.array(RANDOM.integers(0, 10**9, 99), pa.timestamp("s")),
    }
    kinds = {
        "long": ValueType.INT64,
        "text": ValueType.STRING,
        "int": ValueType.INT32,
        "bytes": ValueType.BYTES,
        "time": ValueType.UNIX_TIMESTAMP,
    }
    values = {
        name: python_values_to_proto_values(column.to_numpy(zero_copy_only=False), kinds[name]) for name, column in columns.items()
    }
    for names in (["long"], ["text"], ["int"], ["bytes"], ["time"], ["text", "long"], list(columns), []):
        expected = [
            serialize_entity_key(EntityKey(join_keys=names, entity_values=[values[name][i] for name in names]), 3)
            for i in range(99 if names else 0)
        ]
        if names:
            found = _columns.entity_keys(columns, {name: kinds[name] for name in names}).to_pylist()
            assert found == expected


def test_keys_of_other_columns() -> None:
    one = _columns.entity_keys({"a": pa.array([7], pa.int16())}, {"a": ValueType.INT64})
    assert one.equals(_columns.entity_keys({"a": pa.array([7.0])}, {"a": ValueType.INT64}))
    text = _columns.entity_keys({"a": pa.array([7])}, {"a": ValueType.STRING})
    assert text.equals(_columns.entity_keys({"a": pa.array(["7"])}, {"a": ValueType.STRING}))
    for column, kind in (
        (pa.array([1.5]), ValueType.INT64),
        (pa.array([1.5]), ValueType.DOUBLE),
        (pa.array([None], pa.int64()), ValueType.INT64),
    ):
        with pytest.raises(ValueError, match="the join key 'a'"):
            _columns.entity_keys({"a": column}, {"a": kind})
