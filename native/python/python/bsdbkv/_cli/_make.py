"""The command build."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import bsdbkv

from .. import _bsdb
from . import _read, _stat
from ._console import Console, Progress
from ._input import InputError, begins_as_database, decoder, find, gunzip
from ._parquet import Choice, Rows
from ._syntax import Arguments, UsageError, normal, resolve, shown

# What needs the Java command.
UNCOVERED = ("-a", "--approximate-width", "--hash", "--avro-schema", "--ignore-extra-fields")

_ENCODINGS = ("utf8", "hex", "base64")
_LAYOUTS = ("blocked", "compact", "compressed", "packed", "packed-compressed")
_STREAMS = {"/dev/stdout": 1, "/dev/fd/1": 1, "/proc/self/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2, "/proc/self/fd/2": 2}
_CSV_ONLY = ("--key-column", "--value-column", "--csv-values", "--csv-delimiter")


def build(arguments: Arguments, console: Console) -> int:
    """Builds a database from text, CSV or JSON lines."""
    arguments.choice("--format", ("text", "parquet"), "text")
    source = _source(arguments)
    target, options = _target(arguments)
    if "-" in arguments.all("-i") and sys.stdin is None:
        raise InputError("standard input is closed")

    def opened(databases: list[str]) -> tuple[list[str], _Build]:
        source["files"] = find(arguments.all("-i"), databases)

        def run(stages: _Stages, rejects: Optional[str]) -> dict[str, Any]:
            source["rejects"] = rejects
            return _bsdb._build_text(source, target, options, stages.told)

        return [path for _, path, _, _ in source["files"] if path is not None], run

    return _make("bsdb build", arguments, console, target, opened)


def sign(arguments: Arguments, console: Console) -> int:
    """Signs a database."""
    key = _read.key_file(arguments, "--sign-key")
    if key is None:
        raise UsageError(
            "no private key given (--sign-key); make one with: openssl genpkey -algorithm ed25519 -out key.pem"
        )
    directory = _read.place(arguments)
    bsdbkv.sign(directory, key)
    if not arguments.has("-q"):
        console.say(f"signed {directory}")
    return 0


def build_parquet(arguments: Arguments, console: Console) -> int:
    """Builds a database from Parquet files."""
    target, options = _target(arguments)
    choice = Choice.of(arguments)

    def opened(databases: list[str]) -> tuple[list[str], _Build]:
        paths = choice.find(databases)
        rows = Rows(choice, paths)

        def run(stages: _Stages, rejects: Optional[str]) -> dict[str, Any]:
            def told(stage: str, done: int, total: Optional[int]) -> None:
                total = rows.rows if stage == "records" else total
                stages.told(stage, done, done / total if total else None)

            settings = {**options, **({} if rows.schema is None else {"value_schema": rows.schema})}
            builder = _bsdb.Builder(target, list(settings.items()), told)
            try:
                if options.get("dictionary_bytes", "0") != "0":
                    rows.sample(builder, int(options["sample_records"]))
                rows.feed(builder, rejects)
                return {**builder.finish(), **rows.report()}
            except bsdbkv.DuplicateKeyError as error:
                raise InputError(
                    f"duplicate key {_shown_key(error.key)}: {rows.place(error.first)} and {rows.place(error.second)} "
                    "(to keep one of them: --on-duplicate first or --on-duplicate last)"
                ) from None
            finally:
                builder.abort()

        return paths, run

    return _make("bsdb build-parquet", arguments, console, target, opened)


_Build = Callable[["_Stages", Optional[str]], dict[str, Any]]


def _make(
    program: str,
    arguments: Arguments,
    console: Console,
    target: str,
    opened: Callable[[list[str]], tuple[list[str], _Build]],
) -> int:
    """Runs a build, which ``opened`` returns with the paths of its inputs, and prints the report."""
    rejects = arguments.path("--rejects")
    if rejects is not None:
        _check_rejects(rejects, target, arguments.has("--overwrite"))
    quiet = arguments.has("-q")
    databases: list[str] = []
    inputs, run = opened(databases)
    if rejects is not None:
        _check_writable(rejects, inputs)
    if not quiet:
        for database in databases:
            console.say(f"{program}: {database} is a bsdb database and is left out")
    began = time.monotonic()
    progress = Progress(console, quiet)
    stages = _Stages(progress)
    with _signals(), _rejects(rejects) as (written, publish):
        try:
            made = run(stages, written)
        except KeyboardInterrupt:
            progress.close()
            console.say(f"{program}: interrupted, nothing was built")
            raise
        finally:
            progress.close()
        try:
            publish()
        except OSError as error:
            raise InputError(
                f"{rejects}: {error.strerror}; the database was built: it is at {made['path']}"
            ) from None
    summary = _Summary(target, made, stages.seconds(), time.monotonic() - began)
    for warning in made["warnings"]:
        console.say(f"{program}: warning: {warning}")
    if arguments.has("--json"):
        console.print(summary.for_programs())
        console.flush()
    elif not quiet:
        console.report(summary.for_people())
    if arguments.has("-v"):
        report, seconds = _read.verified(bsdbkv.open(target), target)
        if not quiet:
            console.say(_read.verified_words(target, report, seconds))
    return 0


def is_parquet(words: list[str]) -> bool:
    """Whether a command line is about Parquet: by --format, or else by the names of the inputs."""
    parquet = text = other = None
    line = words[: words.index("--")] if "--" in words else words
    for at, word in enumerate(line):
        option, equals, value = word.partition("=")
        if not equals:
            value = words[at + 1] if at + 1 < len(words) else ""
        if option == "--format":
            if value in ("avro", "orc", "arrow", "delta", "iceberg"):
                raise UsageError(f"--format {value} is not covered by python -m bsdbkv; use the Java command: bsdb build")
            return value == "parquet"
        if option == "-i" and re.fullmatch(r"(?s).*\.(parquet|parq)/*", value):
            parquet = value
        elif option == "-i" and re.fullmatch(r"(?s).*\.(avro|orc|arrow|feather|ipc|arrows)/*", value):
            other = value
        elif option == "-i":
            text = value
    if other is not None:
        raise UsageError(
            f"-i {other} is, by its name, in a format that python -m bsdbkv does not cover; use the Java command: bsdb build"
            " (--format text reads it as text)"
        )
    if text is not None and parquet is not None:
        raise UsageError(
            f'by their names, "{parquet}" is Parquet and "{text}" is not (one build reads one kind; --format text, or '
            "--format parquet, says which)"
        )
    return parquet is not None


def _shown_key(key: bytes) -> str:
    """A key for messages: quoted text if it is printable UTF-8, otherwise hexadecimal digits. Long keys are cut."""
    head = key[:128]
    tail = f"... ({len(key)} bytes)" if len(key) > 128 else ""
    try:
        text = head.decode()
    except UnicodeDecodeError:
        text = "\0"
    return (f"0x{head.hex()}" if re.search("[\0-\x1f\x7f-\x9f]", text) else f'"{text}"') + tail


def _source(arguments: Arguments) -> dict[str, Any]:
    """What to read, as the native half takes it."""
    if not arguments.all("-i"):
        raise UsageError("no input given (-i); for example: bsdb build -i words.txt -o ./rdb")
    arguments.refuse_empty("-i", "a file, a directory or -")
    if arguments.all("-i").count("-") > 1:
        raise UsageError("-i - is given twice, but there is only one standard input")
    skip = arguments.choice("--on-bad-line", ("fail", "skip"), "fail") == "skip"
    if not skip:
        arguments.refuse(("--rejects",), "needs --on-bad-line skip")
    csv, jsonl = arguments.has("--csv"), arguments.has("--jsonl")
    arguments.refuse_together("--csv", "--jsonl", "the input is one or the other")
    if not csv:
        arguments.refuse(_CSV_ONLY, "needs --csv")
    if not jsonl:
        arguments.refuse(("--key-field",), "needs --jsonl")
    if arguments.has("-s") and (csv or jsonl):
        instead = "; CSV takes --csv-delimiter" if csv else ", not for --jsonl"
        raise UsageError(f"-s is for text lines{instead}")
    columns = arguments.all("--value-column")
    delimiter = _delimiter(arguments)
    if arguments.has("--csv-values") and len(columns) == 1:
        raise UsageError("--csv-values is for several columns; the value of one --value-column is its text")
    delimited = arguments.choice("--csv-values", ("json", "delimited"), "json") == "delimited"
    key_field = arguments.text("--key-field")
    if jsonl and key_field is None:
        raise UsageError("--jsonl needs --key-field FIELD, the field that is the key")
    separator = "" if csv or jsonl else _separator(arguments)
    value_encoding = arguments.choice("--value-encoding", _ENCODINGS, "utf8")
    if value_encoding != "utf8" and (jsonl or (csv and len(columns) != 1)):
        raise UsageError(
            "--value-encoding needs a value that is a single text: that of a text line, or one --value-column"
        )
    charset = arguments.text("-e", "UTF-8") or ""
    return {
        "format": "csv" if csv else "jsonl" if jsonl else "text",
        "separator": os.fsencode(separator),
        "key_column": arguments.text("--key-column"),
        "value_columns": columns,
        "delimited": delimited,
        "delimiter": ord(delimiter),
        "key_field": key_field or "",
        "key_encoding": arguments.choice("--key-encoding", _ENCODINGS, "utf8"),
        "value_encoding": value_encoding,
        "skip": skip,
        "allow_empty_key": arguments.has("--allow-empty-key"),
        "charset": charset,
        "threads": arguments.number("--threads", 1, 256, _cores()),
        "gunzip": gunzip,
        "decoder": decoder(charset),
    }


def _cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 256)


def _delimiter(arguments: Arguments) -> str:
    delimiter = resolve("--csv-delimiter", arguments.text("--csv-delimiter", ",") or "")
    if len(delimiter) != 1 or not 0 < ord(delimiter) < 127 or delimiter in '"\r\n':
        raise UsageError(
            f'--csv-delimiter takes one ASCII character other than a quote or a line end, not "{delimiter}"'
        )
    return delimiter


def _separator(arguments: Arguments) -> str:
    separator = resolve("-s", arguments.text("-s", " ") or "")
    if not separator:
        raise UsageError("-s takes at least one character")
    if "\n" in separator:
        raise UsageError("-s cannot contain a line feed, which ends a line")
    return separator


def _target(arguments: Arguments) -> tuple[str, dict[str, str]]:
    """Where to build, and the options as the native half takes them."""
    arguments.refuse_together("-c", "-z", "a compressed database is already compact")
    layout = _layout(arguments)
    packed = layout.startswith("packed")
    filter_bits = arguments.number("--filter-bits", 0, 16, 0)
    if filter_bits and not packed:
        raise UsageError(
            f"--filter-bits goes with --layout packed: the layout {layout} has checksum bits in its hash function, "
            "which reject absent keys; set them with -cb, or choose --layout packed"
        )
    if arguments.has("-cb") and packed:
        raise UsageError(
            "-cb and --layout packed cannot be combined: a packed index has no checksum bits; leave -cb out, or see "
            "--filter-bits"
        )
    compressed = layout.endswith("compressed")
    if not compressed:
        arguments.refuse(("-bs", "--level", "-sc", "-ds"), "needs -z, or a compressed --layout")
    arguments.refuse_empty("-o", "a directory")
    options: dict[str, Any] = {
        "layout": layout,
        "checksum_bits": arguments.number("-cb", 0, 32, 4),
        "filter_bits": filter_bits,
        "block_bytes": arguments.number("-bs", 512, 1 << 20, 1024),
        "compression_level": arguments.number("--level", 1, 22, 6),
        "shards": arguments.number("--shards", 1, 16_384, 1),
        "data_files": arguments.number("--data-files", 1, 128, 1),
        "duplicates": arguments.choice("--on-duplicate", ("error", "first", "last"), "error"),
        "overwrite": "true" if arguments.has("--overwrite") else "false",
        "ordered": "true" if arguments.has("--ordered") else "false",
        "seed": _seed(arguments.text("--seed", "0") or ""),
    }
    target = arguments.path("-o", "./rdb")
    assert target is not None
    sample = arguments.number("-sc", 0, 1_000_000, 10_000)
    dictionary = arguments.number("-ds", 0, 1 << 20, 112_640)
    if sample > 0 and dictionary == 0:
        arguments.refuse(("-sc",), "samples records for a dictionary, and there is none (-ds)")
    if sample == 0 and dictionary > 0:
        arguments.refuse(("-ds",), "needs a sample of records, and there is none (-sc)")
    options["sample_records"], options["dictionary_bytes"] = sample, dictionary
    arguments.refuse_empty("-temp", "a directory")
    options["memory_bytes"] = arguments.number("-ps", 1, 1 << 20, 1024) << 20
    options["threads"] = arguments.number("--threads", 1, 256, _cores())
    temporary = arguments.path("-temp")
    if temporary is not None:
        options["temporary_directory"] = temporary
    key = _read.key_file(arguments, "--sign-key")
    if key is not None:
        options["sign_key"] = key
    if not compressed:  # they would have no effect
        for name in ("block_bytes", "compression_level", "sample_records", "dictionary_bytes"):
            del options[name]
    del options["checksum_bits" if packed else "filter_bits"]
    return target, {name: str(value) for name, value in options.items()}


def _layout(arguments: Arguments) -> str:
    """The layout that the options name or imply, even if with their default values."""
    usual = "blocked" if arguments.has("-cb") or arguments.has("--ordered") else "packed"
    of_flags = "compressed" if arguments.has("-z") else "compact" if arguments.has("-c") else usual
    layout = arguments.choice("--layout", _LAYOUTS, of_flags)
    if arguments.has("-z") and layout.startswith("packed"):
        return "packed-compressed"
    if layout != of_flags and of_flags != usual:
        flag = "-c" if of_flags == "compact" else "-z"
        raise UsageError(f"{flag} and --layout {layout} cannot be combined: name one layout")
    return layout


def _seed(text: str) -> int:
    least, most = -(2**63), 2**63 - 1
    if text == "random":
        return least + secrets.randbits(64)
    if re.fullmatch("[+-]?[0-9]+", text) and least <= int(text) <= most:
        return int(text)
    raise UsageError(f"--seed {text}: not a whole number from {least} to {most}, or random")


def _is_stream(path: str) -> bool:
    """Whether writing there replaces nothing: it is a pipe, a device, or a stream of this process."""
    return path in _STREAMS or (os.path.exists(path) and not os.path.isfile(path))


def _check_rejects(path: str, target: str, overwrite: bool) -> None:
    if _is_stream(path) and not os.path.isdir(path):
        return
    inside = os.path.realpath(path) + "/"
    if inside.startswith(os.path.realpath(target) + "/"):
        raise UsageError(f"--rejects {path} lies inside the database {target}; name a file elsewhere")
    if (os.path.isfile(path) or os.path.islink(path)) and not overwrite:
        raise UsageError(f"--rejects {path} already exists; name another file or give --overwrite")


def _check_writable(path: str, inputs: list[str]) -> None:
    """Checks that a file can be created and is not one of the inputs."""
    if path in ("", "-"):
        raise InputError(f'"{path}": bad lines need a file')
    if os.path.isdir(path):
        raise InputError(f"{path}: is a directory, and bad lines need a file")
    parent = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(parent):
        raise InputError(f"{path}: no such directory for bad lines: {parent}")
    if not os.access(path if os.path.exists(path) else parent, os.W_OK):
        raise InputError(f"{path}: permission denied for bad lines")
    for given in inputs:
        if os.path.exists(path) and os.path.samefile(path, given):
            raise InputError(f"{path}: is an input and cannot take the bad lines")
    if begins_as_database(os.fsencode(path)):
        raise InputError(f"{path}: is a file of a database and cannot take the bad lines")


@contextmanager
def _rejects(path: Optional[str]) -> Iterator[tuple[Optional[str], Any]]:
    """A file for bad lines: collected in a hidden file beside it, which gets its name once the build succeeds."""
    if path is None or _is_stream(path):
        yield path, lambda: None
        return
    folder, name = os.path.split(path)
    hidden = os.path.join(folder, f".{name}.bsdb-rejects-{os.getpid()}")

    def publish() -> None:
        os.replace(hidden, os.path.realpath(path))

    try:
        yield hidden, publish
    finally:
        try:
            os.unlink(hidden)
        except OSError:
            pass  # it has its name, or was not made


@contextmanager
def _signals() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP end a build as Ctrl-C does, which leaves nothing behind."""

    def interrupt(number: int, _frame: Any) -> None:
        raise _Signal(number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Signal(KeyboardInterrupt):
    """A signal that ends the process. Its exit code is 128 and the number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _Stages:
    """The stages of a build, and how long each took."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage = "records"
        self._began = time.monotonic()
        self._seconds: dict[str, float] = {}

    def told(self, stage: str, done: int, share: Optional[float]) -> None:
        """Is told of progress."""
        self._enter(stage)
        self._progress.update(stage, done, share)

    def _enter(self, stage: str) -> None:
        if stage != self._stage:
            now = time.monotonic()
            self._seconds[self._stage] = self._seconds.get(self._stage, 0) + now - self._began
            self._stage, self._began = stage, now

    def seconds(self) -> dict[str, float]:
        """The seconds of each stage."""
        self._enter("")
        return {stage: spent for stage, spent in self._seconds.items() if stage}


class _Summary:
    """What became of every line, what was built, and how long it took."""

    def __init__(self, target: str, made: dict[str, Any], stages: dict[str, float], seconds: float) -> None:
        self._target = target
        self._made = made
        self._stages = stages
        self._seconds = seconds
        self._rate = made["records"] / seconds if seconds > 0 else 0.0
        self._files = _stat.Facts(target).files
        self._rows = "rows" in made
        self._unit = "rows" if self._rows else "lines"

    def for_programs(self) -> str:
        """The report as one JSON object."""
        made = self._made
        report = {
            "directory": self._target,
            "databaseId": made["id"],
            **({"filesRead": made["files_read"], "directoriesLeftOut": 0, "filesLeftOut": 0} if self._rows else {}),
            self._unit: made[self._unit],
            "records": made["records"],
            "rejected": made["rejected"],
            "rejectedByReason": made["rejected_by_reason"],
            "duplicatesDropped": made["dropped"],
            "valuesCut": 0,
            "bytesRead": made["bytes_read"],
            "keyBytes": made["key_bytes"],
            "valueBytes": made["value_bytes"],
            "databaseBytes": made["bytes"],
            "fileBytes": self._files,
            "dictionaryBytes": made["dictionary_bytes"],
            "seconds": self._seconds,
            "stageSeconds": self._stages,
            "recordsPerSecond": round(self._rate),
            "peakMemoryBytes": _peak(),
            "warnings": made["warnings"],
        }
        return json.dumps(report, ensure_ascii=False, separators=(",", ":"))

    def for_people(self) -> str:
        """The report as lines."""
        made = self._made
        reasons = ", ".join(f"{reason}: {lines:,}" for reason, lines in made["rejected_by_reason"].items())
        rows = [
            *([("files read", f"{made['files_read']:,}")] if self._rows else []),
            (f"{self._unit} read", f"{made[self._unit]:,}"),
            ("records written", f"{made['records']:,}"),
            ("rejected", f"{made['rejected']:,}" + (f"  ({reasons})" if reasons else "")),
            ("duplicates dropped", f"{made['dropped']:,}"),
            ("bytes read", f"{made['bytes_read']:,}"),
            ("bytes written", f"{made['bytes']:,}"),
            *(("  " + file, length) for file, length in _stat.file_lines(self._files)),
            ("seconds", ", ".join(f"{stage} {spent:.1f}" for stage, spent in self._stages.items())),
            ("peak memory", f"{_peak() >> 20:,} MB"),
        ]
        title = (
            f"built {shown(self._target)}: {made['records']:,} records in {self._seconds:.1f} s "
            f"({self._rate:,.0f} records/s)"
        )
        return "\n".join([title, *(f"  {name:<27} {figure}" for name, figure in rows)])


def _peak() -> int:
    """The most memory that this process had, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
