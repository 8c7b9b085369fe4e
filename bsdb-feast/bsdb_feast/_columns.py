"""Columns of Arrow as the bytes that rows and keys consist of.

A row is a message ``FeatureVector`` of Feast: first its event timestamp, then the values of its features. See
``_rows``. Columns of numbers become matrices of bytes, one row for each row of the table, and adjacent matrices are
joined; other columns become Arrow arrays of binary. All of this is done column by column, because a message of protobuf
for each value takes a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from feast.type_map import python_values_to_proto_values
from feast.value_type import ValueType

from ._rows import varint

__all__ = ["Block", "entity_keys", "order", "rows", "timestamps", "values"]

# The fields of Feast's message Value, by the type of a feature.
_BYTES, _STRING, _INT32, _INT64, _DOUBLE, _FLOAT, _BOOL, _UNIX_TIMESTAMP = 1, 2, 3, 4, 5, 6, 7, 8
_DOUBLE_LIST, _FLOAT_LIST = 15, 16

_TEXTS = {ValueType.STRING: _STRING, ValueType.BYTES: _BYTES, ValueType.PDF_BYTES: _BYTES, ValueType.IMAGE_BYTES: _BYTES}
_INTEGERS = {ValueType.INT32: (_INT32, pa.int32()), ValueType.INT64: (_INT64, pa.int64())}
_REALS = {ValueType.DOUBLE: (_DOUBLE, pa.float64()), ValueType.FLOAT: (_FLOAT, pa.float32())}
_VECTORS = {ValueType.DOUBLE_LIST: (_DOUBLE_LIST, pa.float64()), ValueType.FLOAT_LIST: (_FLOAT_LIST, pa.float32())}

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_NO_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Block:
    """The bytes of a column of numbers: in each row of a matrix (uint8), those before its length."""

    matrix: Any
    lengths: Any
    """The lengths (int64), or None if all are the width."""


def order(kind: ValueType, column: Any) -> int:
    """Where a column is best put in a row: among others whose values have the same length, of numbers, or at the end."""
    encode = _encoder(_storage(column.type), kind)
    if encode is _real_pieces:
        return 1 if column.null_count else 0
    return 2 if encode in (_integer_pieces, _boolean_pieces, _time_pieces) else 3


def values(column: Any, kind: ValueType) -> list[Any]:
    """The values of a feature, as blocks and arrays: each is field 1 of a FeatureVector, a Value.

    They are those that Feast's own conversion gives. Integers are exact, even if a column has nulls.
    """
    column = _flat(column)
    encode = _encoder(column.type, kind)
    if encode is None:
        return [_converted(column, kind)]
    return encode(column, kind)


def rows(pieces: Sequence[Any]) -> Any:
    """Joins the blocks and arrays of rows."""
    arrays: list[Any] = []
    blocks: list[Block] = []
    for piece in (*pieces, None):
        if isinstance(piece, Block):
            blocks.append(piece)
            continue
        if blocks:
            arrays.append(_joined(blocks))
            blocks = []
        if piece is not None:
            arrays.append(piece)
    return arrays[0] if len(arrays) == 1 else pc.binary_join_element_wise(*arrays, b"")


def _joined(blocks: list[Block]) -> Any:
    matrix = blocks[0].matrix if len(blocks) == 1 else np.hstack([block.matrix for block in blocks])
    if all(block.lengths is None for block in blocks):
        return _rectangle(matrix)
    kept, lengths = np.ones(matrix.shape, bool), np.zeros(len(matrix), np.int64)
    at = 0
    for block in blocks:
        width = block.matrix.shape[1]
        if block.lengths is None:
            lengths += width
        else:
            np.less(np.arange(width, dtype=np.int32), block.lengths[:, None].astype(np.int32), out=kept[:, at : at + width])
            lengths += block.lengths
        at += width
    return _selected(matrix, kept, lengths)


def timestamps(column: Any) -> Any:
    """The piece of the event timestamps, from an array of int64 in microseconds: field 3 of a FeatureVector."""
    micros = column.to_numpy()
    seconds = micros // 1_000_000
    nanos = (micros - seconds * 1_000_000) * 1000
    seconds_text, seconds_size = _varints(seconds.view(np.uint64))
    nanos_text, nanos_size = _varints(nanos.view(np.uint64))
    # A field that is 0 is left out, as protobuf does.
    seconds_size[seconds == 0] = -1
    nanos_size[nanos == 0] = -1
    width = 4 + seconds_text.shape[1] + nanos_text.shape[1]
    matrix = np.zeros((len(micros), width), np.uint8)
    matrix[:, 0] = 3 << 3 | _LENGTH
    matrix[:, 1] = 2 + seconds_size + nanos_size
    matrix[:, 2] = 1 << 3 | _VARINT
    matrix[:, 3 : 3 + seconds_text.shape[1]] = seconds_text
    nanos_at = 3 + seconds_text.shape[1]
    matrix[:, nanos_at] = 2 << 3 | _VARINT
    matrix[:, nanos_at + 1 :] = nanos_text
    places = np.arange(width)
    kept = (places < 2) | ((places >= 2) & (places < (3 + seconds_size)[:, None]))
    kept |= (places >= nanos_at) & (places < (nanos_at + 1 + nanos_size)[:, None])
    return _selected(matrix, kept, 4 + seconds_size + nanos_size)


def entity_keys(columns: dict[str, Any], kinds: dict[str, ValueType]) -> Any:
    """The entity keys of rows, as Feast's ``serialize_entity_key`` makes them (version 3).

    Raises ValueError if a join key is null or of a type that Feast does not allow in keys.
    """
    names = sorted(kinds)
    head = [np.uint32(len(names)).tobytes()]
    for name in names:
        text = name.encode()
        head += [np.uint32(ValueType.STRING.value).tobytes(), np.uint32(len(text)).tobytes(), text]
    pieces: list[Any] = [pa.scalar(b"".join(head), pa.binary())]
    for name in names:
        column = _flat(columns[name])
        if column.null_count:
            raise ValueError(
                f"the join key {name!r} is null in {column.null_count:,} of {len(column):,} rows; "
                f"leave them out of the source"
            )
        try:
            pieces += _key_pieces(column, kinds[name])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError) as error:
            raise ValueError(f"the join key {name!r} cannot be {kinds[name].name}: {error}") from error
    return pc.binary_join_element_wise(*pieces, b"")


def _key_pieces(column: Any, kind: ValueType) -> list[Any]:
    if kind in (ValueType.INT64, ValueType.INT32, ValueType.UNIX_TIMESTAMP):
        if kind is ValueType.UNIX_TIMESTAMP:
            numbers = _seconds(column)
        else:
            if pa.types.is_temporal(column.type):
                raise TypeError(f"its column is {column.type}")
            numbers = pc.cast(column, _INTEGERS[kind][1]).to_numpy(zero_copy_only=False)
        if kind is not ValueType.INT32:
            numbers = numbers.astype(np.int64, copy=False)
        matrix = np.empty((len(numbers), 8 + numbers.itemsize), np.uint8)
        matrix[:, :8] = np.frombuffer(np.array([kind.value, numbers.itemsize], "<u4").tobytes(), np.uint8)
        matrix[:, 8:] = np.ascontiguousarray(numbers).view(np.uint8).reshape(len(numbers), -1)
        return [_rectangle(matrix)]
    if kind in (ValueType.STRING, ValueType.BYTES):
        text = _binary(column, kind)
        head = np.empty((len(text), 2), "<u4")
        head[:, 0] = kind.value
        head[:, 1] = _sizes(text)
        return [_rectangle(head.view(np.uint8).reshape(len(text), 8)), text]
    raise TypeError("Feast allows keys of the types INT32, INT64, STRING, BYTES and UNIX_TIMESTAMP")


_Encoder = Callable[[Any, ValueType], list[Any]]


def _encoder(arrow: Any, kind: ValueType) -> Optional[_Encoder]:
    """How the values of a column become pieces; None if only Feast's own conversion can tell."""
    types = pa.types
    if kind in _REALS and (types.is_floating(arrow) or types.is_integer(arrow)):
        return _real_pieces
    if kind in _INTEGERS and (types.is_integer(arrow) or types.is_floating(arrow)):
        return _integer_pieces
    if kind is ValueType.BOOL and (types.is_boolean(arrow) or types.is_integer(arrow)):
        return _boolean_pieces
    if kind is ValueType.UNIX_TIMESTAMP and types.is_timestamp(arrow):
        return _time_pieces
    if kind is ValueType.STRING and _is_text(arrow) or kind in _TEXTS and _is_binary(arrow) and kind is not ValueType.STRING:
        return _text_pieces
    if kind in _VECTORS and _is_list(arrow) and types.is_floating(arrow.value_type):
        return _vector_pieces
    return None


