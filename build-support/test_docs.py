"""Runs the snippets of the documents; see scripts/test-docs --help.

A block is run according to its language:

  sh, bash        in one bash for each page, as a reader pastes it: statement after statement, each of which must succeed.
                  A server that a statement starts in the background must accept connections before the next one runs; one
                  in the foreground is stopped once it does. Ports are replaced by free ones, in what runs and in what is
                  printed. Under another heading, a new server replaces those from before.
  python, py      in one Python for each page
  java            a class with "main" is compiled and run; all else needs a mark
  json            parsed: as a whole or line by line
  c, cpp, rust, go, js, yaml, xml, toml    checked for syntax, where a tool for it is installed
  none, text      what the block before it printed, if only blank lines are between them; all else needs a mark

Marks are comments before a block, with clauses that semicolons separate:

  <!-- test: given words.txt, ./rdb -->       makes files and databases (FIXTURES below) before the block runs
  <!-- test: before COMMAND -->               runs a command of the shell before the block, such as a server: bsdb serve ... &
  <!-- test: needs docker -->                 only checked where this is missing (NEEDS below)
  <!-- test: needs docker for TEXT | TEXT -->  the same for the statements that contain a text
  <!-- test: exits 1 for TEXT -->             the status of the statements that contain the text
  <!-- test: outputs 2 -->                    so many comments behind statements are what these print; other comments are not
  <!-- test: with TEXT = TEXT -->             replaces a text in what runs, and back in what is printed; {here} is the
                                              directory of the page, {files} a web server for its files, {new} a path at
                                              which nothing is
  <!-- test: output -->                       a plain block, or json, is what the last block printed
  <!-- test: output, numbers vary -->         the same, whatever its numbers are
  <!-- test: output of the last statement --> of that alone
  <!-- test: output by COMMAND -->            the block is what a command, which the page does not show, printed
  <!-- test: text -->                         a plain block is neither run nor compared
  <!-- test: same as FILE -->                 the block is in this file, which another test runs
  <!-- test: fragment CODE -->                a part of a program; CODE (the last clause) declares what it uses: in Java and Python
                                              it runs before the block
  <!-- test: fresh -->                        begins in an empty directory

  <!-- test page: plain blocks are text -->   for a whole page
  <!-- test page: bsdb count is imagined -->  a command that the page lets its readers write

Nothing is ignored: a block of an unknown language, a mark without a block and an unknown clause are failures.
"""

import argparse
import ast
import concurrent.futures
import contextlib
import http.server
import importlib.util
import io
import json
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import tokenize
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tiny_parquet  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
JAR = ROOT / "bsdb-dist/target/bsdb-jar-with-dependencies.jar"
DUCKDB_EXTENSION = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "bsdb-duckdb/target") / "extension/bsdb.duckdb_extension"
PAGES = [
    "README.md",
    "README_CN.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/*.md",
    "docs/guides/*.md",
    "docs/start/*.md",
    "deploy/README.md",
    "native/*/README.md",
    "bsdb-feast/README.md",
    "bsdb-duckdb/README.md",
]
IN_TEXT = -1
NOT_COMMANDS = {"needs", "manifest"}  # words of other texts that the pages quote: bsdb needs Java 17
SECONDS = 600  # for one statement: this only ends what hangs

# ---- What pages may be given ----------------------------------------------------------------------------------------


def parquet(path, **columns):
    return lambda folder: tiny_parquet.write(folder / path, columns)


def parquet_files(folder):
    for day in ("2023-12-31", "2024-01-01"):
        (folder / f"export/day={day}").mkdir(parents=True)
        rows = {"id": [42], "country": ["de"], "name": ["Ann"], "age": [31]}
        tiny_parquet.write(folder / f"export/day={day}/part-0.parquet", {**rows, "id": [int(day[:4])]})
    (folder / "features").mkdir()
    tiny_parquet.write(folder / "features/part-0.parquet", {"id": [1, 2], "vector": [b"\0\1\2\3", b"\3\2\1\0"]})
    tiny_parquet.write(folder / "users.parquet", {"user_id": [42, 43], "name": ["Ann", "Bob"]})


def delta_tables(folder):
    """Tables of Delta Lake: users with the versions 0 to 18, one a day from 2024-01-15, and changes."""
    users = {"id": [42, 43], "name": ["Ann", "Bob"], "age": [31, 28]}
    for name, versions, rows in (("users", 19, users), ("changes", 1, {"id": [43], "name": ["Bob"], "age": [28], "gone": ["true"]})):
        log = folder / name / "_delta_log"
        log.mkdir(parents=True)
        tiny_parquet.write(folder / name / "part-0.parquet", rows)
        fields = [
            {"name": column, "type": "string" if isinstance(values[0], str) else "long", "nullable": True, "metadata": {}}
            for column, values in rows.items()
        ]
        add = {"path": "part-0.parquet", "partitionValues": {}, "modificationTime": 0, "dataChange": True}
        add["size"] = (folder / name / "part-0.parquet").stat().st_size
        schema = json.dumps({"type": "struct", "fields": fields})
        meta = {"id": name, "format": {"provider": "parquet", "options": {}}, "schemaString": schema}
        first = [
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {"metaData": {**meta, "partitionColumns": [], "configuration": {}}},
            {"add": add},
        ]
        for version in range(versions):
            commit = log / f"{version:020}.json"
            commit.write_text("".join(json.dumps(each) + "\n" for each in first) if version == 0 else '{"commitInfo": {}}\n')
            day = 1705276800 + version * 86400  # 2024-01-15
            os.utime(commit, (day, day))


def duckdb_extension(folder):
    """What scripts/test-duckdb has built; nothing if it has not, as the pages that need it are then only checked."""
    (folder / "duckdb").mkdir()
    if DUCKDB_EXTENSION.exists():
        shutil.copy(DUCKDB_EXTENSION, folder / "duckdb")


