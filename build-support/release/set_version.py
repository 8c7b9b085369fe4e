#!/usr/bin/env python3
"""Shows or sets the version of all parts: build-support/release/set_version.py [--root DIR] [VERSION]

Without VERSION, checks that the poms, the crates, their lock files, bsdb-feast and the bsdbkv that it needs, the
extension for DuckDB, the chart and the examples of deploy/ say the
same version, each in its own spelling (docs/decisions/0030-names.md), and prints it in Maven's. With VERSION (1.2.0 or 1.2.0-SNAPSHOT), writes it to all of them,
and then lists the lines of documents that still name the old one, for a person to decide.
"""
import argparse
import pathlib
import re
import subprocess
import sys

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-SNAPSHOT)?")
CRATES = ("bsdb", "bsdb-api", "bsdb-bench", "bsdb-c", "bsdb-duckdb", "bsdb-python")


def rust(version):
    """1.1.0-SNAPSHOT is 1.1.0-dev.0 in Rust; a release is spelled alike."""
    return version.replace("-SNAPSHOT", "-dev.0")


def python(version):
    return version.replace("-SNAPSHOT", ".dev0")


def places(root):
    """Yields (file, pattern with the version as group 2, how it is spelled)."""
    def same(version):
        return version

    parent = r"(<artifactId>bsdb</artifactId>\s*<version>)([^<]+)(</version>)"
    for pom in sorted([root / "pom.xml", *root.glob("bsdb-*/pom.xml")]):
        yield pom, parent, same
    yield root / "native/Cargo.toml", r'(\[workspace\.package\]\s*\nversion = ")([^"]+)(")', rust
    for name in ("api", "bench"):
        yield root / f"native/{name}/Cargo.toml", rf'(\[package\]\s*\nname = "bsdb-{name}"\s*\nversion = ")([^"]+)(")', rust
    yield root / "bsdb-duckdb/Cargo.toml", r'(\[package\]\s*\nname = "bsdb-duckdb"[^\[]*?\nversion = ")([^"]+)(")', rust
    locks = [root / "native" / folder / "Cargo.lock" for folder in ("", "api", "bench")]
    for lock in (*locks, root / "bsdb-duckdb/Cargo.lock"):
        text = lock.read_text()
        for crate in CRATES:
            if f'name = "{crate}"\n' in text:
                yield lock, rf'(\[\[package\]\]\nname = "{crate}"\nversion = ")([^"]+)(")', rust
    yield root / "bsdb-feast/bsdb_feast/__init__.py", r'(?m)^(__version__ = ")([^"]+)(")', python
    yield root / "bsdb-feast/pyproject.toml", r'("bsdbkv>=)([^"]+)(")', python
    for field in ("version: ", 'appVersion: "'):
        yield root / "deploy/helm/bsdb/Chart.yaml", rf'(?m)^({field})([^"\n]+)()', released
    for file in ("kubernetes.yaml", "cluster/compose.yaml", "cluster/statefulset.yaml"):
        yield root / "deploy" / file, r"(image: bsdb:)([^\s]+)()", released


def released(version):
    """The images and the chart of a version that is being made have the name of the release."""
    return version.removesuffix("-SNAPSHOT")


def fail(message):
    print(f"set_version: {message}", file=sys.stderr)
    sys.exit(2)


def current(root):
    """The version of the parent pom, after a check that all other places agree."""
    found = re.search(r"<artifactId>bsdb</artifactId>\s*<version>([^<]+)</version>", (root / "pom.xml").read_text())
    if not found:
        fail("pom.xml has no version")
    version = found.group(1)
    if not VERSION.fullmatch(version):
        fail(f"pom.xml: {version} is not a version such as 1.2.0 or 1.2.0-SNAPSHOT")
    wrong = []
    for file, pattern, spelled in places(root):
        match = re.search(pattern, file.read_text())
        name = file.relative_to(root)
        if not match:
            wrong.append(f"{name}: no version found")
        elif match.group(2) != spelled(version):
            wrong.append(f"{name}: {match.group(2)} instead of {spelled(version)}")
    if wrong:
        fail("versions differ:\n  " + "\n  ".join(wrong))
    return version


def write(root, version):
    for file, pattern, spelled in places(root):
        text = file.read_text()
        file.write_text(re.sub(pattern, lambda match: match.group(1) + spelled(version) + match.group(3), text, count=1))
    pom = root / "pom.xml"
    tag = "HEAD" if version.endswith("-SNAPSHOT") else "v" + version
    text, count = re.subn(r"(<scm[^>]*>.*?<tag>)[^<]*(</tag>)", rf"\g<1>{tag}\g<2>", pom.read_text(), flags=re.S)
    if count != 1:
        fail("pom.xml has no <scm> with a <tag>")
    pom.write_text(text)


def mentions(root, version):
    """The lines of documents that name the version, in any spelling."""
    spellings = {version, rust(version), python(version)}
    arguments = ["git", "-C", str(root), "grep", "-nIF"]
    for spelling in sorted(spellings):
        arguments += ["-e", spelling]
    found = subprocess.run(arguments + ["--", "*.md", "*.yml", "*.yaml", "*.html"], capture_output=True, text=True)
    return [line for line in found.stdout.splitlines() if not line.startswith(("docs/decisions/", "CHANGELOG.md", "docs/releases/"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("version", nargs="?")
    options = parser.parse_args()
    old = current(options.root)
    if options.version is None:
        print(old)
        return
    if not VERSION.fullmatch(options.version):
        fail(f"{options.version} is not a version such as 1.2.0 or 1.2.0-SNAPSHOT")
    write(options.root, options.version)
    if current(options.root) != options.version:
        fail(f"could not write {options.version}")
    print(options.version)
    if old != options.version:
        for line in mentions(options.root, old):
            print(f"still {old}: {line[:160]}", file=sys.stderr)


if __name__ == "__main__":
    main()
