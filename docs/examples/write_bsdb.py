"""Writes a bsdb database of the layout packed. It was written from docs/FORMAT.md alone, as a test of that document and
an example for writers in other languages: the files are those of `bsdb build`, byte for byte. "§" refers to its
sections. It favors brevity over speed and holds all records in memory.

    python3 write_bsdb.py DIR [NAME=VALUE]... < RECORDS

DIR must not exist. A line of RECORDS is a record: key and value in hexadecimal, with a space between them. The names:

    duplicates   error (the default), first or last: the record that is kept of those with the same key
    files        the number of data files, 1 by default
    filter       bits of the filter, 0 by default, which is none
    seed         the seed of the signatures, 0 by default

Prints the id of the database. The exit code is 2 after an error. It needs Python 3.8 or newer. It does what a writer
must do for the bytes, not what it must do for a crash: it forces nothing to the device.
"""

import hashlib
import os
import sys

from read_bsdb import KINDS, MASK, PAGE, PAYLOAD, ceil_div, content_hash, crc32c, mum, place, share

ENTRY = 2  # bytes of an entry in the directory of a page (§12)


def u(value, length):
    return (value & (1 << 8 * length) - 1).to_bytes(length, "little")


# Files (§2, §8)


class OutputFile:
    """The content of a file: payloads of pages. Header and footer follow when the id is known."""

    def __init__(self, kind, file_number, payloads):
        self.kind, self.number, self.digest, self.content = kind, file_number, 0, b""
        for page, payload in enumerate(payloads, 1):
            data = self.page(page, payload)
            self.content += data
            z = (self.digest ^ int.from_bytes(data[PAYLOAD:], "little")) * 0x9E3779B97F4A7C15 & MASK
            self.digest = z ^ z >> 29
        self.pages = len(self.content) // PAGE + 2

    def page(self, page, payload):
        payload = payload.ljust(PAYLOAD, b"\0")
        return payload + u(crc32c(payload) ^ place(KINDS[self.kind], self.number, page), 4)

    def line(self):
        """The line of the manifest (§6)."""
        return f"file={self.kind} {self.number} {self.pages} {self.digest:x} {(self.pages - 1) * PAGE}\n"

    def write(self, path, id):
        frame = u(1, 2) + u(KINDS[self.kind], 2) + u(self.number, 4) + id
        footer = b"BSDBTAIL" + frame + u(self.pages, 8) + u(self.digest, 8)
        with open(path, "xb") as file:
            file.write(self.page(0, b"BSDBFILE" + frame) + self.content + self.page(self.pages - 1, footer))


def pages_of(data, used=PAYLOAD):
    """A stream of bytes, of which each payload holds so many."""
    return [data[i : i + used] for i in range(0, len(data), used)]


# Records (§4)


def framed(key, value):
    short = 0 < len(key) <= 255 and len(value) <= 32510
    header = u(len(key), 1) + u(len(value), 2) if short else b"\0\xff\xff" + u(len(key), 2) + u(len(value), 4)
    return header + key + value


def kept_records(records, seed, duplicates):
    """The records in the order of their signatures, those of each key once: (high, low, key, value)."""
    signed = sorted(((*mum(key, seed), i) for i, (key, _) in enumerate(records)))
    kept, places = [], {}
    for high, low, i in signed:
        key, value = records[i]
        if key not in places:
            places[key] = len(kept), i
            kept.append((high, low, key, value))
        elif duplicates == "error":
            raise ValueError(f"key {key.hex()} was added twice, as records {places[key][1]} and {i}, counted from 0")
        elif duplicates == "last":
            kept[places[key][0]] = high, low, key, value
    return kept


# Bins and their pages (§12, §17)


class Packer:
    """Puts bins into pages, and keeps in which page each starts."""

    def __init__(self, files, spanning):
        self.spanning, self.files, self.current = spanning, [[] for _ in range(files)], 0
        self.first_pages = []  # of each bin
        self.done = 0  # pages in all files
        self.clear()

    def clear(self):
        self.starts, self.data, self.several = [], b"", False

    def room(self):
        return PAYLOAD - ENTRY * (2 + len(self.starts)) - len(self.data)

    def empty(self):
        return not self.starts and not self.data

    def end_page(self, continues):
        directory = ENTRY * (2 + len(self.starts))
        payload = u(len(self.starts) | continues << 15, 2)
        payload += b"".join(u(directory + start | bits << 12, 2) for start, bits in self.starts)
        self.files[self.current].append(payload + u(directory + len(self.data), 2) + self.data)
        self.done += 1
        self.clear()

    def enter(self, file):
        if file != self.current and not self.empty():
            self.end_page(False)
        self.current = file

    def add(self, data, bits):
        """Adds the next bin: its records, and the bits of its filter."""
        fits = self.room() - ENTRY >= (min(len(data), 1) if self.spanning else len(data))
        if not self.empty() and not (fits and len(self.starts) < 256 and not self.several):
            self.end_page(False)
        self.first_pages.append(self.done)
        self.starts.append((len(self.data), bits))
        self.data, rest = self.data + data[: self.room()], data[self.room() :]
        while rest:
            self.end_page(True)
            self.several = not self.spanning
            self.data, rest = rest[: self.room()], rest[self.room() :]

    def finish(self):
        """The data files, and the index."""
        if not self.empty():
            self.end_page(False)
        pages = self.first_pages[::256] + [self.done - 1]
        before, bins = [0] * self.done, 0
        for page in range(self.done):
            before[page] = bins - 1
            while bins < len(self.first_pages) and self.first_pages[bins] == page:
                bins += 1
        index = b"".join(u(page, 4) for page in pages) + b"".join(u(number, 1) for number in before)
        data = [OutputFile("data", i, payloads) for i, payloads in enumerate(self.files)]
        return data, OutputFile("index", 0, pages_of(index))


