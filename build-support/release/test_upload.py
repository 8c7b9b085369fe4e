#!/usr/bin/env python3
"""Runs scripts/release for real against stand-ins for the registries: build-support/release/test_upload.py

In a clone of the last commit, with parts that make small files in a moment: checks that nothing happens on a reserved host
or without tag, date and credentials; that all steps run in their order with the files that were checked and signed; that
a step that fails stops the release, and the next call goes on there; and that changed files are not uploaded. twine, gh and
cargo are programs that note how they were called, and curl talks to a server of this test instead of Maven Central.
"""
import base64
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "9.8.7"
REPOSITORY = "https://code.bsdb-test.org/bsdb/bsdb"

PARTS = {
    "java": f"""#!/bin/sh
set -eu
[ -z "${{MAVEN_CENTRAL_PASSWORD:-}}${{GH_TOKEN:-}}" ]
jar=$1/repository/tech/bsdb/bsdb-core/{VERSION}/bsdb-core-{VERSION}.jar
mkdir -p "$(dirname "$jar")"
echo jar >"$jar"
echo bundle >"$1/central-bundle.zip"
echo sbom >"$1/bsdb-{VERSION}-cyclonedx.json"
""",
    "native": f"""#!/bin/sh
set -eu
[ -z "${{TWINE_PASSWORD:-}}${{TWINE_PASSWORD_FEAST:-}}" ]
mkdir -p "$1/python" "$1/crates"
echo wheel >"$1/python/bsdbkv-{VERSION}-cp39-abi3-any.whl"
echo sdist >"$1/python/bsdbkv-{VERSION}.tar.gz"
echo wheel >"$1/python/bsdb_feast-{VERSION}-py3-none-any.whl"
echo sdist >"$1/python/bsdb_feast-{VERSION}.tar.gz"
echo crate >"$1/crates/bsdb-{VERSION}.crate"
""",
    "packages": f"""#!/bin/sh
set -eu
[ "$1" = --sbom ] && [ -f "$2" ]
echo tar >"$3/bsdb-{VERSION}.tar.gz"
""",
}
API_BASELINE = """#!/bin/sh
echo "baseline $1" >>"$CALLS"
"""
# They note how they were called. The registry of crates has no such version.
PROGRAMS = {
    "twine": """#!/bin/sh
echo "twine $* with $TWINE_PASSWORD" >>"$CALLS"
[ ! -e "$CALLS.twine-fails" ] || { rm "$CALLS.twine-fails"; echo "twine: no network" >&2; exit 1; }
""",
    "gh": """#!/bin/sh
echo "gh $*" >>"$CALLS"
[ "$2" != view ]
""",
    "cargo": f"""#!/bin/sh
echo "cargo $*" >>"$CALLS"
[ "$1" != info ] || exit 101
[ "$1" != package ] || {{ mkdir -p "$CARGO_TARGET_DIR/package"; echo crate >"$CARGO_TARGET_DIR/package/bsdb-{VERSION}.crate"; }}
""",
    "sleep": "#!/bin/sh\n",
}


class Central(http.server.BaseHTTPRequestHandler):
    """Maven Central as its documentation describes it."""

    states: list = []
    uploads: list = []
    authorizations: set = set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        Central.authorizations.add(self.headers.get("Authorization"))
        path = self.path.removeprefix("/api/v1/publisher/")
        note(f"central {path}")
        if path.startswith("upload?"):
            Central.uploads.append(body)
            self.answer(201, "deployment-1")
        elif path == "status?id=deployment-1":
            state = Central.states.pop(0)
            self.answer(200, json.dumps({"deploymentId": "deployment-1", "deploymentState": state, "errors": {"a": ["b"]}}))
        elif path == "deployment/deployment-1":
            self.answer(204, "")
        else:
            self.answer(404, "")

    def answer(self, code, text):
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


calls_file = None


def note(line):
    with open(calls_file, "a") as file:
        file.write(line + "\n")


