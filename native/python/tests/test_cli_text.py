"""Text, CSV and JSON lines are read as the Java command reads them, which the variable BSDB names."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_cli_same import java

import bsdbkv
from bsdbkv import _bsdb
from bsdbkv._cli import _input, _make
from bsdbkv._cli._syntax import Syntax

SKIP = ["--on-bad-line", "skip", "--allow-empty-key"]
CSV = ["--csv"]
JSON = ["--jsonl", "--key-field", "id"]

BAD_JSON = [
    *(b'{"id":%s}' % value for value in [b"null", b"[]", b"{}", rb'"\ud800"', rb'"\udc00\ud800"', b'"a\tb"', rb'"\x"']),
    *(b'{"id":%s}' % value for value in [b"01", b"+1", b".5", b"1.", b"-", b"1-2", b"1e", b"NaN", b"tru", b"1E400"]),
    b'{"x":1}',
    b"{}",
    b"{",
    b"[]",
    b'{"id":1,"id":1}',
    b'{"id":"a","id":null}',
    b'{"id":1,}',
    b'{"id":"a"} x',
    b'{"id":"a"}{"id":"b"}',
    b"{'id':1}",
    b'{"id":"x","y":[1,2}}',
    rb'{"id":"x","y":"\q"}',
    b'{"id":"m" "n":1}',
    rb'{"id":"lone","\ud800":1}',
    rb'{"id":"lone","x":{"a\udfff":1}}',
    b'\xef\xbb\xbf{"id":"mark"}',
]
GOOD_JSON = [
    b'{"id":"a"}',
    b' {"x":[1,{"id":2}],"id":1.50}\t',
    b'{"id":true}',
    rb'{"id":"\u00e9\n\ud83d\ude00\/"}',
    rb'{"i\u0064":-0e+5}',
    rb'{"\ud83d\ude00":1,"a\u0000":1,"id":"z"}',
    b'{"id" : "f" , "x" : [ [ ], { } , [ { "y" : [ ] } ] ] }',
    b'{"id":"", "q":0}',
]
LONG = b"".join(b"k%d %s\n" % (i, b"v" * (i % 100)) for i in range(60_000))


def changed(content, place):
    made = bytearray(content)
    made[place] ^= 4
    return bytes(made)


def zstd(content):
    return pytest.importorskip("pyarrow").Codec("zstd").compress(content, asbytes=True)


# A name, what the file holds, and options.
CASES = {
    "text": [
        ("mark.txt", b"\xef\xbb\xbfa b\r\nc d\re\nf  g \nh \n", []),
        ("empty-line.txt", b"a b\n\nc d\n", []),
        ("separator.txt", b"a b\nnosep\n", []),
        ("tab.txt", b"a\tb\nno sep\n", ["-s", r"\t"]),
        ("utf8.txt", b"a b\n\xff x\n", []),
        ("empty-key.txt", b" x\n", []),
        ("skip.txt", b"a b\n\nnosep\n\xff x\n x\nlast\r", SKIP),
        ("long-separator.txt", b"a--b\nc-d--e--f\n", ["-s=--"]),
        ("long-key.txt", b"k" * 65_536 + b" v\n" + b"k" * 65_535 + b" v\n", SKIP),
        ("none.txt", b"", []),
        ("only-mark.txt", b"\xef\xbb\xbf", []),
        ("no-end.txt", b"a b", []),
        ("long.txt", LONG + b"bad\n" + LONG, []),
        (
            "encodings.txt",
            b"6161 YWI\n62 YWI=\n6 x\n6g YQ==\n63 YQ=\n64 =\n65 Y\n66 YW!=\n67 YQ==YQ==\n68 \n6A YWJj\n",
            ["--key-encoding", "hex", "--value-encoding", "base64", *SKIP],
        ),
    ],
    "csv": [
        ("quotes.csv", b'id,name,"x ""q"""\n1,"a,b",c\n2,"l1\nl2\r\n",\xc3\xa9\x01"\n"3","q""q",\n', CSV),
        ("open.csv", b'id,name\n1,a\n2,"b\n3,c\n', CSV),
        ("skip.csv", b'id,v\n1,a\n2,b,c\n3\n\n"4"x,c\n5,c\rd\n6,"ok"\n,e\n7,"\xff"\n8,"open\n9,x\n', [*CSV, *SKIP]),
        ("line.csv", b'id,name\n1,"a\nb"\n2\n3,"x', CSV),
        ("delimited.csv", b'id;n;z\r\n1;"a;b";"x""y"\r\n', [*CSV, "--csv-delimiter=;", "--csv-values=delimited"]),
        ("twice.csv", b"id,name,name\n1,a,b\n", CSV),
        ("one.csv", b"id\n1\n", CSV),
        ("open-header.csv", b'id,"n\n', CSV),
        ("empty-header.csv", b"\n1,2\n", CSV),
        ("columns.csv", b"id,name,z\n1,a,b\n", [*CSV, "--key-column", "name", "--value-column", "3"]),
        ("no-column.csv", b"id,name,z\n1,a,b\n", [*CSV, "--key-column", "nix"]),
        ("key-twice.csv", b"id,id\n1,a\n", [*CSV, "--key-column", "id"]),
        ("no-rows.csv", b"id,v\n", CSV),
        ("hex.csv", b"id,v,w\n1,6162,x\n", [*CSV, "--value-column", "v", "--value-encoding", "hex"]),
    ],
    "json": [
        ("good.jsonl", b"\n".join(GOOD_JSON), [*JSON, *SKIP]),
        ("bad.jsonl", b"\n".join(BAD_JSON) + b"\n", [*JSON, *SKIP]),
        *((f"bad-{i}.jsonl", line + b"\n", JSON) for i, line in enumerate([*BAD_JSON[:4], b'{"x":1}', b'{"id":""}'])),
    ],
    "compressed": [
        ("members.gz", gzip.compress(LONG[:900_000].rpartition(b"\n")[0]) + gzip.compress(b"\nzz yy"), []),
        ("cut.gz", gzip.compress(LONG)[:-5], []),
        ("flipped.gz", changed(gzip.compress(LONG), 5000), []),
        ("checksum.gz", changed(gzip.compress(LONG), -6), []),
        ("length.gz", changed(gzip.compress(LONG), -1), []),
        ("garbage.gz", gzip.compress(b"a b\n") + b"xx", []),
        ("padded.gz", gzip.compress(b"a b\n") + b"\0\0", []),
        ("none.gz", b"", []),
        ("plain.gz", b"a b\n", []),
        ("by-magic.txt", gzip.compress(b"a b\n"), []),
        ("bad-line.gz", gzip.compress(b"a b\nnosep\n"), []),
        ("frames.zst", lambda: zstd(LONG) + zstd(b"x y\n"), []),
        ("cut.zst", lambda: zstd(LONG)[:-5], []),
        ("gzip.zst", gzip.compress(b"a b\n"), []),
        ("none.zst", b"", []),
        ("plain.zst", b"abc", []),
        ("m.bz2", b"BZh91AY&SYxx", []),
    ],
    "charsets": [
        ("latin1.txt", "hé w\nü x\n".encode("latin1"), ["-e", "ISO-8859-1"]),
        ("utf16.txt", "\ufeffhé w\n\U0001f600 x\n".encode("utf-16-le"), ["-e", "UTF-16LE"]),
        ("lone.txt", "a w\n".encode("utf-16-le") + b"\0\xd8 \0x\0\n\0b\0 \0c\0\n\0", ["-e", "UTF-16LE", *SKIP]),
        ("gb.txt", "你 w\n好 x\n".encode("gb18030") + b"\xff y\n", ["-e", "GB18030"]),
    ],
}


