#!/usr/bin/env python3
"""Records what Redis 7.0.15 answers, as the expected answers of the tests of `bsdb serve --resp`.

    build-support/redis_transcript.py /usr/bin/redis-server [FILE]

FILE is bsdb-tools/src/test/resources/tech/bsdb/tools/serve/resp/redis7.txt unless given; HEAD describes its format.
The script starts one server per section on a free port, and two runs write the same bytes.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

VERSION = "7.0.15"
TARGET = "bsdb-tools/src/test/resources/tech/bsdb/tools/serve/resp/redis7.txt"
QUIET_SECONDS = 0.3
PASSWORD = "secret"
HEAD = """\
What Redis %s answers. Written by build-support/redis_transcript.py; do not edit.

BYTES is one or more pieces, separated by a blank and concatenated. A piece is "TEXT" or "TEXT"*N, which is TEXT repeated
N times. TEXT is ASCII with the escapes \\r \\n \\" \\\\ and \\xNN. ARGUMENTS are pieces likewise, each an argument of its own.

data string ARGUMENTS      a key and its value
data hash ARGUMENTS        a key, then its fields and their values in turn
section NAME DATA          starts a section; DATA is what its server holds: nothing, strings or hashes
password ARGUMENTS         the section's server has this password
> ARGUMENTS                a command, sent on a connection of its own
+ ARGUMENTS                a command, sent next on the connection of the command above
2 BYTES                    its reply on a connection that did not say HELLO
3 BYTES                    its reply on a connection that said HELLO 3 before; absent in sections with a password
closed                     Redis closed the connection after this reply
raw BYTES                  what was sent on a connection of its own (RESP2), not necessarily a command
got BYTES                  everything that was received until Redis closed the connection or fell silent
closed | open              whether Redis closed it

