"""Reads served databases through dictionaries of ClickHouse and compares every value: check.py WORK (scripts/test-clickhouse)."""

import pathlib
import sys
import time

from served import ClickHouse, bsdb, serving

WORK = pathlib.Path(sys.argv[1]).resolve()
LARGEST = 2**64 - 1
TEXT = 150_000  # more keys than KEYS with a pattern returns and than --max-batch allows in one command
NUMBERS = 20_000
MONDAY = {f"key-{i}": f"value of {i}, größer" for i in range(1, TEXT + 1)}
TUESDAY = {f"key-{i}": f"tuesday {i}" for i in range(5, TEXT + 11)}
# The numbers of the data sets, in the order of their names.
LONG, SMALL, NUMBER_SET, ROWS, TEXT_SET, TYPES = range(6)
VALUES = {
    "UInt64": LARGEST,
    "Int32": -5,
    "Float64": 1.25,
    "Bool": 1,
    "Date": "2026-01-31",
    "DateTime": "2026-01-31 12:34:56",
    "UUID": "61f0c404-5cb3-11e7-907b-a6006ad3dba0",
    "Nullable(Int8)": 7,
}
failures = []


def check(what, found, expected):
    print(f"{'ok  ' if found == expected else 'FAIL'}  {what}", flush=True)
    if found != expected:
        print(f"      found {str(found)[:300]} instead of {str(expected)[:300]}", flush=True)
        failures.append(what)


def database(name, records):
    (WORK / f"{name}.txt").write_text("".join(f"{k} {v}\n" for k, v in records.items()), encoding="utf-8")
    bsdb("build", "-q", "-i", WORK / f"{name}.txt", "-o", WORK / name)
    return WORK / name


def publish(name, data_set, version):
    bsdb("publish", "-q", WORK / name, WORK / "stores" / data_set, "--version", version, "--allow-key-change")


def build():
    database("monday", MONDAY)
    database("tuesday", TUESDAY)
    database("numbers", {**{i * 7: i * 3 for i in range(NUMBERS)}, LARGEST: 4_000_000_000})
    database("small", {i: i / 4 for i in range(1000)})
    database("types", VALUES)
    database("long", {f"{i:0>250}": i for i in range(70_000)})
    (WORK / "rows.avsc").write_text(
        """{"type": "record", "name": "Product", "fields": [
          {"name": "id", "type": "long"}, {"name": "name", "type": "string"},
          {"name": "price", "type": ["null", "double"], "default": null}, {"name": "sold", "type": "boolean"}]}"""
    )
    (WORK / "rows.csv").write_text("id,name,price,sold\n1,Apple,1.5,true\n2,Größe,,false\n", encoding="utf-8")
    bsdb("build", "-q", "--csv", "--key-column", "id", "--avro-schema", WORK / "rows.avsc", "-i", WORK / "rows.csv", "-o", WORK / "rows")
    for name, data_set in (("monday", "text"), ("numbers", "numbers"), ("rows", "rows"), ("small", "a-small"), ("long", "a-long"), ("types", "types")):
        publish(name, data_set, "monday")


def asked(house, name, keys):
    """What dictGet returns for each key."""
    (WORK / "asked.tsv").write_text("".join(f"{key}\n" for key in keys), encoding="utf-8")
    return dict(house.query(f"SELECT k, dictGet('d.{name}', 'v', k) FROM file('{WORK}/asked.tsv', TabSeparated, 'k String')"))


def text_keys(house, port):
    wanted = {**MONDAY, **{f"absent-{i}": "absent" for i in range(1000)}, "": "absent", "größer": "absent"}
    for layout in ("HASHED()", "SPARSE_HASHED()", "HASHED_ARRAY()", "DIRECT()", "CACHE(SIZE_IN_CELLS 50000)"):
        name = layout.split("(")[0].lower()
        house.dictionary(name, port, "COMPLEX_KEY_" + layout, data_set=TEXT_SET)
        check(f"COMPLEX_KEY_{layout}: dictGet of {len(wanted):,} keys", asked(house, name, wanted), wanted)
        if "CACHE" not in layout:
            check(f"COMPLEX_KEY_{layout}: SELECT of all", dict(house.query(f"SELECT k, v FROM d.{name}")), MONDAY)
        held = house.row(f"SELECT dictHas('d.{name}', 'key-7'), dictHas('d.{name}', 'key-0')")
        check(f"COMPLEX_KEY_{layout}: dictHas", held, ["1", "0"])