def _real_pieces(column: Any, kind: ValueType) -> list[Any]:
    field, arrow = _REALS[kind]
    numbers = pc.cast(column, arrow, safe=False).to_numpy(zero_copy_only=False)
    size = numbers.itemsize
    matrix = np.empty((len(numbers), 3 + size), np.uint8)
    matrix[:, 0] = 1 << 3 | _LENGTH
    matrix[:, 1] = 1 + size
    matrix[:, 2] = field << 3 | (_FIXED64 if size == 8 else _FIXED32)
    matrix[:, 3:] = np.ascontiguousarray(numbers).view(np.uint8).reshape(len(numbers), size)
    return [_framed(matrix, None, np.isnan(numbers))]  # nulls of the column are NaN, too


def _integer_pieces(column: Any, kind: ValueType) -> list[Any]:
    field, arrow = _INTEGERS[kind]
    absent = pc.is_null(column, nan_is_null=True)
    if pa.types.is_floating(column.type):
        column = pc.trunc(pc.cast(column, pa.float64()))
    column = pc.fill_null(column, 0) if not pa.types.is_floating(column.type) else pc.if_else(absent, 0.0, column)
    numbers = pc.cast(column, pa.int64()).cast(arrow).to_numpy(zero_copy_only=False)
    return [_varint_piece(field, numbers.astype(np.int64), _truth(absent))]


