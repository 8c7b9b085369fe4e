#!/usr/bin/env python3
"""Writes the notices of the crates in the C library and the Python package: native/notices.py [--check]

Collects the licenses of all crates that are linked into them on Linux and macOS from the sources that cargo has
downloaded, and writes python/THIRD-PARTY.txt. Also copies LICENSE to where packages need it. With --check, only says
whether these files are up to date. Run it after a change of Cargo.lock. Needs cargo.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
SYSTEMS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"]
TITLE = """\
The C library and the Python package of bsdb contain the crates below, and the standard library of Rust (MIT OR Apache-2.0,
The Rust Project Developers). Each is under the license that is named, or at choice under one of several. Their texts
follow.
"""
NAME = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?", re.IGNORECASE)


def main(words: list[str]) -> int:
    """Runs the command and returns the exit code."""
    if words not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if words == ["--help"] else 2
    own = (ROOT.parent / "LICENSE").read_text(encoding="utf-8")
    code = 0
    for name, made in (("python/THIRD-PARTY.txt", notices()), ("python/LICENSE", own), ("bsdb/LICENSE", own)):
        file = ROOT / name
        if not words:
            file.write_text(made, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != made:
            print(f"{file} is out of date; write it with: native/notices.py", file=sys.stderr)
            code = 1
    return code


def notices() -> str:
    """The text of the file."""
    crates = {crate["id"]: crate for system in SYSTEMS for crate in linked(system)}
    crates = sorted(crates.values(), key=lambda crate: (crate["name"], crate["version"]))
    texts: dict[str, list[str]] = {}
    lines = []
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        found = list(files(Path(crate["manifest_path"]).parent))
        if not found:
            # Its repository has the text, and the package has not.
            print(f"notices.py: {name} comes without a text of its license, {crate['license']}", file=sys.stderr)
        lines.append(f"{name}: {crate['license']}; {', '.join(crate['authors']) or crate['repository'] or ''}".rstrip("; "))
        for file in found:
            text = "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8").strip().splitlines())
            texts.setdefault(text, []).append(f"{name}: {file.relative_to(Path(crate['manifest_path']).parent)}")
    parts = [TITLE + "\n" + "\n".join(lines) + "\n"]
    for text, names in texts.items():
        parts.append("\n".join(names) + "\n\n" + text + "\n")
    return ("\n" + "=" * 80 + "\n\n").join(parts)


def files(directory: Path) -> list[Path]:
    """The texts of licenses in a crate, and in the C sources that it brings along."""
    places = [directory, *(path for path in directory.iterdir() if path.is_dir() and path.name in ("zstd", "LICENSES"))]
    return sorted(path for place in places for path in place.iterdir() if path.is_file() and NAME.fullmatch(path.name))


def linked(system: str) -> list[dict]:
    """The crates that are linked into the library and the package."""
    words = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", system]
    made = subprocess.run(words, check=True, stdout=subprocess.PIPE, cwd=ROOT)
    metadata = json.loads(made.stdout)
    crates = {crate["id"]: crate for crate in metadata["packages"]}
    needs = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [crate["id"] for crate in crates.values() if crate["name"] in ("bsdb-c", "bsdb-python")]
    seen = set(waiting)
    while waiting:
        for need in needs[waiting.pop()]:
            normal = any(kind["kind"] is None for kind in need["dep_kinds"])
            macro = any("proc-macro" in target["kind"] for target in crates[need["pkg"]]["targets"])
            if normal and not macro and need["pkg"] not in seen:
                seen.add(need["pkg"])
                waiting.append(need["pkg"])
    return [crates[crate] for crate in seen if crates[crate]["source"] is not None]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