def main():
    global calls_file
    folder = pathlib.Path(tempfile.mkdtemp())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Central)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        calls_file = folder / "calls"
        run_all(folder, server)
    finally:
        server.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def run_all(folder, server):
    clone = folder / "clone"
    programs = folder / "bin"
    programs.mkdir()
    for name, script in PROGRAMS.items():
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    home = folder / "gpg"
    home.mkdir(mode=0o700)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "GNUPGHOME": str(home), "LC_ALL": "C.UTF-8",
        "CALLS": str(calls_file),
        "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t.example", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t.example",
    }

    def command(*arguments, **more):
        return subprocess.run(arguments, check=True, capture_output=True, text=True, env=environment, **more).stdout

    command("gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", "t <t@t.example>", "ed25519", "sign", "1d")
    key = re.search(r"^fpr:+([0-9A-F]{40}):", command("gpg", "--batch", "--with-colons", "--list-secret-keys"), re.M).group(1)
    command("git", "clone", "--quiet", str(ROOT), str(clone))

    def release(expected, *arguments):
        done = subprocess.run([clone / "scripts/release", *arguments], env=environment, capture_output=True, text=True, cwd=folder)
        said = done.stdout + done.stderr
        if done.returncode != expected:
            sys.exit(f"test_upload: exit code {done.returncode} instead of {expected}:\n{said}")
        return said

    def check(condition, what, said=""):
        if not condition:
            sys.exit(f"test_upload: {what}\n{said}\ncalls:\n{calls_file.read_text() if calls_file.exists() else 'none'}")

    target = folder / "out"
    said = release(2, str(target))
    check("reserved host" in said and "bsdb.tech" in said and "CARGO_REGISTRY_TOKEN" in said, "a reserved host is not refused", said)

    pom = clone / "pom.xml"
    pom.write_text(re.sub("(<repository.url>)[^<]*", rf"\g<1>{REPOSITORY}", pom.read_text()))
    changelog = clone / "CHANGELOG.md"
    changelog.write_text(re.sub(r"(?m)^## .* \(not released yet\)$", f"## {VERSION} (not released yet)", changelog.read_text(), count=1))
    said = release(2, str(target))
    check("not committed" in said, "a checkout with changes is not refused", said)
    (clone / "docs/releases" / (VERSION.rsplit(".", 1)[0] + ".md")).write_text("notes\n")
    for name, script in {**PARTS, "api-baseline": API_BASELINE}.items():
        (clone / "build-support/release" / name).write_text(script)
        (clone / "build-support/release" / name).chmod(0o755)

    def commit():
        command("git", "-C", str(clone), "add", "--all")
        command("git", "-C", str(clone), "commit", "--quiet", "--message", "t")

    commit()
    for each in ("native/Cargo.toml", "native/python/pyproject.toml", "bsdb-feast/pyproject.toml", "bsdb-duckdb/Cargo.toml"):
        said = release(2, str(target))
        check(f"{each} another one" in said, "two addresses of the repository are not refused", said)
        (clone / each).write_text((clone / each).read_text().replace("https://code.example/bsdb/bsdb", REPOSITORY))
        commit()
    said = release(2, str(target))
    check("has no entry" in said, "a changelog without the version is not refused", said)
    command(str(clone / "build-support/release/set_version.py"), VERSION)
    commit()
    said = release(2, str(target))
    for each in ("the date", f"a signed tag v{VERSION}", "MAVEN_CENTRAL_URL", "TWINE_PASSWORD in", "TWINE_PASSWORD_FEAST in", "GH_TOKEN", "MAVEN_GPG_KEY or BSDB_GPG_KEY", "DEBEMAIL"):
        check(each in said, f"does not say that it lacks {each}", said)
    changelog.write_text(changelog.read_text().replace(f"## {VERSION} (not released yet)", f"## {VERSION} (2026-12-01)"))
    commit()
    command("git", "-C", str(clone), "-c", f"user.signingkey={key}", "tag", "--sign", f"v{VERSION}", "--message", "t")
    environment.update({
        "MAVEN_CENTRAL_URL": f"http://127.0.0.1:{server.server_port}/api/v1/publisher", "MAVEN_CENTRAL_USERNAME": "user",
        "MAVEN_CENTRAL_PASSWORD": "secret", "TWINE_USERNAME": "__token__", "TWINE_PASSWORD": "p", "TWINE_PASSWORD_FEAST": "f",
        "CARGO_REGISTRY_TOKEN": "c", "GH_TOKEN": "g", "BSDB_GPG_KEY": key, "DEBEMAIL": "t@t.example",
    })
    check(not calls_file.exists(), "something was called before all was ready")

    # Maven Central rejects the bundle: the release stops, and the next call uploads again.
    Central.states = ["PENDING", "FAILED"]
    release(2, str(target))
    check((target / "SHA256SUMS.asc").is_file() and not (target / "uploads").exists(), "a rejected bundle counts as uploaded")

    # twine fails.
    Central.states = ["PENDING", "VALIDATING", "VALIDATED"]
    pathlib.Path(f"{calls_file}.twine-fails").touch()
    said = release(2, str(target))
    check("the step pypi failed" in said, "does not say which step failed", said)
    check((target / "uploads").read_text() == "central-upload\ndraft\n", "wrong steps are done")
    check(all(b"bundle\n" in body for body in Central.uploads) and len(Central.uploads) == 2, "the bundle was not uploaded")
    token = "Bearer " + base64.b64encode(b"user:secret").decode()
    check(Central.authorizations == {token}, f"wrong authorization {Central.authorizations}")

    # A changed file is not uploaded.
    wheel = next(target.rglob("bsdbkv-*.whl"))
    kept = wheel.read_bytes()
    wheel.write_bytes(b"changed")
    said = release(2, str(target))
    check("is damaged" in said, "a changed file is uploaded", said)
    wheel.write_bytes(kept)

    # The rest, and nothing twice.
    before = len(calls_file.read_text().splitlines())
    Central.states = ["VALIDATED", "PUBLISHING", "PUBLISHED"]
    said = release(0, str(target))
    rest = [re.sub(r"^(\w+(?: \w+)?).*", r"\1", line) for line in calls_file.read_text().splitlines()[before:]]
    wanted = ["twine upload", "twine upload", "cargo info", "cargo package", "cargo publish", "central status", "central deployment", "central status", "central status", "gh release", "baseline"]
    check(rest == wanted, f"wrong calls: {rest}", said)
    calls = calls_file.read_text()
    [first, second] = calls.splitlines()[before : before + 2]
    check(wheel.name in first and first.endswith(" with p") and "bsdb_feast-" not in first, f"bsdbkv is not first: {first}")
    check(second.count("bsdb_feast-") == 2 and second.endswith(" with f") and "bsdbkv-" not in second, f"bsdb-feast is not second: {second}")
    check(f"gh release create v{VERSION} --repo {REPOSITORY} --draft --verify-tag" in calls, "no draft")
    check(f"gh release edit v{VERSION} --repo {REPOSITORY} --draft=false" in calls, "not published")
    check(".whl" in calls and "SHA256SUMS.asc" in calls and f"bsdb-{VERSION}.tar.gz" in calls, "files are missing on the release page")
    said = release(0, str(target))
    check(calls_file.read_text() == calls, "a finished release calls something", said)
    sums = hashlib.sha256(kept).hexdigest()
    check(sums in (target / "SHA256SUMS").read_text() and sums in (target / "provenance.json").read_text(), "the wheel is in no list")

    # What downloads have beside them is their list.
    page = folder / "page"
    page.mkdir()
    for each in [wheel, target / "provenance.json", target / "page/SHA256SUMS"]:
        shutil.copy(each, page)
    command("sha256sum", "--quiet", "--check", "--ignore-missing", "SHA256SUMS", cwd=page)
    command("gpg", "--verify", str(target / "page/SHA256SUMS.asc"), str(target / "page/SHA256SUMS"))

    # Files that another machine made are in the lists and on the page, and nothing is replaced by them.
    more = folder / "more/python"
    more.mkdir(parents=True)
    mac = more / f"bsdbkv-{VERSION}-cp39-abi3-macosx_11_0_arm64.whl"
    mac.write_text("mac")
    (more / f"bsdb_feast-{VERSION}-py3-none-any.whl").write_text("mac") # is the same for all machines, and not taken
    other = folder / "other"
    before = len(calls_file.read_text().splitlines())
    Central.states = ["VALIDATED", "VALIDATED", "PUBLISHED"]
    release(0, "--also", str(folder / "more"), str(other))
    rest = "\n".join(calls_file.read_text().splitlines()[before:])
    check(mac.name in (other / "SHA256SUMS").read_text() and mac.name in (other / "page/SHA256SUMS").read_text(), "a file is in no list")
    check(rest.count(mac.name) == 2, f"a file was not uploaded to the page and to PyPI: {rest}")
    (more / wheel.name).write_text("mac")
    said = release(2, "--also", str(folder / "more"), str(folder / "third"))
    check("was made here, too" in said, "a file of another machine replaces one", said)
    print("test_upload: all steps ran against the stand-ins, in order and once")


if __name__ == "__main__":
    main()