def numbers(house, port):
    for layout in ("HASHED()", "SPARSE_HASHED()", "HASHED_ARRAY()", "DIRECT()", "CACHE(SIZE_IN_CELLS 50000)"):
        name = "n_" + layout.split("(")[0].lower()
        house.dictionary(name, port, layout, key="k UInt64", value="v UInt32 DEFAULT 9", data_set=NUMBER_SET)
        right = house.row(f"SELECT countIf(dictGet('d.{name}', 'v', number * 7) = number * 3) FROM numbers({NUMBERS})")
        absent = house.row(f"SELECT countIf(dictGet('d.{name}', 'v', number * 7 + 1) = 9) FROM numbers({NUMBERS})")
        last = house.row(f"SELECT dictGet('d.{name}', 'v', {LARGEST})")
        check(f"{layout}: UInt64 keys, UInt32 values", right + absent + last, [str(NUMBERS), str(NUMBERS), "4000000000"])
    house.dictionary("flat", port, "FLAT()", key="k UInt64", value="v Float64", data_set=SMALL)
    found = house.row("SELECT count(), countIf(v = k / 4) FROM d.flat")
    check("FLAT(): UInt64 keys, Float64 values", found, ["1000", "1000"])
    house.dictionary("flat", port, "FLAT()", key="k UInt64", data_set=NUMBER_SET)
    check("FLAT(): refuses large keys", "should be less than 500000" in house.error("SELECT * FROM d.flat"), True)
    house.dictionary("unfit", port, "COMPLEX_KEY_DIRECT()", value="v UInt32", data_set=TEXT_SET)
    check("a value that is not a number", "Cannot parse" in house.error("SELECT dictGet('d.unfit', 'v', 'key-7')"), True)


def types(house, port):
    for name, value in VALUES.items():
        house.dictionary("typed", port, "COMPLEX_KEY_DIRECT()", value=f"v {name}", data_set=TYPES)
        found = house.row(f"SELECT dictGet('d.typed', 'v', '{name}') = '{value}', dictHas('d.typed', 'v')")
        check(f"values of type {name}", found, ["1", "0"])
    check("an absent Nullable", house.row("SELECT dictGet('d.typed', 'v', 'absent')"), ["\\N"])
    house.dictionary("typed", port, "COMPLEX_KEY_DIRECT()", value="v Decimal(9, 2)", data_set=TYPES)
    check("a type that Redis sources lack", "unsupported type" in house.error("SELECT dictGet('d.typed', 'v', 'Float64')"), True)


def rows(house, port):
    fields = {("1", "id"): "1", ("1", "name"): "Apple", ("1", "price"): "1.5", ("1", "sold"): "true"}
    fields |= {("2", "id"): "2", ("2", "name"): "Größe", ("2", "sold"): "false"}
    absent = [("2", "price"), ("1", "colour"), ("3", "name")]
    for layout in ("HASHED()", "SPARSE_HASHED()", "DIRECT()", "CACHE(SIZE_IN_CELLS 1000)"):
        house.dictionary("rows", port, "COMPLEX_KEY_" + layout, key="k String, f String", data_set=ROWS)
        found = {each: house.row(f"SELECT dictGet('d.rows', 'v', {each})")[0] for each in [*fields, *absent]}
        check(f"COMPLEX_KEY_{layout}: fields of rows", found, fields | dict.fromkeys(absent, "absent"))
        if "CACHE" not in layout:
            found = {(k, f): v for k, f, v in house.query("SELECT k, f, v FROM d.rows")}
            check(f"COMPLEX_KEY_{layout}: SELECT of all fields", found, fields)
    house.dictionary("simple", port, "COMPLEX_KEY_HASHED()", data_set=ROWS)
    check("rows are left out of a dictionary of storage_type simple", house.query("SELECT * FROM d.simple"), [])


