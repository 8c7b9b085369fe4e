#!/usr/bin/env python3
"""Writes the notices of the crates in the extension for DuckDB: bsdb-duckdb/notices.py [--check]

Does what native/notices.py does for the C library and the Python package, and writes THIRD-PARTY.txt beside this file. Run it
after a change of Cargo.lock. Needs cargo.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def collector() -> Any:
    """native/notices.py, set up for this crate."""
    spec = importlib.util.spec_from_file_location("native_notices", HERE.parent / "native/notices.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def linked(system: str) -> list[dict[str, Any]]:
    """The crates that are linked into the extension."""

    def cargo(*words: str) -> str:
        return subprocess.run(["cargo", *words], check=True, stdout=subprocess.PIPE, cwd=HERE, encoding="utf-8").stdout

    tree = cargo("tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", "--target", system)
    names = {tuple(line.split()[:2]) for line in tree.splitlines()}
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", system))
    crates: list[dict[str, Any]] = metadata["packages"]
    return [each for each in crates if each["source"] is not None and (each["name"], f"v{each['version']}") in names]


def main(words: list[str]) -> int:
    """Runs the command and returns the exit code."""
    if words not in ([], ["--check"]):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 0 if words == ["--help"] else 2
    native = collector()
    native.linked = linked
    native.TITLE = native.TITLE.replace("The C library and the Python package of bsdb contain", "The extension for DuckDB of bsdb contains")
    made = {"THIRD-PARTY.txt": native.notices(), "LICENSE": (HERE.parent / "LICENSE").read_text(encoding="utf-8")}
    code = 0
    for name, text in made.items():
        file = HERE / name
        if not words:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            print(f"{file} is out of date; write it with: bsdb-duckdb/notices.py", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