# Commands of bash, or a function; those that need others name them. Each is made once and copied to the pages.
FIXTURES = {
    "words.txt": ("printf 'apple a fruit\\ncarrot a root\\n' >words.txt",),
    "monday.txt": ("printf 'apple a fruit\\ncarrot a root\\n' >monday.txt",),
    "tuesday.txt": ("printf 'apple a fruit\\ncarrot a root\\nplum a stone fruit\\n' >tuesday.txt",),
    "keys.txt": ("printf 'apple\\ncarrot\\n' >keys.txt",),
    "./rdb": ("bsdb build -q -i words.txt -o ./rdb", "words.txt"),
    "./yesterday": (
        "printf 'apple a fruit\\nplum a stone fruit\\n' | bsdb build -q -i - -o ./yesterday",
    ),
    "users.parquet": (parquet("users.parquet", id=[42, 43], name=["Ann", "Bob"], age=[31, 28]),),
    "./store": ("bsdb publish -q ./rdb ./store --version monday", "./rdb"),
    "fruits.txt": ("printf 'apple red\\npear green\\nplum blue\\n' >fruits.txt",),
    "visits": ("printf 'user:42:a 1\\nuser:42:b 2\\nuser:7:a 3\\n' | bsdb build -q -i - -o ./visits --ordered",),
    # Files of many forms; the content of a directory goes to that of the page.
    "build/*": (
        """
        mkdir build build/export && cd build
        printf 'apple\\ta fruit\\n' >export/1.tsv
        printf 'a 1\\n' >a.txt
        printf 'b 2\\n' | gzip >b.txt.gz
        if command -v zstd >/dev/null; then printf 'c 3\\n' | zstd -q >c.txt.zst; fi
        printf 'id,name\\n1,Ann\\n' >users.csv
        printf '{"id":"1","what":"login"}\\n' >events.jsonl
        printf 'apple a tree\\n' >new.txt
        printf 'a 1\\nb\\na 3\\n' >bad.txt
        printf 'a 1\\na 2\\na 3\\n' >again.txt
        printf 'a 1\\nbad\\nb 2\\n' >dirty.txt
        """,
    ),
    "merge/*": (
        """
        mkdir merge && cd merge
        printf 'carrot a vegetable\\nplum a stone fruit\\n' >today.txt
        printf 'plum a stone fruit\\n' | gzip >mon.gz
        printf 'plum a fruit\\n' | gzip >tue.gz
        printf 'carrot\\n' >gone.txt
        printf 'id,name\\n1,Ann\\n2,Bob\\n' | bsdb build -q --csv --key-column id -i - -o ./users
        printf 'id,name,op\\n1,Anna,U\\n2,Bob,D\\n' >log.csv
        """,
    ),
    "parquet/*": (lambda folder: parquet_files(folder / "parquet"),),
    "lake": (lambda folder: delta_tables(folder / "lake"),),
    # Needs pyarrow and fastavro.
    "formats/*": (
        """
        mkdir -p formats/export && cd formats
        python - <<'END'
        import fastavro, pyarrow as pa, pyarrow.feather, pyarrow.orc
        fields = [("id", "long"), ("name", "string"), ("age", "int"), ("op", "string")]
        for path, rows in (
            ("users.avro", [(42, "Ann", 31), (43, "Bob", 28)]),
            ("today.avro", [(42, "Anna", 32, "U"), (43, "Bob", 28, "D")]),
        ):
            columns = [{"name": name, "type": kind} for name, kind in fields[: len(rows[0])]]
            with open(path, "wb") as file:
                rows = [{each["name"]: value for each, value in zip(columns, row)} for row in rows]
                fastavro.writer(file, {"type": "record", "name": "User", "fields": columns}, rows)
        users = {"id": [42, 43], "name": ["Ann", "Bob"], "age": [31, 28]}
        pyarrow.orc.write_table(pa.table(users), "export/part-0.orc")
        vectors = {"country": ["de", "fr"], "id": [1, 2], "vector": pa.array([b"0000", b"0001"], pa.binary(4))}
        pyarrow.feather.write_feather(pa.table(vectors), "features.arrow")
        END
        """,
    ),
    # Typed rows.
    "lookup/rdb": (
        """
        mkdir lookup
        echo '{"type": "record", "name": "Item", "fields": [{"name": "id", "type": "string"},
          {"name": "name", "type": "string"}, {"name": "price", "type": "double"}]}' >items.avsc
        printf 'id,name,price\\napple,Apple,1.5\\npear,Pear,2\\n-5,Minus,3\\nuser:42:a,Ann,4\\n42,Answer,5\\n' >items.csv
        bsdb build -q --csv --key-column id --avro-schema items.avsc -i items.csv -o lookup/rdb --ordered
        """,
    ),
    "rows/orders": (
        """
        mkdir rows
        echo '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
          {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
          {"name": "ordered", "type": {"type": "long", "logicalType": "timestamp-millis"}},
          {"name": "tags", "type": {"type": "array", "items": "string"}},
          {"name": "note", "type": ["null", "string"], "default": null}]}' >tagged.avsc
        echo '{"id": 42, "price": 1.5, "ordered": "2024-01-31T12:34:56.789Z", "tags": ["a", "b"]}' >tagged.jsonl
        bsdb build -q --jsonl --key-field id --avro-schema tagged.avsc -i tagged.jsonl -o rows/orders
        """,
    ),
    "orders": (
        """
        echo '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
          {"name": "price", "type": "double"}, {"name": "note", "type": ["null", "string"], "default": null}]}' >orders.avsc
        printf '{"id": 42, "price": 1.5, "note": "gift"}\\n{"id": 43, "price": 20.0}\\n' >orders.jsonl
        bsdb build -q --jsonl --key-field id --avro-schema orders.avsc -i orders.jsonl -o ./orders
        """,
    ),
    "stores/users": (
        """
        echo '{"type": "record", "name": "User", "fields": [{"name": "id", "type": "string"},
          {"name": "age", "type": "long"}]}' >users.avsc
        printf 'id,age\\nuser-42,42\\nuser-43,43\\n' >users.csv
        bsdb build -q --csv --key-column id --avro-schema users.avsc -i users.csv -o ./user-rows
        bsdb publish -q ./user-rows ./stores/users
        """,
    ),
    "duckdb": (duckdb_extension,),
    # Five vectors of 128 floats.
    "vectors": (
        """
        for i in 0 1 2 3 4; do printf 'v%d ' $i; for j in $(seq 128); do printf '0000803f'; done; echo; done >vectors.txt
        bsdb build -q -i vectors.txt --value-encoding hex -o ./vectors
        """,
    ),
}

# ---- What machines may lack -----------------------------------------------------------------------------------------


def tool(*names):
    return lambda python: all(shutil.which(name) for name in names)


