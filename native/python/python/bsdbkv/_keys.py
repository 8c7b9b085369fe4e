"""Keys in arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from . import _bsdb


def prepare(keys: Any) -> Any:
    """Return keys as an iterable or, if they lie in an array, as PackedKeys.

    The native half calls this for keys that are neither a list nor a tuple.
    """
    if isinstance(keys, (bytes, str, bytearray, memoryview)):
        raise TypeError(f"expected many keys, not one of type {type(keys).__name__}; put it in a list, or use get")
    if isinstance(keys, _bsdb.PackedKeys):
        return keys
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(keys, numpy.ndarray):
        return _numpy(numpy, keys)
    if numpy is not None and isinstance(keys, numpy.void):
        raise TypeError("expected many keys, not one of type void; put it in a list, or use get")
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        if isinstance(keys, (pyarrow.Array, pyarrow.ChunkedArray)):
            return _arrow(pyarrow, keys)
        if isinstance(keys, (pyarrow.Table, pyarrow.RecordBatch)):
            raise TypeError(f"expected keys, not a {type(keys).__name__}; pass one of its columns")
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(keys, getattr(pandas, "DataFrame", ())):
        raise TypeError("expected keys, not a DataFrame; pass one of its columns")
    if not isinstance(keys, Iterable):
        raise TypeError(f"expected an iterable of keys, not {type(keys).__name__}")
    return keys


def _numpy(numpy: Any, keys: Any) -> Any:
    if isinstance(keys, numpy.ma.MaskedArray):
        masked = numpy.flatnonzero(numpy.ma.getmaskarray(keys))
        if len(masked):
            raise ValueError(
                f"{len(masked)} of the keys are masked, first keys[{masked[0]}]; drop them with compressed()"
            )
        keys = keys.data
    kind, width = keys.dtype.kind, keys.dtype.itemsize
    if keys.dtype == numpy.uint8 and keys.ndim == 2:
        return _exactly(keys, len(keys), keys.shape[1])
    if keys.dtype == numpy.uint8 and keys.ndim == 1:
        raise TypeError("expected keys, not bytes; for keys of w bytes, pass keys.reshape(-1, w)")
    if keys.ndim != 1:
        raise ValueError(f"expected keys in one dimension, not an array of shape {keys.shape}; use ravel()")
    if kind == "V" and keys.dtype.names is None:
        return _exactly(keys, len(keys), width)
    if kind == "S" and width > 0:
        return _bsdb.PackedKeys.padded(keys.tobytes(), width)
    if kind in "SUO" or "String" in type(keys.dtype).__name__:
        return keys.tolist()
    raise TypeError(
        f"expected an array of text (S, U), of bytes (V, or uint8 in two dimensions) or of objects, not {keys.dtype}; "
        f"if the key is the {width} bytes of each item, pass keys.view('V{width}'), and otherwise keys.astype('S')"
    )


def _exactly(keys: Any, count: int, width: int) -> Any:
    """Keys of exactly so many bytes."""
    return _bsdb.PackedKeys.fixed(keys.tobytes(), width) if width > 0 else [b""] * count


def _arrow(pyarrow: Any, keys: Any) -> Any:
    types = pyarrow.types
    kind = keys.type.value_type if types.is_dictionary(keys.type) else keys.type
    text = types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if not (text or binary or str(kind) == "binary_view"):
        raise TypeError(
            f"expected an Arrow array of strings or binary values, not {keys.type}; cast it to string, or pass the "
            f"storage of an extension type"
        )
    if types.is_dictionary(keys.type):
        keys = keys.cast(kind)
    # Large types first: chunks of many keys may not fit in one array of small ones.
    keys = keys.cast(pyarrow.large_string() if text else pyarrow.large_binary())
    if isinstance(keys, pyarrow.ChunkedArray):
        keys = pyarrow.concat_arrays(keys.chunks) if keys.num_chunks else pyarrow.array([], keys.type)
    if keys.null_count:
        nulls = (place for place, valid in enumerate(keys.is_valid()) if not valid.as_py())
        raise ValueError(
            f"{keys.null_count} of the keys are null, first keys[{next(nulls)}]; drop them with drop_null()"
        )
    if len(keys) == 0:
        return []
    _, offsets, data = keys.buffers()
    offsets = offsets.slice(8 * keys.offset, 8 * (len(keys) + 1)).to_pybytes()
    start, end = (int.from_bytes(offset, sys.byteorder) for offset in (offsets[:8], offsets[-8:]))
    return _bsdb.PackedKeys.between(data.slice(start, end - start).to_pybytes() if end > start else b"", offsets)
