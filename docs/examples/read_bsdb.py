"""Reads a bsdb database. It was written from docs/FORMAT.md alone, as a test of that document and an example for
readers in other languages. "§" refers to its sections. It favors brevity over speed.

    python3 read_bsdb.py DIR KEY...            print each value and a newline; for an absent key a line on stderr
    python3 read_bsdb.py DIR --keys-from FILE  take keys in hexadecimal, one per line, from a file or - for standard
                                               input; print a line for each: the value in hexadecimal, or "absent"
    python3 read_bsdb.py DIR --range FROM TO [reverse]
    python3 read_bsdb.py DIR --prefix KEY [reverse]
                                               print the records from FROM up to TO, which is not included, or those
                                               whose keys start with KEY, in the order of keys, a line for each: key
                                               and value. All are in hexadecimal; - for FROM or TO is no bound

DIR is a database, a set of shards, whole or partial, or one shard. The exit code is 1 if a KEY is absent, and 2 after an
error, such as a damaged page, a key of another shard, or a range of a database without an order of keys. It needs
Python 3.8 or newer; compressed layouts need Python 3.14, the module zstandard, or the library libzstd.
"""

import binascii
import bisect
import ctypes
import ctypes.util
import hashlib
import heapq
import os
import sys

KINDS = {"manifest": 1, "hash": 2, "index": 3, "data": 4, "dictionary": 5, "filter": 6, "order": 7}  # §1
PAGE, PAYLOAD = 4096, 4092  # §2
A = 0x9E3779B97F4A7C13  # §5
MASK = 2**64 - 1


class DatabaseError(Exception):
    """The database is damaged, or reading it takes something that this program lacks."""


def check(condition, message):
    if not condition:
        raise DatabaseError(message)


def number(data):
    return int.from_bytes(data, "little")


def field(bits, at, length):
    """The number in `length` bits from bit `at` on."""
    return bits >> at & (1 << length) - 1


