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
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(keys, (pyarrow.Array, pyarrow.ChunkedArray)):
        return _arrow(pyarrow, keys)
    if not isinstance(keys, Iterable):
        raise TypeError(f"expected an iterable of keys, not {type(keys).__name__}")
    return keys


def _numpy(numpy: Any, keys: Any) -> Any:
    if keys.ndim != 1:
        raise ValueError(f"expected keys in one dimension, not an array of shape {keys.shape}; use ravel()")
    if keys.dtype.kind == "S" and keys.dtype.itemsize > 0:
        return _bsdb.PackedKeys.fixed(keys.tobytes(), keys.dtype.itemsize)
    if keys.dtype.kind in "SUO" or "String" in type(keys.dtype).__name__:
        return keys.tolist()
    raise TypeError(
        f"expected an array of bytes (S), text (U) or objects, not {keys.dtype}; convert it, for example with "
        f"astype('S')"
    )


def _arrow(pyarrow: Any, keys: Any) -> Any:
    types = pyarrow.types
    if isinstance(keys, pyarrow.ChunkedArray):
        keys = keys.combine_chunks()
        if isinstance(keys, pyarrow.ChunkedArray):  # of no chunk, or one that is too large
            return [key for chunk in keys.chunks for key in chunk.to_pylist()]
    if types.is_dictionary(keys.type):
        keys = keys.dictionary_decode()
    if keys.null_count:
        raise ValueError(f"{keys.null_count} of the keys are null; drop them with drop_null()")
    kind = keys.type
    text = types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if not (text or binary or str(kind) == "binary_view"):
        raise TypeError(f"expected an Arrow array of strings or binary values, not {kind}; cast it to string")
    keys = keys.cast(pyarrow.large_string() if text else pyarrow.large_binary())
    if len(keys) == 0:
        return []
    _, offsets, data = keys.buffers()
    offsets = offsets.slice(8 * keys.offset, 8 * (len(keys) + 1)).to_pybytes()
    start, end = (int.from_bytes(offset, sys.byteorder) for offset in (offsets[:8], offsets[-8:]))
    return _bsdb.PackedKeys.between(data.slice(start, end - start).to_pybytes() if end > start else b"", offsets)