The number of a connection varies: a reply to HELLO contains <id> in its place.
""" % VERSION

STRINGS = [
    (b"hello", b"Hello, world"),
    (b"empty", b""),
    (b"binary", b"a\r\nb\x00c\xff\xfe\"\\"),
    (b"integer", b"12345"),
    (b"negative", b"-17"),
    (b"largest", b"9223372036854775807"),
    (b"too-large", b"9223372036854775808"),
    (b"leading-zero", b"007"),
    (b"bytes-44", b"0123456789" * 4 + b"0123"),
    (b"bytes-45", b"0123456789" * 4 + b"01234"),
    (b"long", b"0123456789" * 300),
    (b"key with blank", b"value with blank"),
    (b"\x00\xff\r\nkey", b"value of a binary key"),
    (b"{tag}key", b"tagged"),
    (b"keyA", b"value of keyA"),
]
HASHES = [
    (b"user:1", [(b"name", b"Ada"), (b"age", b"36"), (b"note", b""), (b"raw", b"\x00\r\n\xff"), (b"field with blank", b"x")]),
    (b"user:2", [(b"name", b"Bob"), (b"note", b"no age")]),
    (b"text", [(b"body", b"0123456789" * 30)]),
    (b"{tag}row", [(b"id", b"7")]),
]

# The answers must not depend on Redis' random order of keys (so every SCAN that finds keys finds one, with a COUNT beyond
# the data), on the time, on the number of reads that a request takes, or on other connections.
# A command is a line of words, or a list where a word has blanks or bytes; a tuple of commands shares a connection.
CONNECTION = [
    "PING", "ping", "PiNg", "PING hello", ["PING", b""], ["PING", b"\x00\r\n"], "PING a b",
    "ECHO hello", ["ECHO", b""], ["ECHO", b"\xff\r\n\x00"], "ECHO", "ECHO a b", "echo hello",
    "HELLO", "hello 2", "HELLO 2", "HELLO 3", "HELLO 4", "HELLO 1", "HELLO 0", "HELLO -1", "HELLO abc", ["HELLO", b""],
    "HELLO 03", "HELLO 9223372036854775808", "HELLO 3 AUTH", "HELLO 3 AUTH default", "HELLO 3 AUTH default secret",
    "HELLO 3 auth default secret", "HELLO 3 AUTH nosuch secret", "HELLO 2 AUTH nosuch secret", "HELLO 3 SETNAME",
    ("HELLO 3 SETNAME app", "CLIENT GETNAME"), ["HELLO", "3", "SETNAME", "a b"], ["HELLO", "3", "SETNAME", b""],
    ("HELLO 3 AUTH default secret SETNAME app", "CLIENT GETNAME"), ("HELLO 3 SETNAME app AUTH nosuch x", "CLIENT GETNAME"),
    "HELLO 3 NOSUCH", "HELLO 3 NOSUCH a", "HELLO 3 SETNAME app NOSUCH", "HELLO AUTH default secret", "HELLO 4 NOSUCH",
    ("HELLO 3", "GET nosuch", "HELLO 2", "GET nosuch", "HELLO", "HELLO 4", "GET nosuch"),
    "AUTH", "AUTH secret", ["AUTH", b""], "AUTH default secret", "AUTH default", "AUTH nosuch secret", "AUTH a b c", "auth secret",
    "SELECT 0", "select 0", "SELECT 99", "SELECT 16", "SELECT -1", "SELECT abc", ["SELECT", b""], "SELECT 00", "SELECT 9223372036854775807",
    "SELECT 9223372036854775808", "SELECT", "SELECT 0 0",
    "RESET", "RESET a", ("CLIENT SETNAME app", "RESET", "CLIENT GETNAME", "GET nosuch"), ("HELLO 3", "RESET", "GET nosuch"),
    "QUIT", "quit", "QUIT a", "QUIT a b",
    "READONLY", "READWRITE", "ASKING", "READONLY a", "READWRITE a", "ASKING a", "CLUSTER INFO", "CLUSTER SLOTS", "CLUSTER NOSUCH", "CLUSTER",
    "CLIENT", "CLIENT GETNAME", "client getname", "CLIENT GETNAME a", "CLIENT SETNAME", "CLIENT SETNAME a b",
    ("CLIENT SETNAME app", "CLIENT GETNAME", ["CLIENT", "SETNAME", b""], "CLIENT GETNAME"),
    ["CLIENT", "SETNAME", "a b"], ["CLIENT", "SETNAME", "a\n"], ["CLIENT", "SETNAME", b"\xff"], ["CLIENT", "SETNAME", "!~"],
    "CLIENT ID a", "CLIENT INFO a", "CLIENT LIST a", "CLIENT NOSUCH", "CLIENT nosuch a b", "CLIENT NO-EVICT", "CLIENT NO-EVICT on",
    "CLIENT NO-EVICT OFF", "CLIENT NO-EVICT bad", "CLIENT NO-EVICT on off", "client no-evict On",
    "CLIENT REPLY", "CLIENT REPLY on", "CLIENT REPLY bad",
]
NEWER = [
    "CLIENT SETINFO LIB-NAME redis-py", "CLIENT SETINFO lib-ver 5.0.1", "client setinfo LIB-NAME a", "CLIENT SETINFO", "CLIENT SETINFO NOSUCH a",
    "CLIENT NO-TOUCH on", "CLIENT NO-TOUCH off", "CLIENT NO-TOUCH",
]
INTROSPECTION = [
    "COMMAND COUNT a", "COMMAND INFO nosuch", "COMMAND INFO get nosuch", "command info GET", "COMMAND INFO mget", "COMMAND INFO exists",
    "COMMAND INFO strlen", "COMMAND INFO getrange", "COMMAND INFO type", "COMMAND INFO ttl", "COMMAND INFO pttl", "COMMAND INFO dbsize",
    "COMMAND INFO scan", "COMMAND INFO randomkey", "COMMAND INFO ping", "COMMAND INFO echo", "COMMAND INFO hello", "COMMAND INFO auth",
    "COMMAND INFO select", "COMMAND INFO reset", "COMMAND INFO quit", "COMMAND INFO readonly", "COMMAND INFO readwrite",
    "COMMAND INFO hget", "COMMAND INFO hmget", "COMMAND INFO hgetall", "COMMAND INFO hexists", "COMMAND INFO hlen", "COMMAND INFO hkeys",
    "COMMAND INFO hvals", "COMMAND INFO hstrlen", "COMMAND INFO object|encoding", "COMMAND INFO client|nosuch", "COMMAND DOCS nosuch",
    "COMMAND DOCS get", "COMMAND NOSUCH", "COMMAND nosuch a", "COMMAND GETKEYS get a", "COMMAND GETKEYS mget a b", "COMMAND GETKEYS ping",
    "COMMAND GETKEYS nosuch", "COMMAND GETKEYS get", "COMMAND GETKEYS",
    "CONFIG", "CONFIG GET", "CONFIG GET nosuch", "CONFIG GET nosuch a", "CONFIG GET appendonly", "CONFIG GET SAVE", "CONFIG GET databases",
    "CONFIG GET maxmemory", "config get proto-max-bulk-len", "CONFIG NOSUCH", "CONFIG nosuch a", "CONFIG RESETSTAT a",
]
UNKNOWN = [
    "NOSUCH", "nosuch", "nosuch a", "NoSuch a b c", ["nosuch", b""], ["nosuch", b"", b""], [b""], ["nosuch", "it's"],
    ["nosuch", b"a\r\nb"], ["nosuch", b"a\x00b", "c"], ["nosuch", b"\xff"], [b"no\r\nsuch"], [b"no\x00such", "a"], [b"\xff\xfe"], [b"get\x00", "a"],
    ["n" * 127], ["n" * 128], ["n" * 129], ["n" * 3000], ["nosuch", "a" * 127], ["nosuch", "a" * 128], ["nosuch", "a" * 129], ["nosuch", "a" * 3000],
    ["nosuch", "a" * 100, "b" * 100, "c"], ["nosuch", "a" * 124, "b"], ["nosuch", "a" * 125, "b"], ["nosuch", "a" * 126, "b"], ["nosuch"] + ["arg%d" % i for i in range(30)],
    ["nosuch"] + ["a"] * 100, ["n" * 200, "a" * 200], "GET|x a", "client|id", "object|encoding hello", "GE", "GETT a", "get\t a",
]
# Commands about other types.
OTHER_TYPES = (
    "LINDEX K 0", "LLEN K", "LPOS K a", "LPOS K a COUNT 2", "LRANGE K 0 -1", "SCARD K", "SDIFF K", "SINTER K", "SUNION K nosuch", "SINTERCARD 1 K", "SISMEMBER K a", "SMISMEMBER K a b", "SMEMBERS K", "SRANDMEMBER K", "SRANDMEMBER K 2", "SSCAN K 0",
    "ZCARD K", "ZCOUNT K 0 1", "ZLEXCOUNT K - +", "ZSCORE K a", "ZMSCORE K a b", "ZRANK K a", "ZREVRANK K a", "ZRANGE K 0 -1", "ZRANGE K 0 -1 WITHSCORES", "ZRANGEBYSCORE K 0 1", "ZRANGEBYLEX K - +", "ZREVRANGE K 0 -1", "ZREVRANGEBYSCORE K 1 0", "ZREVRANGEBYLEX K + -", "ZRANDMEMBER K", "ZRANDMEMBER K 2", "ZSCAN K 0",
    "ZINTER 1 K", "ZUNION 1 K", "ZDIFF 1 K", "ZINTERCARD 1 K", "ZINTER 2 K", "ZUNION 0 K", "ZDIFF a K", "ZINTERCARD 0 K", "SINTERCARD 2 K", "XLEN K", "XRANGE K - +", "XREVRANGE K + -", "XINFO STREAM K", "XINFO GROUPS K", "GEODIST K a b", "GEOHASH K a b", "GEOPOS K a b", "SORT_RO K",
    "GEOSEARCH K FROMLONLAT 0 0 BYRADIUS 1 km", "GEORADIUS_RO K 0 0 1 km", "LLEN", "ZSCORE K", "SMEMBERS K a",
)


def other_types(key):
    return [" ".join(key if word == "K" else word for word in command.split(" ")) for command in OTHER_TYPES]


KEYSPACE = [
    "DBSIZE", "dbsize", "DBSIZE a",
    "SCAN", "SCAN abc", "SCAN -1 MATCH nosuch COUNT 1000", "SCAN 1.5", ["SCAN", b"", "MATCH", "nosuch", "COUNT", "1000"], ["SCAN", " 0"], "SCAN 00 MATCH nosuch COUNT 1000", "SCAN 18446744073709551616", "SCAN 0 COUNT", "SCAN 0 COUNT 0", "SCAN 0 COUNT -1",
    "SCAN 0 COUNT abc", "SCAN 0 COUNT 9223372036854775808", "SCAN 0 MATCH", "SCAN 0 TYPE", "SCAN 0 NOSUCH", "SCAN 0 NOSUCH a", "SCAN 0 COUNT 10 NOSUCH", "SCAN abc COUNT 0", "SCAN 0 COUNT abc NOSUCH",
    "SCAN 0 MATCH nosuch* COUNT 1000", "scan 0 match nosuch count 1000", "SCAN 0 COUNT 1000 TYPE list", "SCAN 0 COUNT 1000 TYPE nosuch",
    "SCAN 0 MATCH nosuch MATCH nosuch COUNT 1 COUNT 1000",
    "OBJECT", "OBJECT ENCODING", "OBJECT ENCODING nosuch", "object encoding nosuch", "OBJECT ENCODING a b", "OBJECT NOSUCH", "OBJECT nosuch a",
    "OBJECT REFCOUNT nosuch", "OBJECT REFCOUNT", "OBJECT IDLETIME nosuch", "OBJECT IDLETIME", "OBJECT FREQ nosuch", "OBJECT FREQ",
    "TYPE nosuch", "TYPE", "TYPE a b", "TTL nosuch", "TTL", "TTL a b", "PTTL nosuch", "PTTL", "PTTL a b",
    "EXISTS", "EXISTS nosuch", "EXISTS nosuch nosuch", "GET", "GET nosuch", "GET a b", "get nosuch", ["GET", b""], "MGET", "MGET nosuch", "MGET nosuch nosuch",
    "STRLEN", "STRLEN nosuch", "STRLEN a b", "GETRANGE nosuch 0 -1", "GETRANGE nosuch a b", "GETRANGE", "GETRANGE a 0", "GETRANGE a 0 1 2",
    "HGET nosuch f", "HGET", "HGET nosuch", "HGET nosuch f g", "HMGET nosuch f", "HMGET nosuch f g f", "HMGET", "HMGET nosuch",
    "HGETALL nosuch", "HGETALL", "HGETALL a b", "HEXISTS nosuch f", "HEXISTS nosuch", "HEXISTS a f g", "HLEN nosuch", "HLEN", "HLEN a b",
    "HSCAN nosuch 0", "HSCAN nosuch 0 COUNT 5", "HSCAN", "HSCAN nosuch", "HSCAN nosuch abc", "HRANDFIELD nosuch", "HRANDFIELD nosuch 3", "HRANDFIELD nosuch -3", "HRANDFIELD nosuch 3 WITHVALUES", "HRANDFIELD nosuch a",
    "HRANDFIELD", "HRANDFIELD nosuch 1 NOSUCH", "HRANDFIELD nosuch 1 WITHVALUES a",
    "DUMP nosuch", "DUMP", "EXPIRETIME nosuch", "PEXPIRETIME nosuch", "EXPIRETIME", "OBJECT REFCOUNT a b", "MEMORY USAGE nosuch", "MEMORY USAGE", "MEMORY USAGE nosuch SAMPLES 5", "MEMORY USAGE nosuch SAMPLES", "MEMORY USAGE nosuch NOSUCH 5", "MEMORY NOSUCH", "MEMORY",
    "GETBIT nosuch 0", "GETBIT nosuch -1", "GETBIT nosuch 4294967295", "GETBIT nosuch 4294967296", "GETBIT nosuch a", "GETBIT", "BITCOUNT nosuch", "BITCOUNT", "BITCOUNT nosuch 0", "BITCOUNT nosuch 0 -1 BIT", "BITPOS nosuch 0", "BITPOS nosuch 1", "BITPOS nosuch 2", "BITPOS nosuch a", "BITPOS nosuch 1 0 -1 BIT", "BITPOS", "BITPOS nosuch",
    "LCS nosuch nosuch2", "LCS nosuch nosuch2 LEN", "LCS nosuch nosuch2 IDX", "LCS nosuch nosuch2 NOSUCH", "LCS nosuch nosuch2 LEN IDX", "LCS nosuch", "LCS", "LCS nosuch nosuch2 MINMATCHLEN", "LCS nosuch nosuch2 IDX MINMATCHLEN a",
    "KEYS nosuch", "KEYS nosuch*", "KEYS", "KEYS a b",
    "WATCH", "WATCH nosuch", "WATCH a b", "UNWATCH", "UNWATCH a", ("WATCH nosuch", "MULTI", "GET nosuch", "EXEC"), ("MULTI", "WATCH a", "EXEC"), ("MULTI", "UNWATCH", "EXEC"), ("WATCH a", "UNWATCH", "MULTI", "EXEC"), ("WATCH a", "MULTI", "DISCARD", "MULTI", "EXEC"),
    "TIME a", "ROLE", "ROLE a", "WAIT 0 0", "WAIT", "WAIT a 0", "WAIT 0 a", "WAIT 0 -1", "LASTSAVE a", "ACL WHOAMI", "ACL WHOAMI a", "ACL USERS", "ACL NOSUCH", "ACL",
    "CLIENT LIST TYPE nosuch", "CLIENT LIST TYPE", "CLIENT LIST ID", "CLIENT LIST ID a", "CLIENT LIST NOSUCH a", "CLIENT LIST TYPE pubsub", "CLIENT UNPAUSE", "CLIENT UNPAUSE a", "CLIENT GETREDIR", "CLIENT CACHING YES", "CLIENT CACHING", "CLIENT TRACKING", "CLIENT TRACKING maybe", "CLIENT TRACKING OFF", "CLIENT TRACKINGINFO", "CLIENT TRACKING ON NOSUCH", "CLIENT TRACKING ON PREFIX a",
    "CLIENT TRACKING ON BCAST OPTIN", "CLIENT TRACKING ON OPTIN OPTOUT", "CLIENT TRACKING ON REDIRECT",
    "SLOWLOG GET", "SLOWLOG GET 5", "SLOWLOG LEN", "SLOWLOG RESET", "SLOWLOG", "SLOWLOG NOSUCH", "LATENCY LATEST", "LATENCY HISTORY a", "LATENCY RESET", "LATENCY RESET a", "LATENCY HISTOGRAM nosuch", "LATENCY", "MODULE LIST", "MODULE", "PUBSUB CHANNELS", "PUBSUB CHANNELS a*", "PUBSUB NUMSUB", "PUBSUB NUMSUB a b", "PUBSUB NUMPAT", "PUBSUB SHARDCHANNELS", "PUBSUB SHARDNUMSUB a", "PUBSUB",
    "SCRIPT EXISTS a", "SCRIPT EXISTS a b", "SCRIPT EXISTS", "SCRIPT", "FUNCTION LIST",
    "HKEYS nosuch", "HKEYS", "HKEYS a b", "HVALS nosuch", "HVALS", "HVALS a b", "HSTRLEN nosuch f", "HSTRLEN nosuch", "HSTRLEN a f g",
] + other_types("nosuch")
EMPTY = ["RANDOMKEY", "randomkey", "RANDOMKEY a", "SCAN 0", "SCAN 0 COUNT 1", "SCAN 5", "SCAN 18446744073709551615"] + KEYSPACE
ON_STRINGS = (
    [[c, k] for c in ("GET", "EXISTS", "STRLEN", "TYPE") for k, _ in STRINGS]
    + [["OBJECT", "ENCODING", k] for k, _ in STRINGS]
    + [
        "get hello", "GET HELLO", "TTL hello", "PTTL hello", "ttl hello", "OBJECT REFCOUNT hello", "OBJECT FREQ hello", "object Encoding hello",
        "EXISTS hello hello", "EXISTS hello nosuch hello empty", "exists hello",
        "MGET hello", "MGET hello nosuch integer", "MGET hello hello empty", ["MGET", "binary", b"\x00\xff\r\nkey", "key with blank", "{tag}key"], "mget hello", "MGET long bytes-45",
        "getrange hello 0 4", "GETRANGE hello 0 -1", "GETRANGE hello 0 0", "GETRANGE hello -5 -1", "GETRANGE hello -1 -5", "GETRANGE hello 7 100", "GETRANGE hello 100 200",
        "GETRANGE hello -100 100", "GETRANGE hello -100 -50", "GETRANGE hello -100 0", "GETRANGE hello 5 3", "GETRANGE hello 11 11", "GETRANGE hello 12 12",
        "GETRANGE hello 9223372036854775807 9223372036854775807", "GETRANGE hello -9223372036854775808 9223372036854775807",
        "GETRANGE hello 9223372036854775808 0", "GETRANGE hello 0 9223372036854775808", "GETRANGE hello -9223372036854775809 0", "GETRANGE hello a 0", "GETRANGE hello 0 a", "GETRANGE hello 1.5 2", "GETRANGE hello +1 2",
        "GETRANGE hello 01 2", ["GETRANGE", "hello", " 1", "2"], ["GETRANGE", "hello", b"", "2"], "GETRANGE hello -0 2", "GETRANGE empty 0 -1", "GETRANGE empty 0 0", "GETRANGE integer 1 3", "GETRANGE negative 0 0", "GETRANGE binary 1 5",
        "GETRANGE long 2990 -1",
        "SCAN 0 MATCH hello COUNT 1000", "SCAN 0 MATCH HELLO COUNT 1000", "SCAN 0 MATCH h?llo COUNT 1000", "SCAN 0 MATCH h[a-f]llo COUNT 1000", "SCAN 0 MATCH h[^a]llo COUNT 1000", "SCAN 0 MATCH h[^e]llo COUNT 1000",
        "SCAN 0 MATCH hel* COUNT 1000", "SCAN 0 MATCH *ello COUNT 1000", "SCAN 0 MATCH h\\ello COUNT 1000", "SCAN 0 MATCH {tag}* COUNT 1000", "SCAN 0 MATCH hello COUNT 1000 TYPE string", "SCAN 0 MATCH hello COUNT 1000 TYPE STRING",
        "SCAN 0 MATCH hello COUNT 1000 TYPE hash", "SCAN 0 TYPE hash COUNT 1000", "SCAN 0 COUNT 9223372036854775807 MATCH hello", ["SCAN", "0", "MATCH", b"\x00\xff*", "COUNT", "1000"], ["SCAN", "0", "MATCH", b"", "COUNT", "1000"],
        "SCAN 0 MATCH hello MATCH empty COUNT 1000", "SCAN 0 MATCH [hello COUNT 1000", "SCAN 0 MATCH h[f-a]llo COUNT 1000", "SCAN 0 MATCH hello\\ COUNT 1000",
        "HSCAN hello 0", "HRANDFIELD hello", "EXPIRETIME hello", "PEXPIRETIME hello", "OBJECT IDLETIME hello",
        "GETBIT hello 0", "GETBIT hello 1", "GETBIT hello 95", "GETBIT hello 96", "GETBIT binary 8", "BITCOUNT hello", "BITCOUNT hello 0 0", "BITCOUNT hello 1 -2", "BITCOUNT hello -3 -2", "BITCOUNT hello -2 -3", "BITCOUNT hello 5 30 BIT", "BITCOUNT hello -9 -2 BIT", "BITCOUNT hello 0 0 BYTE", "BITCOUNT hello 0 0 NOSUCH", "BITCOUNT hello a 0", "BITCOUNT hello 0", "BITCOUNT empty", "BITCOUNT empty 0 -1", "BITCOUNT binary", "BITCOUNT hello 100 200", "BITCOUNT hello 0 100",
        "BITPOS hello 0", "BITPOS hello 1", "BITPOS hello 1 2", "BITPOS hello 0 2 -1", "BITPOS hello 1 9 30 BIT", "BITPOS hello 0 9 10 BIT", "BITPOS hello 1 100", "BITPOS hello 0 100", "BITPOS empty 0", "BITPOS empty 1", "BITPOS binary 0 5 6", "BITPOS binary 0 5", "BITPOS binary 1 3 3", "BITPOS hello 1 -3 -1", "BITPOS hello 1 -1 -3", "BITPOS hello 2", "BITPOS hello 1 0 0 NOSUCH", "BITPOS hello 1 0 0 BYTE a",
        "LCS hello integer", "LCS bytes-44 long", "LCS bytes-44 long LEN", "LCS bytes-44 bytes-45 IDX", "LCS bytes-44 integer IDX WITHMATCHLEN", "LCS hello keyA IDX", "LCS hello keyA IDX MINMATCHLEN 2 WITHMATCHLEN", "LCS hello keyA", "LCS hello nosuch", "LCS hello empty LEN", "lcs hello keyA len",
        "KEYS hello", "KEYS h?llo", "KEYS {tag}*", ("MULTI", "GETBIT hello 1", "BITCOUNT hello", "LCS hello keyA", "LLEN hello", "EXEC"), ("WATCH hello", "MULTI", "GET hello", "EXEC"),
        "COMMAND GETKEYS mget a b c", "COMMAND GETKEYS object encoding a", "COMMAND GETKEYS lcs a b",
        "HGET hello f", "HMGET hello f", "HMGET hello f g", "HGETALL hello", "HEXISTS hello f", "HLEN hello", "HKEYS hello", "HVALS hello", "HSTRLEN hello f", "HGET empty f", "HGET hello", "hget integer f",
    ]
    + other_types("hello")
    + KEYSPACE
)
ON_HASHES = (
    [[c, k] for c in ("HGETALL", "HLEN", "HKEYS", "HVALS", "TYPE", "EXISTS") for k, _ in HASHES]
    + [["OBJECT", "ENCODING", k] for k, _ in HASHES]
    + [[c, k, f] for c in ("HGET", "HEXISTS", "HSTRLEN", "HMGET") for k, fields in HASHES for f, _ in fields]
    + [
        "HGET user:1 nosuch", "HGET user:2 age", "HGET user:1 NAME", ["HGET", "user:1", b""], "hget user:1 name", "HEXISTS user:2 age", "HSTRLEN user:2 age",
        "HMGET user:1 name age", "HMGET user:1 name nosuch name", "HMGET user:2 age", "HMGET user:1 note raw", "hmget user:1 name", "hgetall user:1", "hkeys user:1", "hvals user:1", "hlen user:1", "hexists user:1 name", "hstrlen user:1 name",
        "GET user:1", "STRLEN user:1", "GETRANGE user:1 0 -1", "GETRANGE user:1 a b", "MGET user:1", "MGET user:1 nosuch user:2", "EXISTS user:1 user:1 nosuch", "TTL user:1", "PTTL user:1",
        "HSCAN user:1 0", "HSCAN user:2 0 COUNT 1", "HSCAN user:1 0 MATCH n*", "HSCAN user:1 0 MATCH nosuch", "HSCAN user:1 5", "HSCAN user:1 0 NOSUCH", "HSCAN user:1 0 MATCH", "HSCAN user:1 0 COUNT 0", "HSCAN user:1 0 COUNT a", "HSCAN user:1 0 TYPE hash", "HRANDFIELD text", "HRANDFIELD text 1", "HRANDFIELD text 5 WITHVALUES", "HRANDFIELD text -2", "HRANDFIELD text -2 WITHVALUES", "HRANDFIELD user:1 0", "HRANDFIELD text 1 NOSUCH", "HRANDFIELD text -9223372036854775808",
        "GETBIT user:1 0", "BITCOUNT user:1", "BITPOS user:1 0", "LCS user:1 user:2", "LCS nosuch user:2", "KEYS user:1", "KEYS user:1*",
        "OBJECT REFCOUNT user:1", "OBJECT FREQ user:1", "OBJECT IDLETIME user:1", "SCAN 0 MATCH user:1 COUNT 1000", "SCAN 0 MATCH user:1 COUNT 1000 TYPE hash", "SCAN 0 MATCH user:1 COUNT 1000 TYPE string", "SCAN 0 COUNT 1000 TYPE string",
    ]
    + other_types("user:1")
    + KEYSPACE
)
WITH_PASSWORD = [
    "GET hello", "get nosuch", "PING", "ECHO a", "NOSUCH", "NOSUCH a", "GET", "DBSIZE", "SELECT 0", "CLIENT GETNAME", "CLIENT NOSUCH", "COMMAND NOSUCH", "CONFIG GET nosuch", "READONLY",
    "QUIT", "RESET", "AUTH", "AUTH a b c", ("AUTH wrong", "GET hello"), ["AUTH", b""], ["AUTH", b"secret\x00"], "AUTH SECRET", "AUTH default wrong", "AUTH nosuch secret", "AUTH DEFAULT secret",
    ("AUTH secret", "GET hello"), ("auth default secret", "GET hello"), ("AUTH secret", "AUTH wrong", "GET hello"), ("AUTH secret", "AUTH default wrong", "GET hello"), ("AUTH wrong", "AUTH secret", "GET hello"),
    ("AUTH secret", "RESET", "GET hello", "AUTH secret", "GET hello"), ("AUTH secret", "HELLO", "HELLO 3", "GET nosuch", "RESET", "GET nosuch"),
    "HELLO", "HELLO 2", ("HELLO 3", "GET hello", "AUTH secret", "GET nosuch"), "HELLO 4", "HELLO abc", "HELLO 3 NOSUCH", "HELLO 3 SETNAME app", "HELLO 3 AUTH default", ("HELLO 3 AUTH default wrong", "GET nosuch"),
    "HELLO 3 AUTH nosuch secret", "HELLO 2 AUTH default wrong", ("HELLO 3 AUTH default secret", "GET nosuch", "GET hello"), ("HELLO 2 AUTH default secret", "GET nosuch"),
    ("HELLO 3 AUTH default secret SETNAME app", "CLIENT GETNAME"), ("HELLO 3 SETNAME app AUTH default secret", "CLIENT GETNAME"), "HELLO 3 SETNAME app AUTH default wrong", "HELLO 4 AUTH default secret",
    ("HELLO 3 AUTH default secret", "RESET", "GET hello", "HELLO 3 AUTH default secret", "GET nosuch"), ("AUTH secret", "HELLO 3 AUTH default wrong", "GET nosuch"),
]

PING = b"*1\r\n$4\r\nPING\r\n"
RAW = [
    # Inline commands.
    b"PING\r\n", b"PING\n", b"ping hello\r\n", b"GET hello\n", b"GET hello\r\n", b"  GET   hello  \r\n", b"\tGET\thello\r\n", b'GET "key with blank"\r\n', b"GET 'key with blank'\r\n",
    b'"GET" "hello"\r\n', b'GET "key\\x41"\r\n', b'GET "key\\x4"\r\n', b'ECHO "\\x00\\xff\\n\\r\\t\\b\\a\\\\\\"\\q"\r\n', b"ECHO '\\x41\\n\\'a'\r\n", b"GET key\\x41\r\n", b'ECHO ""\r\n', b"ECHO ''\r\n", b'""\r\n', b'ECHO a"b"\r\n', b"ECHO \xc3\xa9\xff\r\n",
    b'GET "hello\r\n' + PING, b"GET 'hello\r\n" + PING, b'GET "hello"x\r\n' + PING, b"GET 'hello'x\r\n", b'GET "hello\\"\r\n', b"\r\n" + PING, b"\n" + PING, b"   \r\n" + PING, b"\r\n\r\n\r\nPING\r\n", b"PING\r\r\n", b"PI\rNG\r\n", b"PI\x00NG\r\n", b"PING \x00\r\n" + PING,
    b"NOSUCH a b\r\n", b"GET\r\n", b"PING a b\r\n", b"PING", b"PING\r", b"$4\r\nPING\r\n", b":1\r\n", b"+OK\r\n", b"-ERR\r\n", b"~1\r\n", b"%1\r\n", b"\x00\r\n" + PING, b"\xff\xfe\r\n",
    b"GET " + b"a" * 60000 + b"\r\n", b"a" * 70000, b"a" * 65536, b"a" * 65537,
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"*1\r\n$4\r\nPOST\r\n" + PING, b"*1\r\n$5\r\nhost:\r\n" + PING, b"QUIT\r\nPING\r\n",
    # The count of an array.
    b"*0\r\n" + PING, b"*-1\r\n" + PING, b"*-10\r\n" + PING, b"*-2147483649\r\n" + PING, b"*abc\r\n" + PING, b"*\r\n" + PING, b"* 1\r\n$4\r\nPING\r\n", b"*1 \r\n$4\r\nPING\r\n", b"*+1\r\n$4\r\nPING\r\n", b"*01\r\n$4\r\nPING\r\n", b"*-0\r\n" + PING, b"*1.0\r\n$4\r\nPING\r\n",
    b"*1048576\r\n", b"*1048577\r\n", b"*2147483647\r\n", b"*2147483648\r\n", b"*9223372036854775807\r\n", b"*9223372036854775808\r\n", b"*" + b"1" * 60000, b"*" + b"1" * 70000, b"*1048577\r\n$4\r\nPING\r\n",
    # The length of a string.
    b"*1\r\n:1\r\n", b"*1\r\n+PING\r\n", b"*1\r\nPING\r\n", b"*1\r\n\r\n", b"*1\r\n\x00\r\n", b"*1\r\n\xff\r\n", b"*2\r\n$3\r\nGET\r\n:1\r\n" + PING, b"*1\r\n$-1\r\n" + PING, b"*2\r\n$3\r\nGET\r\n$-1\r\n", b"*1\r\n$abc\r\n", b"*1\r\n$\r\n", b"*1\r\n$ 4\r\nPING\r\n", b"*1\r\n$+4\r\nPING\r\n", b"*1\r\n$04\r\nPING\r\n",
    b"*1\r\n$0\r\n\r\n" + PING, b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", b"*1\r\n$536870912\r\n", b"*1\r\n$536870913\r\n", b"*1\r\n$9223372036854775808\r\n", b"*1\r\n$" + b"1" * 60000, b"*1\r\n$" + b"1" * 70000, b"*1\r\n*1\r\n$4\r\nPING\r\n", b"*2\r\n$3\r\nGET\r\n*1\r\n$5\r\nhello\r\n", b"*" + b"1\r\n*" * 1000,
    # Ends of lines.
    b"*1\n$4\nPING\n", b"*1\r\n$4\nPING\r\n", b"*1\r\n$4\r\nPINGxx" + PING, b"*1\r\n$4\r\nPING\n\n" + PING, b"*1\r\n$4\r\nPINGPONG\r\n" + PING, b"*1\r\n$3\r\nPING\r\n" + PING, b"*1\rx$4\rxPING\r\n" + PING,
    # Less than a command.
    b"", b"*", b"*1", b"*1\r", b"*1\r\n", b"*1\r\n$", b"*1\r\n$4\r\n", b"*1\r\n$4\r\nPING", b"*1\r\n$4\r\nPING\r", b"*2\r\n$3\r\nGET\r\n", PING + b"*2\r\n$3\r\nGET\r\n$5\r\nhel",
    # Pipelines.
    PING * 3, PING + b"PING\r\n" + PING, PING * 100, b"*2\r\n$3\r\nGET\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$6\r\nnosuch\r\n*2\r\n$3\r\nGET\r\n$5\r\nempty\r\n", PING + b"*1\r\n$6\r\nNOSUCH\r\n" + PING, PING + b"*1\r\n$3\r\nGET\r\n" + PING,
    PING + b"*1\r\n$-1\r\n" + PING, PING + b"*abc\r\n" + PING, PING + b'GET "x\r\n' + PING, PING + b"*1\r\n$4\r\nQUIT\r\n" + PING, b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*2\r\n$3\r\nGET\r\n$6\r\nnosuch\r\n*1\r\n$5\r\nRESET\r\n*2\r\n$3\r\nGET\r\n$6\r\nnosuch\r\n", b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*abc\r\n",
    b"CLIENT REPLY SKIP\r\nGET hello\r\nGET hello\r\n", b"CLIENT REPLY SKIP\r\nNOSUCH\r\nPING\r\n", b"CLIENT REPLY OFF\r\nGET hello\r\nMULTI\r\nGET hello\r\nEXEC\r\nDBSIZE\r\nSET a b\r\nSELECT 0\r\nCLIENT REPLY ON\r\nGET hello\r\n",
    b"CLIENT REPLY OFF\r\nPING\r\nNOSUCH\r\nCLIENT REPLY ON\r\nPING\r\n", b"CLIENT REPLY SKIP\r\nPING\r\nPING a\r\n", b"*0\r\n*-1\r\n\r\n" + PING, b"GET long\r\n" * 20,
]
RAW_WITH_PASSWORD = [
    b"GET hello\r\n" + PING, b"*10\r\n", b"*10\r\n" + b"$1\r\na\r\n" * 10, b"*11\r\n", b"*11\r\n" + b"$1\r\na\r\n" * 11, PING + b"*11\r\n" + PING, b"*2147483648\r\n", b"*abc\r\n", b"*1\r\n$16384\r\n", b"*1\r\n$16384\r\n" + b"a" * 16384 + b"\r\n", b"*1\r\n$16385\r\n", b"*2\r\n$4\r\nAUTH\r\n$16385\r\n", b"*2\r\n$4\r\nAUTH\r\n$16384\r\n" + b"a" * 16384 + b"\r\n",
    b"*1\r\n$536870913\r\n", b"*1\r\n$abc\r\n", b"*1\r\n:1\r\n", b"AUTH secret\r\n*11\r\n" + b"$1\r\na\r\n" * 11, b"AUTH secret\r\n*1\r\n$16385\r\n" + b"a" * 16385 + b"\r\n", b"AUTH wrong\r\n*11\r\n", b"AUTH secret\r\nRESET\r\n*11\r\n", b"NOSUCH " + b"a " * 11 + b"\r\n", b"GET " + b"a" * 20000 + b"\r\n",
    b"AUTH secret\r\nGET hello\r\n", b'AUTH "secret\r\n', b"\r\n" + PING, b"*0\r\n" + PING, b"QUIT\r\n" + PING, b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
]

SECTIONS = [
    ("empty", "nothing", None, EMPTY, []),
    ("strings", "strings", None, ON_STRINGS, []),
    ("hashes", "hashes", None, ON_HASHES, []),
    ("connection", "strings", None, CONNECTION, []),
    ("introspection", "strings", None, INTROSPECTION, []),
    ("unknown", "strings", None, UNKNOWN, []),
    ("newer", "strings", None, NEWER, []),
    ("raw", "strings", None, [], RAW),
    ("password", "strings", PASSWORD, WITH_PASSWORD, []),
    ("raw-password", "strings", PASSWORD, [], RAW_WITH_PASSWORD),
]


def arguments(command):
    words = command.split(" ") if isinstance(command, str) else command
    return [word if isinstance(word, bytes) else word.encode() for word in words]


def encoded(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Connection:
    """A connection that reads whole replies and counts what is left over."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        self.buffer += data

    def line(self, at):
        while True:
            end = self.buffer.find(b"\r\n", at)
            if end >= 0:
                return self.buffer[at:end], end + 2
            self.more()

    def end(self, at):
        """Where the reply that starts at `at` ends."""
        line, at = self.line(at)
        kind, rest = line[:1], line[1:]
        if kind in b"$=!":
            if int(rest) < 0:
                return at
            at += int(rest) + 2
            while len(self.buffer) < at:
                self.more()
        elif kind in b"*~>%|":
            for _ in range(int(rest) * (2 if kind in b"%|" else 1)):
                at = self.end(at)
        elif kind not in b"+-:_#,(":
            raise ValueError("no reply: %r" % line)
        return at

    def ask(self, words):
        self.socket.sendall(encoded(words))
        end = self.end(0)
        reply, self.buffer = self.buffer[:end], self.buffer[end:]
        return reply

    def is_closed(self):
        """Whether the server has closed the connection; checks that it has sent nothing else."""
        try:
            reply = self.ask([b"PING", b"sentinel"])
        except (EOFError, ConnectionResetError, BrokenPipeError):
            reply = None
        if reply not in (None, b"$8\r\nsentinel\r\n") and not reply.startswith(b"-NOAUTH") or self.buffer:
            raise ValueError("more than one reply: %r %r" % (reply, self.buffer))
        return reply is None