def sample(first_pages, pages):
    """The line of the manifest that tells where the bins of equal parts start (§12)."""
    if pages < 256:
        return ""
    parts, bins = min(2048, pages // 128), len(first_pages)
    numbers = (first_pages[i * bins // parts] - i * pages // parts for i in range(1, parts))
    return f"packed.sample={' '.join(map(str, numbers))}\n"


def shape(count, size):
    """The number of bins, whether they span pages, and the number of units."""
    average = max(1, size // count) if count else 24
    wanted = max(1, ceil_div(count, ceil_div(24, average)))
    units = min(1 << max(1, wanted // 64).bit_length() - 1, 1024)
    return ceil_div(wanted, units) * units, average > 128, units


def packed(records, count, size, files):
    bins, spanning, units = shape(count, size)
    contents = [[b"", 0] for _ in range(bins)]
    for high, low, key, value in records:
        content = contents[share(high, bins)]
        content[0] += framed(key, value)
        content[1] |= 1 << low % 4
    packer = Packer(files, spanning)
    for number, (data, bits) in enumerate(contents):
        packer.enter(number // (bins // units) * files // units)
        packer.add(data, bits)
    data, index = packer.finish()
    lines = f"packed.bins={bins}\npacked.spanning={spanning:d}\n"
    return lines + sample(packer.first_pages, packer.done), data, index


def absence_filter(records, count, width):
    """The filter of absent keys: lines of the manifest, and the file."""
    quotients, bits, at, before, starts = min(max(1, count), 2**37), 0, 0, 0, []
    groups = [[[] for _ in range(128)] for _ in range(ceil_div(quotients, 128))]
    for high, low, _, _ in records:
        quotient = share(high, quotients)
        groups[quotient // 128][quotient % 128].append((low >> 16) % 2**width)
    for group in groups:
        starts.append(before)
        for remainders in group:
            bits |= (1 << len(remainders)) - 1 << at
            at += len(remainders) + 1
        for remainder in sum(group, []):
            bits |= remainder << at
            at, before = at + width, before + 1
    words = pages_of(bits.to_bytes(8 * ceil_div(at, 64), "little"), 511 * 8)
    table = pages_of(b"".join(u(start, 4) for start in starts + [before]))
    lines = f"filter.bits={width}\nfilter.quotients={quotients}\n"
    return lines, OutputFile("filter", 0, words + table)


# The database (§6, §8)


def write(directory, records, duplicates="error", files=1, filter=0, seed=0):
    """Writes the database of a list of records (key, value). Returns its id."""
    kept = kept_records(records, seed, duplicates)
    size = sum(len(framed(key, value)) for key, value in records)
    shape_lines, outputs, index = packed(kept, len(records), size, files)
    filter_lines, *filters = absence_filter(kept, len(records), filter) if filter else ("",)
    outputs += [index, *filters]
    keys, values = [key for key, _ in records], [value for _, value in records]
    text = f"format=2\nrecords={len(kept)}\nduplicates.dropped={len(records) - len(kept)}\n"
    text += f"bytes.key={sum(map(len, keys))}\nbytes.value={sum(map(len, values))}\n"
    text += f"longest.key={max(map(len, keys), default=0)}\nlongest.value={max(map(len, values), default=0)}\n"
    text += f"layout=packed\nhash.kind=none\nhash.signature=mum\nhash.seed={seed}\nhash.buckets=0\n"
    text += "hash.checksum.bits=0\nindex.width=0\nshard.number=0\nshard.count=1\nshard.hash=none\n"
    text += "zstd.block=0\nzstd.level=0\nzstd.longest=0\n" + shape_lines + filter_lines
    text += "".join(file.line() for file in outputs)
    text += "".join(f"file.sha256={content_hash(file.content)}\n" for file in outputs)
    id = hashlib.sha256(text.encode()).digest()[:16]
    os.mkdir(directory)
    for file in outputs:
        number = f"-{file.number:03d}" if file.kind == "data" else ""
        file.write(os.path.join(directory, f"{file.kind}{number}-{id.hex()[:8]}.bsdb"), id)
    manifest = OutputFile("manifest", 0, pages_of(text.encode()))
    manifest.write(os.path.join(directory, "manifest.bsdb"), id)
    return id.hex()


def records_of(lines):
    for line_number, line in enumerate(lines, 1):
        try:
            key, value = map(bytes.fromhex, line.rstrip("\n").split(" "))
        except ValueError as e:
            raise ValueError(f"line {line_number} is not a key and a value in hexadecimal: {e}") from None
        yield key, value


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    try:
        options = dict(argument.split("=", 1) for argument in arguments[1:])
        options = {name: text if name == "duplicates" else int(text) for name, text in options.items()}
        print(write(arguments[0], list(records_of(sys.stdin)), **options))
    except (OSError, TypeError, ValueError) as e:
        print(f"{type(e).__name__}: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