def reloads(house, port):
    house.dictionary("loaded", port, "COMPLEX_KEY_HASHED()", data_set=TEXT_SET)
    house.dictionary("kept", port, "COMPLEX_KEY_CACHE(SIZE_IN_CELLS 1000)", data_set=TEXT_SET, lifetime="MIN 1 MAX 2")
    house.dictionary("asked_for", port, "COMPLEX_KEY_DIRECT()", data_set=TEXT_SET)

    def value(name):
        return house.row(f"SELECT dictGet('d.{name}', 'v', 'key-7')")[0]

    def await_value(name, expected):
        end = time.monotonic() + 120
        while value(name) != expected and time.monotonic() < end:
            time.sleep(0.1)
        return value(name)

    check("before a publish", [value(each) for each in ("loaded", "kept", "asked_for")], [MONDAY["key-7"]] * 3)
    publish("tuesday", "text", "tuesday")
    check("DIRECT shows the new version", await_value("asked_for", TUESDAY["key-7"]), TUESDAY["key-7"])
    check("CACHE shows it after its LIFETIME", await_value("kept", TUESDAY["key-7"]), TUESDAY["key-7"])
    check("HASHED keeps the old version", value("loaded"), MONDAY["key-7"])
    house.query("SYSTEM RELOAD DICTIONARY d.loaded")
    check("and has all of the new one after a reload", dict(house.query("SELECT k, v FROM d.loaded")), TUESDAY)


def limits(house, port):
    house.dictionary("wrong", port, "COMPLEX_KEY_HASHED()", data_set=6)
    check("a db_index too large", "DB index is out of range" in house.error("SELECT * FROM d.wrong"), True)
    house.dictionary("long", port, "COMPLEX_KEY_HASHED()", data_set=LONG)
    check("keys of 250 bytes need more than --max-body", bool(house.error("SELECT * FROM d.long")), True)
    with serving(WORK / "long", "--max-body", 64 << 20) as another:
        house.dictionary("long", another, "COMPLEX_KEY_HASHED()")
        found = house.row("SELECT count(), countIf(toUInt64(k) = toUInt64(v)) FROM d.long")
        check("and are complete with more", found, ["70000", "70000"])
    with serving(WORK / "numbers", "--max-batch", 1000) as another:
        house.dictionary("batch", another, "HASHED()", key="k UInt64")
        check("a small --max-batch", "the limit set by --max-batch" in house.error("SELECT * FROM d.batch"), True)


def tokens(house):
    (WORK / "tokens").write_text("a-token-of-this-test\n")
    with serving(WORK / "small", "--token-file", WORK / "tokens") as port:
        for more, expected in (("password 'a-token-of-this-test'", ""), ("", "NOAUTH"), ("password 'another'", "WRONGPASS")):
            house.dictionary("secret", port, "HASHED()", key="k UInt64", more=more)
            error = house.error("SELECT * FROM d.secret")
            check(f"a token: {expected or 'accepted'}", expected in error if expected else error, bool(expected) or "")


def restarts(house):
    with serving(WORK / "small") as port:
        house.dictionary("loaded", port, "HASHED()", key="k UInt64")
        house.dictionary("direct", port, "DIRECT()", key="k UInt64")
        house.row("SELECT dictGet('d.loaded', 'v', 7), dictGet('d.direct', 'v', 7)")
    check("DIRECT without a server", "onnection" in house.error("SELECT dictGet('d.direct', 'v', 7)"), True)
    check("a reload without a server", "onnection" in house.error("SYSTEM RELOAD DICTIONARY d.loaded"), True)
    check("leaves what was loaded", house.row("SELECT dictGet('d.loaded', 'v', 7)"), ["1.75"])
    with serving(WORK / "small", port=port):
        check("DIRECT when the server is back", house.row("SELECT dictGet('d.direct', 'v', 7)"), ["1.75"])


build()
clickhouse = ClickHouse(WORK / "clickhouse")
with serving(WORK / "stores") as redis_port:
    text_keys(clickhouse, redis_port)
    numbers(clickhouse, redis_port)
    types(clickhouse, redis_port)
    rows(clickhouse, redis_port)
    limits(clickhouse, redis_port)
    reloads(clickhouse, redis_port)
tokens(clickhouse)
restarts(clickhouse)
print(f"{len(failures)} failed" if failures else "all right")
sys.exit(bool(failures))