def theirs(directory, path, options):
    target = directory / "db" / path.name
    code, out, err = java(["build", "-i", path, "-o", target, "--layout", "blocked", "--json", *options])
    if code != 0:
        return err.splitlines()[0].removeprefix("bsdb build: ")
    report = json.loads(out)
    names = ("lines", "records", "rejected", "rejectedByReason", "bytesRead")
    return list(bsdbkv.open(target).items()), [report[name] for name in names]


def ours(path, options):
    arguments = Syntax("build", _make.UNCOVERED).parse(["-i", str(path), *options])
    source = _make._source(arguments)
    try:
        source["files"] = _input.find(arguments.all("-i"), [])
        source["rejects"] = None
        records, report = _bsdb._read_text(source)
    except (_input.InputError, bsdbkv.Error) as error:
        return str(error)
    names = ("lines", "records_read", "rejected", "rejected_by_reason", "bytes_read")
    return records, [report[name] for name in names]


@pytest.mark.parametrize("kind", CASES)
def test_the_same_records(kind, tmp_path):
    made = []
    for name, content, options in CASES[kind]:
        path = tmp_path / name
        path.write_bytes(content() if callable(content) else content)
        made.append((path, options))
    with ThreadPoolExecutor(2) as threads:
        expected = list(threads.map(lambda case: theirs(tmp_path, *case), made))
    for (path, options), same in zip(made, expected):
        assert ours(path, options) == same, path.name


def test_directories(tmp_path):
    files = {"b.txt": "b 1", "a.txt": "a 1", "sub/c": "c 1", "a-b.txt": "ab 1", ".hidden": "h 1", "_x/y": "y 1"}
    for name, line in {**files, "sub/.h/z": "z 1"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line + "\n")
    expected = [(b"ab", b"1"), (b"a", b"1"), (b"b", b"1"), (b"c", b"1")]
    assert ours(tmp_path, [])[0] == expected
    (tmp_path / "sub" / "above").symlink_to(tmp_path)
    assert ours(tmp_path, [])[0] == expected
    (tmp_path / "sub" / "nowhere").symlink_to("/nix/there")
    assert ours(tmp_path, []).endswith("/sub/nowhere: no such file or directory: the link leads nowhere")
    (tmp_path / "empty").mkdir()
    reason = "no input files in this directory (names that begin with . or _ are left out)"
    assert ours(tmp_path / "empty", []) == f"{tmp_path}/empty: {reason}"


@pytest.mark.parametrize("threads", [1, 3, 16])
def test_the_order_of_many_chunks(threads, tmp_path):
    source = tmp_path / "many.txt"
    source.write_bytes(b"".join(b"%d %d\n" % (i, i) for i in range(300_000)) + b"long " + b"x" * 3_000_000)
    records, report = ours(source, ["--threads", str(threads)])
    assert records[:-1] == [(b"%d" % i, b"%d" % i) for i in range(300_000)]
    assert records[-1] == (b"long", b"x" * 3_000_000)
    assert report == [300_001, 300_001, 0, {}, source.stat().st_size]
