"""Takes Parquet files apart and reassembles them: the pages, and the footer in Thrift's compact protocol.

It creates files that current writers no longer produce: two-level lists, repeated fields without a list, types declared
only by the old annotations, pages in Hadoop's LZ4 framing.
A struct is a dict from field number to (type, value); a list is (type, [values]).
"""

import struct

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7F) << shift
            if b < 0x80:
                return value
            shift += 7

    def zigzag(self):
        n = self.varint()
        return n >> 1 ^ -(n & 1)

    def value(self, kind):
        if kind in (TRUE, FALSE, BYTE):
            return self.byte()
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind == DOUBLE:
            self.at += 8
            return struct.unpack("<d", self.data[self.at - 8 : self.at])[0]
        if kind == BINARY:
            n = self.varint()
            self.at += n
            return self.data[self.at - n : self.at]
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            head = self.byte()
            n = head >> 4
            if n == 15:
                n = self.varint()
            return head & 15, [self.value(head & 15) for _ in range(n)]
        raise ValueError("unknown Thrift type: %d" % kind)

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            kind = head & 15
            fields[last] = (kind, kind == TRUE if kind in (TRUE, FALSE) else self.value(kind))


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    return varint((n << 1) ^ (n >> 63))


def encode(kind, value):
    if kind in (TRUE, FALSE, BYTE):
        return bytes([value & 0xFF])
    if kind in (I16, I32, I64):
        return zigzag(value)
    if kind == DOUBLE:
        return struct.pack("<d", value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind in (LIST, SET):
        element, values = value
        n = len(values)
        head = bytes([n << 4 | element]) if n < 15 else bytes([0xF0 | element]) + varint(n)
        return head + b"".join(encode(element, v) for v in values)
    out, last = b"", 0
    for number in sorted(value):
        field_kind, field = value[number]
        if field_kind in (TRUE, FALSE):
            field_kind = TRUE if field else FALSE
        out += bytes([(number - last) << 4 | field_kind]) if 0 < number - last < 16 else bytes([field_kind]) + zigzag(number)
        if field_kind not in (TRUE, FALSE):
            out += encode(field_kind, field)
        last = number
    return out + b"\0"


def take_apart(data):
    """Returns (the bytes before the footer, the footer as a struct)."""
    assert data[:4] == data[-4:] == b"PAR1"
    size = struct.unpack("<I", data[-8:-4])[0]
    return data[: -8 - size], Reader(data, len(data) - 8 - size).struct()


def put_together(body, footer):
    meta = encode(STRUCT, footer)
    return body + meta + struct.pack("<I", len(meta)) + b"PAR1"


def schema(footer):
    """Returns the schema's elements: a list of structs in depth-first order, root first."""
    return footer[2][1][1]


def chunks(footer):
    """Returns the metadata of each column chunk of each row group."""
    return [c[3][1] for group in footer[4][1][1] for c in group[1][1][1]]


def forget(footer, key):
    """Removes an entry of the file's key-value metadata."""
    if 5 in footer:
        kind, entries = footer[5][1]
        footer[5] = (LIST, (kind, [e for e in entries if e[1][1] != key]))


def reframe(data, codec, frame):
    """Rewrites every v1 page with different compressed bytes: frame(bytes, uncompressed size) -> bytes."""
    body, footer = take_apart(data)
    out = bytearray(b"PAR1")
    for group in footer[4][1][1]:
        for chunk in group[1][1][1]:
            meta = chunk[3][1]
            start = meta[9][1] if 11 not in meta else min(meta[9][1], meta[11][1])
            end, moved = start + meta[7][1], len(out)
            at, first = start, True
            while at < end:
                reader = Reader(body, at)
                header = reader.struct()
                page = body[reader.at : reader.at + header[3][1]]
                if header[1][1] == 2:
                    meta[11] = (I64, len(out))
                elif first:
                    meta[9], first = (I64, len(out)), False
                at = reader.at + len(page)
                framed = frame(page, header[2][1])
                header[3] = (I32, len(framed))
                header.pop(4, None)
                out += encode(STRUCT, header) + framed
            meta[4] = (I32, codec)
            meta[7] = (I64, len(out) - moved)
            chunk[2] = (I64, 0)
            for index in (4, 5, 6, 7):
                chunk.pop(index, None)
        group.pop(5, None)
        group[6] = (I64, sum(c[3][1][7][1] for c in group[1][1][1]))
    return put_together(bytes(out), footer)


def page_values(path, column):
    """Returns the number of values in each data page of a column, row group by row group."""
    with open(path, "rb") as file:
        body, footer = take_apart(file.read())
    counts = []
    for meta in chunks(footer):
        if b".".join(meta[3][1][1]) == column:
            at = meta[9][1] if 11 not in meta else min(meta[9][1], meta[11][1])
            end = at + meta[7][1]
            while at < end:
                reader = Reader(body, at)
                header = reader.struct()
                at = reader.at + header[3][1]
                data = header.get(5) or header.get(8)
                counts += [data[1][1][1]] if data else []
    return counts
