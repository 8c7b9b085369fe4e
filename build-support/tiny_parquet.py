"""Writes small Parquet files without any package: one row group, plain pages, no compression, no nulls.

For tests of documents only; columns hold int (INT64), float (DOUBLE), str (BYTE_ARRAY with UTF8) or bytes (BYTE_ARRAY).
"""

import struct

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def record(*fields):
    """A struct of Thrift's compact protocol: (id, type, value), ids ascending; lists are (type of items, items)."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out.append((number - last) << 4 | kind)
        out += item(kind, value)
        last = number
    return bytes(out) + b"\0"


def item(kind, value):
    if kind in (I32, I64):
        return zigzag(value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == STRUCT:
        return value
    of, items = value
    size = len(items)
    head = bytes([size << 4 | of]) if size < 15 else bytes([0xF0 | of]) + varint(size)
    return head + b"".join(item(of, each) for each in items)


def column_type(values):
    first = values[0]
    return 2 if isinstance(first, int) else 5 if isinstance(first, float) else 6


def plain(values):
    if isinstance(values[0], int):
        return struct.pack(f"<{len(values)}q", *values)
    if isinstance(values[0], float):
        return struct.pack(f"<{len(values)}d", *values)
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    return b"".join(struct.pack("<I", len(each)) + each for each in raw)


def write(path, columns):
    """Writes a dict of equally long lists of values."""
    rows = len(next(iter(columns.values())))
    body = bytearray(b"PAR1")
    schema = [record((4, BINARY, b"schema"), (5, I32, len(columns)))]
    chunks = []
    for name, values in columns.items():
        page = plain(values)
        kind = column_type(values)
        data = record((1, I32, rows), (2, I32, 0), (3, I32, 3), (4, I32, 3))
        header = record((1, I32, 0), (2, I32, len(page)), (3, I32, len(page)), (5, STRUCT, data))
        begins, size = len(body), len(header) + len(page)
        body += header + page
        element = [(1, I32, kind), (3, I32, 0), (4, BINARY, name.encode())]
        if isinstance(values[0], str):
            element.append((6, I32, 0))
        schema.append(record(*element))
        meta = record(
            (1, I32, kind),
            (2, LIST, (I32, [0])),
            (3, LIST, (BINARY, [name.encode()])),
            (4, I32, 0),
            (5, I64, rows),
            (6, I64, size),
            (7, I64, size),
            (9, I64, begins),
        )
        chunks.append(record((2, I64, begins), (3, STRUCT, meta)))
    group = record((1, LIST, (STRUCT, chunks)), (2, I64, len(body) - 4), (3, I64, rows))
    footer = record(
        (1, I32, 1),
        (2, LIST, (STRUCT, schema)),
        (3, I64, rows),
        (4, LIST, (STRUCT, [group])),
        (6, BINARY, b"tiny_parquet"),
    )
    with open(path, "wb") as file:
        file.write(bytes(body) + footer + struct.pack("<I", len(footer)) + b"PAR1")