class Server:
    def __init__(self, executable, password):
        self.executable, self.password = executable, password

    def __enter__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        command = [self.executable, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        if self.password:
            command += ["--requirepass", self.password]
        self.process = subprocess.Popen(
            command, cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for attempt in range(200):
            try:
                Connection(self.port).__exit__()
                return self
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.__exit__()
        raise RuntimeError("redis-server does not accept connections")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.folder.cleanup()

    def load(self, data):
        commands = {
            "nothing": [],
            "strings": [[b"SET", key, value] for key, value in STRINGS],
            "hashes": [[b"HSET", key] + [part for field in fields for part in field] for key, fields in HASHES],
        }
        with Connection(self.port) as connection:
            if self.password:
                connection.ask([b"AUTH", self.password.encode()])
            for command in commands[data]:
                reply = connection.ask(command)
                if reply.startswith(b"-"):
                    raise ValueError(reply)

    def converse(self, commands, version):
        """For every command of one connection, its reply and whether the connection was closed after it."""
        with Connection(self.port) as connection:
            if version == 3:
                connection.ask([b"HELLO", b"3"])
            replies = []
            for command in commands:
                replies.append([masked(connection.ask(arguments(command))), False])
            replies[-1][1] = connection.is_closed()
            return replies

    def raw(self, data):
        with Connection(self.port) as connection:
            received = b""
            try:
                connection.socket.sendall(data)
            except (ConnectionResetError, BrokenPipeError):
                pass
            connection.socket.settimeout(QUIET_SECONDS)
            while True:
                try:
                    piece = connection.socket.recv(65536)
                except socket.timeout:
                    return masked(received), "open"
                except ConnectionResetError:
                    piece = b""
                if not piece:
                    return masked(received), "closed"
                received += piece


def masked(reply):
    return re.sub(rb"(\$2\r\nid\r\n:)\d+", rb"\1<id>", reply)


def escaped(data):
    named = {0x0D: "\\r", 0x0A: "\\n", 0x22: '\\"', 0x5C: "\\\\"}
    return '"%s"' % "".join(named.get(b) or (chr(b) if 0x20 <= b < 0x7F else "\\x%02x" % b) for b in data)


def piece(data):
    """One piece, shortened if it is a repetition throughout."""
    unit = re.fullmatch(rb"(.{1,16}?)\1{19,}", data, re.DOTALL)
    return "%s*%d" % (escaped(unit[1]), len(data) // len(unit[1])) if unit and len(data) > 100 else escaped(data)


def pieces(data):
    """The data as pieces, with its long repetitions shortened."""
    found, at = [], 0
    for repeated in re.finditer(rb"(.{1,16}?)\1{19,}", data, re.DOTALL):
        if len(repeated[0]) > 100:
            found += [data[at:repeated.start()], repeated[0]]
            at = repeated.end()
    return " ".join(piece(part) for part in found + [data[at:]] if part) or '""'


def words(parts):
    return " ".join(piece(part) for part in parts)


def write(out, executable):
    def line(*parts):
        out.append(" ".join(parts))

    for text in HEAD.splitlines():
        line(("# " + text).rstrip())
    line()
    for key, value in STRINGS:
        line("data string", words([key, value]))
    for key, fields in HASHES:
        line("data hash", words([key] + [part for field in fields for part in field]))
    for name, data, password, commands, raws in SECTIONS:
        line()
        line("section", name, data)
        if password:
            line("password", words([password.encode()]))
        with Server(executable, password) as server:
            server.load(data)
            for group in commands:
                group = group if isinstance(group, tuple) else (group,)
                answers = [server.converse(group, 2), None if password else server.converse(group, 3)]
                for i, command in enumerate(group):
                    line("+" if i else ">", words(arguments(command)))
                    closed = {a[i][1] for a in answers if a}
                    for version, answer in zip("23", answers):
                        if answer:
                            line(version, pieces(answer[i][0]))
                    if len(closed) > 1:
                        raise ValueError("closed in one version only: %r" % (group,))
                    if True in closed:
                        line("closed")
            for sent in raws:
                received, state = server.raw(sent)
                line("raw", pieces(sent))
                line("got", pieces(received))
                line(state)


def main():
    executable = os.path.abspath(sys.argv[1])
    target = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", TARGET)
    version = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout
    if "v=%s " % VERSION not in version:
        sys.exit("Redis %s is needed, not %s" % (VERSION, version.strip()))
    out = []
    write(out, executable)
    with open(target, "w", encoding="ascii", newline="\n") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
