#!/usr/bin/env python3
"""Writes and checks the provenance statement of a release, in-toto's with SLSA's predicate, version 1.

  provenance.py --write --repository URL --revision COMMIT --version VERSION --started TIME [--source CLONE] [--dry-run] DIR
  provenance.py --check DIR

The statement, DIR/provenance.json, names each artefact in DIR with its SHA-256, the revision of the source, and the tools
and the machine's kind that made them. BSDB_BUILDER_ID names the builder; by default that is the workflow if a workflow runs
this, and else scripts/release, run by hand.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
NAME = "provenance.json"


def fail(message):
    print(f"provenance: {message}", file=sys.stderr)
    sys.exit(2)


def digest(file):
    sums = hashlib.sha256()
    with open(file, "rb") as bytes_:
        while chunk := bytes_.read(1 << 20):
            sums.update(chunk)
    return sums.hexdigest()


def artefacts(directory):
    """All files but what is about them: signatures, checksums, the statement itself and the progress of uploads."""
    for file in sorted(directory.rglob("*")):
        name = file.relative_to(directory).as_posix()
        if file.is_file() and not name.endswith((".asc", ".md5", ".sha1", ".sha256", ".sha512")):
            if name not in (NAME, "SHA256SUMS", "page/SHA256SUMS", "uploads", "central-deployment"):
                yield name, file


def first_line(*command, cwd=None):
    """What a tool says of its version, or None where it is not installed."""
    if shutil.which(command[0]) is None:
        return None
    said = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    lines = (said.stdout + said.stderr).strip().splitlines()
    return re.sub(r"\x1b\[[0-9;]*m", "", lines[0]) if lines else None


def tools(source):
    java = os.path.join(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
    found = {
        "cargo": first_line("cargo", "--version"),
        "java": first_line(java, "-version"),
        "maven": source and first_line(str(source.resolve() / "mvnw"), "--version", cwd=source),
        "python": platform.python_version(),
        "rustc": first_line("rustc", "--version"),
    }
    # The overlay's compiler is another than Maven's.
    chosen = source and source / "bsdb-core/target/jdks.properties"
    if chosen and chosen.is_file():
        overlay = re.search("(?m)^jdk.overlay.javac=(.+)$", chosen.read_text())
        found["javac of META-INF/versions/22"] = overlay and first_line(overlay.group(1), "-version")
    return {name: version for name, version in found.items() if version}


def builder(repository):
    named = os.environ.get("BSDB_BUILDER_ID")
    if named:
        return named
    if os.environ.get("GITHUB_ACTIONS") == "true":
        return os.environ["GITHUB_SERVER_URL"] + "/" + os.environ["GITHUB_WORKFLOW_REF"]
    return repository + "/blob/main/scripts/release"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def statement(options):
    source = {"uri": f"git+{options.repository}", "digest": {"gitCommit": options.revision}}
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest(file)}} for name, file in artefacts(options.directory)],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": options.repository + "/blob/main/docs/RELEASING.md",
                "externalParameters": {"version": options.version, "dryRun": options.dry_run, "source": source},
                "internalParameters": {"system": platform.system(), "machine": platform.machine(), "tools": tools(options.source)},
                "resolvedDependencies": [source],
            },
            "runDetails": {
                "builder": {"id": builder(options.repository)},
                "metadata": {"startedOn": options.started, "finishedOn": now()},
            },
        },
    }


def problems(directory):
    try:
        said = json.loads((directory / NAME).read_text())
        if said["_type"] != STATEMENT or said["predicateType"] != PREDICATE:
            yield f"{NAME} is not an in-toto statement with SLSA's predicate"
        definition = said["predicate"]["buildDefinition"]
        if not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", definition["resolvedDependencies"][0]["digest"]["gitCommit"]):
            yield f"{NAME} names no revision"
        for uri in (definition["buildType"], said["predicate"]["runDetails"]["builder"]["id"]):
            if not re.match(r"[a-z]+://", uri):
                yield f"{NAME}: {uri} is not a URI"
        named = {each["name"]: each["digest"]["sha256"] for each in said["subject"]}
    except (OSError, ValueError, KeyError, IndexError, TypeError) as wrong:
        yield f"{NAME} is not readable: {wrong!r}"
        return
    there = dict(artefacts(directory))
    for name in sorted(named.keys() - there.keys()):
        yield f"{name} is named but does not exist"
    for name in sorted(there.keys() - named.keys()):
        yield f"{name} is not named"
    for name in sorted(there.keys() & named.keys()):
        if digest(there[name]) != named[name]:
            yield f"{name} has another SHA-256 than the statement says"
    if not named:
        yield f"{NAME} names no artefact"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    for name in ("--repository", "--revision", "--version", "--started"):
        parser.add_argument(name)
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("directory", type=pathlib.Path)
    options = parser.parse_args()
    if options.write:
        for name in ("repository", "revision", "version", "started"):
            if not getattr(options, name):
                fail(f"--write needs --{name}")
        (options.directory / NAME).write_text(json.dumps(statement(options), indent=2, sort_keys=True) + "\n")
    wrong = list(problems(options.directory))
    if wrong:
        fail("\n  ".join(wrong))


if __name__ == "__main__":
    main()