def module(name):
    def found(python):
        code = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({name!r}))"
        return subprocess.run([python, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    return found


def beside(name):
    """A command of the environment of Python."""
    return lambda python: os.access(Path(python).absolute().parent / name, os.X_OK)


def never(python):
    return False


# How to find out whether it is here; "never" for what a test must not touch even if it is.
NEEDS = {
    "jq": tool("jq"),
    "zstd": tool("zstd", "zstdcat"),
    "openssl": tool("openssl"),
    "rsync": tool("rsync"),
    "redis-cli": tool("redis-cli", "redis-benchmark"),
    "bsdbkv": module("bsdbkv"),
    "bsdb-feast": beside("bsdb-feast"),
    "numpy": module("numpy"),
    "pyarrow": module("pyarrow"),
    "pandas": module("pandas"),
    "torch": module("torch"),
    "redis-py": module("redis"),
    "fastavro": module("fastavro"),
    "chdb": module("chdb"),
    "bsdb-duckdb": lambda python: DUCKDB_EXTENSION.exists() and module("duckdb")(python),
    "clickhouse": never,
    "docker": never,
    "kubernetes": never,
    "systemd": never,
    "hadoop": never,
    "spark": never,
    "flink": never,
    "trino": never,
    "an object store": never,
    "another machine": never,
    "opentelemetry": never,
    "prometheus": never,
    "a release": never,
    "maven": never,
    "git": never,
    "cargo": never,
    "pip": never,
    "minutes": never,
    "a program around it": never,
}

SHELL, PYTHON, PLAIN = ("sh", "bash"), ("python", "py"), ("", "text", "txt")
SYNTAX_ONLY = ("json", "c", "cpp", "rust", "go", "js", "sql", "yaml", "xml", "toml")
PORTS = re.compile(r"(?<![\d.,-])(999\d|6379|6380|700[1-9]|800[1-9]|8080)(?![\d])(?!\.\d)")


class Failure(Exception):
    def __init__(self, line, message):
        super().__init__(message)
        self.line, self.message = line, message


# ---- Pages ----------------------------------------------------------------------------------------------------------


class Marks:
    """The clauses of a comment before a block."""

    def __init__(self, text, line):
        self.line = line
        self.given, self.needs, self.needs_for, self.exits, self.subs, self.before = [], [], [], [], [], []
        self.outputs, self.output, self.vary, self.of_last, self.text, self.fresh = 0, False, False, False, False, False
        self.by = []
        self.same_as = self.fragment = None
        head, mark, code = re.match(r"(.*?)(?:(?:^|; *)(fragment)(?: (.*))?)?$", text, re.S).groups()
        if mark:
            self.fragment = code or ""
        for clause in filter(None, (each.strip() for each in head.split("; "))):
            self.add(clause.rstrip(";"))

    def add(self, clause):
        word, _, rest = clause.partition(" ")
        if word == "given":
            self.given += [each.strip() for each in rest.split(",")]
            unknown = [each for each in self.given if each not in FIXTURES]
            if unknown:
                raise Failure(self.line, f"unknown in a mark: given {', '.join(unknown)} (known: {', '.join(FIXTURES)})")
        elif word == "needs":
            names, _, texts = rest.partition(" for ")
            names = [each.strip() for each in names.split(",")]
            unknown = [each for each in names if each not in NEEDS]
            if unknown:
                raise Failure(self.line, f"unknown in a mark: needs {', '.join(unknown)} (known: {', '.join(NEEDS)})")
            if texts:
                self.needs_for.append((names, texts.split(" | ")))
            else:
                self.needs += names
        elif found := re.fullmatch(r"exits (\d+) for (.+)", clause):
            self.exits.append((int(found[1]), found[2]))
        elif found := re.fullmatch(r"outputs (\d+)", clause):
            self.outputs = int(found[1])
        elif found := re.fullmatch(r"with (.+) = (.+)", clause):
            self.subs.append((found[1], found[2]))
        elif word == "before" and rest:
            self.before.append(rest)
        elif clause in ("output", "output, numbers vary", "output of the last statement"):
            self.output, self.vary, self.of_last = True, clause.endswith("vary"), clause.endswith("statement")
        elif clause.startswith("output by "):
            self.output = True
            self.by.append(clause[len("output by ") :])
        elif clause == "numbers vary":
            self.vary = True
        elif clause in ("text", "fresh"):
            setattr(self, clause, True)
        elif word == "same" and rest.startswith("as "):
            self.same_as = rest[3:]
        else:
            raise Failure(self.line, f'unknown clause in a mark: "{clause}"')


class Block:
    def __init__(self, line, language, text, marks, section, adjacent):
        self.line, self.language, self.text, self.marks = line, language, text, marks
        self.section, self.adjacent = section, adjacent
        self.needs_missing, self.statements, self.expected = [], [], []


class Page:
    """A document: its blocks, and the code in its text."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        self.blocks, self.spans, self.failures = [], [], []
        self.plain_is_text, self.imagined = False, set()
        self.parse(path.read_text(encoding="utf-8").split("\n"))

    def parse(self, lines):
        marks, section, adjacent, i = None, 0, False, 0
        within, blank = False, True  # a list or tab, whose content is indented; whether the line before is blank
        while i < len(lines):
            line = lines[i]
            number = i + 1
            fence = re.match(r"^(\s*)(`{3,}|~{3,})\s*(.*)$", line)
            if fence and "`" not in fence[3]:
                indent, end = fence[1], i + 1
                while end < len(lines) and lines[end].strip() != fence[2]:
                    end += 1
                if end == len(lines):
                    self.failures.append((number, "the block does not end"))
                    return
                body = [each[len(indent) :] if each.startswith(indent) else each.lstrip() for each in lines[i + 1 : end]]
                info = fence[3].strip().strip("{}").strip().lstrip(".")
                language = re.split(r"[\s,]", info)[0]
                used = marks or Marks("", number)
                self.blocks.append(Block(number, language, "\n".join(body) + "\n", used, section, adjacent))
                marks, adjacent, i = None, True, end + 1
                continue
            if re.match(r"\s*(>|[-*+] |\d+\. ).*(```|~~~)", line) and "`" not in re.sub(r".*?(```+|~~~+)", "", line, count=1):
                self.failures.append((number, "a block in a quotation, or that begins with a list: begin it on a line of its own"))
            if re.match(r"( {4}|\t)", line) and blank and not within and line.strip():
                self.failures.append((number, "an indented block: use a fence"))
            if line.strip():
                starts = re.match(r"\s*([-*+] |\d+\. |===|!!!|\?\?\?|<)", line)
                within = bool(starts) or (within and line[0] in " \t")
            blank = not line.strip()
            if line.strip().startswith("<!-- test"):
                text = line.strip()
                while "-->" not in text and i + 1 < len(lines):
                    i += 1
                    text += " " + lines[i].strip()
                found = re.fullmatch(r"<!-- test( page)?: (.*?) *-->", text)
                try:
                    if not found:
                        raise Failure(number, f"not a mark: {text}")
                    if found[1]:
                        if found[2] == "plain blocks are text":
                            self.plain_is_text = True
                        elif name := re.fullmatch(r"bsdb (\S+) is imagined", found[2]):
                            self.imagined.add(name[1])
                        else:
                            raise Failure(number, f'unknown mark of a page: "{found[2]}"')
                    else:
                        if marks:
                            raise Failure(marks.line, "a mark without a block")
                        marks = Marks(found[2], number)
                except Failure as failure:
                    self.failures.append((failure.line, failure.message))
            elif line.strip():
                if marks:
                    self.failures.append((marks.line, "a mark without a block: only blank lines may be between them"))
                    marks = None
                adjacent = adjacent and line.strip().startswith("<!--")
                if re.match(r"#{1,6} ", line):
                    section += 1
                self.spans += [(number, span) for span in re.findall(r"`([^`]+)`", line)]
            i += 1
        if marks:
            self.failures.append((marks.line, "a mark without a block"))


# ---- Shell ----------------------------------------------------------------------------------------------------------

# Commands that no test of documents may run, whatever is installed.
FOREIGN = re.compile(
    r"sudo|su|docker|podman|kubectl|helm|git|mvn|(\./)?mvnw|cargo|rustup|systemctl|journalctl|apt|apt-get|dpkg|dnf|brew|pip3?|uv|npm|gpg"
    r"|kinit|ssh|scp|rsync|promtool|prometheus|\$EDITOR|(\./)?scripts/(?!bsdb$)[\w.-]+|(native|build-support)/[\w./-]+"
)
KEYWORDS = {"if", "then", "else", "elif", "fi", "for", "do", "done", "while", "until", "case", "esac", "!", "{", "}", "time", "exec"}


class ShellText:
    """The simple commands in a text of the shell, as lists of words, and the comments behind them, by line."""

    def __init__(self, text):
        self.text, self.i, self.commands, self.comments = text, 0, [], {}
        self.ends_in_background = False
        self.scan("")

    def line(self):
        return self.text.count("\n", 0, self.i)

    def scan(self, until):
        words, word, skip, bodies, begins = [], None, False, [], self.line()
        text = self.text

        def end_word():
            nonlocal word, skip
            if word is not None:
                if skip == "body":
                    bodies.append(word)
                elif not skip:
                    words.append(word)
                skip = False
            word = None

        def end_command():
            nonlocal words, begins
            end_word()
            if words:
                self.commands.append((begins, words))
            words, begins = [], self.line()

        while self.i < len(text):
            c = text[self.i]
            rest = text[self.i :]
            if until and c == until:
                end_command()
                return
            self.i += 1
            if c == "\\":
                if self.i < len(text) and text[self.i] != "\n":
                    word = (word or "") + text[self.i]
                self.i += 1
            elif c == "'":
                end = text.find("'", self.i)
                end = len(text) if end < 0 else end
                word = (word or "") + text[self.i : end]
                self.i = end + 1
            elif c == '"':
                word = word or ""
                while self.i < len(text) and text[self.i] != '"':
                    if text[self.i] == "\\":
                        self.i += 1
                    if text.startswith("$(", self.i) and text[self.i - 1] != "\\":
                        self.i += 2
                        self.scan(")")
                        word += "VALUE"
                    else:
                        word += text[self.i]
                    self.i += 1
                self.i += 1
            elif rest.startswith("$(") or rest.startswith("<("):
                self.i += 1
                self.scan(")")
                self.i += 1
                word = (word or "") + "VALUE"
            elif rest.startswith("${"):
                end = text.find("}", self.i)
                word = (word or "") + text[self.i - 1 : end + 1]
                self.i = end + 1
            elif c == "#" and word is None:
                end = text.find("\n", self.i)
                end = len(text) if end < 0 else end
                if words:
                    self.comments[self.line()] = text[self.i : end].strip()
                elif self.commands and self.commands[-1][0] == self.line():
                    self.comments[self.line()] = text[self.i : end].strip()
                self.i = end
            elif c in "<>":
                if word is not None and not word.isdigit():
                    end_word()
                word = None
                skip = True
                if rest.startswith("<<") and not rest.startswith("<<<"):
                    skip = "body"
                while self.i < len(text) and text[self.i] in "<>&-|":
                    self.i += 1
            elif c == "\n":
                end_command()
                for body in bodies:
                    while self.i < len(text):
                        end = text.find("\n", self.i)
                        end = len(text) if end < 0 else end
                        line, self.i = text[self.i : end], end + 1
                        if line.strip("\t") == body:
                            break
                bodies = []
                begins = self.line()
            elif c in ";|&(){}" and not (c in "{}" and (word is not None or rest[1:2] not in (" ", "\n", ";", ""))):
                end_command()
                if c == "&":
                    self.ends_in_background = not rest.startswith("&&") and not rest.startswith("&>")
                if rest.startswith("&&"):
                    self.i += 1
            elif c in " \t":
                end_word()
            else:
                word = (word or "") + c
                self.ends_in_background = False
        end_command()

    def bsdb(self):
        """The arguments of each call of bsdb, with the lines."""
        for line, words in self.commands:
            at = 0
            while at < len(words) and (words[at] in KEYWORDS | {"sudo", "nohup"} or re.match(r"\w+=", words[at])):
                at += 1
            words = words[at:]
            if not words:
                continue
            if words[0].split("/")[-1] == "bsdb":
                yield line, words[1:]
            elif words[0].startswith("python") and words[1:3] == ["-m", "bsdbkv"]:
                yield line, words[3:]
            elif words[:2] == ["docker", "run"]:
                image = [at for at, word in enumerate(words) if re.fullmatch(r"bsdb:[\w.-]+", word)]
                if image and words[image[0] + 1 :]:
                    yield line, words[image[0] + 1 :]


def bash_accepts(text):
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    complete = done.returncode == 0 and not done.stderr and not re.search(r"(?<!\\)(\\\\)*\\\n?$", text)
    return complete, done.stderr


def statements(text):
    """Pairs of a line, from 0, and the text of a statement that begins there."""
    found, lines, at = [], text.rstrip("\n").split("\n"), 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        for end in range(at + 1, len(lines) + 1):
            part = "\n".join(lines[at:end]) + "\n"
            complete, message = bash_accepts(part)
            if complete:
                break
        else:
            raise Failure(at, "syntax error: " + re.sub(r"bash: line (\d+): ", "", message.strip() or "the statement does not end"))
        found.append((at, part))
        at = end
    return found


# ---- Comparing ------------------------------------------------------------------------------------------------------


def words_of(text):
    return [word.strip(",;") for word in text.replace('"', "").split() if word.strip(",;") not in ("", "and", "nil")]


def is_output(comment, out):
    """Whether a comment, or a part of it, is what a statement printed."""
    parts = [comment, *re.split(r": |; | \(", comment)]
    parts += [comment[at.end() :] for at in re.finditer(r": ", comment)]
    want = [out.strip(), out.strip().replace("\n", ", "), out.strip().replace("\n", " ")]
    for part in parts:
        part = re.sub(r"^prints ", "", part.strip())
        if part in want or (part and words_of(part) == words_of(out)):
            return True
    return False


VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "<time>"),
    (re.compile(r"\b[0-9a-f]{16,}\b"), "<id>"),
    (re.compile(r"-[0-9a-f]{8}(?=\.bsdb)"), "-<id>"),
    (re.compile(r"\b\d+(\.\d+)? (s|ms|µs|ns)\b"), "<duration>"),
]


def normal(line, vary):
    line = line.rstrip()
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return re.sub(r"\d[\d,.]*", "N", line) if vary else line


def line_matches(expected, actual):
    if "..." not in expected:
        return expected == actual
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), actual) is not None


def interleaves(expected, out, err):
    """Whether the lines are all of out and some of err, each in order."""
    states = {(0, 0)}
    for line in expected:
        following = set()
        for at, past in states:
            if at < len(out) and line_matches(line, out[at]):
                following.add((at + 1, past))
            for e in range(past, len(err)):
                if line_matches(line, err[e]):
                    following.add((at, e + 1))
                    break
        states = following
    return any(at == len(out) for at, past in states)


def show(lines):
    return "".join(f"\n    | {line}" for line in lines) or " nothing"


# ---- Sessions -------------------------------------------------------------------------------------------------------

MARKER = "\x1e"

PYTHON_SESSION = r'''
import ast, json, sys, traceback
names = {"__name__": "__main__"}
requests = sys.stdin
sys.stdin = open("/dev/null")
class Failed(Exception): pass
for request in requests:
    request = json.loads(request)
    tree = compile(request["text"], request["name"], "exec", ast.PyCF_ONLY_AST)
    for node in tree.body:
        for stream in (sys.stdout, sys.stderr):
            stream.write("\x1eB %d\n" % (node.lineno - 1)); stream.flush()
        status = 0
        try:
            exec(compile(ast.Module([node], []), request["name"], "exec"), names)
        except BaseException:
            status = 1
            traceback.print_exc()
        for stream in (sys.stdout, sys.stderr):
            stream.flush(); stream.write("\n\x1eE %d %d\n" % (node.lineno - 1, status)); stream.flush()
        if status: break
    sys.stdout.write("\x1eD\n"); sys.stdout.flush()
'''


class Session:
    """A process that runs one text after another and separates what their statements print."""

    def __init__(self, words, folder, work, environment):
        self.out, self.err = folder / "stdout", folder / "stderr"
        folder.mkdir()
        self.all.append(self)
        for path in (self.out, self.err):
            path.touch()
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=work, env=environment, start_new_session=True
            )
        self.read_out = self.read_err = 0

    all = []

    def run(self, request):
        """Returns, for each statement that began, its line, its outputs, and its status: None if it did not end."""
        try:
            self.process.stdin.write(request.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        last, size = time.monotonic(), 0
        while True:
            out = self.out.read_bytes()[self.read_out :]
            if (MARKER + "D\n").encode() in out or self.process.poll() is not None:
                break
            if len(out) > size:
                last, size = time.monotonic(), len(out)
            if time.monotonic() - last > SECONDS:
                self.close()
                break
            time.sleep(0.02)
        out = self.out.read_bytes()[self.read_out :]
        err = self.err.read_bytes()[self.read_err :]
        self.read_out += len(out)
        self.read_err += len(err)
        return self.split(out.decode(errors="replace"), err.decode(errors="replace"))

    @staticmethod
    def split(out, err):
        ran, streams = {}, []
        for text in (out, err):
            parts = {}
            for number, body in re.findall(MARKER + r"B (\d+)\n(.*?)(?=" + MARKER + "[BD]|\\Z)", text, re.S):
                body, _, end = body.partition(MARKER + "E ")
                status = int(end.split()[1]) if end else None
                parts[int(number)] = (body[:-1] if end and body.endswith("\n") else body, status)
                ran.setdefault(int(number), None)
            streams.append(parts)
        missing = ("", None)
        return [
            (line, streams[0].get(line, missing)[0], streams[1].get(line, missing)[0], streams[0].get(line, missing)[1])
            for line in ran
        ]

    @property
    def alive(self):
        return self.process.poll() is None

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()


class FilesHandler(http.server.SimpleHTTPRequestHandler):
    """Files, with ranges."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, body):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = Path(path).read_bytes()
        size, begin, end = len(data), 0, len(data)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            begin, end = int(asked[1]), min(size, int(asked[2] or size - 1) + 1)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{size}-{os.stat(path).st_mtime_ns}"')
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        if body:
            self.wfile.write(data[begin:end])


class Ports:
    """Free ports in place of documented ones. They are below those that systems give to connections."""

    taken = set()
    lock = threading.Lock()

    @classmethod
    def free(cls):
        with cls.lock:
            start = 20000 + os.getpid() * 37 % 9000
            for port in [*range(start, 30000), *range(20000, start)]:
                if port in cls.taken:
                    continue
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    try:
                        probe.bind(("0.0.0.0", port))
                    except OSError:
                        continue
                cls.taken.add(port)
                return port
        raise OSError("no free port")

    def __init__(self):
        self.map = {}

    def of(self, documented):
        if documented not in self.map:
            self.map[documented] = str(self.free())
        return self.map[documented]

    def replace(self, text):
        return PORTS.sub(lambda found: self.of(found[1]), text)

    def back(self, text):
        for documented, port in self.map.items():
            text = re.sub(rf"(?<!\d){port}(?!\d)", documented, text)
        return text


# ---- Running --------------------------------------------------------------------------------------------------------


class Run:
    """One run over pages."""

    def __init__(self, options, temporary):
        self.options, self.temporary = options, temporary
        self.fixtures = temporary / "fixtures"
        self.fixture_lock = threading.Lock()
        self.available = {name: bool(probe(options.python)) for name, probe in NEEDS.items()}
        self.counts, self.reasons, self.lock = {}, {}, threading.Lock()
        self.java = Path(os.environ["JAVA_HOME"]) / "bin/java" if os.environ.get("JAVA_HOME") else "java"

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def because(self, reason):
        with self.lock:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def missing(self, names):
        return [name for name in names if self.options.check_only or not self.available[name]]

    def environment(self, folder, port=None):
        tools = folder / "bin"
        keep = ("JAVA_HOME", "JDK_JAVA_OPTIONS", "CARGO_HOME", "RUSTUP_HOME", "USER", "LOGNAME", "TERM")
        environment = {name: os.environ[name] for name in keep if name in os.environ}
        python = os.path.dirname(os.path.abspath(self.options.python))
        environment.update(
            PATH=os.pathsep.join([str(tools), python, os.environ["PATH"]]),
            HOME=str(folder / "home"),
            TMPDIR=str(folder / "tmp"),
            LC_ALL="C.UTF-8",
            BSDB_JAVA_OPTS="-XX:TieredStopAtLevel=1",  # the better compiler does not pay for commands that end at once
            BSDB_ARCHIVES=str(self.temporary / "archives"),
            BSDB_CACHE=str(folder / "cache"),
            no_proxy="*",
            PYTHONDONTWRITEBYTECODE="1",
        )
        return environment

    def folder(self, name):
        """A directory for a page: bin, home, tmp and work, in which its snippets run."""
        folder = self.temporary / re.sub(r"\W", "-", name)
        for each in ("bin", "home", "tmp", "work"):
            (folder / each).mkdir(parents=True)
        (folder / "bin/bsdb").symlink_to(ROOT / "scripts/bsdb")
        # Not a link, by which Python would not find its environment.
        (folder / "bin/python").write_text(f'#!/bin/sh\nexec {shlex.quote(str(self.options.python))} "$@"\n')
        (folder / "bin/python").chmod(0o755)
        (folder / "home/.curlrc").write_text("silent\nshow-error\n")
        return folder

    def fixture(self, name, work):
        """Makes what a page is given, unless it has it."""
        made = self.fixtures / "work" / name.removesuffix("/*")
        with self.fixture_lock:
            if not self.fixtures.exists():
                folder = self.folder("fixtures")
                assert folder == self.fixtures
            self.make(name)
        if name.endswith("/*"):
            shutil.copytree(made, work, dirs_exist_ok=True)
            return
        target = work / name
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if made.is_dir():
            shutil.copytree(made, target)
        else:
            shutil.copy(made, target)

    def make(self, name):
        work = self.fixtures / "work"
        made = work / name.removesuffix("/*")
        if made.exists():
            return
        recipe, *others = FIXTURES[name]
        for other in others:
            self.make(other)
        if callable(recipe):
            recipe(work)
            return
        words = ["bash", "-euo", "pipefail", "-c", textwrap.dedent(recipe)]
        done = subprocess.run(words, cwd=work, env=self.environment(self.fixtures), capture_output=True, text=True)
        if done.returncode or not made.exists():
            raise Failure(0, f"the fixture {name} cannot be made: {done.stderr.strip()}")

    # ---- Checks without running

    def check(self, pages):
        """Checks all pages: marks, syntax, options. Everything for Java goes to one process."""
        requests, places = [], []

        def request(page, block_line, offset, *fields):
            escaped = [str(f).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for f in fields]
            requests.append("\t".join([escaped[0], str(len(places)), *escaped[1:]]))
            places.append((page, block_line, offset))

        def options(page, line, words, offset=0):
            words = [word for word in words if word not in ("...", "…")]
            if words and words[0] not in page.imagined and not re.fullmatch(r"[A-Z_]+", words[0]) and not (offset == IN_TEXT and words[0] in NOT_COMMANDS):
                self.count("command lines of bsdb checked")
                request(page, line, offset, "options", *words)

        for page in pages:
            for line, span in page.spans:
                if re.match(r"(\./|scripts/)?bsdb +[a-z]", span) or span.startswith("python -m bsdbkv"):
                    if not re.search(r"[\[\]…<]", span):
                        for at, words in ShellText(span).bsdb():
                            options(page, line, words, IN_TEXT)
            for block in page.blocks:
                try:
                    self.check_block(page, block, request, options)
                except Failure as failure:
                    page.failures.append((failure.line, failure.message))
        words = [self.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", JAR, ROOT / "build-support/DocSnippets.java", JAR]
        done = subprocess.run(words, input="".join(line + "\n" for line in requests), capture_output=True, text=True)
        lines = done.stdout.splitlines()
        if done.returncode or lines[-1:] != ["end"]:
            sys.exit(f"test-docs: {words[0]} DocSnippets.java failed:\n{done.stderr}")
        for each in lines[:-1]:
            number, line, message = each.split("\t")
            page, block_line, offset = places[int(number)]
            if offset == IN_TEXT and "needs a value" in message:
                continue  # the text names an option
            message = message.replace("\\n", "; ").replace("\\t", " ").replace("\\\\", "\\")
            page.failures.append((block_line + max(0, int(line) - max(offset, 0)), message))

    def check_block(self, page, block, request, options):
        marks, language, text = block.marks, block.language, block.text
        block.needs_missing = self.missing(marks.needs)
        known = SHELL + PYTHON + PLAIN + SYNTAX_ONLY + ("java",)
        if language not in known:
            raise Failure(block.line, f'unknown language "{language}" (known: {" ".join(filter(None, known))})')
        if marks.same_as:
            file = ROOT / marks.same_as
            if not file.is_file() or squeezed(text) not in squeezed(file.read_text()):
                raise Failure(block.line, f"the block is not in {marks.same_as}")
            block.kind = "same"
            return
        if language in SHELL:
            block.kind = "shell"
            if language == "sh":
                done = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True)
                if done.returncode:
                    raise Failure(block.line, "sh -n: " + done.stderr.strip())
            try:
                block.statements = statements(text)
            except Failure as failure:
                raise Failure(block.line + 1 + failure.line, failure.message) from None
            for at, part in block.statements:
                shell = ShellText(part)
                for line, words in shell.bsdb():
                    options(page, block.line + 1 + at + line, words)
                for line, words in shell.commands:
                    foreign = next((word for word in words[:3] if FOREIGN.fullmatch(word)), None)
                    if foreign and not marks.needs and not any(text in part for _, texts in marks.needs_for for text in texts):
                        raise Failure(
                            block.line + 1 + at + line,
                            f"{foreign} works on the machine, the network or the checkout: say what the block needs",
                        )
                    for word in words[:3]:
                        if re.fullmatch(r"(scripts|native|deploy|build-support)/[\w./-]+", word) and not (ROOT / word).exists():
                            raise Failure(block.line + 1 + at + line, f"no such file in the checkout: {word}")
            unused = [text for _, texts in marks.needs_for for text in texts] + [text for _, text in marks.exits]
            for each in unused:
                if not any(each in part for _, part in block.statements):
                    raise Failure(marks.line, f'no statement of the block contains "{each}"')
        elif language in PYTHON:
            block.kind = "python"
            try:
                compile(text, page.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            except SyntaxError as wrong:
                raise Failure(block.line + (wrong.lineno or 0), f"syntax error: {wrong.msg}") from None
        elif language == "java":
            self.check_java(page, block, request)
        elif language == "json":
            block.kind = "output" if marks.output or (block.adjacent and not marks.text) else "text"
            try:
                json.loads(text)
            except ValueError:
                for number, line in enumerate(text.rstrip("\n").split("\n")):
                    try:
                        json.loads(line)
                    except ValueError as wrong:
                        raise Failure(block.line + 1 + number, f"not JSON: {wrong}") from None
        elif language in PLAIN:
            if marks.output or (block.adjacent and not marks.text and not page.plain_is_text):
                block.kind = "output"
            elif marks.text or page.plain_is_text:
                block.kind = "text"
            else:
                raise Failure(block.line, "a plain block that follows no other: mark it as output or text, or name a language")
        else:
            block.kind = "syntax"
            self.check_syntax(block)

    def check_java(self, page, block, request):
        text, marks = block.text, block.marks
        name = re.search(r"^(?:public )?(?:final )?class (\w+)", text, re.M)
        number = f"{re.sub(r'[^A-Za-z0-9]', '', page.name)}{block.line}"
        block.kind = "java"
        block.classes = self.temporary / "classes" / number
        if name and "void main(" in text:
            block.main = name[1]
            source, before = text, 0
        else:
            if marks.fragment is None:
                raise Failure(block.line, "Java that is no program: mark it as a fragment, and declare what it uses")
            block.main = "Fragment" + number
            packages = ["java.util", "java.util.concurrent", "java.nio.file", "java.nio", "java.net", "java.io"]
            packages += ["tech.bsdb" + each for each in ("", ".read", ".remote", ".store", ".transfer", ".error")]
            source = "".join(f"import {each}.*; " for each in packages)
            source += "import static java.nio.charset.StandardCharsets.UTF_8; "
            source += f"class {block.main} {{ static byte[] bytes(String text) {{ return text.getBytes(UTF_8); }} "
            source += f"public static void main(String[] args) throws Exception {{ {marks.fragment}\n{text}\n}} }}"
            before = 1
        block.source = source
        if "spark" in marks.needs:
            request(page, block.line, before, "parse", block.main, source)
        else:
            block.classes.mkdir(parents=True)
            request(page, block.line, before, "compile", block.main, source, block.classes)

    def check_syntax(self, block):
        language, text = block.language, block.text
        if language == "xml":
            try:
                xml.etree.ElementTree.fromstring(f"<all>{text}</all>")
            except xml.etree.ElementTree.ParseError as wrong:
                raise Failure(block.line, f"not XML: {wrong}") from None
            return
        if language == "toml":
            if importlib.util.find_spec("tomllib"):
                import tomllib

                try:
                    tomllib.loads(text)
                except tomllib.TOMLDecodeError as wrong:
                    raise Failure(block.line, f"not TOML: {wrong}") from None
                return
        if language == "yaml" and importlib.util.find_spec("yaml"):
            import yaml

            try:
                list(yaml.safe_load_all(text))
            except yaml.YAMLError as wrong:
                raise Failure(block.line, f"not YAML: {wrong}") from None
            return
        if block.marks.fragment is not None:
            inside = text.replace("{ ... }", "{ return; }")
            if language in ("c", "cpp"):
                text = f"#include <bsdb.h>\n#include <stdio.h>\nvoid run(void) {{ {block.marks.fragment}\n{inside}\n}}\n"
            elif language == "rust":
                text = f"fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{inside}\nOk(())\n}}\n"
            elif language == "go":
                text = f"package main\n{inside}"
        header = ["-I", ROOT / "native/c/include", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only"]
        commands = {
            "c": ["cc", "-std=c99", *header, "-x", "c", "-"],
            "cpp": ["c++", *header, "-x", "c++", "-"],
            "rust": ["rustfmt", "--edition", "2021"],
            "go": ["gofmt", "-e"],
            "js": ["node", "--check", "--input-type=module", "-"],
        }
        words = commands.get(language)
        if not words or not shutil.which(words[0]):
            block.unchecked = f"{words[0]} to check {language}" if words else f"a checker for {language}"
            return
        done = subprocess.run(words, input=text, capture_output=True, text=True)
        if done.returncode:
            raise Failure(block.line, f"{words[0]}: {done.stderr.strip()}")

    # ---- Pages that run

    def run_page(self, page):
        runner = PageRun(self, page)
        try:
            for block in page.blocks:
                ends = block.line + block.text.count("\n") + 1
                if hasattr(block, "kind") and not any(block.marks.line <= line <= ends for line, _ in page.failures):
                    try:
                        runner.block(block)
                    except Failure as failure:
                        page.failures.append((failure.line or block.line, failure.message))
        finally:
            runner.close()


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


class PageRun:
    """A page while its blocks run."""

    def __init__(self, run, page):
        self.run, self.page = run, page
        self.shell = self.python = self.files = self.folder = None
        self.ports, self.section, self.last, self.generation = Ports(), None, None, 0

    def start(self):
        if not self.folder:
            self.folder = self.run.folder(self.page.name)
            self.work = self.folder / "work"
            self.environment = self.run.environment(self.folder)
            self.checkout()
            if redis := shutil.which("redis-cli"):
                wrapper = self.folder / "bin/redis-cli"
                wrapper.write_text(f'#!/bin/sh\nexec {redis} -p {self.ports.of("6379")} "$@"\n')
                wrapper.chmod(0o755)
                wrapper = self.folder / "bin/redis-benchmark"
                wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("redis-benchmark")} -p {self.ports.of("6379")} "$@"\n')
                wrapper.chmod(0o755)
            self.environment["BSDB_URL"] = f"redis://localhost:{self.ports.of('6379')}"

    def checkout(self):
        """What of a checkout the snippets may use. Nothing else is here, so that none can change the checkout."""
        for name in ("scripts/bsdb", JAR.relative_to(ROOT)):
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).symlink_to(ROOT / name)
        for name in ("deploy", "bsdb-core/src/test/resources/golden"):
            shutil.copytree(ROOT / name, self.work / name)

    def fresh(self):
        self.close()
        self.shell = self.python = self.files = None
        if self.folder:
            self.generation += 1
            self.work.rename(self.folder / f"work-{self.generation}")
            self.work.mkdir()
            self.checkout()

    def close(self):
        for session in (self.shell, self.python):
            if session:
                session.close()
        if self.files:
            self.files.shutdown()
            self.files.server_close()

    def files_url(self):
        if not self.files:
            work = str(self.work)
            handler = lambda *arguments: FilesHandler(*arguments, directory=work)  # noqa: E731
            self.files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            self.files.daemon_threads = True
            threading.Thread(target=self.files.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.files.server_address[1]}"

    def substitutions(self, marks):
        for before, after in marks.subs:
            self.generation += 1
            after = after.replace("{new}", f"./new-{self.generation}")
            yield before, after.replace("{here}", str(self.work)).replace("{files}", self.files_url() if "{files}" in after else "")

    def rewritten(self, text, marks, ports=None):
        for before, after in self.substitutions(marks):
            text = text.replace(before, after)
        return (ports or self.ports).replace(text.replace("{here}", str(self.work)))

    def documented(self, text, marks):
        for before, after in self.substitutions(marks):
            text = text.replace(after, before).replace(after.removeprefix("file://"), before)
        return self.ports.back(text.replace(str(self.work), "{here}"))

    def block(self, block):
        run, marks = self.run, block.marks
        kind = block.kind
        if kind == "output" and not marks.by:
            return self.compare(block)
        if kind in ("text", "same", "syntax"):
            if kind == "syntax" and hasattr(block, "unchecked"):
                run.count("blocks not checked")
                run.because(block.unchecked)
            elif kind == "syntax":
                run.count("blocks only checked")
                run.because(f"{block.language}: syntax, by its compiler")
            else:
                run.count({"text": "blocks of text or JSON, not output", "same": "blocks that are in files of other tests"}[kind])
            self.last = None
            return None
        if run.options.check_only or block.needs_missing:
            run.count("blocks only checked")
            for name in ["--check-only"] if run.options.check_only else block.needs_missing:
                run.because(name)
            self.last = None
            return None
        if marks.fresh:
            self.fresh()
        self.start()
        for name in marks.given:
            run.fixture(name, self.work)
        for command in marks.before:
            self.run_shell(self.hidden(block, [command]))
        if marks.by:
            setup = self.hidden(block, marks.by)
            self.run_shell(setup)
            return self.compare(block)
        run.count("blocks run")
        getattr(self, "run_" + kind)(block)
        return None

    def hidden(self, block, commands):
        """A block of commands that a mark names."""
        setup = Block(block.line - 1, "sh", "", Marks("", block.marks.line), block.section, False)
        setup.marks.subs = block.marks.subs
        setup.statements = [(at, command + "\n") for at, command in enumerate(commands)]
        if block.marks.by:
            setup.marks.exits = [(2, "")]
        return setup

    def statement(self, block, at, part):
        """The text of bash for a statement, or None if it is only checked."""
        marks, run = block.marks, self.run
        for names, texts in marks.needs_for:
            missing = run.missing(names)
            if missing and any(text in part for text in texts):
                run.count("statements only checked")
                for name in missing:
                    run.because(name)
                return None
        text = re.sub(r"\\\n\s*", "", part) if "<<" not in part else part
        shell = ShellText(text)
        serves = [words for _, words in shell.bsdb() if words[:1] == ["serve"] and "--help" not in words]
        if not serves:
            return self.rewritten(text, marks)
        ports = self.ports if shell.ends_in_background else Ports()
        if not any(word == "-p" or word.startswith("-p=") for word in serves[0]):
            text = re.sub(r"\bbsdb serve\b", "bsdb serve -p 9999", text, count=1)
        text = self.rewritten(text, marks, ports)
        port = " ".join(re.findall(r" (?:-p|--resp|--admin-port) (\d+)", text))
        if not shell.ends_in_background:
            body = text.rstrip().rstrip("\n")
            comment = shell.comments.get(max(shell.comments), "") if shell.comments else ""
            if comment:
                body = body[: body.rindex("#")]
            return (
                f"{body} &\n__wait {port} && kill $! && {{ wait $!; [ $? -eq 143 ]; }}\n"
            )
        begin = "" if self.section == block.section else "__stop\n"
        self.section = block.section
        return f"{begin}{text}\n__wait {port}\n"

    def run_shell(self, block):
        marks, run = block.marks, self.run
        if not self.shell or not self.shell.alive:
            self.shell = Session(["bash"], self.folder / f"shell-{block.line}", self.work, self.environment)
            self.shell.process.stdin.write(PRELUDE.encode())
        script = ["set -o pipefail\n"]
        for at, part in block.statements:
            text = self.statement(block, at, part)
            if text is None:
                continue
            allowed = [status for status, contained in marks.exits if contained in part]
            wanted = allowed[0] if allowed else 0
            script.append(f"__begin {at}; __last\n{text.rstrip()}\n__end {at} {wanted} || return 0\n")
            run.count("statements run")
        path = self.folder / f"block-{block.line}.sh"
        path.write_text("".join(script))
        ran = self.shell.run(f". {path} </dev/null; printf '\\036D\\n'")
        for at, out, err, status in ran:
            part = dict(block.statements)[at]
            self.say(block, at, part, out, err, status)
            wanted = next((status for status, contained in marks.exits if contained in part), 0)
            if status != wanted:
                what = f"did not end within {SECONDS} s" if status is None else f"exits with {status}, not {wanted}"
                self.last = None
                raise Failure(block.line + 1 + at, f"{part.strip().splitlines()[0]}: {what}{show((out + err).splitlines()[-12:])}")
        results = [(out, err) for _, out, err, _ in ran]
        self.last = (block, results)
        outputs = []
        for at, out, _, _ in ran:
            comments = ShellText(dict(block.statements)[at]).comments
            if comments:
                outputs.append((at, comments[max(comments)], self.documented(out, marks)))
        self.compare_comments(block, outputs)

    def run_python(self, block):
        if not self.python or not self.python.alive:
            words = [self.run.options.python, "-c", PYTHON_SESSION]
            self.python = Session(words, self.folder / f"python-{block.line}", self.work, self.environment)
        if block.marks.fragment:
            for _, out, err, status in self.python.run(json.dumps({"text": block.marks.fragment, "name": "the mark"})):
                if status:
                    raise Failure(block.marks.line, f"the fragment of the mark fails{show((out + err).splitlines()[-12:])}")
        text = self.rewritten(block.text, block.marks)
        ran = self.python.run(json.dumps({"text": text, "name": f"{self.page.name}:{block.line}"}))
        for at, out, err, status in ran:
            self.run.count("statements run")
            line = block.text.split("\n")[at]
            self.say(block, at, line, out, err, status)
            if status != 0:
                self.last = None
                raise Failure(block.line + 1 + at, f"{line.strip()}: fails{show((out + err).splitlines()[-12:])}")
        self.last = (block, [(out, err) for _, out, err, _ in ran])
        comments = {}
        for token in tokenize.generate_tokens(io.StringIO(block.text).readline):
            if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
                comments[token.start[0] - 1] = token.string.lstrip("# ")
        ends = {node.lineno - 1: node.end_lineno - 1 for node in ast.parse(block.text).body}
        outputs = []
        for at, out, _, _ in ran:
            found = [text for line, text in comments.items() if at <= line <= ends[at]]
            if found:
                outputs.append((at, found[-1], self.documented(out, block.marks)))
        self.compare_comments(block, outputs)

    def run_java(self, block):
        words = [self.run.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{block.classes}:{JAR}", block.main]
        source = self.rewritten(block.source, block.marks)
        if block.marks.fragment is None:
            (self.work / f"{block.main}.java").write_text(source)  # as a reader saves it
        if source != block.source:
            self.compile_again(block, source)
        done = subprocess.run(words, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=SECONDS)
        self.say(block, 0, f"java {block.main}", done.stdout, done.stderr, done.returncode)
        if done.returncode:
            self.last = None
            raise Failure(block.line, f"java {block.main}: exits with {done.returncode}{show((done.stdout + done.stderr).splitlines()[-12:])}")
        self.last = (block, [(done.stdout, done.stderr)])
        prints = [
            (at, found[1])
            for at, line in enumerate(block.text.split("\n"))
            if (found := re.search(r"System\.out\.println\(.*\);(?: +// (.*))?$", line))
        ]
        lines = done.stdout.splitlines()
        outputs = []
        if len(prints) == len(lines):
            outputs = [(at, comment or "", self.documented(out, block.marks)) for (at, comment), out in zip(prints, lines)]
        self.compare_comments(block, [each for each in outputs if each[1]])

    def compile_again(self, block, text):
        """Compiles a program with the ports and places of this run."""
        source = self.folder / f"{block.main}.java"
        source.write_text(text)
        javac = Path(self.run.java).parent / "javac" if "/" in str(self.run.java) else "javac"
        words = [javac, "-proc:none", "-cp", JAR, "-d", block.classes, source]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            raise Failure(block.line, f"javac: {done.stderr.strip()}")

    def compare_comments(self, block, outputs):
        """Comments behind statements that are their outputs must be as many as the mark says."""
        equal = [each for each in outputs if each[2].strip() and is_output(each[1], each[2])]
        self.run.count("outputs compared", len(equal))
        if len(equal) == block.marks.outputs:
            return
        others = [each for each in outputs if each not in equal] if len(equal) < block.marks.outputs else equal
        details = "".join(
            f"\n    line {block.line + 1 + at}: the comment is \"{comment}\", the output {out.strip()[:200]!r}" for at, comment, out in others
        )
        raise Failure(
            block.marks.line,
            f"{len(equal)} comments are what their statements print; the mark says {block.marks.outputs}{details}",
        )

    def compare(self, block):
        if self.run.options.check_only or self.last is None:
            if not self.run.options.check_only and not self.skipped_before(block):
                raise Failure(block.line, "the output of a block that did not run: mark it as text, or fix the block before")
            self.run.count("outputs not compared, as their blocks did not run")
            return
        source, results = self.last
        vary = block.marks.vary
        expected = [normal(line, vary) for line in block.text.rstrip("\n").split("\n")]
        out, err = [], []
        for one, other in results[-1:] if block.marks.of_last else results:
            for lines, text in ((out, one), (err, other)):
                text = self.documented(text, source.marks)
                text = text.rstrip("\n")
                if text:
                    lines += [normal(line, vary) for line in text.replace("\r", "").split("\n")]
        while expected and out and expected[-1] != "" and out[-1] == "":
            out.pop()
        self.run.count("outputs compared")
        if not interleaves(expected, out, err):
            raise Failure(block.line, f"this is not what the block at line {source.line} printed:{show(out)}\n  and on standard error:{show(err)}")

    def skipped_before(self, block):
        """Whether the block before an output was only checked, with a reason that was counted."""
        before = [each for each in self.page.blocks if each.line < block.line and getattr(each, "kind", "output") != "output"]
        if not before:
            return False
        last = before[-1]
        return bool(getattr(last, "needs_missing", [])) or any(last.line <= line < block.line for line, _ in self.page.failures)

    def say(self, block, at, part, out, err, status):
        if self.run.options.verbose:
            text = f"{self.page.name}:{block.line + 1 + at}: {part.strip()}\n{textwrap.indent(out + err, '    | ')}    status {status}\n"
            sys.stdout.write(text)


PRELUDE = r"""
__status=0
__begin() { printf '\036B %d\n' "$1"; printf '\036B %d\n' "$1" >&2; }
__last() { return "$__status"; }
__end() {
  __status=$?
  printf '\n\036E %d %d\n' "$1" "$__status"
  printf '\n\036E %d %d\n' "$1" "$__status" >&2
  [ "$__status" -eq "$2" ]
}
__wait() {
  local pid=$! try
  for try in {1..6000}; do
    while [ $# -gt 0 ] && (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do shift; done
    [ $# -gt 0 ] || return 0
    if ! kill -0 "$pid" 2>/dev/null; then wait "$pid"; echo "the server ended with status $?" >&2; return 1; fi
    sleep 0.1
  done
  echo "the server accepts no connections" >&2
  return 1
}
__stop() {
  local pids
  pids=$(jobs -p)
  [ -z "$pids" ] || { kill -9 $pids; wait $pids; } 2>/dev/null
  return 0
}
"""

# ---- The program ----------------------------------------------------------------------------------------------------


def stop_on_signals(temporary):
    """Leaves neither servers nor files when the user stops the test."""

    def stop(number, frame):
        for session in Session.all:
            with contextlib.suppress(ProcessLookupError):
                if session.alive:
                    os.killpg(session.process.pid, signal.SIGKILL)
        shutil.rmtree(temporary, ignore_errors=True)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def test_pages(pages, options):
    """Returns the pages' failures and the run, for its counts."""
    with tempfile.TemporaryDirectory(prefix="bsdb-docs-") as temporary:
        stop_on_signals(temporary)
        run = Run(options, Path(temporary).resolve())
        run.check(pages)
        if not options.check_only:
            environment = {**os.environ, "BSDB_ARCHIVES": str(run.temporary / "archives")}
            subprocess.run([ROOT / "scripts/bsdb", "--make-archives"], env=environment, stdout=subprocess.DEVNULL, check=True)
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            list(pool.map(run.run_page, pages))
    return [(page.name, *failure) for page in pages for failure in sorted(page.failures)], run


def arguments(words):
    parser = argparse.ArgumentParser(prog="test-docs", allow_abbrev=False)
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--require", default="")
    parser.add_argument("--python", default=sys.executable, type=lambda file: os.path.abspath(shutil.which(file) or file))
    parser.add_argument("-j", type=int, default=2, metavar="N")
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    return parser.parse_args(words)


def main(words):
    options = arguments(words)
    if not JAR.is_file():
        sys.exit(f"test-docs: {JAR} is missing: ./mvnw -Dquick -pl bsdb-dist -am package")
    if options.self_test:
        import test_docs_test

        return test_docs_test.run(options)
    paths = [Path(each).resolve() for each in options.pages]
    if not paths:
        paths = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    began, pages = time.monotonic(), []
    for path in paths:
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
        if not path.is_file():
            sys.exit(f"test-docs: no such page: {name}")
        pages.append(Page(path, name))
    failures, run = test_pages(pages, options)
    wanted = [name for name, probe in NEEDS.items() if probe is not never] if options.require == "all" else options.require.split(",")
    for name in filter(None, wanted):
        if not run.available.get(name):
            failures.append(("--require", 0, f"{name} is not here"))
    for name, line, message in failures:
        print(f"{name}:{line}: {message}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime
    print(f"{len(pages)} pages in {time.monotonic() - began:.0f} s, with {processor:.0f} s of processor time")
    for what, number in sorted(run.counts.items()):
        print(f"  {number:4} {what}")
    if run.reasons:
        print("  only checked, because it needs:")
        for reason, number in sorted(run.reasons.items(), key=lambda each: -each[1]):
            print(f"  {number:4} {reason}")
    print("FAILED: " + str(len(failures)) if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