def ceil_div(dividend, divisor):
    return -(-dividend // divisor)


# Files and pages (§2)


def crc32c_of(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRC32C = [crc32c_of(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def place(kind, file_number, page):
    z = (page + (kind << 56) + (file_number << 44) + 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return field(z ^ z >> 31, 0, 32)


def stream_position(offset):
    """Where a byte offset of a file is in the stream of its payloads."""
    return (offset // PAGE - 1) * PAYLOAD + offset % PAGE


def content_hash(pages):
    """The content hash of a file with these content pages (§8)."""
    first, sha256 = 255 * PAGE, hashlib.sha256  # header and first piece are 256 pages, as the others are
    pieces = [pages[:first], *(pages[at : at + 256 * PAGE] for at in range(first, len(pages), 256 * PAGE))]
    return sha256(b"".join(sha256(piece).digest() for piece in pieces if piece)).hexdigest()


class PagedFile:
    """A file of pages, each verified when it is first read; header and footer are read at once."""

    def __init__(self, path, kind, file_number=0):
        self.path, self.kind, self.number, self.checked = path, kind, file_number, {}
        self.file = open(path, "rb")
        self.pages, rest = divmod(os.path.getsize(path), PAGE)
        check(rest == 0 and self.pages >= 2, f"{path}: its length is not a number of whole pages")
        for page, magic in (0, b"BSDBFILE"), (self.pages - 1, b"BSDBTAIL"):
            frame = self.payload(page)
            check(frame[:8] == magic, f"{path}: no {magic.decode()} in page {page}")
            check(number(frame[8:10]) == 1, f"{path}: unknown version {number(frame[8:10])}")
            actual = number(frame[10:12]), number(frame[12:16])
            check(actual == (kind, file_number), f"{path}: it has kind {actual[0]} and number {actual[1]}")
        self.ids = {self.payload(0)[16:32], frame[16:32]}  # one if header and footer agree
        self.digest = number(frame[40:48])
        check(number(frame[32:40]) == self.pages, f"{path}: it has {self.pages} pages, and its footer another number")

    def page(self, page, size, expected):
        """A page, whose first `size` bytes must have the checksum that the function `expected` returns."""
        if page not in self.checked:
            self.file.seek(page * PAGE)
            data = self.file.read(PAGE)
            actual = crc32c(data[:size]) ^ place(self.kind, self.number, page)
            check(actual == expected(data), f"{self.path}: page {page} has a wrong checksum")
            self.checked[page] = data
        return self.checked[page]

    def payload(self, page):
        return self.page(page, PAYLOAD, lambda data: number(data[PAYLOAD:]))[:PAYLOAD]

    def read(self, at, length, first=1, used=PAYLOAD):
        """Bytes of a stream: the first `used` bytes of each payload from page `first` on."""
        data = bytearray()
        while len(data) < length:
            page, offset = divmod(at + len(data), used)
            check(0 < first + page < self.pages - 1, f"{self.path}: page {first + page} is not one of content")
            data += self.payload(first + page)[offset : min(used, offset + length - len(data))]
        return bytes(data)

    def read_all(self):
        """All content, checked by the digest (§8)."""
        content, digest = self.read(0, (self.pages - 2) * PAYLOAD), 0
        for page in range(1, self.pages - 1):
            z = (digest ^ number(self.checked[page][PAYLOAD:])) * 0x9E3779B97F4A7C15 & MASK
            digest = z ^ z >> 29
        check(digest == self.digest, f"{self.path}: wrong digest")
        return content

    def content_hash(self):
        """The content hash of a file of which all was read (§8)."""
        return content_hash(b"".join(self.checked[page] for page in range(1, self.pages - 1)))


# Records and blocks (§4)


class Stream:
    """A position in a stream of bytes, which a function (position, length) reads."""

    def __init__(self, read, at=0):
        self.read, self.at = read, at

    def take(self, length):
        data = self.read(self.at, length)
        check(len(data) == length, "a record or block is cut off")
        self.at += length
        return data

    def number(self, length):
        return number(self.take(length))

    def leb128(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


def bytes_stream(data, at=0):
    return Stream(lambda start, length: data[start : start + length], at)


def next_record(stream):
    """The key and the value."""
    key_length, value_length = stream.number(1), stream.number(2)
    if key_length == 0:
        check(value_length == 0xFFFF, "no record where one should be")
        key_length, value_length = stream.number(2), stream.number(4)
    return stream.take(key_length), stream.take(value_length)


def next_block(stream, decompress):
    """A function that returns the raw bytes: a block can be passed over without decompression."""
    raw_length, stored = divmod(stream.leb128(), 2)
    content = stream.take(raw_length if stored else stream.leb128())
    return lambda: content if stored else decompress(b"\x28\xb5\x2f\xfd" + content, raw_length)


def zstd_decompressor(dictionary):
    """A function (frame with magic number, raw length) that uses the first decoder found."""
    try:
        from compression import zstd

        trained = zstd.ZstdDict(dictionary) if dictionary else None
        return lambda frame, length: zstd.decompress(frame, zstd_dict=trained)
    except ImportError:
        pass
    try:
        import zstandard

        decoder = zstandard.ZstdDecompressor(zstandard.ZstdCompressionDict(dictionary))
        return lambda frame, length: decoder.decompress(frame, max_output_size=length)
    except ImportError:
        pass
    try:
        library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    except OSError:
        raise DatabaseError("compressed layouts need Python 3.14, the module zstandard, or libzstd") from None
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    library.ZSTD_createDCtx.restype = pointer
    library.ZSTD_decompress_usingDict.restype = size
    library.ZSTD_decompress_usingDict.argtypes = [pointer] + 3 * [ctypes.c_char_p, size]
    context = library.ZSTD_createDCtx()

    def decompress(frame, length):
        raw = ctypes.create_string_buffer(length)
        sizes = (raw, length), (frame, len(frame)), (dictionary, len(dictionary))
        actual = library.ZSTD_decompress_usingDict(context, *sum(sizes, ()))
        check(actual == length, "a block cannot be decompressed")
        return raw.raw

    return decompress


# Signatures (§5)


def rotl(word, bits):
    return (word << bits | word >> 64 - bits) & MASK


def mix(h):
    for i, bits in enumerate((50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36)):
        h[(i + 2) % 4] = (rotl(h[(i + 2) % 4], bits) + h[(i + 3) % 4]) & MASK
        h[i % 4] ^= h[(i + 2) % 4]


def spooky(key, seed):
    """The words `high` and `low`, in format 1."""
    h = [seed & MASK, seed & MASK, A, A]

    def add(word, value):
        h[word] = (h[word] + value) & MASK

    i, left = 0, len(key)
    while left >= 16:
        add(2, number(key[i : i + 8]))
        add(3, number(key[i + 8 : i + 16]))
        mix(h)
        if left >= 32:
            add(0, number(key[i + 16 : i + 24]))
            add(1, number(key[i + 24 : i + 32]))
        i += 32 if left >= 32 else 16
        left = len(key) - i
    add(2, number(key[i : i + 8]) if left > 0 else A)
    add(3, number(key[i + 8 :]) if left > 0 else A)
    add(0, 8 * len(key))
    for i, bits in enumerate((15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63)):
        h[(i + 3) % 4] ^= h[(i + 2) % 4]
        h[(i + 2) % 4] = rotl(h[(i + 2) % 4], bits)
        add((i + 3) % 4, h[(i + 2) % 4])
    return h[0], h[1]


def splitmix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def product(x, y):
    """The low and the high half of the product of two signed numbers."""
    x, y = (word - (word >> 63 << 64) for word in (x, y))
    return x * y & MASK, x * y >> 64 & MASK


def mum(key, seed):
    """The words `high` and `low`, in format 2."""
    secrets = [splitmix(seed + i * 0x9E3779B97F4A7C15 & MASK) for i in range(1, 7)]
    length, x, y = len(key), *secrets[:2]

    def mixed():
        low, high = product(x, y)
        return low, high ^ (x - y & MASK)

    def fold(p, q):
        low, high = product(p, q)
        return low ^ high

    for i in range(0, length - 16, 16):
        x, y = x ^ number(key[i : i + 8]), y ^ number(key[i + 8 : i + 16])
        x, y = mixed()
    if length >= 8:
        tail = key[-16:] if length > 16 else key
        words = tail[:8], tail[-8:]
    elif length >= 4:
        words = key[:4], key[-4:]
    elif length > 0:
        words = bytes([key[0], key[length // 2]]), key[-1:]
    else:
        words = b"", b""
    x, y = x ^ number(words[0]), y ^ number(words[1])
    p, q = mixed()
    p ^= length
    return fold(p ^ secrets[2], q ^ secrets[3]), fold(p ^ secrets[4], q ^ secrets[5])


def share(high, count):
    """Which of `count` equal parts a signature is in: buckets (§5), bins, or quotients (§12)."""
    return (high >> 1) * count >> 63


# Hash functions: signature -> slot, or None if the key is absent


def read_body(file, at, length, body_pages):
    """Bytes of a hash file's body, whose checksums are in the table after it (§5)."""
    data = b""
    for page in range(at // PAGE, (at + length - 1) // PAGE + 1):
        data += file.page(page, PAGE, lambda _: number(file.read(4 * (page - 1), 4, first=1 + body_pages)))
    return data[at % PAGE :][:length]


def gov3_bucketed(database, high, low):  # §5
    buckets, check_bits = database.number("hash.buckets"), database.number("hash.checksum.bits")
    block_size = 8 * (22 + 9 * check_bits)
    at, body_pages = PAGE + share(high, buckets) * block_size, ceil_div(buckets * block_size, PAGE)
    block = number(read_body(database.file("hash"), at, block_size, body_pages))

    def value(vertex):
        return field(block, 2 * 64 + 2 * vertex, 2)

    h = [field(block, 56, 8) << 56, (A + high) & MASK, (A + low) & MASK, A]
    mix(h)
    vertices = [field(word, 0, 54) * 640 >> 54 for word in h[:3]]
    vertex = vertices[sum(map(value, vertices)) % 3]
    counted = vertex // 128  # word 1 has the number of keys before vertex 128 * counted
    rank = field(block, 64 + 10 * (counted - 1), 10) if counted > 0 else 0
    rank += sum(value(v) != 0 for v in range(128 * counted, vertex))
    if field(block, 22 * 64 + rank * check_bits, check_bits) != field(low, 0, check_bits):
        return None
    slot = field(block, 0, 56) + rank
    return slot if slot < database.number("records") else None


def ptr(database, high, low):  # §13
    parts, check_bits = database.number("hash.buckets"), database.number("hash.checksum.bits")
    file, records = database.file("hash"), database.number("records")
    table_pages = ceil_div(8 * parts, PAGE)
    body_pages = 1
    while body_pages + ceil_div(body_pages, 1023) + 2 < file.pages:
        body_pages += 1
    table = read_body(file, PAGE * (1 + body_pages - table_pages), 8 * parts, body_pages)
    words = [number(table[i : i + 8]) for i in range(0, len(table), 8)]
    firsts = [field(word, 0, 56) for word in words] + [records]
    part, at = share(high, parts), PAGE

    def shape(keys):  # slots, buckets, and where replacements, checksums and the next block start
        slots, buckets = keys + keys // 200 + 8, (3 * keys + 9) // 10 + 32
        replaced = buckets + buckets % 2
        checksums = replaced + 2 * (slots - keys)
        return slots, buckets, replaced, checksums, 8 * ceil_div(8 * checksums + keys * check_bits, 64)

    for before in range(part):
        at += shape(firsts[before + 1] - firsts[before])[-1]
    keys = firsts[part + 1] - firsts[part]
    slots, buckets, replaced, checksums, size = shape(keys)
    block = read_body(file, at, size, body_pages)
    x = ((high >> 1) * 2 * parts & MASK) >> 32
    cubic = ((x * x >> 32 >> 1) * (2**32 + x)) >> 32
    pilot = block[(cubic - (cubic >> 8) + (x >> 8)) * buckets >> 32]
    spread = 0xD1342543DE82EF95
    hashed = low + high * (spread + 2 * field(words[part], 56, 8)) & MASK
    slot = ((hashed ^ pilot * spread & MASK) * 0x9E3779B97F4A7C15 & MASK) >> 32
    slot = slot * slots >> 32
    if slot >= keys:
        at = replaced + 2 * (slot - keys)
        slot = number(block[at : at + 2]) - 1
    check(pilot > 0 and slot >= 0, f"{file.path}: a 0 where none may be")
    if field(number(block[checksums:]), slot * check_bits, check_bits) != field(low, 0, check_bits):
        return None
    return firsts[part] + slot if firsts[part] + slot < records else None


HASH_KINDS = {"gov3-bucketed": gov3_bucketed, "ptr": ptr}


# Lookups: key and signature -> value, or None if the key is absent


def index_entry(database, width, high, low):  # §7
    slot = HASH_KINDS[database.text["hash.kind"]](database, high, low)
    return None if slot is None else database.file("index").read(slot * width, width, used=PAYLOAD // width * width)


def get_approximate(database, key, high, low):  # §7
    entry = index_entry(database, 1 + database.number("index.width"), high, low)
    return entry and entry[1 : 1 + entry[0]]


def get_addressed(database, key, high, low):  # §3, §4
    entry = index_entry(database, 8, high, low)
    if entry is None:
        return None
    address, compressed = number(entry), database.text["layout"] == "compressed"
    detail_bits = max(8, (database.number("zstd.block") - 1).bit_length()) if compressed else 8
    offset, detail = field(address, detail_bits, 56 - detail_bits), field(address, 0, detail_bits)
    stored_key, value = record_at(database, address >> 56, offset, detail)
    return value if stored_key == key else None


def record_at(database, file_number, offset, detail):
    """The key and the value at the parts of an address."""
    stream = Stream(database.file("data", file_number).read, stream_position(offset))
    if database.text["layout"] == "compressed":
        block = next_block(stream, database.decompress)
        stream = bytes_stream(block(), detail)
    return next_record(stream)


def get_packed(database, key, high, low):  # §12
    if "filter.bits" in database.text and not passes_filter(database, high, low):
        return None
    content, bin_filter = read_bin(database, share(high, database.number("packed.bins")))
    if bin_filter != 0 and not field(bin_filter, low % 4, 1):
        return None
    compressed = database.text["layout"] == "packed-compressed"
    for records in raw_blocks(database, content, high) if compressed else [content]:
        stream = bytes_stream(records)
        while stream.at < len(records):
            stored_key, value = next_record(stream)
            if stored_key == key:
                return value
    return None


def read_bin(database, bin_number):
    """The bytes of a bin, and its filter."""
    index, (group, in_group) = database.file("index"), divmod(bin_number, 256)
    bytes_at = 4 * (ceil_div(database.number("packed.bins"), 256) + 1)
    first, last = (number(index.read(4 * i, 4)) for i in (group, group + 1))
    page = first + sum(byte < in_group for byte in index.read(bytes_at + first + 1, last - first))
    i = (bin_number - 1 - index.read(bytes_at + page, 1)[0]) % 256
    payload, offsets, filters, continues = data_page(database, page)
    check(i < len(filters), f"bin {bin_number} does not start where the index says")
    content, last_of_page = payload[offsets[i] : offsets[i + 1]], i == len(filters) - 1
    while continues and last_of_page:
        page += 1
        payload, offsets, others, continues = data_page(database, page)
        content, last_of_page = content + payload[4 + 2 * len(others) : offsets[0]], not others
    return content, filters[i]


def data_page(database, page):
    """A page's payload, the offsets and filters in its directory, and whether its last bin continues."""
    for data in database.data_files:
        if page < data.pages - 2:
            payload = data.payload(1 + page)
            n = field(number(payload[:2]), 0, 9)
            words = [number(payload[at : at + 2]) for at in range(2, 4 + 2 * n, 2)]
            offsets, filters = [field(word, 0, 12) for word in words], [word >> 12 for word in words[:n]]
            return payload, offsets, filters, payload[1] >> 7
        page -= data.pages - 2
    raise DatabaseError("a bin is not in the data files")


def raw_blocks(database, content, high):
    """The raw bytes of the blocks of a bin that can hold the record."""
    wanted = ((high >> 1) * database.number("packed.bins") % 2**63) * 256 >> 63
    stream, part = bytes_stream(content), 0
    while stream.at < len(content) and part <= wanted:
        part = stream.number(1)
        block = next_block(stream, database.decompress)
        if part >= wanted:
            yield block()


def passes_filter(database, high, low):
    """Whether the filter file has the signature's remainder among those of its quotient."""
    file, width, records = database.file("filter"), database.number("filter.bits"), database.number("records")
    groups = ceil_div(database.number("filter.quotients"), 128)
    group, in_group = divmod(share(high, database.number("filter.quotients")), 128)
    starts_page = 1 + ceil_div(ceil_div(128 * groups + (1 + width) * records, 64), 511)

    def start(i):
        return number(file.read(4 * i, 4, first=starts_page))

    wraps = sum(start(i + 1) < start(i) for i in range(group)) if records >= 2**32 else 0
    before, n = start(group) + (wraps << 32), (start(group + 1) - start(group)) % 2**32
    at = 128 * group + (1 + width) * before
    data = file.read(at // 8, (at + 128 + (1 + width) * n - 1) // 8 - at // 8 + 1, used=8 * 511)
    bits = number(data) >> at % 8
    at = zeros = 0
    while zeros < in_group:
        zeros += not field(bits, at, 1)
        at += 1
    while field(bits, at, 1):
        if field(bits, 128 + n + (at - zeros) * width, width) == field(low, 16, width):
            return True
        at += 1
    return False


LAYOUTS = {layout: get_addressed for layout in ("blocked", "compact", "compressed")}
LAYOUTS.update({"packed": get_packed, "packed-compressed": get_packed, "none": get_approximate})


# Order of keys (§16)


def order_node(database, level, page):
    """The keys and values of a node, and the distances in pages to the nodes before and after it."""
    file, levels = database.file("order"), database.numbers("order.levels")
    first, width = 1 + sum(levels[:level]) + page, 40 if level > 0 else sum(database.numbers("order.place"))
    pages = file.read(0, PAYLOAD, first)[3] + 1
    data = file.read(0, pages * PAYLOAD, first)
    n, keys = number(data[:2]), []
    check(n > 0 and data[2] == level, f"{file.path}: no node of level {level} in page {first}")
    values_at = 16 + 4 * ceil_div(n, 64)
    for i in range(n):
        if i % 64 == 0:
            at = 16 + i // 16
            stream = bytes_stream(data, number(data[at : at + 4]))
        shared, rest = divmod(stream.number(1), 16)
        shared += stream.leb128() if shared == 15 else 0
        rest += stream.leb128() if rest == 15 else 0
        other = b"" if i == 0 else keys[0] if i % 64 == 0 else keys[-1]
        keys.append(other[:shared] + stream.take(rest))
    bits = number(data[values_at : values_at + ceil_div(n * width, 8)])
    values = [field(bits, i * width, width) for i in range(n)]
    return keys, values, data[4] + 1, pages


def key_range(database, start, end, reverse):
    """The records with keys from `start` up to `end`, which is not included; None is no end."""
    levels, page = database.numbers("order.levels"), 0
    for level in range(len(levels) - 1, 0, -1):
        keys, values, _, _ = order_node(database, level, page)
        if not reverse:
            page = values[max(0, bisect.bisect_right(keys, start) - 1)]
        else:
            page = values[max(0, (len(keys) if end is None else bisect.bisect_left(keys, end)) - 1)]
    while 0 <= page < levels[0]:
        keys, values, before, after = order_node(database, 0, page)
        for key, value in sorted(zip(keys, values), reverse=reverse):
            if start <= key and (end is None or key < end):
                yield key, ordered_value(database, key, value)
            elif (key < start) == reverse:
                return
        page += -before if reverse else after


def ordered_value(database, key, place):
    """The value of a key, whose entry in a leaf has the value `place`."""
    if "packed" in database.text["layout"]:
        return database.get(key)
    _, offset_bits, detail_bits = database.numbers("order.place")
    offset, detail = field(place, detail_bits, offset_bits), field(place, 0, detail_bits)
    stored_key, value = record_at(database, place >> (offset_bits + detail_bits), offset, detail)
    check(stored_key == key, f"{database.path}: the order of keys leads from {key!r} to {stored_key!r}")
    return value


def prefix_end(prefix):
    """The first key after all that start with a prefix, or None."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None


# Shards (§14)

SLOTS = 16384


def slot_of(key):
    opened = key.find(b"{")
    closed = key.find(b"}", opened + 1) if opened >= 0 else -1
    part = key[opened + 1 : closed] if closed > opened + 1 else key
    return binascii.crc_hqx(part, 0) % SLOTS  # crc_hqx is CRC-16/XMODEM


def shard_of(slot, shards):
    return (slot * shards + shards - 1) // SLOTS


def read_manifest(directory):
    """The path of the manifest, the id, and the lines as pairs of name and value (§6)."""
    manifest = PagedFile(os.path.join(directory, "manifest.bsdb"), KINDS["manifest"])
    text = manifest.read_all().rstrip(b"\0")
    database_id = hashlib.sha256(text).digest()[:16]
    check(manifest.ids == {database_id}, f"{manifest.path}: its text has another id")
    return manifest.path, database_id, [line.split("=", 1) for line in text.decode().split("\n")[:-1]]


def require_known(path, text, names):
    """Fails unless each fact has one of the values that this program knows."""
    for name, known in names:
        check(text[name] in known, f"{path}: unknown {name} {text[name]}")


def held_shards(path, text):
    """The numbers of the shards that the directory of a set holds: all, or those that set.held states."""
    count = int(text["shard.count"])
    check(count >= 2 and ("set.id" in text) == ("set.held" in text), f"{path}: bad facts")
    if "set.held" not in text:
        return list(range(count))
    ends = [[int(end) for end in part.split("-")] for part in text["set.held"].split(",")]
    held = [number for part in ends for number in range(part[0], min(part[-1], count) + 1)]
    right = held and held == sorted(set(held)) and held[-1] < count and len(held) < count
    check(right, f"{path}: bad set.held={text['set.held']}")
    return held


class ShardSet:
    """The shards of a set, each of which is a database. The directory of a partial set holds only some of them."""

    def __init__(self, directory, path, lines):
        text = dict(lines)
        require_known(path, text, [("format", ["1"]), ("shard.hash", ["crc16-slots"])])
        listed = [value.split(" ") for name, value in lines if name == "shard"]
        held = held_shards(path, text)
        self.path, self.count, self.shards = path, int(text["shard.count"]), {}
        check([int(shard) for shard, _, _ in listed] == list(range(self.count)), f"{path}: not {self.count} shards")
        records = sum(int(records) for _, _, records in listed)
        check(records == int(text["records"]), f"{path}: the shards have {records} records")
        for shard, shard_id, records in (listed[number] for number in held):
            database = Database(os.path.join(directory, f"shard-{int(shard):05}-{shard_id[:8]}"))
            self.shards[int(shard)] = database
            check(database.id.hex() == shard_id, f"{database.path}: it is not the shard that {path} lists")
            stated = shard, text["shard.count"], text["shard.hash"], records
            actual = tuple(database.text[name] for name in ("shard.number", "shard.count", "shard.hash", "records"))
            check(actual == stated, f"{database.path}: it differs from {path}")
            for name in "layout", "index.width", "value.schema", "value.elements":
                same = database.text.get(name) == self.shards[held[0]].text.get(name)
                check(same, f"{database.path}: another {name} than that of shard {held[0]}")

    def get(self, key):
        shard = shard_of(slot_of(key), self.count)
        check(shard in self.shards, f"{self.path}: {key!r} belongs to shard {shard}, which is not held here")
        return self.shards[shard].get(key)

    def range(self, start=b"", end=None, reverse=False):
        """The records of a range of all shards that are held, merged."""
        ranges = [shard.range(start, end, reverse) for shard in self.shards.values()]
        return heapq.merge(*ranges, key=lambda record: record[0], reverse=reverse)


class Database:
    """The values of the manifest (§6), and the files that it lists. It may be one shard of a set."""

    def __init__(self, directory):
        self.path, self.id, lines = read_manifest(directory)
        self.text, self.files, self.dictionary = dict(lines), {}, b""
        hash_kinds = ["none"] if "packed" in self.text["layout"] else HASH_KINDS
        require_known(self.path, self.text, [("format", ["1", "2"]), ("layout", LAYOUTS), ("hash.kind", hash_kinds)])
        if self.text["format"] == "2":
            require_known(self.path, self.text, [("hash.signature", ["mum"])])
        self.signature = mum if self.text["format"] == "2" else spooky
        if self.text["shard.count"] != "1":
            require_known(self.path, self.text, [("shard.hash", ["crc16-slots"])])
        listed = [value.split(" ") for name, value in lines if name == "file"]
        hashes = [value for name, value in lines if name == "file.sha256"] or [None] * len(listed)
        check(len(hashes) == len(listed), f"{self.path}: {len(hashes)} content hashes of {len(listed)} files")
        for file, file_hash in zip(listed, hashes):
            self.open(directory, *file, file_hash)
        self.data_files = [self.files[each] for each in sorted(self.files) if each[0] == "data"]
        self.decompress = zstd_decompressor(self.dictionary) if "compressed" in self.text["layout"] else None

    def open(self, directory, kind, file_number, pages, digest, end, file_hash):
        name = f"data-{int(file_number):03}" if kind == "data" else kind
        file = PagedFile(os.path.join(directory, f"{name}-{self.id.hex()[:8]}.bsdb"), KINDS[kind], int(file_number))
        check(file.ids == {self.id}, f"{file.path}: it is of another database")
        check((file.pages, file.digest) == (int(pages), int(digest, 16)), f"{file.path}: it differs from the manifest")
        self.files[kind, file.number] = file
        if kind == "dictionary":
            self.dictionary = file.read_all()[: stream_position(int(end))]
            check(file_hash in (None, file.content_hash()), f"{file.path}: wrong content hash")

    def number(self, name):
        return int(self.text[name])

    def numbers(self, name):
        return [int(each) for each in self.text[name].split(" ")]

    def file(self, kind, file_number=0):
        check((kind, file_number) in self.files, f"no {kind} file {file_number}")
        return self.files[kind, file_number]

    def get(self, key):
        shard = shard_of(slot_of(key), self.number("shard.count"))
        own = self.number("shard.number")
        check(shard == own, f"{self.path}: {key!r} belongs to shard {shard}, and this is shard {own}")
        return LAYOUTS[self.text["layout"]](self, key, *self.signature(key, self.number("hash.seed")))

    def range(self, start=b"", end=None, reverse=False):
        """The records with keys from `start` up to `end`, which is not included, as pairs in the order of keys."""
        check("order.levels" in self.text, f"{self.path}: no order of keys: build it with bsdb build --ordered")
        return key_range(self, start, end, reverse)


def open_database(directory):
    path, _, lines = read_manifest(directory)
    return ShardSet(directory, path, lines) if dict(lines).get("layout") == "sharded" else Database(directory)


def main():
    directory, keys, status = sys.argv[1], sys.argv[2:], 0
    database = open_database(directory)
    if keys[0] == "--keys-from":
        with sys.stdin if keys[1] == "-" else open(keys[1]) as lines:
            for line in lines:
                value = database.get(bytes.fromhex(line))
                print("absent" if value is None else value.hex())
        return 0
    if keys[0] in ("--range", "--prefix"):
        start = bytes.fromhex(keys[1].strip("-"))
        if keys[0] == "--prefix":
            end, options = prefix_end(start), keys[2:]
        else:
            end, options = None if keys[2] == "-" else bytes.fromhex(keys[2]), keys[3:]
        for key, value in database.range(start, end, reverse=options == ["reverse"]):
            print(key.hex(), value.hex())
        return 0
    for key in keys:
        value = database.get(os.fsencode(key))
        if value is None:
            print(f"no such key: {key}", file=sys.stderr)
            status = 1
        else:
            sys.stdout.buffer.write(value + b"\n")
    return status


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main())
    except Exception as error:  # uncaught, it would end with exit code 1, which means absent
        print(f"read_bsdb.py: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(2)