def _boolean_pieces(column: Any, kind: ValueType) -> list[Any]:
    if pa.types.is_integer(column.type):
        column = pc.not_equal(column, 0)
    numbers = _truth(pc.fill_null(column, False)).astype(np.int64)
    return [_varint_piece(_BOOL, numbers, _truth(pc.is_null(column)))]


def _time_pieces(column: Any, kind: ValueType) -> list[Any]:
    # Feast writes no time as the smallest number.
    return [_varint_piece(_UNIX_TIMESTAMP, _seconds(column), np.zeros(len(column), bool))]


def _text_pieces(column: Any, kind: ValueType) -> list[Any]:
    text = _binary(column, kind)
    absent = _truth(pc.is_null(text))
    text = pc.fill_null(text, b"")
    sizes = _sizes(text)
    size_text, size_size = _varints(sizes.astype(np.uint64))
    return [_length_piece(_TEXTS[kind], sizes, size_text, size_size, absent), text]


def _vector_pieces(column: Any, kind: ValueType) -> list[Any]:
    field, arrow = _VECTORS[kind]
    column = _lists(column)
    numbers = pc.list_flatten(column)
    sizes = pc.fill_null(pc.list_value_length(column), -1).to_numpy(zero_copy_only=False).astype(np.int64)
    present = sizes[sizes >= 0]
    if numbers.null_count or len(present) == 0 or present.min() != present.max() or present[0] == 0:
        return [_converted(column, kind)]
    numbers = np.ascontiguousarray(pc.cast(numbers, arrow, safe=False).to_numpy(zero_copy_only=False))
    data = numbers.view(np.uint8).reshape(len(present), -1)
    inner = b"\x0a" + varint(data.shape[1])
    outer = varint(field << 3 | _LENGTH) + varint(len(inner) + data.shape[1]) + inner
    head = b"\x0a" + varint(len(outer) + data.shape[1]) + outer
    matrix = np.zeros((len(sizes), len(head) + data.shape[1]), np.uint8)
    matrix[:, : len(head)] = np.frombuffer(head, np.uint8)
    matrix[sizes >= 0, len(head) :] = data
    return [_framed(matrix, None, sizes < 0)]


def _converted(column: Any, kind: ValueType) -> Any:
    """The piece of values that Feast's own conversion makes, one by one."""
    messages = python_values_to_proto_values(column.to_numpy(zero_copy_only=False), kind)
    texts = [message.SerializeToString() for message in messages]
    return pa.array([b"\x0a" + varint(len(text)) + text for text in texts], pa.binary())


def _varint_piece(field: int, numbers: Any, absent: Any) -> Block:
    text, size = _varints(numbers.view(np.uint64))
    matrix = np.empty((len(numbers), 3 + text.shape[1]), np.uint8)
    matrix[:, 0] = 1 << 3 | _LENGTH
    matrix[:, 1] = 1 + size
    matrix[:, 2] = field << 3 | _VARINT
    matrix[:, 3:] = text
    return _framed(matrix, 3 + size, absent)


def _length_piece(field: int, sizes: Any, size_text: Any, size_size: Any, absent: Any) -> Any:
    """The heads of values with a length: all of their bytes except the content."""
    outer_text, outer_size = _varints((1 + size_size + sizes).astype(np.uint64))
    width = outer_text.shape[1]
    matrix = np.zeros((len(sizes), 2 + width + size_text.shape[1]), np.uint8)
    matrix[:, 0] = 1 << 3 | _LENGTH
    matrix[:, 1 : 1 + width] = outer_text
    matrix[:, 1 + width] = field << 3 | _LENGTH
    matrix[:, 2 + width :] = size_text
    outer_size[absent] = 1
    matrix[absent, 1] = 0
    places = np.arange(matrix.shape[1])
    kept = places < (1 + outer_size)[:, None]
    kept |= (places >= 1 + width) & (places < np.where(absent, 0, 2 + width + size_size)[:, None])
    return _selected(matrix, kept, np.where(absent, 2, 2 + outer_size + size_size))


def _framed(matrix: Any, lengths: Any, absent: Any) -> Block:
    """Values whose second byte is a length, cut to their lengths; absent values are empty."""
    width = matrix.shape[1]
    if absent.any():
        matrix[absent, 1] = 0
        lengths = np.where(absent, 2, width if lengths is None else lengths)
    return Block(matrix, lengths)


def _rectangle(matrix: Any) -> Any:
    rows, width = matrix.shape
    return _binary_array(rows, np.arange(rows + 1, dtype=np.int64) * width, np.ascontiguousarray(matrix))


def _selected(matrix: Any, kept: Any, lengths: Any) -> Any:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return _binary_array(len(lengths), offsets, matrix[kept])


def _binary_array(rows: int, offsets: Any, data: Any) -> Any:
    if offsets[-1] > 0x7FFF_FFFF:
        raise ValueError("the values of a batch have more than 2 GiB")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), rows, buffers)


def _varints(numbers: Any) -> tuple[Any, Any]:
    """The varints of numbers (uint64), each at the start of a row of a matrix, and their lengths (int64)."""
    most = int(numbers.max()) if len(numbers) else 0
    width = max(1, (most.bit_length() + 6) // 7)
    if most < 1 << 32:
        numbers = numbers.astype(np.uint32)
    matrix = np.empty((len(numbers), width), np.uint8)
    sizes = np.ones(len(numbers), np.int64)
    for i in range(width):
        more = numbers > 0x7F
        sizes += more
        matrix[:, i] = (numbers & numbers.dtype.type(0x7F)).astype(np.uint8) | more.view(np.uint8) << 7
        numbers = numbers >> numbers.dtype.type(7)
    return matrix, sizes


def _flat(column: Any) -> Any:
    """A column as one array without a dictionary or an extension type: see ``_storage``."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # of several chunks, because the offsets do not fit in one
            raise ValueError("the values of a batch have more than 2 GiB")
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def _storage(arrow: Any) -> Any:
    """The type that a column has without a dictionary or an extension type."""
    if isinstance(arrow, pa.BaseExtensionType):
        arrow = arrow.storage_type
    return arrow.value_type if pa.types.is_dictionary(arrow) else arrow


def _truth(column: Any) -> Any:
    return column.to_numpy(zero_copy_only=False).astype(bool)


def _seconds(column: Any) -> Any:
    """The seconds of times, rounded down, or the numbers of integers."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    if not pa.types.is_timestamp(column.type):
        return pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
    per_second = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}[column.type.unit]
    numbers = column.cast(pa.int64())
    absent = _truth(pc.is_null(numbers))
    seconds = pc.fill_null(numbers, 0).to_numpy(zero_copy_only=False) // per_second
    return np.where(absent, _NO_TIME, seconds)


def _is_text(arrow: Any) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow))


def _is_binary(arrow: Any) -> bool:
    types = pa.types
    views = types.is_binary_view(arrow) or types.is_fixed_size_binary(arrow)
    return bool(types.is_binary(arrow) or types.is_large_binary(arrow) or views)


def _is_list(arrow: Any) -> bool:
    types = pa.types
    return bool(types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow))


def _lists(column: Any) -> Any:
    """Lists of a fixed size as other lists, whose null items have no numbers below them."""
    if pa.types.is_fixed_size_list(column.type):
        return column.cast(pa.list_(column.type.value_type))
    return column


def _binary(column: Any, kind: ValueType) -> Any:
    """A column of text or bytes as binary."""
    if kind is ValueType.STRING and not _is_text(column.type):
        if not pa.types.is_integer(column.type):
            raise TypeError(f"its column is {column.type}")
        column = pc.cast(column, pa.string())
    elif kind is not ValueType.STRING and not _is_binary(column.type):
        raise TypeError(f"its column is {column.type}")
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    return column.cast(pa.binary())


def _sizes(text: Any) -> Any:
    return pc.binary_length(text).to_numpy(zero_copy_only=False).astype(np.int64)
